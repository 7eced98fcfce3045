// Indexed sums and the gradients of indexed reads, against plain loops and the oracle.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/failing_backend.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/test_data.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Indices = Tensor<1, Int>;

std::vector<DType> added_dtypes(const Device& device) {
  std::vector<DType> dtypes = {DType::f32, DType::i32};
  if (compiles_slowly(device)) return dtypes;
  for (DType dtype : {DType::f64, DType::bf16, DType::f16, DType::i64})
    if (has_dtype(device, dtype)) dtypes.push_back(dtype);
  return dtypes;
}

/// Numbers whose sums have no rounding in f32, nor in bf16 where few are added.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 37 % 11) - 5;
  return values;
}

std::vector<std::int64_t> indices(std::size_t count, std::int64_t rows) {
  TestData data(5);
  return data.integers(count, 0, rows - 1);
}

Tensor<1> row(const std::vector<float>& values, const Device& device) {
  return Tensor<1>::from_data(values, {static_cast<std::int64_t>(values.size())}, device);
}
Indices row(const std::vector<std::int64_t>& values, const Device& device) {
  return Indices::from_data(values, {static_cast<std::int64_t>(values.size())}, device);
}
Tensor<2> matrix(const std::vector<float>& values, std::int64_t columns, const Device& device) {
  return Tensor<2>::from_data(values, {static_cast<std::int64_t>(values.size()) / columns, columns}, device);
}

/// x [rows, columns] with each row of `source` added at its index.
std::vector<float> added(std::vector<float> x, const std::vector<std::int64_t>& index,
                         const std::vector<float>& source, std::size_t columns) {
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t c = 0; c < columns; ++c)
      x[static_cast<std::size_t>(index[i]) * columns + c] += source[i * columns + c];
  return x;
}

}  // namespace

TEST_CASE("index_add and scatter_add along every axis, for every dtype") {
  const Device device = test_device();
  for (DType dtype : added_dtypes(device)) {
    ProgramBuilder program;
    const int x = program.input({4, 5}, dtype), cube = program.input({2, 3, 4}, dtype),
              row = program.input({6}, dtype);
    using K = StepKind;
    for (DType index : {DType::i32, DType::i64}) {
      program.added(K::IndexAdd, x, 0, program.input({7}, index, 4), program.input({7, 5}, dtype));
      program.added(K::IndexAdd, x, -1, program.input({2}, index, 5), program.input({4, 2}, dtype));
      program.added(K::IndexAdd, cube, 1, program.input({5}, index, 3), program.input({2, 5, 4}, dtype));
      program.added(K::IndexAdd, row, 0, program.input({3}, index, 6), program.input({3}, dtype));
      program.added(K::IndexAdd, row, 0, program.input({0}, index, 6), program.input({0}, dtype));
      program.added(K::ScatterAdd, x, 0, program.input({7, 5}, index, 4), program.input({7, 5}, dtype));
      program.added(K::ScatterAdd, x, 1, program.input({3, 9}, index, 5), program.input({4, 9}, dtype));
      program.added(K::ScatterAdd, cube, 1, program.input({2, 2, 3}, index, 3),
                    program.input({2, 4, 4}, dtype));
      program.added(K::ScatterAdd, row, -1, program.input({20}, index, 6), program.input({20}, dtype));
      program.added(K::ScatterAdd, row, 0, program.input({0}, index, 6), program.input({4}, dtype));
    }
    program.expect(device, "sums of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("between elementwise work, of views, and at computed positions") {
  const Device device = test_device();
  for (bool flushed : {false, true}) {
    ProgramBuilder program;
    using K = StepKind;
    const int x = program.input({4, 6}, DType::f32), wide = program.input({6, 9}, DType::f32);
    const int source = program.permute(program.slice(wide, {{}, {{}, {}, 2}}), {1, 0});  // (5, 6)
    if (flushed) program.flush();
    const int places = program.binary(Op::Remainder, {program.arange(0, 35, 7)}, {-1, 4});
    const int sums = program.added(K::IndexAdd, program.binary(Op::Mul, {x}, {-1, 2.0}), 0, places,
                                   program.unary(Op::Exp, source));
    program.reduce(Op::Sum, program.binary(Op::Mul, {sums}, {x}), {1});
    const int one = program.reshape(places, {5, 1});
    program.added(K::ScatterAdd, program.permute(x, {1, 0}), 1, program.expand(one, {5, 3}),
                  program.slice(source, {{}, {2, {}, 1}}));
    program.expect(device, flushed ? "sums of memory" : "sums of inputs");
  }
}

TEST_CASE("many sizes, every index alike, twice the same bits") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t count, rows, columns;
  };
  std::vector<Sizes> all = {{1, 1, 1},     {3, 1000, 5},    {65, 7, 3},
                            {70, 300, 33}, {1030, 2000, 2}, {300, 1, 257}};
  if (!compiles_slowly(device)) all.insert(all.end(), {{9000, 9100, 4}, {9000, 60, 4}, {5000, 200, 70}});
  for (const Sizes& s : all)
    for (const bool alike : {false, true}) {
      CAPTURE(s.count);
      CAPTURE(s.rows);
      CAPTURE(s.columns);
      CAPTURE(alike);
      const auto count = static_cast<std::size_t>(s.count), columns = static_cast<std::size_t>(s.columns);
      std::vector<std::int64_t> index = indices(count, s.rows);
      if (alike) index.assign(count, s.rows / 2);
      const std::vector<float> values = numbers(count * columns),
                               start = numbers(static_cast<std::size_t>(s.rows) * columns);
      const auto sum = [&](double factor) {
        const Tensor<2> x = matrix(start, s.columns, device);
        const Tensor<2> source = matrix(values, s.columns, device);
        return (x.index_add(0, row(index, device), source * factor) + 0.0).to_vector<float>();
      };
      CHECK(sum(1) == added(start, index, values, columns));
      CHECK(sum(0.1) == sum(0.1));
    }
}

TEST_CASE("large sums are as exact as any other sum") {
  const Device device = test_device();
  const std::int64_t count = compiles_slowly(device) ? 3000 : 30000;
  std::vector<float> values(static_cast<std::size_t>(count));
  TestData data(3);
  double exact = 0, magnitude = 0;
  for (float& value : values) {
    value = static_cast<float>(data.real(0.5, 1.5));
    exact += static_cast<double>(value);
    magnitude += std::abs(static_cast<double>(value));
  }
  const Tensor<1> sums = Tensor<1>::zeros({2 * count}, device)
                             .index_add(0, Indices::full({count}, 7, device), row(values, device));
  CHECK(std::abs(static_cast<double>(sums.to_vector<float>()[7]) - exact) <= 1e-6 * magnitude);
}

TEST_CASE("16-bit floats are added in f32 and rounded once") {
  const Device device = test_device();
  if (!has_dtype(device, DType::bf16)) return;
  const AnyTensor ones = AnyTensor::full({1000, 2}, 1, DType::bf16, device);
  const AnyTensor index = AnyTensor::full({1000}, 3, DType::i64, device);
  for (std::int64_t rows : {5, 3000}) {
    const AnyTensor sums = AnyTensor::full({rows, 2}, 0, DType::bf16, device).index_add(0, index, ones);
    CHECK(sums.dtype() == DType::bf16);
    CHECK(values_of(sums.cast(DType::f32))[7] == 1000);  // in bf16 it stays at 256
  }
}

TEST_CASE("one of the indices out of range is told, and only of what came of it") {
  const Device device = test_device();
  const Tensor<2> x = Tensor<2>::ones({3, 2}, device), source = Tensor<2>::ones({2, 2}, device);
  for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    const Indices index = Indices::from_data({1, wrong}, device);
    const Tensor<2> told = x.index_add(0, index, source), beside = x + 1.0;
    CHECK_THROWS_WITH_AS(
        told.to_vector<float>(),
        doctest::Contains("[index_add] an index was out of range 0 to 2 (../tests/device/scatter_test.cpp:"),
        ShapeError);
    CHECK(beside.to_vector<float>() == std::vector<float>(6, 2));
    const Tensor<1> one = Tensor<1>::ones({3}, device);
    CHECK_THROWS_WITH_AS(one.scatter_add(0, index, Tensor<1>::ones({2}, device)).to_vector<float>(),
                         doctest::Contains("[scatter_add] an index was out of range"), ShapeError);
  }
  CHECK(x.index_add(0, Indices::from_data({1, 1}, device), source).to_vector<float>() ==
        std::vector<float>{1, 1, 3, 3, 1, 1});
}

TEST_CASE("nothing to add, and nowhere to add it") {
  const Device device = test_device();
  const Tensor<2> x = Tensor<2>::ones({3, 2}, device), empty = Tensor<2>::zeros({0, 2}, device);
  const Indices none = Indices::zeros({0}, device);
  CHECK(x.index_add(0, none, empty).to_vector<float>() == std::vector<float>(6, 1));
  CHECK(empty.index_add(0, none, empty).to_vector<float>().empty());
  CHECK(Tensor<2>::zeros({3, 0}, device)
            .index_add(0, Indices::zeros({2}, device), Tensor<2>::zeros({2, 0}, device))
            .shape() == Shape{3, 0});
  CHECK_THROWS_WITH_AS(empty.index_add(0, Indices::zeros({3}, device), x),
                       doctest::Contains("[index_add] 3 indices into axis 0, which has no elements"),
                       ShapeError);
}

TEST_CASE("arguments that do not fit are told on the caller's line") {
  const Device device = test_device();
  const AnyTensor x = AnyTensor::full({3, 2}, 1, DType::f32, device);
  const AnyTensor index = AnyTensor::full({2}, 1, DType::i64, device);
  CHECK_THROWS_WITH_AS(x.index_add(0, index, x),
                       doctest::Contains("[index_add] a source of shape (3, 2) and an "
                                         "index of shape (2) do not fit shape (3, 2)"),
                       ShapeError);
  CHECK_THROWS_AS(x.scatter_add(0, index, x), ShapeError);
  CHECK_THROWS_AS(x.index_add(2, index, x), ShapeError);
  CHECK_THROWS_AS(x.index_add(0, x, x), DTypeError);
  const AnyTensor two = AnyTensor::full({2, 2}, 1, DType::i32, device);
  CHECK_THROWS_AS(x.index_add(0, index, two), DTypeError);
  const AnyTensor mask = AnyTensor::less(AnyTensor::full({3}, 1, DType::u8, device), 2);
  CHECK_THROWS_AS(mask.index_add(0, index, mask), DTypeError);
}

TEST_CASE("gradients of index_add, scatter_add and of reads of whole rows") {
  const Device device = test_device().autodiff();
  for (const std::int64_t rows : {7, 60, 900}) {  // compared; fewer rows than indices; more
    CAPTURE(rows);
    const std::size_t count = 100, columns = 3;
    const std::vector<std::int64_t> at = indices(count, rows);
    const Indices index = row(at, device);
    const auto leaf = [&](std::int64_t n) {
      return matrix(numbers(static_cast<std::size_t>(n) * columns), 3, device).require_grad();
    };
    const std::vector<float> weights = numbers(count * columns),
                             after = numbers(static_cast<std::size_t>(rows) * columns),
                             zeros(static_cast<std::size_t>(rows) * columns, 0);
    const Tensor<2> weight = matrix(weights, 3, device), by = matrix(after, 3, device);
    std::vector<float> picked;
    for (const std::int64_t i : at)
      for (std::size_t c = 0; c < columns; ++c)
        picked.push_back(after[static_cast<std::size_t>(i) * columns + c]);
    const Tensor<2, Int> each = Tensor<2, Int>(index.dynamic().reshape({100, 1}).expand({100, 3}));
    {  // read: each row gets the weights of its indices
      const Tensor<2> table = leaf(rows);
      const Gradients grads = (table.index_select(0, index) * weight).sum().backward();
      CHECK((*grads.get(table)).to_vector<float>() == added(zeros, at, weights, columns));
    }
    {  // the same by columns
      const Tensor<2> table = leaf(rows), lying = table.transpose(0, 1);
      const Gradients grads = (lying.index_select(1, index) * weight.transpose(0, 1)).sum().backward();
      CHECK((*grads.get(table)).to_vector<float>() == added(zeros, at, weights, columns));
    }
    {  // by elements, of all but the last column
      const Tensor<2> table = leaf(rows);
      const Gradients grads =
          (table.gather(0, each.narrow(1, 0, 2)) * weight.narrow(1, 0, 2)).sum().backward();
      std::vector<float> cut = weights;
      for (std::size_t i = 2; i < cut.size(); i += 3) cut[i] = 0;
      CHECK((*grads.get(table)).to_vector<float>() == added(zeros, at, cut, columns));
    }
    {  // added: x gets what comes, each source its row of that
      const Tensor<2> x = leaf(rows), source = leaf(100);
      const Gradients grads = (x.index_add(0, index, source) * by).sum().backward();
      CHECK((*grads.get(x)).to_vector<float>() == after);
      CHECK((*grads.get(source)).to_vector<float>() == picked);
      const Gradients again = (x.scatter_add(0, each, source) * by).sum().backward();
      CHECK((*again.get(x)).to_vector<float>() == after);
      CHECK((*again.get(source)).to_vector<float>() == picked);
    }
  }
}

TEST_CASE("gradients of many values that go to few rows, and gradients of gradients") {
  const Device device = test_device().autodiff();
  const std::int64_t count = 1500, rows = 40, columns = 2;
  const auto n = static_cast<std::size_t>(count);
  const std::vector<std::int64_t> at = indices(n, rows);
  const Indices index = row(at, device);
  const std::vector<float> by = numbers(static_cast<std::size_t>(rows * columns));
  const Tensor<2> weight = matrix(by, columns, device);
  std::vector<float> picked;
  for (const std::int64_t i : at)
    for (std::int64_t c = 0; c < columns; ++c)
      picked.push_back(by[static_cast<std::size_t>(i * columns + c)]);
  {
    const Tensor<2> x = matrix(by, columns, device),
                    source = matrix(numbers(n * 2), columns, device).require_grad();
    const Gradients grads = (x.index_add(0, index, source) * weight).sum().backward();
    CHECK((*grads.get(source)).shape() == source.shape());
    CHECK((*grads.get(source)).to_vector<float>() == picked);
  }
  {  // of each row the largest value, of which there is one, has what comes
    std::vector<float> all(n * 2);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i * 7919 % 3001);
    const Tensor<2> x = matrix(by, columns, device), source = matrix(all, columns, device).require_grad();
    const Gradients grads =
        (index_reduce(x, 0, index, source, ScatterReduction::Max, false) * weight).sum().backward();
    const std::vector<float> found = (*grads.get(source)).to_vector<float>();
    std::vector<float> most(by.size(), -1), wanted(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      float& to = most[static_cast<std::size_t>(at[i / 2]) * 2 + i % 2];
      to = std::max(to, all[i]);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t to = static_cast<std::size_t>(at[i / 2]) * 2 + i % 2;
      wanted[i] = all[i] == most[to] ? by[to] : 0;
    }
    CHECK(found == wanted);
  }
  {  // the gradient of a read, by what its weights are
    const Tensor<2> table = matrix(by, columns, device).require_grad(),
                    given = matrix(numbers(n * 2), columns, device).require_grad();
    const AnyTensor read = table.dynamic().index_select(0, index.dynamic());
    const Gradients first = AnyTensor::mul(read, given.dynamic()).sum().backward({.differentiable = true});
    const AnyTensor once = *first.get(table.dynamic());
    const Gradients twice = AnyTensor::mul(once, weight.dynamic()).sum().backward();
    CHECK((*twice.get(given)).to_vector<float>() == picked);
  }
}

TEST_CASE("a step of training with embeddings, fused and found again") {
  const Device device = test_device().autodiff();
  Tensor<2> table = matrix(numbers(600), 3, device).require_grad();
  std::vector<float> want = numbers(600);
  const std::vector<std::int64_t> at = indices(30, 200);
  auto sgd = optim::SgdConfig{}.init();
  for (int step = 0; step < 4; ++step) {
    const Tensor<2> rows = table.index_select(0, row(at, device));
    sgd.step(0.5, table, (rows * 2.0).sum().backward());
    want = added(want, at, std::vector<float>(90, -1), 3);
  }
  CHECK(table.to_vector<float>() == want);
}

TEST_CASE("a sum that fails at any allocation or launch loses nothing, and works when it is taken again") {
  FailingDevice failing;
  const Device& device = failing.device;
  const std::vector<std::int64_t> at = indices(2000, 5000);
  const std::vector<float> start = numbers(10000), values = numbers(4000);
  const std::vector<float> want = added(start, at, values, 2);
  int failures = 0;
  for (int* fails : {&failing.backend->fail_at, &failing.backend->fail_launch_at})
    for (int k = 0; k < 30; ++k) {
      const Tensor<2> x = matrix(start, 2, device), source = matrix(values, 2, device);
      const Indices index = row(at, device);
      device.sync();
      *fails = k;
      try {
        const std::vector<float> sums = x.index_add(0, index, source).to_vector<float>();
        CHECK(sums == want);
      } catch (const DeviceError&) {
        ++failures;
      }
      *fails = -1;
      CHECK(x.to_vector<float>() == start);
      CHECK(x.index_add(0, index, source).to_vector<float>() == want);
    }
  CHECK(failures >= 6);
}

TEST_CASE("the same numbers when a plan comes again with others") {
  const Device device = test_device();
  for (int step = 0; step < 5; ++step) {  // planned, found, and from the third on a graph where there are any
    TestData data(static_cast<std::uint64_t>(step));
    const std::vector<std::int64_t> at = data.integers(150, 0, step == 3 ? 2 : 999);
    const std::vector<float> values = numbers(300);
    const Tensor<2> sums = Tensor<2>::full({1000, 2}, 2, device)
                               .index_add(0, row(at, device), matrix(values, 2, device) * (step + 1.0));
    std::vector<float> scaled = values;
    for (float& value : scaled) value *= static_cast<float>(step + 1);
    CHECK((sums * 2.0 - sums).to_vector<float>() == added(std::vector<float>(2000, 2), at, scaled, 2));
  }
}

TEST_CASE("other numbers of indices take what no size decides from the plan before") {
  const Device device = test_device();
  for (const std::int64_t count : {40, 70, 90, 33, 5}) {
    const std::vector<std::int64_t> at = indices(static_cast<std::size_t>(count), 300);
    const std::vector<float> values = numbers(static_cast<std::size_t>(count) * 6);
    const Tensor<2> sums =
        Tensor<2>::ones({300, 6}, device).index_add(0, row(at, device), matrix(values, 6, device));
    CHECK((sums + 0.0).to_vector<float>() == added(std::vector<float>(1800, 1), at, values, 6));
  }
}

TEST_CASE("several threads add at once") {
  const Device device = test_device();
  const std::vector<std::int64_t> at = indices(200, 900);
  const std::vector<float> values = numbers(200 * 4);
  const std::vector<float> want = added(std::vector<float>(900 * 4, 0), at, values, 4);
  std::vector<int> wrong(3, 0);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < wrong.size(); ++n)
    threads.emplace_back([&, n] {
      for (int i = 0; i < 8; ++i) {
        const Tensor<2> source = matrix(values, 4, device);
        const Tensor<2> sums = Tensor<2>::zeros({900, 4}, device).index_add(0, row(at, device), source);
        if (sums.to_vector<float>() != want) ++wrong[n];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(3, 0));
}

}  // namespace sinter::testing
