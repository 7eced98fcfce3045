// Products of the same sizes, which share a launch on some devices (unit/product_members_test says when).
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

// Whole numbers, whose sums are exact in any order.
AnyTensor numbers(const Device& device, const Shape& shape, int modulus, DType dtype) {
  const AnyTensor places = AnyTensor::arange(0, shape.numel(), 1, device).reshape(shape);
  const AnyTensor made = AnyTensor::sub(AnyTensor::remainder(places, modulus), modulus / 2).cast(dtype);
  made.sync();
  return made;
}

struct Sizes {
  std::int64_t rows, columns, depth;
};

}  // namespace

TEST_CASE("several products of one factor, with what follows each") {
  const Device device = test_device();
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    if (!has_dtype(device, dtype)) continue;
    for (const auto& [sizes, count] : {std::pair<Sizes, int>{{64, 64, 2048}, 3},
                                       {{130, 200, 72}, 2},
                                       {{96, 192, 328}, 17},
                                       {{300, 64, 64}, 5}}) {
      CAPTURE(sizes.rows);
      CAPTURE(count);
      const AnyTensor x = numbers(device, {sizes.rows, sizes.depth}, 7, dtype),
                      bias = numbers(device, {1, sizes.columns}, 5, dtype);
      std::vector<AnyTensor> weights, beside;
      for (int k = 0; k < count; ++k) {
        weights.push_back(numbers(device, {sizes.columns, sizes.depth}, 3 + k % 4, dtype));
        beside.push_back(numbers(device, {sizes.rows, sizes.columns}, 11 + k, DType::f32));
      }
      const auto result = [&](int k) {
        const AnyTensor y = AnyTensor::add(x.matmul(weights[k].transpose(0, 1)), bias);
        return AnyTensor::mul(AnyTensor::add(y.cast(DType::f32), beside[k]), k + 2.0);
      };
      std::vector<std::vector<float>> expected;
      for (int k = 0; k < count; ++k) {
        const AnyTensor alone = result(k);
        alone.sync();
        expected.push_back(values_of(alone));
      }
      // Again, as the same plan runs on other memory.
      for (int again = 0; again < 2; ++again) {
        std::vector<AnyTensor> together;
        for (int k = 0; k < count; ++k) together.push_back(result(k));
        device.sync();
        for (int k = 0; k < count; ++k) {
          CAPTURE(k);
          CHECK(values_of(together[k]) == expected[k]);
        }
      }
      if (compiles_slowly(device)) break;
    }
  }
}

TEST_CASE("several batches of products") {
  const Device device = test_device();
  constexpr int kCount = 3;
  std::vector<AnyTensor> left, right, alone, together;
  for (int k = 0; k < kCount; ++k) {
    left.push_back(numbers(device, {5, 70, 64}, 3 + k, DType::bf16));
    right.push_back(numbers(device, {5, 64, 136}, 7 - k, DType::bf16));
  }
  for (int k = 0; k < kCount; ++k) {
    alone.push_back(left[k].matmul(right[k]));
    alone.back().sync();
  }
  for (int k = 0; k < kCount; ++k) together.push_back(left[k].matmul(right[k]));
  device.sync();
  for (int k = 0; k < kCount; ++k) {
    CAPTURE(k);
    CHECK(values_of(together[k].cast(DType::f32)) == values_of(alone[k].cast(DType::f32)));
  }
}

TEST_CASE("several products, beside rows of a table that indices choose") {
  const Device device = test_device();
  constexpr int kCount = 3;
  const AnyTensor x = numbers(device, {96, 64}, 5, DType::bf16),
                  table = numbers(device, {7, 72}, 9, DType::f32),
                  rows = AnyTensor::remainder(AnyTensor::arange(0, 96, 1, device).cast(DType::i64), 7);
  std::vector<AnyTensor> weights, alone, together;
  for (int k = 0; k < kCount; ++k) weights.push_back(numbers(device, {64, 72}, 3 + k, DType::bf16));
  const auto result = [&](int k) {
    return AnyTensor::add(x.matmul(weights[k]).cast(DType::f32), table.index_select(0, rows));
  };
  for (int k = 0; k < kCount; ++k) {
    alone.push_back(result(k));
    alone.back().sync();
  }
  for (int k = 0; k < kCount; ++k) together.push_back(result(k));
  device.sync();
  for (int k = 0; k < kCount; ++k) CHECK(values_of(together[k]) == values_of(alone[k]));
}

TEST_CASE("several convolutions of an image, and their gradients") {
  const Device device = test_device();
  const Device tracked = device.autodiff();
  constexpr int kCount = 3;
  const AnyTensor x = numbers(tracked, {2, 64, 9, 10}, 5, DType::bf16),
                  seed = numbers(device, {2, 64, 9, 10}, 3, DType::bf16);
  std::vector<AnyTensor> weights;
  for (int k = 0; k < kCount; ++k)
    weights.push_back(numbers(tracked, {64, 64, 3, 3}, 3 + 2 * k, DType::bf16).require_grad());
  // Of each its values and the gradient of its weight.
  const auto results = [&](int first, int end) {
    std::vector<AnyTensor> values;
    AnyTensor sum;
    for (int k = first; k < end; ++k) {
      const AnyTensor y = x.conv2d(weights[k], {.padding = {1, 1}});
      values.push_back(y.cast(DType::f32));
      const AnyTensor part = AnyTensor::mul(y, seed).cast(DType::f32).sum({0, 1, 2, 3});
      sum = sum.defined() ? AnyTensor::add(sum, part) : part;
    }
    Gradients gradients = sum.reshape({}).backward();
    for (int k = first; k < end; ++k) values.push_back(gradients.get(weights[k])->cast(DType::f32));
    device.sync();
    return values;
  };
  const std::vector<AnyTensor> together = results(0, kCount);
  for (int k = 0; k < kCount; ++k) {
    CAPTURE(k);
    const std::vector<AnyTensor> alone = results(k, k + 1);
    CHECK(values_of(together[k]) == values_of(alone[0]));
    CHECK(values_of(together[kCount + k]) == values_of(alone[1]));
  }
}

TEST_CASE("several gated layers, each of two products") {
  const Device device = test_device();
  constexpr int kCount = 3;
  const AnyTensor x = numbers(device, {72, 64}, 3, DType::bf16);
  std::vector<AnyTensor> gates, weights, alone, together;
  for (int k = 0; k < kCount; ++k) {
    gates.push_back(numbers(device, {96, 64}, 3 + k, DType::bf16));
    weights.push_back(numbers(device, {96, 64}, 5 + k, DType::bf16));
  }
  const auto result = [&](int k) {
    const AnyTensor gate = x.matmul(gates[k].transpose(0, 1)).cast(DType::f32);
    const AnyTensor value = x.matmul(weights[k].transpose(0, 1)).cast(DType::f32);
    return AnyTensor::mul(AnyTensor::maximum(gate, 0.0), value);
  };
  for (int k = 0; k < kCount; ++k) {
    alone.push_back(result(k));
    alone.back().sync();
  }
  for (int k = 0; k < kCount; ++k) together.push_back(result(k));
  device.sync();
  for (int k = 0; k < kCount; ++k) CHECK(values_of(together[k]) == values_of(alone[k]));
}

TEST_CASE("gradients of several weights, written over what they change, at one size and at another") {
  const Device device = test_device();
  for (const std::int64_t rows : {520, 264, 1032}) {
    CAPTURE(rows);
    constexpr int kCount = 6;
    const AnyTensor x = numbers(device, {rows, 64}, 5, DType::bf16);
    std::vector<AnyTensor> deltas;
    for (int k = 0; k < kCount; ++k) deltas.push_back(numbers(device, {rows, 72}, 3 + k, DType::bf16));
    const auto updated = [&](AnyTensor weight, int k) {
      const AnyTensor gradient = x.transpose(0, 1).matmul(deltas[k]).cast(DType::f32);
      return AnyTensor::sub(std::move(weight), AnyTensor::mul(gradient, 0.5));
    };
    std::vector<std::vector<float>> expected;
    for (int k = 0; k < kCount; ++k) {
      const AnyTensor alone = updated(numbers(device, {64, 72}, 9 + k, DType::f32), k);
      alone.sync();
      expected.push_back(values_of(alone));
    }
    std::vector<AnyTensor> weights;
    for (int k = 0; k < kCount; ++k) weights.push_back(numbers(device, {64, 72}, 9 + k, DType::f32));
    for (int k = 0; k < kCount; ++k) weights[k] = updated(std::move(weights[k]), k);
    device.sync();
    for (int k = 0; k < kCount; ++k) {
      CAPTURE(k);
      CHECK(values_of(weights[k]) == expected[k]);
    }
    if (compiles_slowly(device)) break;
  }
}

}  // namespace sinter::testing
