// cuSOLVER for machines without a GPU, over the memory and the streams of the emulated driver: what a routine
// is asked for is computed by Eigen in the routine's own precision, when the stream gets to it. Built as
// libcusolver.so.12 and found through LD_LIBRARY_PATH. It is stricter than the library: matrices, workspaces
// and `info` must be device memory of their full size, and a routine writes over all of its workspace.
// SINTER_EMULATION_SOLVER=broken: it does not start.
#include "solver_matrices.h"

namespace {

using namespace sinter_emulation;

template <class T>
int potrf(Handle* handle, int uplo, int n, T* a, int lda, T* work, int elements, int* info) {
  const bool valid = uplo == kUpper && is_matrix(a, n, n, lda) && elements >= work_for(n, n) &&
                     is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    factor_definite(a, n, lda, info);
  });
}

template <class T>
int getrf(Handle* handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {
  const bool valid = is_matrix(a, m, n, lda) && is_vector(work, work_for(m, n)) &&
                     is_vector(pivots, std::min(m, n)) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, work_for(m, n));
    factor_lu(a, m, n, lda, pivots, info);
  });
}

template <class T>
int getrs(Handle* handle, int trans, int n, int k, const T* a, int lda, const int* pivots, T* b, int ldb,
          int* info) {
  const bool valid = trans == kTransposed && is_matrix(a, n, n, lda) && is_matrix(b, n, k, ldb) &&
                     is_vector(pivots, n) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    solve_transposed(a, n, k, lda, pivots, b, ldb);
    *info = 0;
  });
}

template <class T>
int geqrf(Handle* handle, int m, int n, T* a, int lda, T* tau, T* work, int elements, int* info) {
  const bool valid = is_matrix(a, m, n, lda) && is_vector(tau, std::min(m, n)) &&
                     elements >= work_for(m, n) && is_vector(work, elements) && is_vector(info, 1);
  return enqueue(handle, valid, [=] {
    spoil(work, elements);
    factor_qr(a, m, n, lda, tau);
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
    find_eigenvalues(a, n, lda, w, info);
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
    const auto svd = find_singular_values(a, m, n, lda, s);
    Seen<T>(u, m, n, Eigen::OuterStride<>(ldu)) = svd.matrixU();
    Seen<T>(vt, n, n, Eigen::OuterStride<>(ldvt)) = svd.matrixV().transpose();
    *info = 0;
  });
}

int size_of_work(int* elements, int m, int n) { return *elements = work_for(m, n), kSolverSuccess; }

}  // namespace

extern "C" {

int cusolverDnCreate(Handle** handle) {
  if (solver_is("broken")) return kNotInitialized;
  return *handle = new Handle, kSolverSuccess;
}
int cusolverDnDestroy(Handle* handle) { return delete handle, kSolverSuccess; }
int cusolverDnSetStream(Handle* handle, void* stream) { return handle->stream = stream, kSolverSuccess; }

#define ROUTINES(S, T)                                                                                       \
  int cusolverDn##S##potrf_bufferSize(Handle*, int, int n, T*, int, int* elements) {                         \
    return size_of_work(elements, n, n);                                                                     \
  }                                                                                                          \
  int cusolverDn##S##potrf(Handle* h, int uplo, int n, T* a, int lda, T* work, int elements, int* info) {    \
    return potrf(h, uplo, n, a, lda, work, elements, info);                                                  \
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
