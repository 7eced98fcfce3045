// The passes of library ops as GLSL.
#pragma once

#include <string>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime::vulkan {

/// True iff the texts have integers of 64 bits.
bool needs_int64(const PassList& list);

/// A whole text. Bindings: the pass's buffers, then its words: at which element of its binding each buffer
/// begins; log2 of the lanes of a row; the workgroups of a row; its ints.
std::string pass_source(const PassList& list, const Pass& pass);

}  // namespace sinter::runtime::vulkan
