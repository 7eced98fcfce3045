// Compares traces in a few passes over their tables: a step of training has thousands of ops.
#include "jit/plan/reuse/known_trace.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <absl/container/flat_hash_map.h>

namespace sinter::plan {
namespace {

/// The number of elements, and with it all that is computed of a shape, fits.
bool fits(const Shape& shape) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(size);
  return count < 9e18;
}

}  // namespace

std::span<const std::int64_t> positions_of(Op op, std::span<const std::int64_t> ints) {
  switch (op) {
    case Op::Slice:
    case Op::Pad: return ints;
    case Op::SliceAssign: return ints.first(ints.size() - 1);  // the last says how it is read
    case Op::SortIndices:
    case Op::IndexedSum:
    case Op::CountIndices:
    case Op::LastPositions:
    case Op::CountSteps: return ints;
    case Op::SegmentSum:
    case Op::IndexedJoin: return ints.first(1);  // the others say how results are laid out, and of what
    case Op::Windows: return ints.subspan(1);    // the first is the dim
    default: return {};
  }
}

bool has_positions(Op op) {
  return op == Op::Slice || op == Op::Pad || op == Op::SliceAssign || op == Op::Windows ||
         op == Op::SortIndices || op == Op::SegmentSum || op == Op::IndexedSum || op == Op::IndexedJoin ||
         op == Op::CountIndices || op == Op::LastPositions || op == Op::CountSteps;
}

KnownTrace::KnownTrace(const trace::Trace& trace, SkeletonRef skeleton, Numbers& numbers)
    : trace_(trace), skeleton_(std::move(skeleton)), of_ints_(trace.ints.size(), kName) {
  const auto ids_of = [&](const Dims& dims) {
    for (const std::int64_t number : dims) of_values_.push_back(numbers.id_of(number));
  };
  absl::flat_hash_map<std::vector<std::int64_t>, std::uint32_t> first_like;
  std::vector<std::int64_t> words;
  for (std::uint32_t i = 0; i < trace.values.size(); ++i) {
    const Shape& shape = trace.values[i].shape;
    words.assign(shape.begin(), shape.end());
    const auto [same, is_new] = first_like.try_emplace(words, i);
    shape_like_.push_back(same->second);
    if (is_new) ids_of(shape);
  }
  // A layout is compared with that of a value of the same shape: what is contiguous of one is so of all.
  for (std::uint32_t i = 0; i < trace.values.size(); ++i) {
    const trace::TraceValue& value = trace.values[i];
    if (!value.external) continue;
    words.assign(value.shape.begin(), value.shape.end());
    words.push_back(-1);  // no size
    const trace::Layout& layout = trace.layout_of(value);
    words.insert(words.end(), layout.strides.begin(), layout.strides.end());
    words.push_back(layout.offset);
    const auto [same, is_new] = first_like.try_emplace(words, i);
    in_memory_.push_back({i, same->second, is_contiguous(value.shape, layout)});
    if (!is_new) continue;
    ids_of(layout.strides);
    of_values_.push_back(numbers.id_of(layout.offset));
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

bool KnownTrace::matches(const trace::Trace& other, const SkeletonRef& skeleton, Numbers& numbers) const {
  return (skeleton == skeleton_ || *skeleton == *skeleton_) && other.ints.size() == trace_.ints.size() &&
         other.scalars.size() == trace_.scalars.size() && other.moves == trace_.moves &&
         set_values(other, numbers) && set_ints(other, numbers);
}

bool KnownTrace::set_values(const trace::Trace& other, Numbers& numbers) const {
  const Numbers::Id* id = of_values_.data();
  const auto set = [&](const Dims& dims, const Dims& known) {
    return dims.rank() == known.rank() && std::all_of(dims.begin(), dims.end(), [&](std::int64_t number) {
             return numbers.set(*id++, number);
           });
  };
  const trace::TraceValue* const values = other.values.data();
  for (std::uint32_t i = 0; i < shape_like_.size(); ++i) {
    const Shape& shape = values[i].shape;
    if (const std::uint32_t like = shape_like_[i]; like != i) {
      if (!(shape == values[like].shape)) return false;
    } else if (!fits(shape) || !set(shape, trace_.values[i].shape)) {
      return false;
    }
  }
  for (const InMemory& known : in_memory_) {
    const trace::Layout& layout = other.layout_of(known.value);
    if (known.layout_like != known.value) {
      if (!(layout == other.layout_of(known.layout_like))) return false;
    } else if (is_contiguous(values[known.value].shape, layout) != known.is_contiguous ||
               !set(layout.strides, trace_.layout_of(known.value).strides) ||
               !numbers.set(*id++, layout.offset)) {
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
