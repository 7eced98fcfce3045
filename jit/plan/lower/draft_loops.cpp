// Loops and maps of a draft, before it becomes kernel IR.
#include "jit/plan/lower/draft_loops.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sinter::plan {
namespace {

void erase_loop(Draft& draft, std::size_t k) {
  draft.extents.erase(draft.extents.begin() + static_cast<std::ptrdiff_t>(k));
  for (IndexMap& map : draft.maps) {
    MapStep& first = map.loops();
    first.extents.erase(first.extents.begin() + static_cast<std::ptrdiff_t>(k));
    first.strides.erase(first.strides.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (k < draft.outer_rank) --draft.outer_rank;
}

// Points along the first inner loop that leave enough to share.
constexpr std::int64_t kEnoughToShare = 256;

// Neighbours that a lane stores at once, at most.
constexpr std::int64_t kMostStored = 8;
// Longer loops are transposed by tiles.
constexpr std::int64_t kLeastTransposed = 16;

/// True iff an operand lies along loop k, then along the last one: a weight's elements of a filter, where its
/// channels become the last dim.
bool lies_across_last(const Draft& draft, std::size_t k) {
  const std::size_t last = draft.extents.size() - 1;
  return std::any_of(draft.exprs.begin(), draft.exprs.end(), [&](const ir::Expr& expr) {
    if (expr.kind != ir::ExprKind::Load || !draft.maps[expr.map].is_affine()) return false;
    const MapStep::Numbers& strides = draft.maps[expr.map].loops().strides;
    return std::abs(strides[k]) == 1 && strides[last] == draft.extents[k];
  });
}

}  // namespace

bool has_map(const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::Load:
    case ir::ExprKind::LoadAt:
    case ir::ExprKind::Row:
    case ir::ExprKind::Index:
    case ir::ExprKind::InBounds:
    case ir::ExprKind::Random:
    case ir::ExprKind::RandomNormal: return true;
    default: return false;
  }
}

bool divides_from(const Draft& draft, std::size_t first) {
  return std::any_of(
      draft.exprs.begin() + static_cast<std::ptrdiff_t>(first), draft.exprs.end(),
      [&](const ir::Expr& expr) { return has_map(expr) && !draft.maps[expr.map].is_affine(); });
}

void drop_unused_maps(Draft& draft) {
  std::vector<int> number_of(draft.maps.size(), -1);
  std::vector<IndexMap> used;
  auto renumber = [&](std::uint16_t& map) {
    if (number_of[map] < 0) {
      number_of[map] = static_cast<int>(used.size());
      used.push_back(draft.maps[map]);
    }
    map = static_cast<std::uint16_t>(number_of[map]);
  };
  for (ir::Expr& expr : draft.exprs)
    if (has_map(expr)) renumber(expr.map);
  for (DraftStore& store : draft.stores) renumber(store.map);
  draft.maps = std::move(used);
}

void place_digits(Draft& draft) {
  std::vector<IndexMap> quotients;
  std::vector<std::pair<IndexMap, std::int64_t>> known;  // number and divisor of each
  const auto number_of = [&](const auto& self, const IndexMap& number, std::int64_t by) -> std::uint16_t {
    const auto at = std::find(known.begin(), known.end(), std::make_pair(number, by));
    if (at != known.end()) return static_cast<std::uint16_t>(at - known.begin());
    IndexMap quotient = number;
    quotient.divide(by);
    quotient.place([&](const IndexMap& inner, std::int64_t of) { return self(self, inner, of); });
    quotients.push_back(std::move(quotient));
    known.emplace_back(number, by);
    return static_cast<std::uint16_t>(known.size() - 1);
  };
  for (IndexMap& map : draft.maps)
    map.place([&](const IndexMap& number, std::int64_t by) { return number_of(number_of, number, by); });
  if (quotients.empty()) return;
  const auto more = static_cast<std::uint16_t>(quotients.size());
  draft.maps.insert(draft.maps.begin(), quotients.begin(), quotients.end());
  for (ir::Expr& expr : draft.exprs)
    if (has_map(expr)) expr.map = static_cast<std::uint16_t>(expr.map + more);
  for (DraftStore& store : draft.stores) store.map = static_cast<std::uint16_t>(store.map + more);
}

void join_loops(Draft& draft) {
  for (IndexMap& map : draft.maps)
    for (std::size_t k = 0; k < draft.extents.size(); ++k)
      if (draft.extents[k] == 1) map.loops().strides[k] = 0;
  for (std::size_t k = draft.extents.size(); k-- > 0;)
    if (draft.extents[k] == 1) erase_loop(draft, k);
  for (std::size_t k = draft.extents.size(); k-- > 1;) {
    if (k == draft.outer_rank) continue;
    const bool joins = std::all_of(draft.maps.begin(), draft.maps.end(), [&](const IndexMap& map) {
      const MapStep& first = map.loops();
      return first.strides[k - 1] == first.strides[k] * draft.extents[k];
    });
    if (!joins) continue;
    draft.extents[k] *= draft.extents[k - 1];
    for (IndexMap& map : draft.maps) map.loops().extents[k] = draft.extents[k];
    erase_loop(draft, k - 1);
  }
  // Every kernel has an outer loop, and one with a reduction has an inner one.
  auto insert_loop = [&](std::size_t k) {
    draft.extents.insert(draft.extents.begin() + static_cast<std::ptrdiff_t>(k), 1);
    for (IndexMap& map : draft.maps) {
      MapStep& first = map.loops();
      first.extents.insert(first.extents.begin() + static_cast<std::ptrdiff_t>(k), 1);
      first.strides.insert(first.strides.begin() + static_cast<std::ptrdiff_t>(k), 0);
    }
  };
  if (draft.outer_rank == 0) {
    insert_loop(0);
    draft.outer_rank = 1;
  }
  if (draft.has_reduction && draft.extents.size() == draft.outer_rank) insert_loop(draft.extents.size());
}

void put_long_loop_first(Draft& draft) {
  const std::size_t first = draft.outer_rank, last = draft.extents.size() - 1;
  if (!draft.has_reduction || draft.contracts || last <= first || draft.extents[first] >= kEnoughToShare)
    return;
  bool along_outer = false;
  for (const IndexMap& map : draft.maps) {
    const MapStep::Numbers& strides = map.loops().strides;
    for (std::size_t k = first; k <= last; ++k)
      if (std::abs(strides[k]) == 1) return;
    along_outer |= strides[first - 1] == 1;
  }
  const auto begin = draft.extents.begin() + static_cast<std::ptrdiff_t>(first);
  const auto longest =
      static_cast<std::size_t>(std::max_element(begin, draft.extents.end()) - draft.extents.begin());
  if (!along_outer || longest == first) return;
  std::swap(draft.extents[first], draft.extents[longest]);
  for (IndexMap& map : draft.maps) {
    MapStep& step = map.loops();
    std::swap(step.extents[first], step.extents[longest]);
    std::swap(step.strides[first], step.strides[longest]);
  }
}

void bring_short_loop_near(Draft& draft) {
  const std::size_t rank = draft.extents.size();
  if (draft.has_reduction || rank < 2) return;
  const std::size_t last = rank - 1;
  const std::int64_t length = draft.extents[last];
  if (length % kMostStored != 0 || length < kLeastTransposed) return;
  for (std::size_t k = 0; k < last; ++k) {
    if (draft.extents[k] < 2 || draft.extents[k] >= kLeastTransposed || !lies_across_last(draft, k)) continue;
    const auto cut = [&](auto& numbers, auto outer, auto inner) {
      const auto moved = numbers[k];
      numbers.back() = outer;
      numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(k));
      numbers.push_back(moved);
      numbers.push_back(inner);
    };
    cut(draft.extents, length / kMostStored, kMostStored);
    for (IndexMap& map : draft.maps) {
      MapStep& loops = map.loops();
      const std::int64_t stride = loops.strides[last];
      cut(loops.strides, stride * kMostStored, stride);
      loops.extents.assign(draft.extents.begin(), draft.extents.end());
    }
    draft.outer_rank = draft.extents.size();
    return;
  }
}

}  // namespace sinter::plan
