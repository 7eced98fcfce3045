// What differs between target languages: their syntax, how a kernel is declared, how buffers are touched, how
// the lanes of a workgroup work together. Also the mathematics: the sn_ functions of the language's prelude.
//
// Words: a lane is one thread of the device; lanes that exchange values without memory are a subgroup (CUDA:
// a warp), lanes that share memory and barriers a workgroup (CUDA: a block). A workgroup may have its lanes
// in several rows.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jit/emit/dialects/syntax.h"
#include "jit/emit/emit.h"

namespace sinter::emit {

/// Elements that one lane handles at once where a kernel has a vector path.
inline constexpr int kVector = 4;
/// The same of kernels that touch 16-bit elements and hold no rows, in languages that have such vectors: 16
/// bytes.
inline constexpr int kWideVector = 8;
/// kWideVector or kVector.
int vector_width(const ir::Kernel& kernel, const Target& target);

/// An array that the lanes of a workgroup share.
struct SharedArray {
  std::string name;
  DType dtype = DType::f32;
  int elements = 0;
};

/// What the written body of a kernel turned out to use.
struct BodyUse {
  std::vector<SharedArray> shared;
  std::set<std::size_t> in_vectors;  // buffers that load_vector and store_vector touch
  std::size_t held_words = 0;        // of 32 bits: what a lane holds of a row from phase to phase
  int shared_fours = 0;              // of sn_tile, which the lanes of a workgroup share: f32 in fours
};

class Dialect : public Syntax {
 public:
  // ---- the kernel
  /// What comes before the prelude's functions: extensions, names of types.
  virtual std::string preamble(const ir::Kernel& kernel, const Target& target) const = 0;

  /// Declarations and the head of the entry point, up to its opening brace, for a body that was written
  /// before. Defines what the body calls the kernel's arguments: buffers b0 .., ints n0 .., scalars s0 ..,
  /// and `parts` of a split kernel.
  virtual std::string open(const ir::Kernel& kernel, const Target& target, const BodyUse& use) const = 0;

  std::string entry;  // name of the entry point
  int subgroup = 0;   // lanes of a subgroup where they are the same on all devices; 0: the target says it

  // ---- memory
  /// An element at a position, as a value.
  virtual std::string read(const ir::Kernel& kernel, std::size_t buffer,
                           const std::string& position) const = 0;

  /// The statement that stores a value.
  virtual std::string write(const ir::Kernel& kernel, std::size_t buffer, const std::string& position,
                            const std::string& value) const = 0;

  /// The statement that sets the fault word of a LoadAt, of the member at hand.
  std::string set_fault(const ir::Kernel& kernel, const ir::Expr& load_at) const;
  std::string faults;         // the array of the launch's fault words
  std::string member_number;  // of the member at hand, where a launch has several

  // ---- vectors
  // Of `width` (4, or 8 where there are such) neighbouring elements, the first at a position that is a
  // multiple of the width, or the vector of that number (numbers_vectors); [k] is a value of one. A language
  // without vectors leaves all of this as it is.
  /// This kernel may use them.
  virtual bool has_vectors(const ir::Kernel&, const Target&) const { return false; }
  /// Declares one vector of values, or with `count` an array of them.
  virtual std::string declare_vector(DType dtype, int width, const std::string& name, int count = 0) const;
  /// Of a vector its element `k`, a constant once the loop over it is unrolled, and the statement that sets
  /// it.
  virtual std::string element(DType dtype, int width, const std::string& vector) const;
  virtual std::string set_element(DType dtype, int width, const std::string& vector,
                                  const std::string& value) const;
  /// Statements.
  virtual std::string load_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                  const std::string& position, const std::string& to) const;
  virtual std::string store_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                   const std::string& position, const std::string& from) const;

  /// True iff floats are cast to this dtype a vector at a time, on their way to memory: by
  /// `store_cast_vector`. Other casts are written like any expression, element by element.
  virtual bool casts_vectors_to(DType) const { return false; }
  virtual std::string store_cast_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                        const std::string& position, const std::string& from) const;

  /// A buffer's address as a whole number, for languages whose buffers may begin anywhere: the text has to
  /// ask whether vectors lie right. Empty: buffers begin where vectors may.
  virtual std::string address(std::size_t /*buffer*/) const { return ""; }

  bool has_wide_vectors = false;
  bool makes_floats_of_bytes = false;  // sn_cast_i8_f32 and sn_cast_u8_f32 are there
  bool rounds_to_bf16 = false;         // sn_round_bf16 is: to a bf16 and back to f32
  bool pairs_halves = false;           // in a vector two values of 16 bits share a register
  bool numbers_vectors = false;        // by their number in a buffer, not by that of their first element
  bool loads_around_rows = false;      // whole vectors may be read of which any element is a buffer's
  // All loads of a row stand before what uses them; else that is left to the compiler.
  bool loads_rows_first = false;
  // Compilers load ahead of what they compute, but not past a branch.
  bool stops_at_branches = false;

  // Elements of a line of a tile that a workgroup turns over (walker/tiles.h): 64 are two sectors of memory
  // even of 16-bit values.
  int tile_edge = 64;

  // ---- arrays that a workgroup shares (BodyUse::shared; `open` declares them)
  /// Their elements hold values as they lie in memory, or as wide as the language has them.
  virtual std::size_t shared_bytes(DType dtype) const { return std::max<std::size_t>(size_of(dtype), 4); }
  /// An element as a value.
  virtual std::string from_shared(DType, const std::string& element) const { return element; }

  // ---- operations
  /// The function to call for an op of two operands that are one value, where the language's compilers get it
  /// wrong otherwise; empty: the op's own text.
  virtual std::string_view with_itself(const OpInfo&, DType) const { return ""; }
  // There are sn_reciprocal_f32 and sn_div_by_f32, which divides by a number whose reciprocal is known, with
  // the bits of any other division.
  bool divides_by_reciprocals = false;
  /// The operand of an op's text: languages differ in what operators take.
  virtual std::string operand(const OpInfo&, DType, const std::string& value) const { return value; }
  /// The value of an op's text, likewise.
  virtual std::string result(const OpInfo&, DType, const std::string& text) const { return text; }

  /// The identity of a reduction.
  std::string identity(Op op, DType dtype) const;
  /// The least or the greatest value of f32, f64 (infinities) and i64.
  virtual std::string extreme(DType dtype, bool least) const = 0;

  // The language's max and min may drop NaN: reductions by them note NaN beside, which is cheaper than to ask
  // every time.
  bool notes_nan = false;

  /// The text of a prelude function by its full name; empty if this language has none of that name.
  virtual std::string_view function(std::string_view name) const = 0;
  /// Adds, by name, those that depend on the target.
  virtual void add_functions(const Target&, std::map<std::string, std::string>&) const {}

  // ---- the lanes of a workgroup
  /// The function that combines the lanes of a workgroup, in a fixed order; every lane gets the result.
  /// `combine` is the combination of "v" and "w". Called by `workgroup_call`.
  /// `lanes`: what the workgroup, or one of its points, has at most.
  virtual std::string workgroup_function(const std::string& name, Op op, DType dtype,
                                         const std::string& combine, const Target& target,
                                         int lanes) const = 0;

  /// The same for several values of one dtype, which takes as many barriers as one: `combines` are
  /// combinations of "v0" and "w0", of "v1" and "w1" and so on. Only where `joins_together`.
  virtual std::string workgroup_function_of_several(const std::string& name, DType dtype,
                                                    const std::vector<std::string>& combines,
                                                    const Target& target, int lanes) const;
  bool joins_together = false;
  bool goes_along_lone_rows = false;  // kernels with LoneRows have texts of their own (attention/lone_rows.h)

  /// The same for Welford's method: joins the counts, means and squared deviations of the lanes by the
  /// prelude's sn_join_welford.
  virtual std::string workgroup_welford(const std::string& name, DType dtype, const Target& target,
                                        int lanes) const;

  /// The function that combines the workgroups of a cluster (Kernel::row_cluster), each of which has combined
  /// its lanes, in the order of their ranks; every lane gets the result. Called with a reduction's values.
  /// `join` combines what is called v and w, one for each value, into the former.
  virtual std::string cluster_function(const std::string& name, DType dtype, std::size_t values,
                                       const std::string& join, int cluster) const;
  /// Statements before all others of a kernel: what a reduction of so many values calls it with, by the
  /// reduction's name.
  virtual std::string cluster_memory(const std::string& name, DType dtype, std::size_t values,
                                     int cluster) const;
  /// Statement behind these: all workgroups of a cluster have come here.
  std::string cluster_begin;
  /// Statement: they have, and see what others have written before.
  std::string cluster_barrier;
  /// The statement that calls it. `rank` is the workgroup's number in its cluster.
  virtual std::string cluster_call(const std::string& function, const std::string& name,
                                   const std::vector<std::string>& values, const std::string& rank) const;

  /// The statement that calls one of these for a reduction's values. `again`: the same statement may come
  /// next, with no other call for a workgroup in between. `lanes`: the number of the workgroup's.
  virtual std::string workgroup_call(const std::string& function, DType dtype,
                                     const std::vector<std::string>& values, const std::string& lanes,
                                     bool again, const Target& target) const = 0;

  /// The function that combines the rows of a workgroup, in their order: all of them get the result. Called
  /// with one value, or with the three of Welford's method. Only where `row` is not empty.
  virtual std::string row_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                                   const Target& target) const;

  /// Names of places in a launch. In a launch of several members they count the member's own workgroups.
  struct Grid {
    std::string global_lane, global_lanes;  // position among all lanes of the launch, and their number
    std::string point, points;              // first outer point of this workgroup and the step to its next
    std::string workgroup, workgroups;      // position among the workgroups, and their number
  };
  Grid alone, member;
  const Grid& grid(const ir::Kernel& kernel) const { return kernel.members > 1 ? member : alone; }

  std::string workgroup;    // of the launch
  std::string lane, lanes;  // position in the workgroup, and its lanes
  /// The position in a workgroup whose subgroups have so many neighbours each.
  virtual std::string lane_in_subgroups(const Target&) const { return lane; }
  /// What the lane of the same subgroup has whose position differs by the bits of `mask`; empty: lanes of
  /// this target cannot ask so.
  virtual std::string of_lane(const std::string& /*value*/, int /*mask*/, const Target&) const { return ""; }
  // Of a workgroup whose lanes stand in several rows: the rows share the inner points of a lane's outer
  // point. Empty: there are no such workgroups.
  std::string row, rows;
  bool rows_of_subgroups = false;  // a row as long as a subgroup is one
  std::string barrier;             // statement: orders the lanes of one outer point, and their memory
  std::string workgroup_barrier;   // statement: likewise all lanes of a workgroup

  // ---- kernels whose inner points are shared by several workgroups (Kernel::split)
  // A language that leaves this as it is has no such kernels.
  /// The statement that leaves a partial result for the last workgroup, in one of its slots, which have so
  /// many words of 32 bits each.
  virtual std::string put_partial(DType dtype, const std::string& slot, int words,
                                  const std::string& value) const;
  /// A partial result that another workgroup has left.
  virtual std::string get_partial(DType dtype, const std::string& slot, int words) const;
  /// The counter of a unit: of the results that the same workgroups work for.
  virtual std::string counter(const std::string& unit) const;
  /// The same as the argument of atomicAdd.
  virtual std::string counter_address(const std::string& unit) const { return counter(unit); }

  /// Statements after a workgroup has left its results: all workgroups of `unit` but the last one to come end
  /// here.
  std::vector<std::string> end_part(const std::string& unit) const;

 protected:
  /// What `end_part` is made of: statements, but for `turn`.
  struct Handover {
    /// Makes other workgroups see what was written before.
    std::string fence;
    /// Declares memory that the workgroup shares for one U32; empty: `open` has done so.
    std::string declare_turn;
    /// That U32.
    std::string turn;
    /// The workgroup's barrier.
    std::string barrier;
    /// Stands before a barrier that does not order shared memory by itself.
    std::string shared_fence;
  };
  Handover handover;

  // ---- arguments
  /// A number from the 32-bit word that it is passed in, or from its two as the language holds them.
  virtual std::string from_words(DType dtype, const std::string& words) const;

  /// The line that defines an int ('n') or a scalar ('s') of the kernel.
  std::string define_argument(const ir::Kernel& kernel, char letter, std::size_t number,
                              const std::string& words) const;

  /// Lines that define what stands in the table of a launch of several members. `buffer` gives the line for
  /// a buffer, `words` the words of an int or a scalar.
  using OfField = std::function<std::string(const MemberLayout::Field&)>;
  std::string define_member(const ir::Kernel& kernel, const MemberLayout& layout, const OfField& buffer,
                            const OfField& words) const;
};

/// What bodies call a kernel's buffers ('b'), ints ('n') and scalars ('s').
inline std::string argument_name(char letter, std::size_t number) { return letter + std::to_string(number); }

}  // namespace sinter::emit
