// GLSL compute shaders to SPIR-V.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jit/compile/kernel_cache.h"

namespace sinter::compile {

/// SPIR-V 1.5 for Vulkan 1.2, not optimised: drivers do that themselves, and shaderc takes seconds for what
/// is 1.5 ms without. May be called from several threads. Throws CompileError with the compiler's log and the
/// path of a file that holds the source. From the kernel cache where it has it (`origin`).
std::vector<std::uint32_t> compile_glsl(const std::string& source, Origin* origin = nullptr);

/// Which shaderc it is, for cache keys.
const std::string& shaderc_build();

}  // namespace sinter::compile
