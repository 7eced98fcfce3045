// Cooperative matrices of a text that was written with GL_NV_cooperative_matrix, as the extension that all
// vendors have: SPV_KHR_cooperative_matrix, with SPV_KHR_bfloat16 where there are such.
//
// Texts are written so because the glslang of long-term distributions (Debian 12 has version 12) compiles no
// other. Writing the few instructions instead would need an assembler and its own names for variables; asking
// for a newer glslang would leave out the systems that there are. What has to change is little: numbers and
// the order of operands, a layout that was a truth value, and the types. In the one extension A and B of one
// size are of one type, in the other they differ by their use. To find the use of a type by what its matrices
// are multiplied with, one would follow them through variables and arrays. Instead each type in the text says
// it (emit::marked_scope), so that it is translated by itself, and one that says nothing is refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::compile {

/// True iff the module has such matrices.
bool has_nv_matrices(std::span<const std::uint32_t> module);

/// The module with the others. Throws CompileError, which names what it met, where something is not as this
/// library's texts have it.
std::vector<std::uint32_t> with_khr_matrices(std::span<const std::uint32_t> module);

}  // namespace sinter::compile
