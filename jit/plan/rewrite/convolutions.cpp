// Pass: convolutions that tensor cores may compute become contractions over windows of an image. Images lie
// with their channels last, (n, h, w, c): positions are rows, channels of the result columns, and what is
// added up are lines and columns of the kernel and channels. So the copy engine brings windows where channels
// fill its lines (ir/products/windows.h), a result is written as the next convolution reads it, and nothing
// is unfolded in memory.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "jit/plan/rewrite/factors.h"
#include "jit/plan/rewrite/groups.h"
#include "jit/plan/rewrite/images.h"
#include "jit/plan/rewrite/passes.h"
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
  if (!view || view->layout.strides[3] != 1 || view->layout.offset % step != 0) return false;
  return view->layout.moving.empty() &&
         std::all_of(view->layout.strides.begin(), view->layout.strides.end() - 1,
                     [&](std::int64_t stride) { return stride % step == 0; });
}

/// The image (n, c, h, w) as (n, h, w, c). What lies in another order is copied where the copy engine can
/// bring windows of the copy; else windows are read where it lies, or of what is stored with more channels.
NodeId image(Rewriter& to, NodeId x, const Convolution& c, const Channels& channels) {
  const NodeId last = to.permute(x, {0, 2, 3, 1});
  if (channels.stored != to.node(last).shape[3] || channels.multiplied / c.groups % c.line != 0) return last;
  return lies_for_copies(to, last, c.step) ? last : to.elementwise(Op::Cast, to.node(last).dtype, {last});
}

/// The image (n, h, w, c) as it is stored.
NodeId with_stored(Rewriter& to, NodeId x, const Channels& channels) {
  const Shape shape = to.node(x).shape;
  if (channels.stored == shape[3]) return x;
  x = padded(to, x, {0, 0}, {1, 1}, {shape[1], shape[2]}, channels.stored);
  return to.elementwise(Op::Cast, to.node(x).dtype, {x});
}

/// The image (n, h, w, c) with its frame. With more channels it is stored so.
NodeId in_frame(Rewriter& to, NodeId x, const Convolution& c, const Channels& channels) {
  if (channels.stored == to.node(x).shape[3]) return in_frame_of_padding(to, x, c, channels.multiplied);
  x = in_frame_of_padding(to, x, c, channels.stored);
  x = to.elementwise(Op::Cast, to.node(x).dtype, {x});
  const Shape shape = to.node(x).shape;
  return padded(to, x, {0, 0}, {1, 1}, {shape[1], shape[2]}, channels.multiplied);
}

// Of the factors, in the order in which they are multiplied, those whose views are followed where they are
// needed: the windows, and the gradient that they meet.
constexpr std::int64_t kFirst = 1, kBoth = 3;

/// The windows of image (n, h, w, groups * depth) by weight (groups * columns, kh, kw, depth): (n, oh, ow,
/// groups * columns). `phases`: so many times the channels of results are columns.
NodeId correlate(Rewriter& to, const Factors& factors, NodeId weight, NodeId image, const Convolution& c,
                 const std::array<std::int64_t, 2>& stride, const std::array<std::int64_t, 2>& dilation,
                 std::int64_t phases = 1) {
  const Shape of_weight = to.node(weight).shape;
  const std::int64_t groups = c.groups, columns = of_weight[0] / groups,
                     depth = of_weight[1] * of_weight[2] * of_weight[3];
  const NodeId seen = windows(to, image, {of_weight[1], of_weight[2]}, stride, dilation);
  const Shape shape = to.node(seen).shape;
  const std::int64_t rows = shape[0] * shape[1] * shape[2];
  const NodeId a = matrices(to, seen, groups, rows, depth);
  const NodeId b = to.transpose(reshaped(to, weight, shape_of_matrices(groups, columns, depth)));
  ContractionForm form;
  form.inlined = kFirst;
  form.passed = groups > 1 ? 1 : 0;  // pixels have the channels of all groups
  if (c.blocks > 1)
    form.blocks = {static_cast<std::uint32_t>(c.blocks), static_cast<std::uint32_t>(of_weight[3]),
                   static_cast<std::uint32_t>(columns / phases)};
  const NodeId product =
      contraction(to, factors, a, b, groups > 1 ? Shape{rows, groups, columns} : Shape{rows, columns}, form);
  return reshaped(to, product, Shape{shape[0], shape[1], shape[2], of_weight[0]});
}

/// The weight (groups * outputs, inputs, kh, kw) as (groups * inputs, kh, kw, outputs).
NodeId weight_of_inputs(Rewriter& to, NodeId weight, std::int64_t groups) {
  if (groups == 1) return to.permute(weight, {1, 2, 3, 0});
  const Shape shape = to.node(weight).shape;
  const std::int64_t outputs = shape[0] / groups;
  weight = reshaped(to, weight, Shape{groups, outputs, shape[1], shape[2], shape[3]});
  return reshaped(to, to.permute(weight, {0, 2, 3, 4, 1}),
                  Shape{groups * shape[1], shape[2], shape[3], outputs});
}

/// The weight (columns, kh, kw, c) with so many channels.
NodeId with_zeros(Rewriter& to, NodeId weight, std::int64_t channels) {
  const Shape shape = to.node(weight).shape;
  return padded(to, weight, {0, 0}, {1, 1}, {shape[1], shape[2]}, channels);
}

/// The weight (columns, channels, kh, kw) as (columns, kh, kw, `channels`). With more than it has it is
/// stored so, 16 bits of columns side by side where lines of the others are no multiple of what the copy
/// engine brings.
NodeId weight_of(Rewriter& to, NodeId weight, std::int64_t channels, const Convolution& c) {
  const Shape shape = to.node(weight).shape;
  const NodeId last = to.permute(weight, {0, 2, 3, 1});
  if (channels == shape[1]) return last;
  if (channels % c.line == 0 || !is_half(to.node(weight).dtype)) return with_zeros(to, last, channels);
  const NodeId filled = in_zeros(to, to.permute(weight, {2, 3, 1, 0}), Shape{0, 0, 0, 0}, Shape{1, 1, 1, 1},
                                 Shape{shape[2], shape[3], channels, shape[0]});
  return to.permute(filled, {3, 0, 1, 2});
}

NodeId forward(Rewriter& to, const Factors& factors, const Convolution& c) {
  const Shape of_weight = to.node(factors.nodes[1]).shape;
  const Channels channels = filled(to, factors.nodes[0], of_weight[2] * of_weight[3], c);
  const NodeId x = image(to, factors.nodes[0], c, channels);
  return correlate(to, factors, weight_of(to, factors.nodes[1], channels.multiplied / c.groups, c),
                   in_frame(to, x, c, channels), c, strides(c), dilations(c));
}

/// A correlation of the gradient, put on a grid, with the weight from its end. `result`: (n, h, w, c).
NodeId backward_on_grid(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result) {
  const NodeId weight = factors.nodes[1];
  const Shape of_weight = to.node(weight).shape;
  const Channels channels = in_lines(to, factors.nodes[0], of_weight[2] * of_weight[3], c);
  const NodeId gradient = with_stored(to, image(to, factors.nodes[0], c, channels), channels);
  const NodeId framed = in_frame_of_reach(to, gradient, c, {of_weight[2], of_weight[3]},
                                          {result[1], result[2]}, channels.multiplied);
  const NodeId turned = weight_of_inputs(to, from_end(to, weight), c.groups);
  return correlate(to, factors, with_zeros(to, turned, channels.multiplied / c.groups), framed, c, {1, 1},
                   dilations(c));
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
  std::array<std::int64_t, 2> phases, taps, positions, before, sizes;
  for (std::size_t d = 0; d < 2; ++d) {
    phases[d] = c.along[d].stride;
    taps[d] = (of_weight[2 + d] + phases[d] - 1) / phases[d];
    const std::int64_t reached = result[1 + d] + c.along[d].padding;
    positions[d] = std::max((reached + phases[d] - 1) / phases[d], of_gradient[2 + d]);
    before[d] = taps[d] - 1;
    sizes[d] = positions[d] + taps[d] - 1;
  }
  const std::int64_t groups = c.groups, outputs = of_weight[0] / groups, inputs = of_weight[1];
  NodeId weight = to.permute(factors.nodes[1], {0, 2, 3, 1});
  weight = padded(to, weight, {0, 0}, {1, 1}, {taps[0] * phases[0], taps[1] * phases[1]}, inputs);
  const Shape split{groups, outputs, taps[0], phases[0], taps[1], phases[1], inputs};
  weight = reshaped(to, weight, split);
  weight =
      to.view(Op::Slice, weight, split, {0, 0, taps[0] - 1, 0, taps[1] - 1, 0, 0, 1, 1, -1, 1, -1, 1, 1});
  weight = to.permute(weight, {0, 3, 5, 6, 2, 4, 1});
  weight = reshaped(to, weight, Shape{groups * phases[0] * phases[1] * inputs, taps[0], taps[1], outputs});
  const Channels channels = in_lines(to, factors.nodes[0], taps[0] * taps[1], c);
  const NodeId gradient = with_stored(to, image(to, factors.nodes[0], c, channels), channels);
  const NodeId framed = padded(to, gradient, before, {1, 1}, sizes, channels.multiplied);
  weight = with_zeros(to, weight, channels.multiplied / groups);
  NodeId found =
      stored_as(to, correlate(to, factors, weight, framed, c, {1, 1}, {1, 1}, phases[0] * phases[1]), half);
  found =
      reshaped(to, found, Shape{result[0], positions[0], positions[1], groups, phases[0], phases[1], inputs});
  found = to.permute(found, {0, 1, 4, 2, 5, 3, 6});
  found = reshaped(to, found,
                   Shape{result[0], positions[0] * phases[0], positions[1] * phases[1], groups * inputs});
  return to.view(Op::Slice, found, result, {0, c.along[0].padding, c.along[1].padding, 0, 1, 1, 1, 1});
}

/// A kernel of one element: what no position reaches is 0.
NodeId backward_of_points(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result,
                          std::optional<DType> half) {
  const NodeId weight = weight_of_inputs(to, factors.nodes[1], c.groups);
  const std::int64_t all = to.node(factors.nodes[0]).shape[1];
  const NodeId gradient = image(to, factors.nodes[0], c, {all, all});
  const NodeId found = stored_as(to, correlate(to, factors, weight, gradient, c, {1, 1}, {1, 1}), half);
  return padded(to, found, {0, 0}, {c.along[0].stride, c.along[1].stride}, {result[1], result[2]}, result[3]);
}

/// `half`: as what all read the result.
NodeId backward_input(Rewriter& to, const Factors& factors, const Convolution& c, const Shape& result,
                      std::optional<DType> half) {
  const Shape of_weight = to.node(factors.nodes[1]).shape;
  const auto all = [&](auto is) { return is(c.along[0], of_weight[2]) && is(c.along[1], of_weight[3]); };
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
  const Channels of_image = filled(to, factors.nodes[0], result[2] * result[3], c);
  // The copy engine brings lines of the gradient that are not full.
  const bool is_brought = c.fills_lines && outputs % c.step == 0;
  const NodeId x = image(to, factors.nodes[0], c, of_image),
               gradient = image(to, factors.nodes[1], c,
                                {outputs, is_brought ? rounded_up(outputs, c.line) : outputs});
  const Shape of_gradient = to.node(gradient).shape;
  const std::int64_t channels = of_image.multiplied / c.groups;
  // What no position of the gradient reaches is cut off.
  const NodeId seen =
      windows(to, in_frame(to, x, c, of_image), {result[2], result[3]}, strides(c), dilations(c));
  const std::int64_t depth = of_gradient[0] * of_gradient[1] * of_gradient[2];
  const std::int64_t rows = result[0] / c.groups, columns = result[2] * result[3] * channels;
  const NodeId a = to.transpose(matrices(to, gradient, c.groups, depth, rows));
  const NodeId b = matrices(to, seen, c.groups, depth, columns);
  const NodeId product = contraction(to, factors, a, b, shape_of_matrices(c.groups, rows, columns),
                                     ContractionForm{kBoth, 0, {}});
  NodeId found = reshaped(to, product, Shape{result[0], result[2], result[3], channels});
  if (channels != result[1])
    found = to.view(Op::Slice, found, Shape{result[0], result[2], result[3], result[1]},
                    {0, 0, 0, 0, 1, 1, 1, 1});
  return to.permute(found, {0, 3, 1, 2});
}

// Kernels of fewer elements, as of images with one channel, leave most of a tile empty; library ops are
// faster (docs/benchmarks/products.md).
constexpr std::int64_t kFewElements = 16;

/// True iff the image of all positions, or the result, is one pixel of one image.
bool has_one_pixel(const Graph& graph, const Node& node) {
  const auto is_one = [&](const Shape& plain, bool channels_last) {
    return plain[0] * plain[2] * plain[channels_last ? 1 : 3] == 1;
  };
  const auto shape = [&](std::size_t k) { return graph.nodes[node.operands[k]].shape; };
  return is_one(shape(0), false) ||
         (node.op == Op::Conv2dBackwardWeight ? is_one(shape(1), false)
                                              : is_one(node.shape, node.channels_last));
}

bool is_wanted(const Graph& graph, const Node& node) {
  const auto shape = [&](std::size_t k) { return graph.nodes[node.operands[k]].shape; };
  const Shape weight = node.op == Op::Conv2dBackwardWeight ? node.shape : shape(1);
  const bool is_empty = node.shape.numel() == 0 || shape(0).numel() == 0 || shape(1).numel() == 0;
  if (is_empty) return false;
  const std::int64_t groups = attributes_of(node).groups;
  // Groups of one channel are sums over windows. Of one pixel no tile is made.
  if (groups > 1 && (weight[1] == 1 || has_one_pixel(graph, node))) return false;
  return groups * weight[1] * weight[2] * weight[3] >= kFewElements;
}

/// True iff windows are single pixels, one behind the other: then rows lie as those of any matrix.
bool is_of_points(const Convolution& c, const Shape& of_weight) {
  const auto is_point = [&](std::size_t d) {
    return of_weight[2 + d] == 1 && c.along[d].stride == 1 && c.along[d].padding == 0;
  };
  return is_point(0) && is_point(1);
}

/// True iff a tensor map has room for the windows, or for those of a gradient.
bool has_room(const Convolution& c, const Shape& of_weight) {
  constexpr std::int64_t kMostStep = 8, kMostReach = 127;
  const auto fits = [&](std::size_t d) {
    const Along& along = c.along[d];
    return along.stride <= kMostStep && along.padding <= kMostReach &&
           along.dilation * (of_weight[2 + d] - 1) <= kMostReach;
  };
  return fits(0) && fits(1);
}

/// One of the three, by products that have some of its groups side by side.
NodeId contracted(Rewriter& to, const Node& node, Factors factors, const ir::TensorCores& cores,
                  std::optional<DType> half) {
  Convolution c = attributes_of(node);
  // Cooperative matrices are filled 16 bytes at a time.
  c.at_once = cores.matrices.empty() ? 4 : 8;
  const bool is_weight = node.op == Op::Conv2dBackwardWeight;
  Shape of_weight = is_weight ? node.shape : to.node(factors.nodes[1]).shape;
  const DType dtype = to.node(factors.nodes[0]).dtype;
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  c.line = kLineBytes / bytes;
  c.step = kStepBytes / bytes;
  // Positions by which f32 is added up lie across the sum, where lanes have to turn it.
  const bool are_turned = dtype == DType::f32 && (is_weight || !factors.rounds);
  c.fills_lines = cores.has_groups && cores.matrices.empty() && !are_turned && !is_of_points(c, of_weight) &&
                  has_room(c, of_weight);
  const std::int64_t groups = c.groups, together = groups_at_once(of_weight, groups, bytes,
                                                                  node.op == Op::Conv2dBackwardInput, cores);
  c.groups = groups / together;
  if (is_weight) {  // of which the blocks alone are read
    of_weight[1] *= together;
    return blocks_of(to, backward_weight(to, factors, c, of_weight), groups, together);
  }
  c.blocks = together;
  factors.nodes[1] = side_by_side(to, factors.nodes[1], groups, together);
  if (node.op == Op::Conv2d) return forward(to, factors, c);
  const Shape plain = node.shape;
  const Shape result = node.channels_last ? plain : Shape{plain[0], plain[2], plain[3], plain[1]};
  return backward_input(to, factors, c, result, half);
}

}  // namespace

bool is_convolution(const Node& node) {
  return node.kind == NodeKind::Op &&
         (node.op == Op::Conv2d || node.op == Op::Conv2dBackwardInput || node.op == Op::Conv2dBackwardWeight);
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
    if (node.op == Op::Conv2dBackwardWeight) return found;
    if (to.node(found).dtype != node.dtype) found = to.elementwise(Op::Cast, node.dtype, {found});
    return node.channels_last ? found : to.permute(found, {0, 3, 1, 2});
  });
}

}  // namespace sinter::plan
