// Pass: convolutions over (depth, height, width) become sums over the planes of their kernels. Each plane
// goes over all planes of the images that it meets, which are images of one batch for a convolution over
// (height, width); what stands in the frame is no part of it. Sums are made before anything is rounded to 16
// bits. What tensor cores multiply is left to contract_convolutions, which has windows of three dims.
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/images.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

bool goes_over_planes(const Node& node) { return is_convolution(node) && node.shape.rank() == 5; }

/// Writes one convolution, or one of its gradients, with x (n, c, d, h, w), weight (o, c / groups, kd, kh,
/// kw) and y (n, o, od, oh, ow).
class PlanesWriter {
 public:
  PlanesWriter(Rewriter& to, const Node& node) : to_(to), node_(node), c_(attributes_of(node)) {}

  NodeId write() {
    if (gives_image(node_)) return image();
    return gives_weight(node_) ? weight() : result();
  }

 private:
  const Along& depth() const { return c_.along[0]; }
  const Shape& shape_of(NodeId id) const { return to_.node(id).shape; }

  /// A convolution over two dims of what the planes are.
  NodeId plane(Op op, NodeId a, NodeId b, const Shape& shape) {
    Node product;
    product.op = op;
    product.dtype = node_.dtype;
    product.precision = node_.precision;
    product.shape = shape;
    product.operands = {a, b};
    for (const auto number : {&Along::stride, &Along::padding, &Along::dilation})
      for (std::size_t d = 1; d < 3; ++d) product.ints.push_back(c_.along[d].*number);
    product.ints.push_back(c_.groups);
    if (op != Op::Conv2d) product.ints.insert(product.ints.end(), {shape[2], shape[3]});
    return to_.add(std::move(product));
  }

  /// Positions of the result at which a plane of the kernel meets planes of the image, and the first of
  /// these; at all others it meets the frame.
  struct Met {
    std::int64_t first, count, plane;
  };
  Met met(std::int64_t z, std::int64_t planes, std::int64_t positions) const {
    const std::int64_t stride = depth().stride, begin = z * depth().dilation - depth().padding;
    const std::int64_t first = begin < 0 ? (-1 - begin) / stride + 1 : 0,
                       end = begin < planes ? std::min((planes - 1 - begin) / stride + 1, positions) : 0;
    return {first, std::max<std::int64_t>(end - first, 0), first * stride + begin};
  }

  /// So many planes of (n, c, d, h, w) from `first` on, `step` apart, as (n planes, c, h, w).
  NodeId images(NodeId x, std::int64_t first, std::int64_t planes, std::int64_t step) {
    Shape shape = shape_of(x);
    shape[2] = planes;
    x = to_.view(Op::Slice, x, shape, {0, 0, first, 0, 0, 1, 1, step, 1, 1});
    return to_.view(Op::Reshape, to_.permute(x, {0, 2, 1, 3, 4}),
                    Shape{shape[0] * planes, shape[1], shape[3], shape[4]});
  }
  /// The other way round: (n d, c, h, w) as (n, c, d, h, w).
  NodeId planes(NodeId images, std::int64_t depth) {
    const Shape shape = shape_of(images);
    const Shape split{shape[0] / depth, depth, shape[1], shape[2], shape[3]};
    return to_.permute(to_.view(Op::Reshape, images, split), {0, 2, 1, 3, 4});
  }
  /// Plane z of a weight.
  NodeId of_kernel(NodeId weight, std::int64_t z) {
    Shape shape = shape_of(weight);
    shape[2] = 1;
    weight = to_.view(Op::Slice, weight, shape, {0, 0, z, 0, 0, 1, 1, 1, 1, 1});
    return to_.view(Op::Reshape, weight, Shape{shape[0], shape[1], shape[3], shape[4]});
  }
  /// Adds a part of the result, whose planes stand from `first` on, `step` apart.
  void add(NodeId part, std::int64_t first, std::int64_t step) {
    part = in_zeros(to_, part, Shape{0, 0, first, 0, 0}, Shape{1, 1, step, 1, 1}, node_.shape);
    sum_ = sum_ == kNoNode ? part : to_.elementwise(Op::Add, node_.dtype, {sum_, part});
  }
  /// Of all parts; where there are none the kernel meets the frame alone.
  NodeId sum() { return sum_ != kNoNode ? sum_ : to_.full(0, node_.dtype, node_.shape); }

  NodeId result() {
    const Shape y = node_.shape;
    const NodeId x = node_.operands[0], weight = node_.operands[1];
    const std::int64_t planes_of_x = shape_of(x)[2], kernel = shape_of(weight)[2];
    for (std::int64_t z = 0; z < kernel; ++z) {
      const Met at = met(z, planes_of_x, y[2]);
      if (at.count == 0) continue;
      const NodeId part = plane(Op::Conv2d, images(x, at.plane, at.count, depth().stride),
                                of_kernel(weight, z), Shape{y[0] * at.count, y[1], y[3], y[4]});
      add(planes(part, at.count), at.first, 1);
    }
    return sum();
  }

  NodeId image() {
    const NodeId gradient = node_.operands[0], weight = node_.operands[1];
    const Shape x = node_.shape;
    const std::int64_t positions = shape_of(gradient)[2], kernel = shape_of(weight)[2];
    for (std::int64_t z = 0; z < kernel; ++z) {
      const Met at = met(z, x[2], positions);
      if (at.count == 0) continue;
      const NodeId part = plane(Op::Conv2dBackwardInput, images(gradient, at.first, at.count, 1),
                                of_kernel(weight, z), Shape{x[0] * at.count, x[1], x[3], x[4]});
      add(planes(part, at.count), at.plane, depth().stride);
    }
    return sum();
  }

  NodeId weight() {
    const NodeId x = node_.operands[0], gradient = node_.operands[1];
    const Shape w = node_.shape;
    const std::int64_t planes_of_x = shape_of(x)[2], positions = shape_of(gradient)[2];
    for (std::int64_t z = 0; z < w[2]; ++z) {
      const Met at = met(z, planes_of_x, positions);
      if (at.count == 0) continue;
      const NodeId part = plane(Op::Conv2dBackwardWeight, images(x, at.plane, at.count, depth().stride),
                                images(gradient, at.first, at.count, 1), Shape{w[0], w[1], w[3], w[4]});
      add(to_.view(Op::Reshape, part, Shape{w[0], w[1], 1, w[3], w[4]}), z, 1);
    }
    return sum();
  }

  Rewriter& to_;
  const Node& node_;
  const Convolution c_;
  NodeId sum_ = kNoNode;
};

}  // namespace

void split_planes(Graph& graph, const ir::DeviceTraits& traits) {
  const ir::TensorCores& cores = traits.tensor_cores;
  // Most programs have none: their graphs are not written anew.
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), goes_over_planes)) return;
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    const bool is_left = cores.any() && is_contracted_convolution(to.after(), node, cores);
    return goes_over_planes(node) && !is_left ? PlanesWriter(to, node).write() : to.add(std::move(node));
  });
}

}  // namespace sinter::plan
