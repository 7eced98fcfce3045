// Rows of values that lie anywhere, joined into one: what indexed sums have in common on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "jit/library/segments.h"

namespace sinter::runtime::host {

/// Columns of a call at most, so that its sums stay in the cache.
inline constexpr std::int64_t kMostJoinedColumns = 512;

/// The terms at places from `begin` to `end` are joined. Those before `known` are asked for early.
struct TermPlaces {
  std::int64_t begin, end, known;
};

template <class T, library::SegmentReduction kReduction>
T joined_terms(T a, T b) {
  using library::SegmentReduction;
  // Integers wrap around, which only those without a sign may do.
  using Number =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const auto x = static_cast<Number>(a), y = static_cast<Number>(b);
  if constexpr (kReduction == SegmentReduction::Sum) return static_cast<T>(x + y);
  if constexpr (kReduction == SegmentReduction::Prod) return static_cast<T>(x * y);
  return b != b || (kReduction == SegmentReduction::Max ? b > a : b < a) ? b : a;
}

/// Joins `columns` numbers of rows of `values`, `step` numbers apart, in the order of their places: the row
/// at place p is positions[p]. Without places the result is 0. Long sums of f32 are added up in f64.
template <class T, library::SegmentReduction kReduction>
void join_terms(const T* values, std::int64_t step, const std::int32_t* positions, const TermPlaces& places,
                std::int64_t columns, T* to) {
  constexpr std::int64_t kAhead = 8;  // places
  constexpr std::int64_t kPart = 64;  // terms of f32 that go into a total of f64
  const auto [begin, end, known] = places;
  if (begin == end) {
    std::fill_n(to, columns, T{0});
    return;
  }
  const auto term = [&](std::int64_t place) { return values + positions[place] * step; };
  // Rows lie anywhere: asked for some rows ahead, their first lines come while others are added.
  const auto ask_for = [&](std::int64_t place) {
    const auto* line = reinterpret_cast<const char*>(term(std::min(place, known - 1)));
    const std::int64_t bytes = std::min<std::int64_t>(columns * static_cast<std::int64_t>(sizeof(T)), 512);
    for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(line + at);
  };
  ask_for(begin + kAhead);
  if (end == begin + 1) {
    std::memcpy(to, term(begin), static_cast<std::size_t>(columns) * sizeof(T));
    return;
  }
  T part[kMostJoinedColumns];
  const auto join_part = [&](std::int64_t from, std::int64_t until) {
    std::memcpy(part, term(from), static_cast<std::size_t>(columns) * sizeof(T));
    for (std::int64_t place = from + 1; place < until; ++place) {
      const T* x = term(place);
      ask_for(place + kAhead);
      for (std::int64_t c = 0; c < columns; ++c) part[c] = joined_terms<T, kReduction>(part[c], x[c]);
    }
  };
  if (!std::is_same_v<T, float> || kReduction != library::SegmentReduction::Sum || end - begin <= kPart) {
    join_part(begin, end);
    std::memcpy(to, part, static_cast<std::size_t>(columns) * sizeof(T));
    return;
  }
  double total[kMostJoinedColumns] = {};
  for (std::int64_t from = begin; from < end; from += kPart) {
    join_part(from, std::min(from + kPart, end));
    for (std::int64_t c = 0; c < columns; ++c) total[c] += static_cast<double>(part[c]);
  }
  for (std::int64_t c = 0; c < columns; ++c) to[c] = static_cast<T>(total[c]);
}

}  // namespace sinter::runtime::host
