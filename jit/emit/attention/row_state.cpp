// Finds what is to be known of a row of scores.
#include "jit/emit/attention/row_state.h"

#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

RowState::RowState(const ir::Kernel& kernel) {
  const std::vector<bool> live = live_expressions(kernel);
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    if (!live[id]) continue;
    if (e.kind == ExprKind::Reduce) {
      if (is_softmax(kernel) && e.phase == 1)
        greatest = id;
      else
        sums.push_back(id);
    }
    if (e.kind == ExprKind::Combine) combines.push_back(id);
  }
  floats = 1 + static_cast<int>(sums.size());
  for (const ExprId id : combines) {
    places.push_back(floats);
    floats += kernel.exprs[kernel.exprs[id].args[1]].length;
  }
}

}  // namespace sinter::emit
