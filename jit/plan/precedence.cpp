// Searches that stay between two vertices, and an order that is mended when they are joined.
#include "jit/plan/precedence.h"

#include <algorithm>
#include <cassert>

namespace sinter::plan {
namespace {

// Edges that a search looks at. Kernels that are worth joining are close to each other, or one of them has
// few neighbours on its side.
constexpr std::size_t kMostEdges = 512;

constexpr std::uint64_t kSpace = std::uint64_t{1} << 32;  // between the places of neighbours

}  // namespace

Precedence::Precedence(std::span<const Vertex> order)
    : edges_{std::vector<std::vector<Vertex>>(order.size()), std::vector<std::vector<Vertex>>(order.size())},
      part_of_(order.size()),
      head_(static_cast<Vertex>(order.size())),
      next_(order.size() + 1),
      before_(order.size() + 1),
      place_(order.size() + 1),
      seen_(order.size(), 0) {
  for (Vertex v = 0; v < order.size(); ++v) part_of_[v] = v;
  Vertex last = head_;
  for (const Vertex v : order) {
    next_[last] = v;
    before_[v] = last;
    last = v;
  }
  next_[last] = head_;
  before_[head_] = last;
  space_out();
}

/// Numbers the vertices anew along the order.
void Precedence::space_out() {
  std::uint64_t place = 0;
  place_[head_] = 0;
  for (Vertex v = next_[head_]; v != head_; v = next_[v]) place_[v] = place += kSpace;
}

void Precedence::add_edge(Vertex from, Vertex to) {
  assert(place_[from] < place_[to]);
  edges_[0][from].push_back(to);
  edges_[1][to].push_back(from);
}

Precedence::Vertex Precedence::find(Vertex v) const {
  while (part_of_[v] != v) v = part_of_[v] = part_of_[part_of_[v]];
  return v;
}

bool Precedence::may_join(Vertex a, Vertex b) { return separate(a, b, false); }
bool Precedence::are_independent(Vertex a, Vertex b) { return separate(a, b, true); }

/// Looks for a way from one to the other, from both ends.
bool Precedence::separate(Vertex a, Vertex b, bool direct_is_one) {
  earlier_ = place_[a] < place_[b] ? a : b;
  later_ = earlier_ == a ? b : a;
  for (const Way way : {Way::Onwards, Way::Back}) {
    const bool onwards = way == Way::Onwards;
    way_ = way;
    const Found found = search(way, onwards ? earlier_ : later_, onwards ? later_ : earlier_, direct_is_one);
    if (found != Found::Unknown) return found == Found::NoWay;
  }
  return false;
}

/// Collects in `between_` what is reached from `from` before `to`.
Precedence::Found Precedence::search(Way way, Vertex from, Vertex to, bool direct_is_one) {
  const bool onwards = way == Way::Onwards;
  ++searches_;
  between_.clear();
  std::size_t looked_at = 0;
  bool found = false;
  const auto look = [&](Vertex at) {
    for (const Vertex end : edges(way, at)) {
      if (++looked_at > kMostEdges) return false;
      const Vertex v = find(end);
      if (v == to) {
        found |= at != from || direct_is_one;
        continue;
      }
      if (onwards ? place_[v] > place_[to] : place_[v] < place_[to]) continue;
      if (v == from || seen_[v] == searches_) continue;
      seen_[v] = searches_;
      between_.push_back(v);
    }
    return !found;
  };
  if (!look(from)) return found ? Found::Way : Found::Unknown;
  for (std::size_t i = 0; i < between_.size(); ++i)
    if (!look(between_[i])) return found ? Found::Way : Found::Unknown;
  return Found::NoWay;
}

void Precedence::take_out(Vertex v) {
  next_[before_[v]] = next_[v];
  before_[next_[v]] = before_[v];
}

/// Moves vertices to the places behind `anchor`, in their order.
void Precedence::put_behind(Vertex anchor, std::span<const Vertex> vertices) {
  if (vertices.empty()) return;
  for (const Vertex v : vertices) take_out(v);
  const Vertex after = next_[anchor];
  Vertex last = anchor;
  for (const Vertex v : vertices) {
    next_[last] = v;
    before_[v] = last;
    last = v;
  }
  next_[last] = after;
  before_[after] = last;
  const std::uint64_t begin = place_[anchor],
                      end = after == head_ ? begin + (vertices.size() + 1) * kSpace : place_[after];
  const std::uint64_t step = (end - begin) / (vertices.size() + 1);
  if (step == 0 || end < begin) return space_out();
  for (std::size_t i = 0; i < vertices.size(); ++i) place_[vertices[i]] = begin + (i + 1) * step;
}

void Precedence::join(Vertex other, Vertex into) {
  // What comes after the earlier one makes way behind the later one; or what the later one waits for, before
  // the earlier one.
  std::sort(between_.begin(), between_.end(), [&](Vertex a, Vertex b) { return place_[a] < place_[b]; });
  const bool onwards = way_ == Way::Onwards;
  const Vertex joined[] = {into};
  const Vertex stays = onwards ? later_ : earlier_;  // whose place the two get
  if (stays != into) put_behind(stays, joined);
  take_out(other);
  put_behind(onwards ? into : before_[into], between_);
  between_.clear();

  part_of_[other] = into;
  // Without those between the two, and each once.
  for (std::vector<std::vector<Vertex>>& edges : edges_) {
    std::vector<Vertex>&own = edges[into], &more = edges[other];
    own.insert(own.end(), more.begin(), more.end());
    more = {};
    ++searches_;
    std::size_t kept = 0;
    for (const Vertex end : own)
      if (const Vertex v = find(end); v != into && seen_[v] != searches_) {
        seen_[v] = searches_;
        own[kept++] = v;
      }
    own.resize(kept);
  }
}

}  // namespace sinter::plan
