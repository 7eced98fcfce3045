// A trace that others are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/plan/reuse/numbers.h"
#include "jit/plan/reuse/skeleton.h"
#include "src/trace/trace.h"

namespace sinter::plan {

/// Integers of an op that are positions and sizes, not names of dims or attributes.
std::span<const std::int64_t> positions_of(Op op, std::span<const std::int64_t> ints);
bool has_positions(Op op);

/// A trace, and where it has numbers: sizes of values, strides and offsets of those in memory, and positions
/// among the integers of ops, but for starts that move.
class KnownTrace {
 public:
  /// Gives `numbers` those of the trace.
  KnownTrace(const trace::Trace& trace, SkeletonRef skeleton, Numbers& numbers);

  const trace::Trace& trace() const { return trace_; }
  const SkeletonRef& skeleton() const { return skeleton_; }

  /// True iff `other` is the same but for numbers, which are then in `numbers`.
  bool matches(const trace::Trace& other, const SkeletonRef& skeleton, Numbers& numbers) const;

 private:
  bool set_values(const trace::Trace& other, Numbers& numbers) const;
  bool set_ints(const trace::Trace& other, Numbers& numbers) const;

  const trace::Trace trace_;
  const SkeletonRef skeleton_;
  std::vector<std::uint32_t> shape_like_;  // of each value the first one with the same shape
  struct InMemory {
    std::uint32_t value, layout_like;  // the first one with the same shape and layout
    bool is_contiguous;                // of that
  };
  std::vector<InMemory> in_memory_;
  std::vector<Numbers::Id> of_values_;  // the numbers of those shapes and then layouts, in order
  std::vector<Numbers::Id> of_ints_;    // for each integer its number, or one of the two below
  static constexpr Numbers::Id kName = Numbers::kNone, kMoves = Numbers::kNone - 1;
};

}  // namespace sinter::plan
