// The factors of products that become contractions.
#pragma once

#include <array>
#include <optional>

#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// The factors of a product of the graph in the making that tensor cores can multiply: both of one 16-bit
/// dtype, or of f32 that may be rounded. What the graph casts to f32 for a library op, they take as it was
/// before. Nothing where the product has to be exact, or `cores` multiply no such dtype.
struct Factors {
  std::array<NodeId, 2> nodes;
  bool rounds = false;
};
std::optional<Factors> factors_of(Rewriter& to, const Node& product, const ir::TensorCores& cores);

/// Whether there are such factors.
bool has_factors(const Graph& graph, const Node& product, const ir::TensorCores& cores);

/// A sum over the last dim of `a` and the last but one of `b`, in f32. `inlined`: a bit for each factor that
/// its kernel computes where it needs it, instead of reading what was stored.
NodeId contraction(Rewriter& to, const Factors& factors, NodeId a, NodeId b, const Shape& shape,
                   std::int64_t inlined);

}  // namespace sinter::plan
