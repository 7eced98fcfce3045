// Counts of whole numbers, the last place of each, and places where a running count steps. Sums of whole
// numbers are the same in any order, and so is the greatest of them, so each is one pass over its operand.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// index [count], i32 in [0, rows) -> i32 [rows]: how often each row occurs.
struct CountIndicesOp final : LibraryOp {
  std::int64_t count = 0, rows = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// index [count], i32 in [0, rows) -> i32 [rows]: one more than the last position where each row stands; 0
/// for rows that stand nowhere.
struct LastPositionsOp final : LibraryOp {
  std::int64_t count = 0, rows = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// running [length], i32, each 0 or 1 more than the one before it, the first one than 0 -> i32 [steps]: where
/// it gets to 1, 2, .. The last one is `steps`.
struct CountStepsOp final : LibraryOp {
  std::int64_t length = 0, steps = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// Attribute: rows.
const Kind& count_indices();
/// Attribute: rows.
const Kind& last_positions();
/// Attribute: steps.
const Kind& count_steps();

}  // namespace sinter::library
