// Tensors of more than 2^31 elements on the host: every position counts in 64 bits. Takes up to 5 GiB at a
// time. Scans and sorts along such an axis are errors (scan_test, sort_test), and along shorter ones they
// give numbers of 64 bits, 16 GiB of them.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "tests/support/values.h"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace sinter::testing {
namespace {

constexpr std::int64_t k31 = std::int64_t{1} << 31;
constexpr std::int64_t kMany = k31 + 77;

bool has_memory() {
#if defined(__linux__)
  const double bytes =
      static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > 7e9) return true;
  MESSAGE("not checked: " << bytes << " bytes of memory are free, 7e9 are needed");
  return false;
#else
  return true;
#endif
}

/// Element i is i % 101.
AnyTensor pattern(std::int64_t count, const Device& device) {
  const AnyTensor x = AnyTensor::remainder(AnyTensor::arange(0, count, 1, device), 101).cast(DType::i8);
  x.sync();
  return x;
}
std::int64_t at(std::int64_t position) { return position % 101; }

std::int64_t number(const AnyTensor& x) { return x.to_data().item().as_int(); }
/// One element.
std::int64_t element(const AnyTensor& x, std::int64_t position) { return number(x.narrow(0, position, 1)); }

// On both sides of all that might be cut off, and the ends.
const std::vector<std::int64_t> kPlaces{0, 1, k31 - 1, k31, k31 + 1, kMany - 1};

}  // namespace

TEST_CASE("elementwise results, views and parts") {
  if (!has_memory()) return;
  const Device device = Device::host();
  const AnyTensor x = pattern(kMany, device);
  {
    const AnyTensor y = x * 3 - 1;
    y.sync();
    for (const std::int64_t i : kPlaces) {
      CAPTURE(i);
      CHECK(element(x, i) == at(i));
      CHECK(element(y, i) == static_cast<std::int8_t>(at(i) * 3 - 1));
      CHECK(element(x.flip(0), i) == at(kMany - 1 - i));
    }
  }
  const Range every{3, std::nullopt, 1 << 20};
  const std::vector<std::int8_t> few = x.slice(std::span(&every, 1)).to_data().to_vector<std::int8_t>();
  CHECK(few.size() == 2049);
  CHECK(few.back() == at(3 + (std::int64_t{2048} << 20)));
  const AnyTensor rolled = x.roll(5, 0);
  CHECK(element(rolled, 4) == at(kMany - 1));
  CHECK(element(rolled, kMany - 1) == at(kMany - 6));
}

TEST_CASE("reductions of all, and where the extremes are") {
  if (!has_memory()) return;
  const Device device = Device::host();
  AnyTensor x = pattern(kMany, device);
  const std::int64_t rounds = kMany / 101, rest = kMany % 101;
  CHECK(number(x.sum(0)) == rounds * (100 * 101 / 2) + rest * (rest - 1) / 2);
  CHECK(number(x.max(0)) == 100);
  const Range last{kMany - 2, kMany - 1, 1};
  x = x.slice_fill(std::span(&last, 1), 111);
  CHECK(number(x.argmax(0)) == kMany - 2);
  CHECK(number(x.max(0)) == 111);
  const AnyTensor is_last = x == 111;
  CHECK(number(is_last.any(0)) == 1);
  CHECK(number(is_last.all(0)) == 0);
  CHECK(number(is_last.cast(DType::i64).sum(0)) == 1);
}

TEST_CASE("joined parts, and what is read by index") {
  if (!has_memory()) return;
  const Device device = Device::host();
  const std::int64_t half = (std::int64_t{1} << 30) + 40;
  AnyTensor joined;
  {
    const AnyTensor left = pattern(half, device);
    const AnyTensor pieces[] = {left, left + 1};
    joined = AnyTensor::cat(pieces, 0);
    joined.sync();
  }
  for (const std::int64_t i : {std::int64_t{0}, half - 1, half, half + 1, k31 - 1, k31, 2 * half - 1}) {
    CAPTURE(i);
    CHECK(element(joined, i) == (i < half ? at(i) : at(i - half) + 1));
  }
  const auto places = Tensor<1, Int>::from_data({0, half, k31 - 1, k31, 2 * half - 1}, device);
  const std::vector<std::int8_t> want{0, 1, static_cast<std::int8_t>(at(k31 - 1 - half) + 1),
                                      static_cast<std::int8_t>(at(k31 - half) + 1),
                                      static_cast<std::int8_t>(at(half - 1) + 1)};
  CHECK(joined.index_select(0, places.dynamic()).to_data().to_vector<std::int8_t>() == want);
  CHECK(joined.gather(0, places.dynamic()).to_data().to_vector<std::int8_t>() == want);
  const auto beyond = Tensor<1, Int>::from_data({2 * half}, device);
  CHECK_THROWS_AS(joined.gather(0, beyond.dynamic()).to_data(), ShapeError);
}

TEST_CASE("rows added by index") {
  if (!has_memory()) return;
  const Device device = Device::host();
  const std::int64_t rows = (1 << 11) + 1, columns = 1 << 20;
  AnyTensor x = AnyTensor::full({rows, columns}, 1, DType::i8, device);
  x.sync();
  const auto places = Tensor<1, Int>::from_data({rows - 1, 5, rows - 1}, device);
  x = x.index_add(0, places.dynamic(), pattern(3 * columns, device).reshape({3, columns}));
  x.sync();
  const AnyTensor flat = x.reshape({rows * columns});
  for (const std::int64_t i : {std::int64_t{0}, columns - 1, columns / 2, columns - 7}) {
    CAPTURE(i);
    CHECK(element(flat, i) == 1);
    CHECK(element(flat, 5 * columns + i) == 1 + at(columns + i));
    CHECK(element(flat, k31 - columns + i) == 1);
    CHECK(element(flat, k31 + i) == static_cast<std::int8_t>(1 + at(i) + at(2 * columns + i)));
  }
}

TEST_CASE("attention over more scores than 2^31, which are in no memory") {
  constexpr std::int64_t kLength = 46'400, kDepth = 4;
  static_assert(kLength * kLength > k31);
  const Device device = Device::host();
  std::vector<std::vector<float>> numbers;
  std::vector<AnyTensor> x;
  for (int k = 0; k < 3; ++k) {
    x.push_back(Tensor<3>::randn({1, kLength, kDepth}, device).dynamic());
    numbers.push_back(values_of(x.back()));
  }
  const std::uint64_t before = device.statistics().peak_bytes_in_use;
  const AnyTensor y =
      nn::detail::attention(x[0], x[1], x[2], {.causal = true, .scale = 1.0}, Location::current());
  const std::vector<float> found = values_of(y);
  CHECK(device.statistics().peak_bytes_in_use - before < std::uint64_t{64} << 20);
  const auto at = [&](int k, std::int64_t row, std::int64_t c) {
    return static_cast<double>(
        numbers[static_cast<std::size_t>(k)][static_cast<std::size_t>(row * kDepth + c)]);
  };
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{1}, std::int64_t{23'170}, kLength - 1}) {
    double all = 0, sums[kDepth] = {};
    for (std::int64_t j = 0; j <= row; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < kDepth; ++c) score += at(0, row, c) * at(1, j, c);
      const double weight = std::exp(score);
      all += weight;
      for (std::int64_t c = 0; c < kDepth; ++c) sums[c] += weight * at(2, j, c);
    }
    for (std::int64_t c = 0; c < kDepth; ++c)
      CHECK(std::abs(found[static_cast<std::size_t>(row * kDepth + c)] - sums[c] / all) < 1e-5);
  }
}

}  // namespace sinter::testing
