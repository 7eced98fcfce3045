// What differs between target languages: types, how buffers are declared and touched, names of lanes and
// groups. Texts in both languages share the type names u32, i64 and u64, functional casts, and the sn_
// functions of the prelude.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jit/emit/emit.h"

namespace sinter::emit {

/// Elements that one lane handles at once where a kernel has a vector path.
inline constexpr int kVector = 4;
/// The same of kernels that touch 16-bit elements and hold no rows, in languages that have such vectors: 16
/// bytes.
inline constexpr int kWideVector = 8;
/// kWideVector or kVector.
int vector_width(const ir::Kernel& kernel, const Target& target);

/// What the written body of a kernel turned out to use.
struct BodyUse {
  std::set<std::size_t> in_vectors;  // buffers that load_vector and store_vector touch
  std::size_t held_words = 0;        // of 32 bits: what a lane holds of a row from phase to phase
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  /// What comes before the prelude's functions: extensions, names of types.
  virtual std::string preamble(const ir::Kernel& kernel, const Target& target) const = 0;

  /// Declarations and the head of the entry point, up to its opening brace, for a body that was written
  /// before.
  virtual std::string open(const ir::Kernel& kernel, const Target& target, const BodyUse& use) const = 0;

  /// The start of a definition of a value, "const float ".
  virtual std::string define(DType dtype) const = 0;

  /// An element at a position, as a value.
  virtual std::string read(const ir::Kernel& kernel, std::size_t buffer,
                           const std::string& position) const = 0;

  /// The statement that stores a value.
  virtual std::string write(const ir::Kernel& kernel, std::size_t buffer, const std::string& position,
                            const std::string& value) const = 0;

  // Vectors of `width` (4, or 8 where there are such) neighbouring elements, the first at a position that is
  // a multiple of the width, or the vector of that number (numbers_vectors); [k] is a value of one.
  /// This kernel may use them.
  virtual bool has_vectors(const ir::Kernel& kernel, const Target& target) const = 0;
  /// Declares one vector of values, or with `count` an array of them.
  virtual std::string declare_vector(DType dtype, int width, const std::string& name,
                                     int count = 0) const = 0;
  /// Statements.
  virtual std::string load_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                  const std::string& position, const std::string& to) const = 0;
  virtual std::string store_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                   const std::string& position, const std::string& from) const = 0;

  /// True iff floats are cast to this dtype a vector at a time, on their way to memory: by
  /// `store_cast_vector`. Other casts are written like any expression, element by element.
  virtual bool casts_vectors_to(DType) const { return false; }
  virtual std::string store_cast_vector(int /*width*/, std::size_t /*buffer*/,
                                        const std::string& /*position*/, const std::string& /*from*/) const {
    return "";
  }

  /// The operand of an op's text: languages differ in what operators take.
  virtual std::string operand(const OpInfo& op, DType dtype, const std::string& value) const = 0;
  /// The value of an op's text, likewise.
  virtual std::string result(const OpInfo& op, DType dtype, const std::string& text) const = 0;

  /// The identity of a reduction.
  virtual std::string identity(Op op, DType dtype) const = 0;

  /// The function that combines the lanes of a group, in a fixed order; every lane gets the result. `combine`
  /// is the combination of "v" and "w". Called by `group_call`.
  virtual std::string group_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                                     const Target& target) const = 0;

  /// The function that joins the moments (count, mean, squared deviations) of the lanes of a group; every
  /// lane gets the result.
  virtual std::string group_moments(const std::string& name, DType dtype, const Target& target) const = 0;

  /// The statement that calls one of these for a reduction's values. `again`: the same statement may come
  /// next, with no other call for a group in between. `lanes`: the number of the group's.
  virtual std::string group_call(const std::string& function, DType dtype,
                                 const std::vector<std::string>& values, const std::string& lanes,
                                 bool again) const = 0;

  /// The function that combines the rows of a group, in their order: all of them get the result. Called with
  /// one value, or with the three of moments.
  virtual std::string row_function(const std::string& name, Op op, DType dtype,
                                   const std::string& combine) const = 0;

  // Kernels whose inner points are shared by several groups.
  /// The statement that leaves a partial result for the last group, in one of its slots.
  virtual std::string put_partial(DType dtype, const std::string& slot, const std::string& value) const = 0;
  /// A partial result that another group has left.
  virtual std::string get_partial(DType dtype, const std::string& slot) const = 0;
  /// Statements after a group has left its results: all groups of `unit` but the last one to come end here.
  virtual std::vector<std::string> pass_on(const std::string& unit) const = 0;

  /// The text of a prelude function by its full name; empty if this language has none of that name.
  virtual std::string_view function(std::string_view name) const = 0;
  /// Adds, by name, those that some targets have better ones of.
  virtual void add_functions(const Target&, std::map<std::string, std::string>&) const {}

  /// Names of places in a launch. In a launch of several members they count the member's own groups.
  struct Grid {
    std::string global_lane, global_lanes;  // position among all lanes of the launch, and their number
    std::string point, points;              // first outer point of this group and the step to its next
    std::string group, groups;              // position among the groups, and their number
  };
  Grid alone, member;
  const Grid& grid(const ir::Kernel& kernel) const { return kernel.members > 1 ? member : alone; }

  std::string group;        // of the launch
  std::string lane, lanes;  // position in the group, and its lanes
  // Of a group whose lanes stand in several rows: the rows share the inner points of a lane's outer point.
  // Empty: there are no such groups.
  std::string row, rows;
  std::string barrier;
  std::string unroll;    // line before a loop with a constant number of rounds that is to be unrolled
  std::string unroll_8;  // line before any loop, to take eight rounds at once; empty: there is none
  bool loads_rows_first =
      false;              // all loads of a row stand before what uses them; else that is left to the compiler
  std::string set_fault;  // statement
  bool has_wide_vectors = false;
  // The language's max and min may drop NaN: reductions by them note NaN beside, which is cheaper than to ask
  // every time.
  bool notes_nan = false;
  bool numbers_vectors =
      false;  // vectors are found by their number in a buffer, not by that of their first element
  bool has_pointers = false;  // buffers may begin anywhere, so that text has to ask whether vectors lie right
};

const Dialect& dialect(Language language);
const Dialect& cuda_dialect();
const Dialect& glsl_dialect();

/// Type of a value of a dtype in registers; the same names in every language.
std::string_view value_type(DType dtype);

}  // namespace sinter::emit
