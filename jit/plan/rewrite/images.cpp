// Frames and windows of images.
#include "jit/plan/rewrite/images.h"

#include <algorithm>
#include <optional>
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
  const std::vector<std::int64_t>& i = node.ints;
  return {{{{i[0], i[2], i[4]}, {i[1], i[3], i[5]}}}, i[6]};
}

std::array<std::int64_t, 2> strides(const Convolution& c) { return {c.along[0].stride, c.along[1].stride}; }
std::array<std::int64_t, 2> dilations(const Convolution& c) {
  return {c.along[0].dilation, c.along[1].dilation};
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

NodeId padded(Rewriter& to, NodeId x, const std::array<std::int64_t, 2>& before,
              const std::array<std::int64_t, 2>& step, const std::array<std::int64_t, 2>& sizes,
              std::int64_t channels) {
  const Shape shape = to.node(x).shape;
  return in_zeros(to, x, Shape{0, before[0], before[1], 0}, Shape{1, step[0], step[1], 1},
                  Shape{shape[0], sizes[0], sizes[1], channels});
}

NodeId in_frame_of_padding(Rewriter& to, NodeId image, const Convolution& c, std::int64_t channels) {
  const Shape shape = to.node(image).shape;
  const std::array<std::int64_t, 2> before{c.along[0].padding, c.along[1].padding};
  return padded(to, image, before, {1, 1}, {shape[1] + 2 * before[0], shape[2] + 2 * before[1]}, channels);
}

NodeId in_frame_of_reach(Rewriter& to, NodeId gradient, const Convolution& c,
                         const std::array<std::int64_t, 2>& kernel, const std::array<std::int64_t, 2>& result,
                         std::int64_t channels) {
  const Shape given = to.node(gradient).shape;
  std::array<std::int64_t, 2> before, step, cut, sizes, whole;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t reach = c.along[d].dilation * (kernel[d] - 1);
    step[d] = c.along[d].stride;
    cut[d] = std::max<std::int64_t>(c.along[d].padding - reach, 0);
    before[d] = reach - c.along[d].padding + cut[d];
    sizes[d] = result[d] + reach;
    whole[d] = std::max(cut[d] + sizes[d], before[d] + step[d] * (given[1 + d] - 1) + 1);
  }
  const NodeId framed = padded(to, gradient, before, step, whole, channels);
  if (whole == sizes) return framed;
  return to.view(Op::Slice, framed, Shape{given[0], sizes[0], sizes[1], channels},
                 {0, cut[0], cut[1], 0, 1, 1, 1, 1});
}

NodeId from_end(Rewriter& to, NodeId weight) {
  const Shape shape = to.node(weight).shape;
  return to.view(Op::Slice, weight, shape, {0, 0, shape[2] - 1, shape[3] - 1, 1, 1, -1, -1});
}

NodeId windows(Rewriter& to, NodeId x, const std::array<std::int64_t, 2>& kernel,
               const std::array<std::int64_t, 2>& stride, const std::array<std::int64_t, 2>& dilation) {
  for (std::size_t k = 0; k < 2; ++k) {
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
  return to.permute(x, {0, 1, 2, 4, 5, 3});
}

}  // namespace sinter::plan
