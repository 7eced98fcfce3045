// Compares traces in a few passes over their tables: a step of training has thousands of ops.
#include "jit/plan/reuse/known_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <absl/container/flat_hash_map.h>

namespace sinter::plan {
namespace {

/// All but its numbers.
std::uint64_t flags_of(const trace::TraceValue& value) {
  return static_cast<std::uint64_t>(value.buffer) << 32 | static_cast<std::uint64_t>(value.dtype) << 16 |
         static_cast<std::uint64_t>(value.shape.rank()) << 8 |
         static_cast<std::uint64_t>(value.external) << 4 | static_cast<std::uint64_t>(value.held) << 3 |
         static_cast<std::uint64_t>(value.asked) << 2 | static_cast<std::uint64_t>(value.dying) << 1 |
         static_cast<std::uint64_t>(value.fills_buffer);
}

/// The number of elements, and with it all that is computed of a shape, fits.
bool fits(const Shape& shape) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count < 9e18;
}

bool equal_but_sizes(const trace::Trace& of_a, const trace::OpRecord& a, const trace::Trace& of_b,
                     const trace::OpRecord& b) {
  const auto left = of_a.operands_of(a), right = of_b.operands_of(b);
  return a.op == b.op && a.operand_count == b.operand_count && a.int_count == b.int_count &&
         a.scalar_count == b.scalar_count && a.output_count == b.output_count && a.again == b.again &&
         a.precision == b.precision && a.output == b.output && a.first_int == b.first_int &&
         a.first_scalar == b.first_scalar &&
         std::equal(left.begin(), left.end(), right.begin(), right.end(),
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
  const auto ids_of = [&](const Dims& dims) {
    for (const std::int64_t number : dims) of_values_.push_back(numbers.id_of(number));
  };
  // A layout is compared with that of a value of the same shape: what is contiguous of one is so of all.
  absl::flat_hash_map<std::vector<std::int64_t>, std::uint32_t> first_like;
  std::vector<std::int64_t> words;
  for (std::uint32_t i = 0; i < trace.values.size(); ++i) {
    const trace::TraceValue& value = trace.values[i];
    words.assign(value.shape.begin(), value.shape.end());
    const auto [same_shape, is_new_shape] = first_like.try_emplace(words, i);
    KnownValue& known = values_.emplace_back(KnownValue{flags_of(value), same_shape->second, i, false});
    if (is_new_shape) ids_of(value.shape);
    if (!value.external) continue;
    words.push_back(-1);  // no size
    words.insert(words.end(), value.layout.strides.begin(), value.layout.strides.end());
    words.push_back(value.layout.offset);
    const auto [same_layout, is_new_layout] = first_like.try_emplace(words, i);
    known.layout_like = same_layout->second;
    if (!is_new_layout) continue;
    ids_of(value.layout.strides);
    of_values_.push_back(numbers.id_of(value.layout.offset));
    known.is_contiguous = is_contiguous(value.shape, value.layout);
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
    // All but the line, which is no structure; bytes that say nothing may differ. Many operands stand
    // elsewhere.
    const bool is_whole = op.operand_count <= trace::kRecordOperands;
    if (is_whole && std::memcmp(&op, &known, offsetof(trace::OpRecord, line)) == 0) continue;
    if (!equal_but_sizes(other, op, trace_, known)) return false;
  }
  return true;
}

bool KnownTrace::set_values(const trace::Trace& other, Numbers& numbers) const {
  const Numbers::Id* id = of_values_.data();
  const auto set = [&](const Dims& dims) {
    return std::all_of(dims.begin(), dims.end(),
                       [&](std::int64_t number) { return numbers.set(*id++, number); });
  };
  for (std::uint32_t i = 0; i < other.values.size(); ++i) {
    const trace::TraceValue& value = other.values[i];
    const KnownValue& known = values_[i];
    if (flags_of(value) != known.flags) return false;
    if (known.shape_like == i) {
      if (!fits(value.shape) || !set(value.shape)) return false;
    } else if (!(value.shape == other.values[known.shape_like].shape)) {
      return false;
    }
    if (!value.external) continue;
    if (known.layout_like != i) {
      if (!(value.layout == other.values[known.layout_like].layout)) return false;
    } else if (is_contiguous(value.shape, value.layout) != known.is_contiguous ||
               !set(value.layout.strides) || !numbers.set(*id++, value.layout.offset)) {
      return false;
    }
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
