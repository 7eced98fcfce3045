// Kernel IR: the small typed program of one fused kernel, the same for every device.
//
// A kernel walks a loop space: `outer` dims, which run in parallel, and `inner` dims, which are reduced over
// (none for an elementwise kernel). It is a list of expressions in single assignment, each a function of the
// loop coordinates:
//
//   level Outer   depends on outer coordinates and finished reductions only
//   level Inner   depends on inner coordinates too
//   phase p       p reductions, one after the other, must be finished before the expression is computed
//
// and it means, for each outer point:
//
//   for p in 0 .. phases-1:
//     compute the Outer expressions of phase p; do the Outer stores of phase p
//     for each inner point:
//       compute what the Inner stores and the reductions of phase p need; values of an earlier phase are
//       computed again
//       do the stores, accumulate the reductions
//
// With inner_rank == 0 there are no inner loops and everything is Outer, phase 0.
//
// Level and phase are exact: an expression has the highest of its operands, its predicate and its map (which
// is Inner iff its first step has an inner stride that is not the constant 0); only stores may come later
// than their value. At each point all values of a phase are computed before its stores are done. A buffer has
// at most one store. A Reduce expression is Outer and has the phase of its operand plus one: its result may
// be used from there on. `phases` is one more than the largest phase of any expression or store, so a last
// phase that has only Outer work has an empty inner loop.
//
// Sizes, strides and offsets are kernel arguments (`ints`), never part of the text; scalars likewise. What is
// part of the text: ranks, dtypes, which strides are 0 or 1, the expressions, the schedule, and what the
// schedule says of sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/shape.h>

#include "jit/ir/products/matrix_layout.h"
#include "jit/ir/tiling.h"
#include "src/trace/op.h"

namespace sinter::ir {

/// An integer known at launch: the constants 0 and 1, which simplify the text, or ints[index].
struct IntRef {
  enum class Kind : std::uint8_t { Zero, One, Argument };
  Kind kind = Kind::Zero;
  std::uint16_t index = 0;

  static IntRef zero() { return {}; }
  static IntRef one() { return {Kind::One, 0}; }
  static IntRef argument(std::size_t index) { return {Kind::Argument, static_cast<std::uint16_t>(index)}; }
  bool is_zero() const { return kind == Kind::Zero; }
  bool is_one() const { return kind == Kind::One; }
  friend bool operator==(const IntRef&, const IntRef&) = default;
};

inline std::int64_t value_of(IntRef ref, std::span<const std::int64_t> ints) {
  return ref.is_zero() ? 0 : ref.is_one() ? 1 : ints[ref.index];
}

/// One step of an index map: coordinates times strides plus offset.
struct MapStep {
  std::vector<IntRef> extents;  // of the coordinates that a number is split into; empty: it is not split
  std::vector<IntRef> strides;
  IntRef offset;
  std::vector<std::uint16_t> maps;  // earlier maps, of which the coordinates are the numbers
  friend bool operator==(const MapStep&, const MapStep&) = default;
};

/// From loop coordinates to an element's position. The first step is given all loop coordinates (outer, then
/// inner). A further step either takes the number that the step before gave, splits it row-major into
/// coordinates by its `extents`, and applies its strides; or it adds the numbers of `maps`, times its
/// strides, to that number: each of these maps is a quotient (is_quotient), which several maps have in
/// common. Most maps have one step.
struct IndexMap {
  std::vector<MapStep> steps;
  friend bool operator==(const IndexMap&, const IndexMap&) = default;
};

enum class ExprKind : std::uint8_t {
  /// buffers[buffer][map]; where `predicate` is false nothing is read and the value is 0.
  Load,
  /// buffers[buffer][map + args[0] * stride], args[0] i32 or i64 in [0, extent), not looked at where
  /// `predicate` is false; see Kernel::faults.
  LoadAt,
  /// scalars[scalar], converted to dtype by the caller.
  Scalar,
  /// i64: the map's number.
  Index,
  /// bool: the map's number, split row-major by the extents of `bounds`, lies on the grid
  /// lower + step * [0, size).
  InBounds,
  /// f32, uniform in [0, 1), of element `map`; scalars[scalar] is the seed, the next one the stream.
  Random,
  /// Likewise, standard normal.
  RandomNormal,
  /// op over args.
  Elementwise,
  /// op (Sum, Prod, Max, Min, SquaredDeviations) of args[0] over all inner points.
  Reduce,
  /// The vector of buffers[buffer][map + c * stride] for c in [0, length): an operand of the next two alone.
  Row,
  /// f32: the sum over c of args[0][c] * args[1][c], Rows of one length and one dtype: 16-bit floats, or f32
  /// that tensor cores round to tf32 (Attention) and ordinary lanes take as it is.
  Dot,
  /// The vector of, for each c, the sum over all inner points of args[0], rounded to what the Row args[1] is
  /// multiplied as, times args[1][c]; times args[2] where there is one, which is Outer. It is only stored:
  /// element c at the store's map + c.
  Combine,
  /// f32: at each inner point the sum of args[0], of f32, over the outer points of a part (Kernel::parts). It
  /// is Inner and only stored: that of part p at the store's map + p * the number of inner points.
  Partial,
};

enum class Level : std::uint8_t { Outer, Inner };

/// One dimension of an InBounds test: with c the coordinate, c >= lower, (c - lower) % step == 0 and (c -
/// lower) / step < size.
struct Bound {
  IntRef extent;  // size of this dimension of the padded shape, used to split the map's number row-major
  IntRef lower, step, size;
  friend bool operator==(const Bound&, const Bound&) = default;
};

struct Expr {
  ExprKind kind = ExprKind::Elementwise;
  Op op = Op::Add;  // Elementwise, Reduce
  /// Of the value. bool is a truth value, in memory one byte. Load of u8 gives dtype u8, which can be cast
  /// and stored, not computed with. Floats of 16 and 8 bits are their bits: loads, scalars, Where of two,
  /// casts from and to f32.
  DType dtype = DType::f32;
  Level level = Level::Outer;
  std::uint16_t phase = 0;
  ExprId args[3] = {kNone, kNone, kNone};
  ExprId predicate = kNone;   // Load, LoadAt: a bool expression
  std::uint16_t buffer = 0;   // Load, LoadAt, Row
  std::uint16_t map = 0;      // Load, LoadAt, Row, Index, InBounds, Random*
  std::uint16_t scalar = 0;   // Scalar, Random*
  IntRef stride, extent;      // LoadAt; of a Row the stride
  std::uint16_t length = 0;   // Row
  std::uint16_t fault = 0;    // LoadAt: number of its fault word; from 0 on in the order of expressions
  std::vector<Bound> bounds;  // InBounds
};

struct Store {
  std::uint16_t buffer = 0;
  std::uint16_t map = 0;
  ExprId value = 0;
  Level level = Level::Outer;  // Outer iff the map uses no inner coordinate
  std::uint16_t phase = 0;
};

struct BufferInfo {
  DType dtype = DType::f32;
  bool read = false;
  bool written = false;  // read and written: only ever the same element by the same lane, read first
};

/// How to divide by an int argument without a division: for 0 <= n < 2^31, n / ints[divisor] is the upper 32
/// bits of n * ints[multiplier], shifted right by ints[shift]. As u32, the multiplier may be negative as an
/// int.
struct Reciprocal {
  std::uint16_t divisor = 0, multiplier = 0, shift = 0;
  friend bool operator==(const Reciprocal&, const Reciprocal&) = default;
};

/// How loop points are handed to lanes (threads of a GPU, elements of a vector on the host).
enum class Schedule : std::uint8_t {
  Pointwise,   // one lane per outer point; no inner dims
  LanesOuter,  // one lane per outer point, which walks the inner points in row-major order
  LanesInner,  // a workgroup of lanes per outer point; inner points are dealt out among them
};

/// How a kernel of Dots is computed tile by tile: a workgroup has a tile of the last outer loop, whose Rows
/// stay in shared memory, and goes along the only inner loop, whose Rows are brought tile by tile. Scores
/// stay in registers or shared memory. With three phases, of which the second is about the greatest score of
/// a row, both are done at once: what was added up so far is scaled where a greater one is met.
struct Attention {
  /// Neighbours in memory are elements of one Row, but for the Rows of f32 that Combines take where tensor
  /// cores multiply: these lie across, so that neighbours are of neighbouring columns, along which tensor
  /// cores add up f32.
  enum class By : std::uint8_t {
    Groups,     // tensor cores: groups of four subgroups have 64 rows each, the copy engine brings Rows
    Subgroups,  // tensor cores: each subgroup has 16 rows, lanes copy Rows
    Lanes,      // ordinary lanes, which round nothing before they multiply: the layout is a ScoreTile
    Matrices,   // likewise, but subgroups multiply, by cooperative matrices of 16 x 16 16-bit floats
    Stripes,    // threads of a processor, each of which has all columns of a few rows in its caches
  };
  std::uint16_t rows = 0, columns = 0;  // of a tile; 0: the kernel is none; of stripes 1, chosen at launch
  std::uint8_t slots = 0;               // of shared memory, a tile of columns each
  std::uint8_t row_slots = 1;           // likewise of rows
  By by = By::Groups;
  std::uint8_t workgroups = 1;  // whose registers a compute unit is to hold at once
  /// By::Matrices: which lane has what of a matrix. Where it is known scores stay in registers.
  MatrixLayout layout = {};
  bool any() const { return rows > 0; }
};

/// How ordinary lanes of a GPU compute a kernel of Dots with few rows of scores: attention of one query over
/// the keys of a cache. Each outer point is a row by itself, whose columns, the only inner loop, are dealt
/// out among groups of `lanes` lanes and among workgroups; a lane has 16 bytes of each Row. Elements of a Row
/// are neighbours in memory, and are not rounded before they are multiplied. With three phases, of which the
/// second is about the greatest score of a row, both are done at once, as in an Attention.
struct LoneRows {
  std::uint8_t lanes = 0;  // a power of two up to 32; 0: the kernel is none
  bool any() const { return lanes > 0; }
};

/// One fused kernel. Loop coordinate k < outer_rank is outer, the rest inner.
///
/// With `members` > 1 one launch runs the kernel for up to so many members, each with buffers, ints and
/// scalars of its own: the many small updates of an optimizer step become one launch. Members do not see each
/// other's results.
struct Kernel {
  std::uint8_t outer_rank = 0;
  std::uint8_t inner_rank = 0;
  std::uint16_t phases = 1;
  Schedule schedule = Schedule::Pointwise;
  bool wide = false;  // some index needs 64 bits; else all ints and positions fit in 31 bits
  /// Number of LoadAt, each of which has its own fault word. An index out of range reads as 0 and sets the
  /// word to 1: of member m the word `m * faults + Expr::fault` of the launch. A LoadAt that no store needs
  /// is not computed and sets nothing.
  std::uint16_t faults = 0;
  std::vector<IntRef> extents;  // outer, then inner; always Argument
  /// Of some of the sizes that indices are divided by; none of them is 1. Not in wide kernels.
  std::vector<Reciprocal> reciprocals;
  std::vector<BufferInfo> buffers;
  std::vector<DType> scalars;  // dtype of each scalar argument
  std::uint16_t ints = 0;      // number of int arguments
  std::uint16_t members = 1;   // most members of one launch

  /// LanesInner, several phases: a lane may hold so many of a row's values in registers from phase to phase;
  /// 0: what a later phase needs is loaded and computed again.
  std::uint16_t row_elements = 0;
  /// With row_elements: most lanes of a workgroup; rows are no longer than both multiplied.
  std::uint16_t row_lanes = 0;
  /// With row_elements: rows have exactly so many elements, and workgroups all of row_lanes.
  bool row_full = false;
  /// With row_elements: rows, or stretches of one, are no multiple of 4 elements: lanes hold single elements.
  bool row_ragged = false;
  /// With row_elements: so many workgroups of row_lanes each hold a row together and reduce it through each
  /// other's shared memory.
  std::uint8_t row_cluster = 1;
  /// With row_elements: the kernel has Partials, and its outer points, counted row-major, are dealt out among
  /// so many parts (an argument), each of which one group of lanes goes over. A multiple of part_step, n
  /// times it; points are taken part_step at a time, stretches of those are dealt out evenly among n in their
  /// order, and of each such group of points a part has every part_step-th. Zero: there are no parts.
  IntRef parts;
  std::uint8_t part_step = 1;

  /// LanesOuter, not split: sizes of the inner loops where they are few elements in all: the text has them, a
  /// lane goes over them without loops and takes points like an elementwise kernel. The windows of a pooling,
  /// rows of two elements. Empty: the text is for all sizes.
  std::vector<std::uint16_t> inner_sizes;

  /// Pointwise: the outer loop, not the last, along which some loads lie (stride 1), while stores lie along
  /// the last. Devices with workgroups deal the points out by square tiles of these two loops: such loads go
  /// through memory that the workgroup shares, so that neighbouring lanes read and write neighbouring
  /// elements. kNoTile: there is none.
  static constexpr std::uint8_t kNoTile = 0xff;
  std::uint8_t tile = kNoTile;

  /// Pointwise: maps that give a point its own number, row-major, plus an offset. Where there are such, lanes
  /// take whole vectors of the points' numbers across the ends of rows, which are no whole vectors: these
  /// maps reach vectors, others element by element. Those of all stores are among them.
  std::vector<std::uint16_t> flat_maps;

  /// Few outer points: several workgroups share the inner points of each. There is one round of reductions;
  /// Inner stores are of phase 0, Outer ones of phase 1.
  bool split = false;

  /// For devices with tensor cores; others follow `schedule`.
  Tiling tiling;
  Attention attention;
  LoneRows lone_rows;

  std::vector<IndexMap> maps;
  std::vector<Expr> exprs;  // operands stand before their uses
  std::vector<Store> stores;
};

/// Lanes that a compute unit is to hold at once where each takes so many registers of 32 bits for a row and
/// for sums of its columns, beside those for addresses and what is computed: a part of all rows for each
/// group of them, and a bound for compilers.
std::int64_t lanes_at_once(std::int64_t words);

/// The points that a part of a kernel with Partials has: `first`, and so on in steps of Kernel::part_step.
struct PartPoints {
  std::int64_t first = 0, count = 0;
};
PartPoints points_of_part(std::int64_t part, std::int64_t parts, std::int64_t step, std::int64_t points);

/// True iff tensor cores multiply such factors as bytes.
inline bool are_bytes(DType multiplied) { return is_f8(multiplied) || multiplied == DType::i8; }

/// The loops of a set, in order.
std::vector<std::size_t> loops_of(std::uint32_t set);

/// True iff lanes go over tiles of scores that have the layout of a ScoreTile.
inline bool has_score_tile(const Kernel& kernel) {
  return kernel.attention.any() &&
         (kernel.attention.by == Attention::By::Lanes || kernel.attention.by == Attention::By::Matrices);
}

/// True iff neighbours in memory are no elements of one Row.
inline bool lies_across(const Expr& row) { return !row.stride.is_one(); }

/// True iff the kernel has Partials.
inline bool has_parts(const Kernel& kernel) { return !kernel.parts.is_zero(); }

/// True iff one launch may run the kernel for several members: a workgroup has work of its own alone, whose
/// number is all that says which, or shares it with those of its member (split kernels, where devices have
/// DeviceTraits::split_members). Members of a Tiling have the same ints, and their tiles are counted on.
inline bool may_have_members(const Kernel& kernel) {
  return kernel.row_cluster == 1 && !has_parts(kernel) && !kernel.attention.any() &&
         !kernel.lone_rows.any() && (!kernel.tiling.any() || kernel.tiling.has_groups());
}

/// True iff the expression has the values of finished inner loops: a Reduce or a Combine.
inline bool is_reduced(const Expr& expr) {
  return expr.kind == ExprKind::Reduce || expr.kind == ExprKind::Combine;
}

/// True iff the expression reads a buffer.
inline bool reads_memory(const Expr& expr) {
  return expr.kind == ExprKind::Load || expr.kind == ExprKind::LoadAt || expr.kind == ExprKind::Row;
}

/// True iff the map's number is a quotient: its last step splits a number into two coordinates, of which the
/// first is the map's number.
bool is_quotient(const IndexMap& map);

/// True iff the map walks consecutive elements along that loop, and depends on all others by strides that
/// are none.
bool is_consecutive(const IndexMap& map, std::size_t loop);

/// The loops that each map's number depends on, as sets.
std::vector<std::uint32_t> dependence_of_maps(const Kernel& kernel);

/// For each expression the loops that it depends on, as a set.
std::vector<std::uint32_t> dependence(const Kernel& kernel);

/// How often a point's indices are split into coordinates, one division for each but the first: what a kernel
/// takes longest to compile for.
std::size_t divisions(const Kernel& kernel);

/// The int arguments that indices are divided by on a device that has the kernel's schedule.
std::vector<std::uint16_t> divisors(const Kernel& kernel);

/// The multiplier and the shift of a Reciprocal. `divisor`: from 2 on, less than 2^31.
struct Factor {
  std::int64_t multiplier, shift;  // the multiplier as an i32 of the same bits
};
Factor reciprocal_of(std::int64_t divisor);

/// True iff the load reaches neighbouring elements along the loop of the kernel's tile.
bool lies_along_tile(const Kernel& kernel, const Expr& expr);

/// The kernel as text: readable, complete, and equal for equal kernels; it is also what kernels are compared
/// and hashed by.
std::string to_string(const Kernel& kernel);

/// Bytes of a member's arguments: 8 for a buffer's address, then ints and scalars, and its tensor maps.
std::size_t argument_bytes(const Kernel& kernel);

/// Throws std::logic_error with the reason when the kernel breaks a rule of this page.
void verify(const Kernel& kernel);

}  // namespace sinter::ir
