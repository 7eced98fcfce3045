// Calls of cuSOLVER for one matrix: which routine reads and writes what.
#include "src/runtime/cuda/libraries/solver.h"

#include <algorithm>

#include "src/runtime/cuda/libraries/solver_call.h"

namespace sinter::runtime::cuda {

using library::Decomposition;
using library::DecompositionOp;

Solver::Solver(const DriverApi& driver, const SolverApi& api, Context context, Stream stream)
    : driver_(driver), api_(api), context_(context), stream_(stream) {
  check_solver(api_.create(&handle_), "cusolverDnCreate");
  try {
    check_solver(api_.set_stream(handle_, stream_), "cusolverDnSetStream");
    // Without it eigenvalues are found matrix by matrix.
    if (api_.has_batched_eigen && api_.batched_eigen.create_parameters(&parameters_) != 0)
      parameters_ = nullptr;
    check_solver(api_.create_jacobi(&jacobi_), "cusolverDnCreateGesvdjInfo");
    check_solver(api_.sort_jacobi(jacobi_, 1), "cusolverDnXgesvdjSetSortEig");
  } catch (...) {
    close();
    throw;
  }
}

Solver::~Solver() { close(); }

void Solver::close() noexcept {
  if (blas_) api_.blas.destroy(blas_);
  if (parameters_) api_.batched_eigen.destroy_parameters(parameters_);
  if (jacobi_) api_.destroy_jacobi(jacobi_);
  api_.destroy(handle_);
}

std::shared_ptr<SolverExecutable> Solver::prepare(const DecompositionOp& op) {
  auto executable = std::make_shared<SolverExecutable>(*this, op);
  const std::int64_t piece = executable->piece = matrices_at_once(op);
  if (piece > 0)
    ask_for_batch(*executable);
  else
    ask_for_each(*executable);
  // An `info` that nobody reads comes first.
  constexpr std::size_t kAlignment = 256;
  const std::size_t element = size_of(op.dtype);
  std::size_t end = kAlignment;
  const auto place = [&](std::size_t& at, std::int64_t count, std::size_t each) {
    at = end;
    end += (static_cast<std::size_t>(count) * each + kAlignment - 1) / kAlignment * kAlignment;
  };
  const std::int64_t at_once = std::max<std::int64_t>(piece, 1);
  const bool copies = op.routine == Decomposition::Solve || op.routine == Decomposition::Svd ||
                      op.routine == Decomposition::JacobiSvd;
  place(executable->pivots, op.routine == Decomposition::Solve ? at_once * op.n : 0, sizeof(int));
  place(executable->vector, op.routine == Decomposition::Qr || op.routine == Decomposition::Svd ? op.n : 0,
        element);  // Qr: scales of the reflections; Svd: what did not converge
  place(executable->matrix, copies ? at_once * op.m * op.n : 0, element);
  place(executable->lists, 2 * piece, sizeof(DevicePointer));
  place(executable->work, executable->work_elements, element);
  end += executable->work_bytes;
  executable->bytes = end;
  return executable;
}

/// What a routine for one matrix needs.
void Solver::ask_for_each(SolverExecutable& executable) {
  const DecompositionOp& op = executable.op;
  const SolverRoutines& r = routines(op);
  const int m = narrow(op.m), n = narrow(op.n), k = narrow(op.k);
  int elements = 0, more = 0;
  const std::lock_guard lock(mutex_);
  switch (op.routine) {
    case Decomposition::Cholesky:
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
    case Decomposition::JacobiSvd:
      check_solver(r.gesvdj_size(handle_, kWithVectors, 1, n, n, nullptr, n, nullptr, nullptr, n, nullptr, n,
                                 &elements, jacobi_),
                   "gesvdj_bufferSize");
      break;
    case Decomposition::Reflections:  // always of a batch
    case Decomposition::SolveLower:
    case Decomposition::SolveUpper: break;
  }
  executable.work_elements = std::max(elements, more);
}

void Solver::launch(const SolverExecutable& executable, const LaunchArguments& arguments,
                    DevicePointer workspace) {
  const Call call(*this, executable, arguments, workspace);
  const std::lock_guard lock(mutex_);
  if (executable.piece == 0) return launch_each(executable, call);
  const std::int64_t batch = executable.op.batch;
  for (std::int64_t first = 0; first < batch; first += executable.piece)
    launch_batch(executable, call, first, narrow(std::min(executable.piece, batch - first)));
}

void Solver::launch_each(const SolverExecutable& executable, const Call& call) {
  const DecompositionOp& op = executable.op;
  const SolverRoutines& r = routines(op);
  const int m = narrow(op.m), n = narrow(op.n), k = narrow(op.k), elements = executable.work_elements;
  if (library::is_triangular(op.routine)) {
    for (std::int64_t i = 0; i < op.batch; ++i) solve_triangular(executable, call, i, 1);
    return;
  }
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
      case Decomposition::JacobiSvd:
        check_solver(
            r.gesvdj(handle_, kWithVectors, 1, n, n, in_workspace(), n, pointer(call.result(1, i * op.n)),
                     pointer(call.result(0, i * op.m * op.n)), n, pointer(call.result(2, i * op.n * op.n)), n,
                     call.work(), elements, call.info(i), jacobi_),
            "gesvdj");
        break;
      case Decomposition::Reflections:
      case Decomposition::SolveLower:
      case Decomposition::SolveUpper: break;
    }
  }
}

}  // namespace sinter::runtime::cuda
