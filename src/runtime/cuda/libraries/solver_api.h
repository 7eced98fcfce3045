// The part of cuSOLVER's interface that Sinter uses. The library is opened at run time and the declarations
// are our own, so that building needs no toolkit; a program that decomposes no matrix never opens it.
#pragma once

#include <array>
#include <string>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

using SolverStatus = int;  // cusolverStatus_t
struct SolverTag;
using SolverHandle = SolverTag*;  // cusolverDnHandle_t

inline constexpr int kUpper = 1;           // CUBLAS_FILL_MODE_UPPER
inline constexpr int kTransposed = 1;      // CUBLAS_OP_T
inline constexpr int kWithVectors = 1;     // CUSOLVER_EIG_MODE_VECTOR
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
};

struct SolverApi {
  SolverStatus (*create)(SolverHandle*) = nullptr;
  SolverStatus (*destroy)(SolverHandle) = nullptr;
  SolverStatus (*set_stream)(SolverHandle, Stream) = nullptr;
  SolverRoutines f32, f64;
};

/// Opened at the first call; null where there is none that works.
const SolverApi* solver_api();

/// Why `solver_api()` is null, and what to do; empty otherwise.
const std::string& solver_problem();

}  // namespace sinter::runtime::cuda
