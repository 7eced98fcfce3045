// Checks the loops of a kernel and the forms that it may have.
#include "jit/ir/verify_forms.h"

#include <algorithm>
#include <vector>

#include "jit/ir/made_of.h"
#include "jit/ir/products/terms.h"

namespace sinter::ir {

void FormVerifier::check_loops() const {
  const std::string where = "loops";
  require(k_.extents.size() == rank_, where,
          std::to_string(k_.extents.size()) + " extents for rank " + std::to_string(rank_));
  for (const IntRef& extent : k_.extents) {
    require(extent.kind == IntRef::Kind::Argument, where, "an extent is not an argument");
    check_int(extent, where);
  }
  require((k_.schedule == Schedule::Pointwise) == (k_.inner_rank == 0), where,
          "Pointwise is the schedule of kernels without inner dims, and of no others");
  require(k_.phases >= 1, where, "no phase");
  if (k_.tile != Kernel::kNoTile) {
    require(k_.inner_rank == 0 && k_.members == 1 && k_.tile + 1 < k_.outer_rank, where,
            "tiles are for loops " + std::to_string(k_.tile) + " and " + std::to_string(k_.outer_rank - 1));
    require(std::any_of(k_.exprs.begin(), k_.exprs.end(),
                        [this](const Expr& e) { return lies_along_tile(k_, e); }),
            where, "tiles that no load needs");
  }
  for (const Reciprocal& r : k_.reciprocals) {
    for (const std::uint16_t index : {r.divisor, r.multiplier, r.shift})
      check_int(IntRef::argument(index), where);
    require(!k_.wide, where, "reciprocals, which 64-bit indices cannot use");
  }
  require(k_.inner_sizes.empty() ||
              (k_.schedule == Schedule::LanesOuter && !k_.split && k_.inner_sizes.size() == k_.inner_rank),
          where, "sizes of inner loops are of lanes that have outer points of their own, for all loops");
  require(std::count(k_.inner_sizes.begin(), k_.inner_sizes.end(), 0) == 0, where,
          "an inner loop of no elements, which compilers would find results for");
  require(k_.flat_maps.empty() || (k_.inner_rank == 0 && k_.outer_rank > 0 && k_.tile == Kernel::kNoTile),
          where, "points of flat maps are those of elementwise kernels without tiles");
  for (const std::uint16_t map : k_.flat_maps)
    require(map < k_.maps.size() && k_.maps[map].steps.size() == 1 &&
                k_.maps[map].steps.front().offset.kind != IntRef::Kind::One,
            where, "a flat map has one step, and an offset that is 0 or an argument");
  for (const Store& store : k_.stores)
    require(k_.flat_maps.empty() || std::count(k_.flat_maps.begin(), k_.flat_maps.end(), store.map) > 0,
            where, "a store whose map is not flat among flat ones");
  require(k_.row_elements > 0 || !(k_.row_full || k_.row_ragged), where,
          "full or ragged rows, of which no lane holds elements");
  if (has_parts(k_)) check_parts();
  if (k_.tiling.any()) check_tiling();
  if (k_.attention.any()) check_attention();
  if (k_.lone_rows.any()) check_lone_rows();
  require(k_.row_cluster == 1 || k_.row_elements > 0, where, "a cluster for each row, which lanes must hold");
  require(k_.members == 1 || may_have_members(k_), where,
          "several members of a kernel whose workgroups share their work");
}

void FormVerifier::check_parts() const {
  const std::string where = "parts";
  check_int(k_.parts, where);
  require(k_.row_elements > 0 && !k_.split, where, "of rows that lanes do not hold");
  require(k_.part_step == 1 || k_.part_step == 4, where,
          "that take every " + std::to_string(k_.part_step) + "th point");
  require(std::any_of(k_.exprs.begin(), k_.exprs.end(),
                      [](const Expr& e) { return e.kind == ExprKind::Partial; }),
          where, "of which there are no sums");
  for (const Store& store : k_.stores) {
    if (k_.exprs[store.value].kind != ExprKind::Partial) continue;
    const std::vector<IntRef>& strides = k_.maps[store.map].steps.front().strides;
    require(k_.maps[store.map].steps.size() == 1 &&
                std::all_of(strides.begin(), strides.begin() + k_.outer_rank,
                            [](const IntRef& stride) { return stride.is_zero(); }),
            where, "stored where outer points say");
    require(!k_.buffers[store.buffer].read, where, "stored over what is read");
  }
}

void FormVerifier::check_tiling() const {
  const std::string where = "tiles";
  const Tiling& t = k_.tiling;
  require(k_.inner_rank >= 1 && k_.outer_rank >= 2 && k_.phases == 2 && !k_.split && k_.row_elements == 0,
          where, "of a kernel that is no sum for rows and columns");
  const int part = t.subgroup_rows > 0 ? t.subgroup_rows : 64;
  if (t.matrices.any())
    check_matrices(t);
  else if (t.sharers > 0)
    check_few_rows(t);
  else
    require(t.rows % 64 == 0 && t.columns % 64 == 0 && part % 16 == 0 && t.rows % part == 0, where,
            std::to_string(t.rows) + " x " + std::to_string(t.columns) + ", by " + std::to_string(part));
  require(t.slots >= (t.matrices.any() ? 1 : 2) && t.workgroups >= 1 && t.loaders >= 1, where,
          "without slots or workgroups");
  require(is_half(t.multiplied) || are_bytes(t.multiplied) || t.multiplied == DType::f32, where,
          "that multiply no such dtype");
  require(!are_bytes(t.multiplied) || t.has_groups(), where, "of 8 bits, and no groups that multiply them");
  require(!t.exact || (t.multiplied == DType::f32 && t.subgroup_rows > 0 && !t.matrices.any()), where,
          "of factors that are not rounded, by other than ordinary lanes");
  require(!t.short_sums || (is_f8(t.multiplied) && t.turns == 0), where,
          "with short sums of another dtype, or in turns");
  const Tiling::Blocks& blocks = t.blocks;
  require(!blocks.any() || (blocks.depth > 0 && blocks.depth % blocks.count == 0 && blocks.columns > 0 &&
                            blocks.columns % blocks.count == 0),
          where, "of groups side by side that have no whole elements");
  require(!blocks.any() || (t.sharers == 0 && t.others.empty() && t.terms.empty() && t.library == 0), where,
          "of groups side by side, with other sums, few rows or by a library");
  constexpr int kMostCluster = 8;  // that every device takes which has clusters
  require(t.cluster >= 1 && t.cluster <= kMostCluster, where,
          "of no cluster, or of a larger one than there is");
  // Sums of integers become floats when all of a sum is there.
  require(t.cluster == 1 || (t.has_groups() && t.turns == 0 && t.multiplied != DType::i8), where,
          "that clusters share, but no groups, or in turns, or of integers");
  require(t.cluster == 1 || t.slots * (t.rows + t.columns) * 128 >= t.rows * t.columns * 4, where,
          "whose sums have no room where the slots were");
  const std::uint32_t outer = (1u << k_.outer_rank) - 1;
  require(t.row_loops != 0 && (t.row_loops & t.column_loops) == 0 &&
              ((t.row_loops | t.column_loops) & ~outer) == 0 &&
              (t.column_loops >> (k_.outer_rank - 1u) & 1) == 1,
          where, "with rows and columns that are no outer loops, or not the last");
  require((t.repeat_loops & ~(outer & ~(t.row_loops | t.column_loops))) == 0 &&
              (t.repeat_loops == 0 || t.has_groups()),
          where, "that repeat results along other loops, or by no groups");
  require(
      t.sum < k_.exprs.size() && k_.exprs[t.sum].kind == ExprKind::Reduce && k_.exprs[t.sum].op == Op::Sum,
      where, "without a sum");
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    require(k_.exprs[id].kind != ExprKind::Reduce || t.is_sum(id), where, "of several reductions");
  for (const Store& store : k_.stores) require(store.level == Level::Outer, where, "with an Inner store");
  const std::vector<std::uint32_t> loops = dependence(k_);
  check_factor(t.a, t.row_loops, t.column_loops, loops);
  check_factor(t.b, t.column_loops, t.row_loops, loops);
  check_other_sums(t);
  check_terms(t);
}

void FormVerifier::check_other_sums(const Tiling& t) const {
  const std::string where = "tiles of several sums";
  if (t.others.empty()) return;
  require(t.others.size() < Tiling::kMostSums && t.has_groups() && is_half(t.multiplied), where,
          "more than there are, or by no groups, or of other than 16 bits");
  require(!t.b.across && !t.b.windows && !t.b.computed, where,
          "with a factor that is not copied along the sum");
  for (const Tiling::OtherSum& other : t.others) {
    require(other.sum < k_.exprs.size() && k_.exprs[other.sum].kind == ExprKind::Reduce &&
                k_.exprs[other.sum].op == Op::Sum,
            where, "without a sum");
    require(is_copied_like(other.b, t.b.value), where, "with factors that do not lie alike");
  }
}

bool FormVerifier::is_copied_like(ExprId factor, ExprId other) const {
  if (factor >= k_.exprs.size()) return false;
  const Expr &load = k_.exprs[factor], &like = k_.exprs[other];
  if (load.kind != ExprKind::Load || load.predicate != kNone || load.dtype != like.dtype ||
      k_.maps[load.map].steps.size() != 1)
    return false;
  const std::vector<IntRef>&of_load = k_.maps[load.map].steps.front().strides,
        &of_other = k_.maps[like.map].steps.front().strides;
  return std::equal(of_load.begin(), of_load.end(), of_other.begin(), of_other.end(),
                    [](const IntRef& x, const IntRef& y) { return x.kind == y.kind; });
}

void FormVerifier::check_terms(const Tiling& t) const {
  const std::string where = "tiles of sums that are added up";
  if (t.terms.empty()) return;
  require(t.terms.size() < Tiling::kMostSums && t.others.empty() && t.has_groups() && !t.exact, where,
          "more than there are, or beside others, or by no groups");
  require(is_half(t.multiplied) || t.multiplied == DType::f32, where, "of 8 bits");
  require(!t.a.windows && !t.a.computed && !t.b.windows && !t.b.computed, where,
          "with a factor that is not copied");
  std::vector<ExprId> sums{t.sum};
  for (const Tiling::Term& term : t.terms) {
    require(term.sum < k_.exprs.size() && k_.exprs[term.sum].kind == ExprKind::Reduce &&
                k_.exprs[term.sum].op == Op::Sum,
            where, "without a sum");
    require(is_copied_like(term.a, t.a.value) && is_copied_like(term.b, t.b.value), where,
            "with factors that do not lie alike");
    sums.push_back(term.sum);
  }
  require(are_added_up(k_, sums), where, "of which results need more than that");
}

void FormVerifier::check_few_rows(const Tiling& t) const {
  const std::string where = "tiles of few rows";
  require((t.rows == 8 || t.rows == 16) && (t.columns == 16 || t.columns == 32 || t.columns == 64), where,
          "of " + std::to_string(t.rows) + " x " + std::to_string(t.columns));
  require(t.sharers <= 32 && t.subgroup_rows == 0 && t.turns == 0, where,
          "with more subgroups than a workgroup has");
  require(
      !t.b.across || t.computes(t.b) || (is_half(t.multiplied) && t.columns / 8 * 2 <= int{t.b.lane_bytes}),
      where, "with a factor of which a lane cannot load its columns at once");
}

void FormVerifier::check_matrices(const Tiling& t) const {
  const std::string where = "tiles of cooperative matrices";
  const Tiling::Matrices& of = t.matrices;
  require(of.m % 8 == 0 && of.n % 8 == 0 && of.k >= 8 && of.k % 8 == 0, where,
          "of " + std::to_string(of.m) + " x " + std::to_string(of.n) + " x " + std::to_string(of.k));
  require(t.subgroup_rows > 0 && t.subgroup_rows % of.m == 0 && t.rows % t.subgroup_rows == 0 &&
              of.columns > 0 && of.columns % of.n == 0 && t.columns % of.columns == 0,
          where, "that a subgroup's part has no whole number of");
  require(of.lanes > 0 && t.slots == 1 && is_half(t.multiplied), where,
          "with more slots than one, or of another dtype");
}

void FormVerifier::check_attention() const {
  const std::string where = "attention";
  require(k_.inner_rank == 1 && !k_.split && !k_.row_elements && !k_.tiling.any() && !k_.faults, where,
          "of a kernel that has no rows, or is computed otherwise");
  const Attention& a = k_.attention;
  const bool by_groups = a.by == Attention::By::Groups, by_stripes = a.by == Attention::By::Stripes,
             by_lanes = has_score_tile(k_);
  require(by_stripes
              ? a.rows == 1 && a.columns == 1
              : a.rows % (by_groups ? 64 : 16) == 0 && a.columns % 16 == 0 && a.slots >= (by_groups ? 2 : 1),
          where, "of no such tiles");
  require(!a.layout.is_known() || a.by == Attention::By::Matrices, where,
          "of no matrices, but with a layout");
  for (const Store& store : k_.stores) require(store.level == Level::Outer, where, "with an Inner store");
  const std::vector<std::uint32_t> loops = dependence(k_);
  const std::uint32_t both = 3u << (k_.outer_rank - 1u);  // the loops of rows and of columns
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = k_.exprs[id];
    const bool combines = e.kind == ExprKind::Combine;
    for (const ExprId arg : e.args)
      require(by_stripes || arg == kNone || k_.exprs[arg].kind != ExprKind::Row ||
                  lies_across(k_.exprs[arg]) == (combines && !by_lanes && k_.exprs[arg].dtype == DType::f32),
              where, "of rows that do not lie along a sum");
    if (e.kind != ExprKind::Row) continue;
    require((loops[id] & both) != both, where, "of rows that lie both ways");
    require(k_.maps[e.map].steps.size() == 1, where, "of rows that the engine cannot copy");
    require(by_stripes || !lies_across(e) || k_.maps[e.map].steps[0].strides[k_.outer_rank].is_one(), where,
            "of rows that lie neither way");
  }
}

void FormVerifier::check_lone_rows() const {
  const std::string where = "lone rows";
  const int lanes = k_.lone_rows.lanes;
  require(k_.inner_rank == 1 && !k_.split && !k_.row_elements && !k_.tiling.any() && !k_.attention.any() &&
              !k_.faults && k_.phases <= 3,
          where, "of a kernel that has no rows, or is computed otherwise");
  require(lanes <= 32 && (lanes & (lanes - 1)) == 0, where, "of no such groups of lanes");
  for (const Store& store : k_.stores) require(store.level == Level::Outer, where, "with an Inner store");
  for (const Expr& e : k_.exprs) {
    if (e.kind != ExprKind::Row) continue;
    require(!lies_across(e), where, "whose elements are no neighbours");
    require(e.length * size_of(e.dtype) <= static_cast<std::size_t>(lanes) * 16 &&
                e.length * size_of(e.dtype) % 16 == 0,
            where, "that the lanes of a group do not hold");
    require(k_.maps[e.map].steps.size() == 1, where, "that lie in no straight lines");
  }
}

void FormVerifier::check_factor(const TiledFactor& factor, std::uint32_t own, std::uint32_t other,
                                const std::vector<std::uint32_t>& loops) const {
  const std::string where = "tiles";
  require(factor.value < k_.exprs.size() &&
              (k_.exprs[factor.value].dtype == k_.tiling.multiplied ||
               (is_f8(k_.exprs[factor.value].dtype) && is_f8(k_.tiling.multiplied))),
          where, "with a factor of another dtype");
  require((loops[factor.value] & (other | k_.tiling.repeat_loops)) == 0 && (loops[factor.value] & own) == own,
          where, "with a factor that depends on other loops");
  const Expr& expr = k_.exprs[factor.value];
  const bool is_load = expr.kind == ExprKind::Load && k_.maps[expr.map].steps.size() == 1,
             is_plain = is_load && expr.predicate == kNone;
  require(!factor.windows || !factor.computed, where, "with a factor that is copied and computed");
  if (k_.tiling.computes(factor)) {
    const std::size_t along = factor.across ? loops_of(own).back() : rank_ - 1;
    const auto lies_in_vectors = [&](ExprId id) {
      const Expr& part = k_.exprs[id];
      const std::vector<MapStep>& steps = k_.maps[part.map].steps;
      return part.kind != ExprKind::Load || (loops[id] >> along & 1) == 0 ||
             (steps.size() == 1 && steps.front().strides[along].is_one());
    };
    const std::vector<ExprId> parts = made_of(k_, factor.value);
    require(factor.vector == 0 || std::all_of(parts.begin(), parts.end(), lies_in_vectors), where,
            "with a factor that does not lie in vectors");
    require(factor.vector == 0 || is_load || (factor.pieces && !factor.across), where,
            "with a factor of parts in vectors that are no whole pieces");
    return;
  }
  if (factor.windows) {
    const bool is_tested = is_load && !is_plain && k_.exprs[expr.predicate].kind == ExprKind::InBounds &&
                           k_.maps[k_.exprs[expr.predicate].map].steps.size() == 1;
    require(is_plain || is_tested, where, "with a factor of windows that is no load of one test");
  } else {
    require(is_plain, where, "with a factor that is copied and no plain load");
  }
  require(!factor.across || is_half(expr.dtype) || k_.tiling.subgroup_rows > 0, where,
          "with a factor that lies across and is not of 16 bits");
  const std::vector<IntRef>& strides = k_.maps[expr.map].steps.front().strides;
  require(strides[factor.across ? loops_of(own).back() : rank_ - 1].is_one(), where,
          "with a factor that does not lie as it says");
}

}  // namespace sinter::ir
