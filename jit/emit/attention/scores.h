// What is computed of tiles of scores, and kept of their rows, in kernels of attention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/emit/attention/text.h"
#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

/// Of the numbers of exponentials, whose functions take powers of 2.
inline constexpr const char* kLog2E = "1.4426950408889634f";

/// Of what is subtracted from scores: its rounding changes weights by 1e-4 at most, and theirs are 4e-3, or
/// 5e-4 of tf32.
inline constexpr const char* kNear = "1000.f";
inline constexpr int kStrands = 4;  // in which a lane reduces a row

/// What a score, an expression, is called in a text.
inline std::string name(const char* what, ir::ExprId id) { return what + std::to_string(id); }

/// Writes into `e_.out`. A lane has two rows, r, eight apart, and of each eight columns of a tile two
/// neighbours: its score number i is of row i / 2 % 2. The text is within the loops of
/// kernels/tensor_cores/attention_sm90.cu or attention_sm80.cu.
class ScoresText {
 public:
  ScoresText(const ir::Kernel& kernel, const Target& target);

  /// Before the first tile: numbers of rows, and sums of nothing.
  void write_start();
  /// Begins the scores of a tile.
  void write_dots();
  /// What is made of the scores of a tile: weights, and what is reduced.
  void write_tile();
  /// Begins to add up rows by the weights of a tile.
  void write_combines();
  /// After the last tile: results.
  void write_end();

 protected:
  const ir::Expr& expr(ir::ExprId id) const { return k_.exprs[id]; }

  const ir::Kernel& k_;
  const ir::Attention& a_;
  const SharedRows shared_;
  Expressions e_;
  const Masks masks_;
  const std::vector<bool> live_;
  const std::size_t row_, column_;  // loops
  std::vector<ir::ExprId> dots_, combines_;

 private:
  bool is_softmax() const { return k_.phases == 3; }
  int scores() const { return a_.columns / 2; }  // of a lane
  /// Words of a lane: two weights each, or one.
  int weights(ir::ExprId combine) const {
    return scores() * static_cast<int>(size_of(expr(expr(combine).args[1]).dtype)) / 4;
  }

  /// Outer values that are read where scores are, and those that they are made of.
  void find_row_values();
  /// Its text needs no definition.
  bool is_argument(ir::ExprId id) const;
  std::string array(ir::ExprId id) const;
  /// Defines what is Outer and of phases [from, to) for row r, with the reductions that have been found.
  void define_outer(std::uint16_t from, std::uint16_t to);
  void open_rows();
  /// Tensor cores that go on by themselves have written these.
  void hold(const char* what, const std::vector<ir::ExprId>& ids);
  /// For what was combined before this tile.
  void wait_for_combines();
  /// Likewise; its slot is free.
  void write_finish();
  /// A product times a number of the kernel's arguments.
  struct ScaledDot {
    ir::ExprId dot;
    std::string scale;
  };
  /// What a score is where all of a tile count.
  std::optional<ScaledDot> scaled_dot(ir::ExprId id) const;
  /// One of two numbers, of a score and of what stands in its place.
  struct Choice {
    ir::ExprId score, condition, instead;
  };
  /// How a score that scaled_dot() knows is chosen, the last choice first.
  std::vector<Choice> choices_of(ir::ExprId score) const;
  /// The product whose masked elements may be minus infinity.
  struct MaskedDot {
    ScaledDot dot;
    std::vector<Choice> choices;
  };
  std::optional<MaskedDot> find_masked() const;
  /// The score that exponentials are of: they are the numbers of e of its differences.
  std::optional<ir::ExprId> exponentiated() const;
  bool sums_exponentials() const;
  /// When a tile's scores are products times a number, all of which count, or of which those that do not are
  /// minus infinity by write_mask(): text.
  std::string plain_condition() const;
  /// In a tile of which not all is seen, makes minus infinity of what is not.
  void write_mask();
  /// How far the first score of a lane in a row is from where a mask ends: a number in 32 bits, to which the
  /// others only add theirs.
  void write_margins(const std::vector<bool>& needed);
  /// What becomes of a tile in two rounds over its scores.
  void write_softmax();
  /// A loop over the scores of a lane, in which `targets`, and what they need, are defined.
  void open_scores(bool exact, const std::vector<ir::ExprId>& targets, std::uint16_t phase);
  void close_scores();
  /// Of a value of columns, those of the lane in the eight columns at hand.
  void write_pair(ir::ExprId value);
  /// A condition that holds all over the tile, or the score whose greatest is known.
  bool is_known(ir::ExprId id, bool exact, std::uint16_t phase) const;
  bool is_shifted(ir::ExprId id) const;
  void define_score(ir::ExprId id, bool exact, std::uint16_t phase);
  std::string array_of(ir::ExprId id) const;
  /// The greatest scores of a tile. `exact`: some do not count. `dot`: what they are.
  void write_greatest(bool exact, const std::optional<ScaledDot>& dot);
  /// The greatest score of each row up to this tile, and how much smaller what was summed so far becomes.
  void write_rows();
  /// What was combined so far, in proportion to exponentials less a greater number.
  void write_shrunk();
  /// Of a difference, in fewer instructions than the two; false: it is not of that kind.
  bool write_exponential(ir::ExprId id, bool exact);
  /// A score, which scaled_dot() knows, less another number.
  std::string less(ir::ExprId score, const std::string& subtracted, bool exact) const;
  /// Where scores are gone over once: the exponential of a score less a number of its row.
  std::optional<ir::ExprId> find_row_exponential() const;
  /// At the beginning of a tile of rows: that number, and whether it is near enough to 0 to be subtracted
  /// from powers of 2, in one instruction with the scale.
  void write_subtracted();
  /// A score less what is subtracted from it, in powers of 2.
  std::string power(ir::ExprId score, bool exact) const;
  /// The array of a tile's scores between its two rounds: that of their products, if nobody else asks for
  /// these.
  std::string shifted() const;
  /// Of the shifted scores: the greatest of a row, or the greater one of it and another number.
  ir::ExprId subtracted_value() const;
  /// What a lane reduces of a row it reduces in several strands, so that one does not wait for the other.
  void declare_strands(const std::string& name, const std::string& first);
  std::string joined_strands(const std::string& name, Op op) const;
  std::string greater(const std::string& a, const std::string& b) const;
  /// Defines Outer values of a phase from their arrays.
  void import_rows(std::uint16_t phase);
  void write_sums(bool exact, std::uint16_t phase);
  /// Joins what the lanes of a row have found; the greatest is known to all of them.
  void write_whole(ir::ExprId id);
  void define_finished();
  /// Each lane has two neighbours of each eight elements.
  void write_vectors(const ir::Store& store);

  std::vector<ir::ExprId> greatest_, sums_;  // reductions: the first round of two, and all others
  std::vector<bool> is_row_value_;
  std::optional<MaskedDot> masked_;
  std::optional<ir::ExprId> row_exponential_;
};

}  // namespace sinter::emit
