// Writes kernels of single rows of scores.
#include "jit/emit/attention/lone_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include "jit/emit/attention/row_state.h"
#include "jit/emit/attention/score_values.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/expressions.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

namespace {

constexpr int kLanes = kLoneRowsLanes, kSubgroup = 32, kWarps = kLanes / kSubgroup;
constexpr int kLaneBytes = 16;
// Few enough to look at all of them before the work is shared out.
constexpr int kCountedTiles = 32;

std::string text_of(int number) { return std::to_string(number); }

class LoneRowsText : private ScoreValues {
 public:
  LoneRowsText(const ir::Kernel& kernel, const Target& target)
      : ScoreValues(kernel, target, 1, tile_of(kernel)), lanes_(kernel.lone_rows.lanes) {}

  Source write() {
    e_.dialect.add_functions(e_.target, e_.functions);
    e_.out.indent();
    write_head();
    write_functions();
    write_columns();
    write_join_of_warp();
    write_join_of_workgroup();
    write_results();
    const std::string body = e_.out.text();
    const std::string head = e_.dialect.open(k_, e_.target, e_.use);
    Source result;
    result.entry = e_.dialect.entry;
    result.text = e_.dialect.preamble(k_, e_.target) + functions_for(body, e_.dialect, e_.functions) +
                  "#define SN_INFINITY __int_as_float(0x7f800000)\n#define SN_ROWS 1\n#define SN_COLUMNS " +
                  text_of(tile_of(k_)) + "\n" + head + body + "}\n";
    return result;
  }

 private:
  static int width(DType dtype) { return kLaneBytes / static_cast<int>(size_of(dtype)); }

  // ---- before the columns

  void write_head() {
    line("const u32 part = blockIdx.x % parts, unit = blockIdx.x / parts;");
    e_.split(e_.flat("unit"), 0, k_.outer_rank);
    line("const int size_n = int(" + e_.integer(k_.extents[column_]) + ");");
    if (!masks_.conditions().empty()) {
      const std::size_t last = k_.outer_rank - 1u;
      const bool is_used = std::any_of(k_.maps.begin(), k_.maps.end(), [&](const ir::IndexMap& map) {
        return !map.steps.front().strides[last].is_zero();
      });
      line("const int size_m = int(" + e_.integer(k_.extents[last]) +
           "), row_of_tile = " + (is_used ? "int(" + e_.coordinates[last] + ")" : std::string("0")) + ";");
    }
    line("const int at = int(threadIdx.x) % " + text_of(lanes_) + ", group = int(threadIdx.x) / " +
         text_of(lanes_) + ";");
    define_outer(0, 1);
    for (const ExprId id : rows_)
      if (expr(id).level == Level::Outer) {
        declare(id, 0);
        load(id, name("r", id));
      }
  }

  /// Lines that define what a lane has of a row, and how it is read.
  void declare(ExprId id, int count) {
    line(e_.dialect.declare_vector(expr(id).dtype, width(expr(id).dtype), name("r", id), count));
  }
  void load(ExprId id, const std::string& to) {
    const Expr& row = expr(id);
    const int vector = width(row.dtype), vectors = row.length / vector;
    const std::string load = e_.dialect.load_vector(k_, vector, row.buffer,
                                                    e_.position(row.map) + " + at * " + text_of(vector), to);
    line((vectors < lanes_ ? "if (at < " + text_of(vectors) + ") " : std::string()) + load);
  }

  /// What is subtracted from scores, of the greatest so far, and by what sums become smaller when that grows.
  void write_functions() {
    const std::string masks = masks_.text();
    for (std::size_t begin = 0; begin < masks.size();) {
      const std::size_t end = masks.find('\n', begin);
      e_.out.line(masks.substr(begin, end - begin));
      begin = end + 1;
    }
    if (!is_softmax(k_)) return;
    e_.open("const auto subtracted = [&](float " + e_.value(state_.greatest) + ") -> float");
    define_outer(1, 2);
    line("return " + e_.value(subtracted_value()) + ";");
    e_.close("};");
    e_.open("const auto shrinking = [&](float before, float now) -> float");
    // A row in which everything so far is minus infinity has sums of 0.
    line("return before == now ? 1.f : sn_exp_f32(before - now);");
    e_.close("};");
  }

  // ---- columns

  void write_columns() {
    if (is_softmax(k_)) line("float m = -SN_INFINITY;");
    for (const ExprId id : state_.sums) line("float " + name("sum", id) + " = " + none(id) + ";");
    for (const ExprId id : state_.combines)
      line("float " + name("acc", id) + "[" + text_of(width(row_of(id).dtype)) + "] = {};");
    line("bool skips = false;");
    write_sharing();
    e_.open("for (int from = int(first) * SN_COLUMNS; from < size_n; from += int(step) * SN_COLUMNS)");
    line("if (is_skipped(from)) {");
    line("  skips = true;");
    line("  continue;");
    line("}");
    for (const ExprId id : rows_)
      if (expr(id).level == Level::Inner) declare(id, kColumnsAtOnce);
    open_columns();
    for (const ExprId id : rows_)
      if (expr(id).level == Level::Inner) load(id, name("r", id) + "[u]");
    e_.close();
    for (const ExprId id : dots_) line("float " + name("dot", id) + "[" + text_of(kColumnsAtOnce) + "];");
    open_columns();
    for (const ExprId id : dots_) write_dot(id);
    e_.close();
    if (is_softmax(k_)) write_greatest();
    write_sums();
    e_.close();
    if (is_softmax(k_)) write_if_skipped(state_.greatest, "m");
    for (const ExprId id : state_.sums)
      if (is_max(id)) write_if_skipped(id, name("sum", id));
  }

  /// Which tiles are this workgroup's. Where few of them count, one workgroup has all.
  void write_sharing() {
    line("u32 first = part, step = parts;");
    e_.open("if (parts > 1u && size_n <= " + text_of(kCountedTiles) + " * SN_COLUMNS)");
    line("int seen = 0;");
    line("for (int from = 0; from < size_n; from += SN_COLUMNS) seen += is_skipped(from) ? 0 : 1;");
    e_.open("if (seen <= " + text_of(static_cast<int>(kTilesOfPart)) + ")");
    line("if (part > 0u) return;");
    line("step = 1u;");
    e_.close();
    e_.close();
  }

  /// The columns of a group of lanes in a tile; those that are not there stand for the last one.
  void open_columns() {
    e_.open_unrolled("u", kColumnsAtOnce);
    line("const int column = from + int(u) * " + text_of(groups_of(k_)) + " + group;");
    line("const bool is_column = column < size_n;");
    line(e_.dialect.constant(e_.index_type, e_.coordinates[column_],
                             e_.index("(is_column ? column : size_n - 1)")));
  }

  void write_dot(ExprId id) {
    const ExprId a = expr(id).args[0], b = expr(id).args[1];
    const DType dtype = expr(a).dtype;
    const auto element = [&](ExprId row) {
      return f32_of(dtype, name("r", row) + (expr(row).level == Level::Inner ? "[u]" : "") + "[i]");
    };
    line("float " + name("partial", id) + " = 0.f;");
    const bool is_whole = expr(a).length == lanes_ * width(dtype);
    if (!is_whole) e_.open("if (at < " + text_of(expr(a).length / width(dtype)) + ")");
    e_.open_unrolled("i", width(dtype));
    line(name("partial", id) + " = fma(" + element(a) + ", " + element(b) + ", " + name("partial", id) +
         ");");
    e_.close();
    if (!is_whole) e_.close();
    for (int mask = lanes_ / 2; mask > 0; mask /= 2)
      line(name("partial", id) + " += __shfl_xor_sync(0xffffffffu, " + name("partial", id) + ", " +
           text_of(mask) + ");");
    line(name("dot", id) + "[u] = " + name("partial", id) + ";");
  }

  void write_greatest() {
    const ExprId score = expr(state_.greatest).args[0];
    line("float score[" + text_of(kColumnsAtOnce) + "], now = m;");
    open_columns();
    define_inner({score}, false, places_);
    line("score[u] = is_column ? " + e_.value(score) + " : -SN_INFINITY;");
    line("now = " + greater("now", "score[u]") + ";");
    e_.close();
    line("const float whole = subtracted(now), factor = shrinking(subtracted(m), whole);");
    line("const float less = whole == -SN_INFINITY ? 0.f : whole;");
    line("m = now;");
    for (const ExprId id : state_.sums) line(name("sum", id) + " *= factor;");
    for (const ExprId id : state_.combines) {
      e_.open_unrolled("i", width(row_of(id).dtype));
      line(name("acc", id) + "[i] *= factor;");
      e_.close();
    }
  }

  void write_sums() {
    open_columns();
    define_inner(weighed(), is_softmax(k_), places_);
    for (const ExprId id : state_.sums)
      line(
          name("sum", id) + " = " +
          joined(id, name("sum", id), "(is_column ? " + e_.value(expr(id).args[0]) + " : " + none(id) + ")") +
          ";");
    for (const ExprId id : state_.combines) {
      const DType dtype = row_of(id).dtype;
      const std::string weight = name("weight", id);
      line("const float " + weight + " = " + f32_of(dtype, rounded(dtype, e_.value(expr(id).args[0]))) + ";");
      const bool is_whole = row_of(id).length == lanes_ * width(dtype);
      // A weight of 0 would make NaN of an infinity.
      e_.open("if (is_column" + (is_whole ? "" : " && at < " + text_of(row_of(id).length / width(dtype))) +
              ")");
      e_.open_unrolled("i", width(dtype));
      const ExprId row = expr(id).args[1];
      const std::string element =
          f32_of(dtype, name("r", row) + (expr(row).level == Level::Inner ? "[u]" : "") + "[i]");
      line(name("acc", id) + "[i] = fma(" + weight + ", " + element + ", " + name("acc", id) + "[i]);");
      e_.close();
      e_.close();
    }
    e_.close();
  }

  /// What masks stand for is the greatest score where nothing else is.
  void write_if_skipped(ExprId maximum, const std::string& found) {
    if (const std::string lowest = masks_.greatest_if_skipped(maximum); !lowest.empty())
      line("if (skips) " + found + " = " + greater(found, lowest) + ";");
  }

  // ---- joining

  void write_join_of_warp() {
    e_.out.line("#pragma unroll");
    e_.open("for (int mask = " + text_of(lanes_) + "; mask < 32; mask *= 2)");
    const auto other = [](const std::string& of) { return "__shfl_xor_sync(0xffffffffu, " + of + ", mask)"; };
    if (is_softmax(k_)) {
      line("const float theirs = " + other("m") + ", now = " + greater("m", "theirs") + ";");
      line(
          "const float own = shrinking(subtracted(m), subtracted(now)), "
          "others = shrinking(subtracted(theirs), subtracted(now));");
      line("m = now;");
    }
    const auto join = [&](const std::string& of) {
      line(is_softmax(k_) ? of + " = " + of + " * own + " + other(of) + " * others;"
                          : of + " = " + of + " + " + other(of) + ";");
    };
    for (const ExprId id : state_.sums) {
      if (is_max(id))
        line(name("sum", id) + " = " + greater(name("sum", id), other(name("sum", id))) + ";");
      else
        join(name("sum", id));
    }
    for (const ExprId id : state_.combines) {
      e_.open_unrolled("i", width(row_of(id).dtype));
      join(name("acc", id) + "[i]");
      e_.close();
    }
    e_.close();
  }

  /// The warps leave what they have, and each lane joins one element of vectors; then, where several
  /// workgroups have a row, the same with theirs.
  void write_join_of_workgroup() {
    line("__shared__ float states[" + text_of(kWarps) + "][" + text_of(state_.floats) + "];");
    e_.open("if (threadIdx.x % 32u < " + text_of(lanes_) + "u)");
    line("float* const state = states[threadIdx.x / 32u];");
    e_.open("if (at == 0)");
    line("state[0] = " + std::string(is_softmax(k_) ? "m;" : "0.f;"));
    for (std::size_t s = 0; s < state_.sums.size(); ++s)
      line("state[" + std::to_string(1 + s) + "] = " + name("sum", state_.sums[s]) + ";");
    e_.close();
    for (std::size_t c = 0; c < state_.combines.size(); ++c) {
      const Expr& row = row_of(state_.combines[c]);
      const int vector = width(row.dtype);
      e_.open("if (at < " + text_of(row.length / vector) + ")");
      e_.open_unrolled("i", vector);
      line("state[" + text_of(state_.places[c]) + " + at * " + text_of(vector) +
           " + i] = " + name("acc", state_.combines[c]) + "[i];");
      e_.close();
      e_.close();
    }
    e_.close();
    line("__syncthreads();");
    line("const int element = int(threadIdx.x);");
    if (is_softmax(k_)) line("float greatest;");
    for (const ExprId id : state_.sums) line("float " + name("total", id) + ";");
    for (const ExprId id : state_.combines) line("float " + name("vector", id) + ";");
    write_join(text_of(kWarps), [](const std::string& s, const std::string& place) {
      return "states[" + s + "][" + place + "]";
    });
    e_.open("if (step > 1u)");
    line("float* const all = (float*)partials + u64(unit) * parts * " + text_of(state_.floats) + ";");
    line("float* const mine = all + part * " + text_of(state_.floats) + "u;");
    e_.open("if (element == 0)");
    line("mine[0] = " + std::string(is_softmax(k_) ? "greatest;" : "0.f;"));
    for (std::size_t s = 0; s < state_.sums.size(); ++s)
      line("mine[" + std::to_string(1 + s) + "] = " + name("total", state_.sums[s]) + ";");
    e_.close();
    for (std::size_t c = 0; c < state_.combines.size(); ++c)
      line("if (element < " + text_of(row_of(state_.combines[c]).length) + ") mine[" +
           text_of(state_.places[c]) + " + element] = " + name("vector", state_.combines[c]) + ";");
    for (const std::string& statement : e_.dialect.end_part("unit")) line(statement);
    write_join("int(parts)", [&](const std::string& s, const std::string& place) {
      return "__ldcg(all + " + s + " * " + text_of(state_.floats) + " + " + place + ")";
    });
    e_.close();
  }

  template <class Read>
  void write_join(const std::string& count, Read read) {
    const std::string over = "for (int s = 0; s < " + count + "; ++s)";
    if (is_softmax(k_)) {
      line("greatest = -SN_INFINITY;");
      line(over + " greatest = " + greater("greatest", read("s", "0")) + ";");
    }
    for (const ExprId id : state_.sums) line(name("total", id) + " = " + none(id) + ";");
    for (const ExprId id : state_.combines) line(name("vector", id) + " = 0.f;");
    e_.open(over);
    if (is_softmax(k_))
      line("const float factor = shrinking(subtracted(" + read("s", "0") + "), subtracted(greatest));");
    const std::string times = is_softmax(k_) ? " * factor" : "";
    for (std::size_t s = 0; s < state_.sums.size(); ++s) {
      const std::string total = name("total", state_.sums[s]), more = read("s", std::to_string(1 + s));
      line(total + " = " + (is_max(state_.sums[s]) ? greater(total, more) : total + " + " + more + times) +
           ";");
    }
    for (std::size_t c = 0; c < state_.combines.size(); ++c) {
      const std::string vector = name("vector", state_.combines[c]);
      line("if (element < " + text_of(row_of(state_.combines[c]).length) + ") " + vector + " = " + vector +
           " + " + read("s", text_of(state_.places[c]) + " + element") + times + ";");
    }
    e_.close();
  }

  // ---- results

  void write_results() {
    if (is_softmax(k_)) line("const float " + e_.value(state_.greatest) + " = greatest;");
    for (const ExprId id : state_.sums) line("const float " + e_.value(id) + " = " + name("total", id) + ";");
    define_outer(1, k_.phases);
    e_.open("if (element == 0)");
    for (const ir::Store& store : k_.stores)
      if (expr(store.value).kind != ExprKind::Combine) e_.store(store);
    e_.close();
    for (const ir::Store& store : k_.stores) {
      const Expr& combine = expr(store.value);
      if (combine.kind != ExprKind::Combine) continue;
      const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
      e_.open("if (element < " + text_of(row_of(store.value).length) + ")");
      const std::string value = "(" + name("vector", store.value) + scale + ")";
      line(e_.dialect.write(k_, store.buffer, e_.position(store.map) + " + element",
                            rounded(combine.dtype, value)));
      e_.close();
    }
  }

  const Places places_{"[u]", "score[u]", "less"};
  const int lanes_;
};

}  // namespace

Source emit_lone_rows(const ir::Kernel& kernel, const Target& target) {
  return LoneRowsText(kernel, target).write();
}

}  // namespace sinter::emit
