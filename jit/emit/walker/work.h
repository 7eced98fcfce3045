// Which expressions each phase of a kernel has to compute.
#pragma once

#include <vector>

#include "jit/ir/uses.h"

namespace sinter::emit {

/// What the inner loop of a phase does; of an elementwise kernel, what is done at its points.
struct InnerWork {
  std::vector<ir::ExprId> values;          // to be computed or loaded, operands first
  std::vector<const ir::Store*> stores;    // but those of Partials
  std::vector<const ir::Store*> partials;  // whose operands are taken into sums
  std::vector<ir::ExprId> reductions;
  bool empty() const { return stores.empty() && partials.empty() && reductions.empty(); }
};

/// The Inner values, stores and reductions of a phase; all there is when the kernel has no inner loops.
InnerWork work_of(const ir::Kernel& kernel, const std::vector<bool>& live, std::uint16_t phase);

/// The reductions that are finished when a phase begins.
std::vector<ir::ExprId> reductions_of(const ir::Kernel& kernel, const std::vector<bool>& live,
                                      std::uint16_t phase);

/// How many rounds of a loop that reduces are taken at once: their loads are under way together, and each
/// waits in registers for its `elements`. Fewer of much work, which all of them repeat in the text.
int rounds_together(const ir::Kernel& kernel, const InnerWork& work, int elements);

/// True iff a loop that only reduces is short enough to be written out for several rounds.
bool is_small_reduction(const InnerWork& work);

/// True iff such a loop takes little beside its loads: no function is called.
bool is_quick(const ir::Kernel& kernel, const InnerWork& work);

}  // namespace sinter::emit
