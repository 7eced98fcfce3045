// What the pieces of a computed factor are made of, loaded before they are computed.
#pragma once

#include <string>
#include <vector>

#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

/// A piece is so many neighbours along the last inner loop. Of what its values are made of, the loads that
/// differ from neighbour to neighbour come as one vector (TiledFactor::vector), in words, so that few
/// registers wait for them; those that do not come once. What has bounds is loaded where it is computed.
class PieceLoads {
 public:
  PieceLoads(Expressions& e, ir::ExprId value, int neighbours);

  /// The members of a struct that holds `count` pieces, each on a line.
  void declare(int count) const;
  /// Loads piece number `piece` into `raw`, at the coordinates at hand: those of the first neighbour.
  void load(const std::string& raw, const std::string& piece) const;
  /// Where `e` finds neighbour `j` of the piece from now on, until it is told to forget.
  void find(const std::string& raw, const std::string& piece, const std::string& j) const;
  void forget() const;

 private:
  bool is_vector(ir::ExprId id) const { return (depends_[id] >> along_ & 1) != 0; }
  int words_of(ir::ExprId id) const;
  std::string place(const std::string& raw, ir::ExprId id, const std::string& piece) const;

  Expressions& e_;
  const int neighbours_;
  const std::size_t along_;
  const std::vector<std::uint32_t> depends_;
  std::vector<ir::ExprId> loads_;
  /// What is made of such a load alone: a float of a byte, in one step from the word that has it.
  struct FloatOfByte {
    ir::ExprId value, load;
  };
  std::vector<FloatOfByte> floats_;
};

}  // namespace sinter::emit
