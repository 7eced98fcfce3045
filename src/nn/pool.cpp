// Pooling, composed of views and reductions.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/autodiff.h>
#include <sinter/functions/scatter.h>
#include <sinter/nn/conv.h>
#include <sinter/nn/pool.h>

#include "src/base/number_text.h"
#include "src/nn/init.h"
#include "src/nn/windows.h"
#include "src/tensor/autocast.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;
using Pair = std::array<std::int64_t, 2>;
using Sizes = std::span<const std::int64_t>;

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Throws ShapeError where a number is out of range or a window does not fit.
template <std::size_t N>
Windows make_windows(const char* layer, const Shape& shape, const std::array<std::int64_t, N>& kernel,
                     const std::array<std::int64_t, N>& stride, const std::array<std::int64_t, N>& padding,
                     const std::array<std::int64_t, N>& dilation, bool ceil_mode, const Location& where) {
  Windows w;
  w.dims = N;
  for (std::size_t i = 0; i < N; ++i) {
    detail::require_positive(layer, "a size of the kernel", kernel[i], where);
    detail::require_positive(layer, "a stride", stride[i], where);
    detail::require_positive(layer, "a dilation", dilation[i], where);
    if (padding[i] < 0 || padding[i] > kernel[i] / 2)
      throw ShapeError("[" + std::string(layer) + "] a padding is " + std::to_string(padding[i]) +
                           ", expected 0 to half of the kernel's " + std::to_string(kernel[i]),
                       where);
    const std::int64_t size = shape[i + 2], reach = dilation[i] * (kernel[i] - 1) + 1;
    const std::int64_t free = size + 2 * padding[i] - reach;
    // Rounded up, a window that is larger than the input by less than a stride is one that reaches over its
    // end.
    const bool reaches_over = ceil_mode && size > 0 && free < 0 && -free < stride[i];
    if (free < 0 && !reaches_over)
      throw ShapeError("[" + std::string(layer) + "] a window of " + std::to_string(reach) +
                           " does not fit in the " + std::to_string(size) + " elements of the input " +
                           to_string(shape) + " with a padding of " + std::to_string(padding[i]),
                       where);
    w.kernel[i] = kernel[i];
    w.stride[i] = stride[i];
    w.padding[i] = padding[i];
    w.dilation[i] = dilation[i];
    if (reaches_over) w.behind[i] = -free;
    if (reaches_over || !ceil_mode || free % stride[i] == 0) continue;
    const std::int64_t begin = (free / stride[i] + 1) * stride[i];  // of one window more
    if (begin < size + padding[i]) w.behind[i] = begin - free;
  }
  return w;
}

/// (1, 1, places .., 1 ..): how many elements of each window are in the input, or in its padding, too.
A counts_of(const A& x, const Windows& w, bool with_padding, const Location& where) {
  Shape image = x.shape();
  image[0] = image[1] = 1;
  Windows inside = w;
  for (std::size_t i = 0; with_padding && i < w.dims; ++i) {
    image[i + 2] += 2 * w.padding[i];
    inside.padding[i] = 0;
  }
  const DType dtype = is_stored_float(x.dtype()) ? DType::f32 : x.dtype();
  const A ones = A::full(image, 1.0, dtype, x.device().inner(), where);
  return windows_of(ones, inside, 0, where).sum(inside_of(w.dims), where);
}

A mean_of_windows(const A& x, const Windows& w, bool count_include_pad, const Location& where) {
  const Axes inside = inside_of(w.dims);
  const A sum = tensor::widened(windows_of(x, w, 0, where), where).sum(inside, where);
  A mean;
  if (!count_include_pad || w.reaches_over()) {
    mean = A::div(sum, counts_of(x, w, count_include_pad, where), where);
  } else {
    double count = 1;
    for (std::size_t i = 0; i < w.dims; ++i) count *= static_cast<double>(w.kernel[i]);
    mean = A::mul(sum, 1.0 / count, where);
  }
  return mean.squeeze(inside, where).cast(tensor::autocast_wide(x.dtype()), where);
}

template <std::size_t N>
A avg_pool(const char* layer, const A& x, const std::array<std::int64_t, N>& kernel,
           const std::array<std::int64_t, N>& stride, const std::array<std::int64_t, N>& padding,
           bool count_include_pad, bool ceil_mode, const Location& where) {
  const Windows w = make_windows(layer, x.shape(), kernel, stride, padding, filled<N>(1), ceil_mode, where);
  return mean_of_windows(x, w, count_include_pad, where);
}

template <std::size_t N>
A max_pool(const char* layer, const A& x, const std::array<std::int64_t, N>& kernel,
           const std::array<std::int64_t, N>& stride, const std::array<std::int64_t, N>& padding,
           const std::array<std::int64_t, N>& dilation, bool ceil_mode, const Location& where) {
  const Windows w = make_windows(layer, x.shape(), kernel, stride, padding, dilation, ceil_mode, where);
  return max_of_windows(x, w, where);
}

/// Window o of an adaptive pooling along one axis begins at floor(o input / output) and ends before
/// ceil((o + 1) input / output), both as (output, 1).
struct UnevenWindows {
  UnevenWindows(std::int64_t input, std::int64_t output, const Device& device, const Location& where)
      : longest((input + output - 1) / output + (input % output == 0 ? 0 : 1)) {
    const A at = A::arange(0, output, 1, device, where).reshape({output, 1}, where);
    begin = A::div(A::mul(at, input, where), output, where);
    end = A::div(A::add(A::mul(at, input, where), input + output - 1, where), output, where);
  }
  std::int64_t longest;
  A begin, end;
};

/// What (output, ..) is for one axis, of the rank of x and one more behind that axis.
A along(const A& of_windows, const A& x, std::int64_t axis, const Location& where) {
  Dims shape = Dims::filled(x.rank() + 1, 1);
  for (std::int64_t i = 0; i < 2; ++i)
    shape[static_cast<std::size_t>(axis + i)] = of_windows.shape()[static_cast<std::size_t>(i)];
  return of_windows.reshape(shape, where);
}

/// The sums of the elements in each of `output` such windows. An element lies in the windows that an output
/// of as many windows as there are elements would have: the gradient is such sums as well.
A sum_unevenly(const A& x, std::int64_t axis, std::int64_t output, const Location& where) {
  sinter::detail::FunctionParts function{"adaptive_sum", where, {}, {}};
  const std::int64_t input = x.shape()[static_cast<std::size_t>(axis)];
  function.forward = [&](Saved&) -> std::vector<A> {
    const A image = x.inner();
    const UnevenWindows w(input, output, image.device(), where);
    const A element = A::arange(0, w.longest, 1, image.device(), where).reshape({1, w.longest}, where);
    const A place = A::add(w.begin, element, where);
    Dims apart(image.shape());
    apart[static_cast<std::size_t>(axis)] = output;
    apart.insert(static_cast<std::size_t>(axis) + 1, w.longest);
    const A elements =
        image
            .index_select(axis, A::minimum(place, input - 1, where).reshape({output * w.longest}, where),
                          where)
            .reshape(apart, where);
    const A inside = along(A::less(place, w.end, where), image, axis, where);
    return {A::where(inside, elements, 0.0, where).sum(axis + 1, where).squeeze(axis + 1, where)};
  };
  function.backward = [=](const Saved&, const std::vector<A>& g) -> std::vector<A> {
    return {sum_unevenly(g[0], axis, input, where)};
  };
  return sinter::detail::call(std::move(function), {x})[0];
}

/// Adaptive pooling along one axis whose size does not divide.
A pool_unevenly(const A& x, std::int64_t axis, std::int64_t output, bool largest, const Location& where) {
  const std::int64_t input = x.shape()[static_cast<std::size_t>(axis)];
  const Device device = x.device().inner();
  const UnevenWindows w(input, output, device, where);
  if (largest) {
    // For each output a mask selects the elements of its window.
    const A place = A::arange(0, input, 1, device, where).reshape({1, input}, where);
    const A inside =
        A::logical_and(A::greater_equal(place, w.begin, where), A::less(place, w.end, where), where);
    return A::where(along(inside, x, axis, where), x.unsqueeze(axis, where), kLowest, where)
        .max(axis + 1, where)
        .squeeze(axis + 1, where);
  }
  const A sums = sum_unevenly(tensor::widened(x, where), axis, output, where);
  const A counts = along(A::sub(w.end, w.begin, where).cast(sums.dtype(), where), x, axis, where);
  return A::div(sums, counts.squeeze(axis + 1, where), where).cast(tensor::autocast_wide(x.dtype()), where);
}

/// The values are read at the indices, so that both come from one choice: of places in the image, even where
/// all of them are -inf like what lies around it. A window that has none of them has the index of an end of
/// the image, and its value is -inf.
template <std::size_t N>
PooledWithIndices<N + 2> max_pool_with_indices(const char* layer, const A& x,
                                               const std::array<std::int64_t, N>& kernel,
                                               const std::array<std::int64_t, N>& stride,
                                               const std::array<std::int64_t, N>& padding,
                                               const std::array<std::int64_t, N>& dilation, bool ceil_mode,
                                               const Location& where) {
  const Windows w = make_windows(layer, x.shape(), kernel, stride, padding, dilation, ceil_mode, where);
  const A image = x.inner();
  const A windows = windows_of(is_f8(x.dtype()) ? image.cast(DType::f32, where) : image, w, kLowest, where);
  const Shape& all = windows.shape();
  Dims merged;
  for (std::size_t i = 0; i < N + 2; ++i) merged.push_back(all[i]);
  Dims places = merged, flat{all[0], all[1], 1};
  std::int64_t in_window = 1;
  for (const std::int64_t size : kernel) in_window *= size;  // `windows` has as many, so it fits
  merged.push_back(in_window);
  constexpr std::int64_t kLast = N + 2;
  const A elements = windows.reshape(merged, where);
  A rest = elements.argmax(kLast, where).reshape(places, where);
  A has_some;  // of the image
  if (w.reaches_over() || w.padding != std::array<std::int64_t, 3>{}) {
    Shape one(image.shape());
    one[0] = one[1] = merged[0] = merged[1] = 1;
    Dims one_place = places;
    one_place[0] = one_place[1] = 1;
    const A ones = A::full(one, 1.0, DType::f32, image.device(), where);
    const A inside = windows_of(ones, w, 0, where).reshape(merged, where);
    const A all_lowest = A::equal(elements.max(kLast, where), kLowest, where).reshape(places, where);
    rest = A::where(all_lowest, inside.argmax(kLast, where).reshape(one_place, where), rest, where);
    has_some = A::greater(inside.max(kLast, where), 0.0, where).reshape(one_place, where);
  }
  // From the place in the window to that in the input, the last dimension first.
  A index;
  std::int64_t stride_of = 1;
  for (std::size_t i = N; i-- > 0;) {
    const A inside = A::mul(A::remainder(rest, kernel[i], where), dilation[i], where);
    rest = A::div(rest, kernel[i], where);
    Dims sizes = Dims::filled(N + 2, 1);
    sizes[i + 2] = all[i + 2];
    const A begin = A::arange(0, all[i + 2], 1, x.device().inner(), where).reshape(sizes, where);
    A at = A::add(inside, A::sub(A::mul(begin, stride[i], where), padding[i], where), where);
    if (has_some.defined())
      at = A::minimum(A::maximum(at, 0, where), std::max<std::int64_t>(x.shape()[i + 2] - 1, 0), where);
    const A part = A::mul(at, stride_of, where);
    index = index.defined() ? A::add(index, part, where) : part;
    stride_of *= x.shape()[i + 2];
    flat[2] *= all[i + 2];
  }
  const A rows = x.reshape({all[0], all[1], stride_of}, where);
  A values = rows.gather(2, index.reshape(flat, where), where).reshape(places, where);
  if (has_some.defined()) values = A::where(has_some, values, kLowest, where);
  return {Tensor<N + 2>(values), Tensor<N + 2, Int>(index)};
}

A adaptive_pool(const char* layer, const A& x, Sizes output, bool largest, const Location& where) {
  if (is_f8(x.dtype()))
    return adaptive_pool(layer, x.cast(DType::f32, where), output, largest, where).cast(x.dtype(), where);
  const Shape& in = x.shape();
  Dims blocks{in[0], in[1]}, inside;
  bool divides = true;
  for (std::size_t i = 0; i < output.size(); ++i) {
    detail::require_positive(layer, "a size of the output", output[i], where);
    detail::require_positive(layer, "a size of the image", in[i + 2], where);
    divides = divides && in[i + 2] % output[i] == 0;
    blocks.push_back(output[i]);
    blocks.push_back(in[i + 2] / output[i]);
    inside.push_back(static_cast<std::int64_t>(3 + 2 * i));
  }
  if (divides) {
    const A parts = x.reshape(blocks, where);
    const Axes axes(inside);
    return (largest ? parts.max(axes, where) : parts.mean(axes, where)).squeeze(axes, where);
  }
  A pooled = x;
  for (std::size_t i = 0; i < output.size(); ++i)
    pooled = pool_unevenly(pooled, static_cast<std::int64_t>(i + 2), output[i], largest, where);
  return pooled;
}

/// Maxima and where they stand: windows may overlap and differ in size, so that each is looked up as elements
/// of the image, of which the last is repeated where the window is shorter than the longest.
template <std::size_t N>
PooledWithIndices<N + 2> adaptive_max_with_indices(const char* layer, const A& x, Sizes output,
                                                   const Location& where) {
  const Shape& in = x.shape();
  std::int64_t image = 1, windows = 1, longest = 1;
  Dims out{in[0], in[1]};
  for (std::size_t i = 0; i < N; ++i) {
    detail::require_positive(layer, "a size of the output", output[i], where);
    detail::require_positive(layer, "a size of the image", in[i + 2], where);
    image *= in[i + 2];
    windows *= output[i];
    out.push_back(output[i]);
  }
  const Device device = x.device().inner();
  A index;  // (output .., elements of a window ..)
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t size = in[i + 2], count = output[i];
    const std::int64_t most = (size + count - 1) / count + (size % count == 0 ? 0 : 1);
    longest *= most;
    Dims of_windows = Dims::filled(2 * N, 1), of_elements = of_windows;
    of_windows[i] = count;
    of_elements[N + i] = most;
    const A window = A::arange(0, count, 1, device, where).reshape(of_windows, where);
    const A start = A::div(A::mul(window, size, where), count, where);
    const A last = A::div(A::sub(A::mul(A::add(window, 1, where), size, where), 1, where), count, where);
    const A element = A::arange(0, most, 1, device, where).reshape(of_elements, where);
    const A place = A::minimum(A::add(start, element, where), last, where);
    index = index.defined() ? A::add(A::mul(index, size, where), place, where) : place;
  }
  const A flat = index.reshape({windows * longest}, where);
  const A elements = x.reshape({in[0], in[1], image}, where)
                         .index_select(2, flat, where)
                         .reshape({in[0], in[1], windows, longest}, where);
  const AnyIndexed best = elements.max_with_indices(-1, where);
  const A places = flat.reshape({1, 1, windows, longest}, where)
                       .expand(elements.shape(), where)
                       .gather(3, best.indices, where);
  return {Tensor<N + 2>(best.values.reshape(out, where)), Tensor<N + 2, Int>(places.reshape(out, where))};
}

/// A layer over one dimension is one over images of height 1.
template <class Layer>
Tensor<3> as_image(const Layer& layer, const Tensor<3>& x, const Location& where) {
  return Tensor<3>(
      layer.forward(Tensor<4>(x.dynamic().unsqueeze(2, where)), where).dynamic().squeeze(2, where));
}

std::optional<Pair> wide(const std::optional<std::int64_t>& stride) {
  return stride ? std::optional<Pair>(Pair{1, *stride}) : std::nullopt;
}

}  // namespace

Tensor<4> AvgPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(avg_pool("avg_pool2d", x.dynamic(), kernel, stride.value_or(kernel), padding,
                            count_include_pad, ceil_mode, where));
}

Tensor<4> MaxPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(max_pool("max_pool2d", x.dynamic(), kernel, stride.value_or(kernel), padding, dilation,
                            ceil_mode, where));
}

AnyTensor detail::max_unpool(const AnyTensor& values, const AnyTensor& indices,
                             std::span<const std::int64_t> output, Location where) {
  const Shape& in = values.shape();
  if (indices.shape() != in)
    throw ShapeError("[max_unpool] values " + to_string(in) + " and indices " + to_string(indices.shape()) +
                         " are not of one shape",
                     where);
  Dims out{in[0], in[1]};
  std::int64_t count = 1, places = 1;
  for (std::size_t i = 0; i < output.size(); ++i) {
    detail::require_positive("max_unpool", "a size of the output", output[i], where);
    out.push_back(output[i]);
    count *= in[i + 2];
    places *= output[i];
  }
  const A zeros = A::full({in[0], in[1], places}, 0.0, values.dtype(), values.device().inner(), where);
  const A index = indices.inner().reshape({in[0], in[1], count}, where);
  return scatter(zeros, 2, index, values.reshape({in[0], in[1], count}, where), where).reshape(out, where);
}

PooledWithIndices<4> MaxPool2d::forward_with_indices(const Tensor<4>& x, Location where) const {
  return max_pool_with_indices("max_pool2d", x.dynamic(), kernel, stride.value_or(kernel), padding, dilation,
                               ceil_mode, where);
}

PooledWithIndices<5> MaxPool3d::forward_with_indices(const Tensor<5>& x, Location where) const {
  return max_pool_with_indices("max_pool3d", x.dynamic(), kernel, stride.value_or(kernel), padding, dilation,
                               ceil_mode, where);
}

PooledWithIndices<3> MaxPool1d::forward_with_indices(const Tensor<3>& x, Location where) const {
  const std::array<std::int64_t, 1> size{kernel}, step{stride.value_or(kernel)}, around{padding},
      apart{dilation};
  return max_pool_with_indices("max_pool1d", x.dynamic(), size, step, around, apart, ceil_mode, where);
}

Tensor<5> AvgPool3d::forward(const Tensor<5>& x, Location where) const {
  return Tensor<5>(avg_pool("avg_pool3d", x.dynamic(), kernel, stride.value_or(kernel), padding,
                            count_include_pad, ceil_mode, where));
}

Tensor<5> MaxPool3d::forward(const Tensor<5>& x, Location where) const {
  return Tensor<5>(max_pool("max_pool3d", x.dynamic(), kernel, stride.value_or(kernel), padding, dilation,
                            ceil_mode, where));
}

Tensor<4> LpPool2d::forward(const Tensor<4>& x, Location where) const {
  if (!(p > 0)) throw Error("[lp_pool2d] p, expected more than 0, is " + text_of(p), where);
  const Windows w = make_windows("lp_pool2d", x.shape(), kernel, stride.value_or(kernel), Pair{0, 0},
                                 Pair{1, 1}, ceil_mode, where);
  const A wide = tensor::widened(x.dynamic(), where);
  const A powers = p == 2 ? wide.square(where) : A::pow(wide, p, where);
  const double whole = static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]);
  const Axes inside = inside_of(2);
  const A sum = w.reaches_over() ? A::mul(mean_of_windows(powers, w, true, where), whole, where)
                                 : windows_of(powers, w, 0, where).sum(inside, where).squeeze(inside, where);
  const A is_zero = A::equal(sum, 0, where);
  const A root = A::pow(A::where(is_zero, 1.0, sum, where), 1 / p, where);
  return Tensor<4>(A::where(is_zero, 0.0, root, where).cast(tensor::autocast_wide(x.dtype()), where));
}

Tensor<3> LpPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(LpPool2d{p, {1, kernel}, wide(stride), ceil_mode}, x, where);
}

Tensor<3> AvgPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AvgPool2d{{1, kernel}, wide(stride), {0, padding}, count_include_pad, ceil_mode}, x, where);
}

Tensor<3> MaxPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(MaxPool2d{{1, kernel}, wide(stride), {0, padding}, {1, dilation}, ceil_mode}, x, where);
}

Tensor<4> AdaptiveAvgPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(adaptive_pool("adaptive_avg_pool2d", x.dynamic(), output, false, where));
}

Tensor<4> AdaptiveMaxPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(adaptive_pool("adaptive_max_pool2d", x.dynamic(), output, true, where));
}

PooledWithIndices<4> AdaptiveMaxPool2d::forward_with_indices(const Tensor<4>& x, Location where) const {
  return adaptive_max_with_indices<2>("adaptive_max_pool2d", x.dynamic(), output, where);
}

PooledWithIndices<5> AdaptiveMaxPool3d::forward_with_indices(const Tensor<5>& x, Location where) const {
  return adaptive_max_with_indices<3>("adaptive_max_pool3d", x.dynamic(), output, where);
}

PooledWithIndices<3> AdaptiveMaxPool1d::forward_with_indices(const Tensor<3>& x, Location where) const {
  return adaptive_max_with_indices<1>("adaptive_max_pool1d", x.dynamic(), std::array{output}, where);
}

Tensor<3> AdaptiveAvgPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AdaptiveAvgPool2d{{1, output}}, x, where);
}

Tensor<3> AdaptiveMaxPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AdaptiveMaxPool2d{{1, output}}, x, where);
}

Tensor<5> AdaptiveAvgPool3d::forward(const Tensor<5>& x, Location where) const {
  return Tensor<5>(adaptive_pool("adaptive_avg_pool3d", x.dynamic(), output, false, where));
}

Tensor<5> AdaptiveMaxPool3d::forward(const Tensor<5>& x, Location where) const {
  return Tensor<5>(adaptive_pool("adaptive_max_pool3d", x.dynamic(), output, true, where));
}

}  // namespace sinter::nn
