// Integers of all sizes: that they wrap around, fused and not, and what is asked of their order and sums.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

/// Numbers around 0 and at both ends of T, in no order.
template <class T>
std::vector<T> numbers() {
  constexpr T least = std::numeric_limits<T>::min(), greatest = std::numeric_limits<T>::max();
  constexpr T middle = static_cast<T>(greatest / 2);
  return {1, greatest, 7, least, static_cast<T>(greatest - 1), 3, middle, static_cast<T>(middle + 1),
          0, 100,      1};
}

template <class T>
Tensor<1, Int> tensor(const std::vector<T>& values, const Device& device) {
  return Tensor<1, Int>::from_data(values, {static_cast<std::int64_t>(values.size())}, device);
}

}  // namespace

TEST_CASE_TEMPLATE("integers wrap around, in chains too", T, std::int8_t, std::int16_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  const Device device = test_device();
  const std::vector<T> x = numbers<T>();
  const auto a = tensor(x, device), b = tensor(std::vector<T>(x.rbegin(), x.rend()), device);
  const auto found = ((a * 3 + b) / 2 % 5 - a * b).template to_vector<T>();
  const auto less = (a + b < a).template to_vector<bool>();
  const auto shifted = ((a << 3) >> 2).template to_vector<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T p = x[i], q = x[x.size() - 1 - i];
    // C++ wraps where a cast narrows, and divides numbers without a sign as ours; unsigned products of 16
    // bits would overflow int.
    using Wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    const T scaled = static_cast<T>(Wide{static_cast<Wide>(p)} * 3 + static_cast<Wide>(q));
    const T half = static_cast<T>(scaled / 2);
    T rest = static_cast<T>(half % 5);
    if (rest != 0 && half < 0) rest = static_cast<T>(rest + 5);
    CAPTURE(i);
    CHECK(found[i] == static_cast<T>(static_cast<Wide>(rest) - static_cast<Wide>(p) * static_cast<Wide>(q)));
    const T sum = static_cast<T>(static_cast<Wide>(p) + static_cast<Wide>(q));
    CHECK(less[i] == (sum < p));
    CHECK(shifted[i] == static_cast<T>(static_cast<T>(static_cast<Wide>(p) << 3) >> 2));
  }
}

TEST_CASE_TEMPLATE("order, extremes and sums of integers", T, std::int8_t, std::int16_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t) {
  const Device device = test_device();
  const std::vector<T> x = numbers<T>();
  const auto a = tensor(x, device);
  std::vector<T> sorted(x), running(x);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < running.size(); ++i) running[i] = std::max(running[i - 1], running[i]);
  // The oracle has library ops in doubles, which do not tell numbers of 64 bits apart.
  const char* oracle = std::getenv("SINTER_TEST_ORACLE");
  if (oracle != nullptr && std::is_same_v<T, std::uint64_t>) return;
  CHECK(sort(a).values.template to_vector<T>() == sorted);
  CHECK(cummax(a, 0).values.template to_vector<T>() == running);
  CHECK(a.max(0).template to_vector<T>() == std::vector<T>{sorted.back()});
  CHECK(a.min(0).template to_vector<T>() == std::vector<T>{sorted.front()});
  CHECK(a.argmax(0).template to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{std::max_element(x.begin(), x.end()) - x.begin()});
  // Sums have 64 bits, as in PyTorch and NumPy.
  using Total = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
  std::uint64_t sum = 0;
  for (const T value : x) sum += static_cast<std::uint64_t>(value);
  CHECK(a.sum(0).dtype() == dtype_of<Total>);
  CHECK(a.sum(0).template to_vector<Total>() == std::vector<Total>{static_cast<Total>(sum)});
  CHECK(cumsum(a, 0).dtype() == dtype_of<Total>);
}

TEST_CASE_TEMPLATE("integers divided and rounded down, to the ends of their range", T, std::int8_t,
                   std::int16_t, std::int32_t, std::int64_t) {
  const Device device = test_device();
  constexpr T least = std::numeric_limits<T>::min(), greatest = std::numeric_limits<T>::max();
  const std::vector<T> x{
      least, static_cast<T>(least + 1), greatest, static_cast<T>(greatest - 1), -7, -6, -1, 0, 1, 6, 7};
  const auto floored = [](T p, T q) {
    if (q == 0) return T{0};
    if (q == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(p));  // wraps around
    const T quotient = static_cast<T>(p / q);
    return static_cast<T>(p % q != 0 && (p < 0) != (q < 0) ? quotient - 1 : quotient);
  };
  const auto a = tensor(x, device);
  for (const T by : {T{3}, T{-2}, T{1}, T{-1}, T{0}, least, greatest}) {
    CAPTURE(by);
    const auto of_number = floor_divide(a, by).template to_vector<T>();
    const auto of_tensor =
        floor_divide(a, tensor(std::vector<T>(x.size(), by), device)).template to_vector<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      CHECK(of_number[i] == floored(x[i], by));
      CHECK(of_tensor[i] == floored(x[i], by));
    }
  }
  CHECK(floor_divide(tensor(std::vector<std::uint8_t>{255, 7}, device), 2).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{127, 3});
}

TEST_CASE("numbers of 64 bits without a sign keep their value") {
  const Device device = test_device();
  constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max(),
                          middle = std::uint64_t{1} << 63;
  const auto zeros = Tensor<1>::zeros({1}, device);
  CHECK((zeros + greatest).to_vector<float>() == std::vector<float>{0x1p64f});
  CHECK((zeros + middle).to_vector<float>() == std::vector<float>{0x1p63f});
  const auto x = tensor(std::vector<std::uint64_t>{greatest, 5, middle}, device);
  CHECK((x == greatest).to_vector<bool>() == std::vector<bool>{true, false, false});
  CHECK((x >= middle).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK((x - middle).to_vector<std::uint64_t>() == std::vector<std::uint64_t>{middle - 1, middle + 5, 0});
  CHECK(maximum(x, middle).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{greatest, middle, middle});
  CHECK(x.full_like(greatest).to_vector<std::uint64_t>() == std::vector<std::uint64_t>(3, greatest));
  CHECK(values_of<std::uint64_t>(x.dynamic().full_like(0x1p63)) == std::vector<std::uint64_t>(3, middle));
  const auto with_sign = tensor(std::vector<std::int64_t>{-1, 5}, device);
  CHECK_THROWS_WITH_AS(with_sign == greatest,
                       doctest::Contains("the number 18446744073709551615 is not a value of dtype i64"),
                       DTypeError);
  CHECK_THROWS_WITH_AS(x + -1, doctest::Contains("the number -1 is not a value of dtype u64"), DTypeError);
  CHECK_THROWS_AS(x.dynamic().full_like(0x1p64), DTypeError);
}

TEST_CASE("floats become integers within their ends, and back") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data({-1e20, -130.5, -0.9, 0.9, 127.5, 300, 4e9, 1.5e19, 1e20}, device);
  CHECK(x.cast<Int>(DType::i8).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{-128, -128, 0, 0, 127, 127, 127, 127, 127});
  CHECK(x.cast<Int>(DType::u16).to_vector<std::uint16_t>() ==
        std::vector<std::uint16_t>{0, 0, 0, 0, 127, 300, 65535, 65535, 65535});
  CHECK(x.cast<Int>(DType::u32).to_vector<std::uint32_t>() ==
        std::vector<std::uint32_t>{0, 0, 0, 0, 127, 300, 4000000000, 4294967295, 4294967295});
  const auto large = x.cast<Int>(DType::u64);
  CHECK(large.to_vector<std::uint64_t>() == std::vector<std::uint64_t>{0, 0, 0, 0, 127, 300, 4000000000,
                                                                       static_cast<std::uint64_t>(1.5e19f),
                                                                       18446744073709551615u});
  // Rounded once: 2^63 + 2^39 + 1 lies above the middle of two floats.
  const auto above = Tensor<1, Int>::from_data(
      std::vector<std::uint64_t>{(std::uint64_t{1} << 63) + (std::uint64_t{1} << 39) + 1}, {1}, device);
  CHECK(above.cast<Float>(DType::f32).to_vector<float>() == std::vector<float>{0x1.000002p63f});
}

TEST_CASE("u64 beyond what item gives") {
  const Device device = test_device();
  const auto x = Tensor<1, Int>::from_data(std::vector<std::uint64_t>{~std::uint64_t{0}}, {1}, device);
  CHECK_THROWS_WITH_AS(
      x.reshape({}).item(),
      doctest::Contains("[item] 18446744073709551615 does not fit the int64_t that item() gives"),
      DTypeError);
  CHECK((x >> 1).to_vector<std::uint64_t>() == std::vector<std::uint64_t>{~std::uint64_t{0} >> 1});
}

}  // namespace sinter::testing
