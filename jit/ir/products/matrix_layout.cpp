// Reads a layout off its places.
#include "jit/ir/products/matrix_layout.h"

#include <bit>

namespace sinter::ir {

std::optional<MatrixLayout> layout_of(std::span<const std::uint32_t> seen, int lanes) {
  constexpr std::size_t kAll = MatrixLayout::kSize * MatrixLayout::kSize;
  const auto count = static_cast<unsigned>(lanes);
  if (seen.size() != kAll || !std::has_single_bit(count) || count > kAll) return std::nullopt;
  MatrixLayout layout;
  layout.lane_bits = static_cast<std::uint8_t>(std::countr_zero(count));
  const std::size_t elements = kAll / count;
  const auto at = [&](std::size_t place) { return seen[place % count * elements + place / count]; };
  unsigned all = 0;
  for (std::size_t b = 0; b < layout.bits.size(); ++b) {
    const std::uint32_t found = at(std::size_t{1} << b);
    if (!std::has_single_bit(found) || found >= kAll) return std::nullopt;
    layout.bits[b] = static_cast<std::uint8_t>(std::countr_zero(found));
    all |= found;
  }
  if (all != kAll - 1) return std::nullopt;
  for (std::size_t place = 0; place < kAll; ++place) {
    std::uint32_t expected = 0;
    for (std::size_t b = 0; b < layout.bits.size(); ++b)
      expected |= static_cast<std::uint32_t>(place >> b & 1) << layout.bits[b];
    if (at(place) != expected) return std::nullopt;
  }
  bool has_row = false;
  for (std::size_t b = 0; b < layout.lane_bits; ++b) {
    const bool is_row = layout.bits[b] >= MatrixLayout::kColumnBits;
    if (has_row && !is_row) return std::nullopt;
    has_row |= is_row;
  }
  return layout;
}

std::string describe(const MatrixLayout& layout) {
  std::string text = "lanes";
  for (std::size_t b = 0; b < layout.bits.size(); ++b)
    text += (b == layout.lane_bits ? ", elements " : " ") + std::to_string(layout.bits[b]);
  return text + (layout.cuts_bf16 ? ", bf16 cut" : "");
}

}  // namespace sinter::ir
