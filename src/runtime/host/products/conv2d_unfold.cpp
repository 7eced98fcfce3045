// Unfolds images (im2col), so that a convolution becomes a matrix product.
#include <algorithm>

#include "src/runtime/host/products/conv2d.h"

namespace sinter::runtime::host {
namespace {

/// Divides the positions [begin, end) of a plane of width `width` into parts of rows and calls f(y, x, count,
/// offset) for each.
template <class F>
void for_each_row(std::int64_t begin, std::int64_t end, std::int64_t width, F&& f) {
  for (std::int64_t p = begin; p < end;) {
    const std::int64_t y = p / width, x = p - y * width;
    const std::int64_t count = std::min(width - x, end - p);
    f(y, x, count, p - begin);
    p += count;
  }
}

/// to[i] = from[first + i * step] where that index is in [0, size), else 0.
template <class T>
void copy_within(T* to, const T* from, std::int64_t first, std::int64_t step, std::int64_t size,
                 std::int64_t count) {
  // i in [low, high) is inside.
  std::int64_t low = first >= 0 ? 0 : (-first + step - 1) / step;
  std::int64_t high = first >= size ? 0 : (size - 1 - first) / step + 1;
  low = std::min(low, count);
  high = std::clamp(high, low, count);
  for (std::int64_t i = 0; i < low; ++i) to[i] = T{0};
  if (step == 1) {
    const T* source = from + first;
    for (std::int64_t i = low; i < high; ++i) to[i] = source[i];
  } else {
    for (std::int64_t i = low; i < high; ++i) to[i] = from[first + i * step];
  }
  for (std::int64_t i = high; i < count; ++i) to[i] = T{0};
}

}  // namespace

template <class T>
void unfold_input(const library::Conv2dOp& op, const T* x, std::int64_t begin, std::int64_t end, T* to,
                  std::int64_t stride) {
  const std::int64_t channels = op.c_in / op.groups;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t r = 0; r < op.kh; ++r)
      for (std::int64_t s = 0; s < op.kw; ++s, to += stride) {
        const T* plane = x + c * op.h * op.w;
        for_each_row(begin, end, op.ow,
                     [&](std::int64_t oy, std::int64_t ox, std::int64_t count, std::int64_t at) {
                       const std::int64_t y = oy * op.stride[0] - op.padding[0] + r * op.dilation[0];
                       const std::int64_t first = ox * op.stride[1] - op.padding[1] + s * op.dilation[1];
                       if (y < 0 || y >= op.h)
                         std::fill_n(to + at, count, T{0});
                       else
                         copy_within(to + at, plane + y * op.w, first, op.stride[1], op.w, count);
                     });
      }
}

template <class T>
void unfold_gradient(const library::Conv2dOp& op, const T* y, std::int64_t begin, std::int64_t end, T* to,
                     std::int64_t stride) {
  const std::int64_t channels = op.c_out / op.groups;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t r = 0; r < op.kh; ++r)
      for (std::int64_t s = 0; s < op.kw; ++s, to += stride) {
        const T* plane = y + c * op.oh * op.ow;
        for_each_row(begin, end, op.w,
                     [&](std::int64_t iy, std::int64_t ix, std::int64_t count, std::int64_t at) {
                       const std::int64_t from_y = iy + op.padding[0] - r * op.dilation[0];
                       const std::int64_t from_x = ix + op.padding[1] - s * op.dilation[1];
                       T* row = to + at;
                       if (from_y < 0 || from_y % op.stride[0] != 0 || from_y / op.stride[0] >= op.oh) {
                         std::fill_n(row, count, T{0});
                         return;
                       }
                       const T* source = plane + from_y / op.stride[0] * op.ow;
                       if (op.stride[1] == 1) {
                         copy_within(row, source, from_x, 1, op.ow, count);
                         return;
                       }
                       for (std::int64_t i = 0; i < count; ++i) {
                         const std::int64_t fx = from_x + i;
                         const bool meets = fx >= 0 && fx % op.stride[1] == 0 && fx / op.stride[1] < op.ow;
                         row[i] = meets ? source[fx / op.stride[1]] : T{0};
                       }
                     });
      }
}

template void unfold_input<float>(const library::Conv2dOp&, const float*, std::int64_t, std::int64_t, float*,
                                  std::int64_t);
template void unfold_input<double>(const library::Conv2dOp&, const double*, std::int64_t, std::int64_t,
                                   double*, std::int64_t);
template void unfold_gradient<float>(const library::Conv2dOp&, const float*, std::int64_t, std::int64_t,
                                     float*, std::int64_t);
template void unfold_gradient<double>(const library::Conv2dOp&, const double*, std::int64_t, std::int64_t,
                                      double*, std::int64_t);

}  // namespace sinter::runtime::host
