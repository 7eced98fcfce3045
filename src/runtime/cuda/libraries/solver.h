// Decompositions on one GPU by cuSOLVER, and by cuBLAS for batches of small matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "jit/library/decomposition.h"
#include "src/runtime/backend.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/executables.h"
#include "src/runtime/cuda/libraries/solver_api.h"

namespace sinter::runtime::cuda {

class Solver;

/// A decomposition with its sizes, and where in the workspace of a launch its parts begin, in bytes.
struct SolverExecutable final : CudaExecutable {
  SolverExecutable(Solver& solver, const library::DecompositionOp& op)
      : CudaExecutable(Kind::Solver), solver(solver), op(op) {}
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override { return bytes; }
  std::size_t held_bytes() const override { return sizeof *this + host_work.size(); }

  Solver& solver;
  const library::DecompositionOp op;
  std::int64_t piece = 0;  // how many matrices a routine for batches takes at once; 0: none does
  std::size_t pivots = 0, vector = 0, matrix = 0, lists = 0, work = 0, bytes = 0;
  int work_elements = 0;
  std::size_t work_bytes = 0;
  mutable std::vector<std::byte> host_work;  // for one launch at a time, as the handles are
};

/// Handles of cuSOLVER and cuBLAS of a device. Their routines run on the device's stream, one after the other
/// as its kernels do. No CUDA graph holds them: how they choose their kernels is the libraries' own affair.
class Solver {
 public:
  /// The context must be current. Throws DeviceError where cuSOLVER does not start.
  Solver(const DriverApi& driver, const SolverApi& api, Context context, Stream stream);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// False of routines that the installed libraries do not have.
  bool has(const library::Kind& kind);

  /// Asks the library how much workspace the sizes need. From any thread; the context must be current.
  std::shared_ptr<SolverExecutable> prepare(const library::DecompositionOp& op);

  /// Starts the routines for all matrices of the batch, one after the other but where one routine takes many
  /// of them. The context must be current.
  void launch(const SolverExecutable& executable, const LaunchArguments& arguments, DevicePointer workspace);

 private:
  class Call;
  void close() noexcept;
  bool has_blas();
  std::int64_t matrices_at_once(const library::DecompositionOp& op);
  void ask_for_each(SolverExecutable& executable);
  void ask_for_batch(SolverExecutable& executable);
  void launch_each(const SolverExecutable& executable, const Call& call);
  void launch_batch(const SolverExecutable& executable, const Call& call, std::int64_t first, int count);
  void solve_triangular(const SolverExecutable& executable, const Call& call, std::int64_t first, int count);
  void* const* list(const Call& call, int which, DevicePointer first, std::size_t bytes, int count);
  const BlasRoutines& blas(const library::DecompositionOp& op) const {
    return op.dtype == DType::f64 ? api_.blas.f64 : api_.blas.f32;
  }
  const SolverRoutines& routines(const library::DecompositionOp& op) const {
    return op.dtype == DType::f64 ? api_.f64 : api_.f32;
  }

  const DriverApi& driver_;
  const SolverApi& api_;
  const Context context_;
  const Stream stream_;
  std::mutex mutex_;  // a handle serves one thread at a time
  SolverHandle handle_ = nullptr;
  SolverParameters parameters_ = nullptr;  // null: eigenvalues matrix by matrix
  JacobiOptions jacobi_ = nullptr;
  bool blas_asked_ = false;
  BlasHandle blas_ = nullptr;  // null: without cuBLAS
};

}  // namespace sinter::runtime::cuda
