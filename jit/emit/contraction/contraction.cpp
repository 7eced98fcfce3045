// Writes what differs from contraction to contraction.
#include "jit/emit/contraction/contraction.h"

#include <algorithm>
#include <string>
#include <utility>

#include "jit/emit/contraction/blocks.h"
#include "jit/emit/contraction/few_rows.h"
#include "jit/emit/contraction/group_product.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/contraction/matrices.h"
#include "jit/emit/contraction/subgroups.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/vectors/vectors.h"
#include "jit/ir/products/parts.h"
#include "jit/ir/products/terms.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::ExprId;
using ir::ExprKind;

namespace {

// Rows of a warpgroup's instruction.
constexpr int kRows = 64;
// Neighbours of a row that a lane finishes together.
constexpr int kNeighbours = 8;
constexpr std::size_t kBarriers = 1024 + 256;  // with what the slots are aligned by
constexpr std::size_t kStaging = 4 * 4096;     // where a warpgroup's lanes exchange results
constexpr int kRegisters = 65536;              // of a compute unit
// Registers of a lane that it has for places, for the slot at hand and for what it computes of a result.
constexpr int kOtherRegisters = 48;

int consumers(const ir::Tiling& t) { return t.turns > 0 ? t.turns : t.rows / kRows; }
int lanes(const ir::Tiling& t) {
  if (t.matrices.any()) return ir::MatrixTile(t).lanes();
  if (t.sharers > 0) return t.sharers * kSubgroupLanes;
  return t.subgroup_rows > 0 ? subgroup_lanes(t) : (consumers(t) + t.loaders) * kWarpgroup;
}

class Contraction {
 public:
  Contraction(const ir::Kernel& kernel, const Target& target)
      : k_(kernel),
        t_(kernel.tiling),
        loops_(kernel),
        e_(kernel, target),
        live_(live_behind_sum(kernel)),
        sums_(e_, ir::Schedule::Pointwise, live_),
        vectors_(e_, sums_, ir::Schedule::Pointwise, live_) {
    if (!in_vectors()) return;
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && !t_.is_sum(id) && vectors_.is_load(id) && !is_met_late(id))
        (differs_by_row(id) ? loads_ : columns_).push_back(id);
    choose_ahead();
  }

  Source write() {
    e_.out = Writer();  // what `vectors_` has said of vectors, the tiling knows
    e_.dialect.add_functions(e_.target, e_.functions);
    const auto part = [&](int depth, auto write) { return lines_at(depth, e_.out, write); };
    const auto values_of = [&](auto write) { return [&, write] { write(e_, loops_, lanes(t_)); }; };
    // What is put in between the parts of the template, in order.
    std::vector<std::string> between;
    if (t_.subgroup_rows > 0)
      between = {part(2, values_of(write_computed_values)), part(2, values_of(write_computed_stores)),
                 part(2, [&] { write_lane_copies(e_, loops_); })};
    else
      between = {part(5, [&] {
        if (t_.has_computed()) write_computed_factors(e_, loops_);
      })};
    between.push_back(part(3, [&] { write_load(); }));
    between.push_back(part(3, [&] { write_bring_near(); }));
    if (t_.subgroup_rows == 0) between.push_back(part(3, [&] { write_columns(); }));
    between.push_back(part(t_.subgroup_rows > 0 ? 4 : 5, [&] { write_finish(); }));
    std::string all;
    for (const std::string& text : between) all += text;

    Source result;
    result.entry = e_.dialect.entry;
    result.text = e_.dialect.preamble(k_, e_.target) + functions_for(all, e_.dialect, e_.functions) +
                  definitions() + operands();
    if (t_.subgroup_rows > 0) {
      const std::string declared = part(0, values_of(declare_computed_values));
      result.text += define("SN_PARTS", on_one_line(declared)) + subgroup_definitions(t_);
    } else {
      result.text += group_definitions() + group_product(k_, lies_across(t_.a), lies_across(t_.b)) +
                     std::string(kernels::source("copy_engine_sm90.inc"));
    }
    std::string_view rest =
        kernels::source(t_.subgroup_rows > 0 ? "contraction_sm80.cu" : "contraction_sm90.cu");
    if (t_.subgroup_rows > 0) result.text += kernels::source("lane_copies_sm80.inc");
    result.text += std::string(next_part(rest)) + std::string(kernels::source("contraction_tiles.inc"));
    if (t_.cluster > 1) result.text += kernels::source("cluster_sums_sm90.inc");
    if (t_.subgroup_rows > 0)
      result.text += (t_.exact ? std::string(kernels::source("warp_lanes_sm80.inc"))
                               : std::string(kernels::source("matrix_loads_sm80.inc")) +
                                     std::string(kernels::source("warp_matrices_sm80.inc"))) +
                     std::string(next_part(rest));
    result.text += head() + std::string(next_part(rest));
    for (const std::string& text : between) result.text += text + std::string(next_part(rest));
    result.text += "}\n";
    return result;
  }

 private:
  static std::string on_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  // ---- what stands before the template

  static int is_set(bool condition) { return condition ? 1 : 0; }

  std::string definitions() const {
    return define("SN_BM", t_.rows) + define("SN_BN", t_.columns) + define("SN_STAGES", t_.slots) +
           define("SN_SHARES", t_.shares()) + define("SN_BK", slot_elements(t_)) +
           define("SN_SUM", t_.multiplied == DType::i8 ? "int" : "float") +
           define("SN_COMPUTED", is_set(t_.has_computed())) +
           define("SN_A_ACROSS", is_set(lies_across(t_.a))) +
           define("SN_B_ACROSS", is_set(lies_across(t_.b))) +
           define("SN_BAND", std::max(1, kBandRows / t_.rows)) + define("SN_EXACT", is_set(t_.exact)) +
           define("SN_MANY_PARTS", ir::kManyParts) + define("SN_TOGETHER", together_) +
           define("SN_HAS_MEMBERS", is_set(k_.members > 1)) +
           define("SN_HAS_OPERANDS", is_set(!loads_.empty())) +
           define("SN_HAS_COLUMNS", is_set(!columns_.empty()));
  }

  /// Of kernels/tensor_cores/contraction_sm90.cu alone.
  std::string group_definitions() const {
    const int count = consumers(t_);
    const int copied = (t_.a.computed ? 0 : t_.rows) + (t_.b.computed ? 0 : columns_copied());
    std::string text = define("SN_SUM_REGISTER(d)", t_.multiplied == DType::i8 ? "\"+r\"(d)" : "\"+f\"(d)") +
                       define("SN_CONSUMERS", count) + define("SN_LOADERS", t_.loaders) +
                       define("SN_TAKE_TURNS", is_set(t_.turns > 0)) + define("SN_CLUSTER", t_.cluster) +
                       define("SN_REPEATS", loops_.repeats.empty() ? "1" : "size_repeat") +
                       define("SN_MEMBERS", k_.members > 1 ? "int(count)" : "1") +
                       define("SN_TERMS", static_cast<int>(t_.terms.size()) + 1) +
                       define("SN_SHORT_SUMS", is_set(t_.short_sums)) +
                       define("SN_COPIED_BYTES", copied * kSlotBytes);
    if (!t_.a.computed)
      text += define("SN_MAP_A", "t_a") + define("SN_LOAD_A", of_term("a", load(t_.a, "a", "at.m", t_.rows)));
    if (!t_.b.computed) text += define("SN_MAP_B", "t_b") + define("SN_LOAD_B", load_columns());
    const auto set = [&](const char* change, int registers) {
      if (t_.has_computed()) return std::string("(void)0");
      return "asm volatile(\"setmaxnreg." + std::string(change) + ".sync.aligned.u32 " +
             std::to_string(registers) + ";\")";
    };
    text += define("SN_FEWER_REGISTERS", set("dec", registers_of_loaders())) +
            define("SN_MORE_REGISTERS", set("inc", registers()));
    return text;
  }

  /// The lanes that only start copies hand their registers to those that multiply.
  int registers_of_loaders() const {
    const bool has_windows = t_.a.windows || t_.b.windows;  // whose coordinates take registers too
    const int count = consumers(t_);
    return has_windows ? 40 : t_.workgroups > 1 || count > 3 ? 24 : count == 2 ? 40 : 32;
  }
  /// Of a lane that multiplies.
  int registers() const {
    const int workgroup = lanes(t_), each = std::min(255, kRegisters / (workgroup * t_.workgroups)) / 8 * 8;
    if (t_.subgroup_rows > 0 || t_.has_computed()) return each;
    const int handed = registers_of_loaders() * kWarpgroup, multiplying = kWarpgroup * consumers(t_);
    return std::min(232, (each * workgroup - handed) / multiplying / 8 * 8);
  }

  /// In shared memory; what lanes compute lies along the sum there, unless they load it by vectors across.
  bool lies_across(const ir::TiledFactor& factor) const {
    return factor.across && (!t_.computes(factor) || (factor.vector > 0 && is_half(t_.multiplied)));
  }

  /// Statements that copy of `t_a` or `t_b`, with the map of a round's term in its place.
  std::string of_term(const std::string& which, const std::string& copies) const {
    if (t_.terms.empty()) return copies;
    std::string text = "{ const TensorMap& of_term = ";
    for (std::size_t k = t_.terms.size(); k > 0; --k)
      text += "term == " + std::to_string(k) + " ? t_" + which + std::to_string(k) + " : ";
    return text + "t_" + which + "; " + copies + "; }";
  }
  /// Of a factor: the tensor map.
  std::string map_of(const std::string& which) const { return t_.terms.empty() ? "t_" + which : "of_term"; }

  /// Has a factor's part of a slot copied: rows of k, or across them a box for each 64 neighbours.
  std::string load(const ir::TiledFactor& factor, const std::string& which, const std::string& place,
                   int size) const {
    if (factor.windows) return load_windows(factor, which, place, size);
    if (!factor.across) return load_box(factor, "to_" + which, map_of(which), place);
    const std::vector<std::size_t> batch = mapped_batch(k_, loops_, factor);
    const std::string call = "tc_load_" + std::to_string(2 + batch.size()) + "d(to_" + which;
    std::string coordinates;
    for (const std::size_t loop : batch) coordinates += ", " + coordinate(loop);
    std::string text;
    for (int from = 0; from < size; from += kRows)
      text += (from ? "; " : "") + call + " + " + std::to_string(from * kSlotBytes) + ", " + map_of(which) +
              ", arrived, " + place + " + " + std::to_string(from) + ", depth" + coordinates + ")";
    return text;
  }

  int columns_copied() const {
    const auto sums = static_cast<int>(t_.others.size()) + 1;
    return t_.others.empty() ? t_.columns : t_.own_columns() * sums;
  }

  /// The columns' part of a slot: of several sums each share of each 64 columns by itself.
  std::string load_columns() const {
    if (t_.others.empty()) return of_term("b", load(t_.b, "b", "at.n", t_.columns));
    std::string text;
    for (int part = 0; part < t_.columns / ir::Tiling::kPart; ++part)
      for (std::size_t sum = 0; sum <= t_.others.size(); ++sum) {
        const int share = ir::Tiling::kPart / t_.shares(),
                  to = part * ir::Tiling::kPart + static_cast<int>(sum) * share;
        text +=
            (text.empty() ? "" : "; ") + load_box(t_.b, "to_b + " + std::to_string(to * kSlotBytes),
                                                  "t_b" + (sum == 0 ? std::string() : std::to_string(sum)),
                                                  "at.n + " + std::to_string(part * share));
      }
    return text;
  }

  /// One copy of rows of k.
  std::string load_box(const ir::TiledFactor& factor, const std::string& to, const std::string& map,
                       const std::string& place) const {
    const std::vector<std::size_t> batch = mapped_batch(k_, loops_, factor);
    std::string text =
        "tc_load_" + std::to_string(2 + batch.size()) + "d(" + to + ", " + map + ", arrived, depth, " + place;
    for (const std::size_t loop : batch) text += ", " + coordinate(loop);
    return text + ")";
  }

  /// True of what products of a batch have each for itself.
  bool differs_by_batch(ExprId id) const {
    const std::uint32_t loops = ir::dependence(k_)[id];
    return std::any_of(loops_.batch.begin(), loops_.batch.end(),
                       [&](std::size_t loop) { return (loops >> loop & 1) != 0; });
  }

  /// The same by windows, from the numbers of a position and of an element.
  std::string load_windows(const ir::TiledFactor& factor, const std::string& which, const std::string& place,
                           int size) const {
    const std::string of = factor.windows == 3 ? "_of_planes" : "",
                      call = "tc_load_windows" + of + "(to_" + which,
                      map = ", t_" + which + ", w_" + which + ", arrived, ",
                      group = differs_by_batch(factor.value) ? ", at.z)" : ", 0)";
    if (!factor.across) return call + map + place + ", depth" + group;
    std::string text;
    for (int from = 0; from < size; from += kRows) {
      const std::string end = which == "a" ? "size_m" : "size_n", at = place + " + " + std::to_string(from);
      // What is beyond the last element is of no result, and read elsewhere.
      text += (from ? "; " : "") + call + " + " + std::to_string(from * kSlotBytes) + map + "depth, min(" +
              at + ", " + end + " - " + std::to_string(kRows) + ")" + group;
    }
    return text;
  }

  /// Of a loop of the batch, from the number at.z of all of them.
  std::string coordinate(std::size_t loop) const {
    std::string text = "at.z";
    for (std::size_t k = loops_.batch.size(); loops_.batch[--k] != loop;)
      text = "(" + text + " / int(" + e_.integer(k_.extents[loops_.batch[k]]) + "))";
    return loop == loops_.batch.front() ? text : text + " % int(" + e_.integer(k_.extents[loop]) + ")";
  }

  std::string head() const { return e_.dialect.open(k_, e_.target, e_.use) + sizes_of_loops(e_, loops_); }

  // ---- what becomes of a finished tile

  /// False of what all rows have in common, bounds included.
  bool differs_by_row(ExprId id) const { return (ir::dependence(k_)[id] & t_.row_loops) != 0; }

  /// True iff a step is of one repeat, as the warps of a cluster have them; others go over all repeats, and
  /// load what differs among these where it is met.
  bool has_own_repeat() const { return t_.cluster > 1 && !loops_.repeats.empty(); }
  bool is_met_late(ExprId id) const {
    return !has_own_repeat() && (ir::dependence(k_)[id] & t_.repeat_loops) != 0;
  }

  /// What a step's results meet is loaded while the step before is finished, as far as registers go:
  /// compilers put the rest into memory, which costs more than waiting for what was brought near.
  void choose_ahead() {
    const int multiplying =
        t_.subgroup_rows > 0 ? lanes(t_) : kWarpgroup * (t_.turns > 0 ? 1 : consumers(t_));
    const int sums = t_.rows * t_.columns / multiplying * (t_.short_sums ? 2 : 1);
    const int left = registers() - sums - kOtherRegisters;
    ahead_ = loads_;
    // The step's own sums, and of this step and the next what they meet.
    const auto words = [&](int rows) {
      int each = kNeighbours * (static_cast<int>(t_.others.size()) + 1);
      for (ExprId id : ahead_) each += 2 * words_of_vector(id);
      return rows * each;
    };
    if (t_.workgroups > 1 || t_.shares() == 4 || words(2) > left) together_ = 1;
    while (!ahead_.empty() && words(together_) > left) ahead_.pop_back();
    // What all rows have in common is loaded once for a tile, as far as there is room still; else where it is
    // met, from the first-level cache.
    int room = left - words(together_);
    const int parts = t_.columns / kRows + 1;  // and once more those of the part that is finished
    const auto fits = [&](ExprId id) { return (room -= parts * words_of_vector(id)) >= 0; };
    if (t_.subgroup_rows > 0 || t_.cluster > 1) columns_.clear();  // the text has no place for them
    columns_.erase(std::find_if_not(columns_.begin(), columns_.end(), fits), columns_.end());
  }

  /// Registers for kNeighbours elements.
  int words_of_vector(ExprId id) const {
    const DType dtype = k_.exprs[id].dtype;
    return kNeighbours * (is_half(dtype) ? 2 : std::max(4, static_cast<int>(size_of(dtype)))) / 4;
  }

  bool in_vectors() const { return t_.vectors && vectors_.any(); }
  int width() const { return in_vectors() ? e_.width : 1; }
  /// Of a row that a lane finishes at once, and of all its rows.
  int vectors_of_row() const { return kNeighbours / width(); }
  int vectors_of_step() const { return together_ * vectors_of_row(); }

  /// Where the sums of a step, and what they meet, are held.
  HeldRows rows(const std::string& owner) const {
    HeldRows rows;
    rows.owner = owner;
    rows.held = sums();
    rows.held.insert(rows.held.end(), ahead_.begin(), ahead_.end());
    for (std::size_t slot = 0; slot < rows.held.size(); ++slot) rows.slots.push_back(slot);
    return rows;
  }

  std::vector<ExprId> sums() const {
    std::vector<ExprId> all{t_.sum};
    for (const ir::Tiling::OtherSum& other : t_.others) all.push_back(other.sum);
    return all;
  }
  // Of a row's columns in 64 of a tile each of so many lanes finishes kNeighbours, in a step each of so many
  // rows.
  int own_of_part() const { return ir::Tiling::kPart / t_.shares(); }
  int lanes_of_row() const { return ir::Tiling::kPart / kNeighbours / t_.shares(); }
  int rows_at_once() const { return kSubgroupLanes / lanes_of_row(); }

  std::string operands() const {
    const HeldRows held = rows("");
    std::string text = "struct Operands {\n";
    for (ExprId id : held.held)
      text += "  " +
              e_.dialect.declare_vector(k_.exprs[id].dtype, width(), held.name(id), vectors_of_step()) + "\n";
    text += "};\n";
    if (columns_.empty()) return text;
    text += "struct Columns {\n";
    for (ExprId id : columns_)
      text +=
          "  " + e_.dialect.declare_vector(k_.exprs[id].dtype, width(), column(id), vectors_of_row()) + "\n";
    return text + "};\n";
  }
  static std::string column(ExprId id) { return "c" + std::to_string(id); }

  /// Loads what all rows have in common, of the columns from `column` on.
  void write_columns() {
    if (columns_.empty()) return;
    const std::vector<std::string> coordinates = e_.coordinates;
    split_loops(e_, "at.z", loops_.batch);
    e_.open_unrolled("i", vectors_of_row());
    e_.out.line(e_.dialect.constant(Type::I32, "to_n", "column + int(i) * " + std::to_string(width())));
    e_.open(e_.dialect.when("to_n < size_n"));
    for (const std::size_t loop : loops_.rows) e_.coordinates[loop] = "0";
    open_last_column();
    for (ExprId id : columns_) vectors_.load(id, "y", "columns." + column(id) + "[i]");
    close_columns();
    e_.coordinates = coordinates;
  }

  /// Loads what the results at `row` and `column` meet.
  void write_load() {
    if (ahead_.empty()) return;
    open_columns();
    for (ExprId id : ahead_) vectors_.load(id, "y", rows("next.").name(id) + "[i]");
    close_columns();
  }
  /// Likewise of those that differ from row to row, as far as the second-level cache.
  void write_bring_near() {
    if (loads_.empty()) return;
    open_columns();
    for (ExprId id : loads_) {
      const bool has_bounds = vectors_.open_bounds(id);
      e_.out.line("tc_bring_near(b" + std::to_string(k_.exprs[id].buffer) + " + " +
                  vectors_.place(k_.exprs[id].map, "y") + ");");
      if (has_bounds) e_.close(), e_.close();
    }
    close_columns();
  }

  /// kNeighbours results of each of together_ rows, 4 rows apart: what the lanes of a warp have exchanged.
  void write_finish() {
    InnerWork work;
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && !t_.is_sum(id)) work.values.push_back(id);
    for (const ir::Store& store : k_.stores) work.stores.push_back(&store);
    HeldRows held = rows("met.");
    std::vector<ExprId> loaded = ahead_;
    const std::string each = std::to_string(vectors_of_row()), of_row = std::to_string(lanes_of_row()),
                      at_once = std::to_string(rows_at_once());
    for (ExprId id : columns_) {
      held.elsewhere[id] = "columns." + column(id) + "[i % " + each + "]";
      loaded.push_back(id);
    }
    const std::string get = t_.cluster > 1 ? "tc_get_of_all(sums_of_all, " : "tc_get(stage, ";
    e_.open_unrolled("p", together_);
    for (std::size_t s = 0; s <= t_.others.size(); ++s) {
      const std::string share = s == 0 ? "" : std::to_string(static_cast<int>(s) * own_of_part()) + " + ";
      e_.out.line(get + "lane / " + of_row + " + (turn * SN_TOGETHER + p) * " + at_once + ", " + share +
                  "lane % " + of_row + " * 8, " + held.name(sums()[s]) + "[p * " + each + "]);");
    }
    e_.close();
    const bool goes_over_repeats = !loops_.repeats.empty() && !has_own_repeat();
    if (goes_over_repeats) {
      e_.open("for (int to_repeat = 0; to_repeat < size_repeat; ++to_repeat)");
      split_loops(e_, "to_repeat", loops_.repeats);
    }
    open_columns();
    write_sums_of_blocks(e_, loops_, held.name(t_.sum) + "[i]", width());
    if (in_vectors()) {
      vectors_.write_points(work, "y", held, sums(), loaded);
    } else {
      e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loops_.columns.back()], "y"));
      for (const ExprId sum : sums())
        e_.out.line(e_.dialect.exact(DType::f32, e_.value(sum), held.name(sum) + "[i][0]"));
      for (ExprId id : work.values) e_.define(id);
      for (const ir::Store* store : work.stores) e_.store(*store);
    }
    close_columns();
    if (goes_over_repeats) e_.close();
  }

  /// A loop over the vectors that a lane finishes together, from `row` and `column` on; `y` is the last
  /// coordinate of the first column of each.
  void open_columns() {
    split_loops(e_, "at.z", loops_.batch);
    if (has_own_repeat()) split_loops(e_, "to_repeat", loops_.repeats);
    e_.open_unrolled("i", vectors_of_step());
    const std::string each = std::to_string(vectors_of_row());
    e_.out.line(e_.dialect.constant(Type::I32, "to_m",
                                    "row + int(i) / " + each + " * " + std::to_string(rows_at_once())));
    e_.out.line(e_.dialect.constant(Type::I32, "to_n",
                                    "column + int(i) % " + each + " * " + std::to_string(width())));
    e_.open(e_.dialect.when("to_m < size_m && to_n < size_n"));
    split_loops(e_, "to_m", loops_.rows);
    open_last_column();
  }
  void open_last_column() {
    const std::size_t last = loops_.columns.back();
    const std::string own = std::exchange(e_.coordinates[last], "y");
    split_loops(e_, "to_n", loops_.columns);
    e_.coordinates[last] = own;
  }
  void close_columns() {
    e_.close();
    e_.close();
  }

  const ir::Kernel& k_;
  const ir::Tiling& t_;
  const TiledLoops loops_;
  Expressions e_;
  const std::vector<bool> live_;
  Accumulators sums_;
  Vectors vectors_;
  // Of vectors that results meet: those that differ from row to row, and of these which are loaded ahead.
  std::vector<ExprId> loads_, ahead_;
  std::vector<ExprId> columns_;  // those that all rows have in common, which are loaded once for a tile
  int together_ = 2;             // rows, so that what they meet is loaded together
};

}  // namespace

bool has_tiles(const ir::Kernel& kernel, const Target& target) {
  return kernel.tiling.any() && target.tensor_units > 0;
}

int contraction_lanes(const ir::Kernel& kernel) { return lanes(kernel.tiling); }

std::size_t contraction_shared_bytes(const ir::Kernel& kernel) {
  const ir::Tiling& t = kernel.tiling;
  if (t.matrices.any()) return 0;  // all of it stands in the text
  if (t.sharers > 0)
    return std::size_t{t.sharers} * t.slots * (t.rows + (t.unpacks() ? 0 : t.columns)) * kSlotBytes;
  if (t.subgroup_rows > 0) return std::size_t{t.slots} * (t.rows + t.columns) * kSlotBytes;
  return std::size_t{t.slots} * (t.rows + t.columns) * kSlotBytes +
         (t.cluster > 1 ? 0 : static_cast<std::size_t>(consumers(t)) * kStaging) + kBarriers;
}

Source emit_contraction(const ir::Kernel& kernel, const Target& target) {
  if (kernel.tiling.matrices.any()) return emit_matrices(kernel, target);
  if (kernel.tiling.sharers > 0) return emit_few_rows(kernel, target);
  if (kernel.tiling.terms.empty()) return Contraction(kernel, target).write();
  const ir::Kernel one = ir::with_one_sum(kernel);
  return Contraction(one, target).write();
}

}  // namespace sinter::emit
