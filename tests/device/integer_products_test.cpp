// Products of 8-bit integers, cast to f32 for the product: on tensor cores that have them, and by processors
// that add up four products at a time, sums of integers, which are exact; elsewhere those of floats, which
// are while they stay below 2^24.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/ir/traits.h"
#include "src/base/env.h"
#include "src/runtime/device_core.h"
#include "src/runtime/host/products/gemm_fours.h"
#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

struct Integers {
  std::vector<std::int8_t> numbers;
  AnyTensor any;
};

/// All numbers from `least` on come.
Integers integers(const Shape& shape, std::uint64_t seed, double least = -128, double greatest = 127) {
  TestData random(seed);
  Integers made;
  for (const double x : random.reals(static_cast<std::size_t>(shape.numel()), least, greatest + 1))
    made.numbers.push_back(static_cast<std::int8_t>(std::min(std::floor(x), greatest)));
  made.any = AnyTensor::from_bytes(std::as_bytes(std::span(made.numbers)), shape, DType::i8, test_device());
  return made;
}

/// Sums of a (m, k) and b (n, k).
std::vector<std::int64_t> sums(const Integers& a, const Integers& b, std::int64_t m, std::int64_t n,
                               std::int64_t k) {
  std::vector<std::int64_t> all;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < k; ++i)
        sum += std::int64_t{a.numbers[static_cast<std::size_t>(row * k + i)]} *
               b.numbers[static_cast<std::size_t>(column * k + i)];
      all.push_back(sum);
    }
  return all;
}

/// True iff each is the sum as a float; `slack`: of a device that adds up floats, of each sum's size.
bool are(const AnyTensor& product, const std::vector<std::int64_t>& expected, double slack = 0) {
  const std::vector<float> found = values_of(product);
  bool same = found.size() == expected.size();
  for (std::size_t i = 0; same && i < found.size(); ++i)
    same = slack > 0 ? std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])) <= slack
                     : found[i] == static_cast<float>(expected[i]);
  return same;
}

/// True where sums over k, of matrices, are those of integers.
bool adds_integers(std::int64_t k) {
  if (k >= 131072) return false;
  const ir::DeviceTraits& traits = test_device().core().traits();
  if (traits.narrow_products)
    return base::environment().fusion && k % 4 == 0 && runtime::host::multiplies_fours();
  return traits.tensor_cores.any() && traits.tensor_cores.multiplies(DType::i8);
}

}  // namespace

TEST_CASE("products of 8-bit integers are exact, whatever their sizes") {
  struct Sizes {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Sizes{64, 64, 128},
                                {130, 200, 272},
                                {33, 17, 100},
                                {70, 8, 1},
                                {17, 72, 1024},
                                {1, 40, 256},
                                {5, 40, 256},
                                {192, 136, 144}}) {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    const Integers a = integers({m, k}, 1), b = integers({n, k}, 2);
    const std::vector<std::int64_t> expected = sums(a, b, m, n, k);
    const AnyTensor x = a.any.cast(DType::f32), y = b.any.cast(DType::f32);
    CHECK(are(x.matmul(y.transpose(0, 1)), expected));
    // The other factor across the sum.
    const AnyTensor across = AnyTensor::add(b.any.transpose(0, 1), 0);
    across.sync();
    CHECK(are(a.any.cast(DType::f32).matmul(across.cast(DType::f32)), expected));
  }
}

TEST_CASE("sums beyond what f32 counts by ones") {
  const std::int64_t m = 24, n = 40, k = 4112;
  const Integers a = integers({m, k}, 3, 90, 127), b = integers({n, k}, 4, 100, 127);
  const std::vector<std::int64_t> expected = sums(a, b, m, n, k);
  REQUIRE(expected[0] > 1 << 25);
  const AnyTensor product = a.any.cast(DType::f32).matmul(b.any.cast(DType::f32).transpose(0, 1));
  CHECK(are(product, expected, adds_integers(k) ? 0 : 0x1p-18 * 127 * 127 * k));
  // The least of all, as often as an i32 has room for it, and once more.
  for (const std::int64_t depth : {131068, 131071, 131072}) {
    CAPTURE(depth);
    const Integers least = integers({17, depth}, 5, -128, -128);
    const AnyTensor square = least.any.cast(DType::f32).matmul(least.any.cast(DType::f32).transpose(0, 1));
    CHECK(are(square, std::vector<std::int64_t>(17 * 17, depth * 16384),
              adds_integers(depth) ? 0 : 0x1p-10 * static_cast<double>(depth) * 16384));
  }
}

TEST_CASE("products of 8-bit integers so long that k is divided, and of slices") {
  const std::int64_t m = 600, n = 40, k = 4100, first = 3;
  const Integers a = integers({m, k}, 10), b = integers({n + 8, k}, 11);
  Integers slice;
  slice.numbers.assign(b.numbers.begin() + first * k, b.numbers.begin() + (first + n) * k);
  const std::vector<std::int64_t> expected = sums(a, slice, m, n, k);
  const double slack = adds_integers(k) ? 0 : 0x1p-18 * 127 * 127 * k;
  const auto second = [&] { return b.any.narrow(0, first, n).cast(DType::f32).transpose(0, 1); };
  CHECK(are(a.any.cast(DType::f32).matmul(second()), expected, slack));
  // The first factor across the sum, too.
  const AnyTensor across = AnyTensor::add(a.any.transpose(0, 1), 0);
  across.sync();
  CHECK(are(across.transpose(0, 1).cast(DType::f32).matmul(second()), expected, slack));
}

TEST_CASE("scales behind a product of integers, factors of one dtype beside others, and batches") {
  const Integers a = integers({3, 40, 160}, 6), b = integers({3, 24, 160}, 7);
  const AnyTensor scale = tensor_of(std::vector<float>(24, 0.125f), {24}, test_device());
  const AnyTensor product =
      AnyTensor::mul(a.any.cast(DType::f32).matmul(b.any.cast(DType::f32).transpose(1, 2)), scale);
  std::vector<std::int64_t> expected;
  for (std::size_t batch = 0; batch < 3; ++batch) {
    Integers x, y;
    x.numbers.assign(a.numbers.begin() + static_cast<std::ptrdiff_t>(batch * 40 * 160), a.numbers.end());
    y.numbers.assign(b.numbers.begin() + static_cast<std::ptrdiff_t>(batch * 24 * 160), b.numbers.end());
    for (const std::int64_t sum : sums(x, y, 40, 24, 160)) expected.push_back(sum);
  }
  CHECK(are(AnyTensor::mul(product, 8.0), expected));
  // An integer is a bf16, too, and an 8-bit float an f16.
  const Integers w = integers({24, 160}, 8), x = integers({40, 160}, 9);
  const std::vector<std::int64_t> mixed = sums(x, w, 40, 24, 160);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    if (!has_dtype(test_device(), dtype)) continue;
    const AnyTensor half = x.any.cast(dtype);
    half.sync();
    CHECK(are(half.cast(DType::f32).matmul(w.any.cast(DType::f32).transpose(0, 1)), mixed));
    CHECK(are(x.any.cast(dtype).cast(DType::f32).matmul(w.any.cast(dtype).cast(DType::f32).transpose(0, 1)),
              mixed));
  }
}

}  // namespace sinter::testing
