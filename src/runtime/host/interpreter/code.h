// The interpreter's code: a kernel, translated for given sizes into short lists of instructions over blocks
// of values.
//
// One dim of the loops, the row, is vectorised: each instruction processes a block of consecutive points.
//   lanes outer   blocks of outer points; inner points run one by one (also kernels without inner dims)
//   lanes inner   blocks of inner points, for one outer point after the other
// An outer unit is the work of one thread from the first phase to the last: a block of outer points, or one
// outer point. Values that depend on no coordinate of the block are computed once per block (`single`),
// values that depend on outer coordinates only once per unit, and constants once per launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/ir/kernel.h"
#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/interpreter/space.h"

namespace sinter::runtime::host {

/// Index of a register, or of an address in a buffer that advances with the block.
using Slot = std::uint16_t;
inline constexpr Slot kNoSlot = 0xffff;

enum class InstructionKind : std::uint8_t {
  Call,        // out = function(a, b, c)
  Accumulate,  // out (partial results of a row) = out combined with a
  Fill,        // out = a, for the whole block
  Copy,        // out = a
  Load,        // out = buffer[map], where predicate a (if any) is true, else 0
  LoadAt,      // out = buffer[map + b * stride], b in [0, extent), where a (if any) is true
  Index,       // out = value of the map
  InBounds,    // out = value of the map is inside `bounds`
  Random,  // out = random numbers of elements `map`, keyed by the scalars a, b; with an extent: of that many
           // consecutive elements
  RandomNormal,
  Store,    // buffer[map] = a
  Offsets,  // out (i32) = the map's positions relative to the block's first point
  Gather,   // out[i] = b[a[i]]
  Tile,     // out = address of this row in the tile a; the first row of a group reads the tile for all rows
};

struct BoundValues {
  std::int64_t extent, lower, step, size;
};

struct Instruction {
  InstructionKind kind = InstructionKind::Call;
  bool single = false;             // one value instead of a block
  bool single_a = false;           // Load, LoadAt, Store: a is one value
  bool single_b = false;           // LoadAt: b is one value
  bool consecutive = false;        // the map's positions in a block are contiguous
  std::uint8_t size = 4;           // bytes of an element of `out` (Store: of a)
  DType index_dtype = DType::i64;  // LoadAt: of b
  std::uint16_t buffer = 0, map = 0;
  Slot out = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  std::uint16_t bounds = 0;  // index into Code::bounds
  std::uint16_t fault = 0;   // LoadAt: its fault word
  std::int64_t stride = 0, extent = 0;
  BlockFunction function = nullptr;
  AccumulateFunction accumulate = nullptr;
};

/// A slot that holds the address of buffer[map] at the first point of the block. With a `base`: that slot's
/// address, advanced by the map's inner coordinates.
struct Pointer {
  Slot slot = kNoSlot;
  Slot base = kNoSlot;
  std::uint16_t buffer = 0, map = 0;
  std::uint8_t size = 4;
};

struct Section {
  std::vector<Pointer> pointers;  // computed before the code runs
  std::vector<Instruction> code;
};

/// A reduction in progress. To bound rounding errors, `leaf` accumulates a bounded number of points, and
/// `total` accumulates the leaves. Lanes inner: both have kLanes values, and `result` has one. Lanes outer:
/// `total` is the result.
struct Reduction {
  Op op = Op::Sum;
  DType dtype = DType::f32;
  std::uint16_t phase = 0;  // of the operand
  bool single = false;      // lanes outer: one value instead of a block
  Slot leaf = kNoSlot, total = kNoSlot, result = kNoSlot;
  BlockFunction combine = nullptr;
  FoldFunction fold = nullptr;
};

/// The memory area of a slot, and its offset there. `Unit` registers live as long as the unit, `Scratch`
/// registers for one block.
enum class Area : std::uint8_t { None, Constants, Unit, Scratch };
struct Register {
  Area area = Area::None;  // None: a pointer
  bool single = false;
  bool lasting = false;     // preserves its contents from unit to unit
  std::uint16_t lanes = 0;  // a fixed number of values (of a reduction) instead of a block; 0: by `single`
  std::uint8_t size = 4;
  std::size_t offset = 0;
};

/// The division of dims into blocks: rows of `row` points each, each row divided into `per_row` blocks of
/// `block` points.
struct BlockSpace {
  std::size_t first = 0, last = 0;  // dims
  bool by_row = true;               // a block stays within the last dim; else it continues over all dims
  bool uniform = false;             // not by row: every block covers whole last dims, at the same offsets
  std::size_t inside = 0;           // the first dim that a block moves along
  std::int64_t steps_inside = 1;    // uniform: how far it moves along that dim
  std::int64_t group = 1;           // rows that advance together, block after block
  std::int64_t row = 1, block = 1, per_row = 1, count = 1;
};

/// Longest block of rows in groups.
inline constexpr std::int64_t kTileBlock = 1024;

struct Code {
  Space space;
  bool lanes_inner = false;
  bool resident = false;  // lanes inner: a row is one block, whose values stay until the last phase
  bool one_leaf = false;  // no inner loop is longer than a leaf: there are no totals
  bool split = false;     // few units with long inner loops: threads share the inner loop as well
  std::uint16_t phases = 1;
  BlockSpace blocks;  // lanes outer: of the outer dims; lanes inner: of the inner dims
  std::int64_t units = 1;
  std::int64_t steps = 0;        // inner points (lanes outer) or blocks (lanes inner) of a unit
  std::int64_t leaf_steps = 1;   // steps accumulated in one leaf
  std::int64_t chunk_steps = 1;  // split: steps per piece of work, a multiple of leaf_steps

  Section constants;
  std::vector<Section> unit;   // by phase
  std::vector<Section> inner;  // by phase
  std::vector<Reduction> reductions;
  std::vector<Register> registers;  // by slot
  std::vector<std::vector<BoundValues>> bounds;
  struct ScalarSlot {
    Slot slot;
    DType dtype;
    std::uint16_t scalar;
  };
  std::vector<ScalarSlot> scalars;
  std::size_t constant_bytes = 0, unit_bytes = 0, scratch_bytes = 0;
  double unit_cost = 0,
         step_cost = 0;  // estimates in ns: of a unit without its steps; of a step over all phases
};

/// Translates a kernel for the sizes in `ints`.
Code make_code(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

/// About how much memory the code points to.
std::size_t held_bytes(const Code& code);

/// Computes values directly in the buffers they are stored to, where no later instruction reads the old
/// contents.
void store_in_place(Code& code, const ir::Kernel& kernel);

/// Chooses the block size and assigns memory to every register.
void place_registers(Code& code, const ir::Kernel& kernel);

}  // namespace sinter::runtime::host
