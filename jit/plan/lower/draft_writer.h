// Puts expressions into the draft of a kernel; knows what becomes of 16-bit floats.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/graph.h"
#include "jit/plan/lower/finish.h"

namespace sinter::plan {

class DraftWriter {
 public:
  DraftWriter(const Graph& graph, const LowerLimits& limits);
  DraftWriter(const DraftWriter&) = delete;  // tables look at `maps_`
  DraftWriter& operator=(const DraftWriter&) = delete;

 protected:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  /// A map on the way through views, or one that the kernel uses; one id for equal maps of which the same
  /// coordinates count.
  using MapId = std::uint32_t;
  MapId intern(IndexMap map);
  const IndexMap& index_map(MapId id) const { return maps_[id].map; }
  /// The map's number in the draft, which has it from now on. Equal maps share one.
  std::uint16_t number_of(MapId id) {
    const std::int32_t number = maps_[id].number;
    return number >= 0 ? static_cast<std::uint16_t>(number) : add_to_draft(id);
  }
  /// The number of an argument, which equal scalars of one dtype share.
  std::uint16_t scalar(ScalarRef number, DType dtype);
  /// The first of two arguments that follow each other.
  std::uint16_t scalar_pair(ScalarRef first, ScalarRef second, DType dtype);
  /// Throws Cut where there are too many.
  ir::ExprId add(ir::Expr expr, NodeId from);

  // Values of 16- and 8-bit floats. What is only copied stays as it was loaded; what is computed is f32, and
  // rounded by a store or a cast of the program.

  /// A value to compute with.
  ir::ExprId number(ir::ExprId value, NodeId from);
  /// The value itself where it is of `dtype`. Equal casts are one.
  ir::ExprId cast(ir::ExprId value, DType dtype, NodeId from);
  /// A program's cast: it rounds to few bits wherever it stands, but of products that are added up to one sum
  /// (jit/ir/products/terms.h).
  ir::ExprId cast_as_asked(ir::ExprId value, DType dtype, NodeId from);
  /// One dtype for the values that a Where chooses from: bits if all there is to choose from are bits and
  /// numbers of the program, else what can be computed with.
  void match(ir::ExprId& a, ir::ExprId& b, NodeId from);

  const Graph& graph_;
  const LowerLimits& limits_;
  Draft draft_;

 private:
  struct Interned {
    IndexMap map;
    std::size_t hash;
    std::int32_t number = -1;  // in the draft; -1: it is not there
  };
  struct Hash {
    const std::vector<Interned>* maps;
    std::size_t operator()(MapId id) const { return (*maps)[id].hash; }
  };
  struct Identical {
    const std::vector<Interned>* maps;
    bool operator()(MapId a, MapId b) const { return (*maps)[a].map.is_identical((*maps)[b].map); }
  };
  struct Equal {
    const std::vector<Interned>* maps;
    bool operator()(MapId a, MapId b) const { return (*maps)[a].map == (*maps)[b].map; }
  };
  std::uint16_t add_to_draft(MapId id);

  std::vector<Interned> maps_;
  absl::flat_hash_set<MapId, Hash, Identical> ids_;  // of all maps
  absl::flat_hash_set<MapId, Hash, Equal> drafted_;  // of those in the draft, each once
  std::map<std::pair<ScalarRef, DType>, std::uint16_t> scalar_of_;
  std::map<std::tuple<ScalarRef, ScalarRef, DType>, std::uint16_t> scalar_pair_of_;
  std::map<std::pair<ir::ExprId, DType>, ir::ExprId> cast_of_;
};

}  // namespace sinter::plan
