// Follows sums to where they are added up.
#include "jit/ir/products/terms.h"

#include <algorithm>
#include <vector>

namespace sinter::ir {
namespace {

bool is_op(const Expr& expr, Op op) { return expr.kind == ExprKind::Elementwise && expr.op == op; }

/// The expressions between sums and what is made of all of them.
class AddedUp {
 public:
  AddedUp(const Kernel& kernel, std::span<const ExprId> sums) : kernel_(kernel), users_(kernel.exprs.size()) {
    for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
      const Expr& expr = kernel.exprs[id];
      for (const ExprId arg : expr.args)
        if (arg != kNone) users_[arg].push_back(id);
      if (expr.predicate != kNone) users_[expr.predicate].push_back(id);
    }
    for (const Store& store : kernel.stores) users_[store.value].push_back(kNone);
    std::vector<std::vector<ExprId>> paths;
    for (const ExprId sum : sums) paths.push_back(path_from(sum));
    // The first expression that all paths meet in.
    for (const ExprId id : paths.front()) {
      const bool is_met = std::all_of(paths.begin(), paths.end(), [id](const std::vector<ExprId>& path) {
        return std::find(path.begin(), path.end(), id) != path.end();
      });
      if (!is_met) continue;
      root_ = id;
      break;
    }
    if (root_ == kNone) return;
    for (const std::vector<ExprId>& path : paths)
      within_.insert(within_.end(), path.begin(), std::find(path.begin(), path.end(), root_) + 1);
  }

  ExprId root() const { return root_; }
  /// Of an expression on the way from a sum to the root, both included.
  bool is_within(ExprId id) const { return std::find(within_.begin(), within_.end(), id) != within_.end(); }

 private:
  /// True iff the cast makes of a sum the product of its factors' dtype, or of such a product an f32.
  bool is_of_product(ExprId id, const Expr& cast) const {
    if (!is_op(cast, Op::Cast)) return false;
    const Expr& below = kernel_.exprs[id];
    if (below.kind != ExprKind::Reduce) return is_op(below, Op::Cast) && cast.dtype == DType::f32;
    const Expr& product = kernel_.exprs[below.args[0]];
    if (!is_op(product, Op::Mul) || !is_half(cast.dtype)) return false;
    const Expr& factor = kernel_.exprs[product.args[0]];
    return is_op(factor, Op::Cast) && kernel_.exprs[factor.args[0]].dtype == cast.dtype;
  }

  /// From a sum on, as long as nobody else needs what there is, and it is added or cast as products are.
  std::vector<ExprId> path_from(ExprId sum) const {
    std::vector<ExprId> path{sum};
    while (users_[path.back()].size() == 1 && users_[path.back()][0] != kNone) {
      const Expr& user = kernel_.exprs[users_[path.back()][0]];
      const bool is_added = is_op(user, Op::Add) && user.dtype == DType::f32;
      if (!is_added && !is_of_product(path.back(), user)) break;
      path.push_back(users_[path.back()][0]);
    }
    return path;
  }

  const Kernel& kernel_;
  std::vector<std::vector<ExprId>> users_;  // kNone: a store
  std::vector<ExprId> within_;
  ExprId root_ = kNone;
};

}  // namespace

bool are_added_up(const Kernel& kernel, std::span<const ExprId> sums) {
  const AddedUp tree(kernel, sums);
  return sums.size() > 1 && tree.root() != kNone && is_op(kernel.exprs[tree.root()], Op::Add);
}

Kernel with_one_sum(const Kernel& kernel) {
  std::vector<ExprId> sums{kernel.tiling.sum};
  for (const Tiling::Term& term : kernel.tiling.terms) sums.push_back(term.sum);
  const AddedUp tree(kernel, sums);
  Kernel one = kernel;
  // What stands for each expression; kNone: a term, which is in the sum.
  std::vector<ExprId> now(kernel.exprs.size());
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    now[id] = id;
    Expr& expr = one.exprs[id];
    if (expr.kind == ExprKind::Reduce) {
      if (id != sums[0] && tree.is_within(id)) now[id] = kNone;
      continue;
    }
    if (tree.is_within(id) && expr.op == Op::Cast) {
      now[id] = now[expr.args[0]];
      continue;
    }
    if (tree.is_within(id)) {
      const ExprId a = now[expr.args[0]], b = now[expr.args[1]];
      if (a == kNone || b == kNone) {
        now[id] = a == kNone ? b : a;
        continue;
      }
    }
    for (ExprId& arg : expr.args)
      if (arg != kNone) arg = now[arg];
  }
  for (Store& store : one.stores) store.value = now[store.value];
  return one;
}

}  // namespace sinter::ir
