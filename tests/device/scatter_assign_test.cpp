// Indexed writes against plain loops: duplicates, every reduction, parts, gradients.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/failing_backend.h"
#include "tests/support/test_data.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
constexpr ScatterReduction kReductions[] = {ScatterReduction::Sum, ScatterReduction::Prod,
                                            ScatterReduction::Max, ScatterReduction::Min};

AnyTensor ints(const Ints& values, const Shape& shape, const Device& device) {
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, DType::i64, device);
}

Floats numbers(std::size_t count, std::uint64_t seed) {
  TestData data(seed);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(data.integer(-6, 6)) / 2;
  return values;
}

double joined(ScatterReduction reduction, double a, double b) {
  switch (reduction) {
    case ScatterReduction::Sum: return a + b;
    case ScatterReduction::Prod: return a * b;
    case ScatterReduction::Max: return std::max(a, b);
    case ScatterReduction::Min: break;
  }
  return std::min(a, b);
}

/// x [rows, columns]; slices of `source` to the rows in `index`. Null: the last one stays.
Floats written(const Floats& x, const Ints& index, const Floats& source, std::size_t columns,
               const ScatterReduction* reduction, bool include_self) {
  std::vector<double> result(x.begin(), x.end());
  std::vector<bool> seen(x.size(), false);
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t to = static_cast<std::size_t>(index[i]) * columns + c;
      const auto value = static_cast<double>(source[i * columns + c]);
      const bool alone = !reduction || (!seen[to] && !include_self);
      result[to] = alone ? value : joined(*reduction, result[to], value);
      seen[to] = true;
    }
  return Floats(result.begin(), result.end());
}

}  // namespace

TEST_CASE("the last of several stays, whole slices and elements, many and few") {
  const Device device = test_device();
  struct Sizes {
    std::size_t count, rows, columns;
  };
  std::vector<Sizes> all = {{1, 1, 1}, {5, 3, 2}, {7, 40, 3}};
  if (!compiles_slowly(device)) all.insert(all.end(), {{3000, 50, 4}, {1500, 4000, 3}});
  for (const Sizes& s : all) {
    CAPTURE(s.count);
    CAPTURE(s.rows);
    TestData data(s.count);
    const Ints index = data.integers(s.count, 0, static_cast<std::int64_t>(s.rows) - 1);
    const Floats x = numbers(s.rows * s.columns, 1), source = numbers(s.count * s.columns, 2);
    const auto count = static_cast<std::int64_t>(s.count), rows = static_cast<std::int64_t>(s.rows),
               columns = static_cast<std::int64_t>(s.columns);
    const AnyTensor to = tensor_of(x, {rows, columns}, device),
                    from = tensor_of(source, {count, columns}, device);
    const AnyTensor at = ints(index, {count}, device);
    const AnyTensor each = at.reshape({count, 1}).expand({count, columns});
    const Floats want = written(x, index, source, s.columns, nullptr, false);
    CHECK(values_of(index_copy(to, 0, at, from)) == want);
    CHECK(values_of(scatter(to, 0, each, from)) == want);
    CHECK(values_of(index_copy(to.transpose(0, 1), 1, at, from.transpose(0, 1)).transpose(0, 1)) == want);
    CHECK(values_of(scatter_nd(to, at.reshape({count, 1}), from)) == want);
    const Floats sevens(source.size(), 7), filled = written(x, index, sevens, s.columns, nullptr, false);
    CHECK(values_of(index_fill(to, 0, at, 7)) == filled);
    CHECK(values_of(scatter_fill(to, 0, each, 7)) == filled);
    for (const ScatterReduction reduction : kReductions)
      for (const bool include_self : {false, true}) {
        if (reduction == ScatterReduction::Prod && s.count > 100) continue;
        CAPTURE(static_cast<int>(reduction));
        CAPTURE(include_self);
        const Floats joint = written(x, index, source, s.columns, &reduction, include_self);
        check_close(index_reduce(to, 0, at, from, reduction, include_self), joint);
        check_close(scatter_reduce(to, 0, each, from, reduction, include_self), joint);
      }
  }
}

TEST_CASE("parts of the target, every dtype, nothing") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}, device);
  const AnyTensor source = tensor_of({10, 20, 30, 40}, {2, 2}, device);
  CHECK(values_of(scatter(x, 1, ints({2}, {1, 1}, device), source)) == Floats{1, 2, 10, 4, 5, 6});
  CHECK(values_of(scatter(x, 0, ints({1, 0}, {1, 2}, device), source)) == Floats{1, 20, 3, 10, 5, 6});
  CHECK(values_of(scatter(x, 0, ints({}, {0, 3}, device), x)) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(values_of(index_copy(x, 1, ints({}, {0}, device), x.narrow(1, 0, 0))) == Floats{1, 2, 3, 4, 5, 6});
  const AnyTensor index = ints({1, 1}, {2}, device);
  const AnyTensor mask = AnyTensor::full({3}, false, DType::boolean, device);
  CHECK(values_of(index_fill(mask, 0, index, true).cast(DType::f32)) == Floats{0, 1, 0});
  CHECK(values_of<std::uint8_t>(index_fill(AnyTensor::full({3}, 4, DType::u8, device), 0, index, 9)) ==
        std::vector<std::uint8_t>{4, 9, 4});
  for (const DType dtype : {DType::i32, DType::i64, DType::f64, DType::bf16, DType::f16}) {
    if (!has_dtype(device, dtype) || (compiles_slowly(device) && is_float(dtype))) continue;
    const AnyTensor to = tensor_of({1, 2, 3}, {3}, device).cast(dtype),
                    from = tensor_of({5, -4}, {2}, device).cast(dtype);
    CAPTURE(name_of(dtype));
    const auto numbers_of = [](const AnyTensor& t) { return values_of(t.cast(DType::f32)); };
    CHECK(numbers_of(index_copy(to, 0, index, from)) == Floats{1, -4, 3});
    CHECK(numbers_of(index_reduce(to, 0, index, from, ScatterReduction::Prod)) == Floats{1, -40, 3});
    CHECK(numbers_of(index_reduce(to, 0, index, from, ScatterReduction::Max)) == Floats{1, 5, 3});
    CHECK(numbers_of(index_reduce(to, 0, index, from, ScatterReduction::Min, false)) == Floats{1, -4, 3});
  }
  // The oracle computes in f64.
  const bool counts_to_2_64 = has_dtype(device, DType::u64) && std::getenv("SINTER_TEST_ORACLE") == nullptr;
  if (counts_to_2_64) {  // the largest numbers would be negative as i64
    const auto whole = [&](const std::vector<std::uint64_t>& values) {
      return AnyTensor::from_bytes(std::as_bytes(std::span(values)),
                                   {static_cast<std::int64_t>(values.size())}, DType::u64, device);
    };
    constexpr std::uint64_t kHigh = std::uint64_t{1} << 63;
    const AnyTensor to = whole({6, 7, kHigh + 1}), from = whole({kHigh, 5});
    const auto reduced = [&](ScatterReduction reduction, bool include_self) {
      return values_of<std::uint64_t>(index_reduce(to, 0, index, from, reduction, include_self));
    };
    using Whole = std::vector<std::uint64_t>;
    CHECK(reduced(ScatterReduction::Max, true) == Whole{6, kHigh, kHigh + 1});
    CHECK(reduced(ScatterReduction::Min, true) == Whole{6, 5, kHigh + 1});
    CHECK(reduced(ScatterReduction::Min, false) == Whole{6, 5, kHigh + 1});
    CHECK(reduced(ScatterReduction::Sum, true) == Whole{6, kHigh + 12, kHigh + 1});
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const AnyTensor extremes = index_reduce(x.narrow(0, 0, 1).reshape({3}), 0, index,
                                          tensor_of({nan, 1}, {2}, device), ScatterReduction::Max);
  CHECK(std::isnan(values_of(extremes)[1]));
}

TEST_CASE("reads by position and by coordinates") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}, device);
  CHECK(values_of(take(x, ints({7, 0, 3, 3}, {2, 2}, device))) == Floats{8, 1, 4, 4});
  CHECK(values_of(gather_nd(x, ints({1, 0, 0, 1}, {2, 2}, device))) == Floats{5, 6, 3, 4});
  CHECK(gather_nd(x, ints({1, 0, 0, 1}, {2, 1, 2}, device)).shape() == Shape{2, 1, 2});
  CHECK(values_of(gather_nd(x, ints({1, 0, 1}, {3}, device))) == Floats{6});
  CHECK(values_of(
            scatter_nd_add(x, ints({1, 1, 1, 1}, {2, 2}, device), tensor_of({1, 2, 3, 4}, {2, 2}, device))) ==
        Floats{1, 2, 3, 4, 5, 6, 11, 14});
  const AnyTensor rows = tensor_of({5, 1, 3, 2, 8, 4}, {2, 3}, device);
  CHECK(values_of(take_along_dim(rows, argsort(rows, 1), 1)) == Floats{1, 3, 5, 2, 4, 8});
  CHECK(values_of(take_along_dim(rows, ints({2}, {1, 1}, device), 1)) == Floats{3, 4});
  CHECK_THROWS_AS(values_of(gather_nd(x, ints({0, 2}, {1, 2}, device))), ShapeError);
  CHECK_THROWS_AS(gather_nd(x, ints({0, 0, 0, 0}, {1, 4}, device)), ShapeError);
}

TEST_CASE("an index out of range is told with the operation's name") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2, 3}, {3}, device), one = tensor_of({5}, {1}, device);
  for (const std::int64_t wrong : {std::int64_t{3}, std::int64_t{-1}}) {
    const AnyTensor at = ints({wrong}, {1}, device);
    CHECK_THROWS_WITH_AS(
        values_of(scatter(x, 0, at, one)),
        doctest::Contains("[scatter] an index was out of range 0 to 2 (../tests/device/scatter_assign"),
        ShapeError);
    CHECK_THROWS_WITH_AS(values_of(index_reduce(x, 0, at, one, ScatterReduction::Max)),
                         doctest::Contains("[index_reduce] an index was out of range"), ShapeError);
  }
  CHECK_THROWS_AS(scatter(x, 0, ints({0, 1}, {2}, device), one), ShapeError);
  CHECK_THROWS_AS(index_copy(x, 0, one, one), DTypeError);
  CHECK_THROWS_AS(index_copy(x, 0, ints({0}, {1}, device), one.cast(DType::i32)), DTypeError);
  CHECK_THROWS_AS(index_copy(x.narrow(0, 0, 0), 0, ints({0}, {1}, device), one), ShapeError);
}

TEST_CASE("gradients against differences") {
  const Device device = test_device().autodiff();
  const Floats x = {1.5f, -2, 0.5f, 3, 0, 1, 2, -1.5f}, weights = {1, -2, 3, 0.5f, -1, 2, 0.25f, -3};
  const Floats plain = {2.5f, -1, 4, 0.75f, -3, 1.25f, 5, -0.5f, 1.75f, 6};
  Floats with_zeros = plain;
  with_zeros[2] = with_zeros[4] = 0;
  const Ints index = {1, 0, 1, 3, 1};
  const auto check = [&](const Floats& source, const ScatterReduction* reduction, bool include_self) {
    const AnyTensor to = tensor_of(x, {4, 2}, device).require_grad(),
                    from = tensor_of(source, {5, 2}, device).require_grad();
    const AnyTensor at = ints(index, {5}, device);
    const AnyTensor y =
        reduction ? index_reduce(to, 0, at, from, *reduction, include_self) : index_copy(to, 0, at, from);
    const Gradients grads =
        AnyTensor::mul(y, tensor_of(weights, {4, 2}, device)).sum({0, 1}).reshape({}).backward();
    const auto loss = [&](const Floats& a, const Floats& b) {
      const Floats result = written(a, index, b, 2, reduction, include_self);
      double sum = 0;
      for (std::size_t i = 0; i < result.size(); ++i)
        sum += static_cast<double>(result[i]) * static_cast<double>(weights[i]);
      return sum;
    };
    const auto moved = [](Floats values, std::size_t at_place, float by) {
      values[at_place] += by;
      return values;
    };
    const Floats of_x = values_of(*grads.get(to)), of_source = values_of(*grads.get(from));
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(i);
      const double want = (loss(moved(x, i, 0x1p-6f), source) - loss(moved(x, i, -0x1p-6f), source)) * 0x1p5;
      CHECK(static_cast<double>(of_x[i]) == doctest::Approx(want).epsilon(1e-3));
    }
    for (std::size_t i = 0; i < source.size(); ++i) {
      CAPTURE(i);
      const double want = (loss(x, moved(source, i, 0x1p-6f)) - loss(x, moved(source, i, -0x1p-6f))) * 0x1p5;
      CHECK(static_cast<double>(of_source[i]) == doctest::Approx(want).epsilon(1e-3));
    }
  };
  check(plain, nullptr, false);
  for (const ScatterReduction reduction : kReductions)
    for (const bool include_self : {false, true}) {
      CAPTURE(static_cast<int>(reduction));
      CAPTURE(include_self);
      check(plain, &reduction, include_self);
      if (reduction == ScatterReduction::Prod) check(with_zeros, &reduction, include_self);
    }
  // Equal extremes share.
  const AnyTensor from = tensor_of({4, 4, 1}, {3}, device).require_grad();
  const AnyTensor most = index_reduce(AnyTensor::full({1}, 0, DType::f32, device), 0,
                                      ints({0, 0, 0}, {3}, device), from, ScatterReduction::Max);
  CHECK(values_of(*most.reshape({}).backward().get(from)) == Floats{0.5f, 0.5f, 0});
}

TEST_CASE("a write that fails at any allocation or launch loses nothing") {
  FailingDevice failing;
  const Device& device = failing.device;
  TestData data(3);
  const Ints index = data.integers(1500, 0, 499);
  const Floats x = numbers(1000, 1), source = numbers(3000, 2);
  const Floats want = written(x, index, source, 2, nullptr, false);
  int failures = 0;
  for (int* fails : {&failing.backend->fail_at, &failing.backend->fail_launch_at})
    for (int k = 0; k < 12; ++k) {
      const AnyTensor to = tensor_of(x, {500, 2}, device), from = tensor_of(source, {1500, 2}, device);
      const AnyTensor at = ints(index, {1500}, device);
      device.sync();
      *fails = k;
      try {
        const Floats got = values_of(index_copy(to, 0, at, from));
        CHECK(got == want);
      } catch (const DeviceError&) {
        ++failures;
      }
      *fails = -1;
      CHECK(values_of(to) == x);
      CHECK(values_of(index_copy(to, 0, at, from)) == want);
    }
  CHECK(failures >= 4);
}

}  // namespace sinter::testing
