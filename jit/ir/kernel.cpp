// What is asked of a kernel in several places.
#include "jit/ir/kernel.h"

#include <algorithm>
#include <bit>

#include "jit/ir/products/tensor_maps.h"

namespace sinter::ir {

std::size_t argument_bytes(const Kernel& kernel) {
  std::size_t bytes = 8 * kernel.buffers.size() + (kernel.wide ? 8u : 4u) * kernel.ints;
  for (DType dtype : kernel.scalars) bytes += size_of(dtype) == 8 ? 8 : 4;
  return bytes + kTensorMapBytes * tensor_maps(kernel.tiling);
}

std::int64_t lanes_at_once(std::int64_t words) {
  // Of 65,536 registers, with some 40 for the rest.
  if (words <= 24) return 1024;
  return words <= 44 ? 768 : 512;
}

PartPoints points_of_part(std::int64_t part, std::int64_t parts, std::int64_t step, std::int64_t points) {
  const std::int64_t groups = parts / step, group = part / step, taken = (points + step - 1) / step,
                     each = taken / groups, more = taken % groups;
  const std::int64_t begin = group * each + std::min(group, more), first = begin * step + part % step;
  std::int64_t count = each + (group < more ? 1 : 0);
  if (count > 0 && first + (count - 1) * step >= points) --count;
  return {first, count};
}

std::vector<std::size_t> loops_of(std::uint32_t set) {
  std::vector<std::size_t> loops;
  for (; set != 0; set &= set - 1) loops.push_back(static_cast<std::size_t>(std::countr_zero(set)));
  return loops;
}

bool is_quotient(const IndexMap& map) {
  const MapStep& last = map.steps.back();
  return map.steps.size() > 1 && last.extents.size() == 2 && last.strides[0].is_one() &&
         last.strides[1].is_zero() && last.offset.is_zero();
}

std::vector<std::uint32_t> dependence_of_maps(const Kernel& kernel) {
  std::vector<std::uint32_t> of_map;
  for (const IndexMap& map : kernel.maps) {
    std::uint32_t loops = 0;
    for (std::size_t loop = 0; loop < map.steps.front().strides.size(); ++loop)
      if (!map.steps.front().strides[loop].is_zero()) loops |= 1u << loop;
    for (const MapStep& step : map.steps)
      for (const std::uint16_t part : step.maps) loops |= of_map[part];
    of_map.push_back(loops);
  }
  return of_map;
}

std::vector<std::uint32_t> dependence(const Kernel& kernel) {
  const std::vector<std::uint32_t> of_map = dependence_of_maps(kernel);
  std::vector<std::uint32_t> of_expr;
  for (const Expr& expr : kernel.exprs) {
    std::uint32_t loops = 0;
    switch (expr.kind) {
      case ExprKind::Scalar:
      case ExprKind::Elementwise:
      case ExprKind::Reduce:
      case ExprKind::Dot:
      case ExprKind::Combine:
      case ExprKind::Partial: break;
      default: loops = of_map[expr.map];
    }
    for (const ExprId arg : expr.args)
      if (arg != kNone) loops |= of_expr[arg];
    if (expr.predicate != kNone) loops |= of_expr[expr.predicate];
    if (is_reduced(expr)) loops &= (1u << kernel.outer_rank) - 1;
    of_expr.push_back(loops);
  }
  return of_expr;
}

bool is_consecutive(const IndexMap& map, std::size_t loop) {
  if (map.steps.size() != 1 || map.steps.front().offset.is_one()) return false;
  const std::vector<IntRef>& strides = map.steps.front().strides;
  for (std::size_t c = 0; c < strides.size(); ++c)
    if (strides[c].is_one() != (c == loop)) return false;
  return true;
}

std::size_t divisions(const Kernel& kernel) {
  std::size_t count = 0;
  for (const IndexMap& map : kernel.maps)
    for (const MapStep& step : map.steps) count += step.extents.empty() ? 0 : step.extents.size() - 1;
  for (const Expr& expr : kernel.exprs)
    if (expr.kind == ExprKind::InBounds) count += expr.bounds.size() - 1;
  return count;
}

std::vector<std::uint16_t> divisors(const Kernel& kernel) {
  std::vector<std::uint16_t> found;
  // The first coordinate is what the others leave.
  const auto add = [&](const auto& sizes, const auto& size_of_each) {
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const IntRef size = size_of_each(sizes[i]);
      if (size.kind == IntRef::Kind::Argument) found.push_back(size.index);
    }
  };
  const auto same = [](const IntRef& size) { return size; };
  const auto outer = kernel.extents.begin() + kernel.outer_rank;
  add(std::vector<IntRef>(kernel.extents.begin(), outer), same);
  if (kernel.inner_sizes.empty()) add(std::vector<IntRef>(outer, kernel.extents.end()), same);
  for (const IndexMap& map : kernel.maps)
    for (const MapStep& step : map.steps) add(step.extents, same);
  for (const Expr& expr : kernel.exprs) add(expr.bounds, [](const Bound& bound) { return bound.extent; });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// With l the bits of divisor - 1, m = floor(2^(31 + l) / d) + 1 exceeds 2^(31 + l) / d by at most 1, which is
// 2^l / d or less. So n * m exceeds n * 2^(31 + l) / d by less than 2^(31 + l) / d for n < 2^31: too little
// to reach the next quotient (Granlund and Montgomery 1994). d > 2^(l - 1), so m has 32 bits.
Factor reciprocal_of(std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(divisor);
  const int bits = std::bit_width(d - 1);
  const std::uint64_t multiplier = (std::uint64_t{1} << (31 + bits)) / d + 1;
  return {static_cast<std::int32_t>(static_cast<std::uint32_t>(multiplier)), bits - 1};
}

bool lies_along_tile(const Kernel& kernel, const Expr& expr) {
  if (kernel.tile == Kernel::kNoTile || expr.kind != ExprKind::Load || expr.predicate != kNone) return false;
  const IndexMap& map = kernel.maps[expr.map];
  const std::vector<IntRef>& strides = map.steps.front().strides;
  return map.steps.size() == 1 && strides[kernel.tile].is_one() &&
         strides[kernel.outer_rank - 1u].kind == IntRef::Kind::Argument;
}

}  // namespace sinter::ir
