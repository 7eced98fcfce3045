// Maxima of windows, with a gradient of their own: which element of a window was the greatest is kept, and
// each element of the input asks the few windows that it lies in.
#include <limits>
#include <utility>
#include <vector>

#include <sinter/autodiff.h>

#include "src/nn/windows.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;
using sinter::detail::Tensors;

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// The number that an element of a window has: its places in the window, counted row-major in lines that are
/// at least as long as windows reach.
struct Numbering {
  std::array<std::int64_t, 3> line{1, 1, 1};  // from a place along a dim to the next
  std::int64_t none = 0;                      // greater than all numbers
  DType dtype;                                // that holds them

  explicit Numbering(const Windows& w) {
    std::int64_t next = 1;
    for (std::size_t i = w.dims; i-- > 0;) {
      line[i] = next;
      // The places that an element may have in the windows it is near: multiples of the stride apart.
      next *= (w.reach(i) + w.stride[i] - 1) / w.stride[i] * w.stride[i];
    }
    none = next;
    dtype = none <= 255 ? DType::u8 : DType::i32;
  }
};

/// 0, step, .. along dim i of the images or windows, which have `rank` dims.
A places(std::int64_t count, std::int64_t step, std::size_t axis, std::size_t rank, const Device& device,
         const Location& where) {
  Dims sizes = Dims::filled(rank, 1);
  sizes[axis] = count;
  return A::mul(A::arange(0, count, 1, DType::i32, device, where), step, where).reshape(sizes, where);
}

struct Formula {
  Windows windows;
  Shape input;
  Location where;

  std::size_t rank() const { return 2 + windows.dims; }

  /// Of each window, the number of its first element that is the greatest.
  A first_greatest(const A& x, const A& elements, const A& greatest) const {
    const Windows& w = windows;
    const Numbering numbering(w);
    const Device device = x.device().inner();
    A number;
    for (std::size_t i = 0; i < w.dims; ++i) {
      const A part =
          places(w.kernel[i], w.dilation[i] * numbering.line[i], rank() + i, rank() + w.dims, device, where);
      number = number.defined() ? A::add(number, part, where) : part;
    }
    A is_greatest =
        A::logical_or(A::equal(elements, greatest, where), A::not_equal(elements, elements, where), where);
    if (w.reaches_over() || w.padding != std::array<std::int64_t, 3>{}) {
      Shape image = input;
      image[0] = image[1] = 1;
      const A inside = windows_of(A::full(image, 1.0, x.dtype(), device, where), w, 0, where);
      is_greatest = A::logical_and(is_greatest, A::greater(inside, 0.0, where), where);
    }
    const Axes axes = inside_of(w.dims);
    return A::where(is_greatest, number, numbering.none, where)
        .min(axes, where)
        .squeeze(axes, where)
        .cast(numbering.dtype, where);
  }

  /// What the window `back` before the last one that begins at an element, or before it, has there; `around`
  /// where there is no such window.
  A of_window(A x, const std::array<std::int64_t, 3>& back, double around) const {
    const Windows& w = windows;
    Dims before{0, 0}, after{0, 0};
    std::vector<Range> ranges(2);
    for (std::size_t i = 0; i < w.dims; ++i) {
      const std::int64_t stride = w.stride[i], size = input[i + 2];
      if (stride > 1) {
        Dims sizes, joined;
        for (std::size_t d = 0; d < x.rank(); ++d) {
          sizes.push_back(x.shape()[d]);
          joined.push_back(x.shape()[d] * (d == i + 2 ? stride : 1));
          if (d == i + 2) sizes.push_back(stride);
        }
        x = x.unsqueeze(static_cast<std::int64_t>(i + 3), where).expand(sizes, where).reshape(joined, where);
      }
      const std::int64_t end = w.padding[i] + size;
      before.push_back(back[i] * stride);
      after.push_back(std::max<std::int64_t>(0, end - before[i + 2] - x.shape()[i + 2]));
      ranges.push_back(Range{w.padding[i], end});
    }
    return x.pad(before, after, around, where).slice(ranges, where);
  }

  /// Of each place of dim i, the number that it adds in the last window that begins there or before: 0, line,
  /// .. and again from one stride to the next. Views alone, so that a kernel has them from its indices.
  A numbers_in_stride(std::size_t i, const Numbering& numbering, const Device& device) const {
    const std::int64_t stride = windows.stride[i], end = windows.padding[i] + input[i + 2];
    const std::int64_t count = (end + stride - 1) / stride;
    Dims sizes = Dims::filled(rank(), 1);
    sizes[i + 2] = input[i + 2];
    return places(stride, numbering.line[i], 1, 2, device, where)
        .expand({count, stride}, where)
        .reshape({count * stride}, where)
        .slice({Range{windows.padding[i], end}}, where)
        .reshape(sizes, where);
  }

  A gradient(const A& given, const A& number) const {
    const Windows& w = windows;
    const Numbering numbering(w);
    const A wide = is_stored_float(given.dtype()) ? given.cast(DType::f32, where) : given;
    std::array<std::int64_t, 3> count{1, 1, 1}, back{};
    for (std::size_t i = 0; i < w.dims; ++i) count[i] = (w.reach(i) + w.stride[i] - 1) / w.stride[i];
    A nearest;  // the number that an element has in the last window that begins at it or before it
    for (std::size_t i = 0; i < w.dims; ++i) {
      const A part = numbers_in_stride(i, numbering, given.device().inner());
      nearest = nearest.defined() ? A::add(nearest, part, where) : part;
    }
    A sum;
    for (back[0] = 0; back[0] < count[0]; ++back[0])
      for (back[1] = 0; back[1] < count[1]; ++back[1])
        for (back[2] = 0; back[2] < count[2]; ++back[2]) {
          std::int64_t further = 0;
          for (std::size_t i = 0; i < w.dims; ++i) further += back[i] * w.stride[i] * numbering.line[i];
          const A own = A::add(nearest, further, where);
          const A chosen =
              of_window(number, back, static_cast<double>(numbering.none)).cast(DType::i32, where);
          const A part = A::where(A::equal(chosen, own, where), of_window(wide, back, 0), 0.0, where);
          sum = sum.defined() ? A::add(sum, part, where) : part;
        }
    return sum.dtype() == given.dtype() ? sum : sum.cast(given.dtype(), where);
  }
};

}  // namespace

AnyTensor max_of_windows(const AnyTensor& x, const Windows& w, const Location& where) {
  // f8_e4m3 has no infinity that could stand around the image.
  if (is_f8(x.dtype())) return max_of_windows(x.cast(DType::f32, where), w, where).cast(x.dtype(), where);
  Formula f{w, x.shape(), where};
  // A longer stride has one window too, and would make numbers of places that are nowhere.
  for (std::size_t i = 0; i < w.dims; ++i)
    f.windows.stride[i] = std::min(w.stride[i], std::max<std::int64_t>(1, w.padding[i] + f.input[i + 2]));
  sinter::detail::FunctionParts parts{"max_pool", where, {}, {}};
  parts.forward = [&](Saved& saved) {
    const A elements = windows_of(x, w, kLowest, where);
    const Axes inside = inside_of(w.dims);
    const A greatest = elements.max(inside, where);
    saved.kept() = {f.first_greatest(x.inner(), elements.inner(), greatest.inner())};
    return Tensors{greatest.squeeze(inside, where)};
  };
  parts.backward = [f](const Saved& saved, const Tensors& gradients) {
    return Tensors{f.gradient(gradients[0], saved[0])};
  };
  return sinter::detail::call(std::move(parts), {x})[0];
}

}  // namespace sinter::nn
