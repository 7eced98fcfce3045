// Reductions over few inner points, of outer points that are neighbours in memory, taken a vector at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/vectors/vectors.h"
#include "jit/emit/walker/vectors/vectors_of_columns.h"

namespace sinter::emit {

/// True iff the lanes of a kernel whose inner points are part of its text may take several neighbouring outer
/// points each: it adds up f32, and loads what lies along them.
bool has_vectors_of_windows(const ir::Kernel& kernel, const Target& target);

/// True iff all elements of a vector along the coordinate are within bounds or none, where the ints that
/// `ints` gets are multiples of its width.
bool is_whole_in_vectors(const ir::Kernel& kernel, ir::ExprId predicate, std::size_t along,
                         const std::vector<std::uint32_t>& dependence, std::set<std::size_t>& ints);

/// True iff a load of a reduction brings neighbours along the coordinate of outer points, where ints allow
/// it.
bool lies_in_vectors(const ir::Kernel& kernel, ir::ExprId load, std::size_t along,
                     const std::vector<std::uint32_t>& dependence);

class VectorsOfWindows : private LoopText {
 public:
  VectorsOfWindows(Expressions& e, Accumulators& sums, Vectors& vectors, VectorsOfColumns& columns,
                   const std::vector<bool>& live)
      : LoopText(e), sums_(sums), vectors_(vectors), columns_(columns), live_(live) {}

  /// The points from number f on.
  void write(const InnerWork& work);

 private:
  /// What is computed of the sums, and stored.
  void write_results(const InnerWork& work);

  Accumulators& sums_;
  Vectors& vectors_;
  VectorsOfColumns& columns_;
  const std::vector<bool>& live_;
};

}  // namespace sinter::emit
