// Images of convolutions and what windows of them show, as nodes of a graph that is being written. Here an
// image is (n, h, w, c), or of several planes (n, d, h, w, c), in whatever order it lies. What there is for
// each of (d,) h and w is a Dims of so many numbers.
#pragma once

#include <cstdint>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// Attributes of a convolution along one of its dims.
struct Along {
  std::int64_t stride, padding, dilation;
};

struct Convolution {
  absl::InlinedVector<Along, 3> along;
  std::int64_t groups = 1;
  std::int64_t blocks = 1;   // of the program's groups, that each of these has side by side
  std::int64_t at_once = 1;  // elements that lanes load at a time of what the copy engine does not bring
  std::int64_t line = 1;     // channels that the copy engine brings at a time
  std::int64_t step = 1;     // elements that its steps from pixel to pixel are a multiple of
  bool fills_lines = false;  // it brings lines that are not full
};

/// Of a convolution's node, or that of a gradient of one.
Convolution attributes_of(const Node& node);
Dims strides(const Convolution& c);
Dims dilations(const Convolution& c);

/// Where dims of (n, c, ..) are in (n, .., c), and the other way round.
std::vector<std::int64_t> to_channels_last(std::size_t rank);
std::vector<std::int64_t> to_channels_first(std::size_t rank);
/// Of an image's shape, (d,) h and w.
Dims sizes_of(const Shape& image);
/// The shape of so many images.
Shape image_shape(std::int64_t n, const Dims& sizes, std::int64_t channels);
/// (d,) h and w of a kernel: of a weight (o, c, ..).
Dims kernel_of(const Shape& weight);
std::int64_t product_of(const Dims& numbers);

/// What a node of f32 is cast from, in 16 bits, all of whose numbers it has; else the node.
NodeId as_stored(const Graph& graph, NodeId id);
/// True iff the channels of an image (n, c, ..) are known to be neighbours in memory.
bool lies_channels_last(const Graph& graph, NodeId image);

/// `x` in a frame of zeros: its elements stand at before + step * k of a dim's size.
NodeId in_zeros(Rewriter& to, NodeId x, const Shape& before, const Shape& step, const Shape& shape);
/// The same of an image's pixels, which get so many channels.
NodeId padded(Rewriter& to, NodeId x, const Dims& before, const Dims& step, const Dims& sizes,
              std::int64_t channels);
/// The same pixels with so many channels.
NodeId with_channels(Rewriter& to, NodeId x, std::int64_t channels);
/// The part of an image that begins there and has those sizes.
NodeId cut_out(Rewriter& to, NodeId image, const Dims& first, const Dims& sizes);
/// The image with the frame that the convolution pads it with.
NodeId in_frame_of_padding(Rewriter& to, NodeId image, const Convolution& c, std::int64_t channels);
/// The gradient of a convolution's result on a grid and in a frame, so that a dense correlation with the
/// weight from its end (from_end), dilated as it was, is the gradient of the image, of `result` pixels: at h
/// it is the sum of weight[r] * gradient[k] over r and k with k * stride + r * dilation - padding = h. Of a
/// frame that is wider than a kernel reaches, some of the gradient meets nothing.
NodeId in_frame_of_reach(Rewriter& to, NodeId gradient, const Convolution& c, const Dims& kernel,
                         const Dims& result, std::int64_t channels);
/// A weight (o, c, ..), its windows turned round.
NodeId from_end(Rewriter& to, NodeId weight);

/// (n, h, w, c) seen as (n, oh, ow, kh, kw, c): at each position the elements that a kernel meets.
NodeId windows(Rewriter& to, NodeId x, const Dims& kernel, const Dims& stride, const Dims& dilation);

}  // namespace sinter::plan
