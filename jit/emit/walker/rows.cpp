// Chooses what to hold: the values at the border between what earlier phases computed and what a phase adds.
#include "jit/emit/walker/rows.h"

#include <algorithm>

#include "jit/ir/products/row_product.h"

namespace sinter::emit {
namespace {

/// Of a lane's registers; the rest is for addresses, accumulators and what is computed on the way.
std::size_t most_registers(const ir::Kernel& kernel) {
  return kernel.row_lanes <= 256 ? 112 : kernel.row_lanes <= 512 ? 72 : 32;
}

/// Of a lane's elements of a row.
std::size_t registers_of(const ir::Kernel& kernel, DType dtype, bool pairs_halves) {
  if (pairs_halves && size_of(dtype) == 2) return kernel.row_elements / 2;
  return (size_of(dtype) == 8 ? 2u : 1u) * std::size_t{kernel.row_elements};
}

constexpr int kNever = -1;
// So many cheap operations are done again rather than held in a register for each element.
constexpr int kFewInstructions = 3;

class Chooser {
 public:
  Chooser(const ir::Kernel& kernel, const std::vector<InnerWork>& work, bool pairs_halves)
      : k_(kernel),
        work_(work),
        pairs_halves_(pairs_halves),
        is_product_(ir::is_row_product(kernel)),
        first_(kernel.exprs.size(), kNever) {
    for (std::size_t p = 0; p < work.size(); ++p)
      for (ir::ExprId id : work[p].values)
        if (first_[id] == kNever) first_[id] = static_cast<int>(p);
  }

  /// With all of a row's loads in the first phase, so that none waits for a reduction; else each where it is
  /// first needed, if that takes fewer registers than a lane has; else nothing is held.
  HeldRows run() {
    const std::vector<int> needed_first = first_;
    for (ir::ExprId id = 0; id < k_.exprs.size(); ++id)
      if (first_[id] > 0 && is_load_of_row(id)) {
        first_[id] = 0;
        early_.push_back(id);
      }
    HeldRows rows = choose();
    if (rows.words > most_registers(k_) && !early_.empty()) {
      first_ = needed_first;
      early_.clear();
      rows = choose();
    }
    return rows.words <= most_registers(k_) ? rows : everything_again();
  }

 private:
  HeldRows choose() const {
    HeldRows rows;
    for (std::size_t p = 0; p < work_.size(); ++p) {
      std::vector<bool> needed(k_.exprs.size(), false), taken(k_.exprs.size(), false);
      for (const ir::Store* store : work_[p].stores) needed[store->value] = true;
      for (ir::ExprId id : work_[p].reductions) needed[k_.exprs[id].args[0]] = true;
      for (const ir::Store* partial : work_[p].partials) needed[k_.exprs[partial->value].args[0]] = true;
      auto& values = rows.values.emplace_back();
      auto& from_before = rows.taken.emplace_back();
      std::vector<ir::ExprId> all = work_[p].values;
      if (p == 0) {
        for (ir::ExprId id : early_) needed[id] = true;
        all.insert(all.end(), early_.begin(), early_.end());
        std::sort(all.begin(), all.end());
      }
      for (std::size_t i = all.size(); i-- > 0;) {
        const ir::ExprId id = all[i];
        if (!needed[id]) continue;
        if (first_[id] < static_cast<int>(p) && is_worth_holding(id)) {
          from_before.push_back(id);
          continue;
        }
        values.push_back(id);
        for (ir::ExprId arg : k_.exprs[id].args)
          if (arg != ir::kNone) needed[arg] = true;
        if (k_.exprs[id].predicate != ir::kNone) needed[k_.exprs[id].predicate] = true;
      }
      std::reverse(values.begin(), values.end());
      std::reverse(from_before.begin(), from_before.end());
      for (ir::ExprId id : from_before)
        if (!rows.has(id)) rows.held.push_back(id);
    }
    // Elements that no vector brings are loaded side by side first, and wait in registers to be used.
    if (k_.row_ragged)
      for (const auto& values : rows.values)
        for (ir::ExprId id : values)
          if (is_load_of_row(id) && !rows.has(id)) rows.held.push_back(id);
    share_slots(rows);
    for (DType dtype : rows.slot_dtypes) rows.words += registers(dtype);
    rows.words += words_of_sums();
    rows.pairs_halves = pairs_halves_;
    return rows;
  }

  std::size_t words_of_sums() const {
    std::size_t words = 0;
    for (const InnerWork& work : work_) words += work.partials.size() * k_.row_elements;
    return words;
  }

  std::size_t registers(DType dtype) const { return registers_of(k_, dtype, pairs_halves_); }

  /// Not those of which all rows, or stretches of a row, read the same: they are close at hand. But where the
  /// only row of a product is computed, nothing else is to be waited for.
  bool is_load_of_row(ir::ExprId id) const {
    const ir::Expr& expr = k_.exprs[id];
    if (expr.kind != ir::ExprKind::Load || expr.predicate != ir::kNone) return false;
    const std::vector<ir::IntRef>& strides = k_.maps[expr.map].steps.front().strides;
    const auto moves = [](const ir::IntRef& stride) { return !stride.is_zero(); };
    const bool is_own = std::any_of(strides.begin(), strides.begin() + k_.outer_rank, moves);
    return (is_own || (is_product_ && expr.level == ir::Level::Inner)) &&
           std::all_of(strides.begin() + k_.outer_rank, strides.end(), moves);
  }

  /// Coordinates, scalars in another dtype and what was 16 or 8 bits in memory cost next to nothing to
  /// compute again, and little what is made of coordinates and of the row's own values alone, such as a mask.
  bool is_worth_holding(ir::ExprId id) const {
    const ir::ExprKind kind = k_.exprs[id].kind;
    if (kind == ir::ExprKind::Elementwise && is_stored_float(k_.exprs[k_.exprs[id].args[0]].dtype))
      return false;
    if (kind == ir::ExprKind::Index || kind == ir::ExprKind::InBounds || kind == ir::ExprKind::Scalar)
      return false;
    return instructions_of(id, kFewInstructions) > kFewInstructions;
  }

  /// For one element of a row, without reductions in it and loads but of 16 or 8 bits; more than `most` where
  /// it has those or needs more.
  int instructions_of(ir::ExprId id, int most) const {
    const ir::Expr& expr = k_.exprs[id];
    if (expr.level == ir::Level::Outer || expr.kind == ir::ExprKind::Index) return 0;
    if (expr.kind != ir::ExprKind::Elementwise || info(expr.op).rule == DTypeRule::Float) return most + 1;
    int sum = 1;
    for (const ir::ExprId arg : expr.args)
      if (arg != ir::kNone && sum <= most && !(is_stored_float(k_.exprs[arg].dtype) && is_load_of_row(arg)))
        sum += instructions_of(arg, most - sum);
    return sum;
  }

  /// Compilers keep arrays that are filled under a condition apart for as long as the row lives, so what is
  /// no longer needed hands its array on. A phase reads an element's held values before it writes one, but a
  /// load fills a whole vector: its array must have been free before the phase.
  void share_slots(HeldRows& rows) const {
    std::vector<int> busy_until;  // by slot: the last phase that reads what it holds
    std::vector<ir::ExprId> order = rows.held;
    std::stable_sort(order.begin(), order.end(),
                     [&](ir::ExprId a, ir::ExprId b) { return first_[a] < first_[b]; });
    rows.slots.resize(rows.held.size());
    for (ir::ExprId id : order) {
      const DType dtype = k_.exprs[id].dtype;
      const int free_from = k_.exprs[id].kind == ir::ExprKind::Load ? first_[id] - 1 : first_[id];
      std::size_t slot = 0;
      while (slot < busy_until.size() && (busy_until[slot] > free_from || rows.slot_dtypes[slot] != dtype))
        ++slot;
      if (slot == busy_until.size()) {
        busy_until.push_back(kNever);
        rows.slot_dtypes.push_back(dtype);
      }
      busy_until[slot] = std::max(busy_until[slot], first_[id]);
      for (std::size_t p = 0; p < work_.size(); ++p)
        if (std::find(rows.taken[p].begin(), rows.taken[p].end(), id) != rows.taken[p].end())
          busy_until[slot] = static_cast<int>(p);
      rows.slots[static_cast<std::size_t>(std::find(rows.held.begin(), rows.held.end(), id) -
                                          rows.held.begin())] = slot;
    }
  }

  HeldRows everything_again() const {
    HeldRows rows;
    for (const InnerWork& work : work_) {
      rows.taken.emplace_back();
      rows.values.push_back(work.values);
    }
    rows.words = words_of_sums();
    return rows;
  }

  const ir::Kernel& k_;
  const std::vector<InnerWork>& work_;
  const bool pairs_halves_, is_product_;
  std::vector<int> first_;         // the first phase that computes a value
  std::vector<ir::ExprId> early_;  // loads that the first phase does for later ones
};

}  // namespace

bool HeldRows::have_room(const ir::Kernel& kernel, const std::vector<ir::ExprId>& loads) const {
  if (!any()) return false;  // there were none for what is to be held
  std::size_t needed = words;
  for (const ir::ExprId id : loads) needed += registers_of(kernel, kernel.exprs[id].dtype, pairs_halves);
  return needed <= most_registers(kernel);
}

HeldRows hold_rows(const ir::Kernel& kernel, const std::vector<InnerWork>& work, bool pairs_halves) {
  return Chooser(kernel, work, pairs_halves).run();
}

}  // namespace sinter::emit
