// Operators on images and signals: convolutions, pools, normalisation, sampling, transforms.
#include <algorithm>
#include <array>
#include <limits>

#include "tests/onnx/operators.h"

namespace sinter::testing::onnx {
namespace {

using A = AnyTensor;
using List = std::vector<std::int64_t>;

/// What a node says of its windows, for each of the axes behind the channels.
struct Windows {
  List kernel, stride, dilation, before, after;
};

Windows windows_of(const Call& c, const Shape& image, List kernel) {
  const std::size_t axes = image.rank() - 2;
  const auto given = [&](const char* name) {
    const List list = c.integers(name);
    return list.empty() ? List(axes, 1) : list;
  };
  Windows w{std::move(kernel), given("strides"), given("dilations"), List(axes, 0), List(axes, 0)};
  const List pads = c.integers("pads");
  const std::string automatic = c.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < axes; ++i) {
    if (!pads.empty()) w.before[i] = pads[i], w.after[i] = pads[axes + i];
    if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER") continue;
    const std::int64_t size = image[2 + i], results = (size + w.stride[i] - 1) / w.stride[i];
    const std::int64_t reach = (results - 1) * w.stride[i] + w.dilation[i] * (w.kernel[i] - 1) + 1;
    const std::int64_t missing = std::max<std::int64_t>(0, reach - size);
    w.before[i] = automatic == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
    w.after[i] = missing - w.before[i];
  }
  return w;
}

/// Whether a pool takes the padding itself: the same on both sides, and at most half the kernel.
bool is_own(const Windows& w) {
  for (std::size_t i = 0; i < w.kernel.size(); ++i)
    if (w.before[i] != w.after[i] || 2 * w.before[i] > w.kernel[i]) return false;
  return true;
}

/// The image with what stands around it.
A surrounded(const A& x, Windows& w, Scalar value) {
  Dims before{0, 0}, after{0, 0};
  for (std::size_t i = 0; i < w.before.size(); ++i) {
    before.push_back(w.before[i]);
    after.push_back(w.after[i]);
    w.before[i] = w.after[i] = 0;
  }
  return x.pad(before, after, value);
}

template <std::size_t N>
std::array<std::int64_t, N> array(const List& list) {
  std::array<std::int64_t, N> values{};
  std::copy_n(list.begin(), N, values.begin());
  return values;
}
template <std::size_t N>
ConvOptions<N> options(const Windows& w, std::int64_t groups) {
  return {.stride = array<N>(w.stride),
          .padding = array<N>(w.before),
          .dilation = array<N>(w.dilation),
          .groups = groups};
}

A with_bias(const Call& c, const A& y) {
  if (!c.has(2)) return y;
  Dims sizes = Dims::filled(y.rank(), 1);
  sizes[1] = -1;
  return y + c.in(2).reshape(sizes);
}

List tail(const Shape& shape) { return List(shape.begin() + 2, shape.end()); }

Results conv(const Call& c) {
  const A& weight = c.in(1);
  Windows w = windows_of(c, c.in(0).shape(), tail(weight.shape()));
  const A x = w.before == w.after ? c.in(0) : surrounded(c.in(0), w, 0);
  const std::int64_t groups = c.integer("group", 1);
  switch (x.rank()) {
    case 3: return {with_bias(c, x.conv1d(weight, options<1>(w, groups)))};
    case 4: return {with_bias(c, x.conv2d(weight, options<2>(w, groups)))};
    case 5: return {with_bias(c, x.conv3d(weight, options<3>(w, groups)))};
    default: throw Unmapped("convolutions have one to three dimensions");
  }
}

template <std::size_t N>
ConvTransposeOptions<N> transposed(const Windows& w, std::int64_t groups) {
  return {.stride = array<N>(w.stride), .dilation = array<N>(w.dilation), .groups = groups};
}

/// The whole result, of which the part is taken that the padding, or the wanted size, leaves.
Results conv_transpose(const Call& c) {
  const A &x = c.in(0), &weight = c.in(1);
  const List kernel = tail(weight.shape());
  Windows w = windows_of(c, x.shape(), kernel);
  const std::size_t axes = kernel.size();
  const List more = c.is_given("output_padding") ? c.integers("output_padding") : List(axes, 0);
  const List wanted = c.integers("output_shape");
  const std::string automatic = c.text("auto_pad", "NOTSET");
  const std::int64_t groups = c.integer("group", 1);
  A y = axes == 1   ? x.conv_transpose1d(weight, transposed<1>(w, groups))
        : axes == 2 ? x.conv_transpose2d(weight, transposed<2>(w, groups))
                    : x.conv_transpose3d(weight, transposed<3>(w, groups));
  for (std::size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<std::int64_t>(2 + i);
    const std::int64_t whole = y.shape()[2 + i];
    std::int64_t before = w.before[i], size = whole + more[i] - w.before[i] - w.after[i];
    const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (!wanted.empty() || same) {
      size = wanted.empty() ? x.shape()[2 + i] * w.stride[i] : wanted[i];
      const std::int64_t gone = whole + more[i] - size;
      before = automatic == "SAME_UPPER" ? gone / 2 : gone - gone / 2;
    }
    const std::int64_t missing = before + size - whole;
    if (before < 0) throw Unmapped("more results than a transposed convolution has");
    if (missing > 0) {
      Dims none = Dims::filled(y.rank(), 0), after = none;
      after[2 + i] = missing;
      y = y.pad(none, after, 0);
    }
    y = y.narrow(axis, before, size);
  }
  return {with_bias(c, y)};
}

/// A pool of this rank by the layer of that, in the layer's own terms.
A max_pool(const A& x, const Windows& w, bool ceil) {
  switch (x.rank()) {
    case 3:
      return nn::MaxPool1d{.kernel = w.kernel[0],
                           .stride = w.stride[0],
                           .padding = w.before[0],
                           .dilation = w.dilation[0],
                           .ceil_mode = ceil}
          .forward(Tensor<3>(x))
          .dynamic();
    case 4:
      return nn::MaxPool2d{.kernel = array<2>(w.kernel),
                           .stride = array<2>(w.stride),
                           .padding = array<2>(w.before),
                           .dilation = array<2>(w.dilation),
                           .ceil_mode = ceil}
          .forward(Tensor<4>(x))
          .dynamic();
    case 5:
      return nn::MaxPool3d{.kernel = array<3>(w.kernel),
                           .stride = array<3>(w.stride),
                           .padding = array<3>(w.before),
                           .dilation = array<3>(w.dilation),
                           .ceil_mode = ceil}
          .forward(Tensor<5>(x))
          .dynamic();
    default: throw Unmapped("pools have one to three dimensions");
  }
}
A avg_pool(const A& x, const Windows& w, bool include, bool ceil) {
  switch (x.rank()) {
    case 3:
      return nn::AvgPool1d{.kernel = w.kernel[0],
                           .stride = w.stride[0],
                           .padding = w.before[0],
                           .count_include_pad = include,
                           .ceil_mode = ceil}
          .forward(Tensor<3>(x))
          .dynamic();
    case 4:
      return nn::AvgPool2d{.kernel = array<2>(w.kernel),
                           .stride = array<2>(w.stride),
                           .padding = array<2>(w.before),
                           .count_include_pad = include,
                           .ceil_mode = ceil}
          .forward(Tensor<4>(x))
          .dynamic();
    case 5:
      return nn::AvgPool3d{.kernel = array<3>(w.kernel),
                           .stride = array<3>(w.stride),
                           .padding = array<3>(w.before),
                           .count_include_pad = include,
                           .ceil_mode = ceil}
          .forward(Tensor<5>(x))
          .dynamic();
    default: throw Unmapped("pools have one to three dimensions");
  }
}

Results max_pool(const Call& c) {
  Windows w = windows_of(c, c.in(0).shape(), c.integers("kernel_shape"));
  if (!is_float(c.in(0).dtype())) throw Unmapped("pools are of floats");
  const bool indices = c.is_asked(1);
  if (indices && (c.in(0).rank() != 4 || w.before != w.after || c.flag("storage_order")))
    throw Unmapped("positions are of images, and counted row by row");
  if (indices) {
    const auto both =
        nn::MaxPool2d{
            .kernel = array<2>(w.kernel), .stride = array<2>(w.stride), .padding = array<2>(w.before)}
            .forward_with_indices(Tensor<4>(c.in(0)));
    return {both.values.dynamic(), both.indices.dynamic()};
  }
  const A x = is_own(w) ? c.in(0) : surrounded(c.in(0), w, -std::numeric_limits<double>::infinity());
  return {max_pool(x, w, c.flag("ceil_mode"))};
}

Results average_pool(const Call& c) {
  Windows w = windows_of(c, c.in(0).shape(), c.integers("kernel_shape"));
  const bool include = c.flag("count_include_pad"), ceil = c.flag("ceil_mode");
  if (is_own(w)) return {avg_pool(c.in(0), w, include, ceil)};
  Windows again = w;
  const A sum = avg_pool(surrounded(c.in(0), w, 0), w, true, ceil);
  if (include) return {sum};
  return {sum / avg_pool(surrounded(c.in(0).ones_like(), again, 0), again, true, ceil)};
}

Axes behind_channels(const A& x) {
  Dims axes;
  for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return Axes(axes);
}

/// Of the inputs: in training the statistics are their own, and the running ones move towards them.
Results batch_normalization(const Call& c) {
  const A& x = c.in(0);
  Dims along = Dims::filled(x.rank(), 1);
  along[1] = -1;
  const auto channel = [&](const A& t) { return t.reshape(along); };
  A mean = c.in(3), var = c.in(4);
  Results results(1);
  if (c.flag("training_mode")) {
    Dims rest{0};
    for (const std::int64_t axis : behind_channels(x)) rest.push_back(axis);
    const double stays = c.number("momentum", 0.9);
    const A own_mean = x.mean(Axes(rest)).flatten(), own_var = x.var(Axes(rest), 0).flatten();
    results.push_back(mean * stays + own_mean * (1 - stays));
    results.push_back(var * stays + own_var * (1 - stays));
    mean = own_mean;
    var = own_var;
  }
  results[0] = (x - channel(mean)) * (channel(var) + c.number("epsilon", 1e-5)).rsqrt() * channel(c.in(1)) +
               channel(c.in(2));
  return results;
}

Results grid_sample(const Call& c) {
  if (c.in(0).rank() != 4) throw Unmapped("grids are of images");
  const std::string mode = c.text("mode", "bilinear"), outside = c.text("padding_mode", "zeros");
  if (mode == "bicubic") throw Unmapped("grid_sample_2d is nearest or linear");
  return {c.in(0).grid_sample_2d(c.in(1), mode == "nearest" ? Interpolation::Nearest : Interpolation::Linear,
                                 outside == "border"       ? OutsideImage::Border
                                 : outside == "reflection" ? OutsideImage::Reflection
                                                           : OutsideImage::Zeros,
                                 c.flag("align_corners"))};
}

Results upsample(const Call& c) {
  const A& x = c.in(0);
  std::vector<float> scales(static_cast<std::size_t>(c.in(1).numel()));
  c.in(1).read_bytes(std::as_writable_bytes(std::span(scales)));
  Dims to;
  for (std::size_t i = 2; i < x.rank(); ++i)
    to.push_back(static_cast<std::int64_t>(static_cast<float>(x.shape()[i]) * scales[i]));
  return {x.interpolate(
      to, c.text("mode", "nearest") == "nearest" ? Interpolation::Nearest : Interpolation::Linear)};
}

/// The last axis holds real parts, or both.
Results dft(const Call& c) {
  const A& x = c.in(0);
  if (c.has(1)) throw Unmapped("transforms of another length");
  const std::int64_t axis = c.integer("axis", 1);
  const A real = x.select(-1, 0);
  AnyComplex y;
  if (c.flag("onesided")) {
    y = rfft(real, axis);
  } else {
    const AnyComplex all{real, x.shape().back() == 2 ? x.select(-1, 1) : real.zeros_like()};
    y = c.flag("inverse") ? ifft(all, axis) : fft(all, axis);
  }
  const A both[] = {y.real, y.imag};
  return {A::stack(both, -1)};
}

}  // namespace

void add_windows(Operators& table) {
  table["Conv"] = conv;
  table["ConvTranspose"] = conv_transpose;
  table["MaxPool"] = static_cast<Results (*)(const Call&)>(max_pool);
  table["AveragePool"] = average_pool;
  table["GlobalAveragePool"] = [](const Call& c) -> Results {
    return {c.in(0).mean(behind_channels(c.in(0)))};
  };
  table["GlobalMaxPool"] = [](const Call& c) -> Results { return {c.in(0).max(behind_channels(c.in(0)))}; };
  table["BatchNormalization"] = batch_normalization;
  table["GridSample"] = grid_sample;
  table["Upsample"] = upsample;
  table["DFT"] = dft;
}

}  // namespace sinter::testing::onnx
