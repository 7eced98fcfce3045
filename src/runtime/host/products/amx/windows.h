// Where the pixels of a convolution's windows are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/library/conv2d.h"

namespace sinter::runtime::host::amx {

/// Rows and columns.
using Pair = std::array<std::int64_t, 2>;

/// Pixels of `n` images of h x w.
struct Pixels {
  std::int64_t n = 0, h = 0, w = 0;
  std::int64_t count() const { return n * h * w; }
};
inline Pixels pixels_of_x(const library::Conv2dOp& op) { return {op.n, op.h, op.w}; }
inline Pixels pixels_of_y(const library::Conv2dOp& op) { return {op.n, op.oh, op.ow}; }

/// An element of the kernel, and where it reads, from a pixel's origin on.
struct Tap {
  std::int64_t number = 0;  // in the kernel, row by row
  Pair offset{};
};

/// Pixels of an image that read another one by the same taps: those of y, which read x, or those of x of one
/// phase of the stride, whose gradients read y. Number (i, j) among them lies at first + (i, j) * step, and
/// its origin is (i, j) * origin_step.
struct Phase {
  Pair first{}, step{1, 1}, origin_step{1, 1}, count{};
  std::vector<Tap> taps;

  std::int64_t pixels(std::int64_t images) const { return images * count[0] * count[1]; }
  std::size_t held_bytes() const { return sizeof *this + taps.size() * sizeof(Tap); }
};
/// Of y: one phase, all taps.
Phase phase_of_y(const library::Conv2dOp& op);
/// Of x: as many as the strides multiply to.
std::vector<Phase> phases_of_x(const library::Conv2dOp& op);

/// Some pixels of a phase in turn: image by image, row by row.
template <int kMost>
class Origins {
 public:
  /// `count` pixels from number `at` on, which read an image of `read`: below 2^28 pixels.
  Origins(const Phase& phase, std::int64_t at, std::int64_t count, const Pixels& read) : read_(read) {
    std::int64_t j = at % phase.count[1], i = at / phase.count[1] % phase.count[0],
                 image = at / phase.count[1] / phase.count[0];
    // Row by row.
    for (std::int64_t done = 0; done < count; j = 0) {
      const std::int64_t some = std::min(count - done, phase.count[1] - j);
      const auto y = static_cast<std::int32_t>(i * phase.origin_step[0]),
                 x = static_cast<std::int32_t>(j * phase.origin_step[1]),
                 step = static_cast<std::int32_t>(phase.origin_step[1]);
      const auto base = static_cast<std::uint32_t>((image * read.h + y) * read.w + x);
      std::int32_t *const ys = y_.data() + done, *const xs = x_.data() + done;
      std::uint32_t* const bases = base_.data() + done;
      for (std::int32_t p = 0; p < static_cast<std::int32_t>(some); ++p) {
        ys[p] = y;
        xs[p] = x + p * step;
        bases[p] = base + static_cast<std::uint32_t>(p * step);
      }
      done += some;
      if (++i < phase.count[0]) continue;
      i = 0;
      ++image;
    }
    // Whole vectors of them are read.
    for (std::int64_t i = count; i < kMost; ++i) y_[static_cast<std::size_t>(i)] = kOutside;
  }

  /// The numbers of the pixels that `tap` reads, of 32 from `first` on; that of all pixels, which is none's,
  /// where there is no image.
  void find(std::int64_t first, const Tap& tap, std::int32_t* pixels) const {
    const auto dy = static_cast<std::int32_t>(tap.offset[0]), dx = static_cast<std::int32_t>(tap.offset[1]);
    const auto h = static_cast<std::uint32_t>(read_.h), w = static_cast<std::uint32_t>(read_.w);
    const auto shift = static_cast<std::uint32_t>(tap.offset[0] * read_.w + tap.offset[1]);
    const auto outside = static_cast<std::int32_t>(read_.count());
    const std::int32_t *const y = y_.data() + first, *const x = x_.data() + first;
    const std::uint32_t* const base = base_.data() + first;
    for (std::int64_t i = 0; i < 32; ++i) {
      const bool is_inside =
          (static_cast<std::uint32_t>(y[i] + dy) < h) & (static_cast<std::uint32_t>(x[i] + dx) < w);
      pixels[i] = is_inside ? static_cast<std::int32_t>(base[i] + shift) : outside;
    }
  }

 private:
  static constexpr std::int32_t kOutside = -(1 << 30);
  const Pixels read_;
  std::array<std::int32_t, kMost> y_, x_{};
  std::array<std::uint32_t, kMost> base_{};  // the origin's pixel, which may be none of the image
};

}  // namespace sinter::runtime::host::amx
