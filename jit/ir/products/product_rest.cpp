// Takes the sum out of a kernel with tiles.
#include "jit/ir/products/product_rest.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "jit/ir/products/plain_product.h"

namespace sinter::ir {
namespace {

bool rounds_sum(const Kernel& kernel, const Expr& expr) {
  return expr.kind == ExprKind::Elementwise && expr.op == Op::Cast && expr.args[0] == kernel.tiling.sum &&
         expr.dtype == kernel.tiling.multiplied && is_half(expr.dtype);
}

/// The expressions that the stores need; of the sum none that it is made of.
std::vector<bool> needed_outside(const Kernel& kernel) {
  std::vector<bool> needed(kernel.exprs.size());
  for (const Store& store : kernel.stores) needed[store.value] = true;
  for (std::size_t id = kernel.exprs.size(); id-- > 0;) {
    if (!needed[id] || id == kernel.tiling.sum) continue;
    for (const ExprId arg : kernel.exprs[id].args)
      if (arg != kNone) needed[arg] = true;
    if (kernel.exprs[id].predicate != kNone) needed[kernel.exprs[id].predicate] = true;
  }
  return needed;
}

/// Copies maps that are used, without the inner loops.
class Maps {
 public:
  Maps(const Kernel& from, Kernel& to) : from_(from), to_(to), places_(from.maps.size(), kNowhere) {}
  std::uint16_t operator()(std::uint16_t map) {
    if (places_[map] == kNowhere) {
      IndexMap copy = from_.maps[map];
      copy.steps.front().strides.resize(from_.outer_rank);
      for (MapStep& step : copy.steps)
        for (std::uint16_t& part : step.maps) part = (*this)(part);
      places_[map] = static_cast<std::uint16_t>(to_.maps.size());
      to_.maps.push_back(std::move(copy));
    }
    return places_[map];
  }

 private:
  static constexpr std::uint16_t kNowhere = 0xffff;
  const Kernel& from_;
  Kernel& to_;
  std::vector<std::uint16_t> places_;
};

bool has_map(ExprKind kind) {
  return kind == ExprKind::Load || kind == ExprKind::Index || kind == ExprKind::InBounds ||
         kind == ExprKind::Random || kind == ExprKind::RandomNormal;
}

}  // namespace

DType sum_dtype(const Kernel& kernel) {
  const std::vector<bool> needed = needed_outside(kernel);
  for (const Store& store : kernel.stores)
    if (store.value == kernel.tiling.sum) return DType::f32;
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const auto& args = kernel.exprs[id].args;
    const bool uses = std::find(std::begin(args), std::end(args), kernel.tiling.sum) != std::end(args);
    if (needed[id] && uses && !rounds_sum(kernel, kernel.exprs[id])) return DType::f32;
  }
  return is_half(kernel.tiling.multiplied) ? kernel.tiling.multiplied : DType::f32;
}

Kernel rest_of(const Kernel& kernel) {
  Kernel rest;
  rest.outer_rank = kernel.outer_rank;
  rest.schedule = Schedule::Pointwise;
  rest.wide = kernel.wide;
  rest.extents.assign(kernel.extents.begin(), kernel.extents.begin() + kernel.outer_rank);
  rest.scalars = kernel.scalars;
  rest.ints = static_cast<std::uint16_t>(kernel.ints + kernel.outer_rank);
  const DType sums = sum_dtype(kernel);
  for (const BufferInfo& buffer : kernel.buffers)
    rest.buffers.push_back({buffer.dtype, false, buffer.written});
  rest.buffers.push_back({sums, true, false});

  Maps maps(kernel, rest);
  MapStep step;
  for (std::size_t loop = 0; loop + 1 < kernel.outer_rank; ++loop)
    step.strides.push_back(IntRef::argument(kernel.ints + loop));
  step.strides.push_back(IntRef::one());  // columns lie side by side
  Expr sum;
  sum.kind = ExprKind::Load;
  sum.dtype = sums;
  sum.buffer = static_cast<std::uint16_t>(kernel.buffers.size());
  sum.map = static_cast<std::uint16_t>(rest.maps.size());
  rest.maps.push_back({{std::move(step)}});

  const std::vector<bool> needed = needed_outside(kernel);
  std::vector<ExprId> places(kernel.exprs.size(), kNone);
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    if (!needed[id]) continue;
    Expr expr = kernel.exprs[id];
    if (is_half(sums) && rounds_sum(kernel, expr)) {
      places[id] = places[kernel.tiling.sum];
      continue;
    }
    if (id == kernel.tiling.sum) {
      expr = sum;
    } else {
      if (has_map(expr.kind)) expr.map = maps(expr.map);
      for (ExprId& arg : expr.args)
        if (arg != kNone) arg = places[arg];
      if (expr.predicate != kNone) expr.predicate = places[expr.predicate];
      if (expr.kind == ExprKind::Load) rest.buffers[expr.buffer].read = true;
      expr.phase = 0;
    }
    places[id] = static_cast<ExprId>(rest.exprs.size());
    rest.exprs.push_back(std::move(expr));
  }
  for (Store store : kernel.stores) {
    store.map = maps(store.map);
    store.value = places[store.value];
    store.phase = 0;
    rest.stores.push_back(store);
  }
  return rest;
}

}  // namespace sinter::ir
