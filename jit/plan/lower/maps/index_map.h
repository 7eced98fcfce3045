// Index maps with their numbers: how a point of the loop space becomes a position in a value or a buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/inlined_vector.h>

#include <sinter/shape.h>

#include "jit/plan/moving.h"

namespace sinter::plan {

/// Coordinates of the loop times strides, plus an offset.
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

class Digit;

/// A digit times a stride.
struct DigitPart {
  std::shared_ptr<const Digit> digit;
  std::int64_t stride = 0;
};
bool operator==(const DigitPart& a, const DigitPart& b);

/// A map from loop coordinates to a number: the coordinates times strides, plus an offset, plus digits (of
/// such numbers) times strides. Most maps have no digits. A map that goes through reshapes and views is split
/// row-major and put together again, dim by dim, with what is known of how far each part of the number goes:
/// a digit is left only where a dim is really cut in the middle, and equal digits are one.
class IndexMap {
 public:
  IndexMap() = default;
  explicit IndexMap(MapStep loops) : loops_(std::move(loops)) {}

  /// Nothing but coordinates times strides plus an offset.
  bool is_affine() const { return digits_.empty() && placed_.is_affine(); }
  const MapStep& loops() const { return loops_; }
  MapStep& loops() { return loops_; }
  const std::vector<DigitPart>& digits() const { return digits_; }

  /// The loop's coordinates that the number depends on, by bits. Not of maps that are placed.
  std::uint32_t dependence() const;

  /// The map that goes on from this one: its number is taken as a row-major position in `shape`, split into
  /// coordinates, and these meet strides and offset.
  IndexMap through(const Shape& shape, const ViewLayout& layout) const&;
  IndexMap through(const Shape& shape, const ViewLayout& layout) &&;
  /// The same for dims that may be more than a shape has.
  IndexMap through(const MapStep& view) &&;

  /// From here on the map is used only where `coordinate`, another map of the same loop, gives a number in
  /// [first, last]: fewer carries can happen. No part of what maps are compared by: it follows from the
  /// predicate of the use.
  void restrict(const IndexMap& coordinate, std::int64_t first, std::int64_t last);

  /// Loop dim k runs over `count` points, `step` apart, from `first` and what is added to it on. What was
  /// restricted is forgotten.
  void move_loop(std::size_t k, std::int64_t first, std::int64_t step, std::int64_t count,
                 const MovingParts& moving);

  /// Where a digit is left only because a loop dim runs over several of its values: that dim, and the size of
  /// the inner part that would run over one value alone.
  std::optional<std::pair<std::size_t, std::int64_t>> helpful_split() const;

  /// The map's number at a point of the loop, in a run with these starts. Not of maps that are placed.
  std::int64_t at(const std::vector<std::int64_t>& point, std::span<const std::int64_t> starts = {}) const;

  /// In a draft that is finished digits are maps of their own, by number: quotients, which others add.
  struct Placed {
    std::vector<std::pair<std::uint16_t, std::int64_t>> parts;  // map, stride
    std::int64_t count = 0, by = 0;                             // of a quotient; by 0: it is none
    bool is_affine() const { return parts.empty() && by == 0; }
  };
  const Placed& placed() const { return placed_; }
  /// Puts numbers of maps in the place of digits. `number_of` gives that of the quotient of a number by a
  /// divisor, as an earlier map.
  template <class NumberOf>
  void place(NumberOf number_of);
  /// The quotient of the map's number, placed.
  void divide(std::int64_t by);

  /// The least and the greatest number, saturated; on all of the loop or where the map is used.
  Stretch range(bool where_used) const { return range(where_used ? use_ : all()); }

  friend bool operator==(const IndexMap& a, const IndexMap& b) {
    return a.loops_ == b.loops_ && a.digits_ == b.digits_;
  }
  /// Equal, and goes on alike: the same coordinates count.
  bool is_identical(const IndexMap& other) const { return *this == other && use_ == other.use_; }
  /// The same for equal maps.
  std::size_t hash() const;

 private:
  friend class Digit;
  /// Coordinates times factors that stay within a range, as those of a position and of an element of a window
  /// do within the image.
  struct Sum {
    std::vector<std::pair<std::size_t, std::int64_t>> parts;  // loop dim, factor; two or more
    Stretch range;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  /// Where a map is used.
  struct Use {
    std::vector<Stretch> loops;  // of each loop dim; empty: all coordinates count
    std::vector<Sum> sums;
    friend bool operator==(const Use&, const Use&) = default;
  };
  struct Term;
  struct Division;

  static const Use& all();
  Stretch range(const Use& use) const;
  /// Of a digit.
  static Stretch range(const Digit& digit, const Use& use);
  /// Of the terms together; of all of them if `use` is null.
  static Stretch range(std::span<const Term> terms, std::int64_t offset, const Use* use);
  using MovedDigits = std::vector<std::pair<const Digit*, std::shared_ptr<const Digit>>>;
  void move_loop(std::size_t k, std::int64_t first, std::int64_t step, std::int64_t count,
                 const MovingParts& moving, MovedDigits& moved);
  IndexMap nothing() const;
  void add(const IndexMap& other, std::int64_t times);
  void add(const std::shared_ptr<const Digit>& digit, std::int64_t times);
  void add(const Term& term, std::int64_t times);
  std::vector<Term> terms(const Use& use) const;
  Division divided(std::int64_t by, const Use& use) const;
  void narrow(const IndexMap& number, std::int64_t first, std::int64_t last);
  std::optional<std::pair<std::size_t, std::int64_t>> split_for(std::int64_t by) const;

  MapStep loops_;
  std::vector<DigitPart> digits_;
  Placed placed_;
  Use use_;
};

/// The quotient of a number that is never negative by a divisor, or what is left. Numbers share digits, and
/// those share others: what is asked of all of them is found once for each.
class Digit {
 public:
  Digit(IndexMap number, std::int64_t by, bool is_rest);

  const IndexMap& number() const { return number_; }
  std::int64_t by() const { return by_; }
  bool is_rest() const { return is_rest_; }
  std::size_t hash() const { return hash_; }
  std::uint32_t dependence() const { return dependence_; }
  int depth() const { return depth_; }             // 1: of a number without digits
  const Stretch& range() const { return range_; }  // on all of the loop
  friend bool operator==(const Digit& a, const Digit& b) {
    return a.hash_ == b.hash_ && a.by_ == b.by_ && a.is_rest_ == b.is_rest_ && a.number_ == b.number_;
  }

 private:
  IndexMap number_;
  std::int64_t by_;
  bool is_rest_;
  std::size_t hash_;
  std::uint32_t dependence_;
  int depth_ = 1;
  Stretch range_{0, 0};
};

template <class NumberOf>
void IndexMap::place(NumberOf number_of) {
  for (bool rests = true; rests;) {  // what is left is the number less quotient times divisor
    rests = false;
    std::vector<DigitPart> digits = std::move(digits_);
    digits_.clear();
    for (const DigitPart& part : digits) {
      const Digit& digit = *part.digit;
      if (!digit.is_rest()) {
        add(part.digit, part.stride);
        continue;
      }
      rests = true;
      add(digit.number(), part.stride);
      add(std::make_shared<const Digit>(digit.number(), digit.by(), false), -part.stride * digit.by());
    }
  }
  for (const DigitPart& part : digits_)
    placed_.parts.emplace_back(number_of(part.digit->number(), part.digit->by()), part.stride);
  digits_.clear();
}

/// Equal numbers at every loop point.
bool same_points(const IndexMap& a, const IndexMap& b);

}  // namespace sinter::plan
