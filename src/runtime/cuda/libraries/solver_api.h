// The part of cuSOLVER's interface that Sinter uses, and that of cuBLAS on which cuSOLVER rests. The
// libraries are opened at run time and the declarations are our own, so that building needs no toolkit; a
// program that decomposes no matrix never opens them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

using SolverStatus = int;  // cusolverStatus_t
struct SolverTag;
using SolverHandle = SolverTag*;  // cusolverDnHandle_t
struct SolverParametersTag;
using SolverParameters = SolverParametersTag*;  // cusolverDnParams_t
struct JacobiTag;
using JacobiOptions = JacobiTag*;  // gesvdjInfo_t
using BlasStatus = int;            // cublasStatus_t
struct BlasTag;
using BlasHandle = BlasTag*;  // cublasHandle_t

inline constexpr int kLower = 0;         // CUBLAS_FILL_MODE_LOWER
inline constexpr int kUpper = 1;         // CUBLAS_FILL_MODE_UPPER
inline constexpr int kAsItLies = 0;      // CUBLAS_OP_N
inline constexpr int kTransposed = 1;    // CUBLAS_OP_T
inline constexpr int kWithVectors = 1;   // CUSOLVER_EIG_MODE_VECTOR
inline constexpr int kOnTheRight = 1;    // CUBLAS_SIDE_RIGHT
inline constexpr int kWithDiagonal = 0;  // CUBLAS_DIAG_NON_UNIT
/// cudaDataType.
inline constexpr int kSolverF32 = 0, kSolverF64 = 1;
inline constexpr signed char kThin = 'S';  // of gesvd: as many columns as the matrix has

/// The routines for one dtype, whose elements are void here: cusolverDnS.. and cusolverDnD... All matrices
/// lie by columns and are in device memory, as pivots, `info` and lists of matrices are.
struct SolverRoutines {
  SolverStatus (*potrf_size)(SolverHandle, int uplo, int n, void* a, int lda, int* elements) = nullptr;
  SolverStatus (*potrf)(SolverHandle, int uplo, int n, void* a, int lda, void* work, int elements,
                        int* info) = nullptr;
  SolverStatus (*potrf_batched)(SolverHandle, int uplo, int n, void** a, int lda, int* infos,
                                int batch) = nullptr;
  SolverStatus (*getrf_size)(SolverHandle, int m, int n, void* a, int lda, int* elements) = nullptr;
  SolverStatus (*getrf)(SolverHandle, int m, int n, void* a, int lda, void* work, int* pivots,
                        int* info) = nullptr;
  SolverStatus (*getrs)(SolverHandle, int trans, int n, int k, const void* a, int lda, const int* pivots,
                        void* b, int ldb, int* info) = nullptr;
  SolverStatus (*geqrf_size)(SolverHandle, int m, int n, void* a, int lda, int* elements) = nullptr;
  SolverStatus (*geqrf)(SolverHandle, int m, int n, void* a, int lda, void* tau, void* work, int elements,
                        int* info) = nullptr;
  SolverStatus (*orgqr_size)(SolverHandle, int m, int n, int k, const void* a, int lda, const void* tau,
                             int* elements) = nullptr;
  SolverStatus (*orgqr)(SolverHandle, int m, int n, int k, void* a, int lda, const void* tau, void* work,
                        int elements, int* info) = nullptr;
  SolverStatus (*syevd_size)(SolverHandle, int mode, int uplo, int n, const void* a, int lda, const void* w,
                             int* elements) = nullptr;
  SolverStatus (*syevd)(SolverHandle, int mode, int uplo, int n, void* a, int lda, void* w, void* work,
                        int elements, int* info) = nullptr;
  SolverStatus (*gesvd_size)(SolverHandle, int m, int n, int* elements) = nullptr;
  SolverStatus (*gesvd)(SolverHandle, signed char u, signed char vt, int m, int n, void* a, int lda, void* s,
                        void* u_out, int ldu, void* vt_out, int ldvt, void* work, int elements, void* rwork,
                        int* info) = nullptr;
  /// `economic`: as many columns of U and V as there are singular values.
  SolverStatus (*gesvdj_size)(SolverHandle, int mode, int economic, int m, int n, const void* a, int lda,
                              const void* s, const void* u, int ldu, const void* v, int ldv, int* elements,
                              JacobiOptions) = nullptr;
  SolverStatus (*gesvdj)(SolverHandle, int mode, int economic, int m, int n, void* a, int lda, void* s,
                         void* u, int ldu, void* v, int ldv, void* work, int elements, int* info,
                         JacobiOptions) = nullptr;
  SolverStatus (*gesvdj_batched_size)(SolverHandle, int mode, int m, int n, const void* a, int lda,
                                      const void* s, const void* u, int ldu, const void* v, int ldv,
                                      int* elements, JacobiOptions, int batch) = nullptr;
  SolverStatus (*gesvdj_batched)(SolverHandle, int mode, int m, int n, void* a, int lda, void* s, void* u,
                                 int ldu, void* v, int ldv, void* work, int elements, int* infos,
                                 JacobiOptions, int batch) = nullptr;
};

/// cublasS.. and cublasD... Lists, pivots and `infos` are in device memory; `info` is not: it names an
/// argument that is wrong, before the routine starts, and `alpha`, which has the routine's dtype.
struct BlasRoutines {
  BlasStatus (*getrf_batched)(BlasHandle, int n, void* const* a, int lda, int* pivots, int* infos,
                              int batch) = nullptr;
  BlasStatus (*getrs_batched)(BlasHandle, int trans, int n, int k, const void* const* a, int lda,
                              const int* pivots, void* const* b, int ldb, int* info, int batch) = nullptr;
  BlasStatus (*geqrf_batched)(BlasHandle, int m, int n, void* const* a, int lda, void* const* tau, int* info,
                              int batch) = nullptr;
  /// Write X over B [m, n] with X op(A) = alpha B, or op(A) X: A is on that side.
  BlasStatus (*trsm)(BlasHandle, int side, int uplo, int trans, int diagonal, int m, int n, const void* alpha,
                     const void* a, int lda, void* b, int ldb) = nullptr;
  BlasStatus (*trsm_batched)(BlasHandle, int side, int uplo, int trans, int diagonal, int m, int n,
                             const void* alpha, const void* const* a, int lda, void* const* b, int ldb,
                             int batch) = nullptr;
};

struct BlasApi {
  BlasStatus (*create)(BlasHandle*) = nullptr;
  BlasStatus (*destroy)(BlasHandle) = nullptr;
  BlasStatus (*set_stream)(BlasHandle, Stream) = nullptr;
  BlasRoutines f32, f64;
};

/// Of cuSOLVER 11.7.1 (CUDA 12.6.2) and newer. Matrices lie one behind the other, as their eigenvalues do.
struct BatchedEigenApi {
  SolverStatus (*create_parameters)(SolverParameters*) = nullptr;
  SolverStatus (*destroy_parameters)(SolverParameters) = nullptr;
  SolverStatus (*size)(SolverHandle, SolverParameters, int mode, int uplo, std::int64_t n, int type_a,
                       const void* a, std::int64_t lda, int type_w, const void* w, int compute_type,
                       std::size_t* device_bytes, std::size_t* host_bytes, std::int64_t batch) = nullptr;
  SolverStatus (*syev)(SolverHandle, SolverParameters, int mode, int uplo, std::int64_t n, int type_a,
                       void* a, std::int64_t lda, int type_w, void* w, int compute_type, void* device_work,
                       std::size_t device_bytes, void* host_work, std::size_t host_bytes, int* infos,
                       std::int64_t batch) = nullptr;
};

struct SolverApi {
  SolverStatus (*create)(SolverHandle*) = nullptr;
  SolverStatus (*destroy)(SolverHandle) = nullptr;
  SolverStatus (*set_stream)(SolverHandle, Stream) = nullptr;
  SolverStatus (*create_jacobi)(JacobiOptions*) = nullptr;
  SolverStatus (*destroy_jacobi)(JacobiOptions) = nullptr;
  SolverStatus (*sort_jacobi)(JacobiOptions, int sorts) = nullptr;
  SolverRoutines f32, f64;
  bool has_batched_eigen = false, has_blas = false;
  BatchedEigenApi batched_eigen;
  BlasApi blas;
};

/// Opened at the first call; null where there is none that works.
const SolverApi* solver_api();

/// Why `solver_api()` is null, and what to do; empty otherwise.
const std::string& solver_problem();

}  // namespace sinter::runtime::cuda
