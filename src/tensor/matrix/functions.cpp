// Decompositions with their gradients. g is the gradient of a result, the formulas are those of Giles,
// "Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008, and
// Townsend, "Differentiating the singular value decomposition", 2016.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <sinter/autocast.h>
#include <sinter/autodiff.h>
#include <sinter/functions/creation.h>
#include <sinter/functions/linalg.h>
#include <sinter/functions/matrix.h>

#include "src/base/env.h"
#include "src/runtime/device_core.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/matrix/device.h"
#include "src/tensor/matrix/host.h"
#include "src/trace/value.h"

namespace sinter::linalg {

namespace {

using A = AnyTensor;
using Tensors = std::vector<AnyTensor>;
using tensor::MatrixFunction;

A t(const A& x) { return x.transpose(-2, -1); }

/// [.., n] as the last axis of a row, and of a column.
A row(const A& x) { return x.unsqueeze(-2); }
A column(const A& x) { return x.unsqueeze(-1); }

A unit_like(const A& x) {
  const Shape& shape = x.shape();
  return eye(shape[shape.rank() - 2], shape.back(), x.dtype(), x.device().inner());
}

const Shape& check(std::string_view name, const A& x, bool square, const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  if (value.dtype != DType::f32 && value.dtype != DType::f64)
    throw DTypeError("[" + std::string(name) + "] takes f32 or f64, not " +
                         std::string(name_of(value.dtype)) + "; cast first",
                     where);
  const Shape& shape = value.shape;
  const std::size_t rank = shape.rank();
  if (rank < 2 || (square && shape[rank - 2] != shape[rank - 1]))
    throw ShapeError("[" + std::string(name) + "] takes " + (square ? "square " : "") +
                         "matrices, not shape " + to_string(shape),
                     where);
  return shape;
}

/// Which results are vectors: [.., n] instead of [.., n, 1].
using Vectors = std::vector<bool>;

/// On the host, whatever device the operands are on.
Tensors compute_on_host(MatrixFunction function, std::string_view name, const Tensors& operands,
                        const Vectors& vectors, const Location& where) {
  const std::string& device = operands[0].value()->device->name();
  const auto is_empty = [](const A& operand) { return operand.numel() == 0; };
  if (device != "host" && std::none_of(operands.begin(), operands.end(), is_empty))
    base::warn_once("[linalg] matrices on " + device + " are decomposed on the host" +
                    tensor::why_on_host(function, *operands[0].value()->device));
  std::vector<tensor::HostMatrices> read;
  for (const A& operand : operands) read.push_back(tensor::read_matrices(operand, where));
  auto computed = tensor::compute(function, name, read, *operands[0].value()->device, where);
  Tensors results;
  for (std::size_t i = 0; i < computed.size(); ++i)
    results.push_back(
        tensor::upload(std::move(computed[i]), vectors[i], operands[0].device().inner(), where));
  return results;
}

/// Computes on the device or, where it cannot, on the host; with a gradient where `backward` is given: it
/// takes the operands, then the results that were kept, and the gradients of the results.
Tensors run(MatrixFunction function, std::string_view name, const Tensors& operands, const Vectors& vectors,
            std::function<Tensors(const Saved&, Tensors)> backward, const Location& where) {
  const auto forward = [&](Saved& saved) {
    auto computed = tensor::compute_on_device(function, name, operands, where);
    Tensors results =
        computed ? *std::move(computed) : compute_on_host(function, name, operands, vectors, where);
    for (const A& operand : operands) saved.keep(operand);
    for (const A& result : results) saved.keep(result);
    return results;
  };
  if (!backward) {
    Saved nothing;
    return forward(nothing);
  }
  sinter::detail::FunctionParts parts{std::string(name), where, forward, std::move(backward)};
  return sinter::detail::call(std::move(parts), operands);
}

/// Operands of one batch.
struct Pair {
  A a, b;
};
Pair alike(std::string_view name, const A& a, const A& b, const Location& where) {
  const Shape first = check(name, a, true, where), second = check(name, b, false, where);
  tensor::check_same_dtype(name, a.dtype(), b.dtype(), where);
  if (first.back() != second[second.rank() - 2])
    throw ShapeError("[" + std::string(name) + "] matrices of shape " + to_string(first) +
                         " do not go with right-hand sides of shape " + to_string(second),
                     where);
  const auto batch_of = [](const Shape& shape) {
    return Shape(Dims(std::span(shape.begin(), shape.rank() - 2)));
  };
  const auto with = [](Shape shape, std::int64_t rows, std::int64_t columns) {
    shape.push_back(rows);
    shape.push_back(columns);
    return shape;
  };
  const Shape batch = tensor::broadcast(name, batch_of(first), batch_of(second), where);
  return {a.expand(with(batch, first.back(), first.back()), where),
          b.expand(with(batch, first.back(), second.back()), where)};
}

/// 1 / x, and 0 where x is 0.
A reciprocal_or_zero(const A& x) {
  const A zero = x == 0;
  return A::where(zero, 0, A::where(zero, 1, x).recip());
}

/// 1 / (w_j - w_i), and 0 where they are equal: the vectors of repeated values are any basis of one space,
/// and have no gradient within it.
A reciprocal_differences(const A& w) { return reciprocal_or_zero(row(w) - column(w)); }

}  // namespace

AnyTensor cholesky(const AnyTensor& a, Location where) {
  check("cholesky", a, true, where);
  return run(
      MatrixFunction::Cholesky, "cholesky", {a}, {false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A& l = saved[1];
        const A product = t(l).matmul(g[0].tril());
        const A half = product.tril() - diag_embed(diagonal(product)) * 0.5;
        // L^-T half L^-1, of which the operand's symmetry takes the symmetric part.
        const A left = triangular_solve(t(l), half, true);
        const A both = t(triangular_solve(t(l), t(left), true));
        return {(both + t(both)) * 0.5};
      },
      where)[0];
}

AnyTensor solve(const AnyTensor& a, const AnyTensor& b, Location where) {
  const Pair pair = alike("solve", a, b, where);
  return run(
      MatrixFunction::Solve, "solve", {pair.a, pair.b}, {false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A gradient_b = solve(t(saved[0]), g[0]);
        return {-gradient_b.matmul(t(saved[2])), gradient_b};
      },
      where)[0];
}

AnyTensor triangular_solve(const AnyTensor& a, const AnyTensor& b, bool upper, Location where) {
  const Pair pair = alike("triangular_solve", a, b, where);
  return run(
      upper ? MatrixFunction::SolveUpper : MatrixFunction::SolveLower, "triangular_solve", {pair.a, pair.b},
      {false},
      [upper](const Saved& saved, Tensors g) -> Tensors {
        const A gradient_b = triangular_solve(t(saved[0]), g[0], !upper);
        const A whole = -gradient_b.matmul(t(saved[2]));
        return {upper ? whole.triu() : whole.tril(), gradient_b};
      },
      where)[0];
}

AnyTensor inverse(const AnyTensor& a, Location where) {
  check("inverse", a, true, where);
  return run(
      MatrixFunction::Inverse, "inverse", {a}, {false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A y = t(saved[1]);
        return {-y.matmul(g[0]).matmul(y)};
      },
      where)[0];
}

namespace {

/// The matrix of cofactors, which is det(A) A^-T where there is an inverse. A = U S V^T has that of S, the
/// products of the other singular values, between U and V^T, times det(U) det(V), which is 1 or -1.
A cofactors(const A& a, const Location& where) {
  const auto [u, s, vh] = svd(a, where);
  const A sign = (det(u.detach(), where) * det(vh.detach(), where)).round(where);
  const A others = A::where(unit_like(a) == 1, 1, row(s)).prod(-1, where).squeeze(-1, where);
  return (u * row(others * sign.unsqueeze(-1, where))).matmul(vh, where);
}

/// The gradient of the determinant, given that of the result and the determinant as [.., 1, 1].
A determinant_gradient(const A& a, const A& g, const A& determinant, const Location& where) {
  const A singular = determinant.detach() == 0;
  const A some = singular.any(singular.all_axes(), where);
  std::uint8_t is_some = 0;
  some.read_bytes(std::as_writable_bytes(std::span(&is_some, 1)), where);
  if (!is_some) return g * determinant * t(inverse(a, where));
  // The inverse of the others has derivatives of any order, also where singular values are equal.
  const A regular = A::where(singular, unit_like(a), a, where);
  return g * A::where(singular, cofactors(a, where), determinant * t(inverse(regular, where)), where);
}

/// Sign, logarithm of the magnitude, and determinant, each [.., 1, 1], of which `det` takes the last and
/// `slogdet` the others.
Tensors determinant(std::string_view name, const AnyTensor& a, const Location& where) {
  check(name, a, true, where);
  return run(
      MatrixFunction::Determinant, name, {a}, {false, false, false},
      [of_itself = name == "det", where](const Saved& saved, Tensors g) -> Tensors {
        if (of_itself) return {determinant_gradient(saved[0], g[2], saved[3], where)};
        return {g[1] * t(inverse(saved[0]))};
      },
      where);
}
A as_number(const A& x, const Location& where) { return x.squeeze({-2, -1}, where); }

}  // namespace

AnyTensor det(const AnyTensor& a, Location where) {
  return as_number(determinant("det", a, where)[2], where);
}

std::pair<AnyTensor, AnyTensor> slogdet(const AnyTensor& a, Location where) {
  const Tensors parts = determinant("slogdet", a, where);
  return {as_number(parts[0].detach(), where), as_number(parts[1], where)};
}

std::tuple<AnyTensor, AnyTensor, AnyTensor> lu(const AnyTensor& a, Location where) {
  check("lu", a, true, where);
  Tensors r = run(
      MatrixFunction::Lu, "lu", {a}, {false, false, false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A &p = saved[1], &l = saved[2], &u = saved[3];
        const A inner = t(l).matmul(g[1]).tril(-1) + g[2].matmul(t(u)).triu();
        // P L^-T inner U^-T
        const A left = triangular_solve(t(l), inner, true);
        return {p.matmul(t(triangular_solve(u, t(left), true)))};
      },
      where);
  return {r[0].detach(), r[1], r[2]};
}

std::pair<AnyTensor, AnyTensor> qr(const AnyTensor& a, Location where) {
  const Shape& shape = check("qr", a, false, where);
  const bool tall = shape[shape.rank() - 2] >= shape.back();
  Tensors r = run(
      MatrixFunction::Qr, "qr", {a}, {false, false},
      [tall, where](const Saved& saved, Tensors g) -> Tensors {
        if (!tall)
          throw AutodiffError("[qr] of matrices with more columns than rows has no gradient here", where);
        const A &q = saved[1], &upper = saved[2];
        const A m = upper.matmul(t(g[1])) - t(g[0]).matmul(q);
        const A symmetric = m.tril() + t(m.tril(-1));
        const A inner = g[0] + q.matmul(symmetric);
        return {t(triangular_solve(upper, t(inner), true))};
      },
      where);
  return {r[0], r[1]};
}

std::tuple<AnyTensor, AnyTensor, AnyTensor> svd(const AnyTensor& a, Location where) {
  check("svd", a, false, where);
  Tensors r = run(
      MatrixFunction::Svd, "svd", {a}, {false, true, false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A &u = saved[1], &s = saved[2], v = t(saved[3]), gv = t(g[2]);
        const A f = reciprocal_differences(s.square());
        const auto skew = [](const A& x) { return x - t(x); };
        const A by_u = (skew(t(u).matmul(g[0])) * f) * row(s);
        const A by_v = (skew(t(v).matmul(gv)) * f) * column(s);
        const A inner = by_u + by_v + diag_embed(g[1]);
        A gradient = u.matmul(inner).matmul(t(v));
        const Shape& shape = saved[0].shape();
        const std::int64_t m = shape[shape.rank() - 2], n = shape.back();
        if (m > n) {
          const A scaled = g[0] * row(reciprocal_or_zero(s));
          gradient = gradient + (scaled - u.matmul(t(u).matmul(scaled))).matmul(t(v));
        } else if (m < n) {
          const A scaled = t(gv * row(reciprocal_or_zero(s)));
          gradient = gradient + u.matmul(scaled - scaled.matmul(v).matmul(t(v)));
        }
        return {gradient};
      },
      where);
  return {r[0], r[1], r[2]};
}

std::pair<AnyTensor, AnyTensor> eigh(const AnyTensor& a, Location where) {
  check("eigh", a, true, where);
  Tensors r = run(
      MatrixFunction::SymmetricEigen, "eigh", {a}, {true, false},
      [](const Saved& saved, Tensors g) -> Tensors {
        const A &w = saved[1], &v = saved[2];
        const A inner = diag_embed(g[0]) + t(v).matmul(g[1]) * reciprocal_differences(w);
        return {v.matmul(inner).matmul(t(v))};
      },
      where);
  return {r[0], r[1]};
}

std::pair<AnyComplex, AnyComplex> eig(const AnyTensor& a, Location where) {
  check("eig", a, true, where);
  const Tensors r = run(MatrixFunction::Eigen, "eig", {a}, {true, true, false, false}, nullptr, where);
  return {{r[0], r[1]}, {r[2], r[3]}};
}

AnyTensor lstsq(const AnyTensor& a, const AnyTensor& b, Location where) {
  const Shape &shape = check("lstsq", a, false, where), &right = check("lstsq", b, false, where);
  const std::size_t rank = shape.rank();
  if (shape[rank - 2] < shape.back() || shape[rank - 2] != right[right.rank() - 2])
    throw ShapeError(
        "[lstsq] takes matrices with at least as many rows as columns and right-hand sides of as many rows, "
        "not "
        "shapes " +
            to_string(shape) + " and " + to_string(right),
        where);
  const auto [q, r] = qr(a, where);
  return triangular_solve(r, t(q).matmul(b, where), true, where);
}

AnyTensor pinv(const AnyTensor& a, double relative, Location where) {
  const auto [u, s, vh] = svd(a, where);
  if (s.numel() == 0) return t(a);
  const A kept = s > s.detach().max(-1, where) * relative;
  const A inverse = A::where(kept, A::where(kept, s, 1, where).recip(where), 0, where);
  return (t(vh) * row(inverse)).matmul(t(u), where);
}

AnyTensor matrix_power(const AnyTensor& a, std::int64_t power, Location where) {
  check("matrix_power", a, true, where);
  const A base = power < 0 ? inverse(a, where) : a;
  A result, square = base;
  for (std::uint64_t left = power < 0 ? 0 - static_cast<std::uint64_t>(power)
                                      : static_cast<std::uint64_t>(power);
       ;) {
    if (left & 1) result = result.defined() ? result.matmul(square, where) : square;
    left >>= 1;
    if (left == 0) break;
    square = square.matmul(square, where);
  }
  return result.defined() ? result : unit_like(a).expand(a.shape(), where);
}

AnyTensor matrix_exp(const AnyTensor& a, Location where) {
  check("matrix_exp", a, true, where);
  if (a.numel() == 0) return a;
  // Halved until the largest column sum is at most 1/2, where 9 (f32) and 17 (f64) terms of the series are
  // enough, and squared again.
  const A norms = a.detach().abs(where).sum(-2, where);
  const A largest = norms.max(norms.all_axes(), where).reshape({1, 1}, where);
  const tensor::HostMatrices read = tensor::read_matrices(largest, where);
  const double norm = read.dtype() == DType::f64 ? *read.matrix<double>(0) : *read.matrix<float>(0);
  if (!std::isfinite(norm)) return a * std::numeric_limits<double>::quiet_NaN();
  const int squarings = norm > 0.5 ? static_cast<int>(std::ceil(std::log2(norm))) + 1 : 0;
  const A scaled = a * std::ldexp(1.0, -squarings);
  const A unit = unit_like(a);
  const int terms = a.dtype() == DType::f64 ? 17 : 9;
  A sum = unit.expand(a.shape(), where);  // Horner: 1 + x (1 + x / 2 (1 + x / 3 ..))
  for (int k = terms; k >= 1; --k) sum = unit + scaled.matmul(sum, where) * (1.0 / k);
  for (int i = 0; i < squarings; ++i) sum = sum.matmul(sum, where);
  return sum;
}

}  // namespace sinter::linalg
