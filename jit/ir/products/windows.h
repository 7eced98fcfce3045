// Windows over an image, as the copy engine of compute capability 9.0 goes over them.
//
// A load that follows windows of an image (n, h, w, c) has loops over the positions of the windows, (n, oh,
// ow) or what is left of these, and loops over the elements of a window, (kh, kw, c), of which the last goes
// along the channels; a predicate leaves out what is beyond the image, channels included. An image of several
// planes has a depth in front of its height. A loop over the products of a batch may go to the channels of
// the next group. The copy engine is told sizes and strides of the image, and how positions and elements step
// through it. All that follows from the load's index map and its predicate, so kernels say nothing more of
// it, and loads that no convolution has made are found as well.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Along the lines of an image (0), along its columns, from line to line (1), and from plane to plane (2).
struct WindowSteps {
  std::int64_t positions = 1;  // of windows
  std::int64_t elements = 1;   // of a window
  std::int64_t size = 1;       // of the image
  std::int64_t stride = 0;     // of the image, in elements
  std::int64_t first = 0;      // where the first window begins: less than 0 within a frame
  std::int64_t step = 1;       // from window to window
  std::int64_t spread = 1;     // from element to element of a window
};

/// The position (n, y, x) and the element (j, i, c) of a window are
/// buffer[offset + n * image_stride + (first + y * step + j * spread) * stride of the lines
///        + (first + x * step + i * spread) * stride of the columns + group * channels + c], and 0 beyond the
/// image; likewise (n, z, y, x) and (l, j, i, c) of planes.
struct Windows {
  std::int64_t channels = 0, images = 1, image_stride = 0, offset = 0;  // channels: of a group
  std::int64_t own_channels = 0;  // that the image has, of all groups: a window's others are 0
  std::size_t dims = 2;           // that are stepped along: three of several planes
  std::array<WindowSteps, 3> along;
};

/// The loops of a load: over products of a batch, positions, and elements of windows.
struct WindowLoops {
  std::span<const std::size_t> batch, positions, elements;
};

/// Nothing where a load goes over no windows, or over such that the copy engine cannot. `ints`: arguments of
/// a launch, by which what moves counts as what it is.
std::optional<Windows> windows_of(const Kernel& kernel, std::span<const std::int64_t> ints, const Expr& load,
                                  const WindowLoops& loops);

}  // namespace sinter::ir
