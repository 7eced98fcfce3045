// Writes kernels of attention whose ordinary lanes go over tiles of scores.
//
// All that lanes share is in sn_tile, fours of f32 (ir/score_tile.h). In the text `lane` is a lane's position
// in the workgroup, `t` that among the eight lanes of its rows, and `first` the first of these rows in the
// tile; score number at = c * rows_of_lane + r is of its row r and its column c.
#include <algorithm>
#include <string>
#include <vector>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/attention_text.h"
#include "jit/emit/attention/score_values.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/work.h"
#include "jit/ir/score_tile.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

namespace {

constexpr const char* kPart[] = {".x", ".y", ".z", ".w"};
constexpr int kFour = ir::ScoreTile::kFour, kLanesOfRow = ir::ScoreTile::kLanesOfRow;

std::string text_of(int number) { return std::to_string(number); }

/// Vectors are taken on devices too whose other kernels have none.
Target target_of(const Target& device, const ir::Kernel& kernel) {
  Target target = device;
  target.workgroup_size = ir::ScoreTile(kernel).lanes();
  target.vectors = true;
  return target;
}

class LaneTilesText : private ScoreValues {
 public:
  LaneTilesText(const ir::Kernel& kernel, const Target& target)
      : ScoreValues(kernel, target_of(target, kernel), kernel.attention.rows, kernel.attention.columns),
        tile_(kernel),
        rows_of_lane_(kernel.attention.rows_of_lane),
        columns_of_lane_(tile_.columns_of_lane()),
        scores_(rows_of_lane_ * columns_of_lane_),
        row_(kernel.outer_rank - 1u) {
    find_row_values();
  }

  Source write() {
    e_.dialect.add_functions(e_.target, e_.functions);
    e_.out.indent();
    write_head();
    write_tile_of_rows();
    e_.close();
    e_.use.shared_fours = tile_.fours();
    const std::string body = e_.out.text();
    Source result;
    result.entry = e_.dialect.entry;
    result.text = e_.dialect.preamble(k_, e_.target) + functions_for(body, e_.dialect, e_.functions) +
                  e_.dialect.open(k_, e_.target, e_.use) + body + "}\n";
    return result;
  }

 private:
  /// Row number r of a lane, in the tile.
  std::string row_of_lane(int r) const {
    return "first + " + text_of(r % kFour + r / kFour * k_.attention.rows / 2);
  }
  /// The same where r is a variable.
  std::string row_of_lane() const {
    if (rows_of_lane_ == kFour) return "first + r";
    return "first + r % 4 + r / 4 * " + text_of(k_.attention.rows / 2);
  }
  static std::string shared(const std::string& place) { return "sn_tile[" + place + "]"; }
  void barrier() { line(e_.dialect.workgroup_barrier); }
  void four(const std::string& name, const std::string& place) {
    line("const sn_four " + name + " = " + shared(place) + ";");
  }
  std::string made(const std::string& array, const std::string& first) const {
    std::string values;
    for (int k = 0; k < kFour; ++k)
      values += (k ? ", " : "") + array + "[" + first + (first.empty() ? "" : " + ") + text_of(k) + "]";
    return "SN_FOUR(" + values + ")";
  }

  // ---- a tile of rows

  void write_head() {
    const auto size = [&](const char* what, std::size_t loop) {
      line("const int " + std::string(what) + " = int(" + e_.integer(k_.extents[loop]) + ");");
    };
    size("size_m", row_);
    size("size_n", column_);
    std::string items = "tiles";
    for (std::size_t loop = 0; loop < row_; ++loop) items += " * int(" + e_.integer(k_.extents[loop]) + ")";
    const std::string rows = text_of(k_.attention.rows);
    line("const int tiles = (size_m + " + rows + " - 1) / " + rows + ", items = " + items + ";");
    line("const int lane = int(" + e_.dialect.lane_in_subgroups(e_.target) + "), t = lane % " +
         text_of(kLanesOfRow) + ", first = lane / " + text_of(kLanesOfRow) + " * " + text_of(kFour) + ";");
    const Dialect::Grid& grid = e_.dialect.grid(k_);
    e_.open("for (int item = int(" + grid.workgroup + "); item < items; item += int(" + grid.workgroups +
            "))");
    // The longest first, so that the last to be done is short.
    line("const int tile = item % tiles, row_of_tile = " +
         std::string(masks_.grows_with_rows() ? "(tiles - 1 - tile)" : "tile") + " * " + rows + ";");
    std::vector<std::size_t> batch;
    for (std::size_t loop = 0; loop < row_; ++loop) batch.push_back(loop);
    split_loops(e_, "(item / tiles)", batch);
  }

  void write_tile_of_rows() {
    barrier();  // those of the item before have been read
    bring_rows(false);
    write_start();
    const Masks::Tests tests = masks_.tests();
    for (const std::string& test : tests.before) line(test);
    line("bool skips = false;");
    e_.open("for (int from = 0; from < size_n; from += " + text_of(k_.attention.columns) + ")");
    line("bool is_skipped, is_seen;");
    e_.open("");
    for (const std::string& place : tests.places) line(place);
    line("is_skipped = " + tests.skipped + ";");
    line("is_seen = " + tests.seen + ";");
    e_.close();
    e_.open("if (is_skipped)");
    line("skips = true;");
    line("continue;");
    e_.close();
    barrier();  // the columns before have been combined
    bring_rows(true);
    barrier();
    for (const ExprId id : dots_) write_dot(id);
    if (is_softmax(k_)) write_greatest();
    write_weights();
    for (const ExprId id : state_.combines) write_combine(id);
    e_.close();
    write_results();
  }

  /// Vectors of the tile's rows, or of the columns from `from` on; zeros where there are no more.
  void bring_rows(bool of_columns) {
    const std::size_t loop = of_columns ? column_ : row_;
    const std::string begin = of_columns ? "from" : "row_of_tile", size = of_columns ? "size_n" : "size_m";
    const int lines = of_columns ? k_.attention.columns : k_.attention.rows;
    for (const ExprId id : rows_) {
      if (tile_.is_column(id) != of_columns) continue;
      const Expr& row = expr(id);
      const int width = e_.width, vectors = row.length / width, all = lines * vectors;
      e_.open("for (int piece = lane; piece < " + text_of(all) + "; piece += " + text_of(tile_.lanes()) +
              ")");
      line("const int number = piece / " + text_of(vectors) + ", part = piece % " + text_of(vectors) + ";");
      line("const bool is_there = " + begin + " + number < " + size + ";");
      line(e_.dialect.constant(e_.index_type, e_.coordinates[loop],
                               e_.index("(is_there ? " + begin + " + number : " + size + " - 1)")));
      line("float values[" + text_of(width) + "];");
      take_vector(row, "part * " + text_of(width));
      for (int w = 0; w < width / kFour; ++w)
        line(shared(text_of(tile_.first(id)) + " + number * " + text_of(ir::ScoreTile::line(row)) +
                    " + part * " + text_of(width / kFour) + " + " + text_of(w)) +
             " = " + made("values", text_of(w * kFour)) + ";");
      e_.close();
    }
  }

  /// Into `values`, of which is_there says whether they are to be 0.
  void take_vector(const Expr& row, const std::string& element) {
    const std::string position = e_.position(row.map) + " + " + element;
    if (!e_.dialect.has_vectors(k_, e_.target)) {
      e_.open_unrolled("k", e_.width);
      const std::string bits = e_.dialect.read(k_, row.buffer, position + " + k");
      line("values[k] = is_there ? " + f32_of(row.dtype, bits) + " : 0.f;");
      e_.close();
      return;
    }
    e_.use.in_vectors.insert(row.buffer);
    line(e_.dialect.declare_vector(row.dtype, e_.width, "loaded"));
    line(e_.dialect.load_vector(k_, e_.width, row.buffer,
                                e_.dialect.numbers_vectors ? e_.vector_of(position) : position, "loaded"));
    e_.open_unrolled("k", e_.width);
    line("values[k] = is_there ? " + f32_of(row.dtype, e_.dialect.element(row.dtype, e_.width, "loaded")) +
         " : 0.f;");
    e_.close();
  }

  // ---- numbers of rows

  /// Outer values that are asked for where scores are, and later.
  void find_row_values() {
    is_row_value_.assign(k_.exprs.size(), false);
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = expr(id);
      if (!live_[id]) continue;
      for_operands(e, [&](ExprId arg) {
        const bool is_later = e.phase > 0 && expr(arg).phase == 0;
        if (e.level == Level::Inner || ir::is_reduced(e) || is_later) is_row_value_[arg] = true;
      });
    }
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      is_row_value_[id] = is_row_value_[id] && expr(id).level == Level::Outer && expr(id).phase == 0 &&
                          e_.value(id)[0] != 's' && !ir::is_reduced(expr(id)) &&
                          expr(id).kind != ExprKind::Row;
  }

  void open_rows() {
    e_.open_unrolled("r", rows_of_lane_);
    define_row();
  }
  void define_row() {
    line("const int of_row = row_of_tile + " + row_of_lane() + ";");
    line(e_.dialect.constant(e_.index_type, e_.coordinates[row_], e_.index("min(of_row, size_m - 1)")));
  }
  void import_rows() {
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      if (!is_row_value_[id]) continue;
      line(e_.dialect.constant(expr(id).dtype, e_.value(id), name("row_v", id) + "[r]"));
      e_.define_reciprocal(id);
    }
  }

  void write_start() {
    const std::string rows = text_of(rows_of_lane_);
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (is_row_value_[id])
        line(e_.dialect.array(type_of(expr(id).dtype), name("row_v", id), rows_of_lane_));
    if (is_softmax(k_)) line("float greatest[" + rows + "];");
    for (const ExprId id : state_.sums) line("float " + name("sum", id) + "[" + rows + "];");
    for (const ExprId id : state_.combines) {
      const std::string fours = text_of(rows_of_lane_ * fours_of(id));
      line("sn_four " + name("acc", id) + "[" + fours + "];");
      e_.open_unrolled("k", rows_of_lane_ * fours_of(id));
      line(name("acc", id) + "[k] = SN_FOUR(0.f, 0.f, 0.f, 0.f);");
      e_.close();
    }
    open_rows();
    define_outer(0, 1);
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (is_row_value_[id]) line(name("row_v", id) + "[r] = " + e_.value(id) + ";");
    if (is_softmax(k_)) line("greatest[r] = " + infinity(true) + ";");
    for (const ExprId id : state_.sums) line(name("sum", id) + "[r] = " + none(id) + ";");
    e_.close();
  }

  int fours_of(ExprId combine) const { return ir::ScoreTile::fours_of_lane(row_of(combine)); }

  // ---- scores

  void write_dot(ExprId id) {
    ExprId a = expr(id).args[0], b = expr(id).args[1];
    if (tile_.is_column(a)) std::swap(a, b);
    const std::string dot = name("dot", id), of_row = text_of(ir::ScoreTile::line(expr(a)));
    line("float " + dot + "[" + text_of(scores_) + "];");
    e_.open_unrolled("k", scores_);
    line(dot + "[k] = 0.f;");
    e_.close();
    e_.open("for (int k = 0; k < " + text_of(expr(a).length / kFour) + "; ++k)");
    for (int r = 0; r < rows_of_lane_; ++r)
      four("a" + text_of(r), text_of(tile_.first(a)) + " + (" + row_of_lane(r) + ") * " + of_row + " + k");
    for (int c = 0; c < columns_of_lane_; ++c) {
      const std::string column = "column" + text_of(c);
      four(column, text_of(tile_.first(b) + c * kLanesOfRow * ir::ScoreTile::line(expr(b))) + " + t * " +
                       text_of(ir::ScoreTile::line(expr(b))) + " + k");
      for (int r = 0; r < rows_of_lane_; ++r) {
        const std::string score = dot + "[" + text_of(c * rows_of_lane_ + r) + "]";
        std::string sum = score;
        for (const char* part : kPart)
          sum = "fma(a" + text_of(r) + part + ", " + column + part + ", " + sum + ")";
        line(score + " = " + sum + ";");
      }
    }
    e_.close();
  }

  /// For each score of a lane, with the numbers of its row and its column.
  template <class Body>
  void over_scores(Body body) {
    // Where all are seen, nothing is asked about places.
    for (const bool all : {true, false}) {
      if (all && masks_.conditions().empty()) continue;
      are_all_seen_ = all;
      if (!masks_.conditions().empty()) e_.open(all ? "if (is_seen)" : "else");
      e_.open_unrolled("c", columns_of_lane_);
      line("const int column = from + c * " + text_of(kLanesOfRow) + " + t;");
      line("const bool is_column = " + std::string(all ? "true" : "column < size_n") + ";");
      line(e_.dialect.constant(e_.index_type, e_.coordinates[column_],
                               e_.index("(is_column ? column : size_n - 1)")));
      e_.open_unrolled("r", rows_of_lane_);
      line("const int at = c * " + text_of(rows_of_lane_) + " + r;");
      define_row();
      import_rows();
      body();
      e_.close();
      e_.close();
      if (!masks_.conditions().empty()) e_.close();
    }
    are_all_seen_ = false;
  }

  /// The greatest score of each row up to this tile, and how much smaller what was summed so far becomes.
  void write_greatest() {
    const ExprId score = expr(state_.greatest).args[0];
    const std::string rows = text_of(rows_of_lane_);
    line("float score[" + text_of(scores_) + "], now[" + rows + "], factor[" + rows + "], less[" + rows +
         "];");
    e_.open_unrolled("r", rows_of_lane_);
    line("now[r] = greatest[r];");
    e_.close();
    over_scores([&] {
      define_inner({score}, false, places_);
      line("score[at] = is_column ? " + e_.value(score) + " : " + infinity(true) + ";");
      line("now[r] = " + greater("now[r]", "score[at]") + ";");
    });
    join_rows("now", state_.greatest);
    open_rows();
    import_rows();
    line("float before, whole;");
    for (const char* which : {"before", "whole"}) {
      e_.open("");
      line("const float " + e_.value(state_.greatest) + " = " + (which[0] == 'b' ? "greatest[r]" : "now[r]") +
           ";");
      define_outer(1, 2);
      line(std::string(which) + " = " + e_.value(subtracted_value()) + ";");
      e_.close();
    }
    // A row in which everything so far is minus infinity has sums of 0.
    line("factor[r] = before == whole ? 1.f : sn_exp_f32(before - whole);");
    line("less[r] = whole == " + infinity(true) + " ? 0.f : whole;");
    line("greatest[r] = now[r];");
    for (const ExprId id : state_.sums) line(name("sum", id) + "[r] *= factor[r];");
    for (const ExprId id : state_.combines) {
      e_.open_unrolled("k", fours_of(id));
      for (const char* part : kPart)
        line(name("acc", id) + "[r * " + text_of(fours_of(id)) + " + k]" + part + " *= factor[r];");
      e_.close();
    }
    e_.close();
  }

  /// What is summed of the scores, and the weights of combinations, as they are multiplied.
  void write_weights() {
    for (const ExprId id : state_.combines)
      line("float " + name("weight", id) + "[" + text_of(scores_) + "];");
    over_scores([&] {
      define_inner(weighed(), is_softmax(k_), places_);
      for (const ExprId id : state_.sums) {
        const std::string sum = name("sum", id) + "[r]";
        line(sum + " = " +
             joined(id, sum, "(is_column ? " + e_.value(expr(id).args[0]) + " : " + none(id) + ")") + ";");
      }
      for (const ExprId id : state_.combines) {
        const DType dtype = row_of(id).dtype;
        line(name("weight", id) + "[at] = is_column ? " +
             f32_of(dtype, rounded(dtype, e_.value(expr(id).args[0]))) + " : 0.f;");
      }
    });
  }

  void write_combine(ExprId id) {
    const ExprId vectors = expr(id).args[1];
    const Expr& row = expr(vectors);
    const int fours = fours_of(id), of_line = row.length / kFour, halves = rows_of_lane_ / kFour;
    const auto weights = [&](const std::string& column, int half) {
      return text_of(tile_.first_weight()) + " + (" + column + ") * " + text_of(tile_.line_of_weights()) +
             " + first / 4 + " + text_of(half * k_.attention.rows / 2 / kFour);
    };
    if (id != state_.combines.front()) barrier();  // the weights before have been read
    e_.open_unrolled("c", columns_of_lane_);
    for (int half = 0; half < halves; ++half)
      line(shared(weights("c * " + text_of(kLanesOfRow) + " + t", half)) + " = " +
           made(name("weight", id), "c * " + text_of(rows_of_lane_) + " + " + text_of(half * kFour)) + ";");
    e_.close();
    barrier();
    e_.open("for (int column = 0; column < " + text_of(k_.attention.columns) + "; ++column)");
    for (int half = 0; half < halves; ++half) four("w" + text_of(half), weights("column", half));
    for (int k = 0; k < fours; ++k) {
      const std::string vector = "vector" + text_of(k), number = text_of(k * kLanesOfRow) + " + t";
      // Of the last vectors some lanes have none.
      four(vector,
           text_of(tile_.first(vectors)) + " + column * " + text_of(ir::ScoreTile::line(row)) + " + " +
               ((k + 1) * kLanesOfRow <= of_line ? number
                                                 : "min(" + number + ", " + text_of(of_line - 1) + ")"));
      for (int r = 0; r < rows_of_lane_; ++r) {
        const std::string sum = name("acc", id) + "[" + text_of(r * fours + k) + "]",
                          weight = "w" + text_of(r / kFour) + kPart[r % kFour];
        for (const char* part : kPart)
          line(sum + part + " = fma(" + weight + ", " + vector + part + ", " + sum + part + ");");
      }
    }
    e_.close();
  }

  /// What the eight lanes of a row have found of it becomes the same in all of them.
  void join_rows(const std::string& array, ExprId reduction) {
    if (!e_.dialect.of_lane("x", kLanesOfRow / 2, e_.target).empty()) {
      e_.open_unrolled("r", rows_of_lane_);
      const std::string own = array + "[r]";
      for (int mask = 1; mask < kLanesOfRow; mask *= 2)
        line(own + " = " + joined(reduction, own, e_.dialect.of_lane(own, mask, e_.target)) + ";");
      e_.close();
      return;
    }
    const auto message = [&](int half, const std::string& of) {
      return shared(text_of(tile_.first_message() + half * tile_.lanes()) + " + " + of);
    };
    barrier();  // the message before has been read
    for (int half = 0; half < rows_of_lane_ / kFour; ++half)
      line(message(half, "lane") + " = " + made(array, text_of(half * kFour)) + ";");
    barrier();
    e_.open("for (int other = 0; other < " + text_of(kLanesOfRow) + "; ++other)");
    for (int half = 0; half < rows_of_lane_ / kFour; ++half) {
      e_.open("");
      line("const sn_four theirs = " +
           message(half, "lane / " + text_of(kLanesOfRow) + " * " + text_of(kLanesOfRow) + " + other") + ";");
      for (int k = 0; k < kFour; ++k) {
        const std::string own = array + "[" + text_of(half * kFour + k) + "]",
                          part = std::string("theirs") + kPart[k];
        line(own + " = other == 0 ? " + part + " : " + joined(reduction, own, part) + ";");
      }
      e_.close();
    }
    e_.close();
  }

  // ---- results

  void write_results() {
    for (const ExprId id : state_.sums) join_rows(name("sum", id), id);
    open_rows();
    import_rows();
    const auto found = [&](ExprId id, const std::string& of) {
      const std::string lowest = is_max(id) ? masks_.greatest_if_skipped(id) : "";
      line("const float " + e_.value(id) + " = " +
           (lowest.empty() ? of : "skips ? " + greater(of, lowest) + " : " + of) + ";");
    };
    if (is_softmax(k_)) found(state_.greatest, "greatest[r]");
    for (const ExprId id : state_.sums) found(id, name("sum", id) + "[r]");
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = expr(id);
      if (!live_[id] || e.level != Level::Outer || e.kind == ExprKind::Row || ir::is_reduced(e) ||
          is_row_value_[id])
        continue;
      e_.define(id);
    }
    e_.open("if (of_row < size_m)");
    for (const ir::Store& store : k_.stores)
      if (expr(store.value).kind == ExprKind::Combine) write_vectors(store);
    e_.open("if (t == 0)");
    for (const ir::Store& store : k_.stores)
      if (expr(store.value).kind != ExprKind::Combine) e_.store(store);
    e_.close();
    e_.close();
    e_.close();
  }

  void write_vectors(const ir::Store& store) {
    const Expr& combine = expr(store.value);
    const int fours = fours_of(store.value), of_line = row_of(store.value).length / kFour;
    const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
    e_.open_unrolled("k", fours);
    line("const int number = k * " + text_of(kLanesOfRow) + " + t;");
    if (of_line % kLanesOfRow != 0) e_.open("if (number < " + text_of(of_line) + ")");
    line("const sn_four found = " + name("acc", store.value) + "[r * " + text_of(fours) + " + k];");
    line(e_.dialect.constant(e_.index_type, "element",
                             e_.position(store.map) + " + " + e_.index("number * " + text_of(kFour))));
    for (int part = 0; part < kFour; ++part)
      line(e_.dialect.write(k_, store.buffer, "element + " + text_of(part),
                            rounded(combine.dtype, std::string("(found") + kPart[part] + scale + ")")));
    if (of_line % kLanesOfRow != 0) e_.close();
    e_.close();
  }

  const Places places_{"[at]", "score[at]", "less[r]"};
  const ir::ScoreTile tile_;
  const int rows_of_lane_, columns_of_lane_, scores_;
  const std::size_t row_;
  std::vector<bool> is_row_value_;
};

}  // namespace

Source emit_lane_attention(const ir::Kernel& kernel, const Target& target) {
  return LaneTilesText(kernel, target).write();
}

}  // namespace sinter::emit
