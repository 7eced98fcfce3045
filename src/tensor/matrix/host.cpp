#include "src/tensor/matrix/host.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/runtime/host/matrices/decompose.h"
#include "src/runtime/host/threads/floating_point.h"
#include "src/runtime/host/threads/thread_pool.h"
#include "src/trace/recorder.h"
#include "src/trace/value.h"

namespace sinter::tensor {

namespace {

using runtime::ThreadPool;
using runtime::host::Refusal;
namespace host = runtime::host;

struct Size {
  std::int64_t rows, columns;
};

/// Of each result of one matrix.
std::vector<Size> sizes_of_results(MatrixFunction function, const std::vector<HostMatrices>& operands) {
  const std::int64_t m = operands[0].rows(), n = operands[0].columns(), k = std::min(m, n);
  switch (function) {
    case MatrixFunction::Cholesky:
    case MatrixFunction::Inverse: return {{n, n}};
    case MatrixFunction::Solve:
    case MatrixFunction::SolveLower:
    case MatrixFunction::SolveUpper: return {{operands[1].rows(), operands[1].columns()}};
    case MatrixFunction::Determinant: return {{1, 1}, {1, 1}, {1, 1}};
    case MatrixFunction::Lu: return {{n, n}, {n, n}, {n, n}};
    case MatrixFunction::Qr: return {{m, k}, {k, n}};
    case MatrixFunction::Svd: return {{m, k}, {k, 1}, {k, n}};
    case MatrixFunction::SymmetricEigen: return {{n, 1}, {n, n}};
    case MatrixFunction::Eigen: return {{n, 1}, {n, 1}, {n, n}, {n, n}};
  }
  return {};
}

/// In f64: its reflections and iterations are those of another library, of which one instance is enough.
template <class T>
Refusal general_eigen_of(std::int64_t n, const T* a, T* const (&out)[4]) {
  const std::size_t count = static_cast<std::size_t>(n), square = count * count;
  const std::vector<double> wide(a, a + square);
  std::vector<double> results(2 * (count + square));
  double *const real = results.data(), *const imaginary = real + n;
  double *const real_vectors = imaginary + n, *const imaginary_vectors = real_vectors + square;
  if (const Refusal refusal = general_eigen(n, wide.data(), real, imaginary, real_vectors, imaginary_vectors))
    return refusal;
  std::copy_n(real, count, out[0]);
  std::copy_n(imaginary, count, out[1]);
  std::copy_n(real_vectors, square, out[2]);
  std::copy_n(imaginary_vectors, square, out[3]);
  return nullptr;
}

/// Matrix i of each operand to that of each result.
template <class T>
Refusal compute_one(MatrixFunction function, ThreadPool& pool, std::int64_t i,
                    const std::vector<HostMatrices>& operands, const std::vector<HostMatrices>& results) {
  const std::int64_t m = operands[0].rows(), n = operands[0].columns();
  const T* const a = operands[0].matrix<T>(i);
  const T* const b = operands.size() > 1 ? operands[1].matrix<T>(i) : nullptr;
  const std::int64_t columns = operands.size() > 1 ? operands[1].columns() : 0;
  const auto out = [&](std::size_t r) { return results[r].matrix<T>(i); };
  switch (function) {
    case MatrixFunction::Cholesky: return host::cholesky(pool, n, a, out(0));
    case MatrixFunction::Solve: return host::solve(pool, n, columns, a, b, out(0));
    case MatrixFunction::SolveLower: return host::solve_triangular(pool, false, n, columns, a, b, out(0));
    case MatrixFunction::SolveUpper: return host::solve_triangular(pool, true, n, columns, a, b, out(0));
    case MatrixFunction::Inverse: return host::inverse(pool, n, a, out(0));
    case MatrixFunction::Determinant: host::determinant(pool, n, a, out(0), out(1), out(2)); break;
    case MatrixFunction::Lu: host::lu(pool, n, a, out(0), out(1), out(2)); break;
    case MatrixFunction::Qr: host::qr(pool, m, n, a, out(0), out(1)); break;
    case MatrixFunction::Svd: return host::svd(pool, m, n, a, out(0), out(1), out(2));
    case MatrixFunction::SymmetricEigen: return host::symmetric_eigen(pool, n, a, out(0), out(1));
    case MatrixFunction::Eigen: return general_eigen_of<T>(n, a, {out(0), out(1), out(2), out(3)});
  }
  return nullptr;
}

/// The determinant of nothing is 1; other results of empty matrices are empty.
template <class T>
void fill_of_nothing(std::int64_t count, const std::vector<HostMatrices>& results) {
  for (std::size_t r = 0; r < results.size(); ++r)
    std::fill_n(results[r].matrix<T>(0), count * results[r].size(), r == 1 ? T{0} : T{1});
}

template <class T>
void compute_all(MatrixFunction function, std::string_view name, const std::vector<HostMatrices>& operands,
                 const std::vector<HostMatrices>& results, const Location& where) {
  const std::int64_t count = operands[0].batch().numel(), m = operands[0].rows(), n = operands[0].columns();
  if (m * n == 0) return fill_of_nothing<T>(count, results);
  // Pieces of small matrices have several: waking a thread takes as long as some of them.
  constexpr std::int64_t kWork = 1 << 14;
  const std::int64_t together = std::max<std::int64_t>(1, kWork / (m * n * std::min(m, n)));
  const std::int64_t pieces = (count + together - 1) / together;
  ThreadPool& pool = *Device::host().core().threads();
  std::vector<Refusal> refusals(static_cast<std::size_t>(count));
  pool.run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t) {
    const runtime::DefaultFloatingPoint control;
    const std::int64_t first = static_cast<std::int64_t>(piece) * together;
    for (std::int64_t i = first; i < std::min(count, first + together); ++i)
      refusals[static_cast<std::size_t>(i)] = compute_one<T>(function, pool, i, operands, results);
  });
  const auto refused = std::find_if(refusals.begin(), refusals.end(), [](Refusal r) { return r != nullptr; });
  if (refused == refusals.end()) return;
  const std::string which =
      count > 1 ? "matrix " + std::to_string(refused - refusals.begin()) + " of the batch " : "the matrix ";
  throw Error("[" + std::string(name) + "] " + which + *refused, where);
}

}  // namespace

HostMatrices::HostMatrices(runtime::DeviceCore& device, const Shape& batch, std::int64_t rows,
                           std::int64_t columns, DType dtype)
    : batch_(batch), rows_(rows), columns_(columns), dtype_(dtype) {
  const std::size_t count = bytes().size();
  if (device.name() == "host") {
    auto [buffer, data] = device.allocate_host_memory(count);
    buffer_ = std::move(buffer);
    elements_ = data;
  }
  if (buffer_ != nullptr) return;
  own_ = std::make_unique_for_overwrite<std::byte[]>(count);
  elements_ = own_.get();
}

std::span<std::byte> HostMatrices::bytes() const {
  return {elements_, static_cast<std::size_t>(batch_.numel() * size()) * size_of(dtype_)};
}

HostMatrices read_matrices(const AnyTensor& x, const Location& where) {
  const Shape& shape = x.shape();
  const std::size_t rank = shape.rank();
  HostMatrices matrices(*x.value()->device, Shape(Dims(std::span(shape.begin(), rank - 2))), shape[rank - 2],
                        shape[rank - 1], x.dtype());
  x.read_bytes(matrices.bytes(), where);
  return matrices;
}

AnyTensor upload(HostMatrices matrices, bool as_vectors, const Device& device, const Location& where) {
  Shape shape = matrices.batch_;
  shape.push_back(matrices.rows_);
  if (!as_vectors) shape.push_back(matrices.columns_);
  if (matrices.buffer_ == nullptr)
    return AnyTensor::from_bytes(matrices.bytes(), shape, matrices.dtype_, device, where);
  return AnyTensor(
      trace::make_materialised(device.core(), shape, matrices.dtype_, std::move(matrices.buffer_)), nullptr,
      device.is_autodiff());
}

std::vector<HostMatrices> compute(MatrixFunction function, std::string_view name,
                                  const std::vector<HostMatrices>& operands, runtime::DeviceCore& device,
                                  const Location& where) {
  if (function == MatrixFunction::Eigen && !has_general_eigen())
    throw Error("[" + std::string(name) + "] this Sinter was built without Eigen, which finds eigenvalues",
                where);
  const DType dtype = operands[0].dtype();
  std::vector<HostMatrices> results;
  for (const Size& size : sizes_of_results(function, operands))
    results.emplace_back(device, operands[0].batch(), size.rows, size.columns, dtype);
  if (dtype == DType::f64)
    compute_all<double>(function, name, operands, results, where);
  else
    compute_all<float>(function, name, operands, results, where);
  return results;
}

}  // namespace sinter::tensor
