// Which values a kernel needs where, and what they cost.
#include "jit/emit/llvm/cost.h"

#include <algorithm>

#include "jit/emit/llvm/maths.h"

namespace sinter::emit {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

// Above this, in ns for a point, a value is read back rather than computed again.
constexpr double kWorthKeeping = 0.3;

// What a function of maths.h costs, and more than that costs what calls back.
constexpr double kMaths = 0.5;

/// The loops whose points are lanes.
struct Lanes {
  std::size_t along = 0;
  bool join = false;
};

bool moves(const ir::Kernel& kernel, std::size_t map, const Lanes& lanes) {
  const std::vector<ir::IntRef>& strides = kernel.maps[map].steps.front().strides;
  if (!strides[lanes.along].is_zero() || (lanes.join && !strides[lanes.along - 1].is_zero())) return true;
  for (const ir::MapStep& step : kernel.maps[map].steps)
    for (const std::uint16_t part : step.maps)
      if (moves(kernel, part, lanes)) return true;
  return false;
}

/// Each lane's element is looked for on its own.
bool is_far(const ir::Kernel& kernel, std::size_t map, const Lanes& lanes) {
  const ir::IndexMap& m = kernel.maps[map];
  return m.steps.size() > 1 ||
         (moves(kernel, map, lanes) && (lanes.join || !m.steps.front().strides[lanes.along].is_one()));
}

/// About how many ns a value takes for one point, on one core.
double cost_of(const ir::Kernel& kernel, const Expr& e, const Lanes& lanes) {
  const double width = size_of(e.dtype) == 8 ? 2 : 1;
  switch (e.kind) {
    case ExprKind::Scalar:
    case ExprKind::Row:
    case ExprKind::Dot:
    case ExprKind::Combine:
    case ExprKind::Partial:
    case ExprKind::Reduce: return 0;
    case ExprKind::Load: return is_far(kernel, e.map, lanes) ? 1 : 0.08 * width;
    case ExprKind::LoadAt: return 1.5;
    case ExprKind::Index:
    case ExprKind::InBounds: return is_far(kernel, e.map, lanes) ? 1 : 0.1;
    case ExprKind::Random: return is_far(kernel, e.map, lanes) ? 4 : 1.5;
    case ExprKind::RandomNormal: return 5;
    case ExprKind::Elementwise: break;
  }
  const DType in = kernel.exprs[e.args[0]].dtype;
  if (in == DType::bf16 || e.dtype == DType::bf16) return 0.06;
  if (is_stored_float(in) || is_stored_float(e.dtype)) return 0.25;
  if (!has_llvm_text(e.op, in)) return in == DType::f64 ? 10 : 3;
  if (e.op == Op::Pow) return 3 * kMaths;  // in f64
  if (has_llvm_maths(e.op, in)) return in == DType::f64 ? 4 * kMaths : kMaths;
  if (e.op == Op::Div || e.op == Op::Remainder) return is_float(in) ? 0.15 * width : 1.5 * width;
  if (e.op == Op::Sqrt || e.op == Op::Rsqrt || e.op == Op::Recip) return 0.2 * width;
  return 0.04 * width;
}

// Values of a kernel that is computed for several registers of lanes in turn.
constexpr std::size_t kMostOverlapped = 64;

class Planner {
 public:
  Planner(const ir::Kernel& kernel, const LlvmTarget& target, LlvmLoops loops)
      : kernel_(kernel), target_(target), keeps_(loops != LlvmLoops::Split) {
    lanes_inner_ = kernel.schedule == ir::Schedule::LanesInner;
    lanes_ = {(lanes_inner_ ? kernel.extents.size() : kernel.outer_rank) - std::size_t{1},
              loops == LlvmLoops::Joined};
  }

  LlvmShape run() {
    shape_.outer.resize(kernel_.phases);
    shape_.inner.resize(kernel_.phases);
    shape_.reductions.resize(kernel_.phases);
    shape_.walks.assign(kernel_.phases, false);
    find_needed();
    find_lanes();
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (!needed_[id]) continue;
      if (e.kind == ExprKind::Reduce) {
        shape_.reductions[e.phase - 1].push_back(id);
      } else if (e.level == Level::Outer) {
        shape_.outer[e.phase].push_back(id);
        shape_.point_cost += cost_of(kernel_, e, lanes_);
      }
    }
    first_.assign(kernel_.exprs.size(), kernel_.phases);
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) find_inner(phase);
    double jumps = 0;
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id)
      if (needed_[id] && kernel_.exprs[id].kind == ExprKind::Load &&
          is_far(kernel_, kernel_.exprs[id].map, lanes_) &&
          kernel_.maps[kernel_.exprs[id].map].steps.size() == 1)
        jumps += cost_of(kernel_, kernel_.exprs[id], lanes_);
    shape_.gathers = kernel_.schedule == ir::Schedule::Pointwise && 2 * jumps > shape_.point_cost;
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) {
      put_loads_late(shape_.outer[phase]);
      put_loads_late(shape_.inner[phase]);
    }
    place_kept();
    choose_lanes();
    return std::move(shape_);
  }

 private:
  void find_needed() {
    needed_.assign(kernel_.exprs.size(), false);
    for (const ir::Store& store : kernel_.stores) needed_[store.value] = true;
    for (ExprId id = static_cast<ExprId>(kernel_.exprs.size()); id-- > 0;) {
      if (!needed_[id]) continue;
      const Expr& e = kernel_.exprs[id];
      for (ExprId arg : e.args)
        if (arg != ir::kNone) needed_[arg] = true;
      if (e.predicate != ir::kNone) needed_[e.predicate] = true;
    }
  }

  /// The inner values that a phase makes. Costly ones of an earlier phase are kept from there.
  void find_inner(std::uint16_t phase) {
    std::vector<bool> wanted(kernel_.exprs.size());
    for (const ir::Store& store : kernel_.stores)
      if (store.phase == phase && store.level == Level::Inner) {
        wanted[store.value] = true;
        shape_.walks[phase] = true;
        shape_.inner_cost += 0.08;
      }
    for (ExprId id : shape_.reductions[phase]) {
      wanted[kernel_.exprs[id].args[0]] = true;
      shape_.walks[phase] = true;
      shape_.inner_cost += 0.05;
    }
    for (ExprId id = static_cast<ExprId>(kernel_.exprs.size()); id-- > 0;) {
      const Expr& e = kernel_.exprs[id];
      if (!wanted[id] || e.level == Level::Outer) continue;
      if (keeps_ && lanes_inner_ && first_[id] < phase && in_lanes_[id] &&
          (shape_.kept_of(id) != nullptr || cost_again(id) > kWorthKeeping)) {
        keep(id);
        continue;
      }
      for (ExprId arg : e.args)
        if (arg != ir::kNone) wanted[arg] = true;
      if (e.predicate != ir::kNone) wanted[e.predicate] = true;
    }
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (!wanted[id] || e.level == Level::Outer) continue;
      shape_.inner[phase].push_back(id);
      first_[id] = std::min(first_[id], phase);
      shape_.inner_cost +=
          first_[id] < phase && shape_.kept_of(id) != nullptr ? 0.1 : cost_of(kernel_, e, lanes_);
    }
  }

  /// Puts each load before its first reader: LLVM moves nothing over the branches of a body that is written
  /// once, and what is loaded long before it is read takes a register meanwhile.
  void put_loads_late(std::vector<ExprId>& ids) const {
    std::vector<bool> waits(kernel_.exprs.size());
    for (ExprId id : ids) waits[id] = kernel_.exprs[id].kind == ExprKind::Load;
    std::vector<ExprId> ordered;
    auto put = [&](auto& self, ExprId id) -> void {
      waits[id] = false;
      const Expr& e = kernel_.exprs[id];
      for (ExprId arg : e.args)
        if (arg != ir::kNone && waits[arg]) self(self, arg);
      if (e.predicate != ir::kNone && waits[e.predicate]) self(self, e.predicate);
      ordered.push_back(id);
    };
    for (ExprId id : ids)
      if (!waits[id]) put(put, id);
    for (ExprId id : ids)
      if (waits[id]) put(put, id);  // read by a store or a reduction
    ids = std::move(ordered);
  }

  /// Which values differ from lane to lane.
  void find_lanes() {
    in_lanes_.assign(kernel_.exprs.size(), false);
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      bool differs = e.kind != ExprKind::Elementwise && e.kind != ExprKind::Reduce &&
                     e.kind != ExprKind::Scalar && moves(kernel_, e.map, lanes_);
      if (e.kind != ExprKind::Reduce)
        for (ExprId arg : e.args) differs |= arg != ir::kNone && in_lanes_[arg];
      in_lanes_[id] = differs || (e.predicate != ir::kNone && in_lanes_[e.predicate]);
    }
  }

  /// What it would take to make an inner value again, from what is kept already.
  double cost_again(ExprId root) const {
    std::vector<bool> seen(root + std::size_t{1});
    seen[root] = true;
    double cost = 0;
    for (ExprId id = root + 1; id-- > 0;) {
      if (!seen[id] || kernel_.exprs[id].level == Level::Outer || shape_.kept_of(id) != nullptr) continue;
      cost += cost_of(kernel_, kernel_.exprs[id], lanes_);
      if (cost > kWorthKeeping) return cost;
      for (ExprId arg : kernel_.exprs[id].args)
        if (arg != ir::kNone) seen[arg] = true;
      if (kernel_.exprs[id].predicate != ir::kNone) seen[kernel_.exprs[id].predicate] = true;
    }
    return cost;
  }

  void keep(ExprId id) {
    if (shape_.kept_of(id) == nullptr) shape_.kept.push_back({id, first_[id], 0});
  }

  void place_kept() {
    // Large elements first, so that all of them are aligned.
    std::stable_sort(shape_.kept.begin(), shape_.kept.end(), [&](const auto& a, const auto& b) {
      return size_of(kernel_.exprs[a.id].dtype) > size_of(kernel_.exprs[b.id].dtype);
    });
    for (LlvmShape::Kept& kept : shape_.kept) {
      kept.offset = shape_.scratch_bytes;
      shape_.scratch_bytes += size_of(kernel_.exprs[kept.id].dtype);
    }
  }

  /// As many lanes as a register has f32; several registers for kernels that are so small that they would
  /// wait for memory or for the sum before, and for maths. Of columns that are summed up, the values along
  /// the column count: what is made of the sums comes but once.
  void choose_lanes() {
    shape_.rest_lanes = 0;
    count_lanes();
    if (shape_.rest_lanes == 0) shape_.rest_lanes = shape_.lanes;
  }

  /// Operations of maths each wait for the one before, and a processor looks some 200 operations ahead: eight
  /// registers side by side keep its units busy, and it does not reach the loads of the next eight, which are
  /// asked for ahead. What is left of a row goes two registers at a time. Beside sums four are enough, and
  /// rows are shorter. Registers of 32 bytes come in half the number: more than two would be kept in memory.
  void overlap_maths() {
    const int one = shape_.lanes;
    const bool points = kernel_.schedule == ir::Schedule::Pointwise;
    if (target_.vector_bytes < 64 || lanes_.join || !keeps_) {
      if (points) shape_.lanes = 2 * one;
      return;
    }
    shape_.lanes = (points ? 8 : 4) * one;
    shape_.rest_lanes = (points ? 2 : 1) * one;
    shape_.one_body = false;  // the second one is short
    shape_.fetches_ahead = points;
  }

  void count_lanes() {
    shape_.lanes = target_.vector_bytes / 4;
    shape_.one_body = kernel_.exprs.size() > target_.long_body;
    std::size_t size = 0;
    bool has_wide = false;  // elements that take twice the registers
    bool has_maths = false;
    const bool columns = kernel_.schedule == ir::Schedule::LanesOuter && sums_columns();
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (!needed_[id] || e.kind == ExprKind::Scalar) continue;
      const bool summed =
          e.kind == ExprKind::Reduce ? in_lanes_[e.args[0]] : in_lanes_[id] && e.level == Level::Inner;
      if (columns && !summed) continue;
      const double cost = cost_of(kernel_, e, lanes_);
      if (cost > kWorthKeeping && (e.kind != ExprKind::Elementwise || cost > kMaths)) return;
      has_maths |= cost > kWorthKeeping;
      size += size_of(e.dtype) == 8 ? 2 : 1;
      has_wide |= size_of(e.dtype) == 8;
    }
    if (has_maths) {
      const bool has_registers = target_.vector_bytes >= 32 && !has_wide && size <= kMostOverlapped;
      if (has_registers) overlap_maths();
    } else if (size <= 8 && !has_wide) {
      shape_.lanes *= 4;
    } else if (size <= 20) {
      shape_.lanes *= 2;
    }
  }

  /// True iff all inner loops are there for sums and the like.
  bool sums_columns() const {
    const bool stores = std::any_of(kernel_.stores.begin(), kernel_.stores.end(),
                                    [](const ir::Store& store) { return store.level == Level::Inner; });
    return kernel_.inner_rank > 0 && !stores;
  }

  const ir::Kernel& kernel_;
  const LlvmTarget& target_;
  const bool keeps_;  // a slice has no memory for its inner points
  bool lanes_inner_ = false;
  Lanes lanes_;
  LlvmShape shape_;
  std::vector<bool> needed_, in_lanes_;
  std::vector<std::uint16_t> first_;  // phase that first makes each inner value
};

}  // namespace

LlvmShape llvm_shape(const ir::Kernel& kernel, const LlvmTarget& target, LlvmLoops loops) {
  return Planner(kernel, target, loops).run();
}

}  // namespace sinter::emit
