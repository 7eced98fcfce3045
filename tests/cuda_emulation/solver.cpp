// cuSOLVER for machines without a GPU, over the memory and the streams of the emulated driver: what a routine
// is asked for is computed by Eigen in the routine's own precision, when the stream gets to it. Built as
// libcusolver.so.12 and found through LD_LIBRARY_PATH. It is stricter than the library: matrices, workspaces
// and `info` must be device memory of their full size, and a routine writes over all of its workspace.
// SINTER_EMULATION_SOLVER=broken: it does not start.
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

namespace {

using sinter_emulation::services;

constexpr int kSuccess = 0, kNotInitialized = 1, kInvalidValue = 3, kUpper = 1, kTransposed = 1, kVectors = 1;

struct Handle {
  void* stream = nullptr;
};

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using Seen = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

bool inside(const void* address, std::size_t bytes) {
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
int work_for(int m, int n) { return 3 * m + 5 * n + 7; }

int enqueue(Handle* handle, bool valid, const std::function<void()>& work) {
  if (!valid) return kInvalidValue;
  const auto call = [work] { return work(), kSuccess; };
  return services().enqueue(handle->stream, call) == 0 ? kSuccess : kInvalidValue;
}

template <class T>
void spoil(T* work, int count) {
  std::fill_n(work, count, std::numeric_limits<T>::quiet_NaN());
}

template <class T>
void factor(T* a, int n, int lda, int* info) {
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
int potrf(Handle* handle, int uplo, int n, T* a, int lda, T* work, int elements, int* info) {
  const bool valid = uplo == kUpper && is_matrix(a, n, n, lda) && elements >= work_for(n, n) &&
                     is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    factor(a, n, lda, info);
  });
}

template <class T>
int potrf_batched(Handle* handle, int uplo, int n, T** a, int lda, int* infos, int batch) {
  const bool valid =
      uplo == kUpper && n > 0 && lda >= n && batch > 0 && is_vector(a, batch) && is_vector(infos, batch);
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      if (!is_matrix(a[i], n, n, lda)) std::abort();
      factor(a[i], n, lda, infos + i);
    }
  });
}

template <class T>
int getrf(Handle* handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {
  const bool valid = is_matrix(a, m, n, lda) && is_vector(work, work_for(m, n)) &&
                     is_vector(pivots, std::min(m, n)) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, work_for(m, n));
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
  });
}

template <class T>
int getrs(Handle* handle, int trans, int n, int k, const T* a, int lda, const int* pivots, T* b, int ldb,
          int* info) {
  const bool valid = trans == kTransposed && is_matrix(a, n, n, lda) && is_matrix(b, n, k, ldb) &&
                     is_vector(pivots, n) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    const Seen<T> lu(const_cast<T*>(a), n, n, Eigen::OuterStride<>(lda));
    Seen<T> x(b, n, k, Eigen::OuterStride<>(ldb));
    // (P L U)^T x = b
    lu.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
    lu.template triangularView<Eigen::UnitLower>().transpose().solveInPlace(x);
    for (int j = n - 1; j >= 0; --j)
      if (pivots[j] != j + 1) x.row(j).swap(x.row(pivots[j] - 1));
    *info = 0;
  });
}

template <class T>
int geqrf(Handle* handle, int m, int n, T* a, int lda, T* tau, T* work, int elements, int* info) {
  const bool valid = is_matrix(a, m, n, lda) && is_vector(tau, std::min(m, n)) &&
                     elements >= work_for(m, n) && is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    Seen<T> factors(a, m, n, Eigen::OuterStride<>(lda));
    const Eigen::HouseholderQR<Matrix<T>> qr(factors);
    factors = qr.matrixQR();
    Eigen::Map<Vector<T>>(tau, std::min(m, n)) = qr.hCoeffs();
    *info = 0;
  });
}

template <class T>
int orgqr(Handle* handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int elements,
          int* info) {
  const bool valid = k <= n && n <= m && is_matrix(a, m, n, lda) && is_vector(tau, k) &&
                     elements >= work_for(m, k) && is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    Seen<T> q(a, m, n, Eigen::OuterStride<>(lda));
    const Matrix<T> reflections = q;
    const Vector<T> scales = Eigen::Map<const Vector<T>>(tau, k);
    q = Eigen::householderSequence(reflections, scales) * Matrix<T>::Identity(m, n);
    *info = 0;
  });
}

template <class T>
int syevd(Handle* handle, int mode, int uplo, int n, T* a, int lda, T* w, T* work, int elements, int* info) {
  const bool valid = mode == kVectors && uplo == kUpper && is_matrix(a, n, n, lda) && is_vector(w, n) &&
                     elements >= work_for(n, n) && is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    Seen<T> v(a, n, n, Eigen::OuterStride<>(lda));
    const Matrix<T> whole = v.template selfadjointView<Eigen::Upper>();
    const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(whole);
    *info = solver.info() == Eigen::Success ? 0 : 1;
    v = solver.eigenvectors();
    Eigen::Map<Vector<T>>(w, n) = solver.eigenvalues();
  });
}

template <class T>
int gesvd(Handle* handle, signed char of_u, signed char of_vt, int m, int n, T* a, int lda, T* s, T* u,
          int ldu, T* vt, int ldvt, T* work, int elements, T* rwork, int* info) {
  // As the library, which has no gesvd for fewer rows than columns.
  const bool valid = of_u == 'S' && of_vt == 'S' && m >= n && is_matrix(a, m, n, lda) && is_vector(s, n) &&
                     is_matrix(u, m, n, ldu) && is_matrix(vt, n, n, ldvt) && elements >= work_for(m, n) &&
                     is_vector(work, elements) && is_vector(rwork, n - 1) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    spoil(rwork, n - 1);
    Seen<T> given(a, m, n, Eigen::OuterStride<>(lda));
    const Matrix<T> whole = given;
    given.setConstant(std::numeric_limits<T>::quiet_NaN());
    const Eigen::JacobiSVD<Matrix<T>> svd(whole, Eigen::ComputeThinU | Eigen::ComputeThinV);
    Seen<T>(u, m, n, Eigen::OuterStride<>(ldu)) = svd.matrixU();
    Eigen::Map<Vector<T>>(s, n) = svd.singularValues();
    Seen<T>(vt, n, n, Eigen::OuterStride<>(ldvt)) = svd.matrixV().transpose();
    *info = 0;
  });
}

int size_of_work(int* elements, int m, int n) { return *elements = work_for(m, n), kSuccess; }

}  // namespace

extern "C" {

int cusolverDnCreate(Handle** handle) {
  const char* const broken = std::getenv("SINTER_EMULATION_SOLVER");
  if (broken && std::string(broken) == "broken") return kNotInitialized;
  return *handle = new Handle, kSuccess;
}
int cusolverDnDestroy(Handle* handle) { return delete handle, kSuccess; }
int cusolverDnSetStream(Handle* handle, void* stream) { return handle->stream = stream, kSuccess; }

#define ROUTINES(S, T)                                                                                       \
  int cusolverDn##S##potrf_bufferSize(Handle*, int, int n, T*, int, int* elements) {                         \
    return size_of_work(elements, n, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##potrf(Handle* h, int uplo, int n, T* a, int lda, T* work, int elements, int* info) {    \
    return potrf(h, uplo, n, a, lda, work, elements, info);                                                  \
  }                                                                                                          \
  int cusolverDn##S##potrfBatched(Handle* h, int uplo, int n, T** a, int lda, int* infos, int batch) {       \
    return potrf_batched(h, uplo, n, a, lda, infos, batch);                                                  \
  }                                                                                                          \
  int cusolverDn##S##getrf_bufferSize(Handle*, int m, int n, T*, int, int* elements) {                       \
    return size_of_work(elements, m, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##getrf(Handle* h, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {        \
    return getrf(h, m, n, a, lda, work, pivots, info);                                                       \
  }                                                                                                          \
  int cusolverDn##S##getrs(Handle* h, int trans, int n, int k, const T* a, int lda, const int* pivots, T* b, \
                           int ldb, int* info) {                                                             \
    return getrs(h, trans, n, k, a, lda, pivots, b, ldb, info);                                              \
  }                                                                                                          \
  int cusolverDn##S##geqrf_bufferSize(Handle*, int m, int n, T*, int, int* elements) {                       \
    return size_of_work(elements, m, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##geqrf(Handle* h, int m, int n, T* a, int lda, T* tau, T* work, int elements,            \
                           int* info) {                                                                      \
    return geqrf(h, m, n, a, lda, tau, work, elements, info);                                                \
  }                                                                                                          \
  int cusolverDn##S##orgqr_bufferSize(Handle*, int m, int, int k, const T*, int, const T*, int* elements) {  \
    return size_of_work(elements, m, k);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##orgqr(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T* work,             \
                           int elements, int* info) {                                                        \
    return orgqr(h, m, n, k, a, lda, tau, work, elements, info);                                             \
  }                                                                                                          \
  int cusolverDn##S##syevd_bufferSize(Handle*, int, int, int n, const T*, int, const T*, int* elements) {    \
    return size_of_work(elements, n, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##syevd(Handle* h, int mode, int uplo, int n, T* a, int lda, T* w, T* work, int elements, \
                           int* info) {                                                                      \
    return syevd(h, mode, uplo, n, a, lda, w, work, elements, info);                                         \
  }                                                                                                          \
  int cusolverDn##S##gesvd_bufferSize(Handle*, int m, int n, int* elements) {                                \
    return size_of_work(elements, m, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##gesvd(Handle* h, signed char of_u, signed char of_vt, int m, int n, T* a, int lda,      \
                           T* s, T* u, int ldu, T* vt, int ldvt, T* work, int elements, T* rwork,            \
                           int* info) {                                                                      \
    return gesvd(h, of_u, of_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, elements, rwork, info);            \
  }
ROUTINES(S, float)
ROUTINES(D, double)
#undef ROUTINES

}  // extern "C"
