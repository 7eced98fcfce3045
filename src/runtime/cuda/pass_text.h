// The passes of library ops as CUDA C++.
#pragma once

#include <string>
#include <vector>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime::cuda {

/// Any GPU: 48 KiB of memory for a workgroup.
inline constexpr PassDevice kPassDevice{.waits = true,
                                        .shared_words = 12288,
                                        .most_lanes = 512,
                                        .adds_wide = true,
                                        .adds_floats = true,
                                        .adds_doubles = true,
                                        .adds_fours = true};

/// One text with an entry for each pass of another text: `sinter_` and the pass's name. Parameters: the
/// addresses of its buffers; log2 of the lanes of a row and the workgroups of a row (32 bits); its ints (64).
std::string pass_source(const PassList& list);

/// All texts there are: for tests that compile each.
std::vector<std::string> all_pass_sources();

}  // namespace sinter::runtime::cuda
