// What kernels of attention have in common whose subgroups multiply cooperative matrices, whether or not it
// is known which lane has what of them.
#pragma once

#include <string>
#include <utility>

#include "jit/emit/attention/score_tiles.h"

namespace sinter::emit {

/// What a subgroup multiplies is of the rows that its lanes have, so it waits for no other subgroup with it.
class MatrixTilesText : public ScoreTilesText {
 protected:
  static constexpr int kMatrix = ir::ScoreTile::kMatrix, kFour = ir::ScoreTile::kFour, kEight = 8;

  MatrixTilesText(const ir::Kernel& kernel, const Target& target);

  std::string definitions() override;
  int pieces_of_line(const ir::Expr& row) const override { return tile_.filled(row); }
  void declare_pieces(ir::ExprId id, int count) override;
  void load_piece(ir::ExprId id) override;
  void store_piece(ir::ExprId id) override;
  void declare_sums() override { declare_sums(1); }

  int matrices(ir::ExprId combine) const { return ir::ScoreTile::matrices_of(row_of(combine)); }
  static std::string at(const std::string& name, const std::string& number) {
    return name + "[" + number + "]";
  }
  /// Statements; `stride`: from one line to the next, `crosses`: lines are columns of the matrix.
  void load(const std::string& matrix, const std::string& first, int stride, bool crosses);
  void declare_sums(int blocks);
  /// From what is shared: of the 16 rows number `block` of a Row, or the 16 columns number j, the 16 elements
  /// number k.
  void load_row(const std::string& matrix, ir::ExprId row);
  void load_column(const std::string& matrix, ir::ExprId row);
  /// The vectors of 16 columns number k, of which these are the elements number e.
  void load_vectors(const std::string& matrix, ir::ExprId row);
  /// The Rows of a Dot, first that of the tile's rows.
  std::pair<ir::ExprId, ir::ExprId> factors(ir::ExprId dot) const;

  const DType dtype_;

 private:
  bool has_more(const ir::Expr& row) const;
};

}  // namespace sinter::emit
