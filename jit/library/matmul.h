// Matrix products.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. Strides in elements; c is row-major
/// without gaps. No stride is negative, and for each operand either the row or the column stride is 1, unless
/// that size is 1.
struct MatMulOp final : ProductOp {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t a_batch = 0, a_row = 0, a_column = 0;  // strides of a along batch, m, k
  std::int64_t b_batch = 0, b_row = 0, b_column = 0;  // strides of b along batch, k, n
  MatmulPrecision precision = MatmulPrecision::Highest;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// Operands of two dims or more, of which all but the last two broadcast; they are expanded before the op is
/// recorded.
const Kind& matmul();

}  // namespace sinter::library
