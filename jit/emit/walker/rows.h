// Which values of a row the lanes of a workgroup hold in registers from one phase of a kernel to the next.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "jit/emit/walker/work.h"

namespace sinter::emit {

/// Held values, and what each phase still computes when they are at hand.
struct HeldRows {
  std::vector<ir::ExprId> held;  // all of them
  std::vector<std::size_t>
      slots;  // of each held value: which registers; those of a value no longer needed serve another
  std::vector<DType> slot_dtypes;
  std::string owner;      // "a." where the arrays are members of `a`
  std::size_t words = 0;  // of 32 bits, that a lane holds, sums of columns included
  bool pairs_halves = false;
  std::map<ir::ExprId, std::string> elsewhere;  // of held values that lie in no slot: where vector `i` is
  std::vector<std::vector<ir::ExprId>> taken;   // by phase: held since an earlier phase
  std::vector<std::vector<ir::ExprId>> values;  // by phase: computed or loaded in it, operands first

  bool any() const { return !held.empty(); }
  /// True iff a lane has registers for its elements of these, too.
  bool have_room(const ir::Kernel& kernel, const std::vector<ir::ExprId>& loads) const;
  bool is_held(ir::ExprId id) const { return std::find(held.begin(), held.end(), id) != held.end(); }
  bool has(ir::ExprId id) const { return elsewhere.contains(id) || is_held(id); }
  static std::string slot(std::size_t number) { return "h" + std::to_string(number); }
  /// Where vector `i` of a held value is.
  std::string place(ir::ExprId id) const {
    const auto found = elsewhere.find(id);
    return found != elsewhere.end() ? found->second : name(id) + "[i]";
  }
  /// The array of a held value.
  std::string name(ir::ExprId id) const {
    return owner +
           slot(slots[static_cast<std::size_t>(std::find(held.begin(), held.end(), id) - held.begin())]);
  }
};

/// Chooses for a kernel with Kernel::row_elements. `work` is that of each phase; nothing is held when it
/// would take more registers than a lane has. `pairs_halves`: Dialect::pairs_halves.
HeldRows hold_rows(const ir::Kernel& kernel, const std::vector<InnerWork>& work, bool pairs_halves);

}  // namespace sinter::emit
