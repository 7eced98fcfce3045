// Deals out the workgroups of a launch of several members.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/error.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/emit.h"

namespace sinter::emit {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A launch of several members of a split kernel, which all have units of `whole`'s lanes and rows: the
/// workgroups that one such launch would have for itself are dealt out among all units.
void place_parts(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints,
                 Geometry& whole, std::vector<MemberPlace>& places) {
  const bool in_workgroup = schedule_on(kernel, target) == ir::Schedule::LanesInner;
  std::vector<std::int64_t> units;
  std::int64_t all = 0;
  for (std::size_t m = 0; m < places.size(); ++m) {
    std::int64_t outer = 1;
    for (std::size_t c = 0; c < kernel.outer_rank; ++c)
      outer *= ints[m * kernel.ints + kernel.extents[c].index];
    all += units.emplace_back(in_workgroup ? outer : divide_up(outer, whole.lanes));
  }
  const std::int64_t most =
      std::max<std::int64_t>(wanted_parts(target, std::int64_t{whole.lanes} * whole.rows, all), 1);
  MemberPlace next;
  for (std::size_t m = 0; m < places.size(); ++m) {
    const std::uint32_t own = places[m].parts;  // as many as are worth it
    places[m] = next;
    if (units[m] == 0) continue;
    Geometry shape = whole;
    shape.parts = places[m].parts = std::min(own, static_cast<std::uint32_t>(most));
    next.first += static_cast<std::uint32_t>(units[m]) * shape.parts;
    next.counters += static_cast<std::uint32_t>(units[m]);
    next.partials += static_cast<std::uint32_t>(
        split_scratch_bytes(kernel, shape, ints.subspan(m * kernel.ints, kernel.ints)) /
        sizeof(std::uint32_t));
    // Partial results may be of 64 bits.
    next.partials += next.partials % 2;
  }
  whole.workgroups = next.first;
  places.push_back(next);
}

}  // namespace

Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints,
                  std::size_t members, std::vector<MemberPlace>& places) {
  Geometry whole;
  places.clear();
  if (has_tiles(kernel, target)) {  // whose workgroups have tiles of any member
    whole = contraction_geometry(kernel, target, ints.first(kernel.ints), members);
    places.resize(members + 1);
    places.back().first = whole.workgroups;
    places.back().partials =
        static_cast<std::uint32_t>(contraction_scratch_bytes(kernel, whole) / sizeof(std::uint32_t));
    return whole;
  }
  auto of_member = [&](std::size_t m) {
    return geometry(kernel, target, ints.subspan(m * kernel.ints, kernel.ints));
  };
  // All members have workgroups of one form: that of the largest.
  for (std::size_t m = 0; m < members; ++m) {
    const Geometry one = of_member(m);
    if (one.lanes > whole.lanes) whole = one;
    if (one.lanes == whole.lanes) whole.rows = std::max(whole.rows, one.rows);
  }
  whole.rows =
      std::min(whole.rows, static_cast<std::uint32_t>(workgroup_lanes(kernel, target)) / whole.lanes);
  if (kernel.split) {
    for (std::size_t m = 0; m < members; ++m) places.push_back({.parts = of_member(m).parts});
    place_parts(kernel, target, ints, whole, places);
    return whole;
  }
  // How many each member wants, and from these its first.
  std::vector<std::int64_t> wanted;
  std::int64_t all = 0;
  for (std::size_t m = 0; m < members; ++m) {
    const Geometry one = of_member(m);
    const std::int64_t lanes = std::int64_t{one.workgroups} * one.lanes * one.rows,
                       per_workgroup = std::int64_t{whole.lanes} * whole.rows;
    std::int64_t own = 0;
    switch (schedule_on(kernel, target)) {
      case ir::Schedule::LanesInner:
        own = divide_up(std::int64_t{one.workgroups} * one.rows, whole.rows);
        break;
      case ir::Schedule::LanesOuter:
        own = divide_up(std::int64_t{one.workgroups} * one.lanes, whole.lanes);
        break;
      case ir::Schedule::Pointwise: own = divide_up(lanes, per_workgroup); break;
    }
    wanted.push_back(own);
    all += own;
  }
  const std::int64_t most = target.max_workgroups, count = static_cast<std::int64_t>(members);
  if (count > most)
    throw DeviceError("[launch] " + std::to_string(members) + " members of one launch; the most are " +
                      std::to_string(most));
  std::int64_t workgroups = 0;
  for (const std::int64_t own : wanted) {
    places.push_back({.first = static_cast<std::uint32_t>(workgroups)});
    // Where all are too many each member has its share, and its workgroups go over what is left.
    workgroups += all <= most ? own : std::min(own, 1 + own * (most - count) / all);
  }
  whole.workgroups = static_cast<std::uint32_t>(workgroups);
  places.push_back({.first = whole.workgroups});
  return whole;
}

}  // namespace sinter::emit
