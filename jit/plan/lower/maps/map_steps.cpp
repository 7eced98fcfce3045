// Merges steps whose digits carry nothing.
#include "jit/plan/lower/maps/map_steps.h"

#include <cstdlib>
#include <optional>
#include <utility>

namespace sinter::plan {

MapStep simplified(const Shape& shape, const ViewLayout& layout) {
  MapStep step;
  step.offset = layout.offset;
  step.moving = layout.moving;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    if (!step.extents.empty() && step.strides.back() == layout.strides[i] * shape[i]) {
      step.extents.back() *= shape[i];
      step.strides.back() = layout.strides[i];
    } else {
      step.extents.push_back(shape[i]);
      step.strides.push_back(layout.strides[i]);
    }
  }
  return step;
}

bool merge(MapStep& last, const MapStep& next, const std::vector<Stretch>& stretches) {
  const std::size_t digits = next.extents.size();
  // Each dim is counted from the first coordinate that matters, where the number is `rest`.
  auto first = [&](std::size_t d) { return stretches.empty() ? 0 : stretches[d].first; };
  auto reach = [&](std::size_t d) {
    return (stretches.empty() ? last.extents[d] - 1 : stretches[d].last) - first(d);
  };
  std::int64_t rest = last.offset;
  for (std::size_t d = 0; d < last.strides.size(); ++d) rest += first(d) * last.strides[d];
  if (rest < 0) return false;
  MapStep::Numbers inner(digits + 1, 1), low(digits, 0), high(digits, 0);
  for (std::size_t j = digits; j-- > 0;) inner[j] = inner[j + 1] * next.extents[j];
  if (inner[0] == 0) return false;

  MapStep::Numbers strides(last.strides.size(), 0);
  std::int64_t offset = next.offset;
  for (std::size_t j = 0; j < digits; ++j) {
    low[j] = high[j] = rest / inner[j + 1];
    rest %= inner[j + 1];
    offset += low[j] * next.strides[j];
  }
  if (rest != 0) return false;
  // What a stride of the number is in the merged step. Nothing where it counts no digit.
  const auto stride_in_digit = [&](std::int64_t stride, std::int64_t most) -> std::optional<std::int64_t> {
    const std::int64_t size = std::abs(stride);
    std::size_t j = digits;
    while (j > 0 && size >= inner[j - 1]) --j;
    // Now inner[j] <= size < inner[j - 1]: the stride counts digit j - 1.
    if (j == 0 || size % inner[j] != 0) return std::nullopt;
    const std::size_t digit = j - 1;
    const std::int64_t per_step = stride / inner[j];
    (per_step < 0 ? low : high)[digit] += per_step * most;
    return per_step * next.strides[digit];
  };
  for (std::size_t d = 0; d < last.strides.size(); ++d) {
    if (reach(d) == 0 || last.strides[d] == 0) continue;
    const std::optional<std::int64_t> stride = stride_in_digit(last.strides[d], reach(d));
    if (!stride) return false;
    strides[d] = *stride;
    offset -= first(d) * *stride;
  }
  // A start is like one more coordinate.
  MovingParts moving = next.moving;
  for (const Moving& m : last.moving) {
    const std::optional<std::int64_t> factor = stride_in_digit(m.factor, m.by.reach);
    if (!factor) return false;
    moving.add(m.by, *factor);
  }
  for (std::size_t j = 0; j < digits; ++j)
    if (low[j] < 0 || high[j] >= next.extents[j]) return false;
  last.strides = std::move(strides);
  last.offset = offset;
  last.moving = std::move(moving);
  return true;
}

}  // namespace sinter::plan
