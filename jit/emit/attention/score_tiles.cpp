// Writes the loops over tiles of scores, and what becomes of scores.
#include "jit/emit/attention/score_tiles.h"

#include <algorithm>

#include "jit/emit/contraction/loops.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

namespace {

constexpr int kFour = ir::ScoreTile::kFour;
// Pieces of a Row that a lane holds on their way.
constexpr int kAtOnce = 8;

/// Vectors are taken on devices too whose other kernels have none.
Target target_of(const Target& device, const ir::Kernel& kernel) {
  Target target = device;
  target.workgroup_size = ir::ScoreTile(kernel).lanes();
  target.vectors = true;
  return target;
}

}  // namespace

ScoreTilesText::ScoreTilesText(const ir::Kernel& kernel, const Target& target)
    : ScoreValues(kernel, target_of(target, kernel), kernel.attention.rows, kernel.attention.columns),
      tile_(kernel),
      rows_of_lane_(tile_.rows_of_lane()),
      columns_of_lane_(tile_.columns_of_lane()),
      scores_(rows_of_lane_ * columns_of_lane_),
      lanes_of_row_(tile_.lanes_of_row()),
      row_(kernel.outer_rank - 1u) {
  find_row_values();
}

Source ScoreTilesText::write() {
  e_.dialect.add_functions(e_.target, e_.functions);
  e_.out.indent();
  write_head();
  write_tile_of_rows();
  e_.close();
  const std::string before = definitions(), body = e_.out.text();
  Source result;
  result.entry = e_.dialect.entry;
  result.text = e_.dialect.preamble(k_, e_.target) + functions_for(body, e_.dialect, e_.functions) + before +
                e_.dialect.open(k_, e_.target, e_.use) + body + "}\n";
  return result;
}

std::string ScoreTilesText::four_of(const std::string& array, const std::string& first) {
  std::string values;
  for (int k = 0; k < kFour; ++k) values += (k ? ", " : "") + array + "[" + first + " + " + text_of(k) + "]";
  return "(" + values + ")";
}

void ScoreTilesText::write_head() {
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
       text_of(lanes_of_row_) + ";");
  write_lanes();
  const Dialect::Grid& grid = e_.dialect.grid(k_);
  e_.open("for (int item = int(" + grid.workgroup + "); item < items; item += int(" + grid.workgroups + "))");
  // The longest first, so that the last to be done is short.
  line("const int tile = item % tiles, row_of_tile = " +
       std::string(masks_.grows_with_rows() ? "(tiles - 1 - tile)" : "tile") + " * " + rows + ";");
  std::vector<std::size_t> batch;
  for (std::size_t loop = 0; loop < row_; ++loop) batch.push_back(loop);
  split_loops(e_, "(item / tiles)", batch);
}

void ScoreTilesText::write_lanes() {
  line("const int first = lane / " + text_of(lanes_of_row_) + " * " + text_of(rows_of_lane_) + ";");
}

void ScoreTilesText::write_tile_of_rows() {
  bring_rows(false);
  hold_rows();
  write_start();
  const Masks::Tests tests = masks_.tests();
  for (const std::string& test : tests.before) line(test);
  line("bool skips = false;");
  if (brings_ahead()) declare_columns();
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
  if (brings_ahead()) {
    e_.open("if (asked_for != from)");
    ask_for_columns("from");
    e_.close();
    barrier();  // columns before have been read
    share_columns();
    line("asked_for = from + " + text_of(k_.attention.columns) + ";");
    barrier();
    ask_for_columns("asked_for");
  } else {
    bring_rows(true);
    barrier();
  }
  multiply();
  if (is_softmax(k_)) write_greatest();
  write_weights();
  for (const ExprId id : state_.combines) combine(id);
  e_.close();
  write_results();
}

void ScoreTilesText::bring_rows(bool of_columns) {
  const int lines = of_columns ? k_.attention.columns : k_.attention.rows;
  std::vector<ExprId> rows;
  int rounds = 0;
  for (const ExprId id : rows_)
    if (tile_.is_column(id) == of_columns) {
      rows.push_back(id);
      rounds = std::max(rounds, pieces_of_lane(id, lines));
    }
  // All of these are asked for before the first one is waited for.
  for (int first = 0; first < std::max(rounds, 1); first += kAtOnce) {
    const auto over = [&](auto body) {
      for (const ExprId id : rows) {
        const int count = std::min(kAtOnce, pieces_of_lane(id, lines) - first);
        if (count > 0) body(id, count);
      }
    };
    e_.open("");
    over([&](ExprId id, int count) { declare_pieces(id, count); });
    over([&](ExprId id, int count) {
      open_pieces(id, of_columns, first, count);
      load_piece(id);
      e_.close();
    });
    if (first == 0) barrier();  // what was there before has been read
    over([&](ExprId id, int count) {
      open_pieces(id, of_columns, first, count);
      store_piece(id);
      e_.close();
    });
    e_.close();
  }
}

template <class Body>
void ScoreTilesText::over_columns(Body body) {
  for (const ExprId id : rows_)
    if (tile_.is_column(id)) body(id, pieces_of_lane(id, k_.attention.columns));
}

void ScoreTilesText::declare_columns() {
  over_columns([&](ExprId id, int count) { declare_pieces(id, count); });
  line("int asked_for = -1;");
}

// Without a branch, in which drivers wait for what is loaded: behind the last columns the last one comes
// again.
void ScoreTilesText::ask_for_columns(const std::string& from) {
  over_columns([&](ExprId id, int count) {
    open_pieces(id, true, 0, count, from);
    load_piece(id);
    e_.close();
  });
}

void ScoreTilesText::share_columns() {
  over_columns([&](ExprId id, int count) {
    open_pieces(id, true, 0, count);
    store_piece(id);
    e_.close();
  });
}

int ScoreTilesText::pieces_of_lane(ExprId row, int lines) const {
  return (lines * pieces_of_line(expr(row)) + tile_.lanes() - 1) / tile_.lanes();
}

/// A lane's pieces of a Row, number i; who has fewer has the last one again.
void ScoreTilesText::open_pieces(ExprId id, bool of_columns, int first, int count, const std::string& from) {
  const std::size_t loop = of_columns ? column_ : row_;
  const std::string begin = of_columns ? from : "row_of_tile", size = of_columns ? "size_n" : "size_m";
  const int of_line = pieces_of_line(expr(id)),
            all = (of_columns ? k_.attention.columns : k_.attention.rows) * of_line, lanes = tile_.lanes();
  e_.open_unrolled("i", count);
  const std::string piece = "(i + " + text_of(first) + ") * " + text_of(lanes) + " + lane";
  line("const int piece = " + (all % lanes == 0 ? piece : "min(" + piece + ", " + text_of(all - 1) + ")") +
       ", number = piece / " + text_of(of_line) + ", part = piece % " + text_of(of_line) + ";");
  line("const bool is_there = " + begin + " + number < " + size + ";");
  line(e_.dialect.constant(e_.index_type, e_.coordinates[loop],
                           e_.index("(is_there ? " + begin + " + number : " + size + " - 1)")));
}

void ScoreTilesText::find_row_values() {
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
                        e_.value(id)[0] != 's' && !ir::is_reduced(expr(id)) && expr(id).kind != ExprKind::Row;
}

void ScoreTilesText::open_rows() {
  e_.open_unrolled("r", rows_of_lane_);
  define_row();
}
void ScoreTilesText::define_row() {
  line("const int of_row = row_of_tile + " + row_in_tile() + ";");
  line(e_.dialect.constant(e_.index_type, e_.coordinates[row_], e_.index("min(of_row, size_m - 1)")));
}
void ScoreTilesText::import_rows() {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    if (!is_row_value_[id]) continue;
    line(e_.dialect.constant(expr(id).dtype, e_.value(id), name("row_v", id) + "[r]"));
    e_.define_reciprocal(id);
  }
}

void ScoreTilesText::write_start() {
  const std::string rows = text_of(rows_of_lane_);
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id]) line(e_.dialect.array(type_of(expr(id).dtype), name("row_v", id), rows_of_lane_));
  if (is_softmax(k_)) line("float greatest[" + rows + "];");
  for (const ExprId id : state_.sums) line("float " + name("sum", id) + "[" + rows + "];");
  declare_sums();
  open_rows();
  define_outer(0, 1);
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id]) line(name("row_v", id) + "[r] = " + e_.value(id) + ";");
  if (is_softmax(k_)) line("greatest[r] = " + infinity(true) + ";");
  for (const ExprId id : state_.sums) line(name("sum", id) + "[r] = " + none(id) + ";");
  e_.close();
}

/// For each score of a lane, with the numbers of its row and its column.
template <class Body>
void ScoreTilesText::over_scores(Body body) {
  // Where all are seen, nothing is asked about places.
  for (const bool all : {true, false}) {
    if (all && masks_.conditions().empty()) continue;
    are_all_seen_ = all;
    if (!masks_.conditions().empty()) e_.open(all ? "if (is_seen)" : "else");
    e_.open_unrolled("c", columns_of_lane_);
    line("const int column = from + " + column_in_tile() + ";");
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

void ScoreTilesText::write_greatest() {
  const ExprId score = expr(state_.greatest).args[0];
  const std::string rows = text_of(rows_of_lane_);
  line("float score[" + text_of(scores_) + "], now[" + rows + "], factor[" + rows + "], less[" + rows + "];");
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
  e_.close();
  shrink();
}

void ScoreTilesText::write_weights() {
  for (const ExprId id : state_.combines)
    line(e_.dialect.array(type_of(weight_type(id)), name("weight", id), scores_));
  over_scores([&] {
    define_inner(weighed(), is_softmax(k_), places_);
    for (const ExprId id : state_.sums) {
      const std::string sum = name("sum", id) + "[r]";
      line(sum + " = " +
           joined(id, sum, "(is_column ? " + e_.value(expr(id).args[0]) + " : " + none(id) + ")") + ";");
    }
    for (const ExprId id : state_.combines) {
      line(name("weight", id) + "[at] = is_column ? " + kept_weight(id, e_.value(expr(id).args[0])) + " : " +
           e_.dialect.literal(weight_type(id), 0) + ";");
    }
  });
}

void ScoreTilesText::join_rows(const std::string& array, ExprId reduction) {
  if (!e_.dialect.of_lane("x", lanes_of_row_ / 2, e_.target).empty()) {
    e_.open_unrolled("r", rows_of_lane_);
    const std::string own = array + "[r]";
    for (int mask = 1; mask < lanes_of_row_; mask *= 2)
      line(own + " = " + joined(reduction, own, e_.dialect.of_lane(own, mask, e_.target)) + ";");
    e_.close();
    return;
  }
  const auto message = [&](const std::string& of) {
    return "sn_tile[" + text_of(tile_.first_message()) + " + " + of + "]";
  };
  barrier();  // weights, or the message before, have been read
  line(message("lane") + " = SN_FOUR" + four_of(array, "0") + ";");
  barrier();
  e_.open("for (int other = 0; other < " + text_of(lanes_of_row_) + "; ++other)");
  line("const sn_four theirs = " + message("lane - t + other") + ";");
  for (int k = 0; k < kFour; ++k) {
    const std::string own = array + "[" + text_of(k) + "]", part = std::string("theirs.") + "xyzw"[k];
    line(own + " = other == 0 ? " + part + " : " + joined(reduction, own, part) + ";");
  }
  e_.close();
  barrier();  // weights come in its place
}

void ScoreTilesText::write_results() {
  for (const ExprId id : state_.sums) join_rows(name("sum", id), id);
  finish_sums();
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

}  // namespace sinter::emit
