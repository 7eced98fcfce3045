// Puts expressions into the draft of a kernel; knows what becomes of 16-bit floats.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/graph.h"
#include "jit/plan/lower/finish.h"

namespace sinter::plan {

class DraftWriter {
 public:
  DraftWriter(const Graph& graph, const LowerLimits& limits) : graph_(graph), limits_(limits) {}

 protected:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  /// A map on the way through views, or one that the kernel uses; one id for equal maps of which the same
  /// coordinates count.
  using MapId = std::uint32_t;
  MapId intern(IndexMap map);
  const IndexMap& index_map(MapId id) const { return maps_[id]; }
  /// The map's number in the draft, which has it from now on. Equal maps share one.
  std::uint16_t number_of(MapId id);
  /// The number of an argument, which equal scalars of one dtype share.
  std::uint16_t scalar(ScalarRef number, DType dtype);
  /// The first of two arguments that follow each other.
  std::uint16_t scalar_pair(ScalarRef first, ScalarRef second, DType dtype);
  /// Throws Cut where there are too many.
  ir::ExprId add(ir::Expr expr, NodeId from);

  // Values of bf16 and f16. What is only copied stays as it was loaded; what is computed is f32, and rounded
  // by a store or a cast of the program.

  /// A value to compute with.
  ir::ExprId number(ir::ExprId value, NodeId from);
  /// The value itself where it is of `dtype`. Equal casts are one.
  ir::ExprId cast(ir::ExprId value, DType dtype, NodeId from);
  /// A program's cast: it rounds to 16 bits wherever it stands.
  ir::ExprId cast_as_asked(ir::ExprId value, DType dtype, NodeId from);
  /// One dtype for the values that a Where chooses from: bits if all there is to choose from are bits and
  /// numbers of the program, else what can be computed with.
  void match(ir::ExprId& a, ir::ExprId& b, NodeId from);

  const Graph& graph_;
  const LowerLimits& limits_;
  Draft draft_;

 private:
  struct Identical {
    bool operator()(const IndexMap& a, const IndexMap& b) const { return a.is_identical(b); }
  };
  absl::flat_hash_map<IndexMap, MapId, absl::Hash<IndexMap>, Identical> id_of_;
  absl::flat_hash_map<IndexMap, std::uint16_t> number_of_equal_;
  std::vector<IndexMap> maps_;
  std::vector<std::int32_t> number_of_map_;  // in the draft; -1: it is not there
  std::map<std::pair<ScalarRef, DType>, std::uint16_t> scalar_of_;
  std::map<std::tuple<ScalarRef, ScalarRef, DType>, std::uint16_t> scalar_pair_of_;
  std::map<std::pair<ir::ExprId, DType>, ir::ExprId> cast_of_;
};

}  // namespace sinter::plan
