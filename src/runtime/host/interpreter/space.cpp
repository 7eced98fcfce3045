// Binds a kernel's loops and maps to a launch's sizes, replaces splits by plain strides and merges loops.
#include "src/runtime/host/interpreter/space.h"

#include <algorithm>
#include <optional>
#include <string>

#include <sinter/error.h>

namespace sinter::runtime::host {
namespace {

/// The map with its first split replaced by strides, if no loop makes a coordinate carry into the next.
std::optional<BoundMap> without_split(const BoundMap& map, const std::vector<std::int64_t>& extents) {
  const Split& split = map.rest.front();
  const std::size_t rank = split.extents.size();
  std::vector<std::int64_t> weights(rank, 1), largest(rank, 0);
  for (std::size_t j = rank; j-- > 1;) weights[j - 1] = weights[j] * split.extents[j];
  if (map.offset < 0) return std::nullopt;
  BoundMap result;
  result.offset = split.offset;
  result.strides.assign(extents.size(), 0);
  std::int64_t rest = map.offset;
  for (std::size_t j = 0; j < rank; ++j) {
    const std::int64_t digit = rest / weights[j];
    rest -= digit * weights[j];
    largest[j] = digit;
    result.offset += digit * split.strides[j];
  }
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const std::int64_t stride = map.strides[k];
    if (stride == 0 || extents[k] <= 1) continue;
    if (stride < 0) return std::nullopt;
    std::size_t j = 0;
    while (j + 1 < rank && stride % weights[j] != 0) ++j;
    if (rank == 0 || stride % weights[j] != 0) return std::nullopt;
    const std::int64_t steps = stride / weights[j];
    largest[j] += steps * (extents[k] - 1);
    result.strides[k] = steps * split.strides[j];
  }
  for (std::size_t j = 0; j < rank; ++j)
    if (largest[j] >= split.extents[j]) return std::nullopt;
  result.rest.assign(map.rest.begin() + 1, map.rest.end());
  return result;
}

/// The size of the inner part into which to cut loop k so that the map's first split becomes plain; 0: none.
std::int64_t cut_for(const BoundMap& map, std::size_t k, const std::vector<std::int64_t>& extents) {
  const Split& split = map.rest.front();
  const std::int64_t stride = map.strides[k], extent = extents[k];
  if (stride <= 0 || extent <= 1) return 0;
  std::int64_t weight = 1;
  for (std::size_t j = split.extents.size(); j-- > 1;) {
    const std::int64_t next = weight * split.extents[j];
    if (next > stride && next % stride == 0) {
      const std::int64_t inner = next / stride;
      return inner < extent && extent % inner == 0 ? inner : 0;
    }
    weight = next;
  }
  return 0;
}

void cut_loop(Space& space, std::size_t k, std::int64_t inner) {
  space.extents[k] /= inner;
  space.extents.insert(space.extents.begin() + static_cast<std::ptrdiff_t>(k) + 1, inner);
  for (BoundMap& map : space.maps) {
    const std::int64_t stride = map.strides[k];
    map.strides[k] *= inner;
    map.strides.insert(map.strides.begin() + static_cast<std::ptrdiff_t>(k) + 1, stride);
  }
  if (k < space.outer) ++space.outer;
}

void remove_loop(Space& space, std::size_t k) {
  space.extents.erase(space.extents.begin() + static_cast<std::ptrdiff_t>(k));
  for (BoundMap& map : space.maps) map.strides.erase(map.strides.begin() + static_cast<std::ptrdiff_t>(k));
  if (k < space.outer) --space.outer;
}

/// Replaces splits by strides, cutting loops where that helps.
void unsplit(Space& space) {
  for (BoundMap& map : space.maps) {
    // Quotients stand before the maps that add them.
    std::erase_if(map.parts, [&](const BoundMap::Part& part) {
      const BoundMap& quotient = space.maps[part.map];
      if (!quotient.affine()) return false;
      for (std::size_t k = 0; k < space.rank(); ++k) map.strides[k] += part.stride * quotient.strides[k];
      map.offset += part.stride * quotient.offset;
      return true;
    });
    while (map.parts.empty() && !map.rest.empty()) {
      if (auto plain = without_split(map, space.extents)) {
        map = std::move(*plain);
        continue;
      }
      bool cut = false;
      for (std::size_t k = 0; k < space.rank() && !cut && space.rank() + 1 < kMaxLoops; ++k) {
        if (const std::int64_t inner = cut_for(map, k, space.extents); inner > 0) {
          cut_loop(space, k, inner);
          cut = true;
        }
      }
      if (!cut) break;
    }
  }
}

/// Drops dims of size 1 and merges adjacent loops that are contiguous in every map.
void join(Space& space) {
  for (std::size_t k = space.rank(); k-- > 0;)
    if (space.extents[k] == 1) remove_loop(space, k);
  for (std::size_t k = space.rank(); k-- > 1;) {
    if (k == space.outer) continue;
    bool joins = true;
    for (const BoundMap& map : space.maps)
      joins = joins && map.strides[k - 1] == map.strides[k] * space.extents[k];
    if (!joins) continue;
    space.extents[k] *= space.extents[k - 1];
    remove_loop(space, k - 1);
  }
}

std::int64_t behind_splits(const BoundMap& map, std::int64_t number) {
  const auto keep = [&](std::int64_t position, std::int64_t, std::int64_t) { number = position; };
  if (!map.rest.empty()) split_run(map.rest, 0, number, 0, 1, keep);
  return number;
}

/// Parts of parts that are found one by one, and again for each map that adds them.
constexpr std::int64_t kFewVisits = 16;

/// Reshapes of reshapes that strides cannot express have parts that share theirs: one by one they are twice
/// as many with each reshape.
void find_what_is_needed(Space& space) {
  std::vector<std::int64_t> visits(space.maps.size());
  for (std::size_t m = 0; m < space.maps.size(); ++m) {
    BoundMap& map = space.maps[m];
    for (const BoundMap::Part& part : map.parts)
      visits[m] = std::min<std::int64_t>(visits[m] + 1 + visits[part.map], kFewVisits + 1);
    if (visits[m] <= kFewVisits) continue;
    std::vector<bool> is_needed(m);
    for (const BoundMap::Part& part : map.parts) is_needed[part.map] = true;
    for (std::size_t other = m; other-- > 0;)
      if (is_needed[other])
        for (const BoundMap::Part& part : space.maps[other].parts) is_needed[part.map] = true;
    for (std::size_t other = 0; other < m; ++other)
      if (is_needed[other]) map.needed.push_back(other);
  }
}

}  // namespace

std::uint32_t Space::dims_of(const BoundMap& map) const {
  std::uint32_t mask = 0;
  for (std::size_t k = 0; k < map.strides.size(); ++k)
    if (map.strides[k] != 0) mask |= std::uint32_t{1} << k;
  if (map.needed.empty()) {
    for (const BoundMap::Part& part : map.parts) mask |= dims_of(maps[part.map]);
    return mask;
  }
  for (const std::size_t other : map.needed)
    for (std::size_t k = 0; k < maps[other].strides.size(); ++k)
      if (maps[other].strides[k] != 0) mask |= std::uint32_t{1} << k;
  return mask;
}

template <class Part>
std::int64_t Space::number_with(const BoundMap& map, const std::int64_t* at, const Part& number_of) const {
  std::int64_t number = map.offset;
  for (std::size_t k = 0; k < map.strides.size(); ++k) number += at[k] * map.strides[k];
  for (const BoundMap::Part& part : map.parts) number += part.stride * number_of(part.map);
  return number;
}

std::vector<Space::Found> Space::find_needed(const BoundMap& map, const std::int64_t* at) const {
  std::vector<Found> found(maps.size());
  for (const std::size_t other : map.needed) {
    const std::int64_t before =
        number_with(maps[other], at, [&](std::size_t part) { return found[part].number; });
    found[other] = {before, behind_splits(maps[other], before), {}};
  }
  return found;
}

std::int64_t Space::number_before(const BoundMap& map, const std::int64_t* at) const {
  if (map.needed.empty())
    return number_with(map, at, [&](std::size_t part) { return number_at(maps[part], at); });
  const std::vector<Found> found = find_needed(map, at);
  return number_with(map, at, [&](std::size_t part) { return found[part].number; });
}

std::int64_t Space::number_at(const BoundMap& map, const std::int64_t* at) const {
  return behind_splits(map, number_before(map, at));
}

Space::Steady Space::steady(const BoundMap& map, const std::int64_t* at, std::size_t along,
                            std::int64_t count) const {
  if (map.needed.empty())
    return steady_with(
        map, along, count,
        [&](std::size_t part, std::int64_t left) { return steady(maps[part], at, along, left); },
        [&](std::size_t part) { return number_before(maps[part], at); });
  std::vector<Found> found = find_needed(map, at);
  const auto steady_of = [&](std::size_t part, std::int64_t) { return found[part].steady; };
  const auto before_of = [&](std::size_t part) { return found[part].before; };
  for (const std::size_t other : map.needed)
    found[other].steady = steady_with(maps[other], along, count, steady_of, before_of);
  return steady_with(map, along, count, steady_of, before_of);
}

template <class Part, class Before>
Space::Steady Space::steady_with(const BoundMap& map, std::size_t along, std::int64_t count,
                                 const Part& steady_of, const Before& number_before_of) const {
  Steady all{count, map.strides[along]};
  for (const BoundMap::Part& part : map.parts) {
    const BoundMap& quotient = maps[part.map];
    const Steady inner = steady_of(part.map, all.count);
    all.count = std::min(all.count, inner.count);
    if (inner.step == 0) continue;
    const std::int64_t by = quotient.rest.size() == 1 ? quotient.rest[0].extents.back() : 0;
    const std::int64_t number = number_before_of(part.map);
    if (by == 0 || number < 0) {
      all.count = 1;
    } else if (inner.step % by == 0) {
      all.step += part.stride * (inner.step / by);
    } else {
      const std::int64_t rest = number % by;
      const std::int64_t same = inner.step > 0 ? (by - 1 - rest) / inner.step + 1 : rest / -inner.step + 1;
      all.count = std::min(all.count, same);
    }
  }
  return all;
}

Space bind_space(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  Space space;
  space.outer = kernel.outer_rank;
  for (ir::IntRef extent : kernel.extents) space.extents.push_back(value_of(extent, ints));
  if (space.rank() > kMaxLoops)
    throw DeviceError("[host] a kernel has " + std::to_string(space.rank()) + " loops; the most are " +
                      std::to_string(kMaxLoops));
  for (std::size_t k = 0; k < space.rank(); ++k)
    (k < space.outer ? space.outer_count : space.inner_count) *= space.extents[k];
  for (const ir::IndexMap& from : kernel.maps) {
    BoundMap map;
    for (const ir::MapStep& step : from.steps) {
      std::vector<std::int64_t> strides, extents;
      for (ir::IntRef ref : step.strides) strides.push_back(value_of(ref, ints));
      // An extent of 0 occurs only where a predicate excludes the result.
      for (ir::IntRef ref : step.extents) extents.push_back(std::max<std::int64_t>(value_of(ref, ints), 1));
      const std::int64_t offset = value_of(step.offset, ints);
      if (!step.maps.empty()) {
        for (std::size_t k = 0; k < step.maps.size(); ++k) map.parts.push_back({step.maps[k], strides[k]});
      } else if (&step == &from.steps.front()) {
        map.strides = std::move(strides);
        map.offset = offset;
      } else {
        map.rest.push_back({std::move(extents), std::move(strides), offset});
      }
    }
    // A loop of one iteration does not move; its stride must not prevent merging.
    for (std::size_t k = 0; k < space.rank(); ++k)
      if (space.extents[k] == 1) map.strides[k] = 0;
    space.maps.push_back(std::move(map));
  }
  if (space.outer_count == 0 || space.inner_count == 0) return space;
  unsplit(space);
  join(space);
  find_what_is_needed(space);
  return space;
}

}  // namespace sinter::runtime::host
