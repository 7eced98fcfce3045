// Pass: convolutions over (depth, height, width) become sums over the planes of their kernels. Each plane
// goes over all planes of the images that it meets, which are images of one batch for a convolution over
// (height, width). Sums are made before anything is rounded to 16 bits. What tensor cores multiply is left to
// contract_convolutions, which has windows of three dims.
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/images.h"
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
  /// The planes of x that plane z of the kernel meets at so many positions; x has its frame.
  NodeId met(NodeId x, std::int64_t z, std::int64_t positions) {
    return images(x, z * depth().dilation, positions, depth().stride);
  }
  NodeId framed(NodeId x) {
    Shape shape = shape_of(x);
    shape[2] += 2 * depth().padding;
    return in_zeros(to_, x, Shape{0, 0, depth().padding, 0, 0}, Shape{1, 1, 1, 1, 1}, shape);
  }
  /// Plane z of a weight.
  NodeId of_kernel(NodeId weight, std::int64_t z) {
    Shape shape = shape_of(weight);
    shape[2] = 1;
    weight = to_.view(Op::Slice, weight, shape, {0, 0, z, 0, 0, 1, 1, 1, 1, 1});
    return to_.view(Op::Reshape, weight, Shape{shape[0], shape[1], shape[3], shape[4]});
  }
  NodeId added(NodeId sum, NodeId part) {
    return sum == kNoNode ? part : to_.elementwise(Op::Add, node_.dtype, {sum, part});
  }

  NodeId result() {
    const Shape y = node_.shape;
    const NodeId x = framed(node_.operands[0]), weight = node_.operands[1];
    NodeId sum = kNoNode;
    for (std::int64_t z = 0; z < shape_of(weight)[2]; ++z)
      sum = added(sum, plane(Op::Conv2d, met(x, z, y[2]), of_kernel(weight, z),
                             Shape{y[0] * y[2], y[1], y[3], y[4]}));
    return planes(sum, y[2]);
  }

  NodeId image() {
    const NodeId gradient = node_.operands[0], weight = node_.operands[1];
    const Shape x = node_.shape, y = shape_of(gradient);
    const std::int64_t kernel = shape_of(weight)[2];
    const NodeId of_result = images(gradient, 0, y[2], 1);
    // Each plane of the kernel puts its images a stride apart; the frame is cut off at the end.
    Shape whole = x;
    whole[2] =
        std::max((y[2] - 1) * depth().stride + depth().dilation * (kernel - 1) + 1, depth().padding + x[2]);
    NodeId sum = kNoNode;
    for (std::int64_t z = 0; z < kernel; ++z) {
      const NodeId part = plane(Op::Conv2dBackwardInput, of_result, of_kernel(weight, z),
                                Shape{y[0] * y[2], x[1], x[3], x[4]});
      sum = added(sum, in_zeros(to_, planes(part, y[2]), Shape{0, 0, z * depth().dilation, 0, 0},
                                Shape{1, 1, depth().stride, 1, 1}, whole));
    }
    return whole == x ? sum : to_.view(Op::Slice, sum, x, {0, 0, depth().padding, 0, 0, 1, 1, 1, 1, 1});
  }

  NodeId weight() {
    const NodeId x = framed(node_.operands[0]), gradient = node_.operands[1];
    const Shape w = node_.shape;
    const std::int64_t positions = shape_of(gradient)[2];
    const NodeId of_result = images(gradient, 0, positions, 1);
    NodeId sum = kNoNode;
    for (std::int64_t z = 0; z < w[2]; ++z) {
      const NodeId part =
          plane(Op::Conv2dBackwardWeight, met(x, z, positions), of_result, Shape{w[0], w[1], w[3], w[4]});
      const NodeId one = to_.view(Op::Reshape, part, Shape{w[0], w[1], 1, w[3], w[4]});
      sum = added(sum, in_zeros(to_, one, Shape{0, 0, z, 0, 0}, Shape{1, 1, 1, 1, 1}, w));
    }
    return sum;
  }

  Rewriter& to_;
  const Node& node_;
  const Convolution c_;
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
