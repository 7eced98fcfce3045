// Matrix products and convolutions for Vulkan: which text, which tiles, how many groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/runtime/library_table.h"
#include "src/runtime/vulkan/device.h"

namespace sinter::runtime::vulkan {

/// The words that say at which element of its binding each input begins: a launch sets them.
inline constexpr std::size_t kFirstElementWord = 9;

/// Of products by address the last words: the addresses of a, b and c, low words first.
inline constexpr std::size_t kAddressWords = 6;

/// One dispatch: the text and the words of its arguments.
struct ProductPass {
  std::string source;
  std::vector<std::uint32_t> words;
  std::uint32_t lanes = 0;   // of a group
  std::uint64_t groups = 0;  // 0: nothing to do
};

/// Both passes bind buffers a, b, c and the arguments, in this order. Without splits `product` writes the
/// result. With splits it writes `partial_bytes` of partial sums as its c, which `combine` reads as its a.
struct ProductPlan {
  ProductPass product, combine;
  bool by_address = false;  // some buffer is too large for a binding: only the arguments are bound
  std::size_t partial_bytes = 0;
  double operations = 0;  // multiplications and additions
  std::size_t element_bytes = 0;
  std::size_t inputs[2] = {0, 1};                         // which of the op's inputs are a and b
  std::size_t input_bytes[2] = {0, 0}, output_bytes = 0;  // least sizes of a, b and c
};

/// Functions of the op and the device alone. Throw DeviceError for sizes that the device's 32-bit positions
/// cannot reach, DTypeError for a dtype that it cannot compute with.
ProductPlan plan_product(const library::MatMulOp& op, const DeviceInfo& device);
ProductPlan plan_product(const library::Conv2dOp& op, const DeviceInfo& device);

/// Kind to plan.
LibraryTable<ProductPlan(const library::LibraryOp&, const DeviceInfo&)>& product_table();

}  // namespace sinter::runtime::vulkan
