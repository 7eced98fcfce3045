// The same program with slices, pads and parts of assignments that start elsewhere.
#pragma once

#include <cstdint>

#include "tests/support/programs/program.h"

namespace sinter::testing {

/// Each shape stays what it is. `values`: those of the program, or of one that differs in starts alone.
Program move_starts(const Program& program, const std::vector<ReferenceTensor>& values, std::uint64_t seed);

}  // namespace sinter::testing
