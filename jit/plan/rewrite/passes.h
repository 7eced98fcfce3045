// The passes over the graph. A pass is a function in a file of this folder and a row in the list of
// passes.cpp; docs/adding-a-pass.md walks through one.
#pragma once

#include <span>
#include <string_view>

#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

struct Pass {
  std::string_view name;
  void (*run)(Graph& graph, const ir::DeviceTraits& traits);
  bool (*wanted)(const ir::DeviceTraits& traits, const PlanOptions& options);
};

/// All passes, in the order in which they run.
std::span<const Pass> passes();

/// Nodes that compute the same thing become one; what no result needs is left out.
void simplify(Graph& graph, const ir::DeviceTraits& traits);

/// Images that convolutions hand each other, directly or through elementwise work, lie with their channels
/// last in memory, where that saves the convolutions at least two transposes of an image. What such an image
/// is to others is a view of it.
void choose_layouts(Graph& graph, const ir::DeviceTraits& traits);

/// (AB)^T is computed directly where only the transpose is read.
void transpose_products(Graph& graph, const ir::DeviceTraits& traits);

/// Matrix products of 16-bit floats become contractions, which the planner makes kernels of, where the device
/// has tensor cores.
void contract_products(Graph& graph, const ir::DeviceTraits& traits);

/// Reductions with too few results to keep the device busy become two, one after the other.
void split_reductions(Graph& graph, const ir::DeviceTraits& traits);

/// Variances of much data take one pass over it, by Welford's method, and not one for the mean and one for
/// the squared differences.
void use_welford(Graph& graph, const ir::DeviceTraits& traits);

}  // namespace sinter::plan
