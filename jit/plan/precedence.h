// Which of many kernels run before which, while some of them are joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sinter::plan {

/// A directed graph without circles whose vertices are joined one by one, each time only if no circle closes.
/// Keeps its vertices in an order in which all edges lead onwards, so that a search for a way between two of
/// them never leaves the stretch between them (Pearce and Kelly, A dynamic topological sort algorithm for
/// directed acyclic graphs, 2006). The search is bounded too: programs of any length are planned in linear
/// time.
class Precedence {
 public:
  using Vertex = std::uint32_t;

  /// `order`: all vertices, once each, so that every edge leads onwards in it.
  explicit Precedence(std::span<const Vertex> order);
  /// To be called before anything is joined. Any number of times for the same edge.
  void add_edge(Vertex from, Vertex to);

  /// The vertex that `v` has become part of: itself, where it was not joined.
  Vertex find(Vertex v) const;

  /// True iff `a` and `b`, two vertices that `find` returns, can become one: no way leads from one to the
  /// other by way of a third. False too where so many vertices lie on the ways that it would take long to
  /// tell.
  bool may_join(Vertex a, Vertex b);
  /// The same for vertices between which no edge may be either.
  bool are_independent(Vertex a, Vertex b);
  /// Joins the two of which `may_join` or `are_independent` has just said true. Both are `into` afterwards,
  /// which is one of them.
  void join(Vertex other, Vertex into);

 private:
  enum class Way : std::uint8_t { Onwards, Back };
  enum class Found : std::uint8_t { Way, NoWay, Unknown };

  const std::vector<Vertex>& edges(Way way, Vertex v) const { return edges_[way == Way::Back][v]; }
  Found search(Way way, Vertex from, Vertex to, bool direct_is_one);
  bool separate(Vertex a, Vertex b, bool direct_is_one);
  void take_out(Vertex v);
  void put_behind(Vertex anchor, std::span<const Vertex> vertices);
  void space_out();

  std::vector<std::vector<Vertex>> edges_[2];  // [0] onwards, [1] back; ends may have been joined
  mutable std::vector<Vertex> part_of_;
  // The order: a ring through `head_`, and numbers that grow along it.
  Vertex head_;
  std::vector<Vertex> next_, before_;
  std::vector<std::uint64_t> place_;

  // Of the last search.
  std::vector<std::uint32_t> seen_;  // the number of the search that has seen the vertex
  std::uint32_t searches_ = 0;
  std::vector<Vertex> between_;  // vertices that must not stay between the two
  Way way_ = Way::Onwards;       // behind the later of the two they may go, or before the earlier
  Vertex earlier_ = 0, later_ = 0;
};

}  // namespace sinter::plan
