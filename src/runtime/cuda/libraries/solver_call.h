// What calls of cuSOLVER and cuBLAS share: the addresses of a launch, and what a status says.
#pragma once

#include <string>
#include <string_view>

#include <sinter/error.h>

#include "src/runtime/cuda/libraries/solver.h"
#include "src/runtime/cuda/memory/queues.h"

namespace sinter::runtime::cuda {

inline void check_library(int status, int no_memory, std::string_view library, const char* what) {
  if (status == 0) return;
  throw DeviceError(std::string("[cuda] ").append(library).append("'s ").append(what) +
                    " failed with status " + std::to_string(status) +
                    (status == no_memory ? ": no memory is left for the library" : ""));
}
inline void check_solver(SolverStatus status, const char* what) {
  constexpr SolverStatus kAllocationFailed = 2;
  check_library(status, kAllocationFailed, "cuSOLVER", what);
}
/// With `info` of the host, which tells of arguments.
inline void check_blas(BlasStatus status, int info, const char* what) {
  constexpr BlasStatus kAllocationFailed = 3;
  check_library(status, kAllocationFailed, "cuBLAS", what);
  if (info != 0)
    throw DeviceError(std::string("[cuda] cuBLAS's ") + what + " takes no such argument " +
                      std::to_string(-info));
}

inline int narrow(std::int64_t size) {
  return static_cast<int>(size);
}  // DecompositionKind checks that it fits

inline void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

/// The addresses of one launch.
class Solver::Call {
 public:
  Call(Solver& solver, const SolverExecutable& executable, const LaunchArguments& arguments,
       DevicePointer workspace)
      : solver_(solver),
        executable_(executable),
        op_(executable.op),
        arguments_(arguments),
        workspace_(workspace),
        element_(size_of(op_.dtype)),
        results_(arguments.buffers.size() - op_.kind().result_count()) {}

  DevicePointer operand(std::size_t k, std::int64_t element) const { return at(k, element, element_); }
  DevicePointer result(std::size_t k, std::int64_t element) const {
    return at(results_ + k, element, element_);
  }
  int* result_ints(std::size_t k, std::int64_t element) const {
    return static_cast<int*>(pointer(at(results_ + k, element, sizeof(int))));
  }
  /// Of matrix i: the last result.
  int* info(std::int64_t i) const { return result_ints(op_.kind().result_count() - 1, i); }
  int* unread_info() const { return static_cast<int*>(pointer(workspace_)); }
  /// Of a matrix, or of all that a routine takes at once.
  int* pivots() const { return static_cast<int*>(pointer(workspace_ + executable_.pivots)); }
  void* vector() const { return pointer(workspace_ + executable_.vector); }
  DevicePointer matrix() const { return workspace_ + executable_.matrix; }
  /// Of addresses, each of at most `piece`.
  DevicePointer list(int which) const {
    return workspace_ + executable_.lists +
           static_cast<DevicePointer>(which * executable_.piece) * sizeof(DevicePointer);
  }
  void* work() const { return pointer(workspace_ + executable_.work); }

  void copy(DevicePointer to, DevicePointer from, std::int64_t elements) const {
    if (elements == 0) return;
    check(solver_.driver_.copy_on_device(to, from, static_cast<std::size_t>(elements) * element_,
                                         solver_.stream_),
          "cuMemcpyDtoDAsync");
  }

 private:
  DevicePointer at(std::size_t buffer, std::int64_t element, std::size_t bytes) const {
    return address_of(arguments_.buffers[buffer]) + static_cast<DevicePointer>(element) * bytes;
  }

  Solver& solver_;
  const SolverExecutable& executable_;
  const library::DecompositionOp& op_;
  const LaunchArguments& arguments_;
  const DevicePointer workspace_;
  const std::size_t element_, results_;
};

}  // namespace sinter::runtime::cuda
