// Writes kernels of attention whose subgroups multiply cooperative matrices, of which it is known which lane
// has what (MatrixLayout): scores, weights and sums stay in registers, where lanes compute with them.
#include <string>
#include <vector>

#include "jit/emit/attention/attention_text.h"
#include "jit/emit/attention/matrix_tiles.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::MatrixLayout;

namespace {

using Bits = std::vector<MatrixLayout::Bit>;

/// What the bits of a number add up to. `is_packed`: the number has these bits alone, one after the other.
std::string sum_of_bits(const std::string& number, const Bits& bits, bool is_packed) {
  std::string text;
  int place = 0;
  for (const MatrixLayout::Bit& bit : bits)
    text += (text.empty() ? "" : " + ") + ("(" + number) + " >> " +
            std::to_string(is_packed ? place++ : bit.of) + " & 1) * " + std::to_string(bit.adds);
  return text.empty() ? "0" : text;
}

/// These bits of an element's number, one after the other.
int packed(int element, const Bits& bits) {
  int number = 0, place = 0;
  for (const MatrixLayout::Bit& bit : bits) number |= (element >> bit.of & 1) << place++;
  return number;
}

/// A subgroup has 16 rows.
class LaidTilesText : public MatrixTilesText {
 public:
  LaidTilesText(const ir::Kernel& kernel, const Target& target)
      : MatrixTilesText(kernel, target), layout_(kernel.attention.layout) {
    // Half a step of bf16 away from 0, so that the nearest number is left: what lies in the middle, one
    // number in 65,536, is rounded up.
    if (cuts())
      e_.functions["sn_uncut"] =
          "SN_FN float sn_uncut(float a) {\n"
          "  return a + uintBitsToFloat(floatBitsToUint(a) & 0xff800000u) * 0.00390625;\n"
          "}\n";
  }

 private:
  /// It is rounded where a matrix gets it.
  DType weight_type(ExprId) const override { return DType::f32; }
  std::string kept_weight(ExprId, const std::string& number) const override { return number; }

  bool cuts() const { return layout_.cuts_bf16 && dtype_ == DType::bf16; }

  void write_lanes() override {
    const std::string in_subgroup = "(lane % " + text_of(layout_.lanes()) + ")";
    line("const int block = int(gl_SubgroupID), first = block * 16 + " +
         sum_of_bits(in_subgroup, layout_.lane_to(false), false) +
         ", own_column = " + sum_of_bits(in_subgroup, layout_.lane_to(true), false) + ";");
  }
  std::string row_in_tile() const override {
    return "first + " + sum_of_bits("r", layout_.element_to(false), true);
  }
  /// The column number c of a lane, or element of a vector.
  std::string place_of_column(const std::string& c) const {
    const std::string of_matrix = text_of(layout_.columns_of_lane());
    return c + " / " + of_matrix + " * 16 + own_column + " +
           sum_of_bits("(" + c + " % " + of_matrix + ")", layout_.element_to(true), true);
  }
  std::string column_in_tile() const override { return place_of_column("c"); }

  /// Calls for each element of a matrix number `matrix` of a row of them, in literal numbers, as drivers keep
  /// what is indexed by variables in memory: body(element, which of the lane's numbers it is, of which row).
  template <class Body>
  void over_elements(const std::string& matrix, Body body) {
    for (int x = 0; x < layout_.elements(); ++x) {
      const int row = packed(x, layout_.element_to(false));
      const std::string column = "(" + matrix + " * " + text_of(layout_.columns_of_lane()) + " + " +
                                 text_of(packed(x, layout_.element_to(true))) + ")";
      body("[" + text_of(x) + "]", column + " * " + text_of(rows_of_lane_) + " + " + text_of(row),
           text_of(row));
    }
  }

  bool brings_ahead() const override { return true; }

  void hold_rows() override {
    if (!tile_.holds_rows()) return;
    barrier();
    for (const ExprId id : rows_) {
      if (tile_.is_column(id)) continue;
      const int count = ir::ScoreTile::matrices_of(expr(id));
      line("SN_A " + name("held", id) + "[" + text_of(count) + "];");
      e_.open_unrolled("k", count);
      load_row(at(name("held", id), "k"), id);
      e_.close();
    }
  }

  void multiply() override {
    const int columns = k_.attention.columns / kMatrix;
    for (const ExprId id : dots_) {
      const auto [a, b] = factors(id);
      const std::string sum = at(name("sums", id), "j");
      line("SN_SUM " + name("sums", id) + "[" + text_of(columns) + "];");
      e_.open_unrolled("j", columns);
      line(sum + " = SN_SUM(0.0);");
      e_.close();
      e_.open_unrolled("k", ir::ScoreTile::matrices_of(expr(a)));
      if (!tile_.holds_rows()) {
        line("SN_A row;");
        load_row("row", a);
      }
      e_.open_unrolled("j", columns);
      line("SN_B column;");
      load_column("column", b);
      line(sum + " = coopMatMulAddNV(" + (tile_.holds_rows() ? at(name("held", a), "k") : "row") +
           ", column, " + sum + ");");
      e_.close();
      e_.close();
      line("float " + name("dot", id) + "[" + text_of(scores_) + "];");
      e_.open_unrolled("j", columns);
      over_elements("j", [&](const std::string& element, const std::string& number, const std::string&) {
        line(at(name("dot", id), number) + " = " + sum + element + ";");
      });
      e_.close();
    }
  }

  /// For each matrix of a lane's sums, number k.
  template <class Body>
  void over_sums(ExprId id, Body body) {
    e_.open_unrolled("k", matrices(id));
    over_elements("k", [&](const std::string& element, const std::string& number, const std::string& row) {
      body(at(name("acc", id), "k") + element, number, row);
    });
    e_.close();
  }

  void shrink() override {
    for (const ExprId id : state_.combines)
      over_sums(id, [&](const std::string& sum, const std::string&, const std::string& row) {
        line(sum + " = " + sum + " * factor[" + row + "];");
      });
  }

  void combine(ExprId id) override {
    e_.open_unrolled("k", k_.attention.columns / kMatrix);
    line("SN_A weights;");
    over_elements("k", [&](const std::string& element, const std::string& number, const std::string&) {
      const std::string weight = at(name("weight", id), number);
      line("weights" + element + " = float16_t(" + (cuts() ? "sn_uncut(" + weight + ")" : weight) + ");");
    });
    e_.open_unrolled("e", matrices(id));
    line("SN_B vectors;");
    load_vectors("vectors", expr(id).args[1]);
    const std::string sum = at(name("acc", id), "e");
    line(sum + " = coopMatMulAddNV(weights, vectors, " + sum + ");");
    e_.close();
    e_.close();
  }

  void finish_sums() override {
    for (const ExprId id : state_.combines) {
      line("float " + name("total", id) + "[" +
           text_of(matrices(id) * layout_.columns_of_lane() * rows_of_lane_) + "];");
      over_sums(id, [&](const std::string& sum, const std::string& number, const std::string&) {
        line(at(name("total", id), number) + " = " + sum + ";");
      });
    }
  }

  void write_vectors(const ir::Store& store) override {
    const Expr& combine = expr(store.value);
    const int length = row_of(store.value).length;
    const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
    e_.open_unrolled("c", matrices(store.value) * layout_.columns_of_lane());
    line("const int element = " + place_of_column("c") + ";");
    if (length % kMatrix != 0) e_.open("if (element < " + text_of(length) + ")");
    const std::string found = at(name("total", store.value), "c * " + text_of(rows_of_lane_) + " + r");
    line(e_.dialect.write(k_, store.buffer, e_.position(store.map) + " + " + e_.index("element"),
                          rounded(combine.dtype, "(" + found + scale + ")")));
    if (length % kMatrix != 0) e_.close();
    e_.close();
  }

  const MatrixLayout layout_;
};

}  // namespace

Source emit_laid_attention(const ir::Kernel& kernel, const Target& target) {
  return LaidTilesText(kernel, target).write();
}

}  // namespace sinter::emit
