// What kernels of attention have in common that go over tiles of scores out of shared memory: by ordinary
// lanes, or by cooperative matrices, whose scores lanes get through shared memory.
//
// All that lanes share is in sn_tile (ir/scores/score_tile.h). In the text `lane` is a lane's position in the
// workgroup, `t` that among the lanes of its rows, and `first` the first of these rows in the tile; score
// number at = c * rows_of_lane + r is of its row r and its column c.
#pragma once

#include <string>
#include <vector>

#include "jit/emit/attention/score_values.h"
#include "jit/ir/scores/score_tile.h"

namespace sinter::emit {

class ScoreTilesText : protected ScoreValues {
 public:
  virtual ~ScoreTilesText() = default;
  Source write();

 protected:
  ScoreTilesText(const ir::Kernel& kernel, const Target& target);

  /// Text before the kernel.
  virtual std::string definitions() { return ""; }
  /// Defines `lane`, `t` and `first`.
  virtual void write_lanes();
  /// In the tile: a lane's row number r, and the column of its score number c of a row.
  virtual std::string row_in_tile() const { return "first + r"; }
  virtual std::string column_in_tile() const { return "c * " + text_of(lanes_of_row_) + " + t"; }
  /// When the vectors of the tile's rows are on their way to shared memory.
  virtual void hold_rows() {}
  /// True: those of the next columns come while these are computed.
  virtual bool brings_ahead() const { return false; }
  /// Sums of nothing, for each combination.
  virtual void declare_sums() = 0;
  /// What a lane brings of a Row goes through an array: of its piece number i, which is number `part` of line
  /// `number`, is_there says whether there is such a line; else it is to be 0.
  virtual int pieces_of_line(const ir::Expr& row) const = 0;
  virtual void declare_pieces(ir::ExprId row, int count) = 0;
  virtual void load_piece(ir::ExprId row) = 0;
  virtual void store_piece(ir::ExprId row) = 0;
  /// Fills the arrays dotN.
  virtual void multiply() = 0;
  /// What was combined before this tile becomes smaller by factor[r].
  virtual void shrink() = 0;
  /// What a weight is kept as until it is multiplied, in an array weightN; text of such a number.
  virtual DType weight_type(ir::ExprId combine) const = 0;
  virtual std::string kept_weight(ir::ExprId combine, const std::string& number) const = 0;
  virtual void combine(ir::ExprId id) = 0;
  /// After the last tile, and for a row of a lane, whose other results are known.
  virtual void finish_sums() {}
  virtual void write_vectors(const ir::Store& store) = 0;

  static std::string text_of(int number) { return std::to_string(number); }
  void barrier() { line(e_.dialect.workgroup_barrier); }
  /// Four neighbours of an array, from number `first` on.
  static std::string four_of(const std::string& array, const std::string& first);

  const ir::ScoreTile tile_;
  const int rows_of_lane_, columns_of_lane_, scores_, lanes_of_row_;
  const std::size_t row_;  // loop

 private:
  void write_head();
  void write_tile_of_rows();
  /// Vectors of the tile's rows, or of the columns from `from` on; zeros where there are no more.
  void bring_rows(bool of_columns);
  /// The same for columns, of which all a lane has are on their way at once: it asks for those from `from`
  /// on, and puts them where they are shared.
  void declare_columns();
  void ask_for_columns(const std::string& from);
  void share_columns();
  template <class Body>
  void over_columns(Body body);
  int pieces_of_lane(ir::ExprId row, int lines) const;
  void open_pieces(ir::ExprId row, bool of_columns, int first, int count, const std::string& from = "from");
  /// Outer values that are asked for where scores are, and later.
  void find_row_values();
  void define_row();
  void open_rows();
  void import_rows();
  void write_start();
  template <class Body>
  void over_scores(Body body);
  /// The greatest score of each row up to this tile, and how much smaller what was summed so far becomes.
  void write_greatest();
  /// What is summed of the scores, and the weights of combinations, as they are multiplied.
  void write_weights();
  /// What the lanes of a row have found of it becomes the same in all of them.
  void join_rows(const std::string& array, ir::ExprId reduction);
  void write_results();

  const Places places_{"[at]", "score[at]", "less[r]"};
  std::vector<bool> is_row_value_;
};

}  // namespace sinter::emit
