// Adds up the lists of a plan.
#include "jit/plan/held_bytes.h"

#include "jit/ir/held_bytes.h"

namespace sinter::plan {
namespace {

// A library op is a struct of sizes, strides and dtypes.
constexpr std::size_t kLibraryOp = 512;

}  // namespace

std::size_t held_bytes(const Plan& plan) {
  using ir::held_bytes;
  std::size_t bytes = held_bytes(plan.kernels) + held_bytes(plan.launches) + held_bytes(plan.output_bytes) +
                      held_bytes(plan.placements) + held_bytes(plan.held) + held_bytes(plan.unstored) +
                      held_bytes(plan.constants) + plan.origins.held_bytes() + held_bytes(plan.arena_bytes) +
                      held_bytes(plan.cuts) + held_bytes(plan.shapes) + held_bytes(plan.arguments->buffers) +
                      held_bytes(plan.arguments->ints);
  // Plans of other sizes have parts of what they share.
  std::size_t shared = held_bytes(plan.structure->scalars) + held_bytes(plan.structure->records) +
                       held_bytes(plan.structure->uses) + held_bytes(plan.structure->values) +
                       held_bytes(plan.structure->joins);
  for (const JoinedValue& joined : plan.structure->joins) shared += held_bytes(joined.parts);
  bytes += shared / static_cast<std::size_t>(plan.structure.use_count());
  for (const PlanKernel& kernel : plan.kernels)
    bytes += (sizeof(ir::Kernel) + held_bytes(*kernel) + held_bytes(kernel.text())) /
             static_cast<std::size_t>(kernel.owners());
  for (const Launch& launch : plan.launches) {
    bytes +=
        held_bytes(launch.moving_ints) + held_bytes(launch.moving_parts) + held_bytes(launch.moving_bytes);
    for (const MovingParts& parts : launch.moving_parts) bytes += parts.held_bytes();
    if (launch.reads) bytes += kLibraryOp + held_bytes(*launch.reads);
  }
  for (const trace::Unstored& value : plan.unstored) bytes += held_bytes(value.ops);
  for (const PlanCut& cut : plan.cuts) bytes += held_bytes(cut.reason);
  return bytes;
}

}  // namespace sinter::plan
