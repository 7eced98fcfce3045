// A kernel's loops and index maps, bound to the sizes of one launch and simplified for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::runtime::host {

/// Splits an index row-major into coordinates by `extents`; the position is coordinates times `strides` plus
/// `offset`.
struct Split {
  std::vector<std::int64_t> extents, strides;
  std::int64_t offset = 0;
};

/// An index map over the dims of a Space: position = offset + sum of coordinates times strides, plus the
/// numbers of earlier maps times strides, then through each Split of `rest`.
struct BoundMap {
  struct Part {
    std::size_t map;
    std::int64_t stride;
  };
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  std::vector<Part> parts;  // like `rest` empty for almost all maps
  std::vector<Split> rest;
  /// All maps that its number is made of, in their order, where parts of parts are many: each is found once.
  /// Empty: they are found one by one, however often.
  std::vector<std::size_t> needed;

  bool affine() const { return parts.empty() && rest.empty(); }
};

/// The loops: dims [0, outer) are outer, the rest inner. No dim has size 1; adjacent dims that are contiguous
/// in every map are merged.
struct Space {
  std::vector<std::int64_t> extents;
  std::size_t outer = 0;
  std::int64_t outer_count = 1, inner_count = 1;  // points; 0 when some size is 0
  std::vector<BoundMap> maps;                     // in the order of Kernel::maps

  std::size_t rank() const { return extents.size(); }
  /// Bit k: the map depends on the coordinate of dim k.
  std::uint32_t dims_of(const BoundMap& map) const;
  /// The map's number at a point, before its splits.
  std::int64_t number_before(const BoundMap& map, const std::int64_t* at) const;
  /// The map's number at a point.
  std::int64_t number_at(const BoundMap& map, const std::int64_t* at) const;
  /// For how many of `count` points along a dim, from this one on, that number before the splits grows by one
  /// step each time; and that step.
  struct Steady {
    std::int64_t count, step;
  };
  Steady steady(const BoundMap& map, const std::int64_t* at, std::size_t along, std::int64_t count) const;

 private:
  /// Of a part.
  struct Found {
    std::int64_t before, number;  // its number, before its splits and behind them
    Steady steady;                // where one is asked for
  };
  template <class Part>
  std::int64_t number_with(const BoundMap& map, const std::int64_t* at, const Part& number_of) const;
  template <class Part, class Before>
  Steady steady_with(const BoundMap& map, std::size_t along, std::int64_t count, const Part& steady_of,
                     const Before& number_before_of) const;
  std::vector<Found> find_needed(const BoundMap& map, const std::int64_t* at) const;
};

/// The most dims of a Space, split loops included; dim sets are 32-bit masks with one bit to spare.
inline constexpr std::size_t kMaxLoops = 30;

Space bind_space(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

/// Calls run(position, stride, count) for maximal runs of constant stride among a map's values: n points from
/// the coordinates `at` on (one for each dim of the space), row-major over the dims [first, last).
template <class Run>
void for_each_run(const Space& space, const BoundMap& map, const std::int64_t* at, std::size_t first,
                  std::size_t last, std::int64_t n, Run&& run);

// ---- implementation

/// Passes the run (index, stride, count) through the splits from `step` on.
template <class Run>
void split_run(const std::vector<Split>& splits, std::size_t step, std::int64_t number, std::int64_t stride,
               std::int64_t count, Run& run) {
  if (step == splits.size()) {
    run(number, stride, count);
    return;
  }
  const Split& split = splits[step];
  const std::size_t rank = split.extents.size();
  while (count > 0) {
    std::int64_t position = split.offset, rest = number;
    const std::int64_t last = rank == 0 ? 0 : rest % split.extents[rank - 1];
    for (std::size_t k = rank; k-- > 0;) {
      const std::int64_t quotient = rest / split.extents[k];
      position += (rest - quotient * split.extents[k]) * split.strides[k];
      rest = quotient;
    }
    // Until the last coordinate wraps, positions have a constant stride.
    std::int64_t here = 1;
    if (stride == 0 || rank == 0)
      here = count;
    else if (stride > 0)
      here = (split.extents[rank - 1] - 1 - last) / stride + 1;
    else
      here =
          last < 0 ? count : last / -stride + 1;  // an index below 0 is never read: a predicate excludes it
    here = here < count ? here : count;
    split_run(splits, step + 1, position, rank == 0 ? 0 : stride * split.strides[rank - 1], here, run);
    number += here * stride;
    count -= here;
  }
}

template <class Run>
void for_each_run(const Space& space, const BoundMap& map, const std::int64_t* at, std::size_t first,
                  std::size_t last, std::int64_t n, Run&& run) {
  std::int64_t position = map.offset;
  for (std::size_t k = 0; k < space.rank(); ++k) position += at[k] * map.strides[k];
  if (first == last || n <= 1) {
    if (!map.parts.empty()) position = space.number_before(map, at);
    if (n > 0) split_run(map.rest, 0, position, 0, n, run);
    return;
  }
  const std::size_t row = last - 1;
  const std::int64_t stride = map.strides[row];
  std::array<std::int64_t, kMaxLoops> coordinates;
  for (std::size_t k = 0; k < space.rank(); ++k) coordinates[k] = at[k];
  while (n > 0) {
    std::int64_t count = space.extents[row] - coordinates[row];
    count = count < n ? count : n;
    if (!map.parts.empty()) {
      const std::int64_t begin = coordinates[row];
      for (std::int64_t done = 0; done < count;) {
        coordinates[row] = begin + done;
        const Space::Steady steady = space.steady(map, coordinates.data(), row, count - done);
        split_run(map.rest, 0, space.number_before(map, coordinates.data()), steady.step, steady.count, run);
        done += steady.count;
      }
      coordinates[row] = begin;
    } else if (map.rest.empty())
      run(position, stride, count);
    else
      split_run(map.rest, 0, position, stride, count, run);
    n -= count;
    if (n == 0) return;
    position -= coordinates[row] * stride;
    coordinates[row] = 0;
    for (std::size_t k = row; k-- > first;) {
      position += map.strides[k];
      if (++coordinates[k] < space.extents[k]) break;
      position -= space.extents[k] * map.strides[k];
      coordinates[k] = 0;
    }
  }
}

}  // namespace sinter::runtime::host
