// The text of kernel IR expressions: index maps, loads, arithmetic. The loops around them are in loops.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/writer.h"

namespace sinter::emit {

class Expressions {
 public:
  Expressions(const ir::Kernel& kernel, const Target& target);

  // --- names
  std::string integer(ir::IntRef ref) const;         // "n3", "0", "1"
  std::string value(ir::ExprId id) const;            // how later text refers to an expression
  std::string flat(const std::string& text) const;   // as a number that is never negative
  std::string index(const std::string& text) const;  // as a coordinate or position
  std::string zero(DType dtype) const;               // of a dtype's values
  std::string lanes() const;                         // of a workgroup: a number, where the kernel says it

  // --- statements
  /// Defines coordinates first .. first + count - 1 from the number `from`, split row-major; only those that
  /// a map uses.
  void split(const std::string& from, std::size_t first, std::size_t count);
  /// Takes the last coordinate, of a dim of that extent, off the variable `rest`: defines it, unless its name
  /// is empty; with `goes_on` the others are left in `rest`. `c` tells apart what is split in one block.
  void split_off(const std::string& rest, ir::IntRef extent, const std::string& coordinate, bool goes_on,
                 std::size_t c);
  void define(ir::ExprId id);
  /// After the definition of an Outer expression: its reciprocal, if the elements of a row are divided by it.
  void define_reciprocal(ir::ExprId id);
  void store(const ir::Store& store);
  /// accumulator = accumulator (op) value
  std::string combine(Op op, DType dtype, const std::string& a, const std::string& b) const;

  /// Blocks: what is defined in one is forgotten at its end.
  void open(const std::string& head);
  void close(std::string_view tail = "}");
  /// The block of a loop with a constant number of rounds, unrolled.
  void open_unrolled(const std::string& variable, int count);
  /// A line that not every language has: nothing where it is empty.
  void hint(const std::string& line);
  /// That a loop takes several rounds at once.
  void hint_rounds(int count);

  // --- several points at once, number `u` at hand (points.h)
  bool stores_into_arrays = false;  // `store` leaves a value in its array
  std::string array_of(const ir::Store& store) const {
    return "w" + std::to_string(&store - kernel.stores.data());
  }
  /// Stores what `store` left there.
  void store_from_array(const ir::Store& store);

  // --- the vector path
  /// The map walks consecutive elements along coordinate `along`, if the ints it names are multiples of the
  /// width.
  bool is_consecutive(std::size_t map, std::size_t along) const {
    return ir::is_consecutive(kernel.maps[map], along);
  }
  /// Likewise for rows that begin anywhere, but all at one distance from a vector as those of map `like`:
  /// " && ..." for each condition that is left to the text.
  std::string shift_condition(const std::vector<std::pair<std::size_t, std::size_t>>& buffer_maps,
                              std::size_t like) const;
  /// A condition for the text: addresses and ints allow vectors along `along` for these buffers and maps, and
  /// `ints` are whole vectors.
  std::string vector_condition(const std::vector<std::pair<std::size_t, std::size_t>>& buffer_maps,
                               std::size_t along, bool extent_too, std::set<std::size_t> ints = {}) const;
  std::string position(std::size_t map);
  std::string vector_of(const std::string& element) const;  // the number of an element's vector
  /// The number of a vector in its buffer, for a map that is consecutive along `along`, from the vector's
  /// number along it. `may_be_negative`: all but the latter may be less than 0, as before what a frame has in
  /// front of the coordinate.
  std::string vector_number(std::size_t map, std::size_t along, const std::string& number_along,
                            bool may_be_negative = false) const;

  /// The element at hand of a vector of such values; the statements that set it to this value, and that take
  /// the value from somewhere.
  std::string element(ir::ExprId id, const std::string& vector) const {
    return dialect.element(kernel.exprs[id].dtype, width, vector);
  }
  std::string set_element(ir::ExprId id, const std::string& vector) const {
    return dialect.set_element(kernel.exprs[id].dtype, width, vector, value(id));
  }
  void define_as(ir::ExprId id, const std::string& text) {
    out.line(dialect.exact(kernel.exprs[id].dtype, value(id), text));
  }

  const int width;  // vector_width
  const ir::Kernel& kernel;
  const Target& target;
  const Dialect& dialect;
  Writer out;
  std::vector<std::string> coordinates;      // current name of each loop coordinate
  std::map<ir::ExprId, std::string> loaded;  // values that a vector load has brought already
  std::string flat_point;  // the number of the point at hand, for Kernel::flat_maps; empty: not known
  std::string
      exists;  // of a lane that may stand beyond the last point: whether its point exists; empty: it does
  BodyUse use;
  std::map<std::string, std::string> functions;  // functions beyond the prelude's, by name
  const Type flat_type;                          // of numbers that count points or elements
  const Type index_type;  // of coordinates and positions, which may be negative on the way

 private:
  static std::string reciprocal(ir::ExprId id) { return "i" + std::to_string(id); }
  bool has_common_divisor(const ir::Expr& e) const;
  /// A float made of a byte, which is an i32 on the way, where the language has a shorter way; else empty.
  std::string byte_as_float(const ir::Expr& e) const;
  /// An f32 that a bf16 made of an f32 is cast to, where the language has a shorter way; else empty.
  std::string rounded_to_bf16(const ir::Expr& e) const;
  void define_load(ir::ExprId id);
  void define_load_at(ir::ExprId id);
  void define_in_bounds(ir::ExprId id);
  /// Element by element, in kernels that tensor cores do not compute.
  void define_dot(ir::ExprId id);
  /// Compilers may take x == x for true, which it is not for NaN. Empty when the expression is no such
  /// comparison.
  std::string compared_with_itself(const ir::Expr& e) const;
  std::string elementwise_text(const OpInfo& op, DType result, const std::vector<DType>& dtypes,
                               const std::vector<std::string>& operands) const;
  std::string linear(const ir::MapStep& step, const std::vector<std::string>& names) const;
  std::string number(std::size_t map);
  /// Numbers the quotients that the map adds, for all in this block that add them too.
  void number_quotients(std::size_t map);

  std::vector<bool> used_;                     // coordinates that some map needs
  std::vector<std::set<std::size_t>> placed_;  // maps of several steps computed in the open blocks
};

}  // namespace sinter::emit
