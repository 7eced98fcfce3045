// How the text of a kernel says which cooperative matrix is which.
//
// Such texts are written with GL_NV_cooperative_matrix, which all versions of glslang compile, and become
// SPV_KHR_cooperative_matrix afterwards (jit/compile/cooperative_matrices.h). A type there says what it is
// used for, A, B or the sums, and may be of bf16, which the other extension lacks. So the scope of each type
// in the text has more bits than the scope itself: each type says by itself what becomes of it.
#pragma once

#include <cstdint>

namespace sinter::emit {

/// As SPV_KHR_cooperative_matrix numbers them.
enum class MatrixUse : std::uint8_t { A, B, Sum };

/// Of gl_ScopeSubgroup.
inline constexpr std::uint32_t kSubgroupScope = 3;

/// The scope of a type in the text. `is_bf16`: its 16-bit floats are bf16.
constexpr std::uint32_t marked_scope(MatrixUse use, bool is_bf16) {
  return kSubgroupScope | (static_cast<std::uint32_t>(use) + 1) << 8 | (is_bf16 ? 1u : 0u) << 12;
}

}  // namespace sinter::emit
