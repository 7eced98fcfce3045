// Pass: depthwise convolutions, whose results are made of one channel of an image each, become sums over
// windows of it. A product of matrices would have a single row for each channel: what takes time is to read
// and write images, and that is what kernels of sums do, with the work around them.
//
// Dims stand in the order in which the image lies: (n, h, w, c) where its channels are last in memory, else
// (n, c, h, w). A channel of the image has `each` channels of the result.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/images.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/read_as.h"

namespace sinter::plan {
namespace {

/// What is multiplied and added up: sizes of the dims (n, h, w, c, each, kh, kw).
struct Points {
  std::int64_t n, h, w, c, each, kh, kw;
};

/// Writes the sums of one convolution, or of one of its gradients.
class DepthwiseWriter {
 public:
  /// `half`: as what all read the result.
  DepthwiseWriter(Rewriter& to, const Node& node, const Convolution& c, bool last, std::optional<DType> half)
      : to_(to), node_(node), c_(c), last_(last), half_(half), wide_(arithmetic_of(node.dtype)) {}

  NodeId write() {
    switch (node_.op) {
      case Op::Conv2d: return forward();
      case Op::Conv2dBackwardInput: return backward_input();
      default: return backward_weight();
    }
  }

 private:
  Shape shape_of(NodeId id) const { return to_.node(id).shape; }
  /// (n, h, w, c) of an operand that is an image.
  NodeId image(std::size_t operand) {
    return to_.permute(as_stored(to_.after(), node_.operands[operand]), {0, 2, 3, 1});
  }
  NodeId framed(NodeId image) { return in_frame_of_padding(to_, image, c_, shape_of(image)[3]); }
  /// The weight (c each, 1, kh, kw). Where channels are neighbours, those of a place in the window have to be
  /// neighbours, too: it is stored so.
  NodeId weight() {
    const NodeId given = as_stored(to_.after(), node_.operands[1]);
    return last_ ? to_.permute(to_.stored_copy(to_.permute(given, {2, 3, 0, 1})), {2, 3, 0, 1}) : given;
  }

  /// (n, h, w, kh, kw, c each) with the window's dims last: (n, h, w, c, each, kh, kw).
  NodeId of_windows(NodeId windows, std::int64_t each = 1) {
    const Shape s = shape_of(windows);
    return to_.view(Op::Reshape, to_.permute(windows, {0, 1, 2, 5, 3, 4}),
                    Shape{s[0], s[1], s[2], s[5] / each, each, s[3], s[4]});
  }
  /// The weight (c each, 1, kh, kw) as (1, 1, 1, c, each, kh, kw).
  NodeId of_weight(NodeId weight, const Points& p) {
    return to_.view(Op::Reshape, weight, Shape{1, 1, 1, p.c, p.each, p.kh, p.kw});
  }

  /// The sum over `dims` of the products of two values (n, h, w, c, each, kh, kw), whose sizes may be 1.
  /// `order`: that of the loops.
  NodeId sum_of_products(NodeId a, NodeId b, const Points& p, const std::vector<std::int64_t>& order,
                         std::int64_t dims) {
    const Shape points{p.n, p.h, p.w, p.c, p.each, p.kh, p.kw};
    const auto operand = [&](NodeId id) {
      id = to_.permute(to_.view(Op::Expand, id, points), order);
      return to_.node(id).dtype == wide_ ? id : to_.cast(id, wide_);
    };
    Node product;
    product.op = Op::Mul;
    product.dtype = wide_;
    product.operands = {operand(a), operand(b)};
    product.shape = shape_of(product.operands[0]);
    // A weight is in memory, and a gradient is met by each place in the window.
    product.ints = {gives_weight(node_) ? kBoth : kFirst};
    std::int64_t mask = 0;
    for (std::size_t d = 0; d < order.size(); ++d) mask |= (dims >> order[d] & 1) << d;
    return to_.reduce(Op::Sum, wide_, to_.add(std::move(product)), mask);
  }
  /// As what all read the result, before views of it: the sum itself is not stored then.
  NodeId rounded(NodeId sum) {
    const DType dtype = half_.value_or(node_.dtype);
    return dtype == wide_ ? sum : to_.cast(sum, dtype);
  }
  NodeId as_result(NodeId found) {
    return to_.node(found).dtype == node_.dtype ? found : to_.cast(found, node_.dtype);
  }

  std::vector<std::int64_t> order_of_image() const {
    return last_ ? std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}
                 : std::vector<std::int64_t>{0, 3, 4, 1, 2, 5, 6};
  }
  /// A sum for each pixel and channel (c each), as the node has its result.
  NodeId as_image(NodeId sum, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t channels) {
    const Shape in_order = last_ ? Shape{n, h, w, channels} : Shape{n, channels, h, w};
    NodeId found = to_.view(Op::Reshape, rounded(sum), in_order);
    if (last_ != node_.channels_last)
      found = last_ ? to_.permute(found, {0, 3, 1, 2}) : to_.permute(found, {0, 2, 3, 1});
    return as_result(found);
  }

  NodeId forward() {
    const NodeId given = weight();
    const Shape w = shape_of(given);
    const NodeId seen = windows(to_, framed(image(0)), {w[2], w[3]}, strides(c_), dilations(c_));
    const Shape s = shape_of(seen);
    const Points p{s[0], s[1], s[2], s[5], w[0] / s[5], w[2], w[3]};
    const NodeId sum = sum_of_products(of_windows(seen), of_weight(given, p), p, order_of_image(), kWindow);
    return as_image(sum, p.n, p.h, p.w, w[0]);
  }

  /// The gradient of a pixel is made of those of the results whose windows it is in.
  NodeId backward_input() {
    const NodeId given = weight();
    const Shape w = shape_of(given);
    const Shape result = node_.channels_last
                             ? node_.shape
                             : Shape{node_.shape[0], node_.shape[2], node_.shape[3], node_.shape[1]};
    const NodeId gradient = image(0);
    const NodeId reached =
        in_frame_of_reach(to_, gradient, c_, {w[2], w[3]}, {result[1], result[2]}, shape_of(gradient)[3]);
    const NodeId seen = windows(to_, reached, {w[2], w[3]}, {1, 1}, dilations(c_));
    const Points p{result[0], result[1], result[2], result[3], w[0] / result[3], w[2], w[3]};
    const NodeId sum = sum_of_products(of_windows(seen, p.each), of_weight(from_end(to_, given), p), p,
                                       order_of_image(), kWindow | kEach);
    return as_image(sum, p.n, p.h, p.w, p.c);
  }

  /// Places in the window are results of one kernel, which loads the gradient once for all of them and finds
  /// in the nearest cache what of the image they have in common: all of them where they are few, else those
  /// of a line, or of a column where lines are long.
  NodeId backward_weight() {
    const Shape w = node_.shape;
    const NodeId seen = of_windows(windows(to_, framed(image(0)), {w[2], w[3]}, strides(c_), dilations(c_)));
    const NodeId gradient = image(1);
    const Shape g = shape_of(gradient);
    const bool are_few = w[2] * w[3] <= kMostPlaces, has_short_lines = w[3] <= kMostPlaces;
    const std::int64_t channels = shape_of(seen)[3],
                       lines = are_few || (!has_short_lines && w[2] <= kMostPlaces) ? w[2] : 1,
                       columns = has_short_lines ? w[3] : 1;
    const Points p{g[0], g[1], g[2], channels, w[0] / channels, w[2] / lines, w[3] / columns};
    const NodeId of_result = to_.view(Op::Reshape, gradient, Shape{p.n, p.h, p.w, p.c, p.each, 1, 1});
    // Neighbours in memory are neighbours in the loops, whether they are kept or added up.
    const std::vector<std::int64_t> order = last_ ? std::vector<std::int64_t>{5, 6, 0, 1, 2, 3, 4}
                                                  : std::vector<std::int64_t>{3, 4, 5, 6, 0, 1, 2};
    std::vector<NodeId> places;
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t column = 0; column < columns; ++column) {
        const Shape met{p.n, p.h, p.w, p.c, 1, p.kh, p.kw};
        const NodeId x = to_.view(Op::Slice, seen, met, {0, 0, 0, 0, 0, line, column, 1, 1, 1, 1, 1, 1, 1});
        const NodeId sum = sum_of_products(x, of_result, p, order, kImage);
        places.push_back(
            to_.view(Op::Reshape, sum, last_ ? Shape{p.kh, p.kw, w[0]} : Shape{w[0], p.kh, p.kw}));
      }
    // Of a line at a time the columns come first, of all lines these do.
    const std::int64_t dim = last_ ? lines == 1 : lines == 1 ? 2 : 1;
    const NodeId found = rounded(to_.concat(places, static_cast<std::size_t>(dim)));
    if (!last_) return as_result(to_.view(Op::Reshape, found, w));
    return as_result(to_.permute(to_.view(Op::Reshape, found, Shape{w[2], w[3], w[0], 1}), {2, 3, 0, 1}));
  }

  // Places whose sums a lane has registers for, beside each other.
  static constexpr std::int64_t kMostPlaces = 9;
  // Factors that are read many times, as sets.
  static constexpr std::int64_t kFirst = 1, kBoth = 3;
  // Dims of points, as sets.
  static constexpr std::int64_t kImage = 1 << 0 | 1 << 1 | 1 << 2, kEach = 1 << 4, kWindow = 1 << 5 | 1 << 6;

  Rewriter& to_;
  const Node& node_;
  const Convolution& c_;
  const bool last_;
  const std::optional<DType> half_;
  const DType wide_;
};

}  // namespace

bool is_summed_convolution(const Graph& graph, const Node& node) {
  if (!is_convolution(node) || node.shape.rank() != 4 || attributes_of(node).groups < 2 ||
      node.shape.numel() == 0)
    return false;
  const auto shape = [&](std::size_t k) { return graph.nodes[node.operands[k]].shape; };
  const Shape weight = gives_weight(node) ? node.shape : shape(1);
  return weight[1] == 1 && shape(0).numel() > 0 && shape(1).numel() > 0;
}

void sum_windows(Graph& graph, const ir::DeviceTraits&) {
  // Most programs have none: their graphs are not written anew.
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                   [&](const Node& node) { return is_summed_convolution(graph, node); }))
    return;
  const std::vector<std::optional<DType>> halves = read_as_halves(graph, Readers::BehindViews);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (!is_summed_convolution(to.after(), node)) return to.add(std::move(node));
    const bool last = node.channels_last || lies_channels_last(to.after(), node.operands[0]);
    return DepthwiseWriter(to, node, attributes_of(node), last, halves[id]).write();
  });
}

}  // namespace sinter::plan
