#include "src/runtime/host/interpreter/dependence.h"

#include <cstddef>

#include "src/runtime/host/interpreter/blocking.h"

namespace sinter::runtime::host {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

/// Marks the result of a reduction, which is never a constant of the launch, even where its operand is one.
constexpr std::uint32_t kAfterReduction = std::uint32_t{1} << 31;

}  // namespace

Dependence::Dependence(const ir::Kernel& kernel, const Space& space)
    : inner_(bits(space.outer, space.rank())) {
  find_dims(kernel, space);
  find_needed(kernel, space.inner_count != 0);
}

void Dependence::find_dims(const ir::Kernel& kernel, const Space& space) {
  dims_.resize(kernel.exprs.size());
  const std::uint32_t outer = bits(0, space.outer);
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    std::uint32_t mask = 0;
    for (ExprId arg : e.args)
      if (arg != ir::kNone) mask |= dims_[arg];
    if (e.predicate != ir::kNone) mask |= dims_[e.predicate];
    if (e.kind != ExprKind::Scalar && e.kind != ExprKind::Elementwise && e.kind != ExprKind::Reduce)
      mask |= space.dims_of(space.maps[e.map]);
    if (e.kind == ExprKind::Reduce) mask = (mask & outer) | kAfterReduction;
    dims_[id] = mask;
  }
}

void Dependence::find_needed(const ir::Kernel& kernel, bool any_inner) {
  needed_.assign(kernel.exprs.size(), false);
  for (const ir::Store& store : kernel.stores)
    if (store.level != ir::Level::Inner || any_inner) needed_[store.value] = true;
  // Operands precede their users.
  for (std::size_t id = kernel.exprs.size(); id-- > 0;) {
    const Expr& e = kernel.exprs[id];
    if (!needed_[id] || (e.kind == ExprKind::Reduce && !any_inner)) continue;
    for (ExprId arg : e.args)
      if (arg != ir::kNone) needed_[arg] = true;
    if (e.predicate != ir::kNone) needed_[e.predicate] = true;
  }
}

}  // namespace sinter::runtime::host
