// What the emulated cuSOLVER and cuBLAS share: checks of what a routine is given, and what it computes for
// one matrix, by Eigen in the routine's own precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

#include <Eigen/Eigenvalues>
#include <Eigen/Householder>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "services.h"

namespace sinter_emulation {

constexpr int kSolverSuccess = 0, kNotInitialized = 1, kInvalidArgument = 3, kUpper = 1, kTransposed = 1,
              kVectors = 1;

/// Whether SINTER_EMULATION_SOLVER has this value.
inline bool solver_is(const char* how) {
  const char* const chosen = std::getenv("SINTER_EMULATION_SOLVER");
  return chosen && std::string(chosen) == how;
}

struct Handle {
  void* stream = nullptr;
};

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using Seen = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

inline bool inside(const void* address, std::size_t bytes) {
  return bytes == 0 || services().inside(reinterpret_cast<std::uint64_t>(address), bytes);
}

/// A matrix by columns that is wholly in device memory.
template <class T>
bool is_matrix(const T* a, int rows, int columns, int lda) {
  return rows > 0 && columns > 0 && lda >= rows &&
         inside(a, (static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(lda) +
                    static_cast<std::size_t>(rows)) *
                       sizeof(T));
}
template <class T>
bool is_vector(const T* x, int count) {
  return inside(x, static_cast<std::size_t>(count) * sizeof(T));
}

/// What a routine may need, so that no two routines' workspaces have one size.
inline int work_for(int m, int n) { return 3 * m + 5 * n + 7; }

inline int enqueue(Handle* handle, bool valid, const std::function<void()>& work) {
  if (!valid) return kInvalidArgument;
  const auto call = [work] { return work(), kSolverSuccess; };
  return services().enqueue(handle->stream, call) == 0 ? kSolverSuccess : kInvalidArgument;
}

template <class T>
void spoil(T* work, int count) {
  std::fill_n(work, count, std::numeric_limits<T>::quiet_NaN());
}

/// U with A = U^T U.
template <class T>
void factor_definite(T* a, int n, int lda, int* info) {
  Seen<T> u(a, n, n, Eigen::OuterStride<>(lda));
  *info = 0;
  for (int j = 0; j < n && *info == 0; ++j) {
    for (int i = 0; i < j; ++i) u(i, j) = (u(i, j) - u.col(i).head(i).dot(u.col(j).head(i))) / u(i, i);
    const T rest = u(j, j) - u.col(j).head(j).squaredNorm();
    if (!(rest > 0))
      *info = j + 1;
    else
      u(j, j) = std::sqrt(rest);
  }
}

template <class T>
void factor_lu(T* a, int m, int n, int lda, int* pivots, int* info) {
  Seen<T> lu(a, m, n, Eigen::OuterStride<>(lda));
  *info = 0;
  for (int j = 0; j < std::min(m, n); ++j) {
    int pivot = 0;
    lu.col(j).tail(m - j).cwiseAbs().maxCoeff(&pivot);
    pivots[j] = j + pivot + 1;
    if (pivot != 0) lu.row(j).swap(lu.row(j + pivot));
    if (lu(j, j) == 0) {
      if (*info == 0) *info = j + 1;
      continue;
    }
    lu.col(j).tail(m - j - 1) /= lu(j, j);
    lu.bottomRightCorner(m - j - 1, n - j - 1) -= lu.col(j).tail(m - j - 1) * lu.row(j).tail(n - j - 1);
  }
}

/// (P L U)^T x = b
template <class T>
void solve_transposed(const T* a, int n, int k, int lda, const int* pivots, T* b, int ldb) {
  const Seen<T> lu(const_cast<T*>(a), n, n, Eigen::OuterStride<>(lda));
  Seen<T> x(b, n, k, Eigen::OuterStride<>(ldb));
  lu.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
  lu.template triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
  for (int j = n - 1; j >= 0; --j)
    if (pivots[j] != j + 1) x.row(j).swap(x.row(pivots[j] - 1));
}

/// x op(a) = b
template <class T>
void solve_triangular(bool upper, bool transposed, int m, int n, const T* a, int lda, T* b, int ldb) {
  const Seen<T> lines(const_cast<T*>(a), n, n, Eigen::OuterStride<>(lda));
  Seen<T> x(b, m, n, Eigen::OuterStride<>(ldb));
  const auto solve = [&](const auto& triangle) {
    if (transposed)
      triangle.transpose().template solveInPlace<Eigen::OnTheRight>(x);
    else
      triangle.template solveInPlace<Eigen::OnTheRight>(x);
  };
  if (upper)
    solve(lines.template triangularView<Eigen::Upper>());
  else
    solve(lines.template triangularView<Eigen::Lower>());
}

template <class T>
void factor_qr(T* a, int m, int n, int lda, T* tau) {
  Seen<T> factors(a, m, n, Eigen::OuterStride<>(lda));
  const Eigen::HouseholderQR<Matrix<T>> qr(factors);
  factors = qr.matrixQR();
  Eigen::Map<Vector<T>>(tau, std::min(m, n)) = qr.hCoeffs();
}

template <class T>
void find_eigenvalues(T* a, int n, int lda, T* w, int* info) {
  Seen<T> v(a, n, n, Eigen::OuterStride<>(lda));
  const Matrix<T> whole = v.template selfadjointView<Eigen::Upper>();
  const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(whole);
  *info = solver.info() == Eigen::Success ? 0 : 1;
  v = solver.eigenvectors();
  Eigen::Map<Vector<T>>(w, n) = solver.eigenvalues();
}

/// Writes over `a`.
template <class T>
Eigen::JacobiSVD<Matrix<T>> find_singular_values(T* a, int m, int n, int lda, T* s) {
  Seen<T> given(a, m, n, Eigen::OuterStride<>(lda));
  const Matrix<T> whole = given;
  given.setConstant(std::numeric_limits<T>::quiet_NaN());
  Eigen::JacobiSVD<Matrix<T>> svd(whole, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::Map<Vector<T>>(s, n) = svd.singularValues();
  return svd;
}

}  // namespace sinter_emulation
