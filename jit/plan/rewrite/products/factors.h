// The factors of products that become contractions.
#pragma once

#include <array>
#include <optional>

#include "jit/ir/tiling.h"
#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// The factors of a product of the graph in the making that tensor cores can multiply: both of one 16-bit
/// dtype, of 8 bits, or of f32, which ordinary lanes multiply where it may not be rounded. What the graph
/// casts to f32 for a library op, they take as it was before; floats of 8 bits as floats of 16 bits, which
/// have all of their numbers, unless the program allows the sums of what is 8 bits (docs/numerics.md); i8 as
/// integers, whose sums are exact, where the device multiplies such and the sum has room, else likewise.
/// Nothing where `cores` multiply no such dtype, or lanes none that has to be exact.
struct Factors {
  std::array<NodeId, 2> nodes;
  /// Of f32: to tf32. Of 8 bits: the whole sum is added up by tensor cores, not only each slot of it.
  bool rounds = false;
};
std::optional<Factors> factors_of(Rewriter& to, const Node& product, const ir::TensorCores& cores);

/// The factors of a product as they are stored, in 16 or 8 bits; nothing where one of them is not.
std::optional<Factors> stored_factors(Rewriter& to, const Node& product);

/// Whether there are such factors as factors_of gives.
bool has_factors(const Graph& graph, const Node& product, const ir::TensorCores& cores);

struct ContractionForm {
  std::int64_t inlined = 0;  // a bit for each factor that kernels compute where they need it, instead of
                             // reading what was stored
  std::int64_t passed = 0;   // how many of the leading dims rows stand in front of in the result's shape
  ir::Tiling::Blocks blocks;
};

/// A sum over the last dim of `a` and the last but one of `b`, in f32.
NodeId contraction(Rewriter& to, const Factors& factors, NodeId a, NodeId b, const Shape& shape,
                   const ContractionForm& form = {});

}  // namespace sinter::plan
