// Products of 16-bit floats: on devices with tensor cores kernels by tiles, with all that follows the product
// in them; on others library ops. Sizes are whole tiles, parts of them, and sums that workgroups share.
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/explain/observe.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

struct Product {
  Shape a, b;
  bool transpose_a = false, transpose_b = false;
};

int factor(ProgramBuilder& program, const Shape& shape, bool transposed, DType dtype) {
  const int x = program.input(shape, dtype);
  if (!transposed) return x;
  Dims axes;
  for (std::size_t d = 0; d < shape.rank(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  std::swap(axes[shape.rank() - 1], axes[shape.rank() - 2]);
  return program.permute(x, axes);
}

std::vector<DType> halves(const Device& device) {
  std::vector<DType> dtypes;
  for (DType dtype : {DType::bf16, DType::f16})
    if (has_dtype(device, dtype)) dtypes.push_back(dtype);
  // Which of them a device multiplies by cooperative matrices, differs.
  const bool has_matrices = !device.core().traits().tensor_cores.matrices.empty();
  if (compiles_slowly(device) && dtypes.size() > 1 && !has_matrices) dtypes.resize(1);
  return dtypes;
}

}  // namespace

TEST_CASE("products of 16-bit floats of many sizes, however their factors lie") {
  const Device device = test_device();
  const std::vector<Product> products = {
      {{64, 64}, {64, 64}},
      {{128, 64}, {64, 256}},
      {{72, 8}, {8, 24}},
      {{200, 136}, {136, 104}},
      {{130, 72}, {72, 264}},
      {{5, 64}, {64, 8}},
      {{1, 264}, {264, 40}},
      {{40, 264}, {264, 1}},
      {{136, 1032}, {1032, 16}},  // a sum that workgroups share
      {{40, 8200}, {8200, 24}},   // and one of which so many have a part that they are joined in groups
      {{100, 50}, {50, 30}},      // rows that are no multiples of 16 bytes
      {{3, 72, 40}, {3, 40, 88}},
      {{72, 40}, {3, 40, 88}},
      {{2, 3, 16, 24}, {2, 1, 24, 32}},
      {{64, 200}, {64, 136}, true, false},
      {{200, 64}, {136, 64}, false, true},
      {{64, 200}, {136, 64}, true, true},
      {{3, 40, 72}, {3, 88, 40}, true, true},
  };
  for (DType dtype : halves(device)) {
    ProgramBuilder program;
    for (const Product& p : products)
      program.matmul(factor(program, p.a, p.transpose_a, dtype), factor(program, p.b, p.transpose_b, dtype));
    program.expect(device, "products of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("what follows a product, in its kernel or in others") {
  const Device device = test_device();
  for (DType dtype : halves(device)) {
    for (const std::int64_t columns : {std::int64_t{72}, std::int64_t{264}}) {
      ProgramBuilder program;
      const int x = program.input({136, 64}, dtype), w = program.input({columns, 64}, dtype),
                bias = program.input({1, columns}, dtype),
                residual = program.input({136, columns}, DType::f32),
                wide = program.input({136, columns + 3}, dtype), scale = program.input({136, 1}, DType::f32);
      const int y = program.matmul(x, program.permute(w, {1, 0}));
      program.unary(Op::Tanh, program.binary(Op::Add, {y}, {bias}));
      program.binary(Op::Add, {program.cast(y, DType::f32)}, {residual});
      // Not in whole vectors, not along the columns, from other dims.
      program.binary(Op::Mul, {y}, {program.slice(wide, {{}, {1, columns + 1, 1}})});
      program.unary(Op::Abs, program.permute(y, {1, 0}));
      program.unary(Op::Neg, program.reshape(y, {17, 8, columns}));
      program.binary(Op::Mul, {program.cast(y, DType::f32)}, {scale});
      program.reduce(Op::Sum, y, {1});
      program.reduce(Op::Max, y, {0});
      program.expect(device, "what follows a product of " + std::string(name_of(dtype)));
    }
  }
}

TEST_CASE("parts of long sums that the readers of a product add up") {
  const Device device = test_device();
  for (DType dtype : halves(device))
    for (const bool transposed : {false, true}) {
      CAPTURE(transposed);
      // Whole numbers, whose sums are exact in any order.
      const auto numbers = [&](std::int64_t rows, std::int64_t columns) {
        const Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
        const AnyTensor places = AnyTensor::arange(0, rows * columns, 1, device).reshape(shape);
        const AnyTensor made = AnyTensor::sub(AnyTensor::remainder(places, 7), 3).cast(dtype);
        return transposed ? made.transpose(0, 1) : made;
      };
      const AnyTensor x = numbers(24, 2048), w = numbers(2048, 40);
      const AnyTensor rest = AnyTensor::arange(0, 960, 1, device).reshape({24, 40}).cast(DType::f32);
      for (const AnyTensor& input : {x, w, rest}) input.sync();
      const auto end = [&](const AnyTensor& y) { return AnyTensor::add(y.cast(DType::f32), rest); };
      const AnyTensor whole = x.matmul(w);
      whole.sync();
      const AnyTensor found = end(x.matmul(w));  // read when nobody holds the product any more
      CHECK(values_of(found) == values_of(end(whole)));
    }
}

TEST_CASE("products of factors that lie elsewhere, or where they were, from run to run") {
  const Device device = test_device();
  for (const DType dtype : halves(device)) {
    // Whole numbers, whose sums are exact.
    const auto numbers = [&](std::int64_t rows, std::int64_t columns, int first) {
      const AnyTensor places =
          AnyTensor::arange(first, first + rows * columns, 1, device).reshape({rows, columns});
      const AnyTensor made = AnyTensor::sub(AnyTensor::remainder(places, 7), 3).cast(dtype);
      made.sync();
      return made;
    };
    const AnyTensor w = numbers(40, 64, 2), v = numbers(40, 40, 5);
    std::vector<AnyTensor> inputs;
    std::vector<std::vector<double>> expected;
    const auto result = [&](const AnyTensor& x) {
      const AnyTensor y = x.matmul(w.transpose(0, 1));
      return AnyTensor::add(y, 1).matmul(v.transpose(0, 1)).cast(DType::f32);
    };
    for (int k = 0; k < 3; ++k) inputs.push_back(numbers(72, 64, k));
    for (const AnyTensor& x : inputs) {
      const std::vector<float> a = values_of(x.cast(DType::f32)), b = values_of(w.cast(DType::f32)),
                               c = values_of(v.cast(DType::f32));
      std::vector<double> y(72 * 40, 1), z(72 * 40);
      for (std::size_t m = 0; m < 72; ++m)
        for (std::size_t n = 0; n < 40; ++n)
          for (std::size_t k = 0; k < 64; ++k)
            y[m * 40 + n] += static_cast<double>(a[m * 64 + k]) * static_cast<double>(b[n * 64 + k]);
      for (std::size_t m = 0; m < 72; ++m)
        for (std::size_t n = 0; n < 40; ++n)
          for (std::size_t k = 0; k < 40; ++k)
            z[m * 40 + n] += y[m * 40 + k] * static_cast<double>(c[n * 40 + k]);
      expected.push_back(z);
    }
    // Each some times, so that plans are replayed with what they have and with others.
    for (const std::size_t which : {0u, 0u, 0u, 1u, 1u, 2u, 0u, 2u, 2u}) {
      CAPTURE(which);
      const std::vector<float> found = values_of(result(inputs[which]));
      REQUIRE(found.size() == expected[which].size());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(found[i] == doctest::Approx(expected[which][i]).epsilon(0.01).scale(32));
    }
  }
}

TEST_CASE("products of products, and of slices of what is in memory") {
  const Device device = test_device();
  for (DType dtype : halves(device)) {
    ProgramBuilder program;
    const int x = program.input({80, 200}, dtype), w = program.input({3, 64, 136}, dtype);
    const int from = program.slice(x, {{8, 72, 1}, {8, 136, 2}});  // two elements apart
    const int part = program.slice(x, {{3, 67, 1}, {16, 80, 1}});  // begins at a multiple of 16 bytes
    const int odd = program.slice(x, {{3, 67, 1}, {17, 81, 1}});   // begins anywhere
    for (const int a : {from, part, odd}) program.matmul(a, w);
    const int y = program.matmul(part, w);
    program.matmul(program.permute(y, {0, 2, 1}), y);
    program.matmul(y, program.permute(y, {0, 2, 1}));
    // Three dims of a batch that cannot be counted as one.
    const int a = program.permute(program.input({2, 3, 4, 16, 24}, dtype), {2, 1, 0, 3, 4});
    program.matmul(a, program.permute(program.input({3, 2, 4, 24, 40}, dtype), {2, 0, 1, 3, 4}));
    program.expect(device, "products in a row of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("where a device has cooperative matrices they multiply, and whole numbers exactly") {
  const Device device = test_device();
  const ir::TensorCores& cores = device.core().traits().tensor_cores;
  if (cores.matrices.empty()) return;
  struct Tilings : runtime::TraceObserver {
    void runs(const runtime::TraceRun& run) override {
      for (const std::string& tiling : run.tilings)
        if (!tiling.empty()) all.push_back(tiling);
    }
    std::vector<std::string> all;
  } tilings;
  for (DType dtype : halves(device)) {
    if (!cores.multiplies(dtype)) continue;
    std::vector<float> a(48 * 40), b(40 * 72), expected(48 * 72, 0.f);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) - 6.f;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) - 5.f;
    for (std::size_t m = 0; m < 48; ++m)
      for (std::size_t n = 0; n < 72; ++n)
        for (std::size_t k = 0; k < 40; ++k) expected[m * 72 + n] += a[m * 40 + k] * b[k * 72 + n];
    const auto tensor = [&](const std::vector<float>& values, const Shape& shape) {
      return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, DType::f32, device).cast(dtype);
    };
    const AnyTensor x = tensor(a, {48, 40}), w = tensor(b, {40, 72});
    x.sync();
    w.sync();
    tilings.all.clear();
    runtime::add_observer(tilings);
    const std::vector<float> y = values_of<float>(x.matmul(w).cast(DType::f32));
    runtime::remove_observer(tilings);
    CAPTURE(name_of(dtype));
    const bool is_whole = dtype == DType::f16;  // bf16 has no room for all of these sums
    if (is_whole) CHECK(y == expected);
    REQUIRE(tilings.all.size() == 1);
    CHECK(tilings.all[0].find("m=") != std::string::npos);
  }
}

}  // namespace sinter::testing
