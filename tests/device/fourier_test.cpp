// Fourier transforms against those of the host in double, and these against sums: lengths around all limits
// of the ops that GPUs have, axes, views, gradients of any order.
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numbers>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// Numbers in [-1, 1] without a pattern, in double on the host.
AnyTensor numbers(const Shape& shape, int salt = 0) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  std::uint64_t state = 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(salt);
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<std::int32_t>(state >> 32)) / 0x1p31;
  }
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, DType::f64, Device::host());
}

/// As the device has it; rounded likewise for the host.
AnyTensor on_device(const AnyTensor& x, DType dtype) { return x.cast(dtype).to_device(test_device()); }
AnyTensor rounded(const AnyTensor& x, DType dtype) { return x.cast(dtype).cast(DType::f64); }

std::vector<double> values_of(const AnyTensor& x) {
  const AnyTensor wide = x.to_device(Device::host()).cast(DType::f64);
  std::vector<double> values(static_cast<std::size_t>(wide.numel()));
  wide.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// The norm of a difference, relative to what is wanted, within what f32 or f64 can give.
void check_near(const std::vector<AnyTensor>& found, const std::vector<AnyTensor>& want, DType dtype) {
  double apart = 0, norm = 1e-30;
  REQUIRE(found.size() == want.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    REQUIRE(found[k].shape() == want[k].shape());
    REQUIRE(found[k].dtype() == dtype);
    const std::vector<double> a = values_of(found[k]), b = values_of(want[k]);
    for (std::size_t i = 0; i < a.size(); ++i) {
      apart += (a[i] - b[i]) * (a[i] - b[i]);
      norm += b[i] * b[i];
    }
  }
  const double error = std::sqrt(apart / norm), most = dtype == DType::f32 ? 6e-7 : 2e-15;
  CHECK(error <= most);
}
std::vector<AnyTensor> parts(const AnyComplex& x) { return {x.real, x.imag}; }

std::vector<DType> dtypes() {
  if (has_dtype(test_device(), DType::f64)) return {DType::f32, DType::f64};
  return {DType::f32};
}

/// All transforms of lines of n numbers along an axis of a shape.
void check_all(const Shape& shape, std::int64_t axis, DType dtype, FftNorm norm = FftNorm::Backward) {
  CAPTURE(to_string(shape));
  CAPTURE(axis);
  CAPTURE(std::string(name_of(dtype)));
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  const AnyTensor real = numbers(shape), imag = numbers(shape, 1);
  const AnyComplex given{on_device(real, dtype), on_device(imag, dtype)},
      wide{rounded(real, dtype), rounded(imag, dtype)};
  const AnyComplex y = fft(given, axis, norm);
  check_near(parts(y), parts(fft(wide, axis, norm)), dtype);
  check_near(parts(ifft(given, axis, norm)), parts(ifft(wide, axis, norm)), dtype);
  check_near(parts(ifft(y, axis, norm)), parts(wide), dtype);
  const AnyTensor nothing;
  check_near(parts(fft({given.real, nothing}, axis, norm)), parts(fft({wide.real, nothing}, axis, norm)),
             dtype);
  check_near(parts(ifft({given.real, nothing}, axis, norm)), parts(ifft({wide.real, nothing}, axis, norm)),
             dtype);
  const AnyComplex half = rfft(given.real, axis, norm);
  check_near(parts(half), parts(rfft(wide.real, axis, norm)), dtype);
  check_near({irfft(half, n, axis, norm)}, {wide.real}, dtype);
  // Any spectrum: imaginary parts of what mirrors itself are not looked at.
  const std::int64_t size = n / 2 + 1;
  const auto cut = [&](const AnyComplex& x) {
    return AnyComplex{x.real.narrow(axis, 0, size), x.imag.narrow(axis, 0, size)};
  };
  check_near({irfft(cut(given), n, axis, norm)}, {irfft(cut(wide), n, axis, norm)}, dtype);
}

constexpr std::int64_t kLengths[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,   13,  15,  16,
                                     17,  24,  30,  32,  33,  48,  64,  77,  100, 121, 127,  128, 143, 169,
                                     200, 210, 243, 256, 343, 384, 500, 512, 625, 676, 1000, 1024};
constexpr std::int64_t kLongLengths[] = {1025, 1331, 1536, 2000, 2048,  2187,  2197,  3125, 4000,
                                         4096, 5000, 6561, 8192, 10000, 16384, 19683, 65536};

/// Sums over j of (a + ib)[j] exp(-+ 2 pi i j k / n).
std::vector<std::vector<double>> sums(const std::vector<double>& a, const std::vector<double>& b, int sign) {
  const std::size_t n = a.size();
  std::vector<std::vector<double>> y(2, std::vector<double>(n));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) {
      const double angle =
          sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      y[0][k] += a[j] * std::cos(angle) - b[j] * std::sin(angle);
      y[1][k] += a[j] * std::sin(angle) + b[j] * std::cos(angle);
    }
  return y;
}

}  // namespace

TEST_CASE("transforms are their sums") {
  for (const std::int64_t n : {1, 2, 3, 7, 8, 12, 17, 60, 64, 77, 128, 210, 256}) {
    CAPTURE(n);
    const AnyTensor a = rounded(numbers({n}), DType::f32), b = rounded(numbers({n}, 1), DType::f32);
    const AnyComplex x{on_device(a, DType::f32), on_device(b, DType::f32)};
    const auto forward = sums(values_of(a), values_of(b), -1), back = sums(values_of(a), values_of(b), 1);
    const AnyComplex y = fft(x), z = ifft(x, -1, FftNorm::Forward);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const double most = 2e-6 * std::sqrt(static_cast<double>(n));
      CHECK(std::abs(values_of(y.real)[i] - forward[0][i]) <= most);
      CHECK(std::abs(values_of(y.imag)[i] - forward[1][i]) <= most);
      CHECK(std::abs(values_of(z.real)[i] - back[0][i]) <= most);
      CHECK(std::abs(values_of(z.imag)[i] - back[1][i]) <= most);
    }
  }
}

/// Of sizes that have kernels of their own all, or some where these take long to compile.
template <class T>
std::vector<T> some(std::initializer_list<T> few, std::initializer_list<T> others) {
  std::vector<T> sizes(few);
  if (!compiles_slowly(test_device())) sizes.insert(sizes.end(), others);
  return sizes;
}
void check_lengths(std::span<const std::int64_t> lengths) {
  for (const DType dtype : dtypes())
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::int64_t n = lengths[i];
      if (compiles_slowly(test_device()) && i % 6 != (dtype == DType::f32 ? 0 : 3)) continue;
      check_all({n > 10000 ? 1 : 3, n}, 1, dtype);
    }
}

TEST_CASE("short lines") { check_lengths(kLengths); }

TEST_CASE("long lines") { check_lengths(kLongLengths); }

TEST_CASE("2^20 points") {
  const AnyTensor x = numbers({1 << 20});
  const AnyComplex y = rfft(on_device(x, DType::f32));
  check_near(parts(y), parts(rfft(rounded(x, DType::f32))), DType::f32);
  check_near({irfft(y)}, {rounded(x, DType::f32)}, DType::f32);
}

TEST_CASE("numbers of lines, axes and factors") {
  for (const std::int64_t n : some<std::int64_t>({15, 256}, {2, 16, 100}))
    for (const std::int64_t lines : some<std::int64_t>({1, 70}, {2, 3, 33}))
      check_all({lines, n}, 1, DType::f32, FftNorm::Ortho);
  for (const std::int64_t n : some<std::int64_t>({5, 96}, {2, 16, 256}))
    for (const std::int64_t inner : some<std::int64_t>({3, 33}, {1, 8}))
      check_all({2, n, inner}, 1, DType::f32, FftNorm::Forward);
  check_all({3000, 64}, 1, DType::f32);
  check_all({1, 32768}, 1, DType::f32);
  check_all({2048, 3}, 0, DType::f32);
  check_all({4096, 2}, 0, DType::f32, FftNorm::Ortho);
  for (const DType dtype : dtypes()) {
    check_all({3, 4, 30, 5}, 1, dtype, FftNorm::Ortho);
    check_all({64, 16, 12}, 0, dtype);
  }
}

TEST_CASE("no lines") {
  const AnyTensor x = AnyTensor::full({0, 8}, 0, DType::f32, test_device());
  CHECK(fft({x, x}).real.shape() == Shape{0, 8});
  CHECK(ifft({x, x}).imag.shape() == Shape{0, 8});
  CHECK(rfft(x).real.shape() == Shape{0, 5});
}

TEST_CASE("parts that differ in shape are refused") {
  const auto of = [](const Shape& shape) { return on_device(numbers(shape), DType::f32); };
  for (const Shape& other : {Shape{4, 1}, Shape{1, 6}, Shape{4, 5}})
    CHECK_THROWS_WITH_AS(irfft({of({4, 6}), of(other)}),
                         doctest::Contains("[irfft] real and imaginary parts differ in shape: (4, 6) and"),
                         ShapeError);
}

TEST_CASE("views are read where they lie") {
  const AnyTensor wide = rounded(numbers({6, 20, 40}), DType::f32), x = on_device(wide, DType::f32);
  const auto check = [&](const auto& view, std::int64_t axis) {
    const AnyComplex y = fft({view(x), view(x * 2.0)}, axis),
                     want = fft({view(wide), view(wide * 2.0)}, axis);
    check_near(parts(y), parts(want), DType::f32);
    check_near(parts(rfft(view(x), axis)), parts(rfft(view(wide), axis)), DType::f32);
    // Parts that lie differently.
    const AnyTensor other = view(x) * 0.5;
    check_near(parts(ifft({view(x), other}, axis)), parts(ifft({view(wide), view(wide) * 0.5}, axis)),
               DType::f32);
  };
  check([](const AnyTensor& t) { return t.narrow(2, 3, 32); }, 2);
  check([](const AnyTensor& t) { return t.narrow(1, 4, 15).narrow(2, 1, 30); }, 1);
  check([](const AnyTensor& t) { return t.transpose(1, 2); }, 2);
  check([](const AnyTensor& t) { return t.transpose(0, 2); }, 0);
  check([](const AnyTensor& t) { return t.permute({2, 0, 1}); }, 2);
  check([](const AnyTensor& t) { return t.flip(2); }, 2);
  check([](const AnyTensor& t) { return t.narrow(0, 0, 1).expand({5, 20, 40}); }, 2);
  check([](const AnyTensor& t) { return t.windows(-1, 16, 4); }, -1);
}

TEST_CASE("the same bits each time") {
  const AnyTensor x = on_device(numbers({5, 1000}), DType::f32);
  CHECK(values_of(rfft(x).imag) == values_of(rfft(x).imag));
  const AnyTensor line = on_device(numbers({16384}), DType::f32);
  CHECK(values_of(rfft(line).imag) == values_of(rfft(line).imag));
}

TEST_CASE("under Autocast and low precisions of products") {
  const AnyTensor x = numbers({4, 128});
  const Autocast narrow(DType::bf16);
  const MatmulPrecisionScope low(MatmulPrecision::Medium);
  check_near(parts(rfft(on_device(x, DType::f32))), parts(rfft(rounded(x, DType::f32))), DType::f32);
}

namespace {

/// What a transform does, as one number that has second derivatives in each of its numbers.
using Scored = std::function<AnyTensor(const AnyTensor&, const AnyTensor&)>;

AnyTensor score(const std::vector<AnyTensor>& results) {
  AnyTensor sum;
  int salt = 7;
  for (const AnyTensor& result : results) {
    const AnyTensor by =
        numbers(result.shape(), salt++).cast(result.dtype()).to_device(result.device().inner());
    const AnyTensor term = (result * by + result * result * result * 0.01).sum(result.all_axes());
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

/// Gradients, and gradients of a function of gradients, on the device and on the host in double.
void check_gradients(const Shape& shape, const Scored& scored, DType dtype) {
  CAPTURE(to_string(shape));
  const auto derivatives = [&](const Device& device, DType own) {
    const auto leaf = [&](int salt) {
      return rounded(numbers(shape, salt), dtype).cast(own).to_device(device.autodiff()).require_grad();
    };
    const AnyTensor a = leaf(0), b = leaf(1);
    const std::vector<AnyTensor> both{a, b};
    const std::vector<AnyTensor> first = gradient(scored(a, b), both);
    const AnyTensor of_first = score(first);
    std::vector<AnyTensor> all = gradient(of_first, both);
    for (const AnyTensor& g : first) all.push_back(g.inner());
    for (AnyTensor& g : all) g = g.inner();
    return all;
  };
  const std::vector<AnyTensor> found = derivatives(test_device(), dtype),
                               want = derivatives(Device::host(), DType::f64);
  for (std::size_t k = 0; k < found.size(); ++k) {
    CAPTURE(k);
    const std::vector<double> a = values_of(found[k]), b = values_of(want[k]);
    double apart = 0, norm = 1e-30;
    for (std::size_t i = 0; i < a.size(); ++i) {
      apart += (a[i] - b[i]) * (a[i] - b[i]);
      norm += b[i] * b[i];
    }
    CHECK(std::sqrt(apart / norm) <= (dtype == DType::f32 ? 4e-6 : 1e-13));
  }
}

}  // namespace

TEST_CASE("gradients of any order") {
  for (const DType dtype : dtypes())
    for (const Shape& shape : some<Shape>({{2, 15}, {2, 34}}, {{2, 12}, {1, 64}, {1, 1056}})) {
      for (const FftNorm norm : some<FftNorm>({FftNorm::Ortho}, {FftNorm::Backward})) {
        check_gradients(
            shape,
            [&](const AnyTensor& a, const AnyTensor& b) {
              return score(parts(fft({a, b}, 1, norm)));
            },
            dtype);
        check_gradients(
            shape,
            [&](const AnyTensor& a, const AnyTensor& b) {
              return score(parts(ifft({a, b}, 1, norm)));
            },
            dtype);
        check_gradients(
            shape, [&](const AnyTensor& a, const AnyTensor& b) { return score(parts(rfft(a * b, 1, norm))); },
            dtype);
        for (const std::int64_t n : {2 * (shape[1] - 1), 2 * shape[1] - 1})
          check_gradients(
              shape,
              [&](const AnyTensor& a, const AnyTensor& b) {
                return score({irfft({a, b}, n, 1, norm)});
              },
              dtype);
      }
      check_gradients(
          shape,
          [&](const AnyTensor& a, const AnyTensor& b) {
            return score(parts(fft({a * b, AnyTensor()}, 1)));
          },
          dtype);
    }
}

TEST_CASE("gradients are differences") {
  if (!has_dtype(test_device(), DType::f64)) return;
  const auto value = [](const AnyTensor& x) {
    const AnyComplex y = rfft(x, 1);
    return score({irfft({y.real * y.real, y.imag + y.real}, 10, 1), y.imag});
  };
  const AnyTensor given = numbers({2, 10});
  const AnyTensor x = given.to_device(test_device().autodiff()).require_grad();
  const std::vector<double> found = values_of(gradient(value(x), x).inner()), at = values_of(given);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto moved = [&](double by) {
      std::vector<double> numbers = at;
      numbers[i] += by;
      return values_of(value(
          AnyTensor::from_bytes(std::as_bytes(std::span(numbers)), {2, 10}, DType::f64, test_device())))[0];
    };
    CHECK((moved(1e-5) - moved(-1e-5)) / 2e-5 == doctest::Approx(found[i]).epsilon(1e-6));
  }
}

TEST_CASE("spectra of signals come back") {
  const AnyTensor x = on_device(numbers({2, 1000}), DType::f32);
  const AnyTensor window = on_device(numbers({64}), DType::f32).abs() + 0.1;
  const StftOptions options{.size = 64};
  const AnyComplex y = stft(x, window, options);
  check_near(parts(y),
             parts(stft(rounded(numbers({2, 1000}), DType::f32),
                        window.to_device(Device::host()).cast(DType::f64), options)),
             DType::f32);
  const AnyTensor back = istft(y, window, options, 1000);
  for (std::size_t i = 0; i < 2000; ++i)
    CHECK(values_of(back)[i] == doctest::Approx(values_of(x)[i]).epsilon(1e-4));
}

}  // namespace sinter::testing
