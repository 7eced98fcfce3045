// Which lane of a subgroup has which elements of a cooperative matrix of 16 x 16.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::ir {

/// Bit b of a place, element * lanes + lane, is bit number bits[b] of row * 16 + column. The languages of
/// cooperative matrices leave open who has what: this was seen on the device. The lowest bits of a lane are
/// of columns, so that the lanes that have a row are neighbours.
struct MatrixLayout {
  static constexpr int kSize = 16, kPlaceBits = 8, kColumnBits = 4;

  std::array<std::uint8_t, kPlaceBits> bits{};
  std::uint8_t lane_bits = 0;  // 0: it is not known
  bool cuts_bf16 = false;      // numbers that become elements of bf16 are cut off there, not rounded

  bool is_known() const { return lane_bits > 0; }
  bool operator==(const MatrixLayout&) const = default;
  int lanes() const { return 1 << lane_bits; }
  int elements() const { return 1 << (kPlaceBits - lane_bits); }
  /// Lanes that have a row, elements of a lane in a row, and rows that a lane has elements of.
  int lanes_of_row() const { return 1 << count(0, lane_bits, true); }
  int columns_of_lane() const { return 1 << count(lane_bits, kPlaceBits, true); }
  int rows_of_lane() const { return elements() / columns_of_lane(); }

  /// A bit of a lane's number, or of an element's, and what it adds to the row or the column.
  struct Bit {
    int of, adds;
  };
  std::vector<Bit> lane_to(bool column) const { return bits_to(0, lane_bits, column); }
  std::vector<Bit> element_to(bool column) const { return bits_to(lane_bits, kPlaceBits, column); }

 private:
  bool is_column(int place_bit) const { return bits[static_cast<std::size_t>(place_bit)] < kColumnBits; }
  int count(int from, int to, bool column) const {
    int found = 0;
    for (int b = from; b < to; ++b) found += is_column(b) == column ? 1 : 0;
    return found;
  }
  std::vector<Bit> bits_to(int from, int to, bool column) const {
    std::vector<Bit> found;
    for (int b = from; b < to; ++b)
      if (is_column(b) == column)
        found.push_back({b - from, 1 << (bits[static_cast<std::size_t>(b)] % kColumnBits)});
    return found;
  }
};

/// Of what lanes were seen to have: `seen[lane * elements + element]` is row * 16 + column. Nothing where
/// that is no such layout.
std::optional<MatrixLayout> layout_of(std::span<const std::uint32_t> seen, int lanes);

/// "lanes 1 2 4 5 6, elements 0 3 7, bf16 cut".
std::string describe(const MatrixLayout& layout);

}  // namespace sinter::ir
