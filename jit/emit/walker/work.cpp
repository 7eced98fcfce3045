// Walks back from what a kernel stores.
#include "jit/emit/walker/work.h"

#include <algorithm>
#include <string_view>

namespace sinter::emit {

InnerWork work_of(const ir::Kernel& kernel, const std::vector<bool>& live, std::uint16_t phase) {
  const bool pointwise = kernel.inner_rank == 0;
  InnerWork work;
  std::vector<bool> needed(kernel.exprs.size(), false);
  for (const ir::Store& store : kernel.stores) {
    if (!pointwise && (store.level != ir::Level::Inner || store.phase != phase)) continue;
    if (const ir::Expr& value = kernel.exprs[store.value]; value.kind == ir::ExprKind::Partial) {
      work.partials.push_back(&store);
      needed[value.args[0]] = true;
      continue;
    }
    work.stores.push_back(&store);
    needed[store.value] = true;
  }
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (expr.kind != ir::ExprKind::Reduce || !live[id] || expr.phase != phase + 1) continue;
    work.reductions.push_back(id);
    needed[expr.args[0]] = true;
  }
  for (ir::ExprId id = static_cast<ir::ExprId>(kernel.exprs.size()); id-- > 0;) {
    if (!needed[id] || (!pointwise && kernel.exprs[id].level != ir::Level::Inner)) continue;
    work.values.push_back(id);
    for_operands(kernel.exprs[id], [&](ir::ExprId arg) { needed[arg] = true; });
  }
  std::reverse(work.values.begin(), work.values.end());
  return work;
}

std::vector<ir::ExprId> reductions_of(const ir::Kernel& kernel, const std::vector<bool>& live,
                                      std::uint16_t phase) {
  std::vector<ir::ExprId> found;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id)
    if (live[id] && kernel.exprs[id].kind == ir::ExprKind::Reduce && kernel.exprs[id].phase == phase)
      found.push_back(id);
  return found;
}

int rounds_together(const ir::Kernel& kernel, const InnerWork& work, int elements) {
  constexpr std::ptrdiff_t kLoadsUnderWay = 32, kMostWritten = 512, kMostDivisions = 16;
  const auto loads = std::count_if(work.values.begin(), work.values.end(),
                                   [&](ir::ExprId id) { return ir::reads_memory(kernel.exprs[id]); });
  const auto values = static_cast<std::ptrdiff_t>(work.values.size()),
             divisions = static_cast<std::ptrdiff_t>(ir::divisions(kernel));
  const auto fits = [&](int rounds) {
    return rounds * loads * elements <= kLoadsUnderWay && rounds * values * elements <= kMostWritten &&
           rounds * divisions <= kMostDivisions;
  };
  int rounds = 8;
  while (rounds > 1 && !fits(rounds)) rounds /= 2;
  return rounds;
}

bool is_quick(const ir::Kernel& kernel, const InnerWork& work) {
  const auto is_instruction = [&](ir::ExprId id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (expr.kind != ir::ExprKind::Elementwise)
      return expr.kind == ir::ExprKind::Load || expr.kind == ir::ExprKind::Scalar;
    // Others than casts are operators of the language, or calls.
    return expr.op == Op::Cast || info(expr.op).text.find("sn_") == std::string_view::npos;
  };
  return is_small_reduction(work) && std::all_of(work.values.begin(), work.values.end(), is_instruction);
}

bool is_small_reduction(const InnerWork& work) {
  constexpr std::size_t kMostUnrolledExpressions = 16;
  return work.stores.empty() && work.values.size() <= kMostUnrolledExpressions;
}

}  // namespace sinter::emit
