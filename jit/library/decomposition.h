// Decompositions of matrices as LAPACK has them, for devices with a library of linear algebra of their own.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// A routine for each matrix of a batch. LAPACK's matrices lie by columns, Sinter's by rows: what a routine
/// takes and gives is named here as rows see it. Every routine gives i32 `info` for each matrix as its last
/// result: 0 where all went well, above 0 where the matrix has no such decomposition.
enum class Decomposition : std::uint8_t {
  Cholesky,        // a [n, n], of which the lower triangle is read -> L there (what is above it is undefined)
  Solve,           // a [n, n], B^T [k, n] -> X^T [k, n] with A X = B
  Lu,              // A^T [n, n] -> (L and U in one)^T [n, n], pivots [n] (i32, from 1)
  Qr,              // A^T [n, m] -> (R in its upper triangle)^T [n, m], Q^T [min(m, n), m]
  SymmetricEigen,  // a [n, n], of which the lower triangle is read -> V^T [n, n], w [n] rising
  Svd,             // A^T [n, m] with m >= n -> U^T [n, m], s [n] falling, V [n, n]
  // A device need not have these.
  Reflections,  // A^T [n, m] -> (R, and below its diagonal vectors v)^T [n, m], scales s [min(m, n)], so that
                // Q is the product of all I - s v v^T, of which v is 1 on the diagonal
  JacobiSvd,    // A^T [n, n] -> U^T [n, n], s [n] falling, V^T [n, n]
  SolveLower,   // a [n, n], of which the lower triangle is read, b [n, k] -> X [n, k] with A X = B; `info` is
                // 0
  SolveUpper,   // the same of the upper triangle
};
/// True iff it is SolveLower or SolveUpper.
bool is_triangular(Decomposition routine);

struct DecompositionOp final : LibraryOp {
  Decomposition routine = Decomposition::Cholesky;
  std::int64_t batch = 1;
  std::int64_t m = 0, n = 0;  // rows and columns of A
  std::int64_t k = 0;         // solving: right-hand sides; Qr: the smaller of m and n
  /// Of triangular matrices, which are read where they lie: by rows, or by columns where `by_columns`, which
  /// begin `leading` elements apart, and matrices `a_batch`.
  bool by_columns = false;
  std::int64_t leading = 1, a_batch = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// Extensions, registered at the first call. Operands [.., rows, columns] of one batch, f32 or f64; sizes of
/// each matrix fit 31 bits, and so does the number of its elements.
const Kind& decomposition(Decomposition routine);
/// True iff the kind is one of these.
bool is_decomposition(const Kind& kind);

}  // namespace sinter::library
