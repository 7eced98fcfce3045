// The first k elements in order against a stable sort of all: sizes around those where another way begins,
// tiles and parts of workgroups; ties across them, special numbers, strides, many rows, all dtypes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Each text takes long to compile, or threads of workgroups are switched by this CPU.
bool is_slow(const Device& device) {
  return compiles_slowly(device) || device.description().find("emulated") != std::string::npos;
}

template <class N>
bool stands_before(N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return a < b || (std::isnan(b) && !std::isnan(a));
  return a < b;
}

/// Where the first `keep` of each sequence of x [outer, length, inner] stand along it, as [outer, keep,
/// inner].
template <class N>
std::vector<std::int64_t> first_of(const std::vector<N>& x, std::int64_t outer, std::int64_t length,
                                   std::int64_t inner, std::int64_t keep, bool descending) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(outer * keep * inner)),
      order(static_cast<std::size_t>(length));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t j) {
        return x[static_cast<std::size_t>((o * length + j) * inner + i)];
      };
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return descending ? stands_before(at(b), at(a)) : stands_before(at(a), at(b));
      });
      for (std::int64_t j = 0; j < keep; ++j)
        result[static_cast<std::size_t>((o * keep + j) * inner + i)] = order[static_cast<std::size_t>(j)];
    }
  return result;
}

using Fill = std::vector<float> (*)(std::int64_t count);

/// Some alike, none far from zero.
std::vector<float> mixed(std::int64_t count) {
  TestData data(static_cast<std::uint64_t>(count));
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = static_cast<float>(data.integer(-count / 3 - 1, count / 3 + 1)) / 8;
  return x;
}
std::vector<float> alike(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), -2.5f);
}
/// Ties in every tile, and few of each in front of the last ones.
std::vector<float> three(std::int64_t count) {
  TestData data(7);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = data.chance(0.003) ? 3.0f : data.chance(0.003) ? -1.0f : 0.5f;
  return x;
}
std::vector<float> rising(std::int64_t count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  std::iota(x.begin(), x.end(), -5.0f);
  return x;
}
/// Far apart, and near to each other: they differ in the first bits, or in the last ones alone.
std::vector<float> far_and_near(std::int64_t count) {
  TestData data(9);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x)
    value = data.chance(0.5) ? std::ldexp(1.5f, static_cast<int>(data.integer(-120, 120))) *
                                   (data.chance(0.5) ? 1.0f : -1.0f)
                             : std::bit_cast<float>(0x42280000 + static_cast<int>(data.integer(0, 300)));
  return x;
}
std::vector<float> special(std::int64_t count) {
  TestData data(11);
  const std::vector<float> some = {kNaN,
                                   -kNaN,
                                   kInfinity,
                                   -kInfinity,
                                   0.0f,
                                   -0.0f,
                                   1.0f,
                                   -1.0f,
                                   std::numeric_limits<float>::max(),
                                   std::numeric_limits<float>::lowest()};
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = data.pick(some);
  return x;
}

struct Sizes {
  std::int64_t outer, length, inner, keep;
  Fill fill = mixed;
};

void check(const Sizes& s, const Device& device) {
  const std::vector<float> x = s.fill(s.outer * s.length * s.inner);
  const AnyTensor given = tensor_of(x, {s.outer, s.length, s.inner}, device);
  for (const bool largest : {false, true}) {
    CAPTURE(s.outer);
    CAPTURE(s.length);
    CAPTURE(s.inner);
    CAPTURE(s.keep);
    CAPTURE(largest);
    const std::vector<std::int64_t> want = first_of(x, s.outer, s.length, s.inner, s.keep, largest);
    const AnyIndexed found = topk(given, s.keep, 1, largest);
    CHECK(found.values.shape() == Shape{s.outer, s.keep, s.inner});
    CHECK(values_of<std::int64_t>(found.indices) == want);
    const std::vector<float> values = values_of(found.values);
    REQUIRE(values.size() == want.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto inner = static_cast<std::size_t>(s.inner), keep = static_cast<std::size_t>(s.keep);
      const float expected =
          x[(i / inner / keep * static_cast<std::size_t>(s.length) + static_cast<std::size_t>(want[i])) *
                inner +
            i % inner];
      if (std::isnan(expected) ? std::isnan(values[i])
                               : std::bit_cast<int>(values[i]) == std::bit_cast<int>(expected))
        continue;
      CAPTURE(i);
      CHECK(values[i] == expected);
      FAIL_CHECK("not the same bits");
    }
  }
}

}  // namespace

TEST_CASE("a workgroup for each sequence: around the ends of its tiles") {
  const Device device = test_device();
  // Up to 128 keys a sort is one pass; up to 4,096 tiles have 1,024 keys, then 4,096.
  std::vector<Sizes> all = {{3, 129, 1, 1},          {1, 1024, 1, 512},          {2, 1025, 1, 5, alike},
                            {1, 2051, 1, 64, three}, {1, 4096, 1, 300, special}, {1, 4097, 1, 70},
                            {2, 8193, 1, 4, three},  {1, 12289, 1, 900, special}};
  if (!is_slow(device))
    for (const std::int64_t length :
         {128, 129, 130, 1023, 1024, 1025, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16384})
      for (const std::int64_t keep : {std::int64_t{1}, std::int64_t{2}, std::int64_t{31}, (length + 1) / 2,
                                      (length + 1) / 2 + 1, length - 1, length})
        for (const Fill fill : {mixed, alike, three, rising, far_and_near, special})
          all.push_back({length % 3 + 1, length, 1, keep, fill});
  for (const Sizes& s : all) check(s, device);
}

TEST_CASE("several workgroups for each sequence: around the ends of their parts") {
  const Device device = test_device();
  // Parts have 16,384 keys or more.
  std::vector<Sizes> all = {{1, 16385, 1, 7},
                            {2, 16385, 1, 16, alike},
                            {1, 33000, 1, 1, three},
                            {2, 32769, 1, 1200, special},
                            {1, 40009, 1, 20, far_and_near},
                            {1, 150001, 1, 60}};  // more parts than there are teams that add up
  if (!is_slow(device)) {
    for (const std::int64_t length : {16385, 32767, 32768, 32769, 49157})
      for (const std::int64_t keep :
           {std::int64_t{1}, std::int64_t{50}, (length + 1) / 2, (length + 1) / 2 + 1})
        for (const Fill fill : {mixed, alike, three, rising, far_and_near, special})
          all.push_back({length % 2 + 1, length, 1, keep, fill});
    all.push_back({1, 300000, 1, 1000, special});
    all.push_back({1, 300000, 1, 100000});
  }
  for (const Sizes& s : all) check(s, device);
}

TEST_CASE("many rows") {
  const Device device = test_device();
  check({70, 333, 1, 3}, device);
  if (is_slow(device)) return;
  check({5000, 129, 1, 10, three}, device);
  check({300, 5003, 1, 50}, device);
  check({192, 17001, 1, 3}, device);  // as many as there are workgroups wanted: no row is shared
  check({191, 17001, 1, 3}, device);
}

TEST_CASE("strided sequences") {
  const Device device = test_device();
  check({2, 200, 3, 9}, device);
  check({1, 16500, 2, 12, three}, device);
  const std::vector<float> x = mixed(7 * 1500);
  const AnyTensor given = tensor_of(x, {7, 1500}, device);
  // Every third of columns 10 to 1,300, of rows 2 to 5, read where they lie.
  const Range ranges[] = {{2, 6}, {10, 1300, 3}};
  std::vector<float> part;
  for (std::size_t r = 2; r < 6; ++r)
    for (std::size_t c = 10; c < 1300; c += 3) part.push_back(x[r * 1500 + c]);
  CHECK(values_of<std::int64_t>(topk(given.slice(ranges), 33, 1).indices) ==
        first_of(part, 4, 430, 1, 33, true));
  const Range rows[] = {{2, 6}, {10, 1300}};  // rows in a row, but not one behind the other
  part.clear();
  for (std::size_t r = 2; r < 6; ++r)
    for (std::size_t c = 10; c < 1300; ++c) part.push_back(x[r * 1500 + c]);
  CHECK(values_of<std::int64_t>(topk(given.slice(rows), 33, 1).indices) ==
        first_of(part, 4, 1290, 1, 33, true));
}

TEST_CASE("every dtype, with as many digits as its numbers have") {
  const Device device = test_device();
  TestData data(3);
  for (const DType dtype : {DType::f64, DType::i64, DType::bf16, DType::i8, DType::f16, DType::i32,
                            DType::i16, DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean})
    for (const std::int64_t count : {1500, 6000, 17000}) {
      if (!has_dtype(device, dtype)) continue;
      if (is_slow(device) && (size_of(dtype) < 8 || count == 6000) && (size_of(dtype) != 1 || count != 1500))
        continue;
      CAPTURE(name_of(dtype));
      CAPTURE(count);
      std::vector<std::int64_t> x(static_cast<std::size_t>(count));
      const int bits = dtype == DType::boolean ? 1
                       : dtype == DType::f64   ? 53
                       : dtype == DType::f32   ? 24
                       : dtype == DType::bf16  ? 8
                       : dtype == DType::f16   ? 11
                                               : 8 * static_cast<int>(size_of(dtype));
      const bool is_signed = is_float(dtype) || dtype == DType::i8 || dtype == DType::i16 ||
                             dtype == DType::i32 || dtype == DType::i64;
      // Of all sizes, so that each digit decides somewhere; a float's are exact.
      for (std::int64_t& value : x) {
        const int used = static_cast<int>(data.integer(1, bits));
        value = static_cast<std::int64_t>(data.next() >> (64 - used));
        if (is_float(dtype) ? data.chance(0.5) : is_signed && used < 64)
          value = is_float(dtype) ? -value : value - (std::int64_t{1} << (used - 1));
      }
      if (dtype == DType::u64 || dtype == DType::i64)
        for (std::size_t i = 0; i < x.size(); i += 1 + x.size() / 5)
          x[i] = i % 2 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
      const AnyTensor given =
          dtype == DType::boolean
              ? AnyTensor::less(
                    0, AnyTensor::from_bytes(std::as_bytes(std::span(x)), {count}, DType::i64, device))
              : AnyTensor::from_bytes(std::as_bytes(std::span(x)), {count}, DType::i64, device).cast(dtype);
      for (const bool largest : {false, true})
        for (const std::int64_t keep : {std::int64_t{20}, count / 2}) {
          CAPTURE(largest);
          CAPTURE(keep);
          std::vector<std::int64_t> want;
          if (dtype == DType::u64)
            want = first_of(std::vector<std::uint64_t>(x.begin(), x.end()), 1, count, 1, keep, largest);
          else
            want = first_of(x, 1, count, 1, keep, largest);
          const AnyIndexed found = topk(given, keep, 0, largest);
          CHECK(values_of<std::int64_t>(found.indices) == want);
          CHECK(found.values.dtype() == dtype);
          const AnyTensor same = AnyTensor::equal(found.values, given.gather(0, found.indices));
          CHECK(values_of<std::int64_t>(same.cast(DType::i64).sum(0)) == std::vector<std::int64_t>{keep});
        }
    }
}

TEST_CASE("what is read of the first k: k-th elements, medians and quantiles of long sequences") {
  const Device device = test_device();
  const std::int64_t length = is_slow(device) ? 301 : 50001;
  const std::vector<float> x = special(length);
  const AnyTensor given = tensor_of(x, {length}, device);
  const std::vector<std::int64_t> order = first_of(x, 1, length, 1, length, false);
  const auto at = [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; };
  for (const std::int64_t k : {std::int64_t{1}, length / 5, length - 1})
    CHECK(values_of<std::int64_t>(kthvalue(given, k, 0).indices) == std::vector<std::int64_t>{at(k - 1)});
  std::vector<float> numbers = mixed(length);
  const AnyTensor whole = tensor_of(numbers, {length}, device);
  std::stable_sort(numbers.begin(), numbers.end());
  CHECK(values_of(median(whole, 0).values) ==
        std::vector<float>{numbers[static_cast<std::size_t>(length / 2)]});
  CHECK(values_of(quantile(whole, 0.1, 0)) ==
        std::vector<float>{numbers[static_cast<std::size_t>((length - 1) / 10)]});
}

TEST_CASE("none, one, and as many as there are") {
  const Device device = test_device();
  CHECK(topk(AnyTensor::full({3, 0}, 1, DType::f32, device), 0, 1).values.shape() == Shape{3, 0});
  CHECK(topk(AnyTensor::full({0, 500}, 1, DType::f32, device), 7, 1).indices.shape() == Shape{0, 7});
  CHECK(topk(tensor_of(mixed(300), {300}, device), 0).values.shape() == Shape{0});
  check({1, 1, 1, 1}, device);
  check({1, 200, 1, 200, special}, device);
  CHECK(values_of<std::int64_t>(topk(AnyTensor::full({}, 7, DType::f32, device), 1).indices) ==
        std::vector<std::int64_t>{0});
}

}  // namespace sinter::testing
