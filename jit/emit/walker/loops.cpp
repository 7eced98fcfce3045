// The loops of a kernel.
//
// The order of a sum depends on sizes and alignment only. A float sum is blocked: each lane adds up to kChunk
// values before it adds to its total, so that the error grows with kChunk + count / kChunk and not with the
// count.
#include "jit/emit/walker/loops.h"

#include <algorithm>
#include <functional>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/rows.h"
#include "jit/emit/walker/vectors.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;
using ir::Schedule;

namespace {

constexpr int kChunk = 32;
// Likewise of a loop that is written out for several rounds.
constexpr std::size_t kMostUnrolledExpressions = 16;

class Loops {
 public:
  Loops(Expressions& e, Schedule schedule)
      : e_(e),
        k_(e.kernel),
        schedule_(schedule),
        live_(live_expressions(k_)),
        sums_(e, schedule, live_),
        vectors_(e, sums_, schedule, live_) {
    find_held_rows();
  }

  void write() {
    if (schedule_ == Schedule::Pointwise)
      write_pointwise();
    else if (k_.split)
      write_split_reduction();
    else
      write_reduction();
  }

 private:
  using Work = InnerWork;  // of an elementwise kernel: of its points

  bool is_inner(ExprId id) const { return k_.exprs[id].level == Level::Inner; }

  Work work_of(std::uint16_t phase) const { return emit::work_of(k_, live_, phase); }

  // ---- rows in registers

  void find_held_rows() {
    if (!vectors_.any() || schedule_ != Schedule::LanesInner || k_.row_elements == 0) return;
    std::vector<Work> work;
    for (std::uint16_t phase = 0; phase < k_.phases; ++phase) work.push_back(work_of(phase));
    rows_ = hold_rows(k_, work);
    e_.use.held_words = rows_.words;
  }
  void declare_held() {
    for (std::size_t s = 0; s < rows_.slot_dtypes.size(); ++s)
      e_.out.line(e_.dialect.declare_vector(rows_.slot_dtypes[s], e_.width, HeldRows::slot(s),
                                            k_.row_elements / e_.width));
  }

  // ---- points

  /// One point: values, stores, accumulation. The coordinates are defined.
  void write_point(const Work& work) {
    for (ExprId id : work.values) e_.define(id);
    for (const ir::Store* store : work.stores) e_.store(*store);
    sums_.take(work, "");
  }

  /// Coordinates of `count` dims from the number `from`; in the vector path the last one gets the name of its
  /// base.
  void split(const std::string& from, std::size_t first, std::size_t count, const std::string& base) {
    const std::string own = count ? e_.coordinates[first + count - 1] : "";
    if (!base.empty()) e_.coordinates[first + count - 1] = base;
    e_.split(from, first, count);
    if (base.empty()) return;
    e_.coordinates[first + count - 1] = own;
    // Rows in registers count their vectors as it is.
    if (e_.dialect.numbers_vectors && !(in_registers_ && count == 1))
      e_.out.line(e_.dialect.constant(Type::U32, "vector", e_.vector_of(base)));
  }

  std::string count_of(std::size_t first, std::size_t count) const {
    std::string text;
    for (std::size_t c = first; c < first + count; ++c)
      text += (text.empty() ? "" : " * ") + e_.flat(e_.integer(k_.extents[c]));
    return text.empty() ? e_.flat("1") : text;
  }

  std::string constant(const std::string& name, const std::string& text) const {
    return e_.dialect.constant(e_.flat_type, name, text);
  }
  std::string loop(const std::string& i, const std::string& from, const std::string& to,
                   const std::string& step) const {
    return e_.dialect.loop(e_.flat_type, i, from, to, step);
  }
  std::string choose(const std::string& condition, const std::string& yes, const std::string& no) const {
    return e_.dialect.choose(condition, yes, no);
  }
  std::string when_first_lane() const {
    return e_.dialect.when(e_.dialect.lane + " == " + e_.dialect.literal(Type::U32, 0));
  }

  // ---- elementwise

  void write_pointwise() {
    const Work work = work_of(0);
    const std::string first = e_.flat(e_.dialect.grid(k_).global_lane),
                      step = e_.flat(e_.dialect.grid(k_).global_lanes);
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    std::string begin = first;
    if (vectors_.any()) {
      const std::string width = e_.flat(std::to_string(e_.width));
      e_.out.line(constant("points4", choose("vectors", "points - points % " + width, e_.flat("0"))));
      e_.open(loop("f", first + " * " + width, "points4", step + " * " + width));
      split("f", 0, k_.outer_rank, "y");
      vectors_.write_points(work, "y");
      e_.close();
      begin = "points4 + " + first;
    }
    e_.open(loop("f", begin, "points", step));
    split("f", 0, k_.outer_rank, "");
    write_point(work);
    e_.close();
  }

  // ---- reductions

  void write_reduction() {
    if (shares_loops()) return write_shared_columns();
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    if (in_workgroup) e_.out.line(constant("inner", count_of(k_.outer_rank, k_.inner_rank)));
    if (rows_.any()) {
      // Two loops over the points: beside the path for rows that are no whole vectors, this one would be
      // short of registers.
      e_.open(e_.dialect.when(k_.row_full ? "vectors"
                                          : "vectors && inner % " + e_.flat(std::to_string(e_.width)) +
                                                " == " + e_.flat("0")));
      in_registers_ = true;
      write_outer_loop();
      in_registers_ = false;
      e_.close();
      e_.open(e_.dialect.otherwise());
      write_outer_loop();
      e_.close();
      return;
    }
    if (vectors_.any())
      e_.out.line(constant(
          "inner4", choose("vectors", "inner - inner % " + e_.flat(std::to_string(e_.width)), e_.flat("0"))));
    write_outer_loop();
  }

  void write_outer_loop() {
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    e_.open(loop("f", e_.flat(in_workgroup ? e_.dialect.grid(k_).point : e_.dialect.grid(k_).global_lane),
                 "points",
                 e_.flat(in_workgroup ? e_.dialect.grid(k_).points : e_.dialect.grid(k_).global_lanes)));
    split("f", 0, k_.outer_rank, "");
    if (in_registers_) declare_held();
    for (std::uint16_t phase = 0; phase < k_.phases; ++phase) write_phase(phase);
    e_.close();
  }

  /// LanesOuter in workgroups with rows of lanes: the lanes of a column have one outer point and share its
  /// inner points.
  bool shares_loops() const {
    return schedule_ == Schedule::LanesOuter && !k_.split && !e_.dialect.row.empty();
  }

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
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && !is_inner(id) && k_.exprs[id].phase == phase) define_outer(id);
  }

  void write_inner_loop(const Work& work, std::uint16_t phase) {
    if (shares_loops()) e_.open(e_.dialect.when("there"));
    if (schedule_ == Schedule::LanesInner)
      write_dealt_loop(work, phase);
    else
      write_lane_loop(work);
    if (shares_loops()) e_.close();
    sums_.settle(work);
  }

  void define_outer(ExprId id) {
    const Expr& expr = k_.exprs[id];
    if (expr.kind != ExprKind::Reduce) return e_.define(id);
    sums_.join_workgroup(id);
    e_.out.line(e_.dialect.exact(expr.dtype, e_.value(id), Accumulators::name(id)));
  }

  void write_outer_stores(std::uint16_t phase) {
    std::vector<const ir::Store*> stores;
    bool also_read = false;
    for (const ir::Store& store : k_.stores) {
      if (store.level != Level::Outer || store.phase != phase) continue;
      stores.push_back(&store);
      also_read = also_read || k_.buffers[store.buffer].read;
    }
    if (stores.empty()) return;
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    // All lanes of a workgroup read the old value, one writes the new one.
    const Dialect& d = e_.dialect;
    if (in_workgroup && also_read) e_.out.line(d.barrier);
    if (shares_loops() && also_read)
      e_.out.line(d.guarded(d.when(d.rows + " > " + d.literal(Type::U32, 1)), d.barrier));
    if (in_workgroup) e_.open(when_first_lane());
    if (shares_loops()) e_.open(d.when("there && " + d.row + " == " + d.literal(Type::U32, 0)));
    for (const ir::Store* store : stores) e_.store(*store);
    if (in_workgroup || shares_loops()) e_.close();
  }

  /// A loop whose float sums go through parts of kChunk values. `body` writes one step; `elements` is how
  /// many parts a sum has.
  void write_chunked(const Work& work, const std::string& first, const std::string& limit,
                     const std::string& step, int elements, const std::function<void()>& body) {
    if (!sums_.any_part(work)) return write_rounds(work, first, limit, step, elements, body);
    const std::string chunk = step == "1" ? std::to_string(kChunk) : step + " * " + std::to_string(kChunk);
    e_.open(loop("h", first, limit, e_.flat(chunk)));
    e_.out.line(constant("left", limit + " - h"));
    e_.out.line(constant("end", "h + (" + choose("left < " + e_.flat(chunk), "left", e_.flat(chunk)) + ")"));
    sums_.declare_parts(work, elements);
    write_rounds(work, "h", "end", step, elements, body);
    sums_.add_parts(work, elements);
    e_.close();
  }

  /// A loop over j. Several rounds are taken at once, so that their loads are under way together.
  void write_rounds(const Work& work, const std::string& first, const std::string& limit,
                    const std::string& step, int elements, const std::function<void()>& body) {
    const bool rest = vectors_.any() && elements == 1;  // what vectors leave: a few points
    std::string from = first;
    const bool together = e_.dialect.unroll_8.empty() && e_.target.vectors && work.stores.empty() &&
                          work.values.size() <= kMostUnrolledExpressions && !rest;
    if (together) {
      e_.open("");
      const int rounds = schedule_ == Schedule::LanesOuter ? 8 : 4;
      const auto steps = [&](int count) {
        return (step == "1" ? "" : step + " * ") + e_.flat(std::to_string(count));
      };
      from = "g";
      e_.out.line(e_.dialect.variable(e_.flat_type, "g", first));
      e_.open(e_.dialect.loop_while("g + " + steps(rounds - 1) + " < " + limit, "g", steps(rounds)));
      e_.open_unrolled("u", rounds);
      e_.out.line(constant("j", "g + " + e_.flat("u") + " * " + e_.flat(step)));
      body();
      e_.close();
      e_.close();
    } else if (schedule_ == Schedule::LanesOuter && !e_.dialect.unroll_8.empty() && sums_.any_part(work)) {
      e_.hint(e_.dialect.unroll_8);
    }
    e_.open(loop("j", from, limit, step));
    body();
    e_.close();
    if (together) e_.close();
  }

  /// LanesInner: the inner points are dealt out among the lanes of the workgroup. Each loop of the kernel
  /// deals them alike. A part of a split kernel has the points from `begin` on.
  void write_dealt_loop(const Work& work, std::uint16_t phase) {
    if (in_registers_) return write_held_loop(work, phase);
    const std::string lane = e_.flat(e_.dialect.lane), lanes = e_.flat(e_.lanes());
    const std::size_t first = k_.outer_rank, count = k_.inner_rank;
    const std::string from = k_.split ? "begin + " : "";
    std::string begin = from + lane;
    if (vectors_.any() && !rows_.any()) {
      const std::string width = e_.flat(std::to_string(e_.width));
      write_chunked(work, from + lane + " * " + width, "inner4", lanes + " * " + width, e_.width, [&] {
        split("j", first, count, "y");
        vectors_.write_points(work, "y");
      });
      begin = "inner4 + " + lane;
    }
    write_chunked(work, begin, "inner", lanes, 1, [&] {
      split("j", first, count, "");
      write_point(work);
    });
  }

  /// The dealt loop over a row that a lane's registers hold: unrolled, so that each element has its register.
  void write_held_loop(const Work& work, std::uint16_t phase) {
    Work rest = work;
    rest.values = rows_.values[phase];
    sums_.declare_parts(work, e_.width);
    std::vector<ExprId> first;
    if (e_.dialect.loads_rows_first)
      for (ExprId id : rest.values)
        if (vectors_.is_load(id) && rows_.has(id)) first.push_back(id);
    if (!first.empty())
      write_over_vectors([&] {
        for (ExprId id : first) e_.out.line(vectors_.load(id, "y", rows_.name(id) + "[i]"));
      });
    write_over_vectors([&] { vectors_.write_points(rest, "y", rows_, rows_.taken[phase], first); });
    sums_.add_parts(work, e_.width);
  }

  /// A lane's vectors of a row, unrolled.
  void write_over_vectors(const std::function<void()>& body) {
    const std::string width = e_.flat(std::to_string(e_.width));
    e_.open_unrolled("i", k_.row_elements / e_.width);
    const std::string number = e_.flat("i") + " * " + e_.flat(e_.lanes()) + " + " + e_.flat(e_.dialect.lane);
    const bool numbered = e_.dialect.numbers_vectors && k_.inner_rank == 1;
    if (numbered) e_.out.line(e_.dialect.constant(Type::U32, "vector", e_.dialect.cast(Type::U32, number)));
    e_.out.line(constant("j", (numbered ? e_.flat("vector") : "(" + number + ")") + " * " + width));
    e_.open(k_.row_full ? "" : e_.dialect.when("j < inner"));
    split("j", k_.outer_rank, k_.inner_rank, "y");
    body();
    e_.close();
    e_.close();
  }

  /// LanesOuter: this lane walks all inner points, the last dim fastest. A part of a split kernel has those
  /// of the first inner dim from `begin` up to `end_of_part`.
  void write_lane_loop(const Work& work) {
    const std::size_t last = k_.extents.size() - 1;
    const bool shared = shares_loops();
    auto from = [&](std::size_t c) {
      return c != k_.outer_rank ? "0" : k_.split ? std::string("begin") : shared ? e_.dialect.row : "0";
    };
    auto step = [&](std::size_t c) {
      return shared && c == k_.outer_rank ? e_.dialect.rows : std::string("1");
    };
    auto to = [&](std::size_t c) {
      return k_.split && c == k_.outer_rank ? std::string("end_of_part") : e_.integer(k_.extents[c]);
    };
    for (std::size_t c = k_.outer_rank; c < last; ++c) {
      const std::string x = e_.coordinates[c];
      e_.open(e_.dialect.loop(e_.index_type, x, e_.index(from(c)), e_.index(to(c)), e_.index(step(c))));
    }
    const std::string last_step = step(last) == "1" ? "1" : e_.flat(step(last));
    write_chunked(work, e_.flat(from(last)), e_.flat(to(last)), last_step, 1, [&] {
      split("j", last, 1, "");
      write_point(work);
    });
    for (std::size_t c = k_.outer_rank; c < last; ++c) e_.close();
  }

  // ---- reductions whose inner points are shared by several workgroups

  /// Each workgroup reduces its part and leaves the result; the last to come for an outer point (LanesInner)
  /// or for a tile of them (LanesOuter) joins the parts, in their order whoever came when, and does what is
  /// left to do.
  void write_split_reduction() {
    const bool in_workgroup = schedule_ == Schedule::LanesInner;
    const std::string parts = e_.flat("parts"), workgroup = e_.flat(e_.dialect.workgroup),
                      lane = e_.flat(e_.dialect.lane);
    e_.out.line(constant("points", count_of(0, k_.outer_rank)));
    e_.out.line(constant("part", workgroup + " % " + parts));
    e_.out.line(e_.dialect.constant(Type::U32, "unit",
                                    e_.dialect.cast(Type::U32, e_.dialect.workgroup) + " / parts"));
    if (in_workgroup)
      e_.out.line(constant("f", e_.flat("unit")));
    else
      e_.out.line(constant("f", e_.flat("unit") + " * " + e_.flat(e_.dialect.lanes) + " + " + lane));
    cut_part(in_workgroup);
    const Work work = work_of(0);
    sums_.declare(work);
    // Lanes beyond the last point have nothing to do but must come to the barriers.
    const std::string there = e_.dialect.when("f < points");
    if (!in_workgroup) e_.open(there);
    split("f", 0, k_.outer_rank, "");
    define_outers(0);
    write_inner_loop(work, 0);
    if (!in_workgroup) e_.close();
    for (ExprId id : work.reductions) sums_.join_workgroup(id);
    e_.open(in_workgroup ? when_first_lane() : there);
    sums_.put_partials(work);
    e_.close();
    for (const std::string& line : e_.dialect.end_part("unit")) e_.out.line(line);

    sums_.restart(work);
    if (!in_workgroup) e_.open(there);
    sums_.join_partials(work, in_workgroup ? lane : e_.flat("0"),
                        e_.flat(in_workgroup ? e_.dialect.lanes : "1"));
    if (!in_workgroup) {
      split("f", 0, k_.outer_rank, "");
      define_outers(0);
    }
    write_phase(1);
    if (!in_workgroup) e_.close();
  }

  void cut_part(bool in_workgroup) {
    const std::string begin = choose("part * length < whole", "part * length", "whole"),
                      end = choose("length < whole - begin", "begin + length", "whole");
    if (in_workgroup) {
      const std::string step = e_.flat(e_.dialect.lanes) + " * " + e_.flat(std::to_string(e_.width));
      e_.out.line(constant("whole", count_of(k_.outer_rank, k_.inner_rank)));
      e_.out.line(constant("step", step));
      e_.out.line(constant("length", "((whole + parts - 1) / parts + step - 1) / step * step"));
      e_.out.line(constant("begin", begin));
      e_.out.line(constant("inner", end));
      if (vectors_.any())
        e_.out.line(constant(
            "inner4",
            choose("vectors", "inner - (inner - begin) % " + e_.flat(std::to_string(e_.width)), "begin")));
      return;
    }
    e_.out.line(constant("whole", e_.flat(e_.integer(k_.extents[k_.outer_rank]))));
    e_.out.line(constant("length", "(whole + parts - 1) / parts"));
    e_.out.line(constant("begin", begin));
    e_.out.line(constant("end_of_part", end));
  }

  Expressions& e_;
  const ir::Kernel& k_;
  Schedule schedule_;
  std::vector<bool> live_;
  Accumulators sums_;
  Vectors vectors_;
  HeldRows rows_;
  bool in_registers_ = false;  // where the path is written that holds them
};

}  // namespace

void write_loops(Expressions& e, Schedule schedule) { Loops(e, schedule).write(); }

}  // namespace sinter::emit
