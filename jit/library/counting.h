// Counts of whole numbers, the last place of each, and places where a running count steps. Sums of whole
// numbers are the same in any order, and so is the greatest of them, so each is one pass over its operand.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// x [length], i32 -> i32 [results]. One operand each, one attribute: results.
enum class Counting : std::uint8_t {
  Indices,        // of numbers in [0, results), how often each occurs
  LastPositions,  // likewise, one more than the last position where each stands; 0: nowhere
  Steps,  // each number is 0 or 1 more than the one before it, the first one than 0: where they get to
          // 1, 2, ..; the last one is `results`
};
inline constexpr Counting kCountings[] = {Counting::Indices, Counting::LastPositions, Counting::Steps};

struct CountingOp final : LibraryOp {
  Counting counting = Counting::Indices;
  std::int64_t length = 0, results = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t) const override { return length; }
  std::int64_t elements_written(std::size_t) const override { return results; }
};

const Kind& counting(Counting counting);

}  // namespace sinter::library
