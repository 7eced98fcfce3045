// Writes kernels of attention whose warps multiply each by itself: kernels/tensor_cores/attention_sm80.cu.
#include <set>
#include <string>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/attention_text.h"
#include "jit/emit/dialects/dialect.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

constexpr int kPieceBytes = 16, kPiecesOfLine = kLineBytes / kPieceBytes;

std::string text_of(int number) { return std::to_string(number); }

class SubgroupsText : private AttentionText {
 public:
  SubgroupsText(const ir::Kernel& kernel, const Target& target)
      : AttentionText(kernel, target, kernels::source("attention_sm80.cu")) {}

  Source write() {
    const std::string functions = next_part();
    std::string body = lines_at(1, e_.out, [&] { write_head(); });
    body += then(1, [&] { write_item(); }) + masks_.text();
    body += then(2, [&] {
      write_copies_of_values();
      write_copies(true);
    });
    body += then(1, [&] { write_copies(false); });
    body += then(1, [&] { write_start(); });
    body += then(2, [&] {
      write_dots();
      write_tile();
      write_combines();
    });
    body += then(1, [&] { write_end(); });
    body += next_part();
    std::string before = definitions();
    for (const char* source : {"lane_copies_sm80.inc", "matrix_loads_sm80.inc", "score_lanes.inc"})
      before += kernels::source(source);
    return whole(before + functions + instructions(), body);
  }

 private:
  std::string definitions() const {
    return define("SN_INFINITY", "__int_as_float(0x7f800000)") + define("SN_ROWS", a_.rows) +
           define("SN_COLUMNS", a_.columns) + define("SN_SLOTS", a_.slots) +
           define("SN_LANES", attention_lanes(k_)) + define("SN_BYTES_OF_ROWS", shared_.bytes_of_rows()) +
           define("SN_BYTES_OF_SLOT", shared_.bytes_of_slot());
  }

  std::string instructions() const {
    std::set<std::string> written;
    for (const ExprId id : dots_) written.insert(subgroup_instructions(expr(expr(id).args[0]).dtype));
    for (const ExprId id : combines_) {
      const Expr& row = expr(expr(id).args[1]);
      written.insert(subgroup_instructions(row.dtype));
      written.insert(subgroup_combine_instruction(row.dtype, row.length));
    }
    std::string text;
    for (const std::string& function : written) text += function;
    return text;
  }

  void write_copies_of_values() {
    if (shared_.values().empty()) return;
    e_.open("for (int own = threadIdx.x; own < SN_COLUMNS; own += SN_LANES)");
    define_own(column_, "from + own", "size_n");
    for (const ExprId id : shared_.values())
      e_.out.line("tc_copy_only_4(to + " + text_of(shared_.offset(id)) + " + own * 4, b" +
                  text_of(expr(id).buffer) + " + (" + e_.position(expr(id).map) + "), 4);");
    e_.close();
  }

  void define_own(std::size_t loop, const std::string& own, const std::string& size) {
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loop],
                                    e_.index("min(" + own + ", " + size + " - 1)")));
  }

  void write_copies(bool columns) {
    for (const ExprId id : rows_of(k_)) {
      if (shared_.is_column(id) != columns) continue;
      if (shared_.is_across(id))
        copy_across(id);
      else
        copy_along(id);
    }
  }

  /// How lanes copy lines of so many pieces: a lane has one piece of a line, and of lines further on.
  struct Lines {
    int count, pieces;
    int lanes() const {  // of a line
      int lanes = 1;
      while (lanes < pieces) lanes *= 2;
      return lanes;
    }
  };
  int at_once(const Lines& lines) const { return attention_lanes(k_) / lines.lanes(); }

  /// A line for each row (column): its elements, and zeros up to what a step multiplies.
  void copy_along(ExprId id) {
    const bool is_column = shared_.is_column(id);
    const Expr& row = expr(id);
    const int each = kPieceBytes / static_cast<int>(size_of(row.dtype)), filled = row.length / each;
    const std::size_t loop = is_column ? column_ : row_;
    const Lines lines{is_column ? a_.columns : a_.rows, (filled + 1) / 2 * 2};  // a step has two pieces
    open_lines(lines, loop, std::string(is_column ? "from" : "row_of_tile") + " + int(first)");
    // Of eight columns whose order changes, number t + 4 k comes to line 2 t + k.
    write_copies(id, lines,
                 shared_.is_ordered(id) ? "number / 8 * 8 + number % 4 * 2 + number % 8 / 4" : "number",
                 "part * " + text_of(each), k_.maps[row.map].steps.front().strides[loop],
                 "own + int(step) * " + text_of(at_once(lines)) + (is_column ? " < size_n" : " < size_m") +
                     (lines.pieces > filled ? " && part < " + text_of(filled) : ""));
  }

  /// A line for each element of a vector: those of neighbouring columns.
  void copy_across(ExprId id) {
    const Expr& row = expr(id);
    const int each = kPieceBytes / static_cast<int>(size_of(row.dtype));
    const Lines lines{row.length, a_.columns / each};
    open_lines(lines, column_, "from + int(part) * " + text_of(each));
    write_copies(id, lines, "number", e_.index("first") + " * " + e_.integer(row.stride), row.stride,
                 "own < size_n");
  }

  /// `own` is the coordinate of a line, or of a piece; beyond the loop's end nothing is read.
  void open_lines(const Lines& lines, std::size_t loop, const std::string& own) {
    e_.open("");
    e_.out.line("const unsigned first = threadIdx.x / " + text_of(lines.lanes()) + ", part = threadIdx.x % " +
                text_of(lines.lanes()) + ";");
    e_.out.line("const int own = " + own + ";");
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loop], e_.index("own")));
  }
  void write_copies(ExprId id, const Lines& lines, const std::string& line, const std::string& beyond,
                    ir::IntRef stride, const std::string& condition) {
    const int step = at_once(lines);
    const std::string to = shared_.is_column(id) ? "to" : "rows_at",
                      chunk = shared_.chunks(id) == 1 ? ""
                                                      : " + part / " + text_of(kPiecesOfLine) + " * " +
                                                            text_of(shared_.chunk_bytes(id));
    e_.out.line("const auto source = b" + text_of(expr(id).buffer) + " + (" + e_.position(expr(id).map) +
                ") + " + beyond + ";");
    e_.out.line(e_.dialect.constant(e_.index_type, "apart", e_.integer(stride) + " * " + text_of(step)));
    e_.open_unrolled("step", (lines.count + step - 1) / step);
    e_.out.line("const unsigned number = first + unsigned(step) * " + text_of(step) + ", line = " + line +
                ";");
    if (lines.count % step != 0) e_.out.line("if (number >= " + text_of(lines.count) + ") break;");
    if (lines.lanes() != lines.pieces) e_.out.line("if (part >= " + text_of(lines.pieces) + ") break;");
    e_.out.line("tc_copy_16(" + to + " + " + text_of(shared_.offset(id)) + chunk + " + line * " +
                text_of(kLineBytes) + " + ((part % " + text_of(kPiecesOfLine) +
                " ^ line % 8) << 4), source + step * apart, " + condition + " ? 16 : 0);");
    e_.close();
    e_.close();
  }
};

}  // namespace

Source emit_subgroup_attention(const ir::Kernel& kernel, const Target& target) {
  return SubgroupsText(kernel, target).write();
}

}  // namespace sinter::emit
