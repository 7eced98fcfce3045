// Reads what is in memory while a group is lowered: through views, at the places of the kernel's loops.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/draft_writer.h"
#include "jit/plan/lower/lower.h"
#include "jit/plan/lower/word_hash.h"

namespace sinter::plan {

class MemoryReader : public DraftWriter {
 public:
  MemoryReader(const Graph& graph, const Owners& owners, GroupId id, const LowerLimits& limits)
      : DraftWriter(graph, limits), owners_(owners), id_(id) {}

 protected:
  /// The number of a node's buffer, which the kernel reads or writes.
  std::uint16_t buffer(NodeId id, bool read);

  /// A node under a map.
  struct Place {
    NodeId id;
    MapId map;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// What a node is under a map of the draft, where the predicate holds.
  struct Value {
    NodeId id;
    std::uint16_t map;
    ir::ExprId predicate;
    friend bool operator==(const Value&, const Value&) = default;
  };
  struct HashOfValue {
    std::size_t operator()(const Value& value) const {
      return WordHash().add(std::uint64_t{value.id} << 16 | value.map).add(value.predicate).result();
    }
  };
  /// Views that are not stored only change the map.
  Place below_views(NodeId id, MapId map);
  /// Where an external value lies.
  MapId in_memory(NodeId id, MapId map);
  bool is_loaded(NodeId id) const;
  /// Throws Cut where a product reads many times what this kernel would compute.
  void require_factors(const Node& product) const;

  ir::ExprId load(NodeId id, MapId place, ir::ExprId predicate);
  /// Whether a predicate tests a coordinate that decides what is read. If not, the same is read whatever
  /// comes of the test: the scale of a channel, where rows and columns of an image are framed.
  bool is_decided_by(ir::ExprId predicate, MapId place) const;
  /// Whether a node has an element wherever the loop is, in predicates and outside.
  bool stays_within(NodeId id, MapId place) const;
  /// At a point of `points`, the vector along dim `along` of a factor in memory that is at the point's place
  /// in the dims before the last two, and along `own` where the point is along its dim `at`.
  ir::ExprId row(NodeId factor, MapId map, const Shape& points, std::size_t at, std::size_t own,
                 std::size_t along);

  const Owners& owners_;
  const GroupId id_;

 private:
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const {
      return WordHash().add(place.id).add(place.map).result();
    }
  };
  absl::flat_hash_map<Place, Place, HashOfPlace> below_;  // what views and memory make of a place
  std::map<std::tuple<NodeId, std::uint16_t, std::int64_t, std::int64_t>, ir::ExprId> row_of_;
};

}  // namespace sinter::plan
