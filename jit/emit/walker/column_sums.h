// Sums of columns over the rows that a group of lanes goes over (Kernel::parts).
#pragma once

#include <string>
#include <vector>

#include "jit/emit/walker/held_loops.h"
#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

/// A lane has the same columns of each row of its part, and adds them up in registers
/// (Accumulators::column_sum). Where a workgroup has several rows at a time, its rows of lanes meet in shared
/// memory in the end, in their order.
class ColumnSums : private LoopText {
 public:
  ColumnSums(Expressions& e, const Vectors& vectors, const std::vector<bool>& live);

  // ---- statements
  /// The workgroup's part: `part`, `first` and `count` of its points (ir::points_of_part).
  void find_part();
  /// Sums of nothing yet.
  void declare();
  /// Stores the sums of the part.
  void finish(HeldForm form);

 private:
  bool has_rows() const { return has_short_rows(k_, e_.target); }
  void join_rows(const ir::Store& partial, HeldForm form, int first, int turns);
  /// Whose sums have room in the memory that lanes leave them in.
  int turns_at_once() const;
  void store(const ir::Store& store, HeldForm form, const std::string& value, const std::string& k,
             const std::string& lane);

  const Vectors& vectors_;
  std::vector<const ir::Store*> partials_;
};

}  // namespace sinter::emit
