// Which expressions of a kernel need which others, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Calls for each operand of an expression, its predicate included.
template <class Visit>
void for_operands(const Expr& expr, Visit visit) {
  for (ExprId arg : expr.args)
    if (arg != kNone) visit(arg);
  if (expr.predicate != kNone) visit(expr.predicate);
}

/// Expressions that some store needs.
std::vector<bool> live_expressions(const Kernel& kernel);

/// The last phase that computes each expression. Outer ones are computed once and kept, Inner ones in each
/// phase that stores them or accumulates them.
std::vector<std::uint16_t> last_phases(const Kernel& kernel);

}  // namespace sinter::ir
