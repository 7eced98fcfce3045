// Compares traces in a few passes over their tables: a step of training has thousands of ops.
#include "jit/plan/reuse/known_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace sinter::plan {
namespace {

/// All but its numbers. A contiguous value is one where it has another size, too.
std::uint64_t flags_of(const trace::TraceValue& value) {
  const bool contiguous = value.external && is_contiguous(value.shape, value.layout);
  return static_cast<std::uint64_t>(value.buffer) << 32 | static_cast<std::uint64_t>(value.dtype) << 16 |
         static_cast<std::uint64_t>(value.shape.rank()) << 8 | static_cast<std::uint64_t>(contiguous) << 5 |
         static_cast<std::uint64_t>(value.external) << 4 | static_cast<std::uint64_t>(value.held) << 3 |
         static_cast<std::uint64_t>(value.asked) << 2 | static_cast<std::uint64_t>(value.dying) << 1 |
         static_cast<std::uint64_t>(value.fills_buffer);
}

/// Calls `take` with the numbers of a value; false where it returned false.
template <class Take>
bool numbers_of(const trace::TraceValue& value, Take take) {
  for (const std::int64_t size : value.shape)
    if (!take(size)) return false;
  if (!value.external) return true;
  for (const std::int64_t stride : value.layout.strides)
    if (!take(stride)) return false;
  return take(value.layout.offset);
}

/// The number of elements, and with it all that is computed of a shape, fits.
bool fits(const Shape& shape) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count < 9e18;
}

bool equal_but_sizes(const trace::OpRecord& a, const trace::OpRecord& b) {
  return a.op == b.op && a.operand_count == b.operand_count && a.int_count == b.int_count &&
         a.scalar_count == b.scalar_count && a.output_count == b.output_count && a.again == b.again &&
         a.precision == b.precision && a.output == b.output && a.first_int == b.first_int &&
         a.first_scalar == b.first_scalar &&
         std::equal(a.operands, a.operands + a.operand_count, b.operands,
                    [](trace::OperandId x, trace::OperandId y) { return x.bits == y.bits; });
}

}  // namespace

std::span<const std::int64_t> positions_of(Op op, std::span<const std::int64_t> ints) {
  switch (op) {
    case Op::Slice:
    case Op::Pad: return ints;
    case Op::SliceAssign: return ints.first(ints.size() - 1);  // the last says how it is read
    case Op::SortIndices: return ints;
    case Op::SegmentSum: return ints.first(1);  // the others say how sums are laid out, and of what
    case Op::Windows: return ints.subspan(1);   // the first is the dim
    default: return {};
  }
}

bool has_positions(Op op) {
  return op == Op::Slice || op == Op::Pad || op == Op::SliceAssign || op == Op::Windows ||
         op == Op::SortIndices || op == Op::SegmentSum;
}

KnownTrace::KnownTrace(const trace::Trace& trace, Numbers& numbers)
    : trace_(trace), of_ints_(trace.ints.size(), kName) {
  for (const trace::TraceValue& value : trace.values) {
    flags_.push_back(flags_of(value));
    numbers_of(value, [&](std::int64_t number) {
      of_values_.push_back(numbers.id_of(number));
      return true;
    });
  }
  std::size_t next_start = 0;  // number of the op's first start
  for (const trace::OpRecord& op : trace.ops) {
    if (!has_positions(op.op)) continue;
    const std::size_t first_start = next_start, starts = trace::start_count(op);
    next_start += starts;
    const std::span<const std::int64_t> positions = positions_of(op.op, trace.ints_of(op));
    const auto first = static_cast<std::size_t>(positions.data() - trace.ints.data());
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const bool moves = k < starts && !trace.moves.empty() && trace.moves[first_start + k];
      of_ints_[first + k] = moves ? kMoves : numbers.id_of(positions[k]);
    }
  }
}

bool KnownTrace::matches(const trace::Trace& other, Numbers& numbers) const {
  return other.ops.size() == trace_.ops.size() && other.values.size() == trace_.values.size() &&
         other.ints.size() == trace_.ints.size() && other.scalars.size() == trace_.scalars.size() &&
         other.buffer_count == trace_.buffer_count && other.asks_for_ends == trace_.asks_for_ends &&
         other.moves == trace_.moves && same_ops(other) && set_values(other, numbers) &&
         set_ints(other, numbers);
}

bool KnownTrace::same_ops(const trace::Trace& other) const {
  for (std::size_t i = 0; i < other.ops.size(); ++i) {
    const trace::OpRecord &op = other.ops[i], &known = trace_.ops[i];
    // All but the line, which is no structure; bytes that say nothing may differ.
    if (std::memcmp(&op, &known, offsetof(trace::OpRecord, line)) != 0 && !equal_but_sizes(op, known))
      return false;
  }
  return true;
}

bool KnownTrace::set_values(const trace::Trace& other, Numbers& numbers) const {
  const Numbers::Id* id = of_values_.data();
  for (std::size_t i = 0; i < other.values.size(); ++i) {
    const trace::TraceValue& value = other.values[i];
    if (flags_of(value) != flags_[i] || !fits(value.shape)) return false;
    if (!numbers_of(value, [&](std::int64_t number) { return numbers.set(*id++, number); })) return false;
  }
  return true;
}

bool KnownTrace::set_ints(const trace::Trace& other, Numbers& numbers) const {
  for (std::size_t k = 0; k < of_ints_.size(); ++k) {
    const Numbers::Id id = of_ints_[k];
    if (id == kMoves) continue;
    if (id == kName ? other.ints[k] != trace_.ints[k] : !numbers.set(id, other.ints[k])) return false;
  }
  return true;
}

}  // namespace sinter::plan
