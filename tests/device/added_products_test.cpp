// Products that are added up, whose factors lie apart: on devices whose groups of subgroups multiply, one
// kernel.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

struct Sizes {
  std::int64_t rows, columns, depth;
  int count;
};

/// The sum of so many products, factors of which may lie across the sum, with `rest` after the first.
int add_products(ProgramBuilder& program, const Sizes& sizes, DType dtype, bool across) {
  int sum = 0;
  for (int k = 0; k < sizes.count; ++k) {
    const int x = across ? program.permute(program.input({sizes.depth, sizes.rows}, dtype), {1, 0})
                         : program.input({sizes.rows, sizes.depth}, dtype);
    const int w = across ? program.input({sizes.depth, sizes.columns}, dtype)
                         : program.permute(program.input({sizes.columns, sizes.depth}, dtype), {1, 0});
    const int product = program.cast(program.matmul(x, w), DType::f32);
    sum = k == 0 ? product : program.binary(Op::Add, {sum}, {product});
    if (k == 0)
      sum = program.binary(Op::Add, {sum}, {program.input({sizes.rows, sizes.columns}, DType::f32)});
  }
  return program.binary(Op::Mul, {sum}, {program.input({1, sizes.columns}, DType::f32)});
}

// Whole numbers, whose sums are exact in any order.
AnyTensor numbers(const Device& device, const Shape& shape, int modulus) {
  const AnyTensor places = AnyTensor::arange(0, shape.numel(), 1, device).reshape(shape);
  const AnyTensor made = AnyTensor::sub(AnyTensor::remainder(places, modulus), modulus / 2).cast(DType::bf16);
  made.sync();
  return made;
}

}  // namespace

TEST_CASE("products that are added up, of many sizes") {
  const Device device = test_device();
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    if (!has_dtype(device, dtype)) continue;
    // The last ones are the first with other sizes, for which its plan may serve or not.
    for (const Sizes& sizes : {Sizes{128, 192, 64, 3}, Sizes{72, 40, 72, 2}, Sizes{64, 64, 1032, 4},
                               Sizes{130, 136, 8, 2}, Sizes{200, 192, 96, 3}, Sizes{40, 192, 65, 3},
                               Sizes{72, 40, 0, 2}, Sizes{0, 40, 72, 2}, Sizes{1, 40, 72, 2}}) {
      for (const bool across : {false, true}) {
        ProgramBuilder program;
        add_products(program, sizes, dtype, across);
        program.expect(device, std::to_string(sizes.count) + " products of " + std::to_string(sizes.rows) +
                                   " x " + std::to_string(sizes.columns) + " over " +
                                   std::to_string(sizes.depth) + (across ? ", across" : "") + ", " +
                                   std::string(name_of(dtype)));
        if (compiles_slowly(device)) break;
      }
      if (compiles_slowly(device)) break;
    }
  }
}

TEST_CASE("a batch of products is added to another, and exact sums stay exact") {
  const Device device = test_device();
  if (!has_dtype(device, DType::bf16)) return;
  std::vector<AnyTensor> left, right;
  for (int k = 0; k < 3; ++k) {
    left.push_back(numbers(device, {4, 72, 136}, 3 + k));
    right.push_back(numbers(device, {4, 136, 88}, 7 - k));
  }
  const auto product = [&](int k) { return left[k].matmul(right[k]).cast(DType::f32); };
  AnyTensor expected;
  for (int k = 0; k < 3; ++k) {
    AnyTensor one = product(k);
    one.sync();
    expected = k == 0 ? one : AnyTensor::add(expected, one);
  }
  const std::vector<float> want = values_of(expected);
  for (int again = 0; again < 2; ++again) {
    const AnyTensor sum = AnyTensor::add(AnyTensor::add(product(0), product(1)), product(2));
    CHECK(values_of(sum) == want);
  }
}

TEST_CASE("several sums of products share a launch") {
  const Device device = test_device();
  if (!has_dtype(device, DType::bf16)) return;
  constexpr int kCount = 3;
  std::vector<AnyTensor> x, w, v, alone, together;
  for (int k = 0; k < kCount; ++k) {
    x.push_back(numbers(device, {96, 64}, 3 + k));
    w.push_back(numbers(device, {64, 72}, 5 + k));
    v.push_back(numbers(device, {64, 72}, 9 - k));
  }
  const auto sum = [&](int k) {
    const AnyTensor first = x[k].matmul(w[k]), second = x[(k + 1) % kCount].matmul(v[k]);
    return AnyTensor::add(first.cast(DType::f32), second.cast(DType::f32));
  };
  for (int k = 0; k < kCount; ++k) {
    alone.push_back(sum(k));
    alone.back().sync();
  }
  for (int k = 0; k < kCount; ++k) together.push_back(sum(k));
  device.sync();
  for (int k = 0; k < kCount; ++k) CHECK(values_of(together[k]) == values_of(alone[k]));
}

TEST_CASE("gradients of a gated layer's input, where both branches come together") {
  const Device plain = test_device(), device = plain.autodiff();
  if (!has_dtype(plain, DType::bf16)) return;
  const AnyTensor x = numbers(device, {72, 64}, 5).require_grad(), gate = numbers(device, {64, 96}, 3),
                  up = numbers(device, {64, 96}, 7), seed = numbers(plain, {72, 96}, 3);
  const auto gradient = [&](bool whole) {
    const AnyTensor opened = x.matmul(gate), raised = x.matmul(up);
    if (!whole) device.sync();
    const AnyTensor loss =
        AnyTensor::add(AnyTensor::mul(opened, seed).sum(), AnyTensor::mul(raised, seed).sum());
    return loss.backward().get(x)->cast(DType::f32);
  };
  // By hand: seed (gate + up)^T.
  const AnyTensor both = AnyTensor::add(gate.detach(), up.detach());
  const std::vector<float> want = values_of(seed.matmul(both.transpose(0, 1)).cast(DType::f32));
  for (const bool whole : {true, false}) {
    const AnyTensor found = gradient(whole);  // nobody asks for the loss
    const std::vector<float> got = values_of(found);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(0.01));
  }
}

}  // namespace sinter::testing
