// Images of convolutions and what windows of them show, as nodes of a graph that is being written. Here an
// image is (n, h, w, c), in whatever order it lies.
#pragma once

#include <array>
#include <cstdint>

#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// Attributes of a convolution along one of its two dims.
struct Along {
  std::int64_t stride, padding, dilation;
};

struct Convolution {
  std::array<Along, 2> along;
  std::int64_t groups;
  std::int64_t blocks = 1;   // of the program's groups, that each of these has side by side
  std::int64_t at_once = 1;  // elements that lanes load at a time of what the copy engine does not bring
  std::int64_t line = 1;     // channels that the copy engine brings at a time
  std::int64_t step = 1;     // elements that its steps from pixel to pixel are a multiple of
  bool fills_lines = false;  // it brings lines that are not full
};

/// Of a convolution's node, or that of a gradient of one.
Convolution attributes_of(const Node& node);
std::array<std::int64_t, 2> strides(const Convolution& c);
std::array<std::int64_t, 2> dilations(const Convolution& c);

/// What a node of f32 is cast from, in 16 bits, all of whose numbers it has; else the node.
NodeId as_stored(const Graph& graph, NodeId id);
/// True iff the channels of an image (n, c, h, w) are known to be neighbours in memory.
bool lies_channels_last(const Graph& graph, NodeId image);

/// `x` in a frame of zeros: its elements stand at before + step * k of a dim's size.
NodeId in_zeros(Rewriter& to, NodeId x, const Shape& before, const Shape& step, const Shape& shape);
/// The same of an image's pixels, which get so many channels.
NodeId padded(Rewriter& to, NodeId x, const std::array<std::int64_t, 2>& before,
              const std::array<std::int64_t, 2>& step, const std::array<std::int64_t, 2>& sizes,
              std::int64_t channels);
/// The image with the frame that the convolution pads it with.
NodeId in_frame_of_padding(Rewriter& to, NodeId image, const Convolution& c, std::int64_t channels);
/// The gradient of a convolution's result on a grid and in a frame, so that a dense correlation with the
/// weight from its end (from_end), dilated as it was, is the gradient of the image, of `result` pixels: at h
/// it is the sum of weight[r] * gradient[k] over r and k with k * stride + r * dilation - padding = h. Of a
/// frame that is wider than a kernel reaches, some of the gradient meets nothing.
NodeId in_frame_of_reach(Rewriter& to, NodeId gradient, const Convolution& c,
                         const std::array<std::int64_t, 2>& kernel, const std::array<std::int64_t, 2>& result,
                         std::int64_t channels);
/// A weight (.., kh, kw), its windows turned round.
NodeId from_end(Rewriter& to, NodeId weight);

/// (n, h, w, c) seen as (n, oh, ow, kh, kw, c): at each position the elements that a kernel meets.
NodeId windows(Rewriter& to, NodeId x, const std::array<std::int64_t, 2>& kernel,
               const std::array<std::int64_t, 2>& stride, const std::array<std::int64_t, 2>& dilation);

}  // namespace sinter::plan
