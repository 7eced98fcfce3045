// Held values that are not stored: keep or compute, for what somebody holds and nobody has asked for.
#pragma once

#include <vector>

#include "jit/plan/graph.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// What becomes of the held values of a trace.
struct KeepOrCompute {
  std::vector<HeldValue> held;            // in the order of the program
  std::vector<trace::Unstored> unstored;  // those of them that are recipes
};

/// Stores what is asked for, and what is dearer to compute later than to store. Everything else becomes a
/// recipe, a few operations that
///   - give the same bits in whatever kernel they land: elementwise ones, views, pads and random numbers;
///   - read values that live anyway: inputs that do not die here, and results that are stored. A result that
///     is small beside the value is stored for it: for x - x.mean(1), the mean;
///   - keep no more memory alive than the value would take, and an eighth, whatever goes meanwhile;
///   - take no longer than to write the value now and to read it then.
/// What a recipe that was kept before gave is stored if it is still held: it is in use. So a value is
/// computed again once, and recipes do not grow from trace to trace.
///
/// Takes the results that are not stored out of the graph, and adds the small ones. Reductions that recipes
/// read are marked (Result::feeds_recipe): their kernels add up in the order in which those would that store
/// the value, too.
KeepOrCompute keep_or_compute(Graph& graph, const ir::DeviceTraits& traits, const PlanOptions& options);

}  // namespace sinter::plan
