// Composition of index maps, and strides under reshape.
#include "jit/plan/lower/index_map.h"

#include <algorithm>

#include "jit/plan/lower/word_hash.h"

namespace sinter::plan {
namespace {

/// A view without dims of size 1 and with neighbours joined where the outer stride continues the inner one:
/// the fewer dims a number must be split into, the more often two steps merge.
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

/// Merges `next` into `last` when no carry can pass between the digits of the split; false when it can. Only
/// coordinates in `stretches` count, one for each dim of `last`; none given: all.
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

}  // namespace

IndexMap IndexMap::through(const Shape& shape, const ViewLayout& layout) const& {
  return IndexMap(*this).through(shape, layout);
}

IndexMap IndexMap::through(const Shape& shape, const ViewLayout& layout) && {
  if (is_contiguous(shape, layout)) return std::move(*this);
  MapStep next = simplified(shape, layout);
  if (next.extents.empty()) {  // a single element: wherever the loop stands, it is this one
    MapStep first = std::move(steps_.front());
    first.strides.assign(first.strides.size(), 0);
    first.offset = next.offset;
    first.moving = next.moving;
    return IndexMap(std::move(first));
  }
  static const std::vector<Stretch> all;
  if (!merge(steps_.back(), next, steps_.size() == 1 ? stretches_ : all)) steps_.push_back(std::move(next));
  return std::move(*this);
}

std::size_t IndexMap::hash() const {
  WordHash hash;
  for (const MapStep& step : steps_) {
    hash.add(step.extents.size());
    for (const std::int64_t extent : step.extents) hash.add(extent);
    for (const std::int64_t stride : step.strides) hash.add(stride);
    hash.add(step.offset);
    for (const Moving& part : step.moving) hash.add(part.by.start).add(part.factor);
  }
  return hash.result();
}

void IndexMap::restrict(const IndexMap& coordinate, std::int64_t first, std::int64_t last) {
  if (coordinate.steps_.size() != 1 || !coordinate.steps_[0].moving.empty()) return;
  const MapStep& step = coordinate.steps_[0];
  std::size_t moving = step.strides.size();  // the one dim that the coordinate depends on
  for (std::size_t d = 0; d < step.strides.size(); ++d) {
    if (step.strides[d] == 0 || step.extents[d] == 1) continue;
    if (moving != step.strides.size() || step.strides[d] < 0) return;
    moving = d;
  }
  if (moving == step.strides.size()) return;
  const std::int64_t stride = step.strides[moving];
  // first <= offset + stride * x <= last
  const std::int64_t low = std::max<std::int64_t>(0, first - step.offset + stride - 1) / stride;
  const std::int64_t high = last < step.offset ? -1 : (last - step.offset) / stride;
  if (stretches_.empty())
    for (std::int64_t extent : step.extents) stretches_.push_back({0, extent - 1});
  Stretch& stretch = stretches_[moving];
  const Stretch narrowed{std::max(stretch.first, low), std::min(stretch.last, high)};
  if (narrowed.first <= narrowed.last)
    stretch = narrowed;  // otherwise it is never used, and anything is right
}

std::optional<std::pair<std::size_t, std::int64_t>> IndexMap::helpful_split() const {
  if (steps_.size() < 2) return std::nullopt;
  const MapStep &first = steps_[0], &next = steps_[1];
  std::vector<std::int64_t> inner(next.extents.size() + 1, 1);
  for (std::size_t j = next.extents.size(); j-- > 0;) inner[j] = inner[j + 1] * next.extents[j];
  for (std::size_t d = 0; d < first.strides.size(); ++d) {
    const std::int64_t stride = first.strides[d], extent = first.extents[d];
    if (stride <= 0 || extent <= 1) continue;
    // The smallest digit boundary that the dim reaches but does not end at.
    for (std::size_t j = inner.size(); j-- > 1;) {
      const std::int64_t boundary = inner[j - 1];
      if (boundary <= stride || boundary % stride != 0) continue;
      const std::int64_t part = boundary / stride;
      if (part >= extent) break;
      if (part > 1 && extent % part == 0) return std::make_pair(d, part);
      break;
    }
  }
  return std::nullopt;
}

std::int64_t IndexMap::at(const std::vector<std::int64_t>& point,
                          std::span<const std::int64_t> starts) const {
  std::vector<std::int64_t> coordinates = point;
  std::int64_t number = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const MapStep& step = steps_[s];
    if (s > 0) {
      coordinates.assign(step.extents.size(), 0);
      for (std::size_t j = step.extents.size(); j-- > 0;) {
        coordinates[j] = number % step.extents[j];
        number /= step.extents[j];
      }
    }
    number = step.offset + step.moving.at(starts);
    for (std::size_t j = 0; j < step.strides.size(); ++j) number += coordinates[j] * step.strides[j];
  }
  return number;
}

bool same_points(const IndexMap& a, const IndexMap& b) {
  if (a == b) return true;
  if (a.steps().size() != 1 || b.steps().size() != 1) return false;
  const MapStep &x = a.steps()[0], &y = b.steps()[0];
  for (std::size_t d = 0; d < x.strides.size(); ++d)
    if (x.extents[d] != 1 && x.strides[d] != y.strides[d]) return false;
  return x.offset == y.offset && x.moving == y.moving;
}

}  // namespace sinter::plan
