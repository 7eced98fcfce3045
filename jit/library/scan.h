// Scans along one axis: each element joined with all before it.
#pragma once

#include <optional>

#include "jit/library/library_op.h"

namespace sinter::library {

/// How elements are joined. The extremes give the position of the extreme, the last one among equal ones; NaN
/// is the extreme of what it stands in.
enum class ScanKind : std::uint8_t { Sum, Prod, MaxPosition, MinPosition, LogSumExp };
inline constexpr std::size_t kScanKinds = 5;

constexpr bool gives_positions(ScanKind kind) {
  return kind == ScanKind::MaxPosition || kind == ScanKind::MinPosition;
}

/// Positions are counted in 32 bits.
inline constexpr std::int64_t kMostScanned = (std::int64_t{1} << 31) - 1;

/// x seen as [outer, length, inner] by strides, none negative -> the same shape without gaps: of each element
/// along `length`, what it and those before it (`reverse`: behind it) come to; `exclusive`, of sums alone:
/// without itself. Results of x's dtype, positions as i32.
struct ScanOp final : LibraryOp {
  ScanKind scan = ScanKind::Sum;
  bool reverse = false, exclusive = false;
  std::int64_t outer = 1, length = 1, inner = 1;
  std::int64_t x_outer = 1, x_step = 1, x_inner = 1;  // strides of x
  DType x_dtype = DType::f32;

  std::int64_t numel() const { return outer * length * inner; }
  /// Elements from x's first to its last one.
  std::int64_t x_span() const {
    return numel() == 0 ? 0 : (outer - 1) * x_outer + (length - 1) * x_step + (inner - 1) * x_inner + 1;
  }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t) const override { return x_dtype; }
  std::int64_t elements_read(std::size_t) const override { return numel(); }
  std::int64_t elements_written(std::size_t) const override { return numel(); }
};

/// cumsum, cumprod, cummax, cummin, logcumsumexp. Attributes: axis, 1 for reverse, 1 for exclusive. f32, f64,
/// i32, i64; 16-bit floats as f32; LogSumExp of floats alone.
const Kind& scan(ScanKind scan);

// ---- what kinds that work along an axis share

/// A shape as [outer, length, inner] around `axis`, and how a layout lies under these.
struct AlongAxis {
  std::int64_t outer = 1, length = 1, inner = 1;
  std::int64_t outer_stride = 0, stride = 0, inner_stride = 0;
};
/// Nothing where one stride for each of the three cannot say it, or one is negative.
std::optional<AlongAxis> along_axis(const Shape& shape, const Layout& layout, std::size_t axis);

}  // namespace sinter::library
