// Images that were split into pieces before they are packed. A pixel of an image is part of as many windows
// as a kernel has taps: it is split once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/runtime/host/products/amx/panel.h"

namespace sinter::runtime::host::amx {

/// 32 channels of a pixel, of one piece: a cache line.
inline constexpr std::int64_t kLineChannels = kTileDepth, kLineBytes = 64;

/// An image with its channels last, as planes of lines: plane (block of channels, piece) has a line for each
/// pixel, and one of zeros behind them. Groups have blocks of their own, whose last channels are zeros.
struct LineImage {
  std::int64_t pixels = 0, groups = 1, channels = 0;  // channels of a group
  DType dtype = DType::f32;                           // of the image, or bf16, which is one piece
  int pieces = 1;

  std::int64_t blocks() const { return parts(channels, kLineChannels); }
  std::int64_t piece_bytes() const { return (pixels + 1) * kLineBytes; }
  std::int64_t block_bytes() const { return pieces * piece_bytes(); }
  std::int64_t group_bytes() const { return blocks() * block_bytes(); }
  std::int64_t bytes() const { return groups * group_bytes(); }
};

/// Splits pixels [begin, end) and puts the bits of the greatest size among them, as f32, into `greatest`.
void split_lines(const LineImage& image, const std::byte* from, std::int64_t begin, std::int64_t end,
                 std::byte* lines, std::atomic<std::int32_t>& greatest);

/// Packs a step of a panel, of lines of 32 pixels of a block of channels whose first plane is given. Along k:
/// pixels are lanes, and tiles of lines that follow each other stay where they are; across: pixels are
/// neighbours along k, and channels are lanes.
void pack_lines_along(std::byte* panel, std::int64_t step, const LineImage& image, const std::byte* plane,
                      const std::int32_t* pixels);
void pack_lines_across(std::byte* panel, std::int64_t step, const LineImage& image, const std::byte* plane,
                       const std::int32_t* pixels, PanelSide side);
/// Before the first step is packed.
void begin_panel(std::byte* panel);

}  // namespace sinter::runtime::host::amx
