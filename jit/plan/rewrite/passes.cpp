// The list of passes.
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

using ir::DeviceTraits;

constexpr Pass kPasses[] = {
    {"simplify", [](const DeviceTraits&, const PlanOptions&) { return true; }, simplify},
    {"choose_layouts",
     [](const DeviceTraits& traits, const PlanOptions& options) {
       return traits.channels_last && options.fusion;
     },
     choose_layouts},
    {"transpose_products", [](const DeviceTraits&, const PlanOptions& options) { return options.fusion; },
     transpose_products},
    {"split_reductions",
     [](const DeviceTraits& traits, const PlanOptions&) { return !traits.grid_reductions; },
     split_reductions},
    {"use_welford",
     [](const DeviceTraits& traits, const PlanOptions& options) {
       return traits.grid_reductions && options.fusion;
     },
     use_welford},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

}  // namespace sinter::plan
