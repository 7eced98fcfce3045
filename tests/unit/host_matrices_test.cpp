// Decompositions of the host: their factors multiplied, of sizes on both sides of their blocks, by every
// target that this processor has; the same bits by any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include "src/runtime/host/matrices/decompose.h"
#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime {
namespace {

template <class T>
struct Matrix {
  std::int64_t rows, columns;
  std::vector<T> elements;

  Matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), elements(static_cast<std::size_t>(m * n)) {}
  T& operator()(std::int64_t i, std::int64_t j) {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
  T operator()(std::int64_t i, std::int64_t j) const {
    return elements[static_cast<std::size_t>(i * columns + j)];
  }
  T* data() { return elements.data(); }
  const T* data() const { return elements.data(); }
};

/// Numbers in [-1, 1].
template <class T>
Matrix<T> numbers(std::int64_t m, std::int64_t n, std::uint64_t salt = 0) {
  Matrix<T> x(m, n);
  std::uint64_t state = 0x9e3779b97f4a7c15u + salt;
  for (T& value : x.elements) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(static_cast<double>(static_cast<std::int32_t>(state >> 32)) / 0x1p31);
  }
  return x;
}
template <class T>
Matrix<T> transposed(const Matrix<T>& x) {
  Matrix<T> y(x.columns, x.rows);
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) y(j, i) = x(i, j);
  return y;
}
template <class T>
Matrix<double> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<double> c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t p = 0; p < a.columns; ++p)
      for (std::int64_t j = 0; j < b.columns; ++j)
        c(i, j) += static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
  return c;
}
template <class T>
Matrix<T> unit(std::int64_t n) {
  Matrix<T> x(n, n);
  for (std::int64_t i = 0; i < n; ++i) x(i, i) = 1;
  return x;
}
/// x times diag(factors).
template <class T>
Matrix<T> scaled(Matrix<T> x, const std::vector<T>& factors) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j) x(i, j) *= factors[static_cast<std::size_t>(j)];
  return x;
}

/// Within some last places of the largest element for each of `n` terms.
template <class T>
void check_near(const Matrix<double>& found, const Matrix<T>& want, std::int64_t n) {
  REQUIRE(found.rows == want.rows);
  REQUIRE(found.columns == want.columns);
  double largest = 0;
  for (const T value : want.elements) largest = std::max(largest, std::abs(static_cast<double>(value)));
  const double most =
      largest * static_cast<double>(8 * n + 32) * static_cast<double>(std::numeric_limits<T>::epsilon());
  double worst = 0;
  for (std::size_t i = 0; i < found.elements.size(); ++i) {
    const double difference = std::abs(found.elements[i] - static_cast<double>(want.elements[i]));
    worst = difference <= worst ? worst : difference;  // NaN is the worst
  }
  CHECK(worst <= most);
}
template <class T>
void check_orthonormal(const Matrix<T>& columns) {
  check_near(product(transposed(columns), columns), unit<T>(columns.columns), columns.rows);
}

ThreadPool& alone() {
  static ThreadPool pool(1);
  return pool;
}

template <class T>
struct Svd {
  Matrix<T> u, vh;
  std::vector<T> s;
  host::Refusal refusal;

  explicit Svd(const Matrix<T>& a, ThreadPool& pool = alone())
      : u(a.rows, std::min(a.rows, a.columns)),
        vh(u.columns, a.columns),
        s(static_cast<std::size_t>(u.columns)) {
    refusal = host::svd(pool, a.rows, a.columns, a.data(), u.data(), s.data(), vh.data());
  }
};

template <class T>
void check_oblong(const Matrix<T>& a) {
  const std::int64_t k = std::min(a.rows, a.columns), n = std::max(a.rows, a.columns);
  Matrix<T> q(a.rows, k), r(k, a.columns);
  host::qr(alone(), a.rows, a.columns, a.data(), q.data(), r.data());
  check_near(product(q, r), a, n);
  check_orthonormal(q);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < i; ++j) REQUIRE(r(i, j) == 0);
  const Svd<T> svd(a);
  REQUIRE(svd.refusal == nullptr);
  check_near(product(scaled(svd.u, svd.s), svd.vh), a, n);
  check_orthonormal(svd.u);
  check_orthonormal(transposed(svd.vh));
  CHECK(std::is_sorted(svd.s.rbegin(), svd.s.rend()));
  CHECK(svd.s.back() >= 0);
}

template <class T>
void check_square(const Matrix<T>& a) {
  const std::int64_t n = a.rows;
  Matrix<T> p(n, n), l(n, n), u(n, n), definite(n, n), symmetric(n, n);
  host::lu(alone(), n, a.data(), p.data(), l.data(), u.data());
  check_near(
      product(transposed(p), a),
      [&] {
        Matrix<T> both(n, n);
        const Matrix<double> of_factors = product(l, u);
        std::copy(of_factors.elements.begin(), of_factors.elements.end(), both.elements.begin());
        return both;
      }(),
      n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      REQUIRE(std::abs(l(i, j)) <= (i > j ? 1 : i == j));
      REQUIRE((j >= i || u(i, j) == 0));
      definite(i, j) = symmetric(i, j) = a(i, j) + a(j, i);
      if (i == j) definite(i, j) += static_cast<T>(2 * n);
    }
  REQUIRE(host::cholesky(alone(), n, definite.data(), l.data()) == nullptr);
  check_near(product(l, transposed(l)), definite, n);
  Matrix<T> x(n, n), b = numbers<T>(n, 5, 7), solution(n, 5);
  REQUIRE(host::inverse(alone(), n, definite.data(), x.data()) == nullptr);
  check_near(product(definite, x), unit<T>(n), n);
  REQUIRE(host::solve(alone(), n, 5, definite.data(), b.data(), solution.data()) == nullptr);
  check_near(product(definite, solution), b, n);
  for (const bool upper : {false, true}) {
    REQUIRE(host::solve_triangular(alone(), upper, n, 5, definite.data(), b.data(), solution.data()) ==
            nullptr);
    Matrix<T> triangle = definite;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (upper ? j < i : j > i) triangle(i, j) = 0;
    check_near(product(triangle, solution), b, n);
  }
  std::vector<T> values(static_cast<std::size_t>(n));
  REQUIRE(host::symmetric_eigen(alone(), n, symmetric.data(), values.data(), x.data()) == nullptr);
  check_orthonormal(x);
  check_near(product(scaled(x, values), transposed(x)), symmetric, n);
  CHECK(std::is_sorted(values.begin(), values.end()));
}

template <class T>
void check_all_sizes() {
  for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 64, 65, 150}) {
    CAPTURE(n);
    check_square(numbers<T>(n, n));
    check_oblong(numbers<T>(n, n));
    check_oblong(numbers<T>(n, 2 * n + 3));
    check_oblong(numbers<T>(n + 40, n));
  }
}

}  // namespace

TEST_CASE("matrices of the host, by each target") {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    CAPTURE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    check_all_sizes<float>();
    check_all_sizes<double>();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_CASE_TEMPLATE("matrices of the host that are hard", T, float, double) {
  for (const std::int64_t n : {9, 40, 70}) {
    CAPTURE(n);
    const Matrix<T> a = numbers<T>(n, n);
    // Columns of zeros, equal rows and columns, and low rank: what is left of them is rounding, and of that
    // again, down to denormal numbers.
    Matrix<T> zeros(n, n), rows = a, columns = a, falling = a, rising = a, upper = a, gap = unit<T>(n);
    Matrix<T> low(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        rows(i, j) = a(0, j);
        columns(i, j) = a(i, 0);
        falling(i, j) *= static_cast<T>(std::exp(-2.0 * static_cast<double>(j)));
        rising(i, j) *= static_cast<T>(std::exp(-2.0 * static_cast<double>(n - i)));
        if (j <= i) upper(i, j) = 0;
        if (i == j && i % 3 == 0) gap(i, j) = 0;
        for (std::int64_t p = 0; p < 3; ++p) low(i, j) += a(i, p) * a(p, j);
      }
    for (const Matrix<T>& hard : {zeros, rows, columns, falling, rising, upper, gap, low, unit<T>(n)}) {
      check_oblong(hard);
      Matrix<T> part(n, n / 2);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n / 2; ++j) part(i, j) = hard(i, j);
      check_oblong(part);
      check_oblong(transposed(part));
      Matrix<T> symmetric(n, n), vectors(n, n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) symmetric(i, j) = hard(i, j) + hard(j, i);
      std::vector<T> values(static_cast<std::size_t>(n));
      REQUIRE(host::symmetric_eigen(alone(), n, symmetric.data(), values.data(), vectors.data()) == nullptr);
      check_orthonormal(vectors);
      check_near(product(scaled(vectors, values), transposed(vectors)), symmetric, n);
    }
  }
}

TEST_CASE_TEMPLATE("small and large matrices of the host", T, float, double) {
  const double far = sizeof(T) == 4 ? 1e30 : 1e290;
  for (const double size : {1 / far, far}) {
    CAPTURE(size);
    const std::int64_t n = 40;
    Matrix<T> a = numbers<T>(n, n);
    for (T& value : a.elements) value = static_cast<T>(static_cast<double>(value) * size);
    check_oblong(a);
    Matrix<T> symmetric(n, n), vectors(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) symmetric(i, j) = a(i, j) + a(j, i);
    std::vector<T> values(static_cast<std::size_t>(n));
    REQUIRE(host::symmetric_eigen(alone(), n, symmetric.data(), values.data(), vectors.data()) == nullptr);
    check_orthonormal(vectors);
    check_near(product(scaled(vectors, values), transposed(vectors)), symmetric, n);
    for (std::int64_t i = 0; i < n; ++i) symmetric(i, i) += static_cast<T>(size * 2 * static_cast<double>(n));
    Matrix<T> l(n, n), x(n, n);
    REQUIRE(host::cholesky(alone(), n, symmetric.data(), l.data()) == nullptr);
    check_near(product(l, transposed(l)), symmetric, n);
    REQUIRE(host::inverse(alone(), n, symmetric.data(), x.data()) == nullptr);
    check_near(product(symmetric, x), unit<T>(n), n);
  }
}

TEST_CASE_TEMPLATE("matrices of the host with numbers near the largest", T, float, double) {
  const T most = std::numeric_limits<T>::max();
  Matrix<T> a(4, 2);
  const T parts[] = {1, 1, 1, static_cast<T>(0.9), static_cast<T>(0.9), 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) a.elements[i] = parts[i] * (most / 3);
  check_oblong(a);
  check_oblong(transposed(a));
}

TEST_CASE_TEMPLATE("a matrix of the host with a NaN has no determinant", T, float, double) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const T bad : {nan, infinity})
    for (const std::vector<T>& elements : {std::vector<T>{0, 1, bad, 1}, {0, bad, 0, 1}, {0, 0, 0, bad}}) {
      T sign = 0, logarithm = 0, value = 0;
      host::determinant(alone(), 2, elements.data(), &sign, &logarithm, &value);
      if (bad == infinity && elements[2] == bad) {  // which has one: -inf
        CHECK(value == -infinity);
        continue;
      }
      CHECK(std::isnan(value));
      CHECK(std::isnan(logarithm));
    }
}

TEST_CASE("matrices of the host that have no result") {
  ThreadPool& pool = alone();
  const std::int64_t n = 20;
  const Matrix<float> good = numbers<float>(n, n);
  Matrix<float> out(n, n), more(n, n), bad = good;
  std::vector<float> values(static_cast<std::size_t>(n));
  const auto why = [](host::Refusal refusal) { return std::string(refusal ? refusal : "nothing"); };
  for (std::int64_t j = 0; j < n; ++j) bad(7, j) = bad(3, j) = 0;
  CHECK(why(host::inverse(pool, n, bad.data(), out.data())) == "is singular");
  CHECK(why(host::solve(pool, n, n, bad.data(), good.data(), out.data())) == "is singular");
  CHECK(why(host::solve_triangular(pool, true, n, n, bad.data(), good.data(), out.data())) == "is singular");
  CHECK(why(host::cholesky(pool, n, bad.data(), out.data())) == "is not positive definite");
  // Wherever a NaN or an infinity is.
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        bad = good;
        bad(i, j) = value;
        const std::string not_finite = "has elements that are NaN or infinite";
        REQUIRE(why(host::inverse(pool, n, bad.data(), out.data())) == not_finite);
        REQUIRE(why(host::solve(pool, n, n, bad.data(), good.data(), out.data())) == not_finite);
        REQUIRE(why(host::svd(pool, n, n, bad.data(), out.data(), values.data(), more.data())) == not_finite);
        if (j <= i)
          REQUIRE(why(host::symmetric_eigen(pool, n, bad.data(), values.data(), out.data())) ==
                  "has eigenvalues that were not found");
      }
}

TEST_CASE_TEMPLATE("matrices of the host have the same bits by any number of threads", T, float, double) {
  const std::int64_t n = 200;
  const Matrix<T> a = numbers<T>(n, n);
  Matrix<T> definite = a;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) definite(i, j) = a(i, j) + a(j, i) + (i == j ? T(2 * n) : T(0));
  const auto results = [&](ThreadPool& pool) {
    std::vector<Matrix<T>> out(12, Matrix<T>(n, n));
    std::vector<T> values(static_cast<std::size_t>(n));
    REQUIRE(host::cholesky(pool, n, definite.data(), out[0].data()) == nullptr);
    REQUIRE(host::inverse(pool, n, a.data(), out[1].data()) == nullptr);
    REQUIRE(host::solve(pool, n, n, a.data(), definite.data(), out[2].data()) == nullptr);
    REQUIRE(host::solve_triangular(pool, true, n, n, a.data(), definite.data(), out[3].data()) == nullptr);
    host::lu(pool, n, a.data(), out[4].data(), out[5].data(), out[6].data());
    host::qr(pool, n, n, a.data(), out[7].data(), out[8].data());
    REQUIRE(host::symmetric_eigen(pool, n, definite.data(), values.data(), out[9].data()) == nullptr);
    const Svd<T> svd(a, pool);
    out[10] = svd.u;
    out[11] = svd.vh;
    return out;
  };
  const std::vector<Matrix<T>> want = results(alone());
  for (const std::size_t threads : {2, 5}) {
    ThreadPool pool(threads);
    const std::vector<Matrix<T>> found = results(pool);
    for (std::size_t r = 0; r < want.size(); ++r) {
      CAPTURE(r);
      CHECK(std::memcmp(found[r].data(), want[r].data(), want[r].elements.size() * sizeof(T)) == 0);
    }
  }
}

}  // namespace sinter::runtime
