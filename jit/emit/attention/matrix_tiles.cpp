// Brings rows to cooperative matrices.
#include "jit/emit/attention/matrix_tiles.h"

#include "jit/emit/contraction/matrix_scopes.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;

MatrixTilesText::MatrixTilesText(const ir::Kernel& kernel, const Target& target)
    : ScoreTilesText(kernel, target), dtype_(expr(rows_.front()).dtype) {
  // Weights are rounded to 16 bits, of which this leaves all.
  e_.functions["sn_exp_f32"] = "SN_FN float sn_exp_f32(float a) { return exp2(a * 1.4426950408889634); }\n";
}

std::string MatrixTilesText::definitions() {
  const auto type = [&](int bits, MatrixUse use) {
    return "fcoopmatNV<" + text_of(bits) + ", " +
           std::to_string(marked_scope(use, dtype_ == DType::bf16 && bits == 16)) + ", 16, 16>";
  };
  return define("SN_A", type(16, MatrixUse::A)) + define("SN_B", type(16, MatrixUse::B)) +
         define("SN_SUM", type(32, MatrixUse::Sum)) + "shared uvec4 sn_tile[" + text_of(tile_.pieces()) +
         "];\n";
}

void MatrixTilesText::load(const std::string& matrix, const std::string& first, int stride, bool crosses) {
  line("coopMatLoadNV(" + matrix + ", sn_tile, " + first + ", " + text_of(stride) + ", " +
       (crosses ? "true" : "false") + ");");
}

void MatrixTilesText::load_row(const std::string& matrix, ExprId row) {
  const int stride = tile_.line(expr(row));
  load(matrix, text_of(tile_.first(row)) + " + block * " + text_of(kMatrix * stride) + " + k * 2", stride,
       false);
}

void MatrixTilesText::load_column(const std::string& matrix, ExprId row) {
  const int stride = tile_.line(expr(row));
  load(matrix, text_of(tile_.first(row)) + " + j * " + text_of(kMatrix * stride) + " + k * 2", stride, true);
}

void MatrixTilesText::load_vectors(const std::string& matrix, ExprId row) {
  const int stride = tile_.line(expr(row));
  load(matrix, text_of(tile_.first(row)) + " + k * " + text_of(kMatrix * stride) + " + e * 2", stride, false);
}

std::pair<ExprId, ExprId> MatrixTilesText::factors(ExprId dot) const {
  std::pair<ExprId, ExprId> of{expr(dot).args[0], expr(dot).args[1]};
  if (tile_.is_column(of.first)) std::swap(of.first, of.second);
  return of;
}

void MatrixTilesText::declare_sums(int blocks) {
  for (const ExprId id : state_.combines) {
    line("SN_SUM " + name("acc", id) + "[" + text_of(blocks * matrices(id)) + "];");
    e_.open_unrolled("k", blocks * matrices(id));
    line(name("acc", id) + "[k] = SN_SUM(0.0);");
    e_.close();
  }
}

void MatrixTilesText::declare_pieces(ExprId id, int count) {
  line("uvec4 " + name("piece", id) + "[" + text_of(count) + "];");
}

/// Pieces that fill a row's last matrix.
bool MatrixTilesText::has_more(const Expr& row) const { return row.length / kEight < tile_.filled(row); }

void MatrixTilesText::load_piece(ExprId id) {
  const Expr& row = expr(id);
  const std::string part =
      has_more(row) ? "min(part, " + text_of(row.length / kEight - 1) + ")" : std::string("part");
  const std::string position = e_.position(row.map) + " + " + e_.index(part + " * " + text_of(kEight)),
                    to = name("piece", id) + "[i]";
  if (e_.dialect.has_vectors(k_, e_.target)) {
    e_.use.in_vectors.insert(row.buffer);
    line(to + " = b" + std::to_string(row.buffer) + "_4.at[" + e_.vector_of(position) + "];");
    return;
  }
  e_.open_unrolled("k", kFour);
  const auto element = [&](const char* which) {
    return e_.dialect.read(k_, row.buffer, position + " + 2 * k" + which);
  };
  line(to + "[k] = " + element("") + " | " + element(" + 1") + " << 16;");
  e_.close();
}

void MatrixTilesText::store_piece(ExprId id) {
  const Expr& row = expr(id);
  const std::string more = has_more(row) ? " && part < " + text_of(row.length / kEight) : "";
  line("sn_tile[" + text_of(tile_.first(id)) + " + number * " + text_of(tile_.line(row)) +
       " + part] = is_there" + more + " ? " + name("piece", id) + "[i] : uvec4(0u);");
}

}  // namespace sinter::emit
