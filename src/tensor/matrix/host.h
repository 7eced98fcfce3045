// Batches of matrices in host memory, and what Eigen makes of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sinter/any_tensor.h>

namespace sinter::tensor {

/// Row-major matrices one after the other. The batch's shape is that of their tensor's leading axes.
struct HostMatrices {
  Shape batch;
  std::int64_t rows = 0, columns = 0;
  std::vector<double> elements;
};

/// Reads a tensor of matrices of f32, widened, or f64.
HostMatrices read_matrices(const AnyTensor& x, const Location& where);
/// As `dtype`; `as_vectors`: [.., n, 1] without its last axis.
AnyTensor upload(const HostMatrices& matrices, DType dtype, bool as_vectors, const Device& device,
                 const Location& where);

enum class MatrixFunction : std::uint8_t {
  Cholesky,        // -> L
  Solve,           // a, b -> x
  SolveLower,      // a, b -> x
  SolveUpper,      // a, b -> x
  Inverse,         // -> inverse
  Determinant,     // -> sign, log |det|, det, each [1, 1]
  Lu,              // -> P, L, U
  Qr,              // -> Q, R
  Svd,             // -> U, S [k, 1], Vh
  SymmetricEigen,  // -> w [n, 1], V
  Eigen,           // -> real and imaginary w [n, 1], real and imaginary V
};
/// Throws Error where the library was built without Eigen, and where a matrix has no such result, naming the
/// function and the matrix. Operands have one batch.
std::vector<HostMatrices> compute(MatrixFunction function, std::string_view name,
                                  const std::vector<HostMatrices>& operands, const Location& where);

}  // namespace sinter::tensor
