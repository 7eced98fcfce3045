// A trace that others are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/plan/reuse/numbers.h"
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
  KnownTrace(const trace::Trace& trace, Numbers& numbers);

  const trace::Trace& trace() const { return trace_; }

  /// True iff `other` is the same but for numbers, which are then in `numbers`.
  bool matches(const trace::Trace& other, Numbers& numbers) const;

 private:
  bool same_ops(const trace::Trace& other) const;
  bool set_values(const trace::Trace& other, Numbers& numbers) const;
  bool set_ints(const trace::Trace& other, Numbers& numbers) const;

  const trace::Trace trace_;
  struct KnownValue {
    std::uint64_t flags;  // all but its numbers
    std::uint32_t shape_like,
        layout_like;     // the first value with the same shape, and with the same layout too
    bool is_contiguous;  // in memory; of the first with its layout
  };
  std::vector<KnownValue> values_;
  std::vector<Numbers::Id> of_values_;  // the numbers of those shapes and layouts, in order
  std::vector<Numbers::Id> of_ints_;    // for each integer its number, or one of the two below
  static constexpr Numbers::Id kName = Numbers::kNone, kMoves = Numbers::kNone - 1;
};

}  // namespace sinter::plan
