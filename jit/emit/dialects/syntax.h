// How a language spells what every kernel's text consists of: types, definitions, conditions, loops, casts.
//
// The walker writes by these alone. What it writes itself is the same in all languages that a dialect can be
// for: infix operators, calls f(a, b), elements a[i], assignments a = b, a += b and a /= b, blocks in braces,
// `true` and `false`, whole numbers without a suffix, and the functions fma, min, max and abs.
//
// The class itself is C, which CUDA C++ and GLSL take over; another language overrides what it spells
// differently.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>

namespace sinter::emit {

/// What variables of generated text may be.
enum class Type : std::uint8_t { F32, F64, I32, I64, U32, Bool };

/// The type of a dtype's values in registers: u8 is a number; bf16, f16 and 8-bit floats are
/// their bits; all in a U32.
Type type_of(DType dtype);

/// Types by the names they have in C-like texts: "float", "u32".
std::string_view c_type(Type type);
inline std::string_view c_type(DType dtype) { return c_type(type_of(dtype)); }

class Syntax {
 public:
  virtual ~Syntax() = default;

  // ---- expressions
  virtual std::string type(Type type) const { return std::string(c_type(type)); }
  std::string type(DType dtype) const { return type(type_of(dtype)); }
  /// A small whole number of a type: "float(0)", "0u".
  virtual std::string literal(Type type, int value) const;
  std::string literal(DType dtype, int value) const { return literal(type_of(dtype), value); }
  virtual std::string cast(Type to, const std::string& value) const { return type(to) + "(" + value + ")"; }
  /// "condition ? yes : no", without parentheses around it.
  virtual std::string choose(const std::string& condition, const std::string& yes,
                             const std::string& no) const {
    return condition + " ? " + yes + " : " + no;
  }
  /// A variable as the argument of a function that changes it.
  virtual std::string changed(const std::string& variable) const { return variable; }

  // ---- statements
  virtual std::string constant(Type type, const std::string& name, const std::string& value) const;
  std::string constant(DType dtype, const std::string& name, const std::string& value) const {
    return constant(type_of(dtype), name, value);
  }
  /// A constant whose arithmetic is done as it is written: nothing is contracted into fused operations.
  virtual std::string exact(Type type, const std::string& name, const std::string& value) const {
    return constant(type, name, value);
  }
  std::string exact(DType dtype, const std::string& name, const std::string& value) const {
    return exact(type_of(dtype), name, value);
  }
  virtual std::string variable(Type type, const std::string& name, const std::string& value) const;
  std::string variable(DType dtype, const std::string& name, const std::string& value) const {
    return variable(type_of(dtype), name, value);
  }
  /// Several variables with one value.
  virtual std::string variables(Type type, const std::vector<std::string>& names,
                                const std::string& value) const;
  /// An array of `count` variables whose values do not matter yet.
  virtual std::string array(Type type, const std::string& name, int count) const;
  /// One whose elements are all `value`.
  virtual std::string array_of(Type type, const std::string& name, int count, const std::string& value) const;
  /// A statement under a head, on one line.
  virtual std::string guarded(const std::string& head, const std::string& statement) const {
    return head + " " + statement;
  }

  // ---- heads of blocks
  virtual std::string when(const std::string& condition) const { return "if (" + condition + ")"; }
  virtual std::string otherwise() const { return "else"; }
  virtual std::string otherwise_when(const std::string& condition) const { return "else " + when(condition); }
  /// From `first`, in steps, as long as it is below the limit.
  virtual std::string loop(Type type, const std::string& variable, const std::string& first,
                           const std::string& limit, const std::string& step) const;
  /// 0, 1 .. count - 1, of type I32.
  virtual std::string rounds(const std::string& variable, int count) const;
  /// A loop over a variable that is defined before it and lives on after it.
  virtual std::string loop_while(const std::string& condition, const std::string& variable,
                                 const std::string& step) const;

  /// Line before a loop with a constant number of rounds that is to be unrolled; empty: there is none.
  std::string unroll;
  /// Line before any loop, to take as many rounds at once as stands behind it; empty: there is none.
  std::string unroll_rounds;
};

}  // namespace sinter::emit
