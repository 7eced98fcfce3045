// Rows of a product are pixels, columns channels, and sums go over the taps of a window and its channels; of
// a gradient by the weight, rows are channels of y, columns taps and channels of x, and sums go over pixels.
#include "src/runtime/host/products/amx/convolution.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/host/products/amx/lines.h"
#include "src/runtime/host/products/amx/tiled.h"
#include "src/runtime/host/products/amx/weights.h"
#include "src/runtime/host/products/amx/windows.h"

namespace sinter::runtime::host::amx {
namespace {

using Direction = library::Conv2dOp::Direction;

/// Multiplications that oneDNN's convolutions of f32 do in a cycle of a core; as if, by Winograd's algorithm;
/// its gradients by the weight, of bf16.
constexpr double kVectors = 27, kWinograd = 40, kVectorsOfHalves = 45;
/// Cycles of an element along k of a panel: lines are copied, or turned into pairs of pixels and, for rows,
/// transposed; weights are packed, by who multiplies them or for all. And of an element that is split,
/// stored.
constexpr double kCopyLines = 6, kPairLines = 9, kTransposeLines = 15, kPackWeights = 55,
                 kPrepareWeights = 80, kSplit = 0.8, kStore = 0.7, kStoreWeights = 2;
/// Their numbers are i32; likewise those of the weights of 16 channels.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28, kMostWeights = std::int64_t{1} << 26;
/// Of all phases of a gradient, before it is known which of them there are.
constexpr std::int64_t kMostTaps = 4096;
/// Split images take half as much again as they are large: larger ones are left to others.
constexpr std::size_t kMostPrepared = std::size_t{256} << 20;
/// Pixels that a thread splits at a time.
constexpr std::int64_t kPixelsTogether = 256;

LineImage lines_of(Pixels pixels, std::int64_t channels, std::int64_t groups, DType dtype, int pieces) {
  return {pixels.count(), groups, channels / groups, dtype, pieces};
}

/// Weights are f32; of a gradient by them both factors are images.
Pieces pieces_of_factors(const library::Conv2dOp& op) {
  return op.direction == Direction::BackwardWeight
             ? pieces_of(op.stored_dtype(1), op.stored_dtype(0), op.precision)
             : pieces_of(DType::f32, DType::f32, op.precision);
}

double multiplications(const library::Conv2dOp& op) {
  return static_cast<double>(op.n * op.oh * op.ow) * static_cast<double>(op.c_out) *
         static_cast<double>(op.c_in / op.groups * op.kh * op.kw);
}

/// What both kinds of products have in common: images are split first.
class ConvolutionProgram : public TiledProgram {
 public:
  std::string describe() const override { return op_.describe() + by_tiles(shape().pieces); }
  std::size_t held_bytes() const override { return TiledProgram::held_bytes() + sizeof op_; }

 protected:
  ConvolutionProgram(const library::Conv2dOp& op, Unit unit, const TiledShape& shape,
                     std::shared_ptr<ProductProgram> otherwise)
      : TiledProgram(unit, shape, std::move(otherwise)), op_(op) {}

  const library::Conv2dOp& op() const { return op_; }

  /// Splits an operand.
  void split(Workers& workers, const LineImage& image, const std::byte* from, std::byte* to,
             Launch& launch) const {
    std::atomic<std::int32_t> greatest{0};
    const auto pixels = [&](std::size_t piece, std::size_t) {
      const std::int64_t begin = static_cast<std::int64_t>(piece) * kPixelsTogether;
      split_lines(image, from, begin, std::min(begin + kPixelsTogether, image.pixels), to, greatest);
    };
    share(workers, parts(image.pixels, kPixelsTogether), pixels);
    if (shape().pieces.term_count > 1 && !splits_plainly(greatest)) launch.leaves = true;
  }
  template <class Work>
  void share(Workers& workers, std::int64_t pieces, Work&& work) const {
    if (is_shared())
      workers.pool().run(static_cast<std::size_t>(pieces), work);
    else
      for (std::int64_t piece = 0; piece < pieces; ++piece) work(static_cast<std::size_t>(piece), 0);
  }

 private:
  const library::Conv2dOp op_;
};

// ---- y, and the gradient by x

/// Products are groups of channels times phases of pixels.
struct ByPixels {
  explicit ByPixels(const library::Conv2dOp& op)
      : forward(op.direction == Direction::Forward),
        phases(forward ? std::vector{phase_of_y(op)} : phases_of_x(op)),
        pieces(pieces_of_factors(op)),
        read(forward ? pixels_of_x(op) : pixels_of_y(op)),
        lines(lines_of(read, forward ? op.c_in : op.c_out, op.groups, DType::f32, pieces.of[0])),
        written((forward ? op.c_out : op.c_in) / op.groups) {}

  /// Steps of 32 channels along k.
  std::int64_t steps(const Phase& phase) const {
    return static_cast<std::int64_t>(phase.taps.size()) * lines.blocks();
  }

  bool forward;
  std::vector<Phase> phases;
  Pieces pieces;
  Pixels read;  // the image that windows are in
  LineImage lines;
  std::int64_t written;  // channels of a group of the result
};

std::int64_t steps_of_block(const TiledShape& shape) { return shape.depth / kTileDepth; }

TiledShape shape_of(const library::Conv2dOp& op, const ByPixels& by) {
  TiledShape shape;
  shape.pieces = by.pieces;
  shape.products = op.groups * static_cast<std::int64_t>(by.phases.size());
  std::int64_t steps = 0, all = 0;
  for (const Phase& phase : by.phases) {
    shape.row_panels = std::max(shape.row_panels, parts(phase.pixels(op.n), kPanelLanes));
    steps = std::max(steps, by.steps(phase));
    all += by.steps(phase);
  }
  shape.column_panels = parts(by.written, kPanelLanes);
  shape.depth = std::min(most_depth(by.pieces), steps * kTileDepth);
  // On an average, as phases have different ones.
  shape.k = std::max<std::int64_t>(all / static_cast<std::int64_t>(by.phases.size()), 1) * kTileDepth;
  shape.work = 2 * multiplications(op);
  shape.pack_cycles = {kCopyLines, kPackWeights};
  shape.prepare_cycles = kPrepareWeights;
  return shape;
}

class PixelProgram final : public ConvolutionProgram {
 public:
  PixelProgram(const library::Conv2dOp& op, Unit unit, ByPixels by, std::shared_ptr<ProductProgram> otherwise)
      : ConvolutionProgram(op, unit, shape_of(op, by), std::move(otherwise)),
        by_(std::move(by)),
        weights_(op, by_.phases, by_.pieces, steps_of_block(shape())) {}

  std::size_t held_bytes() const override {
    std::size_t bytes = ConvolutionProgram::held_bytes() + weights_.held_bytes();
    for (const Phase& phase : by_.phases) bytes += phase.held_bytes();
    return bytes;
  }

 private:
  const Phase& phase_of(std::int64_t product) const {
    return by_.phases[static_cast<std::size_t>(product % static_cast<std::int64_t>(by_.phases.size()))];
  }
  std::int64_t group_of(std::int64_t product) const {
    return product / static_cast<std::int64_t>(by_.phases.size());
  }

  std::int64_t rows(std::int64_t product, std::int64_t panel) const override {
    return std::min(kPanelLanes, phase_of(product).pixels(op().n) - panel * kPanelLanes);
  }
  std::int64_t columns(std::int64_t panel) const override {
    return std::min(kPanelLanes, by_.written - panel * kPanelLanes);
  }
  std::int64_t blocks(std::int64_t product) const override {
    return parts(by_.steps(phase_of(product)), steps_of_block(shape()));
  }
  std::int64_t depth(std::int64_t product, std::int64_t block) const override {
    const std::int64_t most = steps_of_block(shape());
    return std::min(most, by_.steps(phase_of(product)) - block * most) * kTileDepth;
  }

  std::size_t prepared_bytes() const override {
    return static_cast<std::size_t>(by_.lines.bytes() + (prepares_columns() ? weights_.bytes() : 0));
  }
  void prepare(Workers& workers, Launch& launch) const override {
    split(workers, by_.lines, launch.data[0], launch.prepared, launch);
    if (!prepares_columns() || launch.leaves) return;
    share(workers, weights_.panels(), [&](std::size_t panel, std::size_t) {
      if (!weights_.pack_all(given_weights(launch), static_cast<std::int64_t>(panel),
                             launch.prepared + by_.lines.bytes()))
        launch.leaves = true;
    });
  }
  static const float* given_weights(const Launch& launch) {
    return reinterpret_cast<const float*>(launch.data[1]);
  }

  bool pack_rows(const Launch& launch, std::int64_t product, std::int64_t panel, std::int64_t block,
                 std::byte* to) const override {
    const Phase& phase = phase_of(product);
    const auto taps = static_cast<std::int64_t>(phase.taps.size());
    const std::int64_t first = block * steps_of_block(shape()), count = depth(product, block) / kTileDepth;
    const Origins<kPanelLanes> lanes(phase, panel * kPanelLanes, rows(product, panel), by_.read);
    const std::byte* const group = launch.prepared + group_of(product) * by_.lines.group_bytes();
    std::array<std::int32_t, kPanelLanes> pixels;
    begin_panel(to);
    for (std::int64_t step = 0; step < count; ++step) {
      lanes.find(0, phase.taps[static_cast<std::size_t>((first + step) % taps)], pixels.data());
      pack_lines_along(to, step, by_.lines, group + (first + step) / taps * by_.lines.block_bytes(),
                       pixels.data());
    }
    return true;
  }

  const std::byte* columns_of(const Launch& launch, std::int64_t product, std::int64_t panel,
                              std::int64_t block, std::byte* room) const override {
    if (prepares_columns())
      return weights_.packed(launch.prepared + by_.lines.bytes(), product, panel, block);
    return weights_.pack(given_weights(launch), product, panel, block, room) ? room : nullptr;
  }

  /// The first channel of a panel's columns of a pixel.
  float* result(const Launch& launch, std::int64_t product, std::int64_t pixel, std::int64_t panel) const {
    return reinterpret_cast<float*>(launch.data[2]) + pixel * by_.written * op().groups +
           group_of(product) * by_.written + panel * kPanelLanes;
  }
  bool has_pixels_in_turn() const { return by_.phases.size() == 1; }
  InPlace in_place(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                   std::int64_t column_panel) const override {
    if (!has_pixels_in_turn() || rows(product, row_panel) % kTileRows != 0 ||
        columns(column_panel) % kTileWords != 0)
      return {};
    return {result(launch, product, row_panel * kPanelLanes, column_panel), by_.written * op().groups};
  }
  void store_sums(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                  std::int64_t column_panel, const Sums& sums) const override {
    const std::int64_t count = rows(product, row_panel), width = columns(column_panel);
    if (has_pixels_in_turn())
      return store(sums, count, width, result(launch, product, row_panel * kPanelLanes, column_panel),
                   by_.written * op().groups, false);
    const Phase& phase = phase_of(product);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = row_panel * kPanelLanes + i, row = number / phase.count[1],
                         y = phase.first[0] + row % phase.count[0] * phase.step[0],
                         x = phase.first[1] + number % phase.count[1] * phase.step[1];
      const std::int64_t pixel = (row / phase.count[0] * op().h + y) * op().w + x;
      std::memcpy(result(launch, product, pixel, column_panel), sums.of[i],
                  static_cast<std::size_t>(width) * sizeof(float));
    }
  }

  const ByPixels by_;
  const PackedWeights weights_;
};

// ---- the gradient by the weight

struct ByWeights {
  explicit ByWeights(const library::Conv2dOp& op)
      : pieces(pieces_of_factors(op)),
        pixels(phase_of_y(op)),
        read(pixels_of_x(op)),
        x(lines_of(pixels_of_x(op), op.c_in, op.groups, op.stored_dtype(0), pieces.of[1])),
        y(lines_of(pixels_of_y(op), op.c_out, op.groups, op.stored_dtype(1), pieces.of[0])) {}

  Pieces pieces;
  Phase pixels;  // of y
  Pixels read;   // of x
  LineImage x, y;
};

TiledShape shape_of(const library::Conv2dOp& op, const ByWeights& by) {
  TiledShape shape;
  shape.pieces = by.pieces;
  shape.products = op.groups;
  shape.row_panels = by.y.blocks();
  shape.column_panels = static_cast<std::int64_t>(by.pixels.taps.size()) * by.x.blocks();
  shape.k = by.y.pixels;
  shape.depth = std::min(most_depth(by.pieces), parts(by.y.pixels, kTileDepth) * kTileDepth);
  shape.work = 2 * multiplications(op);
  shape.pack_cycles = {kTransposeLines, kPairLines};
  return shape;
}

/// Columns of the same channels follow each other, tap by tap, as weights lie.
class WeightProgram final : public ConvolutionProgram {
 public:
  WeightProgram(const library::Conv2dOp& op, Unit unit, ByWeights by,
                std::shared_ptr<ProductProgram> otherwise)
      : ConvolutionProgram(op, unit, shape_of(op, by), std::move(otherwise)), by_(std::move(by)) {}

  std::size_t held_bytes() const override {
    return ConvolutionProgram::held_bytes() + sizeof by_ + by_.pixels.held_bytes();
  }

 private:
  std::int64_t taps() const { return static_cast<std::int64_t>(by_.pixels.taps.size()); }
  std::int64_t tap_of(std::int64_t column_panel) const { return column_panel % taps(); }
  std::int64_t channels_of(std::int64_t column_panel) const { return column_panel / taps(); }

  std::int64_t rows(std::int64_t, std::int64_t panel) const override {
    return std::min(kPanelLanes, by_.y.channels - panel * kPanelLanes);
  }
  std::int64_t columns(std::int64_t panel) const override {
    return std::min(kPanelLanes, by_.x.channels - channels_of(panel) * kPanelLanes);
  }
  std::int64_t blocks(std::int64_t) const override { return parts(by_.y.pixels, shape().depth); }
  std::int64_t depth(std::int64_t, std::int64_t block) const override {
    return std::min(shape().depth, by_.y.pixels - block * shape().depth);
  }

  std::size_t prepared_bytes() const override {
    return static_cast<std::size_t>(by_.x.bytes() + by_.y.bytes());
  }
  void prepare(Workers& workers, Launch& launch) const override {
    split(workers, by_.x, launch.data[0], launch.prepared, launch);
    split(workers, by_.y, launch.data[1], launch.prepared + by_.x.bytes(), launch);
  }

  bool pack_rows(const Launch& launch, std::int64_t product, std::int64_t panel, std::int64_t block,
                 std::byte* to) const override {
    const std::int64_t first = block * shape().depth, count = depth(0, block);
    const auto outside = static_cast<std::int32_t>(by_.y.pixels);
    std::array<std::int32_t, kTileDepth> pixels;
    begin_panel(to);
    for (std::int64_t k = 0; k < count; k += kTileDepth) {
      for (std::int64_t i = 0; i < kTileDepth; ++i)
        pixels[static_cast<std::size_t>(i)] =
            k + i < count ? static_cast<std::int32_t>(first + k + i) : outside;
      pack_lines_across(
          to, k / kTileDepth, by_.y,
          launch.prepared + by_.x.bytes() + product * by_.y.group_bytes() + panel * by_.y.block_bytes(),
          pixels.data(), PanelSide::First);
    }
    return true;
  }
  const std::byte* columns_of(const Launch& launch, std::int64_t product, std::int64_t panel,
                              std::int64_t block, std::byte* room) const override {
    const Tap& tap = by_.pixels.taps[static_cast<std::size_t>(tap_of(panel))];
    const std::int64_t count = depth(0, block);
    const Origins<kMostDepth> origins(by_.pixels, block * shape().depth, count, by_.read);
    std::array<std::int32_t, kTileDepth> pixels;
    begin_panel(room);
    for (std::int64_t k = 0; k < count; k += kTileDepth) {
      origins.find(k, tap, pixels.data());
      pack_lines_across(
          room, k / kTileDepth, by_.x,
          launch.prepared + product * by_.x.group_bytes() + channels_of(panel) * by_.x.block_bytes(),
          pixels.data(), PanelSide::Second);
    }
    return room;
  }

  InPlace in_place(const Launch&, std::int64_t, std::int64_t, std::int64_t) const override { return {}; }
  void store_sums(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                  std::int64_t column_panel, const Sums& sums) const override {
    const std::int64_t taps = this->taps(), tap = tap_of(column_panel),
                       channel = channels_of(column_panel) * kPanelLanes,
                       first = product * by_.y.channels + row_panel * kPanelLanes;
    auto* const out = reinterpret_cast<float*>(launch.data[2]);
    for (std::int64_t i = 0; i < rows(product, row_panel); ++i) {
      float* const to = out + ((first + i) * by_.x.channels + channel) * taps + tap;
      for (std::int64_t j = 0; j < columns(column_panel); ++j) to[j * taps] = sums.of[i][j];
    }
  }

  const ByWeights by_;
};

/// Images are taken as they are stored, weights of f32 alone.
bool has_taken_dtypes(const library::Conv2dOp& op) {
  const auto has_pieces = [&](std::size_t operand) {
    return op.stored_dtype(operand) == DType::f32 || op.stored_dtype(operand) == DType::bf16;
  };
  if (op.dtype != DType::f32) return false;
  return op.direction == Direction::BackwardWeight ? has_pieces(0) && has_pieces(1)
                                                   : !op.is_stored_otherwise();
}

bool is_taken(Unit by, const library::Conv2dOp& op) {
  if (by == Unit::None || !has_taken_dtypes(op) || !op.x_last || !op.y_last) return false;
  const std::int64_t x = pixels_of_x(op).count(), y = pixels_of_y(op).count();
  if (x <= 0 || y <= 0 || op.c_in <= 0 || op.c_out <= 0 || x >= kMostPixels || y >= kMostPixels ||
      op.c_in * op.kh * op.kw >= kMostWeights || op.stride[0] * op.stride[1] * op.kh * op.kw > kMostTaps)
    return false;
  const Pair kernel = {op.kh, op.kw}, size = {op.oh, op.ow};
  for (const std::size_t d : {0, 1})
    if (op.padding[d] + op.dilation[d] * kernel[d] + op.stride[d] * size[d] >= kMostPixels) return false;
  return true;
}

std::shared_ptr<ConvolutionProgram> make(Unit by, const library::Conv2dOp& op,
                                         std::shared_ptr<ProductProgram> otherwise) {
  if (op.direction == Direction::BackwardWeight)
    return std::make_shared<WeightProgram>(op, by, ByWeights(op), std::move(otherwise));
  return std::make_shared<PixelProgram>(op, by, ByPixels(op), std::move(otherwise));
}

/// Of splitting images, and storing what is not stored by whole tiles.
double cycles_around(const library::Conv2dOp& op) {
  const double x = static_cast<double>(op.n * op.c_in * op.h * op.w),
               y = static_cast<double>(op.n * op.c_out * op.oh * op.ow),
               weights = static_cast<double>(op.c_out * (op.c_in / op.groups) * op.kh * op.kw);
  switch (op.direction) {
    case Direction::Forward: return x * kSplit + y * kStore;
    case Direction::BackwardInput: return y * kSplit + x * kStore;
    default: return (x + y) * kSplit + weights * kStoreWeights;
  }
}

}  // namespace

std::shared_ptr<ProductProgram> make_conv2d_by(Unit by, const library::Conv2dOp& op,
                                               const MakeConv2dOtherwise& otherwise) {
  if (!is_taken(by, op)) return nullptr;
  library::Conv2dOp sums = op;
  sums.stored[2].reset();
  std::array<Conversion, 3> conversions{};
  if (op.stored[2]) conversions[2] = {*op.stored[2], op.elements_written(0)};
  const bool has_several = pieces_of_factors(op).term_count > 1;
  return with_conversions(make(by, sums, has_several ? otherwise(sums) : nullptr), conversions);
}

std::shared_ptr<ProductProgram> make_conv2d(const library::Conv2dOp& op,
                                            const MakeConv2dOtherwise& otherwise) {
  const Unit by = unit();
  if (!is_taken(by, op)) return nullptr;
  const auto candidate = make(by, op, nullptr);
  const double vectors = op.is_stored_otherwise()                ? kVectorsOfHalves
                         : op.precision == MatmulPrecision::High ? kWinograd
                                                                 : kVectors;
  if (candidate->cycles() + cycles_around(op) >= multiplications(op) / vectors ||
      candidate->workspace_bytes({}, 1) > kMostPrepared)
    return nullptr;
  return make_conv2d_by(by, op, otherwise);
}

}  // namespace sinter::runtime::host::amx
