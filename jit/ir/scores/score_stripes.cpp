// Makes the kernel over the scores of a stripe.
#include "jit/ir/scores/score_stripes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "jit/ir/uses.h"

namespace sinter::ir {
namespace {

using Source = ScoreStripes::Source;

class Maker {
 public:
  Maker(const Kernel& whole, ScoreStripes& to)
      : whole_(whole),
        to_(to),
        rank_(whole.extents.size()),
        row_(whole.outer_rank - 1u),
        ids_(whole.exprs.size(), kNone) {}

  void make() {
    Kernel& k = to_.kernel;
    k.outer_rank = whole_.outer_rank;
    k.inner_rank = whole_.inner_rank;
    k.schedule = Schedule::LanesInner;
    k.wide = whole_.wide;
    k.scalars = whole_.scalars;
    make_ints();
    for (ExprId id = 0; id < whole_.exprs.size(); ++id) make_expr(id);
    for (std::size_t i = 0; i < whole_.stores.size(); ++i) {
      const Store& store = whole_.stores[i];
      const Expr& value = whole_.exprs[store.value];
      if (value.kind == ExprKind::Combine)
        leave_weights(i, value);
      else
        add_store(whole_buffer(store.buffer), store.map, ids_[store.value], store.level, store.phase);
    }
    std::uint16_t last = 0;
    for (const Expr& e : k.exprs) last = std::max(last, e.phase);
    for (const Store& store : k.stores) last = std::max(last, store.phase);
    k.phases = static_cast<std::uint16_t>(last + 1);
  }

 private:
  /// Ints of the kernel's own, in the order of fill_ints().
  void make_ints() {
    Kernel& k = to_.kernel;
    k.ints = whole_.ints;
    const auto next = [&] { return IntRef::argument(k.ints++); };
    for (std::size_t loop = 0; loop < rank_; ++loop) k.extents.push_back(next());
    MapStep line, number;
    line.strides.assign(rank_, IntRef::zero());
    number.strides = line.strides;
    line.strides[row_] = next();
    line.strides[whole_.outer_rank] = number.strides[row_] = IntRef::one();
    k.maps = whole_.maps;
    for (IndexMap& map : k.maps) map.steps.front().offset = next();
    line_map_ = add_map(line);
    number_map_ = add_map(number);
  }

  std::uint16_t add_map(const MapStep& step) {
    to_.kernel.maps.push_back({{step}});
    return static_cast<std::uint16_t>(to_.kernel.maps.size() - 1);
  }

  std::uint16_t add_buffer(Source source, DType dtype) {
    to_.kernel.buffers.push_back({dtype, false, false});
    to_.sources.push_back(source);
    return static_cast<std::uint16_t>(to_.sources.size() - 1);
  }
  std::uint16_t whole_buffer(std::uint16_t index) {
    for (std::uint16_t b = 0; b < to_.sources.size(); ++b)
      if (to_.sources[b].kind == Source::Kind::Buffer && to_.sources[b].index == index) return b;
    return add_buffer({Source::Kind::Buffer, index}, whole_.buffers[index].dtype);
  }
  std::uint16_t new_lines() {
    return add_buffer({Source::Kind::Lines, static_cast<std::uint16_t>(to_.lines++)}, DType::f32);
  }

  void make_expr(ExprId id) {
    Expr e = whole_.exprs[id];
    if (e.kind == ExprKind::Row || e.kind == ExprKind::Combine) return;
    if (e.kind == ExprKind::Dot) {
      const std::uint16_t lines = new_lines();
      to_.scores.push_back({id, to_.sources[lines].index});
      e = {};
      e.kind = ExprKind::Load;
      e.level = Level::Inner;
      e.buffer = lines;
      e.map = line_map_;
    } else {
      for (ExprId& arg : e.args) arg = renamed(arg);
      e.predicate = renamed(e.predicate);
      if (reads_memory(e)) e.buffer = whole_buffer(e.buffer);
    }
    if (reads_memory(e)) to_.kernel.buffers[e.buffer].read = true;
    ids_[id] = static_cast<ExprId>(to_.kernel.exprs.size());
    to_.kernel.exprs.push_back(std::move(e));
  }
  ExprId renamed(ExprId id) const { return id == kNone ? kNone : ids_[id]; }

  void add_store(std::uint16_t buffer, std::uint16_t map, ExprId value, Level level, std::uint16_t phase) {
    to_.kernel.buffers[buffer].written = true;
    to_.kernel.stores.push_back({buffer, map, value, level, phase});
  }

  void leave_weights(std::size_t store, const Expr& combine) {
    ScoreStripes::Combined& combined = to_.combined.emplace_back();
    combined.store = store;
    const ExprId weights = ids_[combine.args[0]];
    const auto known = weights_.find(weights);
    const std::uint16_t lines = known != weights_.end() ? known->second : place_of(weights);
    if (known == weights_.end())
      add_store(lines, line_map_, weights, Level::Inner, to_.kernel.exprs[weights].phase);
    weights_[weights] = lines;
    combined.weights = to_.sources[lines].index;
    if (combine.args[2] == kNone) return;
    const ExprId scale = ids_[combine.args[2]];
    const std::uint16_t numbers =
        add_buffer({Source::Kind::Numbers, static_cast<std::uint16_t>(to_.numbers++)}, DType::f32);
    add_store(numbers, number_map_, scale, Level::Outer, to_.kernel.exprs[scale].phase);
    combined.scale = to_.sources[numbers].index;
  }

  /// Where weights go: over the elements of a Dot that nobody asks for afterwards, or to lines of their own.
  std::uint16_t place_of(ExprId weights) {
    Kernel& k = to_.kernel;
    // As if they were stored already, since that may be a reason to compute scores once more.
    k.stores.push_back({0, line_map_, weights, Level::Inner, k.exprs[weights].phase});
    const std::vector<std::uint16_t> last = last_phases(k);
    k.stores.pop_back();
    for (ExprId id = 0; id < k.exprs.size(); ++id) {
      const Expr& e = k.exprs[id];
      if (e.kind == ExprKind::Load && to_.sources[e.buffer].kind == Source::Kind::Lines &&
          !k.buffers[e.buffer].written && last[id] <= k.exprs[weights].phase)
        return e.buffer;
    }
    return new_lines();
  }

  const Kernel& whole_;
  ScoreStripes& to_;
  const std::size_t rank_, row_;
  std::vector<ExprId> ids_;  // of the whole kernel's expressions
  std::map<ExprId, std::uint16_t> weights_;
  std::uint16_t line_map_ = 0, number_map_ = 0;
};

}  // namespace

ScoreStripes::ScoreStripes(const Kernel& whole) : outer_rank_(whole.outer_rank), own_ints_(whole.ints) {
  for (const IndexMap& map : whole.maps)
    firsts_.push_back({map.steps.front().strides, map.steps.front().offset});
  Maker(whole, *this).make();
}

void ScoreStripes::fill_ints(std::span<const std::int64_t> whole, const Stripe& stripe,
                             std::span<std::int64_t> ints) const {
  std::copy(whole.begin(), whole.end(), ints.begin());
  std::size_t at = own_ints_;
  for (std::size_t loop = 0; loop + 1 < outer_rank_; ++loop) ints[at++] = 1;
  ints[at++] = stripe.rows;
  ints[at++] = stripe.columns;
  ints[at++] = stripe.line;
  for (const First& first : firsts_) {
    std::int64_t offset = value_of(first.offset, whole);
    for (std::size_t loop = 0; loop < first.strides.size(); ++loop)
      offset += value_of(first.strides[loop], whole) * (loop + 1 < outer_rank_    ? stripe.batch[loop]
                                                        : loop + 1 == outer_rank_ ? stripe.first_row
                                                                                  : stripe.first_column);
    ints[at++] = offset;
  }
}

std::int64_t number_of(const Kernel& kernel, std::size_t map, std::span<const std::int64_t> coordinates,
                       std::span<const std::int64_t> ints) {
  std::int64_t number = 0;
  for (const MapStep& step : kernel.maps[map].steps) {
    std::int64_t next = value_of(step.offset, ints);
    if (!step.maps.empty()) {
      next += number;
      for (std::size_t k = 0; k < step.maps.size(); ++k)
        next += value_of(step.strides[k], ints) * number_of(kernel, step.maps[k], coordinates, ints);
    } else if (step.extents.empty()) {
      for (std::size_t k = 0; k < coordinates.size(); ++k)
        next += value_of(step.strides[k], ints) * coordinates[k];
    } else {
      for (std::size_t k = step.extents.size(); k-- > 0;) {
        const std::int64_t extent = value_of(step.extents[k], ints);
        next += (k == 0 ? number : number % extent) * value_of(step.strides[k], ints);
        if (k > 0) number /= extent;
      }
    }
    number = next;
  }
  return number;
}

}  // namespace sinter::ir
