// Fourier transforms along one axis, for devices that compute them by a program of their own.
#pragma once

#include "jit/library/library_op.h"
#include "jit/library/scan.h"

namespace sinter::library {

/// Complex numbers have their parts in two buffers. Each is a sum over j of x[j] exp(-2 pi i j k / n).
enum class Fourier : std::uint8_t {
  Complex,   // real part, imaginary part (or none: zeros) -> both parts
  FromReal,  // x -> both parts of the first n / 2 + 1 results, of which the others are mirror images
  ToReal,    // both parts of the first n / 2 + 1 of n numbers, whose others are mirror images -> n real
             // numbers, of the inverse: exp(2 pi i j k / n). Imaginary parts of what mirrors itself are
             // taken for 0.
};

/// What the sums are multiplied by.
enum class FourierScale : std::uint8_t { One, ByLength, ByRoot };

/// Transforms of lines: [outer, length, inner] seen by strides, none negative -> the same shape without gaps,
/// but for the lengths that the sort of transform changes.
struct FourierOp final : LibraryOp {
  Fourier transform = Fourier::Complex;
  FourierScale scale = FourierScale::One;
  std::int64_t length = 1;  // n
  std::int64_t outer = 1, inner = 1;
  bool has_imaginary = true;  // as an operand
  AlongAxis real, imaginary;  // operands

  std::int64_t lines() const { return outer * inner; }
  /// Numbers of a line of an operand and of a result.
  std::int64_t length_in() const { return transform == Fourier::ToReal ? length / 2 + 1 : length; }
  std::int64_t length_out() const { return transform == Fourier::FromReal ? length / 2 + 1 : length; }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t) const override { return lines() * length_in(); }
  std::int64_t elements_written(std::size_t) const override { return lines() * length_out(); }
};

/// Extensions, registered at the first call. Attributes: axis, FourierScale, n. f32 or f64.
const Kind& fourier(Fourier transform);

/// Factors of a length that butterflies in registers have.
inline constexpr std::int64_t kFourierPrimes[] = {13, 11, 7, 5, 3, 2};
/// Up to this length a line fits into the memory of a workgroup of every device.
inline constexpr std::int64_t kShortLine = 1024;
/// Lines up to this are the rows and the columns of a matrix whose sides fit.
inline constexpr std::int64_t kLongestLine = std::int64_t{1} << 20;

/// The number of rows of such a matrix, not more than its columns; 0: the length has no two such factors.
std::int64_t rows_of_line(std::int64_t length);
/// True iff butterflies have all prime factors of the length, and it is 2 or more: ops are for such lengths.
bool has_fourier_factors(std::int64_t length);
/// True iff GPUs transform lines of that length along an axis with `inner` lines beside each other: long ones
/// have nothing beside them. Devices with the trait `long_fourier_lines` take every length of which
/// has_fourier_factors is true.
bool has_fourier_lines(std::int64_t length, std::int64_t inner);

}  // namespace sinter::library
