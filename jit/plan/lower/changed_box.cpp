// Finds boxes behind selects, and moves a draft's loops to where they begin.
#include "jit/plan/lower/changed_box.h"

#include <algorithm>
#include <span>

#include <absl/container/flat_hash_set.h>

namespace sinter::plan {
namespace {

/// The coordinates of one loop that count: first + step * [0, count).
struct Side {
  std::int64_t first = 0, step = 1, count = 0;
  MovingParts moving{};  // of `first`
  friend bool operator==(const Side&, const Side&) = default;
};
using Box = std::vector<Side>;  // one for each loop

Box all_points(const Draft& draft) {
  Box box;
  for (const std::int64_t extent : draft.extents) box.push_back({0, 1, extent, {}});
  return box;
}

/// The coordinates of several loops, of which each goes on where the next one ends, whose number lies on the
/// grid of `dim`. False where they are no box.
bool narrow(const DraftBounds::Dim& dim, std::span<const std::size_t> loops, const Draft& draft, Box& box) {
  std::int64_t unit = 1;  // steps of the number for one of the first loop
  for (const std::size_t loop : loops.subspan(1)) unit *= draft.extents[loop];
  Side& first = box[loops[0]];
  MovingParts moving;
  for (const Moving& m : dim.moving) {
    if (m.factor % unit != 0) return false;
    moving.add(m.by, m.factor / unit);
  }
  if (dim.step % unit == 0 || dim.size == 1) {  // the other loops stand at one point
    first = {dim.lower / unit, std::max<std::int64_t>(dim.step / unit, 1), dim.size, std::move(moving)};
    std::int64_t rest = dim.lower % unit;
    for (std::size_t k = loops.size(); k-- > 1;) {
      const std::int64_t extent = draft.extents[loops[k]];
      box[loops[k]] = {rest % extent, 1, 1, {}};
      rest /= extent;
    }
    return true;
  }
  if (dim.step != 1 || dim.lower % unit != 0 || dim.size % unit != 0) return false;
  first = {dim.lower / unit, 1, dim.size / unit, std::move(moving)};
  return true;
}

/// The box of points at which the test holds, if they are one.
std::optional<Box> box_of(const Draft& draft, const ir::Expr& test) {
  const IndexMap& map = draft.maps[test.map];
  const std::vector<DraftBounds::Dim>& dims = draft.bounds[test.buffer].bounds;
  if (!map.is_affine()) return std::nullopt;
  const MapStep& step = map.loops();
  if (step.offset != 0 || !step.moving.empty()) return std::nullopt;
  Box box = all_points(draft);
  std::size_t used = 0;
  std::int64_t weight = 1;  // of the dim in the number that the test splits
  for (std::size_t d = dims.size(); d-- > 0;) {
    const DraftBounds::Dim& dim = dims[d];
    std::vector<std::size_t> loops;  // from the innermost
    std::int64_t covered = 1;
    while (covered < dim.extent) {
      const auto next = [&](std::size_t loop) {
        return draft.extents[loop] > 1 && step.strides[loop] == weight * covered;
      };
      std::size_t loop = 0;
      while (loop < draft.extents.size() && !next(loop)) ++loop;
      if (loop == draft.extents.size()) return std::nullopt;
      loops.insert(loops.begin(), loop);
      covered *= draft.extents[loop];
    }
    if (covered != dim.extent) return std::nullopt;
    used += loops.size();
    weight *= dim.extent;
    if (loops.empty()) {  // one coordinate, 0
      if (dim.lower != 0 || dim.size == 0 || !dim.moving.empty()) return std::nullopt;
    } else if (!narrow(dim, loops, draft, box)) {
      return std::nullopt;
    }
  }
  for (std::size_t loop = 0; loop < draft.extents.size(); ++loop)
    if (draft.extents[loop] > 1 && step.strides[loop] != 0) --used;
  return used == 0 ? std::optional(std::move(box)) : std::nullopt;
}

/// Makes `box` the least one that has the points of both. False where nobody knows where they lie.
bool extend(Box& box, const Box& other) {
  for (std::size_t k = 0; k < box.size(); ++k) {
    Side& a = box[k];
    const Side& b = other[k];
    if (a == b) continue;
    if (!a.moving.empty() || !b.moving.empty()) return false;
    const std::int64_t first = std::min(a.first, b.first);
    const std::int64_t last = std::max(a.first + (a.count - 1) * a.step, b.first + (b.count - 1) * b.step);
    const bool in_step = a.step == b.step && (a.first - b.first) % a.step == 0;
    const std::int64_t step = in_step ? a.step : 1;
    a = {first, step, (last - first) / step + 1, {}};
  }
  return true;
}

/// True iff the boxes, of which each is an interval of one loop and as large as the others in all other
/// loops, follow each other without gaps. They may be in any order.
bool follow_each_other(std::vector<Box> boxes) {
  std::optional<std::size_t> along;
  for (const Box& box : boxes)
    for (std::size_t k = 0; k < box.size(); ++k) {
      if (box[k].step != 1 && box[k].count != 1) return false;
      if (!box[k].moving.empty()) return false;
      if (box[k] == boxes[0][k]) continue;
      if (along.value_or(k) != k) return false;
      along = k;
    }
  if (!along) return boxes.size() == 1;
  std::sort(boxes.begin(), boxes.end(),
            [&](const Box& a, const Box& b) { return a[*along].first < b[*along].first; });
  for (std::size_t b = 1; b < boxes.size(); ++b)
    if (boxes[b - 1][*along].first + boxes[b - 1][*along].count != boxes[b][*along].first) return false;
  return true;
}

bool is_all(const Side& side, std::int64_t extent) {
  return side.first == 0 && side.count == extent && side.moving.empty();
}

/// Finds what each store writes over, and the box.
class Finder {
 public:
  explicit Finder(const Draft& draft) : draft_(draft) {}

  bool run() {
    if (draft_.has_reduction || draft_.outer_rank != draft_.extents.size() || draft_.stores.empty())
      return false;
    for (const DraftStore& store : draft_.stores)
      if (!add(store)) return false;
    double points = 1, all = 1;
    for (std::size_t k = 0; k < box.size(); ++k) {
      points *= static_cast<double>(box[k].count);
      all *= static_cast<double>(draft_.extents[k]);
    }
    return points > 0 && points < all;
  }

  Box box;
  std::vector<Overwrite> over;
  std::vector<ir::ExprId> last_choices;  // selects whose test holds wherever it is asked

 private:
  const ir::Expr& expr(ir::ExprId id) const { return draft_.exprs[id]; }
  bool is(ir::ExprId id, Op op) const {
    return expr(id).kind == ir::ExprKind::Elementwise && expr(id).op == op;
  }

  /// What is behind a cast to `dtype` from what computes it, or from it to that: bits that are not changed.
  ir::ExprId behind_cast(ir::ExprId id, DType from, DType to) const {
    if (!is(id, Op::Cast) || expr(id).dtype != to || expr(expr(id).args[0]).dtype != from) return id;
    return expr(id).args[0];
  }

  bool add(const DraftStore& store) {
    const DType dtype = draft_.buffer_dtypes[store.buffer];
    ir::ExprId id = behind_cast(store.value, arithmetic_of(dtype), dtype);
    std::vector<ir::ExprId> tests;
    std::vector<Box> boxes;
    ir::ExprId last = ir::kNone;
    bool is_seen_inside_alone = false;
    for (;
         !is_seen_inside_alone && is(id, Op::Where) && expr(expr(id).args[0]).kind == ir::ExprKind::InBounds;
         id = expr(id).args[2]) {
      is_seen_inside_alone = draft_.chosen_where_seen.contains(id);
      tests.push_back(expr(id).args[0]);
      const std::optional<Box> own = box_of(draft_, expr(tests.back()));
      if (!own) return false;
      boxes.push_back(*own);
      last = id;
      if (box.empty())
        box = *own;
      else if (!extend(box, *own))
        return false;
    }
    if (is_seen_inside_alone) {
      note_last_choice(last, std::move(boxes));
      return true;
    }
    id = behind_cast(id, dtype, arithmetic_of(dtype));
    const ir::Expr& old = expr(id);
    if (tests.empty() || old.kind != ir::ExprKind::Load || old.dtype != dtype || old.map != store.map ||
        !is_outside(old.predicate, tests))
      return false;
    const auto is_taken = [&](const Overwrite& other) { return other.operand == old.buffer; };
    if (std::any_of(over.begin(), over.end(), is_taken)) return false;
    over.push_back({store.buffer, old.buffer});
    note_last_choice(last, std::move(boxes));
    return true;
  }

  /// Where the boxes of all tests are the whole box, the last test needs not be made.
  void note_last_choice(ir::ExprId last, std::vector<Box> boxes) {
    if (draft_.stores.size() == 1 && follow_each_other(std::move(boxes))) last_choices.push_back(last);
  }

  /// True iff the predicate holds wherever none of the tests does.
  bool is_outside(ir::ExprId predicate, const std::vector<ir::ExprId>& tests) const {
    if (predicate == ir::kNone) return true;
    if (is(predicate, Op::And))
      return is_outside(expr(predicate).args[0], tests) && is_outside(expr(predicate).args[1], tests);
    return is(predicate, Op::Not) &&
           std::find(tests.begin(), tests.end(), expr(predicate).args[0]) != tests.end();
  }

  const Draft& draft_;
};

/// The draft over the points of the box.
class Mover {
 public:
  Mover(const Draft& draft, const Box& box) : box_(box), draft_(draft) {}

  /// `last_choices`: of selects, those that are taken wherever they are asked.
  std::optional<ChangedBox> run(std::vector<Overwrite> over, const std::vector<ir::ExprId>& last_choices) {
    for (const ir::ExprId id : last_choices) is_chosen_.insert(id);
    find_truths();
    move_loops();
    keep_what_is_stored();
    over_ = std::move(over);
    std::optional<std::vector<std::uint16_t>> places = join_buffers();
    if (!places) return std::nullopt;
    return ChangedBox{std::move(draft_), std::move(over_), std::move(*places)};
  }

 private:
  enum class Truth : std::uint8_t { Unknown, Always, Never };

  /// Replaces what follows from tests that hold at all points of the box.
  void find_truths() {
    truth_.assign(draft_.exprs.size(), Truth::Unknown);
    now_.resize(draft_.exprs.size());
    for (ir::ExprId id = 0; id < draft_.exprs.size(); ++id) {
      ir::Expr& expr = draft_.exprs[id];
      now_[id] = id;
      for (ir::ExprId& arg : expr.args)
        if (arg != ir::kNone) arg = now_[arg];
      if (expr.predicate != ir::kNone) {
        expr.predicate = now_[expr.predicate];
        if (truth_[expr.predicate] == Truth::Always) expr.predicate = ir::kNone;
      }
      if (expr.kind == ir::ExprKind::InBounds) {
        if (holds_everywhere(expr)) truth_[id] = Truth::Always;
      } else if (is_chosen_.contains(id)) {
        now_[id] = expr.args[1];
      } else if (expr.kind == ir::ExprKind::Elementwise) {
        simplify(id, expr);
      }
    }
    for (DraftStore& store : draft_.stores) store.value = now_[store.value];
  }

  void simplify(ir::ExprId id, const ir::Expr& expr) {
    const Truth first = truth_[expr.args[0]];
    if (expr.op == Op::Not) {
      if (first != Truth::Unknown) truth_[id] = first == Truth::Always ? Truth::Never : Truth::Always;
    } else if (expr.op == Op::And) {
      const Truth second = truth_[expr.args[1]];
      if (first == Truth::Never || second == Truth::Never)
        truth_[id] = Truth::Never;
      else if (first == Truth::Always)
        now_[id] = expr.args[1];
      else if (second == Truth::Always)
        now_[id] = expr.args[0];
    } else if (expr.op == Op::Where && first != Truth::Unknown) {
      now_[id] = expr.args[first == Truth::Always ? 1 : 2];
    }
  }

  bool holds_everywhere(const ir::Expr& test) const {
    const std::optional<Box> own = box_of(draft_, test);
    if (!own) return false;
    for (std::size_t k = 0; k < box_.size(); ++k)
      if ((*own)[k] != box_[k] && !is_all((*own)[k], draft_.extents[k])) return false;
    return true;
  }

  void move_loops() {
    for (std::size_t k = 0; k < box_.size(); ++k) draft_.extents[k] = box_[k].count;
    for (IndexMap& map : draft_.maps)
      for (std::size_t k = 0; k < box_.size(); ++k)
        map.move_loop(k, box_[k].first, box_[k].step, box_[k].count, box_[k].moving);
  }

  void keep_what_is_stored() {
    std::vector<bool> live(draft_.exprs.size(), false);
    for (const DraftStore& store : draft_.stores) live[store.value] = true;
    for (std::size_t id = draft_.exprs.size(); id-- > 0;) {
      if (!live[id]) continue;
      for (const ir::ExprId arg : draft_.exprs[id].args)
        if (arg != ir::kNone) live[arg] = true;
      if (draft_.exprs[id].predicate != ir::kNone) live[draft_.exprs[id].predicate] = true;
    }
    std::vector<ir::Expr> kept;
    absl::flat_hash_map<ir::ExprId, Indexed> indexed;
    for (ir::ExprId id = 0; id < draft_.exprs.size(); ++id) {
      if (!live[id]) continue;
      ir::Expr expr = std::move(draft_.exprs[id]);
      for (ir::ExprId& arg : expr.args)
        if (arg != ir::kNone) arg = now_[arg];
      if (expr.predicate != ir::kNone) expr.predicate = now_[expr.predicate];
      now_[id] = static_cast<ir::ExprId>(kept.size());
      if (const auto at = draft_.indexed.find(id); at != draft_.indexed.end()) indexed[now_[id]] = at->second;
      kept.push_back(std::move(expr));
    }
    for (DraftStore& store : draft_.stores) store.value = now_[store.value];
    draft_.exprs = std::move(kept);
    draft_.indexed = std::move(indexed);
  }

  /// One buffer for a result and the operand below it. Nothing where another one is not needed any more, or
  /// the operand is read by an index.
  std::optional<std::vector<std::uint16_t>> join_buffers() {
    std::vector<std::uint16_t> joined(draft_.buffers.size());
    for (std::size_t b = 0; b < joined.size(); ++b) joined[b] = static_cast<std::uint16_t>(b);
    for (const Overwrite& pair : over_) joined[pair.operand] = pair.result;
    std::vector<bool> read(joined.size(), false), written(joined.size(), false);
    for (const ir::Expr& expr : draft_.exprs) {
      if (!ir::reads_memory(expr)) continue;
      if (expr.kind != ir::ExprKind::Load && joined[expr.buffer] != expr.buffer) return std::nullopt;
      read[joined[expr.buffer]] = true;
    }
    for (const DraftStore& store : draft_.stores) written[store.buffer] = true;

    std::vector<std::uint16_t> places(joined.size());
    std::vector<BufferUse> buffers;
    std::vector<DType> dtypes;
    for (std::size_t b = 0; b < joined.size(); ++b) {
      if (joined[b] != b) continue;
      if (!read[b] && !written[b]) return std::nullopt;
      places[b] = static_cast<std::uint16_t>(buffers.size());
      buffers.push_back({draft_.buffers[b].node, read[b], written[b]});
      dtypes.push_back(draft_.buffer_dtypes[b]);
    }
    for (std::size_t b = 0; b < joined.size(); ++b) places[b] = places[joined[b]];
    for (ir::Expr& expr : draft_.exprs)
      if (ir::reads_memory(expr)) expr.buffer = places[expr.buffer];
    for (DraftStore& store : draft_.stores) store.buffer = places[store.buffer];
    draft_.buffers = std::move(buffers);
    draft_.buffer_dtypes = std::move(dtypes);
    return places;
  }

  const Box& box_;
  Draft draft_;
  std::vector<Overwrite> over_;
  absl::flat_hash_set<ir::ExprId> is_chosen_;
  std::vector<Truth> truth_;     // of each expression at the points of the box
  std::vector<ir::ExprId> now_;  // what stands for each expression
};

}  // namespace

std::optional<ChangedBox> changed_box(const Draft& draft) {
  Finder finder(draft);
  if (!finder.run()) return std::nullopt;
  return Mover(draft, finder.box).run(std::move(finder.over), finder.last_choices);
}

std::optional<InPlaceKernel> in_place_kernel(ChangedBox box, const Lowered& whole,
                                             const LowerLimits& limits) {
  try {
    Lowered lowered = finish(std::move(box.draft), limits);
    if (lowered.gathers != whole.gathers ||
        ir::argument_bytes(lowered.kernel) > ir::argument_bytes(whole.kernel))
      return std::nullopt;
    return InPlaceKernel{std::move(lowered.kernel), std::move(lowered.ints), std::move(lowered.moving),
                         std::move(box.over), std::move(box.places)};
  } catch (const Cut&) {
    return std::nullopt;
  }
}

}  // namespace sinter::plan
