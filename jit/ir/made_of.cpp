// Follows operands down.
#include "jit/ir/made_of.h"

namespace sinter::ir {

std::vector<ExprId> made_of(const Kernel& kernel, ExprId value) {
  std::vector<bool> needed(value + 1);
  needed[value] = true;
  for (ExprId id = value + 1; id-- > 0;) {
    if (!needed[id]) continue;
    for (const ExprId arg : kernel.exprs[id].args)
      if (arg != kNone) needed[arg] = true;
    if (kernel.exprs[id].predicate != kNone) needed[kernel.exprs[id].predicate] = true;
  }
  std::vector<ExprId> ids;
  for (ExprId id = 0; id <= value; ++id)
    if (needed[id]) ids.push_back(id);
  return ids;
}

}  // namespace sinter::ir
