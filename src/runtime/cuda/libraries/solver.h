// Decompositions on one GPU by cuSOLVER.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

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
  std::size_t held_bytes() const override { return sizeof *this; }

  Solver& solver;
  const library::DecompositionOp op;
  std::size_t pivots = 0, vector = 0, matrix = 0, list = 0, work = 0, bytes = 0;
  int work_elements = 0;
};

/// cuSOLVER's handle of a device. Its routines run on the device's stream, one after the other as its kernels
/// do. No CUDA graph holds them: how they choose their kernels is the library's own affair.
class Solver {
 public:
  /// The context must be current. Throws DeviceError where cuSOLVER does not start.
  Solver(const DriverApi& driver, const SolverApi& api, Stream stream);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Asks cuSOLVER how much workspace the sizes need. From any thread; the context must be current.
  std::shared_ptr<SolverExecutable> prepare(const library::DecompositionOp& op);

  /// Starts the routines for all matrices of the batch, one after the other but where one routine takes all
  /// of them. The context must be current.
  void launch(const SolverExecutable& executable, const LaunchArguments& arguments, DevicePointer workspace);

 private:
  class Call;
  void launch_batch(const library::DecompositionOp& op, const Call& call);

  const DriverApi& driver_;
  const SolverApi& api_;
  const Stream stream_;
  std::mutex mutex_;  // a handle serves one thread at a time
  SolverHandle handle_ = nullptr;
};

}  // namespace sinter::runtime::cuda
