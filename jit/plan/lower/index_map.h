// Index maps with their numbers: how a point of the loop space becomes a position in a value or a buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/inlined_vector.h>

#include <sinter/shape.h>

#include "jit/plan/moving.h"

namespace sinter::plan {

/// One step: coordinates times strides plus offset. Coordinates are the loop's (first step) or come from
/// splitting the number of the step before, row-major, by `extents`.
struct MapStep {
  using Numbers = absl::InlinedVector<std::int64_t, 6>;  // maps are made by the thousand
  Numbers extents;
  Numbers strides;
  std::int64_t offset = 0;
  MovingParts moving;  // of the offset
  friend bool operator==(const MapStep&, const MapStep&) = default;
};

/// The coordinates of one dim that count.
struct Stretch {
  std::int64_t first, last;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// A map from loop coordinates to a number. The first step's extents are the loop's.
class IndexMap {
 public:
  IndexMap() = default;
  explicit IndexMap(MapStep first) : steps_{std::move(first)} {}

  using Steps = absl::InlinedVector<MapStep, 1>;
  const Steps& steps() const { return steps_; }
  Steps& steps() { return steps_; }

  /// The map that goes on from this one: its number is taken as a row-major position in `shape`, split into
  /// coordinates, and these meet strides and offset. Merged into the last step where that is exact.
  IndexMap through(const Shape& shape, const ViewLayout& layout) const&;
  IndexMap through(const Shape& shape, const ViewLayout& layout) &&;

  /// From here on the map is used only where `coordinate`, another map of the same loop, gives a number in
  /// [first, last]: fewer carries can happen. No part of what maps are compared by: it follows from the
  /// predicate of the use.
  void restrict(const IndexMap& coordinate, std::int64_t first, std::int64_t last);

  /// Where a further step is left only because a loop dim runs over several digits of its split: that dim,
  /// and the size of the inner part that would run over one digit alone.
  std::optional<std::pair<std::size_t, std::int64_t>> helpful_split() const;

  /// The map's number at a point of the loop, in a run with these starts; for tests.
  std::int64_t at(const std::vector<std::int64_t>& point, std::span<const std::int64_t> starts = {}) const;

  friend bool operator==(const IndexMap& a, const IndexMap& b) { return a.steps_ == b.steps_; }
  /// Equal, and goes on alike: the same coordinates count.
  bool is_identical(const IndexMap& other) const {
    return steps_ == other.steps_ && stretches_ == other.stretches_;
  }
  /// The same for equal maps.
  std::size_t hash() const;

 private:
  Steps steps_;
  std::vector<Stretch> stretches_;  // of the loop's coordinates; empty: all of them count
};

/// Equal numbers at every loop point.
bool same_points(const IndexMap& a, const IndexMap& b);

}  // namespace sinter::plan
