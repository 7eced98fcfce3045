// Decompositions of matrices and what is solved by them. Matrices are the last two axes; the axes before are
// a batch. f32 and f64; everything but `eig` is differentiable, where the result is a smooth function.
//
// On a CUDA device with cuSOLVER (libcusolver.so.12 or .11) they are computed there, one matrix of a batch
// after the other, and only whether a matrix has a result is read, which flushes and waits. `lu` also reads
// its pivots; `det`, `slogdet` and `qr` read nothing (the gradient of `det` reads whether one is 0).
// Elsewhere (and `eig` everywhere, in f64) they are computed by the host's threads, in the operand's dtype: a
// function reads its operand, which flushes and waits, and uploads its results to the operand's device. For
// devices other than the host one line in the log says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <sinter/complex.h>
#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::linalg {

/// L, lower triangular, with A = L L^T of a symmetric A, of which the lower triangle is read. Throws Error
/// where A is not positive definite.
SINTER_API AnyTensor cholesky(const AnyTensor& a, Location where = Location::current());
/// X with A X = B, for square matrices A (.., n, n) and B (.., n, k); batches broadcast. Throws Error where A
/// is singular.
SINTER_API AnyTensor solve(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// The same for triangular A, of which the other triangle is not read.
SINTER_API AnyTensor triangular_solve(const AnyTensor& a, const AnyTensor& b, bool upper,
                                      Location where = Location::current());
/// Throws Error where a matrix is singular, or not finite. To apply an inverse, `solve` is faster and more
/// exact.
SINTER_API AnyTensor inverse(const AnyTensor& a, Location where = Location::current());
/// The determinant. Its gradient, the matrix of cofactors, takes the inverse, and where the determinant is 0
/// the singular value decomposition.
SINTER_API AnyTensor det(const AnyTensor& a, Location where = Location::current());
/// The determinant's sign and the logarithm of its magnitude, which overflows later; 0 and -infinity where a
/// matrix is singular.
SINTER_API std::pair<AnyTensor, AnyTensor> slogdet(const AnyTensor& a, Location where = Location::current());
/// {P, L, U} with A = P L U for square A: a permutation, a unit lower and an upper triangle.
SINTER_API std::tuple<AnyTensor, AnyTensor, AnyTensor> lu(const AnyTensor& a,
                                                          Location where = Location::current());
/// {Q, R} with A = Q R: (.., m, k) with orthonormal columns and upper triangular (.., k, n), k the smaller of
/// m and n. Differentiable for m >= n.
SINTER_API std::pair<AnyTensor, AnyTensor> qr(const AnyTensor& a, Location where = Location::current());
/// {U, S, Vh} with A = U diag(S) Vh: (.., m, k), (.., k) falling, (.., k, n). U and Vh are unique up to signs
/// where the values differ; only then have they gradients. Those of S alone are right where they repeat, too.
/// Throws Error where a matrix is not finite.
SINTER_API std::tuple<AnyTensor, AnyTensor, AnyTensor> svd(const AnyTensor& a,
                                                           Location where = Location::current());
/// {w, V} with A V = V diag(w) for symmetric A, of which the lower triangle is read: rising eigenvalues, and
/// orthonormal eigenvectors in columns, unique up to signs where the values differ. Gradients are as those of
/// `svd`.
SINTER_API std::pair<AnyTensor, AnyTensor> eigh(const AnyTensor& a, Location where = Location::current());
/// Eigenvalues and eigenvectors (columns of length 1) of any square matrix. Not differentiable.
SINTER_API std::pair<AnyComplex, AnyComplex> eig(const AnyTensor& a, Location where = Location::current());
/// X that makes the length of A X - B least, for A (.., m, n) of full rank with m >= n.
SINTER_API AnyTensor lstsq(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// Moore and Penrose's inverse: singular values below `relative` times the largest count as 0.
SINTER_API AnyTensor pinv(const AnyTensor& a, double relative = 1e-6, Location where = Location::current());
/// The sum of A^k / k! (Higham, "The scaling and squaring method for the matrix exponential revisited",
/// 2005).
SINTER_API AnyTensor matrix_exp(const AnyTensor& a, Location where = Location::current());
/// A times itself; the inverse's power for negative ones.
SINTER_API AnyTensor matrix_power(const AnyTensor& a, std::int64_t power,
                                  Location where = Location::current());

// The same functions with the rank in the type.
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> cholesky(const Tensor<Rank>& a, Location where = Location::current()) {
  return Tensor<Rank>(cholesky(a.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> solve(const Tensor<Rank>& a, const Tensor<Rank>& b,
                                       Location where = Location::current()) {
  return Tensor<Rank>(solve(a.dynamic(), b.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> triangular_solve(const Tensor<Rank>& a, const Tensor<Rank>& b, bool upper,
                                                  Location where = Location::current()) {
  return Tensor<Rank>(triangular_solve(a.dynamic(), b.dynamic(), upper, where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> inverse(const Tensor<Rank>& a, Location where = Location::current()) {
  return Tensor<Rank>(inverse(a.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank - 2> det(const Tensor<Rank>& a, Location where = Location::current()) {
  return Tensor<Rank - 2>(det(a.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >=
         2) std::pair<Tensor<Rank - 2>, Tensor<Rank - 2>> slogdet(const Tensor<Rank>& a,
                                                                  Location where = Location::current()) {
  auto [sign, logarithm] = slogdet(a.dynamic(), where);
  return {Tensor<Rank - 2>(std::move(sign)), Tensor<Rank - 2>(std::move(logarithm))};
}
template <std::size_t Rank>
requires(Rank >=
         2) std::tuple<Tensor<Rank>, Tensor<Rank>, Tensor<Rank>> lu(const Tensor<Rank>& a,
                                                                    Location where = Location::current()) {
  auto [p, l, u] = lu(a.dynamic(), where);
  return {Tensor<Rank>(std::move(p)), Tensor<Rank>(std::move(l)), Tensor<Rank>(std::move(u))};
}
template <std::size_t Rank>
requires(Rank >= 2) std::pair<Tensor<Rank>, Tensor<Rank>> qr(const Tensor<Rank>& a,
                                                             Location where = Location::current()) {
  auto [q, r] = qr(a.dynamic(), where);
  return {Tensor<Rank>(std::move(q)), Tensor<Rank>(std::move(r))};
}
template <std::size_t Rank>
requires(Rank >= 2) std::tuple<Tensor<Rank>, Tensor<Rank - 1>, Tensor<Rank>> svd(
    const Tensor<Rank>& a, Location where = Location::current()) {
  auto [u, s, vh] = svd(a.dynamic(), where);
  return {Tensor<Rank>(std::move(u)), Tensor<Rank - 1>(std::move(s)), Tensor<Rank>(std::move(vh))};
}
template <std::size_t Rank>
requires(Rank >= 2) std::pair<Tensor<Rank - 1>, Tensor<Rank>> eigh(const Tensor<Rank>& a,
                                                                   Location where = Location::current()) {
  auto [w, v] = eigh(a.dynamic(), where);
  return {Tensor<Rank - 1>(std::move(w)), Tensor<Rank>(std::move(v))};
}
template <std::size_t Rank>
requires(Rank >= 2) std::pair<Complex<Rank - 1>, Complex<Rank>> eig(const Tensor<Rank>& a,
                                                                    Location where = Location::current()) {
  auto [w, v] = eig(a.dynamic(), where);
  return {sinter::detail::complex<Rank - 1>(std::move(w)), sinter::detail::complex<Rank>(std::move(v))};
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> lstsq(const Tensor<Rank>& a, const Tensor<Rank>& b,
                                       Location where = Location::current()) {
  return Tensor<Rank>(lstsq(a.dynamic(), b.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> pinv(const Tensor<Rank>& a, double relative = 1e-6,
                                      Location where = Location::current()) {
  return Tensor<Rank>(pinv(a.dynamic(), relative, where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> matrix_exp(const Tensor<Rank>& a, Location where = Location::current()) {
  return Tensor<Rank>(matrix_exp(a.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank> matrix_power(const Tensor<Rank>& a, std::int64_t power,
                                              Location where = Location::current()) {
  return Tensor<Rank>(matrix_power(a.dynamic(), power, where));
}

}  // namespace sinter::linalg
