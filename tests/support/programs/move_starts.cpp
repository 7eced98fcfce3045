// Draws other starts.
#include "tests/support/programs/move_starts.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "src/tensor/check.h"

namespace sinter::testing {
namespace {

class Mover {
 public:
  explicit Mover(std::uint64_t seed) : engine_(seed) {}

  void move(Step& step, const std::vector<ReferenceTensor>& values) {
    switch (step.kind) {
      case StepKind::Slice:
      case StepKind::SliceAssign:
      case StepKind::SliceFill: return move_ranges(step, values[at(step)].shape);
      case StepKind::Pad: return move_pad(step);
      case StepKind::Place: return move_place(step, values[at(step)].shape);
      default: return;
    }
  }

 private:
  static std::size_t at(const Step& step) { return static_cast<std::size_t>(step.args[0].step); }
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Of `count` elements, `step` apart, in `size`.
  std::int64_t start(std::int64_t count, std::int64_t step, std::int64_t size) {
    const std::int64_t across = (count - 1) * step;
    return draw(std::max<std::int64_t>(0, -across), size - 1 - std::max<std::int64_t>(0, across));
  }

  void move_ranges(Step& step, const Shape& shape) {
    const tensor::Part part = tensor::part_of("slice", step.ranges, shape, Location::current());
    for (std::size_t d = 0; d < step.ranges.size(); ++d) {
      const std::int64_t count = part.sizes[d], by = part.step[d];
      if (count == 0) continue;
      const std::int64_t from = start(count, by, shape[d]);
      const std::int64_t stop = from + by * (count - 1) + (by < 0 ? -1 : 1);
      step.ranges[d] = Range{from, stop < 0 ? std::nullopt : std::optional(stop), by};
    }
  }
  void move_pad(Step& step) {
    for (std::size_t d = 0; d < step.dims.rank(); ++d) {
      const std::int64_t all = step.dims[d] + step.more[d];
      step.dims[d] = draw(0, all);
      step.more[d] = all - step.dims[d];
    }
  }
  void move_place(Step& step, const Shape& placed) {
    for (std::size_t d = 0; d < step.dims.rank(); ++d)
      if (placed[d] > 0) step.dims[d] = start(placed[d], placed[d] > 1 ? step.more[d] : 1, step.shape[d]);
  }

  std::mt19937_64 engine_;
};

}  // namespace

Program move_starts(const Program& program, const std::vector<ReferenceTensor>& values, std::uint64_t seed) {
  Program moved = program;
  Mover mover(seed);
  for (Step& step : moved.steps) mover.move(step, values);
  return moved;
}

}  // namespace sinter::testing
