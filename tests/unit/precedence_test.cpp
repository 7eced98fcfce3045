// Random graphs whose vertices are joined: what Precedence says, against a search of the whole graph.
#include "jit/plan/precedence.h"

#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using sinter::plan::Precedence;

namespace {

using Vertex = Precedence::Vertex;

/// The same by brute force.
struct Plain {
  explicit Plain(std::size_t n) : part(n), edge(n, std::vector<bool>(n)) {
    std::iota(part.begin(), part.end(), Vertex{0});
  }
  bool direct(Vertex a, Vertex b) const {
    for (Vertex v = 0; v < part.size(); ++v)
      for (Vertex w = 0; w < part.size(); ++w)
        if (edge[v][w] && part[v] == a && part[w] == b) return true;
    return false;
  }
  /// A way of at least `least` edges; the vertices between are others than the two.
  bool way(Vertex a, Vertex b, bool direct_too) const {
    if (direct_too && direct(a, b)) return true;
    std::vector<bool> seen(part.size());
    std::vector<Vertex> todo;
    const auto look = [&](Vertex at) {
      for (Vertex v = 0; v < part.size(); ++v)
        for (Vertex w = 0; w < part.size(); ++w) {
          if (!edge[v][w] || part[v] != at || part[w] == at) continue;
          if (part[w] == b) {
            if (at != a) return true;
          } else if (!seen[part[w]]) {
            seen[part[w]] = true;
            todo.push_back(part[w]);
          }
        }
      return false;
    };
    if (look(a)) return true;
    while (!todo.empty()) {
      const Vertex at = todo.back();
      todo.pop_back();
      if (look(at)) return true;
    }
    return false;
  }
  void join(Vertex other, Vertex into) {
    for (Vertex& p : part)
      if (p == other) p = into;
  }

  std::vector<Vertex> part;
  std::vector<std::vector<bool>> edge;
};

}  // namespace

TEST_CASE("vertices of random graphs are joined where no circle closes") {
  std::mt19937 random(3);
  int joined = 0, refused = 0;
  for (int round = 0; round < 200; ++round) {
    const Vertex n = 2 + random() % 14;
    std::vector<Vertex> order(n);
    std::iota(order.begin(), order.end(), Vertex{0});
    std::shuffle(order.begin(), order.end(), random);
    Precedence precedence(order);
    Plain plain(n);
    const unsigned density = 2 + random() % 6;
    for (Vertex i = 0; i < n; ++i)
      for (Vertex j = i + 1; j < n; ++j)
        if (random() % density == 0) {
          precedence.add_edge(order[i], order[j]);
          if (random() % 4 == 0) precedence.add_edge(order[i], order[j]);
          plain.edge[order[i]][order[j]] = true;
        }
    for (int tries = 0; tries < 60; ++tries) {
      const Vertex a = plain.part[random() % n], b = plain.part[random() % n];
      if (a == b) continue;
      const bool direct_is_one = random() % 2 == 0;
      const bool expected = !plain.way(a, b, direct_is_one) && !plain.way(b, a, direct_is_one);
      const bool said = direct_is_one ? precedence.are_independent(a, b) : precedence.may_join(a, b);
      REQUIRE(said == expected);
      ++(said ? joined : refused);
      if (!said || random() % 3 == 0) continue;
      precedence.join(a, b);
      plain.join(a, b);
      for (Vertex v = 0; v < n; ++v) REQUIRE(precedence.find(v) == plain.part[v]);
    }
  }
  CHECK(joined > 500);
  CHECK(refused > 500);
}

TEST_CASE("what would take long to tell is not joined") {
  // One vertex that leads to thousands, all of which lead to another.
  constexpr Vertex kMany = 5000;
  std::vector<Vertex> order(kMany + 2);
  std::iota(order.begin(), order.end(), Vertex{0});
  Precedence precedence(order);
  for (Vertex v = 1; v <= kMany; ++v) precedence.add_edge(0, v);
  precedence.add_edge(0, kMany + 1);
  CHECK(precedence.may_join(0, kMany + 1));  // seen from its end
  for (Vertex v = 1; v < kMany; ++v) precedence.add_edge(v, v + 1);
  CHECK(!precedence.may_join(1, kMany));
  // A chain becomes one vertex, link by link, from either end.
  for (Vertex v = kMany; v > 1; --v) {
    const Vertex whole = precedence.find(kMany), next = v - 1;
    REQUIRE(precedence.may_join(next, whole));
    precedence.join(v % 2 ? next : whole, v % 2 ? whole : next);
  }
  CHECK(precedence.find(1) == precedence.find(kMany));
}
