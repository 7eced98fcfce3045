// GLSL compute shaders to SPIR-V.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::compile {

/// SPIR-V 1.5 for Vulkan 1.2, not optimised: drivers do that themselves, and shaderc takes seconds for what
/// is 1.5 ms without. May be called from several threads. Throws CompileError with the compiler's log and the
/// path of a file that holds the source. `from_disk`, if given, tells whether the kernel cache had it.
std::vector<std::uint32_t> compile_glsl(const std::string& source, bool* from_disk = nullptr);

}  // namespace sinter::compile
