// Batches of matrices in host memory, and their decompositions there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <sinter/any_tensor.h>

#include "src/runtime/device_core.h"

namespace sinter::tensor {

/// Row-major matrices one after the other, of f32 or f64. The batch's shape is that of their tensor's leading
/// axes.
class HostMatrices {
 public:
  /// With elements that are yet to be written. They are where a tensor on `device` would have them, if that
  /// is memory of the host: then `upload` copies nothing.
  HostMatrices(runtime::DeviceCore& device, const Shape& batch, std::int64_t rows, std::int64_t columns,
               DType dtype);

  const Shape& batch() const { return batch_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  DType dtype() const { return dtype_; }
  /// Of one matrix.
  std::int64_t size() const { return rows_ * columns_; }
  template <class T>
  T* matrix(std::int64_t i) const {
    return reinterpret_cast<T*>(elements_) + i * size();
  }

 private:
  friend HostMatrices read_matrices(const AnyTensor& x, const Location& where);
  friend AnyTensor upload(HostMatrices matrices, bool as_vectors, const Device& device,
                          const Location& where);

  std::span<std::byte> bytes() const;

  Shape batch_;
  std::int64_t rows_, columns_;
  DType dtype_;
  std::shared_ptr<runtime::Buffer> buffer_;  // of the device, or null:
  std::unique_ptr<std::byte[]> own_;         // then the elements are here
  std::byte* elements_;
};

HostMatrices read_matrices(const AnyTensor& x, const Location& where);
/// To the device that the matrices were made for; `as_vectors`: [.., n, 1] without its last axis.
AnyTensor upload(HostMatrices matrices, bool as_vectors, const Device& device, const Location& where);

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
/// By the threads of the host device. Throws Error where a matrix has no such result, naming the function and
/// the first such matrix, and for `Eigen` where the library was built without the library of that name.
/// Operands have one batch and one dtype; results are made for `device`.
std::vector<HostMatrices> compute(MatrixFunction function, std::string_view name,
                                  const std::vector<HostMatrices>& operands, runtime::DeviceCore& device,
                                  const Location& where);

/// Eigenvalues [n] and their vectors as columns of a [n, n], real and imaginary parts. Returns why there are
/// none, as the end of a sentence, or null.
const char* general_eigen(std::int64_t n, const double* a, double* real_values, double* imaginary_values,
                          double* real_vectors, double* imaginary_vectors);
/// False where Sinter was built without Eigen, which `general_eigen` needs.
bool has_general_eigen();

}  // namespace sinter::tensor
