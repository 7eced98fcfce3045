// shape-bench's convolutions and their gradients.
#include "shape_convolutions.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "shape_inputs.h"

namespace bench {
namespace {

/// The sizes of both operands, (n, c, ..) and the weight's, of those of a row, and what is computed.
struct Convolution {
  Dims (*image)(const Dims&);
  Dims (*weight)(const Dims&);
  AnyTensor (*of)(const Tensors&);
};

/// As much padding as keeps the size where the kernel's is odd.
std::int64_t around(const AnyTensor& weight) { return weight.shape()[2] / 2; }

Dims of_4(const Dims& s) { return {s[0], s[1], s[2], s[3]}; }

/// n, c, h, w, channels of the result, the kernel's size and groups.
const Convolution kInGroups{of_4,
                            [](const Dims& s) -> Dims {
                              return {s[4], s[1] / s[6], s[5], s[5]};
                            },
                            [](const Tensors& in) {
                              const std::int64_t padding = around(in[1]),
                                                 groups = in[0].shape()[1] / in[1].shape()[1];
                              return in[0].conv2d(in[1], {.padding = {padding, padding}, .groups = groups});
                            }};

/// n, c, h, w, channels of the result and the kernel's size, at every second position.
const Convolution kStrided{
    of_4,
    [](const Dims& s) -> Dims {
      return {s[4], s[1], s[5], s[5]};
    },
    [](const Tensors& in) {
      return in[0].conv2d(in[1], {.stride = {2, 2}, .padding = {around(in[1]), around(in[1])}});
    }};

/// The same sizes; the result has twice as many lines and columns.
const Convolution kTransposed{
    of_4,
    [](const Dims& s) -> Dims {
      return {s[1], s[4], s[5], s[5]};
    },
    [](const Tensors& in) {
      const std::int64_t size = in[1].shape()[2], padding = (size - 1) / 2, further = size % 2;
      return in[0].conv_transpose2d(
          in[1], {.stride = {2, 2}, .padding = {padding, padding}, .output_padding = {further, further}});
    }};

/// n, c, length, channels of the result and the kernel's size.
const Convolution kOfLines{
    [](const Dims& s) -> Dims {
      return {s[0], s[1], s[2]};
    },
    [](const Dims& s) -> Dims {
      return {s[3], s[1], s[4]};
    },
    [](const Tensors& in) { return in[0].conv1d(in[1], {.padding = {around(in[1])}}); }};

/// n, c, d, h, w, channels of the result and the kernel's size.
const Convolution kOfVolumes{
    [](const Dims& s) -> Dims {
      return {s[0], s[1], s[2], s[3], s[4]};
    },
    [](const Dims& s) -> Dims {
      return {s[5], s[1], s[6], s[6], s[6]};
    },
    [](const Tensors& in) {
      return in[0].conv3d(in[1], {.padding = {around(in[1]), around(in[1]), around(in[1])}});
    }};

/// Images (n, c, ..), `last` with their channels last in memory.
AnyTensor images(const Dims& sizes, bool last, DType dtype, const Device& device) {
  if (!last) return normal(sizes, dtype, device);
  Dims stored = sizes, axes = sizes;
  std::rotate(stored.begin() + 1, stored.begin() + 2, stored.end());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return normal(stored, dtype, device).permute(sn::Axes(axes));
}

Tensors operands(const Convolution& c, const Dims& s, bool last, DType dtype, const Device& device) {
  return {images(c.image(s), last, dtype, device), normal(c.weight(s), dtype, device)};
}
/// With the gradient of the result.
Tensors leaves(const Convolution& c, const Dims& s, bool last, DType dtype, const Device& device) {
  Tensors in = operands(c, s, last, dtype, device.autodiff());
  const Shape result = c.of(in).shape();
  for (AnyTensor& x : in) x = x.require_grad();
  in.push_back(images(result, last, dtype, device));
  return in;
}

/// Images and a kernel of 3 x 3: n, c, h, w and the channels of the result.
Dims with_3x3(const Dims& s) { return {s[0], s[1], s[2], s[3], s[4], 3, 1}; }
/// With a bias for each channel.
Tensors with_bias(const Dims& s, DType dtype, const Device& device) {
  Tensors in = operands(kInGroups, with_3x3(s), false, dtype, device);
  in.push_back(normal({1, s[4], 1, 1}, dtype, device));
  return in;
}

/// Adds rows of `rank` sizes: the convolution and its gradients, of images in the order of their dims and
/// with their channels last.
void add(std::vector<ShapeOperation>& to, const std::string& name, std::size_t rank, const Convolution& c) {
  for (const bool last : {false, true}) {
    const std::string order = last ? "_last" : "";
    to.push_back({name + order, rank,
                  [=](const Dims& s, DType dtype, const Device& device) {
                    return operands(c, s, last, dtype, device);
                  },
                  [=](const Tensors& in) { return Tensors{c.of(in)}; }});
    to.push_back(
        {name + order + "_backward", rank,
         [=](const Dims& s, DType dtype, const Device& device) { return leaves(c, s, last, dtype, device); },
         [=](const Tensors& in) { return gradients(c.of(in), in, 2); }});
  }
}

}  // namespace

std::vector<ShapeOperation> convolutions() {
  std::vector<ShapeOperation> all{
      {"conv3", 5, with_bias, [](const Tensors& in) { return Tensors{kInGroups.of(in)}; }},
      {"conv3_bias_relu", 5, with_bias,
       [](const Tensors& in) { return Tensors{sn::relu(AnyTensor::add(kInGroups.of(in), in[2]))}; }},
      {"conv3_backward", 5,
       [](const Dims& s, DType dtype, const Device& device) {
         return leaves(kInGroups, with_3x3(s), false, dtype, device);
       },
       [](const Tensors& in) { return gradients(kInGroups.of(in), in, 2); }},
  };
  add(all, "conv", 7, kInGroups);
  add(all, "conv_strided", 6, kStrided);
  add(all, "conv_transpose", 6, kTransposed);
  add(all, "conv1d", 5, kOfLines);
  add(all, "conv3d", 7, kOfVolumes);
  return all;
}

}  // namespace bench
