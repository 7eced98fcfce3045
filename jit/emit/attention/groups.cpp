// Writes kernels of attention whose warps multiply in groups: kernels/tensor_cores/attention_sm90.cu.
#include <string>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/attention_text.h"
#include "jit/emit/dialects/dialect.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

namespace {

// Registers of lanes that load, and of those that multiply.
constexpr int kFewer = 24, kMore = 240;

std::string text_of(int number) { return std::to_string(number); }

class GroupsText : private AttentionText {
 public:
  GroupsText(const ir::Kernel& kernel, const Target& target)
      : AttentionText(kernel, target, kernels::source("attention_sm90.cu")) {}

  Source write() {
    const std::string functions = next_part();
    std::string body = lines_at(1, e_.out, [&] { write_head(); });
    body += then(3, [&] { write_item(); }) + masks_.text();
    body += then(3, [&] { write_loads_of_rows(); });
    body += then(5, [&] { write_copies_of_values(); });
    body += then(5, [&] { write_loads_of_columns(); });
    body += then(2, [&] { write_item(); });
    body += then(2, [&] { write_start(); });
    body += then(3, [&] { write_dots(); });
    body += then(3, [&] { write_tile(); });
    body += then(3, [&] { write_combines(); });
    body += then(2, [&] { write_end(); });
    body += next_part();
    return whole(definitions() + std::string(kernels::source("copy_engine_sm90.inc")) +
                     std::string(kernels::source("score_lanes.inc")) + functions + instructions(),
                 body);
  }

 private:
  std::string definitions() const {
    const auto set = [](const char* change, int registers) {
      return "asm volatile(\"setmaxnreg." + std::string(change) + ".sync.aligned.u32 " + text_of(registers) +
             ";\")";
    };
    return define("SN_INFINITY", "__int_as_float(0x7f800000)") + define("SN_ROWS", text_of(a_.rows)) +
           define("SN_COLUMNS", text_of(a_.columns)) + define("SN_SLOTS", text_of(a_.slots)) +
           define("SN_ROW_SLOTS", text_of(a_.row_slots)) +
           define("SN_CONSUMERS", text_of(a_.rows / kRowsOfWarpgroup)) +
           define("SN_LOADERS", text_of(loaders())) +
           define("SN_VALUES", shared_.values().empty() ? "0" : "1") +
           define("SN_COMBINES", combines_.empty() ? "0" : "1") +
           define("SN_BYTES_OF_ROWS", text_of(shared_.bytes_of_rows())) +
           define("SN_BYTES_OF_COLUMNS", text_of(shared_.bytes_of_columns())) +
           define("SN_BYTES_OF_SLOT", text_of(shared_.bytes_of_slot())) +
           define("SN_FEWER_REGISTERS", set("dec", kFewer)) + define("SN_MORE_REGISTERS", set("inc", kMore));
  }

  int loaders() const {
    if (!shared_.orders_columns()) return 1;
    return shared_.values().empty() ? 4 : 3;
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
    for (const ExprId id : dots_) add(dot_instruction(expr(expr(id).args[0]).dtype, a_.columns));
    for (const ExprId id : combines_) {
      const Expr& row = expr(expr(id).args[1]);
      add(combine_instruction(row.dtype, row.length));
    }
    return text;
  }

  void write_loads(bool columns, const std::string& to, const std::string& barrier, const std::string& own) {
    for (std::size_t number = 0; number < rows_of(k_).size(); ++number) {
      const ExprId id = rows_of(k_)[number];
      if (shared_.is_column(id) != columns) continue;
      std::string batch;
      for (const std::size_t loop : mapped_batch(k_, id)) batch += ", int(" + e_.coordinates[loop] + ")";
      const bool is_ordered = shared_.is_ordered(id);
      const int line = elements_of_line(expr(id).dtype);
      const auto load = [&](const std::string& at, const std::string& coordinates) {
        const std::size_t dims = (is_ordered ? 3 : 2) + mapped_batch(k_, id).size();
        e_.out.line(std::string(columns && !is_ordered ? "if (loader == 0) " : "") + "tc_load_" +
                    std::to_string(dims) + "d(" + to + " + " + at + ", t_" + std::to_string(number) + ", " +
                    barrier + ", " + coordinates + batch + ");");
      };
      if (is_ordered) e_.open("for (int eight = loader; eight < SN_COLUMNS / 8; eight += SN_LOADERS)");
      for (int chunk = 0; chunk < shared_.chunks(id); ++chunk) {
        const std::string at = text_of(shared_.offset(id) + chunk * shared_.chunk_bytes(id));
        if (is_ordered)
          load(at + " + eight * " + text_of(8 * kLineBytes),
               text_of(chunk * line) + ", " + own + " / 4 + eight * 2, 0");
        else if (shared_.is_across(id))
          load(at, own + " + " + text_of(chunk * line) + ", 0");
        else
          load(at, text_of(chunk * line) + ", " + own);
      }
      if (is_ordered) e_.close();
    }
  }
  void write_loads_of_rows() {
    e_.out.line("tc_expect(here, SN_BYTES_OF_ROWS);");
    write_loads(false, "to_rows", "here", "row_of_tile");
  }
  void write_copies_of_values() {
    if (shared_.values().empty()) return;
    e_.open("for (int own = lane; own < SN_COLUMNS; own += 32)");
    e_.out.line(
        e_.dialect.constant(e_.index_type, e_.coordinates[column_], e_.index("min(from + own, size_n - 1)")));
    for (const ExprId id : shared_.values())
      e_.out.line("tc_copy_f32(to + " + text_of(shared_.offset(id)) + " + own * 4, b" +
                  text_of(expr(id).buffer) + " + (" + e_.position(expr(id).map) + "));");
    e_.close();
  }
  void write_loads_of_columns() {
    // The first loader speaks for all: until it has, nobody is told that the data are here.
    e_.out.line("if (loader == 0) tc_expect(arrived, SN_BYTES_OF_COLUMNS);");
    write_loads(true, "to", "arrived", "from");
  }
};

}  // namespace

Source emit_group_attention(const ir::Kernel& kernel, const Target& target) {
  return GroupsText(kernel, target).write();
}

}  // namespace sinter::emit
