// Records the routines of jit/library/decomposition.h, whose matrices lie by columns, and what makes of their
// results those that functions give.
#include "src/tensor/matrix/device.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include <sinter/autocast.h>
#include <sinter/functions/creation.h>
#include <sinter/functions/linalg.h>
#include <sinter/precision.h>

#include "jit/library/decomposition.h"
#include "src/runtime/device_core.h"
#include "src/tensor/apply.h"
#include "src/trace/value.h"

namespace sinter::tensor {

namespace {

using A = AnyTensor;
using Tensors = std::vector<AnyTensor>;
using library::Decomposition;

A t(const A& x) { return x.transpose(-2, -1); }
std::int64_t rows_of(const A& x) { return x.shape()[x.rank() - 2]; }

std::optional<Decomposition> routine_of(MatrixFunction function) {
  switch (function) {
    case MatrixFunction::Cholesky: return Decomposition::Cholesky;
    case MatrixFunction::Solve:
    case MatrixFunction::SolveLower:
    case MatrixFunction::SolveUpper:
    case MatrixFunction::Inverse: return Decomposition::Solve;
    case MatrixFunction::Determinant:
    case MatrixFunction::Lu: return Decomposition::Lu;
    case MatrixFunction::Qr: return Decomposition::Qr;
    case MatrixFunction::Svd: return Decomposition::Svd;
    case MatrixFunction::SymmetricEigen: return Decomposition::SymmetricEigen;
    case MatrixFunction::Eigen: break;
  }
  return std::nullopt;
}

/// The numbers of one i32 for each element of a tensor, read.
std::vector<std::int32_t> read_ints(const A& x, const Location& where) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)), where);
  return values;
}

/// The results of a routine, the last of which is `info`.
Tensors call(Decomposition routine, std::initializer_list<A> operands, const Location& where) {
  const library::Kind& kind = library::decomposition(routine);
  const std::vector<Operand> given(operands.begin(), operands.end());
  Tensors results(kind.result_count());
  apply_library(kind, given, {}, results, where);
  return results;
}

bool computes(const A& a, Decomposition routine) {
  return a.value()->device->computes(library::decomposition(routine));
}

class OnDevice {
 public:
  OnDevice(Decomposition routine, std::string_view name, const Location& where)
      : routine_(routine), name_(name), where_(where) {}

  Tensors call(std::initializer_list<A> operands) const { return tensor::call(routine_, operands, where_); }

  /// Reads `info`.
  void check(const A& info, const char* refused) const {
    const std::vector<std::int32_t> numbers = read_ints(info, where_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == 0) continue;
      const std::string which = name_of_matrix(i, numbers.size());
      if (numbers[i] < 0)
        throw Error("[" + name_ + "] the device's library takes no such argument " +
                        std::to_string(-numbers[i]) + " for " + which,
                    where_);
      throw Error("[" + name_ + "] " + which + refused, where_);
    }
  }

  /// Throws Error where a matrix is not finite, which `info` need not say.
  void check_finite(const A& a) const {
    const A finite = a.is_finite(where_).all({-2, -1}, where_);
    std::vector<std::uint8_t> flags(static_cast<std::size_t>(finite.numel()));
    finite.read_bytes(std::as_writable_bytes(std::span(flags)), where_);
    for (std::size_t i = 0; i < flags.size(); ++i)
      if (!flags[i])
        throw Error(
            "[" + name_ + "] " + name_of_matrix(i, flags.size()) + "has elements that are NaN or infinite",
            where_);
  }

  A unit_like(const A& x) const {
    return eye(rows_of(x), rows_of(x), x.dtype(), x.device(), where_).expand(x.shape(), where_);
  }

  A solve(const A& a, const A& transposed_b) const {
    const Tensors r = call({a, transposed_b});
    check(r[1], "is singular");
    return t(r[0]);
  }

  /// Refuses zeros on the diagonal, as other devices do.
  A solve_triangular(const A& a, const A& b, bool upper) const {
    const Decomposition routine = upper ? Decomposition::SolveUpper : Decomposition::SolveLower;
    // By the routine for any matrix, of which the other triangle is zeros.
    if (!computes(a, routine)) return solve(upper ? a.triu(0, where_) : a.tril(0, where_), t(b));
    const Tensors r = tensor::call(routine, {a, b}, where_);
    const A zeros = A::equal(diagonal(a, 0, where_), 0.0, where_).any({-1}, drop, where_);
    // With `info`, which makes one run of both.
    check(A::where(zeros, 1, r[1], where_), "is singular");
    return r[0];
  }

  /// P of rows that were swapped one after the other, i with pivots[i] - 1.
  A permutation(const A& pivots, DType dtype) const {
    const std::vector<std::int32_t> swaps = read_ints(pivots, where_);
    const std::int64_t n = pivots.shape().back();
    std::vector<std::int64_t> rows(swaps.size());
    for (std::size_t first = 0; first < swaps.size(); first += static_cast<std::size_t>(n)) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      for (std::size_t i = 0; i < order.size(); ++i)
        std::swap(order[i], order[static_cast<std::size_t>(swaps[first + i] - 1)]);
      // Row i of P^T A is row order[i] of A.
      std::copy(order.begin(), order.end(), rows.begin() + static_cast<std::ptrdiff_t>(first));
    }
    const A order =
        A::from_bytes(std::as_bytes(std::span(rows)), pivots.shape(), DType::i64, pivots.device(), where_);
    return t(order.one_hot(n, where_)).cast(dtype, where_);
  }

  /// Sign, logarithm of the magnitude and determinant, each [.., 1, 1], of A = P L U.
  Tensors determinant(const A& factors, const A& pivots) const {
    const std::int64_t n = rows_of(factors);
    const A u = diagonal(factors, 0, where_);
    const A in_place = arange(1, static_cast<double>(n) + 1, 1, DType::i32, factors.device(), where_);
    const A swaps = A::not_equal(pivots, in_place, where_).cast(DType::i32, where_).sum(-1, where_);
    const A parity =
        A::sub(1, A::mul(A::remainder(swaps, 2, where_), 2, where_), where_).cast(factors.dtype(), where_);
    const auto whole = [&](const A& x) { return x.unsqueeze(-1, where_); };
    return {whole(u.sign(where_).prod(-1, where_) * parity), whole(u.abs(where_).log(where_).sum(-1, where_)),
            whole(u.prod(-1, where_) * parity)};
  }

 private:
  static std::string name_of_matrix(std::size_t i, std::size_t count) {
    return count > 1 ? "matrix " + std::to_string(i) + " of the batch " : "the matrix ";
  }

  const Decomposition routine_;
  const std::string name_;
  const Location& where_;
};

std::int64_t batch_of(const A& a) { return a.numel() / (rows_of(a) * a.shape().back()); }

/// Q [.., m, k] and R [.., k, n] of a batch. Q = H_1 .. H_k with H_i = I - 2 v_i v_i^T / v_i^T v_i is
/// I - V T V^T, of which T^-1 is the upper triangle of V^T V with half of its diagonal (Joffrain, Low,
/// Quintana-Orti, van de Geijn, Van Zee, "Accumulating Householder transformations, revisited", 2006), so
/// that Q is orthonormal whatever V is: cuBLAS's own scales are not exact for columns whose squares
/// underflow, as those of matrices of low rank. cuSOLVER has no orgqr for batches.
Tensors qr_of_batch(const A& a, const Location& where) {
  const Autocast wide(std::nullopt);
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  const Tensors r = call(Decomposition::Reflections, {t(a)}, where);
  const A factors = t(r[0]), &scales = r[1];
  const std::int64_t m = rows_of(a), k = scales.shape().back();
  const A unit = eye(m, k, a.dtype(), a.device(), where);
  // A scale of 0 stands for no reflection.
  const A none = A::equal(scales, 0.0, where);
  const A v = A::where(none.unsqueeze(-2, where), 0.0,
                       A::add(factors.narrow(-1, 0, k, where).tril(-1, where), unit, where), where);
  const A half = A::mul(A::mul(v, v, where).sum({-2}, drop, where), 0.5, where);
  const A diagonal = A::where(none, 1.0, half, where);
  const A inverse = A::add(t(v).matmul(v, where).triu(1, where), diag_embed(diagonal, 0, where), where);
  const A solved = call(Decomposition::SolveUpper, {inverse, t(v.narrow(-2, 0, k, where))}, where)[0];
  return {A::sub(unit, v.matmul(solved, where), where), factors.narrow(-2, 0, k, where).triu(0, where)};
}

/// Q and R.
Tensors qr_of_any(const A& a, const Location& where) {
  // geqrfBatched is faster for such matrices, as PyTorch's geqrf_kernel found
  // (https://github.com/pytorch/pytorch/pull/56253).
  constexpr std::int64_t kMostRows = 256, kRowsOfOne = 16;
  const std::int64_t m = rows_of(a);
  if (m <= kMostRows && batch_of(a) >= std::max<std::int64_t>(2, m / kRowsOfOne) &&
      computes(a, Decomposition::Reflections))
    return qr_of_batch(a, where);
  const Tensors r = call(Decomposition::Qr, {t(a)}, where);
  return {t(r[1]), t(r[0]).narrow(-2, 0, std::min(m, a.shape().back()), where).triu(0, where)};
}

/// Q and R. The largest element of each matrix is made 1, so that squares of its columns do not underflow.
Tensors qr(const A& a, const Location& where) {
  const Autocast wide(std::nullopt);
  const A largest = a.abs(where).max({-2, -1}, where);
  const A is_size = A::logical_and(A::less(0.0, largest, where), largest.is_finite(where), where);
  const A size = A::where(is_size, largest, 1.0, where);
  const Tensors r = qr_of_any(A::div(a, size, where), where);
  return {r[0], A::mul(r[1], size, where)};
}

/// U, s and V of square matrices [batch, n, n], one by one.
Tensors svd_of_each(const A& a, const OnDevice& device, const Location& where) {
  const Tensors r = call(Decomposition::Svd, {t(a)}, where);
  device.check(r[3], "has singular values that were not found");
  return {t(r[0]), r[1], r[2]};
}

/// The places of those matrices [batch, n, n] that U diag(s) V^T is not, or whose U or V is not orthonormal,
/// but for rounding. gesvdjBatched gives such factors of matrices of low rank, with an info of 0.
std::vector<std::int64_t> wrong_factors(const A& a, const Tensors& factors, const A& info,
                                        const Location& where) {
  const A &u = factors[0], &s = factors[1], &v = factors[2];
  const std::int64_t n = a.shape().back();
  // Rounding is some last places for each of n terms. A bound that is too low only costs time.
  const double most = static_cast<double>(8 * n + 32) * (a.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23);
  const A unit = eye(n, n, a.dtype(), a.device(), where);
  const auto largest = [&](const A& x) { return x.abs(where).max({-2, -1}, drop, where); };
  const auto orthonormal = [&](const A& x) {
    return A::less_equal(largest(A::sub(t(x).matmul(x, where), unit, where)), most, where);
  };
  const A scaled = A::mul(u, s.unsqueeze(-2, where), where);
  const A residue = largest(A::sub(scaled.matmul(t(v), where), a, where));
  const A is_product = A::less_equal(residue, A::mul(s.select(-1, 0, where), most, where), where);
  const A right = A::logical_and(A::logical_and(orthonormal(u), orthonormal(v), where),
                                 A::logical_and(is_product, A::equal(info, 0, where), where), where);
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(right.numel()));
  right.read_bytes(std::as_writable_bytes(std::span(flags)), where);
  std::vector<std::int64_t> wrong;
  for (std::size_t i = 0; i < flags.size(); ++i)
    if (!flags[i]) wrong.push_back(static_cast<std::int64_t>(i));
  return wrong;
}

/// U, s and V of square matrices by Jacobi's iterations, and by another routine of those which they fail on.
Tensors svd_by_jacobi(const A& batch, const OnDevice& device, const Location& where) {
  const std::int64_t n = batch.shape().back(), count = batch_of(batch);
  const A a = batch.reshape({count, n, n}, where);
  const Tensors r = call(Decomposition::JacobiSvd, {t(a)}, where);
  Tensors factors = {t(r[0]), r[1], t(r[2])};
  const std::vector<std::int64_t> wrong = wrong_factors(a, factors, r[3], where);
  if (!wrong.empty()) {
    const auto positions = [&](const std::vector<std::int64_t>& x) {
      return A::from_bytes(std::as_bytes(std::span(x)), {static_cast<std::int64_t>(x.size())}, DType::i64,
                           a.device(), where);
    };
    const Tensors others = svd_of_each(a.index_select(0, positions(wrong), where), device, where);
    // Of the factors of all, and behind them those others.
    std::vector<std::int64_t> from(static_cast<std::size_t>(count));
    std::iota(from.begin(), from.end(), std::int64_t{0});
    for (std::size_t i = 0; i < wrong.size(); ++i)
      from[static_cast<std::size_t>(wrong[i])] = count + static_cast<std::int64_t>(i);
    for (std::size_t f = 0; f < factors.size(); ++f)
      factors[f] =
          A::cat(std::vector{factors[f], others[f]}, 0, where).index_select(0, positions(from), where);
  }
  Shape of_vectors = batch.shape();
  of_vectors.erase(of_vectors.rank() - 1);
  return {factors[0].reshape(batch.shape(), where), factors[1].reshape(of_vectors, where),
          factors[2].reshape(batch.shape(), where)};
}

/// U, s and V of matrices that are as high as wide, or higher; nothing of those that are better decomposed by
/// bidiagonalisation: large ones, and a small one alone.
std::optional<Tensors> quick_svd(const A& a, const OnDevice& device, const Location& where) {
  constexpr std::int64_t kMostTogether = 32, kMost = 1024;
  const std::int64_t n = a.shape().back();
  if ((batch_of(a) < 2 && n <= kMostTogether) || n > kMost || !computes(a, Decomposition::JacobiSvd))
    return std::nullopt;
  const Autocast wide(std::nullopt);
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  if (rows_of(a) == a.shape().back()) return svd_by_jacobi(a, device, where);
  const Tensors factors = qr(a, where);
  Tensors r = svd_by_jacobi(factors[1], device, where);
  r[0] = factors[0].matmul(r[0], where);
  return r;
}

}  // namespace

std::optional<std::vector<AnyTensor>> compute_on_device(MatrixFunction function, std::string_view name,
                                                        const std::vector<AnyTensor>& operands,
                                                        const Location& where) {
  const std::optional<Decomposition> routine = routine_of(function);
  const A a = operands[0].inner();
  if (!routine || a.numel() == 0 || (operands.size() > 1 && operands[1].numel() == 0)) return std::nullopt;
  if (!computes(a, *routine)) return std::nullopt;
  for (const A& operand : operands)
    if (rows_of(operand) > std::numeric_limits<std::int32_t>::max() / operand.shape().back())
      return std::nullopt;

  const OnDevice device(*routine, name, where);
  switch (function) {
    case MatrixFunction::Cholesky: {
      const Tensors r = device.call({a});
      device.check(r[1], "is not positive definite");
      return Tensors{r[0].tril(0, where)};
    }
    case MatrixFunction::Solve: return Tensors{device.solve(a, t(operands[1].inner()))};
    case MatrixFunction::SolveLower:
    case MatrixFunction::SolveUpper:
      return Tensors{device.solve_triangular(a, operands[1].inner(), function == MatrixFunction::SolveUpper)};
    case MatrixFunction::Inverse: return Tensors{device.solve(a, device.unit_like(a))};
    case MatrixFunction::Determinant: {
      const Tensors r = device.call({t(a)});
      return device.determinant(t(r[0]), r[1]);
    }
    case MatrixFunction::Lu: {
      const Tensors r = device.call({t(a)});
      const A factors = t(r[0]);
      return Tensors{device.permutation(r[1], a.dtype()), factors.tril(-1, where) + device.unit_like(a),
                     factors.triu(0, where)};
    }
    case MatrixFunction::Qr: return qr(a, where);
    case MatrixFunction::Svd: {
      // The routine wants at least as many rows as columns: else it is given A^T = U S V^T, and A = V S U^T.
      device.check_finite(a);
      const bool wide = rows_of(a) < a.shape().back();
      if (const auto r = quick_svd(wide ? t(a) : a, device, where))
        return wide ? Tensors{(*r)[2], (*r)[1], t((*r)[0])} : Tensors{(*r)[0], (*r)[1], t((*r)[2])};
      const Tensors r = device.call({wide ? a : t(a)});
      device.check(r[3], "has singular values that were not found");
      return wide ? Tensors{r[2], r[1], r[0]} : Tensors{t(r[0]), r[1], t(r[2])};
    }
    case MatrixFunction::SymmetricEigen: {
      const Tensors r = device.call({a});
      device.check(r[2], "has eigenvalues that were not found");
      return Tensors{r[1], t(r[0])};
    }
    case MatrixFunction::Eigen: break;
  }
  return std::nullopt;
}

std::string why_on_host(MatrixFunction function, const runtime::DeviceCore& device) {
  if (!device.name().starts_with("cuda")) return ", the device has no routines for it";
  if (!device.computes(library::decomposition(Decomposition::Solve)))
    return ", since cuSOLVER is missing or does not start (libcusolver.so.12 or .11)";
  return routine_of(function) ? ", where they have 2^31 elements or more"
                              : " by eig, which cuSOLVER does not have";
}

}  // namespace sinter::tensor
