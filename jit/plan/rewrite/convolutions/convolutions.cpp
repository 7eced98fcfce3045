// Pass: convolutions that tensor cores may compute become contractions over windows of an image. Images lie
// with their channels last, (n, h, w, c), or of several planes (n, d, h, w, c): positions are rows, channels
// of the result columns, and what is added up are elements of the kernel and channels. So the copy engine
// brings windows where channels fill its lines (ir/products/windows.h), a result is written as the next
// convolution reads it, and nothing is unfolded in memory.
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/convolutions/groups.h"
#include "jit/plan/rewrite/convolutions/images.h"
#include "jit/plan/rewrite/convolutions/phases.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/products/factors.h"
#include "jit/plan/rewrite/read_as.h"

namespace sinter::plan {
namespace {

NodeId reshaped(Rewriter& to, NodeId x, const Shape& shape) { return to.view(Op::Reshape, x, shape); }

// Bytes of channels that the copy engine brings at a time, and that its steps from pixel to pixel are a
// multiple of.
constexpr std::int64_t kLineBytes = 128, kStepBytes = 16;
// With fewer channels a pixel is not worth its loads.
constexpr std::int64_t kLeastChannels = 8;

std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }
std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return divided_up(n, to) * to; }

/// True iff `is` says so of the attributes along each dim and the kernel's size there.
template <class F>
bool holds_along_all(const Convolution& c, const Shape& of_weight, F is) {
  for (std::size_t d = 0; d < c.along.size(); ++d)
    if (!is(c.along[d], of_weight[2 + d])) return false;
  return true;
}

/// How many channels an image is stored with, unless it is in memory with so many, and how many of them are
/// multiplied: those beyond its own are 0.
struct Channels {
  std::int64_t stored, multiplied;
};

/// Of the image (n, c, h, w): so many that the copy engine brings windows, by lines that are not full. Rounds
/// of a tile are multiplied for nothing then, but lanes that find windows take longer. `taps`: elements of a
/// window. Groups are as they are.
Channels in_lines(const Rewriter& to, NodeId x, std::int64_t taps, const Convolution& c) {
  // Rounds for one of lanes, where these load whole vectors of more channels than a line has, and else
  // (docs/benchmarks/products.md).
  constexpr double kForVectors = 1.4, kForOthers = 2.5;
  const std::int64_t channels = to.node(x).shape[1], multiplied = rounded_up(channels, c.line);
  const bool are_vectors = channels > c.line && channels % c.step == 0 && lies_channels_last(to.after(), x);
  const auto rounds = static_cast<double>(taps * (multiplied / c.line)),
             of_lanes = static_cast<double>(divided_up(taps * channels, c.line));
  const bool pays = rounds <= (are_vectors ? kForVectors : kForOthers) * of_lanes;
  if (!c.fills_lines || c.groups > 1 || c.blocks > 1 || channels < kLeastChannels || !pays)
    return {channels, channels};
  return {rounded_up(channels, c.step), multiplied};
}

/// Likewise, or so that lanes load a pixel, or part of one, at a time.
Channels filled(const Rewriter& to, NodeId x, std::int64_t taps, const Convolution& c) {
  const std::int64_t channels = to.node(x).shape[1];
  if (channels >= kLeastChannels || c.groups > 1 || c.blocks > 1) return in_lines(to, x, taps, c);
  const std::int64_t whole = rounded_up(channels, c.at_once);
  return {whole, whole};
}

/// True iff neighbours along the last dim are neighbours in memory, and lines of them begin at multiples of
/// so many.
bool lies_for_copies(const Rewriter& to, NodeId x, std::int64_t step) {
  const std::optional<StridedView> view = strided_view(to.after(), x);
  if (!view || view->layout.strides.back() != 1 || view->layout.offset % step != 0) return false;
  return view->layout.moving.empty() &&
         std::all_of(view->layout.strides.begin(), view->layout.strides.end() - 1,
                     [&](std::int64_t stride) { return stride % step == 0; });
}

/// The image (n, c, ..) as (n, .., c). What lies in another order is copied where the copy engine can
/// bring windows of the copy; else windows are read where it lies, or of what is stored with more channels.
NodeId image(Rewriter& to, NodeId x, const Convolution& c, const Channels& channels) {
  const NodeId last = to.permute(x, to_channels_last(to.node(x).shape.rank()));
  if (channels.stored != to.node(last).shape.back() || channels.multiplied / c.groups % c.line != 0)
    return last;
  return lies_for_copies(to, last, c.step) ? last : to.elementwise(Op::Cast, to.node(last).dtype, {last});
}

/// The image (n, h, w, c) as it is stored.
NodeId with_stored(Rewriter& to, NodeId x, const Channels& channels) {
  if (channels.stored == to.node(x).shape.back()) return x;
  x = with_channels(to, x, channels.stored);
  return to.elementwise(Op::Cast, to.node(x).dtype, {x});
}

/// The image (n, h, w, c) with its frame. With more channels it is stored so.
NodeId in_frame(Rewriter& to, NodeId x, const Convolution& c, const Channels& channels) {
  if (channels.stored == to.node(x).shape.back()) return in_frame_of_padding(to, x, c, channels.multiplied);
  x = in_frame_of_padding(to, x, c, channels.stored);
  x = to.elementwise(Op::Cast, to.node(x).dtype, {x});
  return with_channels(to, x, channels.multiplied);
}

// Of the factors, in the order in which they are multiplied, those whose views are followed where they are
// needed: the windows, and the gradient that they meet.
constexpr std::int64_t kFirst = 1, kBoth = 3;

/// The windows of image (n, h, w, groups * depth) by weight (groups * columns, kh, kw, depth): (n, oh, ow,
/// groups * columns). `phases`: so many times the channels of results are columns.
NodeId correlate(Rewriter& to, const Factors& factors, NodeId weight, NodeId image, const Convolution& c,
                 const Dims& stride, const Dims& dilation, std::int64_t phases = 1) {
  const Shape of_weight = to.node(weight).shape;
  const Dims kernel = sizes_of(of_weight);
  const std::int64_t groups = c.groups, columns = of_weight[0] / groups, channels = of_weight.back(),
                     depth = product_of(kernel) * channels;
  const NodeId seen = windows(to, image, kernel, stride, dilation);
  Shape shape = to.node(seen).shape;  // of the result, once it ends with its channels
  for (std::size_t d = 0; d < kernel.rank(); ++d) shape.erase(shape.rank() - 1);
  shape[shape.rank() - 1] = of_weight[0];
  const std::int64_t rows = shape.numel() / of_weight[0];
  const NodeId a = matrices(to, seen, groups, rows, depth);
  const NodeId b = to.transpose(reshaped(to, weight, shape_of_matrices(groups, columns, depth)));
  ContractionForm form;
  form.inlined = kFirst;
  form.passed = groups > 1 ? 1 : 0;  // pixels have the channels of all groups
  if (c.blocks > 1)
    form.blocks = {static_cast<std::uint32_t>(c.blocks), static_cast<std::uint32_t>(channels),
                   static_cast<std::uint32_t>(columns / phases)};
  const NodeId product =
      contraction(to, factors, a, b, groups > 1 ? Shape{rows, groups, columns} : Shape{rows, columns}, form);
  return reshaped(to, product, shape);
}

/// The weight (groups * outputs, inputs, ..) as (groups * inputs, .., outputs).
NodeId weight_of_inputs(Rewriter& to, NodeId weight, std::int64_t groups) {
  const Shape shape = to.node(weight).shape;
  std::vector<std::int64_t> axes(shape.rank());
  std::iota(axes.begin(), axes.end(), std::int64_t{1});
  axes.back() = 0;
  if (groups == 1) return to.permute(weight, std::move(axes));
  Shape split = shape;
  split[0] /= groups;
  split.insert(0, groups);
  for (std::int64_t& axis : axes) ++axis;
  axes.insert(axes.begin(), 0);
  return reshaped(to, to.permute(reshaped(to, weight, split), std::move(axes)),
                  image_shape(groups * shape[1], kernel_of(shape), split[1]));
}

/// The weight (columns, channels, ..) as (columns, .., `channels`). With more than it has it is
/// stored so, 16 bits of columns side by side where lines of the others are no multiple of what the copy
/// engine brings.
NodeId weight_of(Rewriter& to, NodeId weight, std::int64_t channels, const Convolution& c) {
  const Shape shape = to.node(weight).shape;
  const std::size_t rank = shape.rank();
  const NodeId last = to.permute(weight, to_channels_last(rank));
  if (channels == shape[1]) return last;
  if (channels % c.line == 0 || !is_half(to.node(weight).dtype)) return with_channels(to, last, channels);
  std::vector<std::int64_t> turned = to_channels_last(rank), back(rank);  // (.., channels, columns)
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  std::iota(back.begin(), back.end(), std::int64_t{0});
  std::rotate(back.begin(), back.end() - 1, back.end());
  const NodeId given = to.permute(weight, std::move(turned));
  Shape filled = to.node(given).shape;
  filled[rank - 2] = channels;
  return to.permute(in_zeros(to, given, Shape(Dims::filled(rank, 0)), Shape(Dims::filled(rank, 1)), filled),
                    std::move(back));
}

NodeId forward(Rewriter& to, const Factors& factors, const Convolution& c) {
  const Shape of_weight = to.node(factors.nodes[1]).shape;
  const Channels channels = filled(to, factors.nodes[0], product_of(kernel_of(of_weight)), c);
  const NodeId x = image(to, factors.nodes[0], c, channels);
  return correlate(to, factors, weight_of(to, factors.nodes[1], channels.multiplied / c.groups, c),
                   in_frame(to, x, c, channels), c, strides(c), dilations(c));
}

/// A correlation of the gradient, put on a grid, with the weight from its end. `result`: (n, .., c).
NodeId backward_on_grid(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result) {
  const NodeId weight = factors.nodes[1];
  const Dims kernel = kernel_of(to.node(weight).shape);
  const Channels channels = in_lines(to, factors.nodes[0], product_of(kernel), c);
  const NodeId gradient = with_stored(to, image(to, factors.nodes[0], c, channels), channels);
  const NodeId framed = in_frame_of_reach(to, gradient, c, kernel, sizes_of(result), channels.multiplied);
  const NodeId turned = weight_of_inputs(to, from_end(to, weight), c.groups);
  return correlate(to, factors, with_channels(to, turned, channels.multiplied / c.groups), framed, c,
                   Dims::filled(kernel.rank(), 1), dilations(c));
}

/// What is read as halves is stored so before its elements take other places, where kernels end that compute
/// it.
NodeId stored_as(Rewriter& to, NodeId product, std::optional<DType> half) {
  return half ? to.elementwise(Op::Cast, *half, {product}) : product;
}

/// With strides most of such a grid is zeros. With h + padding = stride * q + p, the gradient at q for each
/// of the phases p is the sum of weight[p + stride * t] * gradient[q - t] over t: the phases are so many more
/// columns of one correlation with a smaller kernel, and take their places afterwards. Without dilation.
NodeId backward_by_phases(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result,
                          std::optional<DType> half) {
  const Shape of_weight = to.node(factors.nodes[1]).shape, of_gradient = to.node(factors.nodes[0]).shape;
  std::vector<Phases> phases;
  Dims before, sizes, first;
  std::int64_t taps = 1, count = 1;
  for (std::size_t d = 0; d < c.along.size(); ++d) {
    const std::int64_t stride = c.along[d].stride, padding = c.along[d].padding,
                       of_phase = divided_up(of_weight[2 + d], stride),
                       positions = std::max(divided_up(result[1 + d] + padding, stride), of_gradient[2 + d]);
    phases.push_back({stride, of_phase});
    before.push_back(of_phase - 1);
    sizes.push_back(positions + of_phase - 1);
    first.push_back(padding);
    taps *= of_phase;
    count *= stride;
  }
  const Dims dense = Dims::filled(phases.size(), 1);
  const Channels channels = in_lines(to, factors.nodes[0], taps, c);
  const NodeId gradient = with_stored(to, image(to, factors.nodes[0], c, channels), channels);
  const NodeId framed = padded(to, gradient, before, dense, sizes, channels.multiplied);
  const NodeId weight = with_channels(to, weight_of_phases(to, factors.nodes[1], c.groups, phases),
                                      channels.multiplied / c.groups);
  const NodeId found = stored_as(to, correlate(to, factors, weight, framed, c, dense, dense, count), half);
  return cut_out(to, phases_in_place(to, found, c.groups, phases), first, sizes_of(result));
}

/// A kernel of one element: what no position reaches is 0.
NodeId backward_of_points(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result,
                          std::optional<DType> half) {
  const NodeId weight = weight_of_inputs(to, factors.nodes[1], c.groups);
  const std::int64_t all = to.node(factors.nodes[0]).shape[1];
  const NodeId gradient = image(to, factors.nodes[0], c, {all, all});
  const Dims dense = Dims::filled(c.along.size(), 1);
  const NodeId found = stored_as(to, correlate(to, factors, weight, gradient, c, dense, dense), half);
  return padded(to, found, Dims::filled(dense.rank(), 0), strides(c), sizes_of(result), result.back());
}

/// `half`: as what all read the result.
NodeId backward_input(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result,
                      std::optional<DType> half) {
  const Shape of_weight = to.node(factors.nodes[1]).shape;
  const auto all = [&](auto is) { return holds_along_all(c, of_weight, is); };
  if (all([](const Along& along, std::int64_t size) { return size == 1 && along.padding == 0; }))
    return backward_of_points(to, factors, c, result, half);
  const bool is_dense = all([](const Along& along, std::int64_t size) {
    return along.stride == 1 && along.padding <= along.dilation * (size - 1);
  });
  const bool is_dilated = !all([](const Along& along, std::int64_t) { return along.dilation == 1; });
  if (is_dense || is_dilated) return backward_on_grid(to, factors, c, result);
  return backward_by_phases(to, factors, c, result, half);
}

/// Rows are the channels of the gradient, columns the elements of the kernel, and positions are added up.
NodeId backward_weight(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result) {
  const std::int64_t outputs = to.node(factors.nodes[1]).shape[1];
  const Dims kernel = kernel_of(result);
  const Channels of_image = filled(to, factors.nodes[0], product_of(kernel), c);
  // The copy engine brings lines of the gradient that are not full.
  const bool is_brought = c.fills_lines && outputs % c.step == 0;
  const NodeId x = image(to, factors.nodes[0], c, of_image),
               gradient = image(to, factors.nodes[1], c,
                                {outputs, is_brought ? rounded_up(outputs, c.line) : outputs});
  const Shape of_gradient = to.node(gradient).shape;
  const std::int64_t channels = of_image.multiplied / c.groups;
  // What no position of the gradient reaches is cut off.
  const NodeId seen = windows(to, in_frame(to, x, c, of_image), kernel, strides(c), dilations(c));
  const std::int64_t depth = of_gradient.numel() / of_gradient.back(), rows = result[0] / c.groups,
                     columns = product_of(kernel) * channels;
  const NodeId a = to.transpose(matrices(to, gradient, c.groups, depth, rows));
  const NodeId b = matrices(to, seen, c.groups, depth, columns);
  const NodeId product = contraction(to, factors, a, b, shape_of_matrices(c.groups, rows, columns),
                                     ContractionForm{kBoth, 0, {}});
  const Shape shape = image_shape(result[0], kernel, result[1]);
  NodeId found = reshaped(to, product, image_shape(result[0], kernel, channels));
  if (channels != result[1]) {
    std::vector<std::int64_t> ints(2 * shape.rank(), 1);
    std::fill_n(ints.begin(), shape.rank(), 0);
    found = to.view(Op::Slice, found, shape, std::move(ints));
  }
  return to.permute(found, to_channels_first(shape.rank()));
}

// Kernels of fewer elements, as of images with one channel, leave most of a tile empty; library ops are
// faster (docs/benchmarks/products.md).
constexpr std::int64_t kFewElements = 16;

/// True iff the image of all positions, or the result, is one pixel of one image.
bool has_one_pixel(const Graph& graph, const Node& node) {
  const auto is_one = [&](const Shape& plain, bool channels_last) {
    return plain.numel() == (channels_last ? plain.back() : plain[1]);
  };
  const auto shape = [&](std::size_t k) { return graph.nodes[node.operands[k]].shape; };
  return is_one(shape(0), false) ||
         (gives_weight(node) ? is_one(shape(1), false) : is_one(node.shape, node.channels_last));
}

bool is_wanted(const Graph& graph, const Node& node) {
  const auto shape = [&](std::size_t k) { return graph.nodes[node.operands[k]].shape; };
  const Shape weight = gives_weight(node) ? node.shape : shape(1);
  const bool is_empty = node.shape.numel() == 0 || shape(0).numel() == 0 || shape(1).numel() == 0;
  if (is_empty) return false;
  const std::int64_t groups = attributes_of(node).groups;
  // Groups of one channel are sums over windows. Of one pixel no tile is made.
  if (groups > 1 && (weight[1] == 1 || has_one_pixel(graph, node))) return false;
  return groups * weight[1] * product_of(kernel_of(weight)) >= kFewElements;
}

/// True iff windows are single pixels, one behind the other: then rows lie as those of any matrix.
bool is_of_points(const Convolution& c, const Shape& of_weight) {
  return holds_along_all(c, of_weight, [](const Along& along, std::int64_t size) {
    return size == 1 && along.stride == 1 && along.padding == 0;
  });
}

/// True iff a tensor map has room for the windows, or for those of a gradient.
bool has_room(const Convolution& c, const Shape& of_weight) {
  constexpr std::int64_t kMostStep = 8, kMostReach = 127, kMostReachOfPlanes = 15;
  const std::int64_t most = c.along.size() == 2 ? kMostReach : kMostReachOfPlanes;
  return holds_along_all(c, of_weight, [&](const Along& along, std::int64_t size) {
    return along.stride <= kMostStep && along.padding <= most && along.dilation * (size - 1) <= most;
  });
}

/// One of the three, by products that have some of its groups side by side.
NodeId contracted(Rewriter& to, const Node& node, Factors factors, const ir::TensorCores& cores,
                  std::optional<DType> half) {
  Convolution c = attributes_of(node);
  // Cooperative matrices are filled 16 bytes at a time.
  c.at_once = cores.matrices.empty() ? 4 : 8;
  const bool is_weight = gives_weight(node);
  Shape of_weight = is_weight ? node.shape : to.node(factors.nodes[1]).shape;
  const DType dtype = to.node(factors.nodes[0]).dtype;
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  c.line = kLineBytes / bytes;
  c.step = kStepBytes / bytes;
  // Positions by which f32 is added up lie across the sum, where lanes have to turn it.
  const bool are_turned = dtype == DType::f32 && (is_weight || !factors.rounds);
  c.fills_lines = cores.has_groups && cores.matrices.empty() && !are_turned && !is_of_points(c, of_weight) &&
                  has_room(c, of_weight);
  const std::int64_t groups = c.groups,
                     together = groups_at_once(of_weight, groups, bytes, gives_image(node), cores);
  c.groups = groups / together;
  if (is_weight) {  // of which the blocks alone are read
    of_weight[1] *= together;
    return blocks_of(to, backward_weight(to, factors, c, of_weight), groups, together);
  }
  c.blocks = together;
  factors.nodes[1] = side_by_side(to, factors.nodes[1], groups, together);
  if (!gives_image(node)) return forward(to, factors, c);
  const Shape& plain = node.shape;
  return backward_input(to, factors, c,
                        node.channels_last ? plain : image_shape(plain[0], kernel_of(plain), plain[1]), half);
}

}  // namespace

bool is_convolution(const Node& node) {
  return node.kind == NodeKind::Op &&
         (node.op == Op::Conv2d || node.op == Op::Conv3d || gives_image(node) || gives_weight(node));
}
bool gives_image(const Node& node) {
  return node.op == Op::Conv2dBackwardInput || node.op == Op::Conv3dBackwardInput;
}
bool gives_weight(const Node& node) {
  return node.op == Op::Conv2dBackwardWeight || node.op == Op::Conv3dBackwardWeight;
}

bool is_contracted_convolution(const Graph& graph, const Node& node, const ir::TensorCores& cores) {
  return is_convolution(node) && is_wanted(graph, node) && has_factors(graph, node, cores);
}

void contract_convolutions(Graph& graph, const ir::DeviceTraits& traits) {
  const std::vector<std::optional<DType>> halves = read_as_halves(graph, Readers::BehindViews);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (!is_convolution(node) || !is_wanted(to.after(), node)) return to.add(std::move(node));
    const std::optional<Factors> factors = factors_of(to, node, traits.tensor_cores);
    if (!factors) return to.add(std::move(node));
    NodeId found = contracted(to, node, *factors, traits.tensor_cores, halves[id]);
    if (gives_weight(node)) return found;
    if (to.node(found).dtype != node.dtype) found = to.elementwise(Op::Cast, node.dtype, {found});
    return node.channels_last ? found : to.permute(found, to_channels_first(node.shape.rank()));
  });
}

}  // namespace sinter::plan
