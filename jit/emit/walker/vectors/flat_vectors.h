// The points of an elementwise kernel by vectors that go on across the ends of rows (Kernel::flat_maps).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

class FlatVectors {
 public:
  FlatVectors(Expressions& e, const std::vector<bool>& live);

  /// True iff the kernel is written so.
  bool any() const { return any_; }

  /// Writes the constant `vectors`, which says whether what flat maps reach lies in vectors.
  void write_condition() const;

  /// The points of one vector, whose first one has the number `f`.
  void write_points(const InnerWork& work) const;

 private:
  bool is_flat(std::size_t map) const;
  bool is_load(ir::ExprId id) const;
  std::string place(std::size_t map) const;
  void declare_coordinates() const;
  void advance() const;

  Expressions& e_;
  const ir::Kernel& k_;
  bool any_ = false;
  std::vector<ir::ExprId> loads_;  // what comes in vectors
  std::size_t first_needed_ = 0;   // the first coordinate that other maps need; outer_rank: none
};

}  // namespace sinter::emit
