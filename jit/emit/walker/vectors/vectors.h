// The points of a kernel that are neighbours in memory, taken a vector at a time.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/rows.h"

namespace sinter::emit {

/// What a store's vector is made of: what is cast, where the language casts whole vectors on their way to
/// memory.
ir::ExprId vector_source(const Expressions& e, const InnerWork& work, const ir::Store& store);

/// Kernels of more expressions or divisions have no vectors: their texts are long already, and registers
/// would be short.
bool is_small_enough_for_vectors(const ir::Kernel& kernel, const std::vector<bool>& live);

class Vectors {
 public:
  /// Finds what may go in vectors, and writes the constant `vectors` that says whether it lies so.
  Vectors(Expressions& e, Accumulators& sums, ir::Schedule schedule, const std::vector<bool>& live);

  /// True iff the kernel has a path for vectors.
  bool any() const { return any_; }
  /// Its elements are neighbours, and all of a vector are within bounds or none.
  bool is_load(ir::ExprId id) const;

  /// Rows whose lengths are no whole vectors (Kernel::row_ragged) still lie in vectors, which begin up to
  /// three elements before a row: a condition for the text under which those of all operands begin at one
  /// distance. Empty: there are none.
  std::string shift_condition() const;
  /// That distance, for the row at hand.
  std::string shift() const;
  /// True iff the load brings elements of a row at that distance.
  bool is_shifted(ir::ExprId id) const;
  /// A lane's vector of such a row, whose first element has the coordinate `base`. `loaded` are there
  /// already. `end`: how many elements there are.
  void write_shifted_points(const InnerWork& work, const std::string& base, const HeldRows& rows,
                            const std::vector<ir::ExprId>& values, const std::vector<ir::ExprId>& loaded,
                            const std::string& end = "inner");

  /// Of rows that lanes do not hold: the stretches along their last dim, several for a row where it has more
  /// dims. Likewise a condition under which those of all operands begin at one distance from a vector, so
  /// that stretches that are no whole vectors lie in vectors all the same.
  std::string stretch_condition() const;
  /// A vector of such a stretch, which begins `base` elements from the stretch's first one, or before it.
  void write_points_of_stretch(const InnerWork& work, const std::string& base, const std::string& end);

  /// Where a vector lies, as the language counts; `base` is the name of its first coordinate.
  std::string place(std::size_t map, const std::string& base) const;
  /// Loads a vector to `to`; zeros beyond bounds.
  void load(ir::ExprId id, const std::string& base, const std::string& to) const;
  /// Opens the block in which a load is within bounds. False: it always is, and there is no block.
  bool open_bounds(ir::ExprId id) const;

  /// A vector's points, for which the last coordinate is defined for the first of them, under the name
  /// `base`.
  void write_points(const InnerWork& work, const std::string& base) { write_points(work, base, {}, {}, {}); }
  /// Those of a row whose values are held: the lane's vector number `i`. `taken` come from earlier phases,
  /// `loaded` are there already, and what is to be held stays where `rows` says.
  void write_points(const InnerWork& work, const std::string& base, const HeldRows& rows,
                    const std::vector<ir::ExprId>& taken, const std::vector<ir::ExprId>& loaded);

 private:
  bool is_of_row(std::size_t map) const;
  /// Of all that is read and written of rows; empty where what lies around one cannot be read.
  std::vector<std::pair<std::size_t, std::size_t>> maps_of_rows() const;
  bool is_store(const ir::Store& store) const { return e_.is_consecutive(store.map, along_); }

  Expressions& e_;
  Accumulators& sums_;
  const ir::Kernel& k_;
  bool any_ = false;
  bool of_outer_points_ = false;           // of reductions
  bool of_stretch_ = false;                // in the text at hand vectors begin anywhere
  std::set<std::size_t> framed_;           // maps of loads whose bounds depend on that coordinate
  std::size_t along_ = 0;                  // the coordinate that counts the elements of a vector
  std::vector<std::uint32_t> dependence_;  // of expressions on coordinates
};

}  // namespace sinter::emit
