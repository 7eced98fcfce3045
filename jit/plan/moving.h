// Starts of slices that a launch is given as arguments, and the positions that depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <sinter/shape.h>

#include "src/trace/layout.h"

namespace sinter::plan {

/// A start that may be another one in each run: number `start` of the trace, from `low` to `low + reach`.
struct Start {
  std::uint32_t start = 0;
  std::int64_t low = 0, reach = 0;
  friend bool operator==(const Start&, const Start&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Start& s) {
    return H::combine(std::move(h), s.start, s.low, s.reach);
  }
};

/// A part of a position: `factor * (start - low)`. Plans count starts from their least value, so that a
/// position without its moving parts is one that occurs.
struct Moving {
  Start by;
  std::int64_t factor = 0;
  friend bool operator==(const Moving&, const Moving&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Moving& m) {
    return H::combine(std::move(h), m.by, m.factor);
  }
};

/// The moving parts of a position: each start once, in the order of their numbers, no factor 0.
class MovingParts {
 public:
  bool empty() const { return parts_.empty(); }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

  void add(const Start& by, std::int64_t factor) {
    const auto at = std::lower_bound(parts_.begin(), parts_.end(), by.start,
                                     [](const Moving& m, std::uint32_t start) { return m.by.start < start; });
    if (at == parts_.end() || at->by.start != by.start)
      parts_.insert(at, {by, factor});
    else
      at->factor += factor;
    std::erase_if(parts_, [](const Moving& m) { return m.factor == 0; });
  }
  void add(const MovingParts& more, std::int64_t times = 1) {
    for (const Moving& m : more) add(m.by, m.factor * times);
  }

  /// What is added to the position in a run with these starts.
  std::int64_t at(std::span<const std::int64_t> starts) const {
    std::int64_t sum = 0;
    for (const Moving& m : parts_) sum += m.factor * (starts[m.by.start] - m.by.low);
    return sum;
  }
  /// The most that they are away from 0. Not an integer: views may be larger than 2^62.
  double farthest() const {
    double far = 0;
    for (const Moving& m : parts_)
      far += static_cast<double>(std::abs(m.factor)) * static_cast<double>(m.by.reach);
    return far;
  }

  /// The same parts of starts that have other numbers: `name` gives each a number of its own.
  template <class Name>
  MovingParts renamed(Name name) const {
    MovingParts result;
    for (const Moving& m : parts_) result.add({name(m.by.start), m.by.low, m.by.reach}, m.factor);
    return result;
  }

  std::size_t held_bytes() const { return parts_.capacity() * sizeof(Moving); }

  friend bool operator==(const MovingParts&, const MovingParts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const MovingParts& m) {
    return H::combine(std::move(h), m.parts_);
  }

 private:
  std::vector<Moving> parts_;
};

/// A layout whose offset may move.
struct ViewLayout : trace::Layout {
  ViewLayout() = default;
  ViewLayout(trace::Layout layout) : trace::Layout(std::move(layout)) {}
  ViewLayout(Dims strides, std::int64_t offset) : trace::Layout{std::move(strides), offset} {}
  MovingParts moving;
  friend bool operator==(const ViewLayout&, const ViewLayout&) = default;
};

using trace::contiguous_layout;
using trace::is_contiguous;
using trace::reshape_layout;

inline bool is_contiguous(const Shape& shape, const ViewLayout& layout) {
  return layout.moving.empty() && trace::is_contiguous(shape, layout);
}
inline bool reshape_layout(const Shape& shape, const ViewLayout& layout, const Shape& to,
                           ViewLayout& result) {
  result.moving = layout.moving;
  return trace::reshape_layout(shape, layout, to, result);
}

/// A number of a launch that moves: number `place` of a list.
struct MovingNumber {
  std::uint32_t place = 0;
  MovingParts parts;
  friend bool operator==(const MovingNumber&, const MovingNumber&) = default;
};

}  // namespace sinter::plan
