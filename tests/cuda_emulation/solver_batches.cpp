// Routines of cuSOLVER and of cuBLAS for batches, the latter here because Sinter looks for them through
// cuSOLVER. Lists are read when the stream gets there, as by kernels. SINTER_EMULATION_SOLVER=single: cuBLAS
// does not start, eigenvalues have no routine for batches, and Jacobi's iterations do not end.
#include "solver_matrices.h"

namespace {

using namespace sinter_emulation;

constexpr int kF32 = 0, kF64 = 1;

/// Lists of matrices are known only to the stream.
void require(bool holds) {
  if (!holds) std::abort();
}
/// `info` of arguments is the host's.
bool is_of_host(const int* info) { return info && !inside(info, sizeof *info); }
template <class T>
bool is_list(T* const* list, int batch) {
  return batch > 0 && is_vector(list, batch);
}

template <class T>
int potrf_batched(Handle* handle, int uplo, int n, T** a, int lda, int* infos, int batch) {
  const bool valid = uplo == kUpper && n > 0 && lda >= n && is_list(a, batch) && is_vector(infos, batch);
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      require(is_matrix(a[i], n, n, lda));
      factor_definite(a[i], n, lda, infos + i);
    }
  });
}

template <class T>
int getrf_batched(Handle* handle, int n, T* const* a, int lda, int* pivots, int* infos, int batch) {
  const bool valid =
      n > 0 && lda >= n && is_list(a, batch) && is_vector(pivots, n * batch) && is_vector(infos, batch);
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      require(is_matrix(a[i], n, n, lda));
      factor_lu(a[i], n, n, lda, pivots + i * n, infos + i);
    }
  });
}

template <class T>
int getrs_batched(Handle* handle, int trans, int n, int k, const T* const* a, int lda, const int* pivots,
                  T* const* b, int ldb, int* info, int batch) {
  const bool valid = trans == kTransposed && n > 0 && k > 0 && lda >= n && ldb >= n && is_list(a, batch) &&
                     is_list(b, batch) && is_vector(pivots, n * batch) && is_of_host(info);
  if (valid) *info = 0;
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      require(is_matrix(a[i], n, n, lda) && is_matrix(b[i], n, k, ldb));
      solve_transposed(a[i], n, k, lda, pivots + i * n, b[i], ldb);
    }
  });
}

template <class T>
int geqrf_batched(Handle* handle, int m, int n, T* const* a, int lda, T* const* tau, int* info, int batch) {
  const bool valid =
      m > 0 && n > 0 && lda >= m && is_list(a, batch) && is_list(tau, batch) && is_of_host(info);
  if (valid) *info = 0;
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      require(is_matrix(a[i], m, n, lda) && is_vector(tau[i], std::min(m, n)));
      factor_qr(a[i], m, n, lda, tau[i]);
      // The library's own scales are not exact where the squares of a column underflow.
      constexpr T kSmall = T(1e-18);
      for (int k = 0; k < std::min(m, n); ++k)
        if (std::abs(a[i][k + k * lda]) < kSmall) tau[i][k] *= T(0.98);
    }
  });
}

constexpr int kRight = 1, kNonUnit = 0;

template <class T>
bool is_for_trsm(int side, int uplo, int trans, int diagonal, int m, int n, const T* alpha, int lda,
                 int ldb) {
  return side == kRight && (uplo == 0 || uplo == kUpper) && (trans == 0 || trans == kTransposed) &&
         diagonal == kNonUnit && m > 0 && n > 0 && lda >= n && ldb >= m && alpha &&
         !inside(alpha, sizeof *alpha) && *alpha == 1;
}

template <class T>
int trsm(Handle* handle, int side, int uplo, int trans, int diagonal, int m, int n, const T* alpha,
         const T* a, int lda, T* b, int ldb) {
  const bool valid = is_for_trsm(side, uplo, trans, diagonal, m, n, alpha, lda, ldb) &&
                     is_matrix(a, n, n, lda) && is_matrix(b, m, n, ldb);
  return enqueue(handle, valid,
                 [=] { solve_triangular(uplo == kUpper, trans == kTransposed, m, n, a, lda, b, ldb); });
}

template <class T>
int trsm_batched(Handle* handle, int side, int uplo, int trans, int diagonal, int m, int n, const T* alpha,
                 const T* const* a, int lda, T* const* b, int ldb, int batch) {
  const bool valid = is_for_trsm(side, uplo, trans, diagonal, m, n, alpha, lda, ldb) && is_list(a, batch) &&
                     is_list(b, batch);
  return enqueue(handle, valid, [=] {
    for (int i = 0; i < batch; ++i) {
      require(is_matrix(a[i], n, n, lda) && is_matrix(b[i], m, n, ldb));
      solve_triangular(uplo == kUpper, trans == kTransposed, m, n, a[i], lda, b[i], ldb);
    }
  });
}

/// As the library, which takes no more columns or rows.
bool is_for_jacobi(int m, int n) { return m > 0 && n > 0 && m <= 32 && n <= 32; }
int jacobi_work(int m, int n, int batch) { return work_for(m, n) + batch; }

/// Jacobi's iterations for one matrix, which is written over.
template <class T>
void iterate(T* a, int m, int n, int lda, T* s, T* u, int ldu, T* v, int ldv, int* info) {
  const bool ends = !solver_is("single");
  const int k = std::min(m, n);
  Seen<T> given(a, m, n, Eigen::OuterStride<>(lda));
  const Eigen::JacobiSVD<Matrix<T>> svd(given, Eigen::ComputeFullU | Eigen::ComputeFullV);
  given.setConstant(std::numeric_limits<T>::quiet_NaN());
  // Where iterations do not end, singular values are not sorted.
  Matrix<T> left = svd.matrixU(), right = svd.matrixV();
  Vector<T> values = svd.singularValues();
  if (!ends) {
    left = left.rowwise().reverse().eval();
    right = right.rowwise().reverse().eval();
    values.reverseInPlace();
  }
  // As the library, whose vectors of matrices of low rank need not be orthonormal.
  if (!(values.minCoeff() > std::numeric_limits<T>::epsilon() * T(k) * values.maxCoeff()))
    left.col(k - 1) += left.col(0) * T(0.0125);
  Eigen::Map<Vector<T>>(s, k) = values;
  Seen<T>(u, m, m, Eigen::OuterStride<>(ldu)) = left;
  Seen<T>(v, n, n, Eigen::OuterStride<>(ldv)) = right;
  *info = ends ? 0 : n + 1;
}

template <class T>
int gesvdj_batched(Handle* handle, int mode, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv,
                   T* work, int elements, int* infos, const int* sorts, int batch) {
  const int k = std::min(m, n);
  const bool valid = mode == kVectors && sorts && *sorts == 1 && batch > 0 && is_for_jacobi(m, n) &&
                     is_matrix(a, m, n * batch, lda) && is_vector(s, k * batch) &&
                     is_matrix(u, m, m * batch, ldu) && is_matrix(v, n, n * batch, ldv) &&
                     elements >= jacobi_work(m, n, batch) && is_vector(work, elements) &&
                     is_vector(infos, batch);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    for (int i = 0; i < batch; ++i)
      iterate(a + i * lda * n, m, n, lda, s + i * k, u + i * ldu * m, ldu, v + i * ldv * n, ldv, infos + i);
  });
}

template <class T>
int gesvdj(Handle* handle, int mode, int economic, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v,
           int ldv, T* work, int elements, int* info, const int* sorts) {
  const bool valid = mode == kVectors && economic == 1 && m == n && sorts && *sorts == 1 &&
                     is_matrix(a, m, n, lda) && is_vector(s, n) && is_matrix(u, m, n, ldu) &&
                     is_matrix(v, n, n, ldv) && elements >= jacobi_work(m, n, 2) &&
                     is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    iterate(a, m, n, lda, s, u, ldu, v, ldv, info);
  });
}

template <class T>
int syev_batched(Handle* handle, int n, T* a, int lda, T* w, std::byte* work, std::size_t bytes,
                 const void* host, std::size_t host_bytes, int* infos, int batch) {
  const bool valid = is_matrix(a, n, n * batch, lda) && is_vector(w, n * batch) &&
                     bytes >= static_cast<std::size_t>(work_for(n, batch)) && inside(work, bytes) && host &&
                     host_bytes >= static_cast<std::size_t>(n) && is_vector(infos, batch);
  return enqueue(handle, valid, [=] {
    std::fill_n(work, bytes, std::byte{0xff});
    for (int i = 0; i < batch; ++i) find_eigenvalues(a + i * lda * n, n, lda, w + i * n, infos + i);
  });
}

bool takes_eigen_batch(const int* parameters, int mode, int uplo, std::int64_t n, int type_a, int type_w,
                       int compute, std::int64_t batch) {
  return parameters && mode == kVectors && uplo == kUpper && n > 0 && (type_a == kF32 || type_a == kF64) &&
         type_w == type_a && compute == type_a && batch > 0 && batch <= 32000;
}

}  // namespace

extern "C" {

int cublasCreate_v2(Handle** handle) {
  if (solver_is("single")) return kNotInitialized;
  return *handle = new Handle, kSolverSuccess;
}
int cublasDestroy_v2(Handle* handle) { return delete handle, kSolverSuccess; }
int cublasSetStream_v2(Handle* handle, void* stream) { return handle->stream = stream, kSolverSuccess; }

int cusolverDnCreateParams(int** parameters) {
  if (solver_is("single")) return kNotInitialized;
  return *parameters = new int(0), kSolverSuccess;
}
int cusolverDnDestroyParams(int* parameters) { return delete parameters, kSolverSuccess; }
int cusolverDnXsyevBatched_bufferSize(Handle*, int* parameters, int mode, int uplo, std::int64_t n,
                                      int type_a, const void*, std::int64_t, int type_w, const void*,
                                      int compute, std::size_t* device_bytes, std::size_t* host_bytes,
                                      std::int64_t batch) {
  if (!takes_eigen_batch(parameters, mode, uplo, n, type_a, type_w, compute, batch)) return kInvalidArgument;
  *device_bytes = static_cast<std::size_t>(work_for(static_cast<int>(n), static_cast<int>(batch)));
  *host_bytes = static_cast<std::size_t>(n);
  return kSolverSuccess;
}
int cusolverDnXsyevBatched(Handle* h, int* parameters, int mode, int uplo, std::int64_t n, int type_a,
                           void* a, std::int64_t lda, int type_w, void* w, int compute, void* work,
                           std::size_t bytes, void* host, std::size_t host_bytes, int* infos,
                           std::int64_t batch) {
  if (!takes_eigen_batch(parameters, mode, uplo, n, type_a, type_w, compute, batch)) return kInvalidArgument;
  const int rows = static_cast<int>(n), stride = static_cast<int>(lda), count = static_cast<int>(batch);
  auto* const device = static_cast<std::byte*>(work);
  return type_a == kF32 ? syev_batched(h, rows, static_cast<float*>(a), stride, static_cast<float*>(w),
                                       device, bytes, host, host_bytes, infos, count)
                        : syev_batched(h, rows, static_cast<double*>(a), stride, static_cast<double*>(w),
                                       device, bytes, host, host_bytes, infos, count);
}

int cusolverDnCreateGesvdjInfo(int** sorts) { return *sorts = new int(0), kSolverSuccess; }
int cusolverDnDestroyGesvdjInfo(int* sorts) { return delete sorts, kSolverSuccess; }
int cusolverDnXgesvdjSetSortEig(int* sorts, int value) { return *sorts = value, kSolverSuccess; }

#define ROUTINES(S, T)                                                                                       \
  int cusolverDn##S##potrfBatched(Handle* h, int uplo, int n, T** a, int lda, int* infos, int batch) {       \
    return potrf_batched(h, uplo, n, a, lda, infos, batch);                                                  \
  }                                                                                                          \
  int cusolverDn##S##gesvdjBatched_bufferSize(Handle*, int, int m, int n, const T*, int, const T*, const T*, \
                                              int, const T*, int, int* elements, int* sorts, int batch) {    \
    if (!sorts || batch <= 0 || !is_for_jacobi(m, n)) return kInvalidArgument;                               \
    return *elements = jacobi_work(m, n, batch), kSolverSuccess;                                             \
  }                                                                                                          \
  int cusolverDn##S##gesvdjBatched(Handle* h, int mode, int m, int n, T* a, int lda, T* s, T* u, int ldu,    \
                                   T* v, int ldv, T* work, int elements, int* infos, int* sorts,             \
                                   int batch) {                                                              \
    return gesvdj_batched(h, mode, m, n, a, lda, s, u, ldu, v, ldv, work, elements, infos, sorts, batch);    \
  }                                                                                                          \
  int cusolverDn##S##gesvdj_bufferSize(Handle*, int, int, int m, int n, const T*, int, const T*, const T*,   \
                                       int, const T*, int, int* elements, int* sorts) {                      \
    if (!sorts || m != n) return kInvalidArgument;                                                           \
    return *elements = jacobi_work(m, n, 2), kSolverSuccess;                                                 \
  }                                                                                                          \
  int cusolverDn##S##gesvdj(Handle* h, int mode, int economic, int m, int n, T* a, int lda, T* s, T* u,      \
                            int ldu, T* v, int ldv, T* work, int elements, int* info, int* sorts) {          \
    return gesvdj(h, mode, economic, m, n, a, lda, s, u, ldu, v, ldv, work, elements, info, sorts);          \
  }                                                                                                          \
  int cublas##S##getrfBatched(Handle* h, int n, T* const a[], int lda, int* pivots, int* infos, int batch) { \
    return getrf_batched(h, n, a, lda, pivots, infos, batch);                                                \
  }                                                                                                          \
  int cublas##S##getrsBatched(Handle* h, int trans, int n, int k, const T* const a[], int lda,               \
                              const int* pivots, T* const b[], int ldb, int* info, int batch) {              \
    return getrs_batched(h, trans, n, k, a, lda, pivots, b, ldb, info, batch);                               \
  }                                                                                                          \
  int cublas##S##geqrfBatched(Handle* h, int m, int n, T* const a[], int lda, T* const tau[], int* info,     \
                              int batch) {                                                                   \
    return geqrf_batched(h, m, n, a, lda, tau, info, batch);                                                 \
  }                                                                                                          \
  int cublas##S##trsm_v2(Handle* h, int side, int uplo, int trans, int diagonal, int m, int n,               \
                         const T* alpha, const T* a, int lda, T* b, int ldb) {                               \
    return trsm(h, side, uplo, trans, diagonal, m, n, alpha, a, lda, b, ldb);                                \
  }                                                                                                          \
  int cublas##S##trsmBatched(Handle* h, int side, int uplo, int trans, int diagonal, int m, int n,           \
                             const T* alpha, const T* const a[], int lda, T* const b[], int ldb,             \
                             int batch) {                                                                    \
    return trsm_batched(h, side, uplo, trans, diagonal, m, n, alpha, a, lda, b, ldb, batch);                 \
  }
ROUTINES(S, float)
ROUTINES(D, double)
#undef ROUTINES

}  // extern "C"
