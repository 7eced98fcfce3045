// Iterations that make tridiagonal and bidiagonal matrices diagonal, by rotations of neighbouring columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/runtime/host/matrices/kernels.h"
#include "src/runtime/host/matrices/padded.h"
#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// A matrix [rows, columns] whose columns are rotated. Rotations are noted, and done later: many together,
/// each thread for rows of its own.
template <class T>
class RotatedColumns {
 public:
  RotatedColumns(ThreadPool& pool, std::int64_t rows, std::int64_t columns, const Padded<T>& matrix);

  /// Begins a sweep whose first rotation is that of columns first and first + step.
  void begin(std::int64_t first, std::int64_t step);
  void rotate(double cosine, double sine) {
    turns_.push_back(static_cast<T>(cosine));
    turns_.push_back(static_cast<T>(sine));
    ++sweeps_.back().count;
  }
  /// Does what was noted, before the matrix is read.
  void finish();

  /// kRows elements of a column, of rows from piece * kRows on.
  static constexpr std::int64_t kRows = kRotatedBytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t pieces() const { return (rows_ + kRows - 1) / kRows; }
  const T* piece(std::int64_t piece, std::int64_t column) const {
    return elements_.row(0) + (piece * columns_ + column) * kRows;
  }

 private:
  T* elements(std::int64_t piece) { return elements_.row(0) + piece * columns_ * kRows; }

  ThreadPool& pool_;
  std::int64_t rows_, columns_;
  Padded<T> elements_;
  std::vector<Sweep> sweeps_;
  std::vector<T> turns_;
};

/// The eigenvalues, in any order, of the symmetric matrix with `diagonal` [n] and what is `beside` it
/// [n - 1], which are written over; `vectors` becomes its product with their vectors. False where iterations
/// did not end. Values below `precision` of the largest element count as zeros.
template <class T>
[[nodiscard]] bool diagonalise_symmetric(std::int64_t n, double* diagonal, double* beside, double precision,
                                         RotatedColumns<T>& vectors);

/// The same of an upper bidiagonal matrix B = X S Y^T: singular values, any of which may be negative; `left`
/// becomes its product with X, `right` its product with Y.
template <class T>
[[nodiscard]] bool diagonalise_bidiagonal(std::int64_t n, double* diagonal, double* beside, double precision,
                                          RotatedColumns<T>& left, RotatedColumns<T>& right);

}  // namespace sinter::runtime::host
