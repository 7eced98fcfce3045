// Compares kernels part by part. Each part is named, so that one which is added does not compile here until
// it is compared too.
#include "jit/ir/compare.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace sinter::ir {
namespace {

auto parts_of(const Expr& expr) {
  const auto& [kind, op, dtype, level, phase, args, predicate, buffer, map, scalar, stride, extent, length,
               fault, bounds] = expr;
  return std::make_tuple(kind, op, dtype, level, phase, args[0], args[1], args[2], predicate, buffer, map,
                         scalar, stride, extent, length, fault, std::cref(bounds));
}

auto parts_of(const Store& store) {
  const auto& [buffer, map, value, level, phase] = store;
  return std::make_tuple(buffer, map, value, level, phase);
}

auto parts_of(const BufferInfo& info) {
  const auto& [dtype, read, written] = info;
  return std::make_tuple(dtype, read, written);
}

auto parts_of(const Attention& attention) {
  const auto& [rows, columns, slots, row_slots, by, workgroups, layout] = attention;
  return std::make_tuple(rows, columns, slots, row_slots, by, workgroups, layout.bits, layout.lane_bits,
                         layout.cuts_bf16);
}

auto parts_of(const LoneRows& lone_rows) {
  const auto& [lanes] = lone_rows;
  return std::make_tuple(lanes);
}

/// Those that have a comparison of their own.
auto plain_parts_of(const Kernel& kernel) {
  const auto& [outer_rank, inner_rank, phases, schedule, wide, faults, extents, reciprocals, buffers, scalars,
               ints, members, row_elements, row_lanes, row_full, row_ragged, row_cluster, parts, part_step,
               inner_sizes, tile, flat_maps, split, tiling, attention, lone_rows, maps, exprs, stores] =
      kernel;
  return std::tie(outer_rank, inner_rank, phases, schedule, wide, faults, extents, reciprocals, scalars, ints,
                  members, row_elements, row_lanes, row_full, row_ragged, row_cluster, parts, part_step,
                  inner_sizes, tile, flat_maps, split, tiling, maps);
}

template <class T>
bool equal_parts(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return parts_of(x) == parts_of(y); });
}

}  // namespace

bool is_same(const Kernel& a, const Kernel& b) {
  return plain_parts_of(a) == plain_parts_of(b) && parts_of(a.attention) == parts_of(b.attention) &&
         parts_of(a.lone_rows) == parts_of(b.lone_rows) && equal_parts(a.buffers, b.buffers) &&
         equal_parts(a.exprs, b.exprs) && equal_parts(a.stores, b.stores);
}

}  // namespace sinter::ir
