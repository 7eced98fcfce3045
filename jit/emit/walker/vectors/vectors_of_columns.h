// Columns that several workgroups share, reduced a vector at a time.
#pragma once

#include <vector>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/lane_loop.h"
#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

/// While it reduces its part a lane takes several neighbouring columns, so that there are more rows of lanes;
/// in the end each column goes to the lanes that it has otherwise. 16 bits at a time, a lane would not ask
/// for enough to keep the memory busy.
class VectorsOfColumns : private LoopText {
 public:
  VectorsOfColumns(Expressions& e, Accumulators& sums, Vectors& vectors, LaneLoop& loop,
                   const std::vector<bool>& live)
      : LoopText(e), sums_(sums), vectors_(vectors), loop_(loop), live_(live) {}

  /// Takes the part at hand into the accumulators, where Vectors says that columns lie so.
  void write(const InnerWork& work);

  /// What is computed once for a column, and used in each of its rows.
  std::vector<ir::ExprId> used_in_rows(const InnerWork& work) const;
  void write_outer_values(const std::vector<ir::ExprId>& used, const HeldRows& places);

 private:
  Accumulators& sums_;
  Vectors& vectors_;
  LaneLoop& loop_;
  const std::vector<bool>& live_;
};

}  // namespace sinter::emit
