// A kernel of attention that goes by stripes (Attention::By::Stripes), taken apart into what threads of a
// processor do one after the other: products, a kernel over the scores of a stripe, products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// What a stripe has of a kernel's loops: the last outer one is of rows, the only inner one of columns.
struct Stripe {
  std::span<const std::int64_t> batch;  // coordinates of the outer loops but the last
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_column = 0, columns = 0;
  std::int64_t line = 0;  // elements from a row's scores to those of the next
};

struct ScoreStripes {
  explicit ScoreStripes(const Kernel& whole);

  /// Over the rows and columns of a stripe: a kernel like others, which finds the elements of the Dots in
  /// memory, and leaves there what the Combines take. It has the whole kernel's scalars. The whole kernel's
  /// ints come first; then those that fill_ints() writes.
  Kernel kernel;
  void fill_ints(std::span<const std::int64_t> whole, const Stripe& stripe,
                 std::span<std::int64_t> ints) const;

  /// What a buffer of `kernel` is: one of the whole kernel's, or memory of the stripe's own, f32: lines with
  /// a number for each of the columns, or one number for each row.
  struct Source {
    enum class Kind : std::uint8_t { Buffer, Lines, Numbers } kind = Kind::Buffer;
    std::uint16_t index = 0;  // the so many-th of its kind
  };
  std::vector<Source> sources;
  std::size_t lines = 0, numbers = 0;

  /// The elements of a Dot go into these lines.
  struct Scores {
    ExprId dot;
    std::uint16_t lines;
  };
  std::vector<Scores> scores;
  /// The store of a Combine, whose weights are in these lines, and whose scale in these numbers.
  struct Combined {
    std::size_t store;
    std::uint16_t weights;
    std::optional<std::uint16_t> scale;
  };
  std::vector<Combined> combined;

 private:
  /// The whole kernel's maps, as far as loops are concerned.
  struct First {
    std::vector<IntRef> strides;
    IntRef offset;
  };
  std::vector<First> firsts_;
  std::uint16_t outer_rank_ = 0, own_ints_ = 0;
};

/// The number that a map gives at loop coordinates.
std::int64_t number_of(const Kernel& kernel, std::size_t map, std::span<const std::int64_t> coordinates,
                       std::span<const std::int64_t> ints);

}  // namespace sinter::ir
