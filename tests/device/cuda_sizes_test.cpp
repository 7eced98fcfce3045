// Products, convolutions and indexed sums whose operands or results have more than 2^31 elements, on a GPU
// with 20 GiB of free memory; elsewhere the same checks run with small sizes. Elements repeat with a short
// period, so that the host knows each of them, and samples of the results are compared with sums in double
// precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>
#include <sinter/sinter.h>

#include "jit/library/conv2d.h"
#include "jit/library/indexed_sum.h"
#include "jit/library/matmul.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/one_run.h"

namespace sinter::testing {
namespace {

using i64 = std::int64_t;

constexpr double kLongSum =
    1e-3;                      // relative to the magnitudes: f32 adds millions of terms one after the other
constexpr i64 kPeriod = 1021;  // a prime, so that no dim of a tensor hides a wrong position

/// Element `i` of operand `which`: a multiple of 1/16 below 2.
double element(int which, i64 i) {
  return static_cast<double>((i % kPeriod * (which == 0 ? 7 : 11) + which) % 61 - 30) / 16;
}

class Products {
 public:
  Products() {
    if (emulation()) return;
    try {
      backend_->allocate(std::size_t{20} << 30);  // stays in the pool
      large_ = true;
    } catch (const DeviceError&) {
      MESSAGE("small sizes: there are not 20 GiB of free memory");
    }
  }

  /// `large` where there is the memory, else `small`.
  i64 size(i64 large, i64 small) const { return large_ ? large : small; }

  /// Runs the op and compares samples, and the first and last results, with `expected`, which gives a sum and
  /// adds up the magnitudes of its terms.
  void check(const library::LibraryOp& op, i64 first, i64 second, i64 results,
             const std::function<double(i64, double&)>& expected, int samples = 300, double relative = 1e-5) {
    const auto a = operand(0, first), b = operand(1, second);
    const auto c = backend_->allocate(static_cast<std::size_t>(results) * sizeof(float));
    const auto executable = backend_->prepare(op);
    const runtime::BufferView views[] = {{a.get(), 0}, {b.get(), 0}, {c.get(), 0}};
    run_alone(*backend_, *executable, {views, {}, {}});
    std::mt19937_64 random(3);
    for (int sample = 0; sample < samples + 2; ++sample) {
      const i64 at = sample == 0   ? 0
                     : sample == 1 ? results - 1
                                   : static_cast<i64>(random() % static_cast<std::uint64_t>(results));
      float got = 0;
      backend_->download({c.get(), static_cast<std::size_t>(at) * sizeof(float)},
                         std::as_writable_bytes(std::span(&got, 1)));
      double magnitude = 0;
      const double want = expected(at, magnitude);
      CAPTURE(at);
      CHECK(std::abs(got - want) <= relative * magnitude);
    }
  }

 private:
  runtime::BufferRef operand(int which, i64 count) {
    constexpr i64 kPiece = kPeriod << 14;
    std::vector<float> piece(static_cast<std::size_t>(std::min(count, kPiece)));
    for (std::size_t i = 0; i < piece.size(); ++i)
      piece[i] = static_cast<float>(element(which, static_cast<i64>(i)));
    auto buffer = backend_->allocate(static_cast<std::size_t>(count) * sizeof(float));
    for (i64 from = 0; from < count; from += kPiece) {
      const auto part = std::span(piece).first(static_cast<std::size_t>(std::min(count - from, kPiece)));
      backend_->upload({buffer.get(), static_cast<std::size_t>(from) * sizeof(float)}, std::as_bytes(part));
    }
    return buffer;
  }

  const std::unique_ptr<runtime::Backend> backend_ = runtime::make_cuda_backend(0);
  bool large_ = false;
};

Products& products() {
  static Products all;
  return all;
}

/// Row-major operands, each with its own batch unless `b_batch` is 0.
void check_matmul(library::MatMulOp op, i64 first, i64 second) {
  op.dtype = DType::f32;
  products().check(
      op, first, second, op.batch * op.m * op.n,
      [op](i64 at, double& magnitude) {
        const i64 column = at % op.n, row = at / op.n % op.m, z = at / op.n / op.m;
        // Positions repeat with the period where neighbours in k are neighbours in memory or a fixed step
        // apart, so a long sum is a whole number of periods and a rest.
        const auto term = [&](i64 k) {
          return element(0, z * op.a_batch + row * op.a_row + k * op.a_column) *
                 element(1, z * op.b_batch + k * op.b_row + column * op.b_column);
        };
        double period = 0, periods_magnitude = 0, rest = 0;
        const i64 periods = op.k / kPeriod;
        if (periods > 0)
          for (i64 k = 0; k < kPeriod; ++k) period += term(k), periods_magnitude += std::abs(term(k));
        magnitude += static_cast<double>(periods) * periods_magnitude;
        for (i64 k = periods * kPeriod; k < op.k; ++k) rest += term(k), magnitude += std::abs(term(k));
        return static_cast<double>(periods) * period + rest;
      },
      300, op.k > 10'000 ? kLongSum : 1e-5);
}

library::MatMulOp matmul(i64 batch, i64 m, i64 n, i64 k) {
  library::MatMulOp op;
  op.batch = batch;
  op.m = m;
  op.n = n;
  op.k = k;
  op.a_batch = m * k;
  op.a_row = k;
  op.a_column = 1;
  op.b_batch = k * n;
  op.b_row = n;
  op.b_column = 1;
  return op;
}

using Direction = library::Conv2dOp::Direction;

/// A convolution of 3 x 3 with padding and one group or two.
void check_conv2d(Direction direction, i64 images, i64 c_in, i64 c_out, i64 height, i64 width, i64 groups,
                  int samples = 300) {
  library::Conv2dOp op;
  op.dtype = DType::f32;
  op.direction = direction;
  op.n = images;
  op.c_in = c_in;
  op.c_out = c_out;
  op.h = op.oh = height;
  op.w = op.ow = width;
  op.kh = op.kw = 3;
  op.padding = {1, 1};
  op.groups = groups;
  const i64 in = c_in / groups, out = c_out / groups;
  const i64 x = images * c_in * height * width, y = images * c_out * height * width, weights = c_out * in * 9;
  const auto at_x = [=](i64 image, i64 c, i64 h, i64 w) {
    return ((image * c_in + c) * height + h) * width + w;
  };
  const auto at_y = [=](i64 image, i64 c, i64 h, i64 w) {
    return ((image * c_out + c) * height + h) * width + w;
  };
  const auto at_weight = [=](i64 o, i64 i, i64 r, i64 s) { return ((o * in + i) * 3 + r) * 3 + s; };
  const auto inside = [=](i64 h, i64 w) { return h >= 0 && h < height && w >= 0 && w < width; };
  const auto pixel_of = [=](i64 at, i64 channels, i64& image, i64& c, i64& h, i64& w) {
    w = at % width;
    h = at / width % height;
    c = at / width / height % channels;
    image = at / width / height / channels;
  };
  switch (direction) {
    case Direction::Forward:
      return products().check(op, x, weights, y, [=](i64 at, double& magnitude) {
        i64 image, o, h, w;
        pixel_of(at, c_out, image, o, h, w);
        double sum = 0;
        for (i64 i = 0; i < in; ++i)
          for (i64 r = 0; r < 3; ++r)
            for (i64 s = 0; s < 3; ++s) {
              if (!inside(h + r - 1, w + s - 1)) continue;
              const double term = element(0, at_x(image, o / out * in + i, h + r - 1, w + s - 1)) *
                                  element(1, at_weight(o, i, r, s));
              sum += term, magnitude += std::abs(term);
            }
        return sum;
      });
    case Direction::BackwardInput:
      return products().check(op, y, weights, x, [=](i64 at, double& magnitude) {
        i64 image, c, h, w;
        pixel_of(at, c_in, image, c, h, w);
        double sum = 0;
        for (i64 o = c / in * out; o < (c / in + 1) * out; ++o)
          for (i64 r = 0; r < 3; ++r)
            for (i64 s = 0; s < 3; ++s) {
              if (!inside(h + 1 - r, w + 1 - s)) continue;
              const double term =
                  element(0, at_y(image, o, h + 1 - r, w + 1 - s)) * element(1, at_weight(o, c % in, r, s));
              sum += term, magnitude += std::abs(term);
            }
        return sum;
      });
    case Direction::BackwardWeight:
      return products().check(
          op, x, y, weights,
          [=](i64 at, double& magnitude) {
            const i64 s = at % 3, r = at / 3 % 3, i = at / 9 % in, o = at / 9 / in;
            double sum = 0;
            for (i64 image = 0; image < images; ++image)
              for (i64 h = 0; h < height; ++h)
                for (i64 w = 0; w < width; ++w) {
                  if (!inside(h + r - 1, w + s - 1)) continue;
                  const double term = element(0, at_x(image, o / out * in + i, h + r - 1, w + s - 1)) *
                                      element(1, at_y(image, o, h, w));
                  sum += term, magnitude += std::abs(term);
                }
            return sum;
          },
          samples, kLongSum);
  }
}

}  // namespace

TEST_CASE("a matrix product reads an operand beyond 2^31") {
  const i64 m = products().size(2'200'000, 220), k = products().size(1000, 100);
  check_matmul(matmul(1, m, 4, k), m * k, k * 4);
}

TEST_CASE("a matrix product writes a result beyond 2^31") {
  const i64 m = products().size(70'000, 70), n = products().size(32'768, 40);
  check_matmul(matmul(1, m, n, 8), m * 8, 8 * n);
}

TEST_CASE("a matrix product of more than 2^31 rows, and of as many columns") {
  const i64 many = products().size((i64{1} << 31) + 100, 300);
  check_matmul(matmul(1, many, 1, 1), many, 1);
  check_matmul(matmul(1, 1, many, 1), 1, many);
}

TEST_CASE("a matrix product that sums over more than 2^31") {
  const i64 k = products().size((i64{1} << 31) + 77, 5000);
  library::MatMulOp op = matmul(1, 2, 1, k);
  op.a_row = 0;  // both rows are the same memory
  check_matmul(op, k, k);
}

TEST_CASE("many matrix products, whose operands together are beyond 2^31") {
  const i64 batch = products().size(300'000, 30);
  library::MatMulOp op = matmul(batch, 100, 1, 100);
  op.b_batch = 0;
  check_matmul(op, batch * 10'000, 100);
}

TEST_CASE("matrix products of f64 of more than 2^31 elements are those of their last rows") {
  const Device device = Device::cuda();
  const auto numbers = [&](i64 rows, i64 columns) {
    const auto along = [&](i64 count, double period) {
      return AnyTensor::remainder(AnyTensor::arange(0, count, 1, device), period).cast(DType::f64);
    };
    AnyTensor x = along(rows, 61).unsqueeze(1) + along(columns, 59);
    x.sync();
    return x;
  };
  const auto product = [](const AnyTensor& a, const AnyTensor& b) {
    AnyTensor y = a.matmul(b);
    y.sync();
    return y;
  };
  const auto values = [](const AnyTensor& x) { return Tensor<2>(x.cast(DType::f32)).to_vector<float>(); };
  const i64 m = products().size(33'000, 300), k = products().size(65'600, 260), n = products().size(16, 256),
            last = 7;
  {
    const AnyTensor a = numbers(m, k), b = numbers(k, n), c = numbers(n, k);
    CHECK(values(product(a, b).narrow(0, m - last, last)) == values(product(a.narrow(0, m - last, last), b)));
    CHECK(values(product(c, a.t()).narrow(1, m - last, last)) ==
          values(product(c, a.narrow(0, m - last, last).t())));
  }
  const i64 rows = products().size(46'400, 256), columns = products().size(46'400, 1100);
  const AnyTensor a = numbers(rows, 64), b = numbers(64, columns);
  CHECK(values(product(a, b).narrow(0, rows - last, last)) ==
        values(product(a.narrow(0, rows - last, last), b)));
}

TEST_CASE("convolutions with pictures beyond 2^31") {
  const i64 images = products().size(70, 3), side = products().size(1024, 9);
  for (const i64 groups : {1, 2}) {
    check_conv2d(Direction::Forward, images, 32, 4, side, side, groups);
    check_conv2d(Direction::Forward, images, 4, 32, side, side, groups);
    check_conv2d(Direction::BackwardInput, images, 32, 4, side, side, groups);
    check_conv2d(Direction::BackwardInput, images, 4, 32, side, side, groups);
    check_conv2d(Direction::BackwardWeight, images, 32, 4, side, side, groups, 6);
    check_conv2d(Direction::BackwardWeight, images, 4, 32, side, side, groups, 6);
  }
}

TEST_CASE("a convolution of more than 2^31 pixels") {
  const i64 images = products().size(2049, 3), side = products().size(1024, 9);
  check_conv2d(Direction::Forward, images, 1, 1, side, side, 1);
  check_conv2d(Direction::BackwardInput, images, 1, 1, side, side, 1);
}

namespace {

/// So many images of those that are numbered from 0 on, of numbers below 5, in memory.
AnyTensor images_of(i64 first, i64 count, i64 channels, i64 side, bool last, const Device& device) {
  const i64 size = channels * side * side;
  const AnyTensor x =
      AnyTensor::remainder(AnyTensor::arange(first * size, (first + count) * size, 1, device), 5)
          .cast(DType::f32);
  x.sync();
  return last ? x.reshape({count, side, side, channels}).permute({0, 3, 1, 2})
              : x.reshape({count, channels, side, side});
}

}  // namespace

TEST_CASE("a depthwise convolution of more than 2^31 elements is that of each image") {
  const i64 images = products().size(66, 3), side = products().size(2048, 9), channels = 8;
  const Device device = Device::cuda();
  const AnyTensor weight =
      AnyTensor::arange(0, channels * 9, 1, device).cast(DType::f32).reshape({channels, 1, 3, 3});
  for (const bool last : {false, true}) {
    const auto convolved = [&](i64 first, i64 count) {
      const AnyTensor x = images_of(first, count, channels, side, last, device);
      AnyTensor y = x.conv2d(weight, {.padding = {1, 1}, .groups = channels});
      y.sync();
      return y;
    };
    const AnyTensor of_all = convolved(0, images).narrow(0, images - 1, 1);
    CHECK(Tensor<4>(of_all).to_vector<float>() == Tensor<4>(convolved(images - 1, 1)).to_vector<float>());
  }
}

TEST_CASE("a convolution on tensor cores of more than 2^31 elements is that of each image") {
  const Device device = Device::cuda();
  // Groups side by side, and lines of channels that are not full.
  for (const auto& [channels, groups] : {std::pair<i64, i64>{64, 8}, {24, 1}}) {
    const i64 side = products().size(1024, 9), size = channels * side * side,
              images = products().size((i64{1} << 31) / size + 2, 3);
    const AnyTensor
        number = AnyTensor::arange(0, 48 * channels / groups * 9, 1, device),
        weight = AnyTensor::remainder(number, 3).cast(DType::bf16).reshape({48, channels / groups, 3, 3});
    const auto convolved = [&, channels = channels, groups = groups](i64 first, i64 count) {
      AnyTensor x =
          AnyTensor::remainder(AnyTensor::arange(first * size, (first + count) * size, 1, device), 5)
              .cast(DType::bf16);
      x.sync();
      x = x.reshape({count, side, side, channels}).permute({0, 3, 1, 2});
      AnyTensor y = x.conv2d(weight, {.padding = {1, 1}, .groups = groups});
      y.sync();
      return y;
    };
    const AnyTensor of_last = convolved(0, images).narrow(0, images - 1, 1).cast(DType::f32),
                    alone = convolved(images - 1, 1).cast(DType::f32);
    CHECK(Tensor<4>(of_last).to_vector<float>() == Tensor<4>(alone).to_vector<float>());
  }
}

TEST_CASE("a convolution of a volume of more than 2^31 elements is that of its last planes") {
  const i64 planes = products().size(40, 5), side = products().size(1024, 9), channels = 64,
            size = channels * side * side;
  const Device device = Device::cuda();
  const AnyTensor weight = AnyTensor::remainder(AnyTensor::arange(0, channels * channels * 27, 1, device), 7)
                               .cast(DType::bf16)
                               .reshape({channels, channels, 3, 3, 3});
  AnyTensor x = AnyTensor::remainder(AnyTensor::arange(0, planes * size, 1, device), 5).cast(DType::bf16);
  x.sync();
  x = x.reshape({1, planes, side, side, channels}).permute({0, 4, 1, 2, 3});
  const auto last_plane = [&](const AnyTensor& of, i64 depth, i64 plane) {
    AnyTensor y = of.conv3d(weight, {.padding = {depth, 1, 1}});
    y.sync();
    return Tensor<5>(y.narrow(2, plane, 1).cast(DType::f32)).to_vector<float>();
  };
  CHECK(last_plane(x, 1, planes - 2) == last_plane(x.narrow(2, planes - 3, 3), 0, 0));
}

TEST_CASE("the gradient of a depthwise weight reads more than 2^31 elements") {
  const i64 images = products().size(66, 3), side = products().size(2048, 9), channels = 8,
            size = channels * side * side;
  const Device device = Device::cuda().autodiff();
  for (const bool last : {false, true}) {
    // Of all images the last one's results have gradients, some of them.
    const auto gradient = [&](i64 first, i64 count) {
      const AnyTensor x = images_of(first, count, channels, side, last, device);
      const AnyTensor weight = AnyTensor::full({channels, 1, 3, 3}, 1, DType::f32, device).require_grad(),
                      y = x.conv2d(weight, {.padding = {1, 1}, .groups = channels}).narrow(0, count - 1, 1);
      const AnyTensor met =
          AnyTensor::equal(AnyTensor::remainder(AnyTensor::arange(0, size, 1, device), 4099), 0)
              .cast(DType::f32)
              .reshape({1, channels, side, side});
      const AnyTensor product = AnyTensor::mul(y, met);
      return Tensor<4>(*product.sum(product.all_axes()).reshape({}).backward().get(weight))
          .to_vector<float>();
    };
    CHECK(gradient(0, images) == gradient(images - 1, 1));
  }
}

TEST_CASE("an indexed sum reads values beyond 2^31") {
  const i64 count = products().size(3'500'000, 3500), columns = 640, rows = 7, last = 1000;
  REQUIRE(library::stretches_of_sum(DType::f32, count, columns, rows) > 1);
  const Device device = Device::cuda();
  const AnyTensor number = AnyTensor::arange(0, count, 1, device);
  // Only the last values, which have the highest places, are not 0.
  const AnyTensor values = AnyTensor::greater_equal(number, count - last).cast(DType::f32);
  const AnyTensor sums = AnyTensor::full({rows, columns}, 0, DType::f32, device)
                             .index_add(0, AnyTensor::remainder(number, rows),
                                        values.reshape({count, 1}).expand({count, columns}));
  std::vector<float> expected;
  for (i64 row = 0; row < rows; ++row) {
    i64 terms = 0;
    for (i64 i = count - last; i < count; ++i) terms += i % rows == row ? 1 : 0;
    expected.insert(expected.end(), static_cast<std::size_t>(columns), static_cast<float>(terms));
  }
  CHECK(Tensor<2>(sums).to_vector<float>() == expected);
}

}  // namespace sinter::testing
