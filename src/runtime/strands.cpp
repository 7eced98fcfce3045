#include "src/runtime/strands.h"

#include "jit/plan/plan.h"

namespace sinter::runtime {

std::unique_ptr<const Strands> strands_of(const plan::Plan& plan, std::span<const ExecutableRef> executables,
                                          std::size_t most) {
  auto strands = std::make_unique<Strands>();
  strands->order = plan::launch_order(plan, most);
  if (strands->order.strand_count == 1) return nullptr;
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    strands->workspaces.need(strands->order.strands[i], executables[i]->workspace_bytes(
                                                            plan.launches[i].ints, plan.launches[i].members));
  return strands;
}

}  // namespace sinter::runtime
