// Frames and windows of images.
#include "jit/plan/rewrite/convolutions/images.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sinter::plan {

NodeId as_stored(const Graph& graph, NodeId id) {
  const auto widens = [&](const Node& node) {
    return node.kind == NodeKind::Op && node.op == Op::Cast && node.dtype == DType::f32 &&
           is_half(graph.nodes[node.operands[0]].dtype);
  };
  while (widens(graph.nodes[id])) id = graph.nodes[id].operands[0];
  return id;
}

bool lies_channels_last(const Graph& graph, NodeId image) {
  const std::optional<StridedView> view = strided_view(graph, as_stored(graph, image));
  return view && graph.nodes[image].shape[1] > 1 && view->layout.strides[1] == 1;
}

Convolution attributes_of(const Node& node) {
  const std::vector<std::int64_t>& ints = node.ints;
  const std::size_t dims = node.shape.rank() - 2;
  Convolution c;
  for (std::size_t d = 0; d < dims; ++d) c.along.push_back({ints[d], ints[dims + d], ints[2 * dims + d]});
  c.groups = ints[3 * dims];
  return c;
}

Dims strides(const Convolution& c) {
  Dims all;
  for (const Along& along : c.along) all.push_back(along.stride);
  return all;
}
Dims dilations(const Convolution& c) {
  Dims all;
  for (const Along& along : c.along) all.push_back(along.dilation);
  return all;
}

std::vector<std::int64_t> to_channels_last(std::size_t rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}
std::vector<std::int64_t> to_channels_first(std::size_t rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return axes;
}

Dims sizes_of(const Shape& image) { return Dims(std::span(image.begin() + 1, image.rank() - 2)); }
Shape image_shape(std::int64_t n, const Dims& sizes, std::int64_t channels) {
  Shape shape{n};
  for (const std::int64_t size : sizes) shape.push_back(size);
  shape.push_back(channels);
  return shape;
}
Dims kernel_of(const Shape& weight) { return Dims(std::span(weight.begin() + 2, weight.rank() - 2)); }
std::int64_t product_of(const Dims& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies<>());
}

NodeId in_zeros(Rewriter& to, NodeId x, const Shape& before, const Shape& step, const Shape& shape) {
  const Node given = to.node(x);
  if (given.shape == shape) return x;
  Node node;
  node.op = Op::Pad;
  node.dtype = given.dtype;
  node.shape = shape;
  node.operands = {x};
  node.ints.assign(before.begin(), before.end());
  node.ints.insert(node.ints.end(), step.begin(), step.end());
  node.scalars = to.node(to.constant(0, arithmetic_of(given.dtype))).scalars;
  return to.add(std::move(node));
}

NodeId padded(Rewriter& to, NodeId x, const Dims& before, const Dims& step, const Dims& sizes,
              std::int64_t channels) {
  return in_zeros(to, x, image_shape(0, before, 0), image_shape(1, step, 1),
                  image_shape(to.node(x).shape[0], sizes, channels));
}

NodeId with_channels(Rewriter& to, NodeId x, std::int64_t channels) {
  const Dims sizes = sizes_of(to.node(x).shape);
  return padded(to, x, Dims::filled(sizes.rank(), 0), Dims::filled(sizes.rank(), 1), sizes, channels);
}

NodeId in_frame_of_padding(Rewriter& to, NodeId image, const Convolution& c, std::int64_t channels) {
  Dims before, sizes = sizes_of(to.node(image).shape);
  for (std::size_t d = 0; d < sizes.rank(); ++d) {
    before.push_back(c.along[d].padding);
    sizes[d] += 2 * before[d];
  }
  return padded(to, image, before, Dims::filled(sizes.rank(), 1), sizes, channels);
}

NodeId in_frame_of_reach(Rewriter& to, NodeId gradient, const Convolution& c, const Dims& kernel,
                         const Dims& result, std::int64_t channels) {
  const Shape given = to.node(gradient).shape;
  Dims before, step, cut, sizes, whole;
  for (std::size_t d = 0; d < kernel.rank(); ++d) {
    const std::int64_t reach = c.along[d].dilation * (kernel[d] - 1);
    step.push_back(c.along[d].stride);
    cut.push_back(std::max<std::int64_t>(c.along[d].padding - reach, 0));
    before.push_back(reach - c.along[d].padding + cut[d]);
    sizes.push_back(result[d] + reach);
    whole.push_back(std::max(cut[d] + sizes[d], before[d] + step[d] * (given[1 + d] - 1) + 1));
  }
  const NodeId framed = padded(to, gradient, before, step, whole, channels);
  return whole == sizes ? framed : cut_out(to, framed, cut, sizes);
}

NodeId cut_out(Rewriter& to, NodeId image, const Dims& first, const Dims& sizes) {
  const Shape shape = to.node(image).shape;
  const Shape from = image_shape(0, first, 0);
  std::vector<std::int64_t> ints(from.begin(), from.end());
  ints.resize(2 * shape.rank(), 1);
  return to.view(Op::Slice, image, image_shape(shape[0], sizes, shape.back()), std::move(ints));
}

NodeId from_end(Rewriter& to, NodeId weight) {
  const Shape shape = to.node(weight).shape;
  std::vector<std::int64_t> ints(2 * shape.rank(), 1);
  ints[0] = ints[1] = 0;
  for (std::size_t d = 2; d < shape.rank(); ++d) {
    ints[d] = shape[d] - 1;
    ints[shape.rank() + d] = -1;
  }
  return to.view(Op::Slice, weight, shape, std::move(ints));
}

NodeId windows(Rewriter& to, NodeId x, const Dims& kernel, const Dims& stride, const Dims& dilation) {
  const std::size_t dims = kernel.rank();
  for (std::size_t k = 0; k < dims; ++k) {
    const std::size_t dim = 1 + k;
    Shape shape = to.node(x).shape;
    const std::int64_t reach = dilation[k] * (kernel[k] - 1) + 1;
    shape[dim] = (shape[dim] - reach) / stride[k] + 1;
    shape.push_back(reach);
    x = to.view(Op::Windows, x, shape, {static_cast<std::int64_t>(dim), stride[k]});
    if (dilation[k] == 1) continue;
    std::vector<std::int64_t> ints(2 * shape.rank(), 0);
    for (std::size_t i = 0; i < shape.rank(); ++i) ints[shape.rank() + i] = 1;
    ints.back() = dilation[k];
    shape[shape.rank() - 1] = kernel[k];
    x = to.view(Op::Slice, x, shape, std::move(ints));
  }
  // Channels stand between positions and elements of windows.
  std::vector<std::int64_t> axes(2 + 2 * dims);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::rotate(axes.begin() + static_cast<std::ptrdiff_t>(1 + dims),
              axes.begin() + static_cast<std::ptrdiff_t>(2 + dims), axes.end());
  return to.permute(x, std::move(axes));
}

}  // namespace sinter::plan
