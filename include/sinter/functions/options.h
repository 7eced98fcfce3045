// What functions take beside tensors: options and modes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sinter {

// ---- convolutions and windows
/// One number for each dimension.
template <std::size_t N>
struct ConvOptions {
  std::array<std::int64_t, N> stride = ones(), padding{}, dilation = ones();
  std::int64_t groups = 1;

  static constexpr std::array<std::int64_t, N> ones() {
    std::array<std::int64_t, N> values{};
    for (std::int64_t& value : values) value = 1;
    return values;
  }
};
using Conv2dOptions = ConvOptions<2>;
template <std::size_t N>
struct ConvTransposeOptions {
  std::array<std::int64_t, N> stride = ConvOptions<N>::ones(), padding{};
  /// Further elements at the end of the result: which of the inputs that a strided convolution maps to one
  /// size is meant. Less than the stride or the dilation.
  std::array<std::int64_t, N> output_padding{}, dilation = ConvOptions<N>::ones();
  std::int64_t groups = 1;
};

struct WindowOptions {
  std::array<std::int64_t, 2> kernel;  // {height, width}
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
};

// ---- images and surroundings
/// Nearest takes the element that the position, rounded down, lies in. Linear mixes 2 neighbours along each
/// axis, Cubic 4 (Keys, "Cubic convolution interpolation for digital image processing", 1981, a = -0.75),
/// Lanczos 6 (windowed sinc of 3 lobes, weights scaled to sum to 1). No filter before making smaller.
enum class Interpolation : std::uint8_t { Nearest, Linear, Cubic, Lanczos };
/// What is read beyond the edges of an image: zeros, the nearest element, or the image mirrored there.
enum class OutsideImage : std::uint8_t { Zeros, Border, Reflection };
/// What stands beyond the ends of [a b c d]: Reflect mirrors without the end (c b | a b c d | c b),
/// Replicate repeats the end (a a | a b c d | d d), Circular begins again at the other end (c d | a b c d |
/// a b).
enum class PadMode : std::uint8_t { Reflect, Replicate, Circular };

// ---- along an axis
struct ScanOptions {
  bool reverse = false;    // from the end of the axis to its beginning
  bool exclusive = false;  // sums alone: each without its own element, so that the first one is 0
};
/// How values for one place are joined, by PyTorch's names sum, prod, amax, amin. NaN is an extreme.
enum class ScatterReduction : std::uint8_t { Sum, Prod, Max, Min };

}  // namespace sinter
