// Counts iterations of the loops that jit/emit/walker/loops.cpp writes.
#include "src/runtime/vulkan/kernels/long_loops.h"

#include <algorithm>

#include "jit/emit/attention/attention.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/matrices.h"

namespace sinter::runtime::vulkan {
namespace {

// A float sum is computed in partial sums of this many terms: two nested loops.
constexpr std::int64_t kPart = 32;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Iterations of a loop over `count` points that is divided into partial sums.
std::int64_t rounds_of_loop(std::int64_t count) { return count + divide_up(count, kPart); }

/// Number of inner loops: one for each phase that reduces or stores along inner dims.
std::int64_t inner_loops(const ir::Kernel& kernel) {
  std::int64_t loops = 0;
  for (std::uint16_t phase = 0; phase < kernel.phases; ++phase) {
    const bool reduces = std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::Reduce && expr.phase == phase + 1;
    });
    const bool stores = std::any_of(kernel.stores.begin(), kernel.stores.end(), [&](const ir::Store& store) {
      return store.level == ir::Level::Inner && store.phase == phase;
    });
    loops += reduces || stores;
  }
  return loops;
}

/// Iterations of the loop in the remainder of floats, which computes one bit of the quotient at a time.
std::int64_t rounds_of_point(const ir::Kernel& kernel) {
  std::int64_t rounds = 1;
  for (const ir::Expr& expr : kernel.exprs)
    if (expr.kind == ir::ExprKind::Elementwise && expr.op == Op::Remainder && is_float(expr.dtype))
      rounds += expr.dtype == DType::f32 ? 300 : 2200;
  return rounds;
}

}  // namespace

std::int64_t rounds_of_lane(const ir::Kernel& kernel, const emit::Target& target,
                            const emit::Geometry& geometry, std::span<const std::int64_t> ints) {
  if (geometry.workgroups == 0) return 0;
  if (emit::has_tiles(kernel, target)) return emit::matrix_rounds(kernel, geometry, ints);
  if (emit::has_attention(kernel, target)) return emit::attention_rounds(kernel, geometry, ints);
  auto extent = [&](std::size_t c) { return ints[kernel.extents[c].index]; };
  std::int64_t outer = 1;
  for (std::size_t c = 0; c < kernel.outer_rank; ++c) outer *= extent(c);
  const ir::Schedule schedule = emit::schedule_on(kernel, target);
  const std::int64_t lanes = std::int64_t{geometry.workgroups} * geometry.lanes;
  const std::int64_t points =
      divide_up(outer, schedule == ir::Schedule::LanesInner ? geometry.workgroups : lanes);
  // Unrolled iterations, and the elements of a vector, are loops of their own where a driver does not unroll
  // them.
  auto with_vectors = [&](std::int64_t rounds) {
    return target.vectors ? rounds + divide_up(rounds, 4) + 4 : rounds;
  };
  if (kernel.inner_rank == 0) return with_vectors(points) * rounds_of_point(kernel);

  std::int64_t rounds = 0, walks = 1;  // how often the current loop starts
  if (schedule == ir::Schedule::LanesInner) {
    std::int64_t inner = 1;
    for (std::size_t c = kernel.outer_rank; c < kernel.extents.size(); ++c) inner *= extent(c);
    rounds = with_vectors(with_vectors(rounds_of_loop(divide_up(inner, geometry.lanes))));
    rounds += 16;  // the tree reduction over lanes
  } else {
    for (std::size_t c = kernel.outer_rank; c + 1 < kernel.extents.size(); ++c) rounds += walks *= extent(c);
    rounds += walks * with_vectors(rounds_of_loop(extent(kernel.extents.size() - 1)));
  }
  return points * (1 + rounds * inner_loops(kernel) * rounds_of_point(kernel));
}

}  // namespace sinter::runtime::vulkan
