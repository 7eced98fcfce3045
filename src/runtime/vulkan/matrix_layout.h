// Finds out which lanes of a subgroup have which elements of cooperative matrices, which Vulkan leaves open,
// by a kernel that tells (kernels/tensor_cores/matrix_layout.comp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <sinter/dtype.h>

#include "jit/emit/emit.h"
#include "jit/ir/products/matrix_layout.h"

namespace sinter::runtime::vulkan {

/// The words that the kernel is given, and leaves.
struct LayoutWords {
  std::array<std::uint32_t, 256> given{}, places{};
  std::array<std::uint32_t, 128> rounded{};
  std::uint32_t elements = 0;
};

/// The kernel's text, for factors of `dtype`.
std::string layout_source(const emit::Target& target, DType dtype);

/// Numbers whose rounding tells how a device rounds: between two of f16, or of bf16, and in the middle.
LayoutWords layout_question();

/// The layout of sums, where first factors have the same, and what became of numbers is known: they were
/// rounded to the nearest one, of two to the even one, or those of bf16 cut off. Else nothing, and where it
/// is no layout of which use is made.
std::optional<ir::MatrixLayout> layout_answered(const LayoutWords& words, DType dtype, int lanes);

}  // namespace sinter::runtime::vulkan
