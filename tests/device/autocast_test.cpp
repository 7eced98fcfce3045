// Mixed precision: which dtypes operations take inside of a scope, and what training in them gives.
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

std::vector<DType> half_dtypes() {
  std::vector<DType> dtypes;
  for (const DType dtype : {DType::bf16, DType::f16})
    if (has_dtype(test_device(), dtype)) dtypes.push_back(dtype);
  return dtypes;
}

Tensor<2> numbers(std::int64_t rows, std::int64_t columns, int seed, const Device& device = test_device()) {
  TestData data(static_cast<std::uint64_t>(seed));
  const std::vector<double> reals = data.reals(static_cast<std::size_t>(rows * columns), -1, 1);
  const std::vector<float> values(reals.begin(), reals.end());
  return Tensor<2>::from_data(values, {rows, columns}, device);
}

std::vector<double> wide(const AnyTensor& x) {
  std::vector<double> result;
  for (const float value : values_of(x.detach().cast(DType::f32))) result.push_back(value);
  return result;
}

void check_near(const AnyTensor& found, const AnyTensor& want, double bound) {
  const std::vector<double> got = wide(found), exact = wide(want);
  REQUIRE(got.size() == exact.size());
  double largest = 0;
  for (const double value : exact) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - exact[i]) <= bound * largest);
  }
}

}  // namespace

TEST_CASE("dtypes inside of a scope are the table's") {
  const auto x = numbers(4, 6, 1), w = numbers(6, 5, 2);
  const auto image = x.reshape({1, 1, 4, 6}), kernel = w.slice({s(0, 2), s(0, 2)}).reshape({1, 1, 2, 2});
  for (const DType half : half_dtypes()) {
    const Autocast mixed(half);
    CHECK(autocast_dtype() == half);
    const auto y = x.matmul(w);
    CHECK(y.dtype() == half);
    CHECK(image.conv2d(kernel).dtype() == half);
    CHECK(conv_transpose2d(image, kernel).dtype() == half);
    CHECK((y * 2).dtype() == half);
    CHECK(relu(y).dtype() == half);
    CHECK(y.tanh().dtype() == half);
    CHECK(y.max(1).dtype() == half);
    CHECK((y + numbers(4, 5, 3)).dtype() == DType::f32);
    CHECK((numbers(4, 5, 3) > y).dtype() == DType::boolean);
    CHECK(where(y > 0, y, numbers(4, 5, 3)).dtype() == DType::f32);
    CHECK(cat({y, numbers(4, 5, 3)}, 0).dtype() == DType::f32);
    CHECK(y.exp().dtype() == DType::f32);
    CHECK(pow(y.abs(), 2.5).dtype() == DType::f32);
    CHECK(y.sum(1).dtype() == DType::f32);
    CHECK(y.mean().dtype() == DType::f32);
    CHECK(y.var(1).dtype() == DType::f32);
    CHECK(softmax(y, 1).dtype() == DType::f32);
    CHECK(logsumexp(y, 1).dtype() == DType::f32);
    CHECK(x.to_int().dtype() == DType::i64);
    // Norms compute in f32; that of batches gives what it was given, in training and after it.
    const auto images = image.conv2d(kernel);
    auto batch = nn::BatchNormConfig{.channels = 1}.init(test_device());
    for (const bool trains : {true, false}) {
      batch.training = trains;
      CHECK(batch.forward(images).dtype() == half);
      CHECK(batch.forward(images.cast(DType::f32)).dtype() == DType::f32);
    }
    CHECK(nn::LayerNormConfig{.d_model = 5}.init(test_device()).forward(y).dtype() == DType::f32);
    {
      const Autocast off(std::nullopt);
      CHECK_FALSE(autocast_dtype().has_value());
      CHECK(x.matmul(w).dtype() == DType::f32);
      CHECK(y.exp().dtype() == half);
      CHECK((y + numbers(4, 5, 3)).dtype() == DType::f32);
      CHECK_THROWS_AS(y.matmul(w), DTypeError);
    }
    CHECK(x.matmul(w).dtype() == half);
    DType elsewhere = half;
    std::thread([&] { elsewhere = x.matmul(w).dtype(); }).join();
    CHECK(elsewhere == DType::f32);
    if (has_dtype(test_device(), DType::f64))
      CHECK(x.cast(DType::f64).matmul(w.cast(DType::f64)).dtype() == DType::f64);
  }
  CHECK(x.matmul(w).dtype() == DType::f32);
  CHECK_THROWS_WITH_AS(Autocast(DType::f64), doctest::Contains("[autocast] takes bf16 or f16, not f64"),
                       DTypeError);
}

TEST_CASE("an exponential inside of a scope is not rounded to 16 bits") {
  for (const DType half : half_dtypes()) {
    const auto x = numbers(3, 7, 5).cast(half);
    const Autocast mixed(half);
    check_near(softmax(x, 1).dynamic(), softmax(x.cast(DType::f32), 1).dynamic(), 1e-6);
    check_near(x.exp().dynamic(), x.cast(DType::f32).exp().dynamic(), 1e-6);
  }
}

TEST_CASE("gradients have the dtypes of their parameters and the values of f32") {
  const Device device = test_device().autodiff();
  const auto loss_of = [](const Tensor<2>& x, const Tensor<2>& w, const Tensor<2>& v,
                          const Tensor<1, Int>& y) {
    return nn::cross_entropy(gelu(x.matmul(w)).matmul(v) + x.narrow(1, 0, 1), y);
  };
  const auto x = numbers(8, 12, 6, device);
  const auto w = numbers(12, 16, 7, device).require_grad(), v = numbers(16, 5, 8, device).require_grad();
  const auto y = Tensor<1, Int>::from_data({0, 1, 2, 3, 4, 0, 1, 2}, device);
  const auto exact_loss = loss_of(x, w, v, y);
  const Gradients exact = exact_loss.backward();
  for (const DType half : half_dtypes()) {
    const double bound = half == DType::bf16 ? 0x1p-5 : 0x1p-8;
    Tensor<0> loss;
    {
      const Autocast mixed(half);
      loss = loss_of(x, w, v, y);
    }
    CHECK(loss.dtype() == DType::f32);
    check_near(loss.dynamic(), exact_loss.dynamic(), bound);
    const Gradients outside = loss.backward();
    for (const auto& parameter : {w, v}) {
      CHECK(outside.get(parameter)->dtype() == DType::f32);
      check_near(outside.get(parameter)->dynamic(), exact.get(parameter)->dynamic(), bound);
    }
    // Whether the scope has ended or not makes no difference.
    const Autocast mixed(half);
    const Gradients inside = loss_of(x, w, v, y).backward();
    for (const auto& parameter : {w, v})
      check_near(inside.get(parameter)->dynamic(), exact.get(parameter)->dynamic(), bound);
  }
}

}  // namespace sinter::testing
