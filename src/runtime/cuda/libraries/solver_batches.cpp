// Calls of cuSOLVER and cuBLAS for many matrices at once, and those of cuBLAS for one. The routines for
// batches are made for small matrices; of large ones each keeps a device busy by itself.
#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/env.h"
#include "src/runtime/cuda/libraries/solver.h"
#include "src/runtime/cuda/libraries/solver_call.h"

namespace sinter::runtime::cuda {

using library::Decomposition;
using library::DecompositionOp;

namespace {

/// Whether getrfBatched is faster than getrf for each matrix: as PyTorch's lu_factor decides by its
/// measurements on H100, A100, L40 and RTX 5090 (aten/src/ATen/native/cuda/linalg/BatchLinearAlgebra.cpp).
bool factors_together(const DecompositionOp& op) {
  const bool wide = op.dtype == DType::f64;
  const double batch = static_cast<double>(op.batch), elements = static_cast<double>(op.n * op.n);
  if (op.batch == 2) return elements <= batch * (wide ? 2200 : 8400);
  return elements <= batch * (wide ? 16600 * std::floor(std::sqrt(batch)) : 18600);
}

}  // namespace

bool Solver::has(const library::Kind& kind) {
  for (const Decomposition routine :
       {Decomposition::Reflections, Decomposition::SolveLower, Decomposition::SolveUpper})
    if (&kind == &library::decomposition(routine)) return has_blas();
  return true;
}

/// Opens a handle of cuBLAS at the first need. Without one the matrices of a batch are decomposed one by one.
bool Solver::has_blas() {
  const std::lock_guard lock(mutex_);
  if (blas_asked_ || !api_.has_blas) return blas_;
  blas_asked_ = true;
  try {
    check(driver_.context_set_current(context_), "cuCtxSetCurrent");
    check_blas(api_.blas.create(&blas_), 0, "cublasCreate");
    check_blas(api_.blas.set_stream(blas_, stream_), 0, "cublasSetStream");
  } catch (const DeviceError& error) {
    base::warn_once(error.what());
    if (blas_) api_.blas.destroy(blas_);
    blas_ = nullptr;
  }
  return blas_;
}

/// How many matrices one call of a routine takes; 0 where they are decomposed one by one.
std::int64_t Solver::matrices_at_once(const DecompositionOp& op) {
  constexpr std::int64_t kMostRows = 512, kMostRowsOfLu = 1024, kMostOfJacobi = 32;
  const bool several = op.batch > 1 && op.n > 0, small = several && op.n <= kMostRows;
  bool is_of_batch = false;
  switch (op.routine) {
    case Decomposition::Cholesky: is_of_batch = small; break;
    case Decomposition::Lu:
      is_of_batch = several && op.n <= kMostRowsOfLu && factors_together(op) && has_blas();
      break;
    // Two larger ones PyTorch solves one by one.
    case Decomposition::Solve:
      is_of_batch = small && op.k > 0 && (op.batch > 2 || op.n < 64) && has_blas();
      break;
    // As PyTorch's triangular_solve_kernel decides, but for one matrix, which needs no list.
    case Decomposition::SolveLower:
    case Decomposition::SolveUpper:
      is_of_batch = small && op.k > 0 && (op.batch > 8 || op.n < 64) && has_blas();
      break;
    // XsyevBatched is not for small matrices alone: https://github.com/pytorch/pytorch/issues/175585.
    case Decomposition::SymmetricEigen: is_of_batch = parameters_ && small; break;
    case Decomposition::Reflections: is_of_batch = true; break;
    case Decomposition::JacobiSvd: is_of_batch = several && op.n <= kMostOfJacobi; break;
    case Decomposition::Qr:
    case Decomposition::Svd: break;
  }
  if (!is_of_batch) return 0;
  // A list of them is a copy of 64 KiB, which the driver takes before it returns though the memory is not
  // pinned; XsyevBatched refuses more than some 32,000 matrices, or 2^31 elements. So many elements as here
  // keep a device busy.
  constexpr std::int64_t kMost = 65536 / sizeof(DevicePointer), kMostElements = std::int64_t{1} << 26;
  return std::clamp<std::int64_t>(std::min(op.batch, kMostElements / std::max<std::int64_t>(op.m * op.n, 1)),
                                  1, kMost);
}

/// What a routine for `piece` matrices needs, and for the rest.
void Solver::ask_for_batch(SolverExecutable& executable) {
  const DecompositionOp& op = executable.op;
  const int n = narrow(op.n);
  const std::lock_guard lock(mutex_);
  for (const std::int64_t count : {executable.piece, op.batch % executable.piece}) {
    if (count == 0) continue;
    if (op.routine == Decomposition::SymmetricEigen) {
      const int type = op.dtype == DType::f64 ? kSolverF64 : kSolverF32;
      std::size_t device = 0, host = 0;
      check_solver(api_.batched_eigen.size(handle_, parameters_, kWithVectors, kUpper, n, type, nullptr, n,
                                           type, nullptr, type, &device, &host, count),
                   "XsyevBatched_bufferSize");
      executable.work_bytes = std::max(executable.work_bytes, device);
      executable.host_work.resize(std::max(executable.host_work.size(), host));
    } else if (op.routine == Decomposition::JacobiSvd) {
      int elements = 0;
      check_solver(routines(op).gesvdj_batched_size(handle_, kWithVectors, n, n, nullptr, n, nullptr, nullptr,
                                                    n, nullptr, n, &elements, jacobi_, narrow(count)),
                   "gesvdjBatched_bufferSize");
      executable.work_elements = std::max(executable.work_elements, elements);
    }
  }
}

/// Writes a list of addresses that are `bytes` apart.
void* const* Solver::list(const Call& call, int which, DevicePointer first, std::size_t bytes, int count) {
  std::vector<DevicePointer> addresses(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < addresses.size(); ++i) addresses[i] = first + i * bytes;
  check(driver_.copy_to_device(call.list(which), addresses.data(), addresses.size() * sizeof addresses[0],
                               stream_),
        "cuMemcpyHtoDAsync");
  return static_cast<void* const*>(pointer(call.list(which)));
}

/// Of one matrix, or of as many as a list has, from number `first`.
void Solver::solve_triangular(const SolverExecutable& executable, const Call& call, std::int64_t first,
                              int count) {
  const DecompositionOp& op = executable.op;
  check(driver_.fill_u32(reinterpret_cast<DevicePointer>(call.info(first)), 0,
                         static_cast<std::size_t>(count), stream_),
        "cuMemsetD32Async");
  if (op.n == 0 || op.k == 0) return;
  const int n = narrow(op.n), k = narrow(op.k), leading = narrow(op.leading);
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * size_of(op.dtype);
  };
  const DevicePointer a = call.operand(0, first * op.a_batch), x = call.result(0, first * op.n * op.k);
  call.copy(x, call.operand(1, first * op.n * op.k), count * op.n * op.k);
  // Rows are the columns of the transposed matrices, and X^T A^T = B^T. By columns `a` is A^T, of which the
  // other triangle is read, or A itself.
  const bool upper = (op.routine == Decomposition::SolveUpper) == op.by_columns;
  const int triangle = upper ? kUpper : kLower, transposed = op.by_columns ? kTransposed : kAsItLies;
  constexpr float kOne = 1;
  constexpr double kWideOne = 1;
  const void* const alpha = op.dtype == DType::f64 ? static_cast<const void*>(&kWideOne) : &kOne;
  if (executable.piece == 0) {
    check_blas(blas(op).trsm(blas_, kOnTheRight, triangle, transposed, kWithDiagonal, k, n, alpha, pointer(a),
                             leading, pointer(x), k),
               0, "trsm");
    return;
  }
  void* const* matrices = list(call, 0, a, bytes(op.a_batch), count);
  void* const* sides = list(call, 1, x, bytes(op.n * op.k), count);
  check_blas(blas(op).trsm_batched(blas_, kOnTheRight, triangle, transposed, kWithDiagonal, k, n, alpha,
                                   matrices, leading, sides, k, count),
             0, "trsmBatched");
}

void Solver::launch_batch(const SolverExecutable& executable, const Call& call, std::int64_t first,
                          int count) {
  const DecompositionOp& op = executable.op;
  if (library::is_triangular(op.routine)) return solve_triangular(executable, call, first, count);
  const int m = narrow(op.m), n = narrow(op.n), k = narrow(op.k);
  const std::int64_t each = op.m * op.n;
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * size_of(op.dtype);
  };
  // Routines work in place: on the first result, or on a copy in the workspace.
  const bool in_workspace = op.routine == Decomposition::Solve || op.routine == Decomposition::JacobiSvd;
  const DevicePointer a = in_workspace ? call.matrix() : call.result(0, first * each);
  call.copy(a, call.operand(0, first * each), count * each);
  int info = 0;
  switch (op.routine) {
    case Decomposition::Cholesky:
      check_solver(routines(op).potrf_batched(handle_, kUpper, n,
                                              const_cast<void**>(list(call, 0, a, bytes(each), count)), n,
                                              call.info(first), count),
                   "potrfBatched");
      break;
    case Decomposition::Solve: {
      // By columns `a` is A^T, so that the transposed system is the one that was asked for.
      const DevicePointer x = call.result(0, first * op.n * op.k);
      call.copy(x, call.operand(1, first * op.n * op.k), count * op.n * op.k);
      void* const* factors = list(call, 0, a, bytes(each), count);
      void* const* sides = list(call, 1, x, bytes(op.n * op.k), count);
      check_blas(blas(op).getrf_batched(blas_, n, factors, n, call.pivots(), call.info(first), count), 0,
                 "getrfBatched");
      check_blas(
          blas(op).getrs_batched(blas_, kTransposed, n, k, factors, n, call.pivots(), sides, n, &info, count),
          info, "getrsBatched");
      break;
    }
    case Decomposition::Lu:
      check_blas(blas(op).getrf_batched(blas_, n, list(call, 0, a, bytes(each), count), n,
                                        call.result_ints(1, first * op.n), call.info(first), count),
                 0, "getrfBatched");
      break;
    case Decomposition::Reflections: {
      void* const* matrices = list(call, 0, a, bytes(each), count);
      void* const* scales = list(call, 1, call.result(1, first * op.k), bytes(op.k), count);
      check_blas(blas(op).geqrf_batched(blas_, m, n, matrices, m, scales, &info, count), info,
                 "geqrfBatched");
      check(driver_.fill_u32(reinterpret_cast<DevicePointer>(call.info(first)), 0,
                             static_cast<std::size_t>(count), stream_),
            "cuMemsetD32Async");
      break;
    }
    case Decomposition::SymmetricEigen: {
      const int type = op.dtype == DType::f64 ? kSolverF64 : kSolverF32;
      check_solver(api_.batched_eigen.syev(handle_, parameters_, kWithVectors, kUpper, n, type, pointer(a), n,
                                           type, pointer(call.result(1, first * op.n)), type, call.work(),
                                           executable.work_bytes, executable.host_work.data(),
                                           executable.host_work.size(), call.info(first), count),
                   "XsyevBatched");
      break;
    }
    case Decomposition::JacobiSvd:
      check_solver(routines(op).gesvdj_batched(
                       handle_, kWithVectors, n, n, pointer(a), n, pointer(call.result(1, first * op.n)),
                       pointer(call.result(0, first * each)), n, pointer(call.result(2, first * each)), n,
                       call.work(), executable.work_elements, call.info(first), jacobi_, count),
                   "gesvdjBatched");
      break;
    case Decomposition::SolveLower:
    case Decomposition::SolveUpper:
    case Decomposition::Qr:
    case Decomposition::Svd: break;
  }
}

}  // namespace sinter::runtime::cuda
