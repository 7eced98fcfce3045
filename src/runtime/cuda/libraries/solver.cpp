// Calls of cuSOLVER: which routine reads and writes what.
#include "src/runtime/cuda/libraries/solver.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <sinter/error.h>

#include "src/runtime/cuda/memory/queues.h"

namespace sinter::runtime::cuda {

namespace {

using library::Decomposition;
using library::DecompositionOp;

void check_solver(SolverStatus status, const char* what) {
  constexpr SolverStatus kAllocationFailed = 2;
  if (status == 0) return;
  throw DeviceError(std::string("[cuda] cuSOLVER's ") + what + " failed with status " +
                    std::to_string(status) +
                    (status == kAllocationFailed ? ": no memory is left for the library" : ""));
}

int narrow(std::int64_t size) { return static_cast<int>(size); }  // DecompositionKind checks that it fits

void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

/// True iff one routine takes all matrices of the batch: of larger ones each keeps a device busy by itself.
bool is_of_batch(const DecompositionOp& op) {
  constexpr std::int64_t kLargest = 512;
  return op.routine == Decomposition::Cholesky && op.batch > 1 &&
         op.batch <= std::numeric_limits<int>::max() && op.n > 0 && op.n <= kLargest;
}

}  // namespace

Solver::Solver(const DriverApi& driver, const SolverApi& api, Stream stream)
    : driver_(driver), api_(api), stream_(stream) {
  check_solver(api_.create(&handle_), "cusolverDnCreate");
  const SolverStatus status = api_.set_stream(handle_, stream_);
  if (status != 0) api_.destroy(handle_);
  check_solver(status, "cusolverDnSetStream");
}

Solver::~Solver() { api_.destroy(handle_); }

std::shared_ptr<SolverExecutable> Solver::prepare(const DecompositionOp& op) {
  auto executable = std::make_shared<SolverExecutable>(*this, op);
  const SolverRoutines& r = op.dtype == DType::f64 ? api_.f64 : api_.f32;
  const int m = narrow(op.m), n = narrow(op.n), k = narrow(op.k);
  int elements = 0, more = 0;
  {
    const std::lock_guard lock(mutex_);
    switch (op.routine) {
      case Decomposition::Cholesky:
        if (is_of_batch(op)) break;
        check_solver(r.potrf_size(handle_, kUpper, n, nullptr, std::max(n, 1), &elements), "potrf");
        break;
      case Decomposition::Solve:
      case Decomposition::Lu:
        check_solver(r.getrf_size(handle_, m, n, nullptr, std::max(m, 1), &elements), "getrf");
        break;
      case Decomposition::Qr:
        check_solver(r.geqrf_size(handle_, m, n, nullptr, std::max(m, 1), &elements), "geqrf");
        check_solver(r.orgqr_size(handle_, m, k, k, nullptr, std::max(m, 1), nullptr, &more), "orgqr");
        break;
      case Decomposition::SymmetricEigen:
        check_solver(
            r.syevd_size(handle_, kWithVectors, kUpper, n, nullptr, std::max(n, 1), nullptr, &elements),
            "syevd");
        break;
      case Decomposition::Svd: check_solver(r.gesvd_size(handle_, m, n, &elements), "gesvd"); break;
    }
  }
  executable->work_elements = std::max(elements, more);
  // An `info` that nobody reads comes first.
  constexpr std::size_t kAlignment = 256;
  const std::size_t element = size_of(op.dtype);
  std::size_t end = kAlignment;
  const auto place = [&](std::size_t& at, std::int64_t count, std::size_t each) {
    at = end;
    end += (static_cast<std::size_t>(count) * each + kAlignment - 1) / kAlignment * kAlignment;
  };
  const bool copies = op.routine == Decomposition::Solve || op.routine == Decomposition::Svd;
  place(executable->pivots, op.routine == Decomposition::Solve ? op.n : 0, sizeof(int));
  place(executable->vector, op.routine == Decomposition::Qr || op.routine == Decomposition::Svd ? op.n : 0,
        element);  // Qr: scales of the reflections; Svd: what did not converge
  place(executable->matrix, copies ? op.m * op.n : 0, element);
  place(executable->list, is_of_batch(op) ? op.batch : 0, sizeof(void*));
  place(executable->work, executable->work_elements, element);
  executable->bytes = end;
  return executable;
}

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
  int* pivots() const { return static_cast<int*>(pointer(workspace_ + executable_.pivots)); }
  void* vector() const { return pointer(workspace_ + executable_.vector); }
  DevicePointer matrix() const { return workspace_ + executable_.matrix; }
  DevicePointer list() const { return workspace_ + executable_.list; }
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
  const DecompositionOp& op_;
  const LaunchArguments& arguments_;
  const DevicePointer workspace_;
  const std::size_t element_, results_;
};

void Solver::launch(const SolverExecutable& executable, const LaunchArguments& arguments,
                    DevicePointer workspace) {
  const DecompositionOp& op = executable.op;
  const SolverRoutines& r = op.dtype == DType::f64 ? api_.f64 : api_.f32;
  const Call call(*this, executable, arguments, workspace);
  const int m = narrow(op.m), n = narrow(op.n), k = narrow(op.k), elements = executable.work_elements;
  const std::lock_guard lock(mutex_);
  if (is_of_batch(op)) return launch_batch(op, call);
  for (std::int64_t i = 0; i < op.batch; ++i) {
    const DevicePointer a = call.operand(0, i * op.m * op.n);
    // Routines work in place: on the first result, or on a copy in the workspace.
    const auto in_result = [&] {
      const DevicePointer to = call.result(0, i * op.m * op.n);
      call.copy(to, a, op.m * op.n);
      return pointer(to);
    };
    const auto in_workspace = [&] {
      call.copy(call.matrix(), a, op.m * op.n);
      return pointer(call.matrix());
    };
    switch (op.routine) {
      case Decomposition::Cholesky:
        // The lower triangle by rows is the upper one by columns, and so is L: A = U^T U with U = L^T.
        check_solver(r.potrf(handle_, kUpper, n, in_result(), n, call.work(), elements, call.info(i)),
                     "potrf");
        break;
      case Decomposition::Solve: {
        // By columns `a` is A^T, so that the transposed system is the one that was asked for.
        void* factors = in_workspace();
        const DevicePointer x = call.result(0, i * op.n * op.k);
        call.copy(x, call.operand(1, i * op.n * op.k), op.n * op.k);
        check_solver(r.getrf(handle_, n, n, factors, n, call.work(), call.pivots(), call.info(i)), "getrf");
        check_solver(
            r.getrs(handle_, kTransposed, n, k, factors, n, call.pivots(), pointer(x), n, call.unread_info()),
            "getrs");
        break;
      }
      case Decomposition::Lu:
        check_solver(
            r.getrf(handle_, n, n, in_result(), n, call.work(), call.result_ints(1, i * op.n), call.info(i)),
            "getrf");
        break;
      case Decomposition::Qr: {
        void* factors = in_result();
        check_solver(r.geqrf(handle_, m, n, factors, m, call.vector(), call.work(), elements, call.info(i)),
                     "geqrf");
        const DevicePointer q = call.result(1, i * op.m * op.k);  // the first k columns
        call.copy(q, call.result(0, i * op.m * op.n), op.m * op.k);
        check_solver(r.orgqr(handle_, m, k, k, pointer(q), m, call.vector(), call.work(), elements,
                             call.unread_info()),
                     "orgqr");
        break;
      }
      case Decomposition::SymmetricEigen:
        check_solver(r.syevd(handle_, kWithVectors, kUpper, n, in_result(), n,
                             pointer(call.result(1, i * op.n)), call.work(), elements, call.info(i)),
                     "syevd");
        break;
      case Decomposition::Svd:
        check_solver(
            r.gesvd(handle_, kThin, kThin, m, n, in_workspace(), m, pointer(call.result(1, i * op.n)),
                    pointer(call.result(0, i * op.m * op.n)), m, pointer(call.result(2, i * op.n * op.n)), n,
                    call.work(), elements, call.vector(), call.info(i)),
            "gesvd");
        break;
    }
  }
}

/// In place, on the result.
void Solver::launch_batch(const DecompositionOp& op, const Call& call) {
  const SolverRoutines& r = op.dtype == DType::f64 ? api_.f64 : api_.f32;
  const std::int64_t each = op.n * op.n;
  call.copy(call.result(0, 0), call.operand(0, 0), op.batch * each);
  // Of memory that is not pinned the driver takes up to 64 KiB before it returns.
  constexpr std::int64_t kAtOnce = 65536 / sizeof(DevicePointer);
  std::vector<DevicePointer> matrices;
  for (std::int64_t first = 0; first < op.batch; first += kAtOnce) {
    matrices.clear();
    for (std::int64_t i = first; i < std::min(first + kAtOnce, op.batch); ++i)
      matrices.push_back(call.result(0, i * each));
    check(driver_.copy_to_device(call.list() + static_cast<DevicePointer>(first) * sizeof(DevicePointer),
                                 matrices.data(), matrices.size() * sizeof matrices[0], stream_),
          "cuMemcpyHtoDAsync");
  }
  check_solver(r.potrf_batched(handle_, kUpper, narrow(op.n), static_cast<void**>(pointer(call.list())),
                               narrow(op.n), call.info(0), narrow(op.batch)),
               "potrfBatched");
}

}  // namespace sinter::runtime::cuda
