// Decompositions put together again, of many shapes and both dtypes, on devices that compute them and on
// those whose matrices the host decomposes; what is refused, and whose fault it is. Values and gradients of
// small matrices are compared with PyTorch's by cases_test.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include <sinter/sinter.h>

#include "jit/library/decomposition.h"
#include "tests/support/matrices.h"
#include "tests/support/messages.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

struct Case {
  Dims batch;
  std::int64_t m, n;
};
std::vector<Case> shapes() {
  return {{{}, 1, 1},  {{}, 5, 5}, {{3}, 4, 4}, {{2, 3}, 3, 3}, {{}, 7, 3},
          {{2}, 3, 7}, {{}, 1, 6}, {{}, 6, 1},  {{}, 33, 17}};
}
Shape of(const Dims& batch, std::int64_t rows, std::int64_t columns) {
  Shape shape{Dims(batch)};
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

/// What is written to the standard error meanwhile.
template <class F>
std::string log_of(F action) {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  action();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace

// The first one: a line is written once in a process.
TEST_CASE("where the host decomposes for another device, one line in the log says so") {
  const AnyTensor a = definite(numbers({2, 4, 4}, DType::f32));
  const std::string log = log_of([&] {
    for (int twice = 0; twice < 2; ++twice) {
      linalg::cholesky(a);
      linalg::qr(a);
      linalg::eig(a);
    }
  });
  CAPTURE(log);
  const Device device = test_device();
  const bool own = device.core().computes(library::decomposition(library::Decomposition::Cholesky));
  const std::string line = "[linalg] matrices on " + device.name() + " are decomposed on the host";
  const std::size_t first = log.find(line);
  CHECK((first == std::string::npos) == (device.name() == "host"));
  if (first == std::string::npos) return;
  CHECK(log.find(line, first + 1) == std::string::npos);
  CHECK(contains(log, own                                 ? " by eig, which cuSOLVER does not have\n"
                      : device.name().starts_with("cuda") ? ", since cuSOLVER is missing"
                                                          : ", the device has no routines for it\n"));
}

TEST_CASE("factors of any shape, multiplied, are the matrix") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  for (const DType dtype : dtypes()) {
    CAPTURE(name_of(dtype));
    for (const Case& c : shapes()) {
      CAPTURE(c.m);
      CAPTURE(c.n);
      const std::int64_t k = std::min(c.m, c.n);
      const AnyTensor a = numbers(of(c.batch, c.m, c.n), dtype);
      const AnyTensor one = unit(k, dtype);
      const AnyTensor ones = one.expand(of(c.batch, k, k));
      const auto [q, r] = linalg::qr(a);
      check_alike(q.matmul(r), a, bound(c.n));
      check_alike(t(q).matmul(q), ones, bound(c.m));
      check_alike(r.triu(), r, 0);
      const auto [u, s, vh] = linalg::svd(a);
      REQUIRE(u.shape() == of(c.batch, c.m, k));
      REQUIRE(vh.shape() == of(c.batch, k, c.n));
      check_alike((u * s.unsqueeze(-2)).matmul(vh), a, bound(c.n));
      check_alike(t(u).matmul(u), ones, bound(c.m));
      check_alike(vh.matmul(t(vh)), ones, bound(c.n));
      CHECK(Tensor<0, Bool>((s >= 0.0).all()).item());
      if (k > 1) CHECK(Tensor<0, Bool>((s.narrow(-1, 0, k - 1) >= s.narrow(-1, 1, k - 1)).all()).item());
      if (c.m != c.n) continue;

      const auto [p, lower, upper] = linalg::lu(a);
      check_alike(p.matmul(lower).matmul(upper), a, bound(c.n));
      check_alike(lower.tril(-1) + ones, lower, 0);
      check_alike(upper.triu(), upper, 0);
      check_alike(p.sum(-1), p.sum(-1).ones_like(), 0);
      const AnyTensor positive = definite(a);
      const AnyTensor l = linalg::cholesky(positive);
      check_alike(l.matmul(t(l)), positive, bound(c.n));
      check_alike(l.tril(), l, 0);
      const auto [w, v] = linalg::eigh(positive);
      check_alike(positive.matmul(v), v * w.unsqueeze(-2), bound(c.n));
      check_alike(t(v).matmul(v), ones, bound(c.n));
      if (k > 1) CHECK(Tensor<0, Bool>((w.narrow(-1, 0, k - 1) <= w.narrow(-1, 1, k - 1)).all()).item());
    }
  }
}

TEST_CASE("one triangle is read, whatever the other has") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  for (const DType dtype : dtypes()) {
    const AnyTensor positive = definite(numbers({2, 6, 6}, dtype));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const AnyTensor above = AnyTensor::triu_mask(6, 6, 1, test_device()), below = t(above);
    const AnyTensor lower = positive.mask_fill(above, nan), upper = positive.mask_fill(below, nan);
    const AnyTensor l = linalg::cholesky(lower);
    check_alike(l.matmul(t(l)), positive, bound(6));
    const auto [w, v] = linalg::eigh(lower);
    check_alike(positive.matmul(v), v * w.unsqueeze(-2), bound(6));
    const AnyTensor b = numbers({2, 6, 3}, dtype, 1);
    check_alike(positive.tril().matmul(linalg::triangular_solve(lower, b, false)), b, bound(6));
    check_alike(positive.triu().matmul(linalg::triangular_solve(upper, b, true)), b, bound(6));
  }
}

TEST_CASE("systems, inverses and determinants, of batches that broadcast and of views") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  for (const DType dtype : dtypes()) {
    CAPTURE(name_of(dtype));
    const AnyTensor a = regular({3, 1, 5, 5}, dtype), b = numbers({2, 5, 4}, dtype, 1);
    const AnyTensor x = linalg::solve(a, b);
    REQUIRE(x.shape() == Shape({3, 2, 5, 4}));
    check_alike(a.matmul(x), b.expand({3, 2, 5, 4}), bound(5));
    // Operands that lie across, and as each second row of something larger.
    const AnyTensor larger = regular({12, 12}, dtype);
    const AnyTensor across = t(larger.slice({s(0, 12, 2), s(0, 12, 2)}));
    check_alike(across.matmul(linalg::solve(across, unit(6, dtype))), unit(6, dtype), bound(6));
    check_alike(across.matmul(linalg::inverse(across)), unit(6, dtype), bound(6));
    const AnyTensor det = linalg::det(a);
    const auto [sign, logarithm] = linalg::slogdet(a);
    check_alike(sign * logarithm.exp(), det, 256);
    check_alike(linalg::det(AnyTensor::cat(
                    std::vector{larger.narrow(0, 1, 1), larger.narrow(0, 0, 1), larger.narrow(0, 2, 10)}, 0)),
                -linalg::det(larger), 256);
    const AnyTensor none = numbers({2, 4, 4}, dtype) * 0.0;
    check_alike(linalg::det(none), AnyTensor::full({2}, 0, dtype, test_device()), 0);
  }
}

TEST_CASE("between kernels, again and again, with other numbers each time") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  AnyTensor x = numbers({2, 8, 8}, DType::f32);
  for (int round = 0; round < 5; ++round) {
    CAPTURE(round);
    const AnyTensor a = definite(x * 0.5 + 0.25);
    const AnyTensor l = linalg::cholesky(a);
    const AnyTensor y = linalg::solve(a, x.sin());
    const AnyTensor residue = (a.matmul(y) - x.sin()).abs() + (l.matmul(t(l)) - a).abs();
    test_device().sync();
    check_alike(residue, residue.zeros_like(), bound(8) * 16);
    // Products and reductions before and behind the determinant, with which nothing is read in between.
    const AnyTensor small = definite((x.matmul(x) * 0.25).tanh());
    const AnyTensor det = linalg::det(small);
    const AnyTensor scaled = linalg::det(small.matmul(small) * 0.5).log() + 8 * std::log(2.0);
    check_alike(scaled, det.log() * 2.0, bound(8));
    x = (x + 0.125).cos();
  }
}

TEST_CASE("a matrix without a result is named, and the next call is none the worse") {
  const AnyTensor good = definite(numbers({3, 3, 3}, DType::f32));
  const AnyTensor bad = AnyTensor::cat(
      std::vector{good.narrow(0, 0, 1), AnyTensor::full({1, 3, 3}, 0, DType::f32, test_device()),
                  good.narrow(0, 1, 1)},
      0);
  const auto expect = [](const std::string& message, const auto& call) {
    CHECK(message_of(call).find(message) != std::string::npos);
  };
  expect("[cholesky] matrix 1 of the batch is not positive definite", [&] { linalg::cholesky(bad); });
  expect("[solve] matrix 1 of the batch is singular", [&] { linalg::solve(bad, good); });
  expect("[inverse] matrix 1 of the batch is singular", [&] { linalg::inverse(bad); });
  expect("[triangular_solve] matrix 1 of the batch is singular",
         [&] { linalg::triangular_solve(bad, good, true); });
  expect("[cholesky] the matrix is not positive definite", [&] { linalg::cholesky(-good.select(0, 0)); });
  expect("[solve] takes f32 or f64, not i64; cast first",
         [&] { linalg::solve(good.cast(DType::i64), good.cast(DType::i64)); });
  expect("[cholesky] takes square matrices, not shape (3, 2)",
         [&] { linalg::cholesky(good.select(0, 0).narrow(1, 0, 2)); });
  const AnyTensor l = linalg::cholesky(good);
  check_alike(l.matmul(t(l)), good, bound(3) * 8);
}

TEST_CASE("matrices with NaN or infinity are refused for what they are") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), inf}) {
    const AnyTensor x = regular({3, 3}, DType::f32) + unit(3, DType::f32).slice_fill({{0, 1}, {1, 2}}, bad);
    for (const auto& call :
         std::vector<std::function<void()>>{[&] { linalg::svd(x); }, [&] { linalg::pinv(x); }})
      CHECK(message_of(call).find("[svd] the matrix has elements that are NaN or infinite") !=
            std::string::npos);
  }
  // A library of the device may give an inverse that is NaN.
  if (test_device().core().computes(library::decomposition(library::Decomposition::Solve))) return;
  const AnyTensor nan = regular({2, 3, 3}, DType::f32) * std::nan("");
  CHECK(message_of([&] {
          linalg::inverse(nan);
        }).find("[inverse] matrix 0 of the batch has elements that are NaN or infinite") !=
        std::string::npos);
}

namespace {

AnyTensor leaf(const AnyTensor& x) { return x.to_device(test_device().autodiff()).require_grad(); }

}  // namespace

TEST_CASE("gradients of repeated singular values and eigenvalues") {
  const AnyTensor a = leaf(unit(2, DType::f32)), b = leaf(unit(3, DType::f64));
  check_alike(*std::get<1>(linalg::svd(a)).sum().backward().get(a), unit(2, DType::f32), 4);
  check_alike(*linalg::eigh(b).first.sum().backward().get(b), unit(3, DType::f64), 4);
  // One singular value of a tall matrix is 0.
  const AnyTensor tall = leaf(AnyTensor::full({3, 2}, 1, DType::f64, test_device()));
  const AnyTensor gradient = *std::get<1>(linalg::svd(tall)).narrow(0, 0, 1).sum().backward().get(tall);
  check_alike(gradient, AnyTensor::full({3, 2}, 1 / std::sqrt(6.0), DType::f64, test_device()), 8);
}

TEST_CASE("the gradient of a determinant of 0 is the matrix of cofactors") {
  const auto matrices = [](const std::vector<double>& elements, const Shape& shape) {
    return AnyTensor::from_bytes(std::as_bytes(std::span(elements)), shape, DType::f64, Device::host())
        .to_device(test_device());
  };
  const auto gradient_at = [](const AnyTensor& x) {
    const AnyTensor a = leaf(x);
    return *linalg::det(a).sum().backward().get(a);
  };
  check_alike(gradient_at(matrices({1, 2, 2, 4}, {2, 2})), matrices({4, -2, -2, 1}, {2, 2}), 64);
  check_alike(gradient_at(matrices({0}, {1, 1})), matrices({1}, {1, 1}), 4);
  // Of rank 1, where all cofactors are 0, and 2; with a regular one between, whose gradient is exact.
  const AnyTensor batch = matrices({1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                    2, 0, 0, 0, 3, 0, 0, 0, 4,  //
                                    1, 0, 0, 0, 2, 0, 0, 0, 0},
                                   {3, 3, 3});
  const AnyTensor want = matrices({0,  0, 0, 0, 0, 0, 0, 0, 0,  //
                                   12, 0, 0, 0, 8, 0, 0, 0, 6,  //
                                   0,  0, 0, 0, 0, 0, 0, 0, 2},
                                  {3, 3, 3});
  check_alike(gradient_at(batch), want, 64);
}

TEST_CASE("two threads decompose on one device") {
  std::vector<std::string> errors(2);
  const auto work = [&errors](std::size_t number) {
    errors[number] = message_of([&] {
      for (int round = 0; round < 4; ++round) {
        const AnyTensor a = definite(numbers({2, 6, 6}, DType::f32, static_cast<int>(number) * 8 + round));
        const AnyTensor x = linalg::solve(a, a);
        const Difference difference = all_close(x, unit(6, DType::f32).expand({2, 6, 6}), 1e-3, 1e-3);
        if (!difference) throw Error(difference.text);
      }
    });
  };
  std::thread other(work, std::size_t{1});
  work(0);
  other.join();
  CHECK(errors[0] == "");
  CHECK(errors[1] == "");
}

TEST_CASE("no matrices, and matrices of no size") {
  const AnyTensor none = AnyTensor::full({0, 3, 3}, 0, DType::f32, test_device());
  CHECK(linalg::cholesky(none).shape() == Shape({0, 3, 3}));
  CHECK(std::get<1>(linalg::svd(none)).shape() == Shape({0, 3}));
  CHECK(linalg::det(none).shape() == Shape({0}));
  const AnyTensor empty = AnyTensor::full({2, 0, 0}, 0, DType::f32, test_device());
  CHECK(linalg::qr(empty).first.shape() == Shape({2, 0, 0}));
  CHECK(linalg::inverse(empty).shape() == Shape({2, 0, 0}));
  check_alike(linalg::det(empty), AnyTensor::full({2}, 1, DType::f32, test_device()), 0);
  CHECK(linalg::solve(definite(numbers({4, 4}, DType::f32)),
                      AnyTensor::full({4, 0}, 0, DType::f32, test_device()))
            .shape() == Shape({4, 0}));
}

namespace {

AnyTensor host_unit(std::int64_t n, DType dtype) { return eye(n, n, dtype, Device::host()); }

/// Factors of `a`, multiplied on the host: kernels of the device for each shape would take long to compile.
void check_qr(const AnyTensor& a) {
  const auto [q, r] = linalg::qr(a);
  const AnyTensor there = on_host(a), host_q = on_host(q), host_r = on_host(r);
  const std::int64_t k = q.shape().back();
  check_alike(host_q.matmul(host_r), there, bound(k));
  const AnyTensor square = t(host_q).matmul(host_q);
  check_alike(square, host_unit(k, a.dtype()).expand(square.shape()), bound(k));
  check_alike(host_r.triu(), host_r, 0);
}
void check_svd(const AnyTensor& a) {
  const auto [u, s, vh] = linalg::svd(a);
  const AnyTensor there = on_host(a), host_u = on_host(u), host_v = t(on_host(vh));
  check_alike(on_host(s), std::get<1>(linalg::svd(there)), bound(s.shape().back()));
  check_alike((host_u * on_host(s).unsqueeze(-2)).matmul(t(host_v)), there, bound(s.shape().back()));
  for (const AnyTensor& factor : {host_u, host_v}) {
    const AnyTensor square = t(factor).matmul(factor);
    check_alike(square, host_unit(square.shape().back(), a.dtype()).expand(square.shape()),
                bound(a.shape().back()));
  }
}

/// All decompositions of square matrices, beside those of the host.
void check_batch(std::int64_t batch, std::int64_t n, DType dtype) {
  CAPTURE(name_of(dtype));
  CAPTURE(batch);
  CAPTURE(n);
  // With eigenvalues of about 1, so that determinants are no large numbers.
  const AnyTensor a = regular({batch, n, n}, dtype) * (0.5 / std::sqrt(1.0 + static_cast<double>(n)));
  const AnyTensor b = numbers({batch, n, 3}, dtype, 1), there = on_host(a);
  const double units = bound(n);
  check_alike(linalg::solve(a, b), linalg::solve(there, on_host(b)), units);
  check_alike(linalg::inverse(a), linalg::inverse(there), units);
  check_alike(linalg::det(a), linalg::det(there), units);
  check_alike(linalg::slogdet(a).second, linalg::slogdet(there).second, units);
  const auto [p, lower, upper] = linalg::lu(a);
  const auto [host_p, host_lower, host_upper] = linalg::lu(there);
  check_alike(p, host_p, 0);
  check_alike(lower, host_lower, units);
  check_alike(upper, host_upper, units);
  const AnyTensor positive = there.matmul(t(there)) + host_unit(n, dtype);
  check_alike(linalg::cholesky(positive.to_device(test_device())), linalg::cholesky(positive), units);
  const auto [w, v] = linalg::eigh(positive.to_device(test_device()));
  check_alike(w, linalg::eigh(positive).first, units);
  check_alike((on_host(v) * on_host(w).unsqueeze(-2)).matmul(t(on_host(v))), positive, units);
  check_qr(a);
  check_svd(a);
}

}  // namespace

TEST_CASE("batches of no, few and many matrices, as the host decomposes them") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  for (const DType dtype : dtypes())
    for (const std::int64_t batch : {0, 1, 3, 64})
      for (const std::int64_t n : {0, 1, 2, 17, 33, 64}) check_batch(batch, n, dtype);
  check_batch(2, 65, DType::f32);
  check_batch(8200, 2, DType::f32);  // more than one list of matrices has
}

TEST_CASE("oblong matrices of batches, and those with zeros") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  for (const DType dtype : dtypes()) {
    for (const Shape& shape : {Shape({64, 33, 17}), Shape({3, 17, 33}), Shape({64, 2, 1}), Shape({5, 1, 40}),
                               Shape({2, 3, 40, 40})}) {
      CAPTURE(to_string(shape));
      const AnyTensor a = numbers(shape, dtype);
      check_qr(a);
      check_svd(a);
    }
    const AnyTensor square = numbers({1, 9, 9}, dtype);
    const AnyTensor odd = AnyTensor::cat(
        std::vector{square, square * 0.0, square.triu(), unit(9, dtype).unsqueeze(0),
                    square.narrow(2, 0, 1).expand({1, 9, 9}), square.narrow(1, 2, 1).expand({1, 9, 9})},
        0);
    check_qr(odd);
    check_svd(odd);
    check_svd(odd.reshape({2, 3, 9, 9}));
    // Singular values of all magnitudes.
    const AnyTensor falling = (arange(0, 9, 1, dtype, test_device()) * -2.0).exp();
    check_svd(numbers({4, 9, 9}, dtype) * falling);
    check_svd(numbers({4, 20, 9}, dtype) * falling);
    // Of rank 3, alone and among others.
    for (const Shape& batch : {Shape({1}), Shape({3}), Shape()}) {
      Shape shape = batch, low = batch;
      for (const std::int64_t size : {40, 35}) shape.push_back(size), low.push_back(size);
      low[low.rank() - 1] = 3;
      const AnyTensor thin = numbers(low, dtype), a = numbers(shape, dtype);
      check_svd(thin.matmul(t(thin)));
      check_svd(a);
      check_svd(t(a));
    }
    check_qr(odd.narrow(-1, 0, 4));
    check_svd(odd.narrow(-2, 0, 4));
  }
}

TEST_CASE("singular values far from zero are found by Jacobi's iterations alone") {
  if (!test_device().core().computes(library::decomposition(library::Decomposition::JacobiSvd))) return;
  // Where the iterations do not end, another routine does all.
  const char* const emulated = std::getenv("SINTER_EMULATION_SOLVER");
  if (emulated && std::string(emulated) == "single") return;
  for (const DType dtype : dtypes())
    for (const Shape& shape : {Shape({5, 9, 9}), Shape({5, 20, 9}), Shape({3, 40, 40}), Shape({3, 50, 40}),
                               Shape({40, 40}), Shape({40, 50})}) {
      CAPTURE(to_string(shape));
      AnyTensor a = numbers(shape, dtype);
      const std::int64_t rows = shape[shape.rank() - 2], columns = shape.back();
      a = a + eye(rows, columns, dtype, test_device()) * 8.0;
      a.sync();
      std::size_t iterated = 0, others = 0;
      for (const auto& trace : explain([&] { std::get<1>(linalg::svd(a)).sync(); }).traces)
        for (const auto& launch : trace.launches)
          for (const std::string& op : launch.ops) {
            iterated += contains(op, "linalg.jacobi_svd");
            others += contains(op, "linalg.svd");
          }
      CHECK(iterated == 1);
      CHECK(others == 0);
    }
}

TEST_CASE("small and large numbers of batches") {
  const MatmulPrecisionScope exact(MatmulPrecision::Highest);
  const AnyTensor a = numbers({64, 32, 16}, DType::f32);
  for (const double size : {1e-30, 1e-23, 1e-20, 1e20}) {
    CAPTURE(size);
    const auto [q, r] = linalg::qr(a * size);
    check_alike(on_host(q).matmul(on_host(r) * (1 / size)), on_host(a), bound(32));
    const auto [u, s, vh] = linalg::svd(a * size);
    const AnyTensor scaled = on_host(s) * (1 / size);
    check_alike((on_host(u) * scaled.unsqueeze(-2)).matmul(on_host(vh)), on_host(a), bound(32));
  }
}

TEST_CASE("of the singular matrices among many the first is named") {
  for (const std::int64_t n : {3, 33}) {
    const AnyTensor good = regular({64, n, n}, DType::f32) * (0.5 / std::sqrt(1.0 + static_cast<double>(n)));
    const AnyTensor zeros = good.narrow(0, 0, 1) * 0.0;
    const AnyTensor bad = AnyTensor::cat(
        std::vector{good.narrow(0, 0, 40), zeros, good.narrow(0, 41, 9), zeros, good.narrow(0, 51, 13)}, 0);
    CHECK(contains(message_of([&] { linalg::solve(bad, good); }),
                   "[solve] matrix 40 of the batch is singular"));
    CHECK(
        contains(message_of([&] { linalg::inverse(bad); }), "[inverse] matrix 40 of the batch is singular"));
    CHECK(contains(message_of([&] { linalg::cholesky(definite(bad) - unit(n, DType::f32)); }),
                   "[cholesky] matrix 40 of the batch is not positive definite"));
    for (const bool upper : {false, true})
      CHECK(contains(message_of([&] { linalg::triangular_solve(bad, good, upper); }),
                     "[triangular_solve] matrix 40 of the batch is singular"));
    check_alike(linalg::det(bad), linalg::det(on_host(bad)), bound(n));
  }
}

TEST_CASE("a device with a library of its own reads one number of each matrix") {
  const Device device = test_device();
  if (!device.core().computes(library::decomposition(library::Decomposition::Cholesky))) return;
  const AnyTensor a = definite(numbers({2, 32, 32}, DType::f32));
  device.sync();
  const std::uint64_t before = device.statistics().bytes_from_device;
  linalg::cholesky(a);
  CHECK(device.statistics().bytes_from_device - before == 2 * sizeof(std::int32_t));
  linalg::triangular_solve(a, a, true);
  CHECK(device.statistics().bytes_from_device - before == 4 * sizeof(std::int32_t));
  linalg::det(a);
  linalg::qr(a);
  device.sync();
  CHECK(device.statistics().bytes_from_device - before == 4 * sizeof(std::int32_t));
}

}  // namespace sinter::testing
