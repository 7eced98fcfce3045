#include "src/runtime/host/products/onednn/parts.h"

#include <algorithm>
#include <optional>

namespace sinter::runtime::host {
namespace {

using Direction = library::Conv2dOp::Direction;

// oneDNN's kernels take 16 to 64 channels at a time; stretches of 32 were measured to be as fast as all 512.
constexpr std::int64_t kChannels = 32;

// Winograd's transforms make 36 elements of 9, and are written and read; those of images 36 of 16.
constexpr std::int64_t kTransformed = 4;
constexpr double kWinogradGain = 2.5;  // of the time of the products, as measured

// Floating-point operations in the time that an element takes to be read and written: 110 GFLOP/s on a core
// beside 20 GB/s.
constexpr double kWorkOfElement = 44;

std::int64_t weights_of(const library::Conv2dOp& op) {
  return op.c_out * (op.c_in / op.groups) * op.kh * op.kw;
}
double work_of(const library::Conv2dOp& op) {
  return 2.0 * static_cast<double>(op.n * op.oh * op.ow) * static_cast<double>(weights_of(op));
}

std::int64_t parts_of(std::int64_t whole, std::int64_t each) { return (whole + each - 1) / each; }

}  // namespace

Stretches::Stretches(std::int64_t all, std::int64_t length)
    : whole(all), each(length), count(parts_of(all, length)) {}

bool gains_by_winograd(const library::Conv2dOp& op) {
  if (!may_be_rounded(op.precision) || op.groups != 1 || op.is_stored_otherwise()) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (op.stride[i] != 1 || op.dilation[i] != 1 || op.padding[i] > 1) return false;
  if (op.kh != 3 || op.kw != 3 || op.c_in < 16 || op.c_out < 16) return false;
  const double saved = 0.55 * work_of(op) / kWorkOfElement;
  return saved > static_cast<double>(weights_of(op)) * (1 + 2 * kTransformed);
}

ConvParts divide(const library::Conv2dOp& op, bool winograd) {
  const std::int64_t x = op.n * op.c_in * op.h * op.w, y = op.n * op.c_out * op.oh * op.ow;
  const double work = work_of(op);
  const bool of_x = op.direction == Direction::BackwardInput,
             of_weight = op.direction == Direction::BackwardWeight;
  const std::int64_t channels = of_x ? op.c_in : op.c_out;
  if (work < kWorthParting) return {{op.n, op.n}, {channels, channels}};
  const std::int64_t most =
      std::clamp(static_cast<std::int64_t>(work / kPartWork), std::int64_t{4}, kMostParts);

  // Elements that are moved, or could be in the time: each part brings its weights into oneDNN's layout (or
  // adds its sum to the others'), each stretch of channels reads all images and has its own channels copied,
  // and while the last part is computed the other threads may have nothing to do.
  const std::int64_t of_weight_element = winograd ? 2 * kTransformed : 2,
                     of_image_element = winograd ? 1 + kTransformed : 1;
  const double tail = work / kWorkOfElement / (winograd ? kWinogradGain : 1);
  const auto cost = [&](const ConvParts& parts) {
    const bool whole = parts.channels.count == 1;
    const std::int64_t shared = of_x ? y : x, own = of_x ? x : y;
    const std::int64_t of_weights = of_weight && parts.images.count == 1 ? 1 : parts.images.count;
    return static_cast<double>(of_weight_element * of_weights * weights_of(op) +
                               of_image_element * parts.channels.count * shared + (whole ? 0 : 2 * own)) +
           tail / static_cast<double>(parts.count());
  };
  std::optional<ConvParts> best;
  for (std::int64_t each = channels;; each = parts_of(parts_of(each, 2), kChannels) * kChannels) {
    for (std::int64_t images = op.n;; images = parts_of(images, 2)) {
      const ConvParts parts{{op.n, images}, {channels, each}};
      if (parts.count() <= most && (!best || cost(parts) < cost(*best))) best = parts;
      if (images == 1) break;
    }
    // Groups have channels of their own on both sides.
    if (op.groups > 1 || each <= kChannels) break;
  }
  return *best;
}

}  // namespace sinter::runtime::host
