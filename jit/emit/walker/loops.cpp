// The loops of a kernel.
//
// The order of a sum depends on sizes and alignment only.
#include "jit/emit/walker/loops.h"

#include <algorithm>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/column_sums.h"
#include "jit/emit/walker/held_loops.h"
#include "jit/emit/walker/lane_loop.h"
#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/points.h"
#include "jit/emit/walker/rounds.h"
#include "jit/emit/walker/tiles.h"
#include "jit/emit/walker/vectors/flat_vectors.h"
#include "jit/emit/walker/vectors/stretches.h"
#include "jit/emit/walker/vectors/vectors.h"
#include "jit/emit/walker/vectors/vectors_of_columns.h"
#include "jit/emit/walker/vectors/vectors_of_windows.h"
#include "jit/ir/products/row_product.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Schedule;

namespace {

class Loops : private LoopText {
 public:
  Loops(Expressions& e, Schedule schedule)
      : LoopText(e),
        schedule_(schedule),
        live_(live_expressions(k_)),
        sums_(e, schedule, live_),
        vectors_(e, sums_, schedule, live_),
        held_(e, sums_, vectors_),
        columns_(e, vectors_, live_),
        rounds_(e, sums_, vectors_, schedule_),
        stretches_(e, vectors_, rounds_),
        lane_loop_(e, rounds_),
        vectors_of_columns_(e, sums_, vectors_, lane_loop_, live_),
        vectors_of_windows_(e, sums_, vectors_, vectors_of_columns_, live_) {
    if (schedule_ != Schedule::LanesInner || k_.row_elements == 0) return;
    if (!vectors_.any() && !k_.row_ragged && !ir::has_parts(k_)) return;
    std::vector<Work> work;
    for (std::uint16_t phase = 0; phase < k_.phases; ++phase) work.push_back(work_of(phase));
    held_.choose_rows(work);
  }

  void write() {
    if (const int edge = tile_edge(k_, e_.target); edge > 0)
      write_tiles(e_, work_of(0), live_, edge);
    else if (schedule_ == Schedule::Pointwise)
      write_pointwise();
    else if (!k_.inner_sizes.empty() && schedule_ == Schedule::LanesOuter)
      write_windows();
    else if (k_.split)
      write_split_reduction();
    else
      write_reduction();
  }

 private:
  using Work = InnerWork;  // of an elementwise kernel: of its points

  bool is_inner(ExprId id) const { return k_.exprs[id].level == ir::Level::Inner; }

  Work work_of(std::uint16_t phase) const { return emit::work_of(k_, live_, phase); }

  // ---- points

  /// One point: values, stores, accumulation. The coordinates are defined.
  void write_point(const Work& work) {
    for (ExprId id : work.values) e_.define(id);
    for (const ir::Store* store : work.stores) e_.store(*store);
    sums_.take(work, "");
  }

  // ---- elementwise

  void write_pointwise() {
    const Work work = work_of(0);
    const std::string first = e_.flat(e_.dialect.grid(k_).global_lane),
                      step = e_.flat(e_.dialect.grid(k_).global_lanes);
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    const FlatVectors flat(e_, live_);
    const bool any_vectors = vectors_.any() || flat.any();
    if (any_vectors) {
      const std::string width = e_.flat(std::to_string(e_.width));
      if (flat.any()) flat.write_condition();
      e_.out.line(constant("points4", choose("vectors", "points - points % " + width, e_.flat("0"))));
      e_.open(loop("f", first + " * " + width, "points4", step + " * " + width));
      if (flat.any()) {
        flat.write_points(work);
      } else {
        split("f", 0, k_.outer_rank, "y");
        vectors_.write_points(work, "y");
      }
      e_.close();
    }
    write_single_points(any_vectors ? "points4" : "", [&] { write_point(work); });
  }

  /// Those from number `begin` on, if that is not empty: one by one, or several at once.
  void write_single_points(const std::string& begin, const std::function<void()>& point) {
    const auto locate = [&] { split("f", 0, k_.outer_rank, ""); };
    if (const int together = points_at_once(k_, e_.target); together > 1)
      return write_points_at_once(e_, begin.empty() ? e_.flat("0") : begin, together, locate, point);
    const std::string first = e_.flat(e_.dialect.grid(k_).global_lane);
    e_.open(loop("f", begin.empty() ? first : begin + " + " + first, "points",
                 e_.flat(e_.dialect.grid(k_).global_lanes)));
    locate();
    point();
    e_.close();
  }

  // ---- reductions over few inner points, which are written out

  void write_windows() {
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    if (vectors_.any()) {
      const std::string width = e_.flat(std::to_string(e_.width)), each = " * " + width;
      e_.out.line(constant("points4", choose("vectors", "points - points % " + width, e_.flat("0"))));
      e_.open(loop("f", e_.flat(e_.dialect.grid(k_).global_lane) + each, "points4",
                   e_.flat(e_.dialect.grid(k_).global_lanes) + each));
      vectors_of_windows_.write(work_of(0));
      e_.close();
    }
    write_single_points(vectors_.any() ? "points4" : "", [&] {
      for (std::uint16_t phase = 0; phase < k_.phases; ++phase) write_phase_of_window(phase);
    });
  }

  void write_phase_of_window(std::uint16_t phase) {
    define_outers(phase);
    write_outer_stores(phase);
    const Work work = work_of(phase);
    if (work.empty()) return;
    sums_.declare(work);
    sums_.declare_parts(work, 1);
    for (std::size_t i = 0; i < k_.inner_sizes.size(); ++i) {
      const std::string y = "y" + std::to_string(i);
      e_.open_unrolled(y, k_.inner_sizes[i]);
      e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[k_.outer_rank + i], e_.index(y)));
    }
    write_point(work);
    for (std::size_t i = 0; i < k_.inner_sizes.size(); ++i) e_.close();
    sums_.add_parts(work, 1);
    sums_.settle(work);
  }

  // ---- reductions

  void write_reduction() {
    if (shares_loops()) return write_shared_columns();
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    if (in_workgroup && !has_short_rows(k_, e_.target))
      e_.out.line(constant("inner", count_of(k_.outer_rank, k_.inner_rank)));
    if (in_workgroup) stretches_.define();
    if (k_.row_cluster > 1) sums_.begin_cluster();
    if (ir::has_parts(k_)) return write_parts();
    if (unrolls_rows() && k_.row_ragged) {
      if (const std::string shifts = vectors_.shift_condition(); !shifts.empty()) {
        e_.open(e_.dialect.when(shifts));
        write_held(HeldForm::Shifted);
        e_.close();
        e_.open(e_.dialect.otherwise());
        write_outer_loop();
        return e_.close();
      }
      return write_held(HeldForm::Elements);
    }
    if (unrolls_rows()) {
      // Two loops over the points: beside the path for rows that are no whole vectors, this one would be
      // short of registers.
      e_.open(when_whole_vectors());
      write_held(HeldForm::Vectors);
      e_.close();
      e_.open(e_.dialect.otherwise());
      write_outer_loop();
      e_.close();
      return;
    }
    if (vectors_.any() && !has_short_rows(k_, e_.target)) define_whole_vectors();
    write_outer_loop();
  }

  void write_held(HeldForm form) {
    in_registers_ = true;
    form_ = form;
    write_outer_loop();
    in_registers_ = false;
  }

  /// Rows of a part one after the other, and in the end the sums of their columns. A lane has the same
  /// columns of each: of rows that begin within a vector, those that lie alike make a part.
  void write_parts() {
    columns_.find_part();
    std::string better;
    if (!k_.row_ragged && vectors_.any()) better = when_whole_vectors();
    if (k_.part_step > 1)
      if (const std::string shifts = vectors_.shift_condition(); !shifts.empty())
        better = e_.dialect.when(shifts);
    if (!better.empty()) {
      e_.open(better);
      write_part(k_.row_ragged ? HeldForm::Shifted : HeldForm::Vectors);
      e_.close();
      e_.open(e_.dialect.otherwise());
    }
    write_part(HeldForm::Elements);
    if (!better.empty()) e_.close();
  }

  void write_part(HeldForm form) {
    columns_.declare();
    write_held(form);
    columns_.finish(form);
  }

  void define_whole_vectors() {
    e_.out.line(constant(
        "inner4", choose("vectors", "inner - inner % " + e_.flat(std::to_string(e_.width)), e_.flat("0"))));
  }

  /// True iff there is a text for rows in whole vectors without loops: what is held of them has registers.
  /// Likewise where a row is multiplied, and nothing held: its loads are many for few operations, and stand
  /// side by side.
  bool unrolls_rows() const {
    return held_.any() || (k_.row_full && vectors_.any() && ir::is_row_product(k_));
  }

  void write_outer_loop() {
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    if (has_short_rows(k_, e_.target)) return write_loop_over_short_rows();
    if (ir::has_parts(k_)) return write_loop_over_part();
    if (k_.row_cluster > 1) return write_loop_over_clusters();
    e_.open(loop("f", e_.flat(in_workgroup ? e_.dialect.grid(k_).point : e_.dialect.grid(k_).global_lane),
                 "points",
                 e_.flat(in_workgroup ? e_.dialect.grid(k_).points : e_.dialect.grid(k_).global_lanes)));
    write_point_of_row();
    e_.close();
  }

  void write_point_of_row() {
    split("f", 0, k_.outer_rank, "");
    if (in_registers_) held_.declare(form_);
    for (std::uint16_t phase = 0; phase < k_.phases; ++phase) write_phase(phase);
  }

  /// A workgroup has several rows, which share its subgroups: all of them go round as often. A row that does
  /// not exist has no elements; it is called the first of its workgroup, so that what is read once for a row
  /// can be read.
  void write_loop_over_short_rows() {
    const Dialect::Grid& grid = e_.dialect.grid(k_);
    const std::string rows = e_.flat(e_.dialect.rows), point = "t + " + e_.flat(e_.dialect.row);
    if (ir::has_parts(k_)) {
      e_.open(loop("t", e_.flat("0"), "count", rows));
      e_.out.line(e_.dialect.constant(Type::Bool, "there", point + " < count"));
      e_.out.line(constant("f", of_part("(" + choose("there", point, "t") + ")")));
    } else {
      e_.open(loop("t", e_.flat(grid.workgroup) + " * " + rows, "points",
                   e_.flat(grid.workgroups) + " * " + rows));
      e_.out.line(e_.dialect.constant(Type::Bool, "there", point + " < points"));
      e_.out.line(constant("f", choose("there", point, "t")));
    }
    e_.out.line(constant("inner", choose("there", count_of(k_.outer_rank, k_.inner_rank), e_.flat("0"))));
    if (vectors_.any() && !unrolls_rows()) define_whole_vectors();
    e_.exists = "there";  // what an empty row reduces to is no index
    write_point_of_row();
    e_.close();
  }

  void write_loop_over_part() {
    e_.open(loop("t", e_.flat("0"), "count", e_.flat("1")));
    e_.out.line(constant("f", of_part("t")));
    write_point_of_row();
    e_.close();
  }

  void write_loop_over_clusters() {
    const std::string cluster = u32(k_.row_cluster);
    const auto clusters = [&](const std::string& workgroups) {
      return e_.flat(e_.dialect.cast(Type::U32, workgroups) + " / " + cluster);
    };
    e_.open(loop("f", clusters(e_.dialect.workgroup), "points", clusters(e_.dialect.grid(k_).workgroups)));
    write_point_of_row();
    e_.close();
  }

  bool has_rows() const { return has_rows_of_lanes(k_, e_.target); }

  /// LanesOuter in workgroups with rows of lanes: the lanes of a column have one outer point and share its
  /// inner points.
  bool shares_loops() const { return has_rows() && !k_.split; }

  void write_shared_columns() {
    const Dialect::Grid& grid = e_.dialect.grid(k_);
    const std::string lanes = e_.flat(e_.dialect.lanes);
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    e_.open(loop("t", e_.flat(grid.workgroup) + " * " + lanes, "points",
                 e_.flat(grid.workgroups) + " * " + lanes));
    // Lanes beyond the last point must come to the barriers.
    e_.exists = "there";
    const std::string point = "t + " + e_.flat(e_.dialect.lane);
    e_.out.line(e_.dialect.constant(Type::Bool, "there", point + " < points"));
    e_.out.line(constant("f", choose("there", point, "t")));
    split("f", 0, k_.outer_rank, "");
    for (std::uint16_t phase = 0; phase < k_.phases; ++phase) write_phase(phase);
    e_.close();
  }

  void write_phase(std::uint16_t phase) {
    define_outers(phase);
    write_outer_stores(phase);
    const Work work = work_of(phase);
    if (work.empty()) return;
    sums_.declare(work);
    write_inner_loop(work, phase);
  }

  void define_outers(std::uint16_t phase) {
    if (schedule_ == Schedule::LanesInner) sums_.join_workgroup(reductions_of(k_, live_, phase));
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && !is_inner(id) && k_.exprs[id].phase == phase) define_outer(id);
  }

  void write_inner_loop(const Work& work, std::uint16_t phase) {
    if (shares_loops()) e_.open(e_.dialect.when("there"));
    if (schedule_ == Schedule::LanesInner)
      write_dealt_loop(work, phase);
    else
      lane_loop_.write(work, {.row = e_.flat(e_.dialect.row), .rows = e_.flat(e_.dialect.rows)}, 1,
                       [&] { write_point(work); });
    if (shares_loops()) e_.close();
    sums_.settle(work);
  }

  void define_outer(ExprId id) {
    const Expr& expr = k_.exprs[id];
    if (expr.kind == ExprKind::Reduce) {
      if (schedule_ == Schedule::LanesOuter && !k_.split) sums_.join_rows(id);
      e_.out.line(e_.dialect.exact(expr.dtype, e_.value(id), Accumulators::name(id)));
    } else {
      e_.define(id);
    }
    e_.define_reciprocal(id);
  }

  void write_outer_stores(std::uint16_t phase) {
    std::vector<const ir::Store*> stores;
    bool also_read = false;
    for (const ir::Store& store : k_.stores) {
      if (store.level != ir::Level::Outer || store.phase != phase) continue;
      stores.push_back(&store);
      also_read = also_read || k_.buffers[store.buffer].read;
    }
    if (stores.empty()) return;
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    // All lanes of a workgroup read the old value, one writes the new one.
    const Dialect& d = e_.dialect;
    if (in_workgroup && also_read) e_.out.line(k_.row_cluster > 1 ? d.cluster_barrier : d.barrier);
    if (shares_loops() && also_read)
      e_.out.line(d.guarded(d.when(d.rows + " > " + d.literal(Type::U32, 1)), d.barrier));
    if (in_workgroup) e_.open(when_first_lane());
    if (shares_loops()) e_.open(d.when("there && " + d.row + " == " + d.literal(Type::U32, 0)));
    for (const ir::Store* store : stores) e_.store(*store);
    if (in_workgroup || shares_loops()) e_.close();
  }

  /// LanesInner: the inner points are dealt out among the lanes of the workgroup. Each loop of the kernel
  /// deals them alike. A part of a split kernel has the points from `begin` on.
  void write_dealt_loop(const Work& work, std::uint16_t phase) {
    if (in_registers_) return held_.write(work, phase, form_);
    std::string lane = e_.flat(e_.dialect.lane), lanes = e_.flat(e_.lanes());
    if (k_.row_cluster > 1) {
      lane = "(" + e_.flat(kClusterRank) + " * " + lanes + " + " + lane + ")";
      lanes = "(" + lanes + " * " + e_.flat(u32(k_.row_cluster)) + ")";
    }
    const std::size_t first = k_.outer_rank, count = k_.inner_rank;
    const std::string from = k_.split ? "begin + " : "";
    std::string begin = from + lane;
    if (stretches_.any()) stretches_.write(work, lane, lanes);
    if (vectors_.any() && !unrolls_rows()) {
      const std::string width = e_.flat(std::to_string(e_.width));
      rounds_.write(work, from + lane + " * " + width, "inner4", lanes + " * " + width, e_.width, [&] {
        split("j", first, count, "y");
        vectors_.write_points(work, "y");
      });
      begin = "inner4 + " + lane;
    }
    rounds_.write(work, begin, "inner", lanes, 1, [&] {
      split("j", first, count, "");
      write_point(work);
    });
    if (stretches_.any()) e_.close();
  }

  // ---- reductions whose inner points are shared by several workgroups

  /// Each workgroup reduces its part and leaves the result; the last to come for an outer point (LanesInner)
  /// or for a tile of them (LanesOuter) joins the parts, in their order whoever came when, and does what is
  /// left to do.
  void write_split_reduction() {
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    const std::string& own = e_.dialect.grid(k_).workgroup;
    const std::string parts = e_.flat("parts"), workgroup = e_.flat(own), lane = e_.flat(e_.dialect.lane);
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    const std::string number = e_.dialect.cast(Type::U32, own), lanes = e_.flat(e_.dialect.lanes);
    // Neighbours read what lies side by side.
    if (in_workgroup) {
      e_.out.line(constant("part", workgroup + " % " + parts));
      e_.out.line(e_.dialect.constant(Type::U32, "unit", number + " / parts"));
      e_.out.line(constant("f", e_.flat("unit")));
    } else {
      e_.out.line(constant("units", "(points + " + lanes + " - " + e_.flat("1") + ") / " + lanes));
      e_.out.line(constant("part", workgroup + " / units"));
      e_.out.line(e_.dialect.constant(Type::U32, "unit", e_.dialect.cast(Type::U32, workgroup + " % units")));
      e_.out.line(constant("f", e_.flat("unit") + " * " + lanes + " + " + lane));
    }
    cut_part(e_, in_workgroup, vectors_.any());
    if (in_workgroup) stretches_.define();
    const Work work = work_of(0);
    sums_.declare(work);
    // Lanes beyond the last point have nothing to do but must come to the barriers. Of several rows the first
    // one speaks for a point.
    const std::string there = e_.dialect.when("f < points"),
                      one = has_rows() ? e_.dialect.when("f < points && " + e_.dialect.row + " == " + u32(0))
                                       : there;
    const std::string row = has_rows() ? e_.flat(e_.dialect.row) : e_.flat("0"),
                      rows = has_rows() ? e_.flat(e_.dialect.rows) : e_.flat("1");
    if (!in_workgroup && vectors_.any()) {
      e_.open(e_.dialect.when("vectors"));
      vectors_of_columns_.write(work);
      e_.close();
      e_.open(e_.dialect.otherwise());
      write_part_of_points(work, in_workgroup);
      e_.close();
    } else {
      write_part_of_points(work, in_workgroup);
    }
    if (in_workgroup) sums_.join_workgroup(work.reductions);
    for (ExprId id : work.reductions)
      if (!in_workgroup) sums_.join_rows(id);
    e_.open(in_workgroup ? when_first_lane() : one);
    sums_.put_partials(work);
    e_.close();
    for (const std::string& line : e_.dialect.end_part("unit")) e_.out.line(line);

    sums_.restart(work);
    if (in_workgroup) {
      sums_.join_partials(work, lane, e_.flat(e_.dialect.lanes));
      return write_phase(1);
    }
    e_.open(there);
    sums_.join_partials(work, row, rows);
    e_.close();
    for (ExprId id : work.reductions) sums_.join_rows(id);
    e_.open(one);
    split("f", 0, k_.outer_rank, "");
    define_outers(0);
    write_phase(1);
    e_.close();
  }

  void write_part_of_points(const Work& work, bool in_workgroup) {
    if (!in_workgroup) e_.open(e_.dialect.when("f < points"));
    split("f", 0, k_.outer_rank, "");
    define_outers(0);
    write_inner_loop(work, 0);
    if (!in_workgroup) e_.close();
  }

  Schedule schedule_;
  std::vector<bool> live_;
  Accumulators sums_;
  Vectors vectors_;
  HeldLoops held_;
  ColumnSums columns_;
  Rounds rounds_;
  Stretches stretches_;
  LaneLoop lane_loop_;
  VectorsOfColumns vectors_of_columns_;
  VectorsOfWindows vectors_of_windows_;
  bool in_registers_ = false;  // where the path is written that holds them, in this form
  HeldForm form_ = HeldForm::Vectors;
};

}  // namespace

void write_loops(Expressions& e, Schedule schedule) { Loops(e, schedule).write(); }

}  // namespace sinter::emit
