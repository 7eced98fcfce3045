// Writes what differs from one kernel of attention to another.
#include "jit/emit/attention/attention.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "jit/emit/attention/text.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/work.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

namespace {

constexpr int kDepth = 16;  // of an instruction, in elements
constexpr int kLine = 128;  // bytes
constexpr int kAlignment = 1024, kBarriers = 256;
constexpr int kStrands = 4;
// Registers of lanes that load, and of those that multiply: of two warpgroups or fewer, and of three.
constexpr int kFewer = 24, kMore = 240, kMoreOfThree = 160;

std::string text_of(int number) { return std::to_string(number); }
std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}

class AttentionText {
 public:
  AttentionText(const ir::Kernel& kernel, const Target& target)
      : k_(kernel),
        a_(kernel.attention),
        shared_(kernel),
        e_(kernel, target),
        masks_(e_),
        live_(live_expressions(kernel)),
        row_(kernel.outer_rank - 1u),
        column_(kernel.outer_rank) {
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      if (!live_[id]) continue;
      const Expr& e = k_.exprs[id];
      if (e.kind == ExprKind::Dot) dots_.push_back(id);
      if (e.kind == ExprKind::Combine) combines_.push_back(id);
      if (e.kind == ExprKind::Reduce) (is_softmax() && e.phase == 1 ? greatest_ : sums_).push_back(id);
    }
    find_row_values();
  }

  Source write() {
    e_.dialect.add_functions(e_.target, e_.functions);
    // Weights are rounded to 16 bits; this is within 2e-7 of the number.
    e_.functions["sn_exp_f32"] =
        "SN_FN float sn_exp_f32(float a) {\n  float b;\n"
        "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(b) : \"f\"(a * 1.4426950408889634f));\n  return "
        "b;\n}\n";
    const std::array<std::string_view, kPieces> parts = parts_of_template();
    std::string body = part(1, [&] { write_head(); }) + masks_.text();
    const auto then = [&](std::size_t piece, int depth, auto write) {
      body += std::string(parts[piece]) + part(depth, [&] { (this->*write)(); });
    };
    then(1, 2, &AttentionText::write_loads_of_rows);
    then(2, 3, &AttentionText::write_loads_of_columns);
    then(3, 1, &AttentionText::write_start);
    then(4, 2, &AttentionText::write_dots);
    then(5, 2, &AttentionText::write_tile);
    then(6, 2, &AttentionText::write_combines);
    then(7, 1, &AttentionText::write_end);
    Source result;
    result.entry = e_.dialect.entry;
    result.text = e_.dialect.preamble(k_, e_.target) + functions_for(body, e_.dialect, e_.functions) +
                  definitions() + std::string(parts[0]) + instructions() +
                  e_.dialect.open(k_, e_.target, e_.use) + body + "}\n";
    return result;
  }

 private:
  bool is_softmax() const { return k_.phases == 3; }
  const Expr& expr(ExprId id) const { return k_.exprs[id]; }
  int scores() const { return a_.columns / 2; }  // of a lane
  static std::string name(const char* what, ExprId id) { return what + std::to_string(id); }

  template <class Write>
  std::string part(int depth, Write write) {
    e_.out = Writer();
    for (int d = 0; d < depth; ++d) e_.out.indent();
    write();
    return e_.out.text();
  }

  static constexpr std::size_t kPieces = 8;
  static std::array<std::string_view, kPieces> parts_of_template() {
    constexpr std::string_view kMark = "//---\n";
    std::string_view rest = kernels::source("attention_sm90.cu");
    std::array<std::string_view, kPieces> found;
    for (std::string_view& piece : found) {
      const std::size_t end = std::min(rest.find(kMark), rest.size());
      piece = rest.substr(0, end);
      rest.remove_prefix(std::min(end + kMark.size(), rest.size()));
    }
    return found;
  }

  // ---- what stands before the template

  std::string definitions() const {
    const auto set = [](const char* change, int registers) {
      return "asm volatile(\"setmaxnreg." + std::string(change) + ".sync.aligned.u32 " + text_of(registers) +
             ";\")";
    };
    return define("SN_INFINITY", "__int_as_float(0x7f800000)") + define("SN_ROWS", text_of(a_.rows)) +
           define("SN_COLUMNS", text_of(a_.columns)) + define("SN_SLOTS", text_of(a_.slots)) +
           define("SN_CONSUMERS", text_of(a_.rows / kRowsOfWarpgroup)) +
           define("SN_COMBINES", combines_.empty() ? "0" : "1") +
           define("SN_BYTES_OF_ROWS", text_of(shared_.bytes_of_rows())) +
           define("SN_BYTES_OF_SLOT", text_of(shared_.bytes_of_slot())) +
           define("SN_FEWER_REGISTERS", set("dec", kFewer)) +
           define("SN_MORE_REGISTERS", set("inc", a_.rows > 2 * kRowsOfWarpgroup ? kMoreOfThree : kMore));
  }

  /// tc_dot: scores of a tile, of a factor of rows and one of columns. tc_combine_E: += weights times E
  /// elements of rows.
  std::string instructions() const {
    std::string text;
    std::vector<std::string> written;
    const auto add = [&](const std::string& function) {
      if (std::find(written.begin(), written.end(), function) != written.end()) return;
      written.push_back(function);
      text += function;
    };
    for (const ExprId id : dots_) add(dot_instruction(expr(expr(id).args[0]).dtype));
    for (const ExprId id : combines_) add(combine_instruction(expr(expr(id).args[1])));
    return text;
  }

  static std::pair<std::string, std::string> accumulators(int count) {
    std::string registers, outputs;
    for (int i = 0; i < count; ++i) {
      registers += (i ? ", %" : "%") + text_of(i);
      outputs += (i ? ", \"+f\"(d[" : "\"+f\"(d[") + text_of(i) + "])";
    }
    return {registers, outputs};
  }

  std::string dot_instruction(DType dtype) const {
    const int count = scores();
    const auto [registers, outputs] = accumulators(count);
    const std::string type(name_of(dtype));
    return "SN_FN void tc_dot_" + type + "(float (&d)[" + text_of(count) + "], u64 a, u64 b, int more) {\n" +
           "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %" + text_of(count + 2) +
           ", 0;\\n\\t\"\n      \"wgmma.mma_async.sync.aligned.m64n" + text_of(a_.columns) + "k16.f32." +
           type + "." + type + " {" + registers + "}, %" + text_of(count) + ", %" + text_of(count + 1) +
           ", p, 1, 1, 0, 0;\\n\\t}\"\n      : " + outputs + " : \"l\"(a), \"l\"(b), \"r\"(more));\n}\n";
  }

  static std::string combine_instruction(const Expr& row) {
    const int count = row.length / 2;
    const auto [registers, outputs] = accumulators(count);
    const std::string type(name_of(row.dtype));
    std::string weights, inputs;
    for (int i = 0; i < 4; ++i) {
      weights += (i ? ", %" : "%") + text_of(count + i);
      inputs += "\"r\"(w[" + text_of(i) + "]), ";
    }
    return "SN_FN void tc_combine_" + type + "_" + text_of(row.length) + "(float (&d)[" + text_of(count) +
           "], const unsigned* w, u64 b) {\n  asm volatile(\"wgmma.mma_async.sync.aligned.m64n" +
           text_of(row.length) + "k16.f32." + type + "." + type + " {" + registers + "}, {" + weights +
           "}, %" + text_of(count + 4) + ", 1, 1, 1, 1;\"\n      : " + outputs + " : " + inputs +
           "\"l\"(b));\n}\n";
  }

  // ---- loading

  void write_head() {
    const auto size = [&](const char* what, std::size_t loop) {
      e_.out.line("const int " + std::string(what) + " = int(" + e_.integer(k_.extents[loop]) + ");");
    };
    size("size_m", row_);
    size("size_n", column_);
    e_.out.line("const int tiles = (size_m + SN_ROWS - 1) / SN_ROWS, tile = blockIdx.x % tiles;");
    // The longest first, so that the last to be done is short.
    e_.out.line("const int row_of_tile = " +
                std::string(masks_.grows_with_rows() ? "(tiles - 1 - tile)" : "tile") + " * SN_ROWS;");
    std::vector<std::size_t> batch;
    for (std::size_t loop = 0; loop < row_; ++loop) batch.push_back(loop);
    split_loops(e_, "(blockIdx.x / tiles)", batch);
  }

  void write_loads(bool columns, const std::string& to, const std::string& barrier, const std::string& own) {
    for (std::size_t number = 0; number < rows_of(k_).size(); ++number) {
      const ExprId id = rows_of(k_)[number];
      if (shared_.is_column(id) != columns) continue;
      std::string batch;
      for (const std::size_t loop : mapped_batch(k_, id)) batch += ", int(" + e_.coordinates[loop] + ")";
      for (int chunk = 0; chunk < chunks(expr(id)); ++chunk)
        e_.out.line("tc_load_" + text_of(2 + static_cast<int>(mapped_batch(k_, id).size())) + "d(" + to +
                    " + " + text_of(shared_.offset(id) + chunk * shared_.chunk_bytes(id)) + ", t_" +
                    std::to_string(number) + ", " + barrier + ", " + text_of(chunk * kChunk) + ", " + own +
                    batch + ");");
    }
  }
  void write_loads_of_rows() {
    e_.out.line("tc_expect(rows_here, SN_BYTES_OF_ROWS);");
    write_loads(false, "rows_at", "rows_here", "row_of_tile");
  }
  void write_loads_of_columns() {
    e_.out.line("tc_expect(arrived, SN_BYTES_OF_SLOT);");
    write_loads(true, "to", "arrived", "from");
  }

  // ---- numbers of rows: of both rows of a lane, in an array

  /// Outer values that are read where scores are, and those that they are made of.
  void find_row_values() {
    is_row_value_.assign(k_.exprs.size(), false);
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = expr(id);
      if (!live_[id] || e.kind == ExprKind::Combine) continue;
      const bool is_inner = e.level == Level::Inner;
      for_operands(e, [&](ExprId arg) {
        const bool is_later = e.phase > 0 && expr(arg).phase == 0;
        if (is_inner || ir::is_reduced(e) || is_later) is_row_value_[arg] = true;
      });
    }
    for (const ExprId id : combines_) for_operands(expr(id), [&](ExprId arg) { is_row_value_[arg] = true; });
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      is_row_value_[id] = is_row_value_[id] && expr(id).level == Level::Outer && !is_argument(id) &&
                          !ir::is_reduced(expr(id)) && expr(id).kind != ExprKind::Row;
  }
  /// Its text needs no definition.
  bool is_argument(ExprId id) const { return e_.value(id)[0] == 's'; }
  std::string array(ExprId id) const { return name("row_v", id); }

  /// Defines what is Outer and of phases [from, to) for row r, with the reductions that have been found.
  void define_outer(std::uint16_t from, std::uint16_t to) {
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = expr(id);
      if (!live_[id] || e.level != Level::Outer || e.phase < from || e.phase >= to) continue;
      if (e.kind == ExprKind::Row || e.kind == ExprKind::Combine) continue;
      if (e.kind == ExprKind::Reduce)
        e_.out.line("const float " + e_.value(id) + " = " + name("found", id) + "[r];");
      else
        e_.define(id);
    }
  }
  void open_rows() {
    e_.open_unrolled("r", 2);
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[row_],
                                    e_.index("min(first_row + int(r) * 8, size_m - 1)")));
  }

  void write_start() {
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (is_row_value_[id]) e_.out.line(e_.dialect.declare_vector(expr(id).dtype, 2, array(id)));
    for (const ExprId id : greatest_)
      e_.out.line("float " + name("found", id) + "[2] = {-SN_INFINITY, -SN_INFINITY};");
    for (const ExprId id : sums_) {
      const std::string first = expr(id).op == Op::Max ? "-SN_INFINITY" : "0.f";
      e_.out.line("float " + name("found", id) + "[2] = {" + first + ", " + first + "};");
    }
    for (const ExprId id : combines_) {
      e_.out.line("float " + name("sums", id) + "[" + text_of(expr(expr(id).args[1]).length / 2) + "];");
      e_.open_unrolled("k", expr(expr(id).args[1]).length / 2);
      e_.out.line(name("sums", id) + "[k] = 0.f;");
      e_.close();
    }
    open_rows();
    define_outer(0, 1);
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (is_row_value_[id] && expr(id).phase == 0) e_.out.line(array(id) + "[r] = " + e_.value(id) + ";");
    e_.close();
    for (const ExprId id : dots_) e_.out.line("float " + name("scores", id) + "[" + text_of(scores()) + "];");
  }

  // ---- a tile

  void write_tile() {
    for (const ExprId id : dots_) e_.out.line("tc_hold(" + name("scores", id) + ");");
    for (const ExprId id : combines_)
      e_.out.line("unsigned " + name("weights", id) + "[" + text_of(scores() / 2) + "];");
    e_.open("if (are_all_seen(from))");
    write_scores(false);
    e_.close();
    e_.open("else");
    write_scores(true);
    e_.close();
  }

  /// What was combined before this tile; its slot is free.
  void write_finish() {
    e_.out.line("tc_finish();");
    for (const ExprId id : combines_) e_.out.line("tc_hold(" + name("sums", id) + ");");
    e_.out.line("if (before >= 0 && lane == 0) tc_arrive(empty + 8 * before);");
  }

  void write_dots() {
    for (const ExprId id : dots_) {
      ExprId a = expr(id).args[0], b = expr(id).args[1];
      if (shared_.is_column(a)) std::swap(a, b);
      const int steps = (expr(a).length + kDepth - 1) / kDepth;
      for (int step = 0; step < steps; ++step)
        e_.out.line("tc_dot_" + std::string(name_of(expr(a).dtype)) + "(" + name("scores", id) +
                    ", tc_matrix(own_rows + " + text_of(shared_.offset(a) + along(a, step)) +
                    ", 16), tc_matrix(columns_at + " + text_of(shared_.offset(b) + along(b, step)) +
                    ", 16), " + (step ? "1" : "0") + ");");
    }
  }
  /// From the first element of a line to that of the step.
  int along(ExprId row, int step) const {
    const int element = step * kDepth;
    return element / kChunk * shared_.chunk_bytes(row) + element % kChunk * 2;
  }

  void write_combines() {
    if (combines_.empty()) return;
    e_.out.line("tc_begin();");
    for (const ExprId id : combines_) {
      const ExprId row = expr(id).args[1];
      for (int step = 0; step < a_.columns / kDepth; ++step)
        e_.out.line("tc_combine_" + std::string(name_of(expr(row).dtype)) + "_" + text_of(expr(row).length) +
                    "(" + name("sums", id) + ", " + name("weights", id) + " + " + text_of(step * 4) +
                    ", tc_matrix(columns_at + " + text_of(shared_.offset(row) + step * kDepth * kLine) +
                    ", " + text_of(shared_.chunk_bytes(row)) + "));");
    }
    e_.out.line("tc_end();");
  }

  /// What is computed of a tile. `exact`: some of its scores do not count.
  void write_scores(bool exact) {
    if (is_softmax()) {
      write_greatest(exact);
      write_sums(exact, 1);
    } else {
      write_sums(exact, 0);
    }
  }

  /// A loop over the scores of a lane, in which `targets`, and what they need, are defined.
  void open_scores(bool exact, const std::vector<ExprId>& targets, std::uint16_t phase) {
    e_.open_unrolled("i", scores());
    e_.out.line("const int r = int(i) / 2 % 2, strand = int(i) / 4 % " + text_of(kStrands) +
                ", of_row = first_row + r * 8;");
    e_.out.line("const int of_column = from + column_of_lane + int(i) / 4 * 8 + int(i) % 2;");
    const auto place = [&](std::size_t loop, const char* at, const char* size) {
      const std::string text = exact ? "min(" + std::string(at) + ", " + size + " - 1)" : std::string(at);
      e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loop], e_.index(text)));
    };
    e_.out.line(
        e_.dialect.constant(e_.index_type, e_.coordinates[row_], e_.index("min(of_row, size_m - 1)")));
    place(column_, "of_column", "size_n");
    std::vector<bool> needed(k_.exprs.size());
    for (const ExprId id : targets) needed[id] = true;
    for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
      if (needed[id] && expr(id).level == Level::Inner && expr(id).kind != ExprKind::Dot &&
          !is_known(id, exact, phase))
        for_operands(expr(id), [&](ExprId arg) { needed[arg] = true; });
    for (ExprId id = 0; id < needed.size(); ++id)
      if (needed[id]) define_score(id, exact, phase);
  }

  /// A condition that holds all over the tile, or the score whose greatest is known.
  bool is_known(ExprId id, bool exact, std::uint16_t phase) const {
    const std::vector<ExprId>& conditions = masks_.conditions();
    if (!exact && std::find(conditions.begin(), conditions.end(), id) != conditions.end()) return true;
    return phase == 1 && is_shifted(id);
  }
  bool is_shifted(ExprId id) const { return !greatest_.empty() && expr(greatest_[0]).args[0] == id; }

  void define_score(ExprId id, bool exact, std::uint16_t phase) {
    const Expr& e = expr(id);
    if (is_argument(id) || e.kind == ExprKind::Row) return;
    if (phase == 1 && is_shifted(id)) {
      e_.out.line("const float " + e_.value(id) + " = shifted[i];");
    } else if (e.kind == ExprKind::Dot) {
      e_.out.line("const float " + e_.value(id) + " = " + name("scores", id) + "[i];");
    } else if (e.level == Level::Outer) {
      // What is subtracted from scores is never infinite.
      const bool is_subtracted = phase == 1 && id == subtracted_value();
      e_.out.line(e_.dialect.constant(type_of(e.dtype), e_.value(id),
                                      (is_subtracted ? "greatest" : array_of(id)) + "[r]"));
      e_.define_reciprocal(id);
    } else if (is_known(id, exact, phase)) {
      e_.out.line("const bool " + e_.value(id) + " = true;");
    } else {
      e_.define(id);
    }
  }
  std::string array_of(ExprId id) const { return ir::is_reduced(expr(id)) ? name("found", id) : array(id); }

  /// The greatest score of each row up to this tile, and how much smaller what was summed so far becomes.
  void write_greatest(bool exact) {
    const ExprId id = greatest_[0], score = expr(id).args[0];
    e_.out.line("float shifted[" + text_of(scores()) + "], greatest[2], factor[2];");
    declare_strands("of_strand", "-SN_INFINITY");
    open_scores(exact, {score}, 0);
    e_.out.line("shifted[i] = " + std::string(exact ? "of_column < size_n ? " : "") + e_.value(score) +
                (exact ? " : -SN_INFINITY;" : ";"));
    e_.out.line("of_strand[r][strand] = " + greater("of_strand[r][strand]", "shifted[i]") + ";");
    e_.close();
    e_.open_unrolled("r", 2);
    e_.out.line("greatest[r] = " + joined_strands("of_strand", Op::Max) + ";");
    for (const char* other : {"1", "2"})
      e_.out.line("greatest[r] = " +
                  greater("greatest[r]", "tc_of_row(greatest[r], " + std::string(other) + ")") + ";");
    const ExprId subtracted = subtracted_value();
    e_.out.line("float before, now;");
    for (int now = 0; now < 2; ++now) {
      e_.open("");
      if (now)
        e_.out.line(name("found", id) + "[r] = " + greater(name("found", id) + "[r]", "greatest[r]") + ";");
      import_rows(0);
      define_outer(1, 2);
      e_.out.line(std::string(now ? "now" : "before") + " = " + e_.value(subtracted) + ";");
      if (now)
        for (ExprId other = 0; other < k_.exprs.size(); ++other)
          if (is_row_value_[other] && expr(other).phase == 1)
            e_.out.line(array(other) + "[r] = " + e_.value(other) + ";");
      e_.close();
    }
    // A row in which everything so far is minus infinity has sums of 0.
    e_.out.line("factor[r] = before == now ? 1.f : sn_exp_f32(before - now);");
    e_.out.line("greatest[r] = now == -SN_INFINITY ? 0.f : now;");
    e_.close();
    write_finish();
    for (const ExprId combine : combines_) {
      e_.open_unrolled("k", expr(expr(combine).args[1]).length / 2);
      e_.out.line(name("sums", combine) + "[k] *= factor[int(k) / 2 % 2];");
      e_.close();
    }
    for (const ExprId sum : sums_)
      for (const char* r : {"0", "1"}) e_.out.line(name("found", sum) + "[" + r + "] *= factor[" + r + "];");
  }
  /// Of the shifted scores: the greatest of a row, or the greater one of it and another number.
  ExprId subtracted_value() const {
    for (const Expr& e : k_.exprs)
      if (e.kind == ExprKind::Elementwise && e.op == Op::Sub && e.args[0] == expr(greatest_[0]).args[0] &&
          e.phase == 1)
        return e.args[1];
    return greatest_[0];
  }
  /// What a lane reduces of a row it reduces in several strands, so that one does not wait for the other.
  void declare_strands(const std::string& name, const std::string& first) {
    std::string row;
    for (int strand = 0; strand < kStrands; ++strand) row += (strand ? ", " : "{") + first;
    e_.out.line("float " + name + "[2][" + text_of(kStrands) + "] = {" + row + "}, " + row + "}};");
  }
  std::string joined_strands(const std::string& name, Op op) const {
    std::string text = name + "[r][0]";
    for (int strand = 1; strand < kStrands; ++strand)
      text = e_.combine(op, DType::f32, text, name + "[r][" + text_of(strand) + "]");
    return text;
  }
  std::string greater(const std::string& a, const std::string& b) const {
    return e_.combine(Op::Max, DType::f32, a, b);
  }
  /// Defines Outer values of a phase from their arrays.
  void import_rows(std::uint16_t phase) {
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (is_row_value_[id] && expr(id).phase == phase)
        e_.out.line(e_.dialect.constant(type_of(expr(id).dtype), e_.value(id), array(id) + "[r]"));
  }

  void write_sums(bool exact, std::uint16_t phase) {
    std::vector<ExprId> targets;
    for (const ExprId id : sums_) targets.push_back(expr(id).args[0]);
    for (const ExprId id : combines_) targets.push_back(expr(id).args[0]);
    for (const ExprId id : combines_)
      e_.out.line("float " + name("weight", id) + "[" + text_of(scores()) + "];");
    for (const ExprId id : sums_)
      declare_strands(name("strands", id), expr(id).op == Op::Max ? "-SN_INFINITY" : "0.f");
    open_scores(exact, targets, phase);
    for (const ExprId id : sums_) {
      const bool is_max = expr(id).op == Op::Max;
      const std::string value = (exact ? "of_column < size_n ? " : "") + value_of(expr(id).args[0]) +
                                (exact ? (is_max ? " : -SN_INFINITY" : " : 0.f") : "");
      const std::string strand = name("strands", id) + "[r][strand]";
      e_.out.line(strand + " = " + e_.combine(expr(id).op, DType::f32, strand, "(" + value + ")") + ";");
    }
    for (const ExprId id : combines_)
      e_.out.line(name("weight", id) + "[i] = " + (exact ? "of_column < size_n ? " : "") +
                  value_of(expr(id).args[0]) + (exact ? " : 0.f;" : ";"));
    e_.close();
    for (const ExprId id : sums_) {
      e_.open_unrolled("r", 2);
      const std::string found = name("found", id) + "[r]";
      e_.out.line(
          found + " = " +
          e_.combine(expr(id).op, DType::f32, found, joined_strands(name("strands", id), expr(id).op)) + ";");
      e_.close();
    }
    if (!is_softmax()) write_finish();
    for (const ExprId id : combines_) {
      e_.open_unrolled("k", scores() / 2);
      e_.out.line(name("weights", id) + "[k] = tc_pair_" +
                  std::string(name_of(expr(expr(id).args[1]).dtype)) + "(" + name("weight", id) +
                  "[2 * k], " + name("weight", id) + "[2 * k + 1]);");
      e_.close();
    }
  }
  /// An Outer value may be summed, too.
  std::string value_of(ExprId id) const { return e_.value(id); }

  // ---- results

  void write_end() {
    for (const ExprId id : combines_) e_.out.line("tc_hold(" + name("sums", id) + ");");
    for (const std::vector<ExprId>* found : {&greatest_, &sums_})
      for (const ExprId id : *found) write_whole(id);
    open_rows();
    import_rows(0);
    e_.open("");
    define_finished();
    e_.open("if (first_row + int(r) * 8 < size_m)");
    for (const ir::Store& store : k_.stores) {
      if (expr(store.value).kind == ExprKind::Combine) {
        write_vectors(store);
        continue;
      }
      e_.open("if (lane % 4 == 0)");
      e_.store(store);
      e_.close();
    }
    e_.close();
    e_.close();
    e_.close();
  }
  /// Joins what the lanes of a row have found; the greatest is known to all of them.
  void write_whole(ExprId id) {
    const bool is_max = expr(id).op == Op::Max;
    const bool is_joined = std::find(greatest_.begin(), greatest_.end(), id) != greatest_.end();
    e_.open_unrolled("r", 2);
    const std::string found = name("found", id) + "[r]";
    if (!is_joined)
      for (const char* other : {"1", "2"})
        e_.out.line(found + " = " +
                    e_.combine(expr(id).op, DType::f32, found, "tc_of_row(" + found + ", " + other + ")") +
                    ";");
    if (const std::string lowest = is_max ? masks_.greatest_if_skipped(id) : ""; !lowest.empty())
      e_.out.line("if (skips) " + found + " = " + greater(found, lowest) + ";");
    e_.close();
  }
  void define_finished() {
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = expr(id);
      if (!live_[id] || e.level != Level::Outer || e.kind == ExprKind::Row || e.kind == ExprKind::Combine)
        continue;
      if (is_row_value_[id] && e.phase == 0) continue;  // imported
      if (e.kind == ExprKind::Reduce)
        e_.out.line("const float " + e_.value(id) + " = " + name("found", id) + "[r];");
      else
        e_.define(id);
    }
  }
  /// Each lane has two neighbours of each eight elements.
  void write_vectors(const ir::Store& store) {
    const Expr& combine = expr(store.value);
    const int length = expr(combine.args[1]).length;
    const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
    e_.out.line("const auto vector" + text_of(store.buffer) + " = b" + text_of(store.buffer) + " + " +
                e_.position(store.map) + " + column_of_lane;");
    e_.open_unrolled("k", length / 8);
    const auto sum = [&](const char* which) {
      return name("sums", store.value) + "[k * 4 + r * 2 + " + which + "]" + scale;
    };
    const std::string to = "(vector" + text_of(store.buffer) + " + k * 8)";
    if (is_half(combine.dtype))
      e_.out.line("*(unsigned*)" + to + " = tc_pair_" + std::string(name_of(combine.dtype)) + "(" + sum("0") +
                  ", " + sum("1") + ");");
    else
      e_.out.line("*(float2*)" + to + " = make_float2(" + sum("0") + ", " + sum("1") + ");");
    e_.close();
  }

  const ir::Kernel& k_;
  const ir::Attention& a_;
  const SharedRows shared_;
  Expressions e_;
  const Masks masks_;
  const std::vector<bool> live_;
  const std::size_t row_, column_;  // loops
  std::vector<ExprId> dots_, combines_, greatest_, sums_;
  std::vector<bool> is_row_value_;
};

}  // namespace

SharedRows::SharedRows(const ir::Kernel& kernel) : kernel_(kernel) {
  const std::vector<std::uint32_t> loops = ir::dependence(kernel);
  for (const ExprId id : rows_of(kernel)) {
    is_column_[id] = (loops[id] >> kernel.outer_rank & 1) != 0;
    int& bytes = is_column_[id] ? bytes_of_slot_ : bytes_of_rows_;
    offsets_[id] = bytes;
    bytes += chunks(kernel.exprs[id]) * chunk_bytes(id);
  }
}

int SharedRows::chunk_bytes(ir::ExprId row) const {
  return (is_column(row) ? kernel_.attention.columns : kernel_.attention.rows) * kLine;
}

std::size_t SharedRows::bytes() const {
  return static_cast<std::size_t>(kAlignment + bytes_of_rows_ + kernel_.attention.slots * bytes_of_slot_ +
                                  kBarriers);
}

Source emit_attention(const ir::Kernel& kernel, const Target& target) {
  return AttentionText(kernel, target).write();
}

}  // namespace sinter::emit
