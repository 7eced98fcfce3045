// Values that an index sends to one place: floats in any order where the program allows it, and what is the
// same in any order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

template <class T>
AnyTensor tensor_of(const std::vector<T>& values, const Shape& shape, DType dtype, const Device& device) {
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, dtype_of<T>, device).cast(dtype);
}
AnyTensor indices_of(const std::vector<std::int64_t>& values, const Shape& shape, const Device& device) {
  return tensor_of(values, shape, DType::i64, device);
}

/// Small numbers of any dtype.
std::vector<double> numbers_of(const AnyTensor& tensor) {
  if (tensor.dtype() == DType::f64) return values_of<double>(tensor);
  const std::vector<float> values = values_of(tensor.cast(DType::f32));
  return {values.begin(), values.end()};
}

std::vector<float> random_numbers(std::size_t count, std::uint32_t seed) {
  TestData data(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(data.integers(1, -1000, 1000)[0]) / 256.0f;
  return values;
}

/// True iff what `run` computes joins without sorting.
template <class Run>
bool joins(Run run) {
  const Report report = explain(run);
  for (const ReportTrace& trace : report.traces)
    for (const ReportLaunch& launch : trace.launches)
      for (const std::string& op : launch.ops)
        if (op.find("indexed_join") != std::string::npos) return true;
  return false;
}

bool is_gpu(const Device& device) { return device.name().rfind("host", 0) != 0; }

}  // namespace

TEST_CASE("scopes nest, and each thread has its own") {
  const SumOrder before = sum_order();
  {
    const SumOrderScope any(SumOrder::Any);
    CHECK(sum_order() == SumOrder::Any);
    {
      const SumOrderScope fixed(SumOrder::Fixed);
      CHECK(sum_order() == SumOrder::Fixed);
    }
    CHECK(sum_order() == SumOrder::Any);
  }
  CHECK(sum_order() == before);
}

TEST_CASE("sums in any order are within the bound of those in order") {
  const Device device = test_device();
  struct Case {
    std::int64_t outer, count, rows, columns;
  };
  // Added up in order whatever is allowed, since they are few; by atomic operations the rest.
  std::vector<Case> cases = {{1, 1, 1, 1},    {1, 700, 650, 4}, {1, 100, 500, 1}, {1, 101, 500, 3},
                             {1, 90, 500, 8}, {3, 90, 80, 3},   {40, 30, 33, 13}, {2, 1, 3, 1}};
  if (!compiles_slowly(device))
    cases.insert(cases.end(), {{1, 20'000, 20'000, 12}, {1, 30'000, 29'999, 5}, {2, 40, 33, 1030}});
  for (const Case& c : cases)
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      if (!has_dtype(device, dtype) || (dtype != DType::f32 && c.count > 1000)) continue;
      INFO(c.outer << " x " << c.count << " into " << c.rows << " of " << c.columns << ", "
                   << name_of(dtype));
      const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
      TestData data(7);
      const std::vector<std::int64_t> at = data.integers(size(c.count), 0, c.rows - 1);
      const AnyTensor source = tensor_of(random_numbers(size(c.outer * c.count * c.columns), 3),
                                         {c.outer, c.count, c.columns}, dtype, device);
      const AnyTensor x = tensor_of(random_numbers(size(c.outer * c.rows * c.columns), 4),
                                    {c.outer, c.rows, c.columns}, dtype, device);
      std::vector<double> sums = numbers_of(x), sizes(sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) sizes[i] = std::abs(sums[i]);
      const std::vector<double> terms = numbers_of(source);
      for (std::int64_t o = 0; o < c.outer; ++o)
        for (std::int64_t i = 0; i < c.count; ++i)
          for (std::int64_t k = 0; k < c.columns; ++k) {
            const std::size_t to = size((o * c.rows + at[size(i)]) * c.columns + k);
            sums[to] += terms[size((o * c.count + i) * c.columns + k)];
            sizes[to] += std::abs(terms[size((o * c.count + i) * c.columns + k)]);
          }
      AnyTensor whole, single;
      {
        const SumOrderScope any(SumOrder::Any);
        whole = x.index_add(1, indices_of(at, {c.count}, device), source);
        const AnyTensor each = indices_of(at, {1, c.count, 1}, device).expand({c.outer, c.count, c.columns});
        single = x.scatter_add(1, each, source);
      }
      for (const AnyTensor& found : {whole, single}) {
        const std::vector<double> values = numbers_of(found);
        double worst = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          const double rounding = dtype == DType::f64 ? 0x1p-50 : dtype == DType::f32 ? 0x1p-22 : 0x1p-7;
          const double error = std::abs(values[i] - sums[i]);
          worst = std::max(worst, std::isfinite(error) ? error / (sizes[i] * rounding + 1e-30) : INFINITY);
        }
        CHECK(worst <= 8);
      }
    }
}

TEST_CASE("floats are joined in any order only where the program allows it, and so are their gradients") {
  const Device device = test_device(), history = device.autodiff();
  if (!is_gpu(device)) return;
  const auto index = [&](const Device& on) {
    TestData data(2);
    return indices_of(data.integers(200, 0, 999), {200}, on);
  };
  const auto run = [&](DType dtype) {
    AnyTensor::full({1000, 40}, 1, dtype, device)
        .index_add(0, index(device), AnyTensor::full({200, 40}, 2, dtype, device))
        .sync();
  };
  const SumOrderScope fixed(SumOrder::Fixed);
  CHECK_FALSE(joins([&] { run(DType::f32); }));
  CHECK(joins([&] { run(DType::i32); }));
  {
    const SumOrderScope any(SumOrder::Any);
    CHECK(joins([&] { run(DType::f32); }));
    CHECK(joins([&] { run(DType::bf16); }));
  }
  for (const SumOrder of_read : {SumOrder::Fixed, SumOrder::Any}) {
    const SumOrder of_pass = of_read == SumOrder::Any ? SumOrder::Fixed : SumOrder::Any;
    const bool joined = joins([&] {
      const AnyTensor table = AnyTensor::full({1000, 40}, 1, DType::f32, history).require_grad();
      AnyTensor read;
      {
        const SumOrderScope scope(of_read);
        read = table.index_select(0, index(history));
      }
      const SumOrderScope scope(of_pass);
      read.square().sum().backward().get(table)->sync();
    });
    CHECK(joined == (of_read == SumOrder::Any));
  }
}

TEST_CASE("short rows of f32 are added up as integers: the same bits in any order, of numbers of any size") {
  const Device device = test_device();
  const std::int64_t rows = 2000, count = 300;  // so many rows that indices are not compared with each
  for (const std::int64_t columns : {1, 3, 32})
    for (const int kind : {0, 1, 2}) {  // alike sizes, all sizes, and those near the ends
      INFO(columns << " columns, numbers " << kind);
      TestData data(static_cast<std::uint64_t>(kind) + 5);
      std::vector<std::int64_t> at = data.integers(static_cast<std::size_t>(count), 0, rows / 10);
      std::vector<float> values = random_numbers(static_cast<std::size_t>(count * columns), 9);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const int power = static_cast<int>(i * 29 % 60);
        if (kind == 1) values[i] = std::ldexp(values[i], power - 30);
        if (kind == 2)
          values[i] = std::ldexp(values[i], at[i / static_cast<std::size_t>(columns)] % 2 ? 110 : -115);
      }
      const auto added = [&](const std::vector<std::size_t>& order) {
        std::vector<std::int64_t> its_at;
        std::vector<float> its_values;
        for (const std::size_t i : order) {
          its_at.push_back(at[i]);
          for (std::int64_t c = 0; c < columns; ++c)
            its_values.push_back(values[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
        }
        return values_of(AnyTensor::full({rows, columns}, 0, DType::f32, device)
                             .index_add(0, indices_of(its_at, {count}, device),
                                        tensor_of(its_values, {count, columns}, DType::f32, device)));
      };
      std::vector<std::size_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), std::size_t{0});
      const std::vector<float> sums = added(order);
      std::reverse(order.begin(), order.end());
      if (is_gpu(device)) CHECK(added(order) == sums);
      std::vector<double> wanted(sums.size()), sizes(sums.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t to = static_cast<std::size_t>(at[i / static_cast<std::size_t>(columns)] * columns) +
                               i % static_cast<std::size_t>(columns);
        wanted[to] += static_cast<double>(values[i]);
        sizes[to] += std::abs(static_cast<double>(values[i]));
      }
      double worst = 0;
      for (std::size_t i = 0; i < sums.size(); ++i)
        worst = std::max(
            worst, std::abs(static_cast<double>(sums[i]) - wanted[i]) / (sizes[i] * 0x1p-24 + 0x1p-126));
      CHECK(worst <= 2);
    }
}

TEST_CASE("sums of f32 with infinities, NaN, zeros of both signs, and more than f32 holds") {
  const Device device = test_device();
  const float nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::max();
  const std::vector<float> values = {INFINITY,  1,          -INFINITY, -2,     INFINITY, -INFINITY, nan, 3,
                                     -0.0f,     -0.0f,      most,      most,   most,     -most,     1,   -1,
                                     0x1p-126f, -0x1p-127f, 1e30f,     1e-30f, INFINITY, INFINITY};
  const std::vector<std::int64_t> at = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10};
  const auto n = static_cast<std::int64_t>(values.size());
  const std::vector<float> sums =
      values_of(AnyTensor::full({100}, 0, DType::f32, device)
                    .index_add(0, indices_of(at, {n}, device), tensor_of(values, {n}, DType::f32, device)));
  CHECK(sums[0] == INFINITY);
  CHECK(sums[1] == -INFINITY);
  CHECK(std::isnan(sums[2]));
  CHECK(std::isnan(sums[3]));
  CHECK(sums[4] == 0);
  CHECK(sums[5] == INFINITY);
  CHECK(sums[6] == 0);
  CHECK(sums[7] == 0);
  CHECK(std::abs(sums[8] - 0x1p-127f) <= 0x1p-126f);  // which some drivers take for 0
  CHECK(sums[9] == 1e30f);
  CHECK(sums[10] == INFINITY);
  for (std::size_t i = 11; i < sums.size(); ++i) CHECK(sums[i] == 0);
}

TEST_CASE("the largest and the least, with NaN, infinities, zeros of both signs and rows without any") {
  const Device device = test_device();
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = INFINITY;
  const std::vector<float> special = {nan,   infinity, -infinity, 0.0f,  -0.0f,  1.5f,
                                      -1.5f, 1e-40f,   -1e-40f,   3e38f, -3e38f, 7.0f};
  const std::int64_t rows = 400, count = 420, columns = 3;
  for (const ScatterReduction reduction : {ScatterReduction::Max, ScatterReduction::Min})
    for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8, DType::bf16}) {
      if (!has_dtype(device, dtype) ||
          (compiles_slowly(device) && dtype != DType::f32 && dtype != DType::i32))
        continue;
      const bool has_signs = dtype != DType::u8;
      CAPTURE(name_of(dtype));
      TestData data(11);
      std::vector<std::int64_t> at = data.integers(count, 0, rows / 2);  // the other half is empty
      std::vector<float> values(count * columns);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = is_float(dtype)
                        ? special[(i * 7 + i / 5) % special.size()]
                        : static_cast<float>(static_cast<int>(i * 31 % 97) - (has_signs ? 48 : 0));
      const std::vector<float> own(rows * columns, is_float(dtype) ? -2.0f : has_signs ? -40.0f : 9.0f);
      const AnyTensor x = tensor_of(own, {rows, columns}, dtype, device);
      const AnyTensor source = tensor_of(values, {count, columns}, dtype, device);
      const std::vector<double> terms = numbers_of(source);
      for (const bool include_self : {true, false}) {
        std::vector<double> wanted = numbers_of(x);
        std::vector<char> has(static_cast<std::size_t>(rows), include_self);
        for (std::size_t i = 0; i < at.size(); ++i) {
          const auto row = static_cast<std::size_t>(at[i]);
          for (std::size_t c = 0; c < columns; ++c) {
            double& to = wanted[row * columns + c];
            const double term = terms[i * columns + c];
            if (!has[row])
              to = term;
            else if (std::isnan(term) || (reduction == ScatterReduction::Max ? term > to : term < to))
              to = term;
          }
          has[row] = 1;
        }
        const std::vector<double> found =
            numbers_of(index_reduce(x, 0, indices_of(at, {count}, device), source, reduction, include_self));
        int differ = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
          differ += !(found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i])));
        CHECK(differ == 0);
      }
    }
}

TEST_CASE("of zeros of both signs, 0 is the largest and -0 the least") {
  const Device device = test_device();
  const AnyTensor x = AnyTensor::full({4}, 1, DType::f32, device),
                  source = tensor_of(std::vector<float>{-0.0f, 0.0f, -0.0f, 0.0f, 0.0f, -0.0f}, {6},
                                     DType::f32, device),
                  index = indices_of({0, 1, 2, 2, 3, 3}, {6}, device);
  const auto signs = [&](ScatterReduction reduction) {
    std::vector<bool> negative;
    for (const float value : values_of(index_reduce(x, 0, index, source, reduction, false)))
      negative.push_back(std::signbit(value));
    return negative;
  };
  const std::vector<bool> most = signs(ScatterReduction::Max), least = signs(ScatterReduction::Min);
  for (const std::vector<bool>& each : {most, least}) {
    CHECK(each[0]);
    CHECK_FALSE(each[1]);
  }
  if (!is_gpu(device)) return;  // which takes the first one
  CHECK_FALSE(most[2]);
  CHECK_FALSE(most[3]);
  CHECK(least[2]);
  CHECK(least[3]);
}

TEST_CASE("the ends of integers") {
  const Device device = test_device();
  const auto check = [&](auto least, auto most, DType dtype) {
    using T = decltype(least);
    const std::vector<T> values = {most, least, 0, least, most, 5, -5, 0};
    const std::vector<std::int64_t> at = {0, 0, 1, 1, 2, 2, 3, 3};
    const AnyTensor source = tensor_of(values, {8}, dtype, device);
    const AnyTensor x = AnyTensor::full({5}, 1, dtype, device);
    const auto reduced = [&](ScatterReduction reduction) {
      return values_of<T>(index_reduce(x, 0, indices_of(at, {8}, device), source, reduction, false));
    };
    CHECK(reduced(ScatterReduction::Max) == std::vector<T>{most, 0, most, 0, 1});
    CHECK(reduced(ScatterReduction::Min) == std::vector<T>{least, least, 5, -5, 1});
  };
  check(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), DType::i32);
  if (has_dtype(device, DType::i64))
    check(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), DType::i64);
}

}  // namespace sinter::testing
