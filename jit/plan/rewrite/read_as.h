// As what a node is read.
#pragma once

#include <optional>
#include <vector>

#include "jit/plan/graph.h"

namespace sinter::plan {

enum class Readers { Direct, BehindViews };

/// For each node that is no result, and is read by nothing but casts to one dtype of 16-bit floats, that
/// dtype: directly, or as views of it too.
std::vector<std::optional<DType>> read_as_halves(const Graph& graph, Readers readers);

}  // namespace sinter::plan
