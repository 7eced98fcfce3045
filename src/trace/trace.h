// A trace: the ops between two flushes as plain data, with values numbered by first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/precision.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>

#include "src/trace/layout.h"
#include "src/trace/op.h"

namespace sinter::trace {

using ValueId = std::uint32_t;

/// One operand of an op: a value of the trace or a scalar of its table.
struct OperandId {
  std::uint32_t bits = 0;
  static OperandId value(ValueId id) { return {id}; }
  static OperandId scalar(std::uint32_t index) { return {index | kScalarBit}; }
  bool is_scalar() const { return bits & kScalarBit; }
  std::uint32_t index() const { return bits & ~kScalarBit; }

 private:
  OperandId(std::uint32_t b) : bits(b) {}
  static constexpr std::uint32_t kScalarBit = 0x80000000u;

 public:
  OperandId() = default;
};

/// Operands that stand in an op's record, which is as many as an operation of the library has, and of any op,
/// whatever a program brings along.
inline constexpr std::size_t kRecordOperands = 4, kMostOperands = 16;

/// One recorded op. Integers and scalars that belong to it stand in the trace's tables.
struct OpRecord {
  Op op = Op::Add;
  std::uint8_t operand_count = 0;
  std::uint8_t int_count = 0;
  std::uint8_t scalar_count = 0;  // scalars of the op itself, not scalar operands
  std::uint8_t output_count = 0;
  bool again = false;       // of a recipe: an earlier trace has this op, too, and left its result out
  std::uint8_t unused = 0;  // where the fingerprint has the dtype
  MatmulPrecision precision = MatmulPrecision::Highest;  // of a library op
  OperandId operands[kRecordOperands];  // of an op with more: where they begin in the trace's table
  ValueId output = 0;                   // its first result; further ones have the numbers behind it
  std::uint32_t first_int = 0;
  std::uint32_t first_scalar = 0;
  std::uint32_t line = 0;
  const char* file = nullptr;
};
/// How many of the op's integers, its first ones, say where something starts.
inline std::size_t start_count(const OpRecord& record) {
  switch (record.op) {
    case Op::Slice:
    case Op::Pad: return record.int_count / 2u;
    case Op::SliceAssign: return (record.int_count - 1u) / 3u;
    default: return 0;
  }
}
static_assert(sizeof(OpRecord) <= 48);
static_assert(offsetof(OpRecord, operands) == 8,
              "fingerprints take in all of what stands before as one word");

/// What is known about a value of a trace.
struct TraceValue {
  Shape shape;
  DType dtype = DType::f32;
  bool external = false;      // in memory before the trace starts
  bool held = false;          // output of an op: somebody can still see it after the trace
  bool asked = false;         // held, and what the flush is there for; where Trace::asks_for_ends is false
  bool dying = false;         // external: nobody can see it any more once the trace has run
  bool fills_buffer = false;  // external: its buffer has no more bytes than it has
  std::uint32_t buffer = 0;   // external: number of its buffer among the trace's (values may share one)
  std::uint32_t layout = 0;   // external: the place of its layout among the trace's
};
static_assert(sizeof(TraceValue) <= sizeof(Shape) + 16);

/// The structure of a stretch of program. Two equal stretches give equal traces, whatever the addresses and
/// scalars.
struct Trace {
  std::vector<OpRecord> ops;
  std::vector<TraceValue> values;
  std::vector<Layout> layouts;      // how each external value lies in its buffer
  std::vector<OperandId> operands;  // of ops that have more than their records have room for
  std::vector<std::int64_t> ints;
  std::vector<Scalar> scalars;  // not part of the fingerprint
  /// Where slices, pads and parts of assignments start, in the order of the ops, as they were recorded.
  std::vector<std::int64_t> starts;
  /// For each of `starts` whether the plan is given it at each launch, and it is no part of the fingerprint;
  /// empty: none is.
  std::vector<bool> moves;
  std::uint32_t buffer_count = 0;  // buffers behind the external values
  /// The flush asks for no value in particular: for each held one that no other held one came of.
  bool asks_for_ends = true;

  std::span<const OperandId> operands_of(const OpRecord& op) const {
    if (op.operand_count <= kRecordOperands) return {op.operands, op.operand_count};
    return {operands.data() + op.operands[0].index(), op.operand_count};
  }
  std::span<const std::int64_t> ints_of(const OpRecord& op) const {
    return {ints.data() + op.first_int, op.int_count};
  }
  const Layout& layout_of(const TraceValue& external) const { return layouts[external.layout]; }
  Layout& layout_of(const TraceValue& external) { return layouts[external.layout]; }
  const Layout& layout_of(ValueId external) const { return layout_of(values[external]); }
};

/// A held value that a plan does not store, and the ops of the trace that compute it from what is in memory
/// afterwards, in their order.
struct Unstored {
  ValueId value;
  std::vector<std::uint32_t> ops;
};

}  // namespace sinter::trace
