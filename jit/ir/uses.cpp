// Goes through a kernel's expressions from their uses.
#include "jit/ir/uses.h"

#include <algorithm>

namespace sinter::ir {

std::vector<bool> live_expressions(const Kernel& kernel) {
  std::vector<bool> live(kernel.exprs.size(), false);
  for (const Store& store : kernel.stores) live[store.value] = true;
  for (ExprId id = static_cast<ExprId>(kernel.exprs.size()); id-- > 0;)
    if (live[id]) for_operands(kernel.exprs[id], [&](ExprId arg) { live[arg] = true; });
  return live;
}

std::vector<std::uint16_t> last_phases(const Kernel& kernel) {
  std::vector<std::uint16_t> last(kernel.exprs.size());
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) last[id] = kernel.exprs[id].phase;
  const auto use = [&](ExprId id, std::uint16_t phase) {
    if (kernel.exprs[id].level == Level::Inner) last[id] = std::max(last[id], phase);
  };
  for (const Store& store : kernel.stores) use(store.value, store.phase);
  for (ExprId id = static_cast<ExprId>(kernel.exprs.size()); id-- > 0;) {
    const Expr& e = kernel.exprs[id];
    const std::uint16_t phase = e.kind == ExprKind::Reduce ? kernel.exprs[e.args[0]].phase : last[id];
    for_operands(e, [&](ExprId arg) { use(arg, phase); });
  }
  return last;
}

}  // namespace sinter::ir
