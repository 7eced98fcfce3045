// Sizes that do not fit into 63 bits are told at the call, with the numbers; nothing wraps around in silence.
#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <sinter/nn/conv.h>
#include <sinter/nn/pool.h>
#include <sinter/sinter.h>

using namespace sinter;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t k31 = std::int64_t{1} << 31, k33 = std::int64_t{1} << 33, k62 = std::int64_t{1} << 62;

/// The message of the ShapeError that `f` throws, without the line it names.
template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const ShapeError& error) {
    const std::string text = error.what();
    const std::size_t line = text.rfind("size_limits_test.cpp:");
    return line == std::string::npos ? text : text.substr(0, text.rfind(" (", line));
  }
  return "no ShapeError was thrown";
}

}  // namespace

TEST_CASE("elements and bytes are counted without wrapping around") {
  const Device d = Device::host();
  CHECK(message([&] {
          Tensor<2>::zeros({k33, k31}, d);
        }) == "[full] a tensor of shape (8589934592, 2147483648) and dtype f32 has 2^63 bytes or more");
  CHECK(message([&] {
          Tensor<2>::zeros({k31, k31}, d);
        }) == "[full] a tensor of shape (2147483648, 2147483648) and dtype f32 has 2^63 bytes or more");
  CHECK(message([&] {
          Tensor<3>::zeros({k33, 0, k31}, d);
        }) == "[full] a tensor of shape (8589934592, 0, 2147483648) and dtype f32 has 2^63 bytes or more");
  CHECK(message([&] { Tensor<2>::randn({k33, k31}, d); }).starts_with("[random_normal] a tensor of shape"));
  CHECK(message([&] {
          (void)Shape{k33, k31}.numel();
        }) == "[numel] shape (8589934592, 2147483648) has 2^63 elements or more");
  CHECK(Shape{k31, k31}.numel() == k62);
  CHECK(Shape{k31, 0, 5}.numel() == 0);
  CHECK(message([&] {
          Tensor<2>::from_data(std::vector<float>{1}, {k33, k31}, d);
        }).starts_with("[from_data] a tensor of shape (8589934592, 2147483648)"));
  CHECK(message([&] {
          Tensor<2>::zeros({2, 0}, d).reshape({k33, k31});
        }) == "[reshape] a size does not fit into 64 bits: 8589934592 * 2147483648");
  CHECK(message([&] {
          Tensor<2>::zeros({1, 1}, d).expand({k33, k31});
        }).starts_with("[expand] a tensor of shape (8589934592, 2147483648)"));
}

TEST_CASE(
    "what fits in 63 bits and in no memory is one error when it is computed, and leaves everything usable") {
  const Device d = Device::host();
  const Tensor<1> small = Tensor<1>::full({3}, 2.0, d);
  small.sync();
  const Tensor<2> huge = Tensor<2>::zeros({k31, k31 / 4}, d);
  CHECK_THROWS_AS(huge.sync(), DeviceError);
  CHECK((small * 2.0).sum(0).item() == 12);
  // Four products of 2^62 bytes, multiplied with each other: their own sum fits into no size either.
  const auto product = [&](double value) {
    return Tensor<2>::full({k31, 1}, value, d).matmul(Tensor<2>::full({1, k31 / 4}, value, d));
  };
  const Tensor<2> sum = (product(1) * product(2) * product(3) * product(4)).sum(0).sum(1);
  CHECK_THROWS_WITH_AS(
      sum.sync(), doctest::Contains("the temporaries of one trace take more than 2^63 bytes"), DeviceError);
  CHECK((small * 3.0).sum(0).item() == 18);
}

TEST_CASE("operations that enlarge") {
  const Device d = Device::host();
  const Tensor<1> x = Tensor<1>::zeros({4}, d);
  CHECK(message([&] { x.repeat({k62}); }) ==
        "[repeat] a size does not fit into 64 bits: 4 * 4611686018427387904");
  CHECK(
      message([&] { x.repeat({k62 / 4}); }).starts_with("[repeat] a tensor of shape (4611686018427387904)"));
  CHECK(message([&] { x.pad({kMost}, {0}, 0); }) ==
        "[pad] a size does not fit into 64 bits: 4 + 9223372036854775807");
  CHECK(message([&] {
          x.pad({1}, {kMost - 5}, 0);
        }).starts_with("[pad] a tensor of shape (9223372036854775807)"));
  const Tensor<4> image = Tensor<4>::zeros({1, 1, 4, 6}, d), weight = Tensor<4>::zeros({1, 1, 1, 1}, d);
  CHECK(message([&] {
          image.conv2d(weight, {.padding = {kMost, kMost}});
        }) == "[conv2d] a size does not fit into 64 bits: 2 * 9223372036854775807");
  const Tensor<4> wide = Tensor<4>::zeros({1, 1, 3, 3}, d);
  CHECK(message([&] {
          image.conv2d(wide, {.dilation = {kMost, 1}});
        }) == "[conv2d] a size does not fit into 64 bits: 9223372036854775807 * 2");
  CHECK(message([&] {
          nn::AvgPool2d{.kernel = {kMost, 1}, .padding = {k62 - 1, 0}}.forward(image);
        }).starts_with("[pad] a size does not fit"));
  CHECK(message([&] { x.to_int().one_hot(k62); }).starts_with("[iota] a tensor of shape"));
}

TEST_CASE("steps, counts and diagonals at the ends of the range") {
  const Device d = Device::host();
  const auto numbers = Tensor<1, Int>::arange(-5'000'000'000'000'000'000, 5'000'000'000'000'000'000,
                                              1'000'000'000'000'000'000, d);
  CHECK(numbers.to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{
            -5'000'000'000'000'000'000, -4'000'000'000'000'000'000, -3'000'000'000'000'000'000,
            -2'000'000'000'000'000'000, -1'000'000'000'000'000'000, 0, 1'000'000'000'000'000'000,
            2'000'000'000'000'000'000, 3'000'000'000'000'000'000, 4'000'000'000'000'000'000});
  CHECK(Tensor<1, Int>::arange(kLeast, kMost, kMost, d).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{kLeast, -1, kMost - 1});
  CHECK(Tensor<1, Int>::arange(kMost, kLeast, kLeast, d).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{kMost, -1});
  CHECK(message([&] { Tensor<1, Int>::arange(kLeast, kMost, 1, d); }) ==
        "[arange] from -9223372036854775808 to 9223372036854775807 there are 2^63 numbers or more");
  for (const std::int64_t diagonal :
       {kMost, kMost - 1, std::int64_t{3}, std::int64_t{0}, std::int64_t{-2}, kLeast + 1, kLeast}) {
    CAPTURE(diagonal);
    std::vector<bool> lower, upper;
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 3; ++j) {
        const bool below = diagonal >= 3 || (diagonal > -2 && j <= i + diagonal);
        const bool above = diagonal <= -2 || (diagonal < 3 && j >= i + diagonal);
        lower.push_back(below);
        upper.push_back(above);
      }
    CHECK(Tensor<2, Bool>::tril_mask({2, 3}, d, diagonal).to_vector<bool>() == lower);
    CHECK(Tensor<2, Bool>::triu_mask({2, 3}, d, diagonal).to_vector<bool>() == upper);
  }
  const Tensor<1> x = Tensor<1>::from_data(std::vector<float>{1, 2, 3, 4}, {4}, d);
  CHECK(x.slice({s(1, 4, kMost)}).to_vector<float>() == std::vector<float>{2});
  CHECK(x.slice({s(3, {}, kLeast)}).to_vector<float>() == std::vector<float>{4});
  CHECK(x.roll(kLeast, 0).to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(x.chunk(kMost, 0).size() == 4);
  CHECK(x.split(kMost, 0).size() == 1);
  CHECK(message([&] {
          x.split({kMost, kMost}, 0);
        }) == "[split] a size does not fit into 64 bits: 9223372036854775807 + 9223372036854775807");
}

TEST_CASE("sums by more indices than are counted say so; gradients of reads do without") {
  const Device d = Device::null().autodiff();
  const Tensor<1> x = Tensor<1>::zeros({10}, d), source = Tensor<1>::zeros({k31}, d);
  const Tensor<1, Int> index = Tensor<1, Int>::zeros({k31}, d, DType::i32);
  CHECK(message([&] { x.index_add(0, index, source); }) ==
        "[index_add] 2147483648 indices into 10 places: there may be up to 2147483647 of each");
  CHECK(message([&] { x.scatter_add(0, index, source); }) ==
        "[scatter_add] 2147483648 indices into 10 places: there may be up to 2147483647 of each");
  const Tensor<2, Int> wide = Tensor<2, Int>::zeros({3, 5}, d);
  CHECK(message([&] {
          Tensor<2>::zeros({k33, 5}, d).scatter_add(0, wide, Tensor<2>::zeros({3, 5}, d));
        }) == "[scatter_add] 15 indices into 42949672960 places: there may be up to 2147483647 of each");
  CHECK(message([&] {
          Tensor<2>::zeros({k62 / 8, 1}, d)
              .scatter_add(0, Tensor<2, Int>::zeros({3, 1}, d), Tensor<2>::zeros({3, 1}, d));
        }) ==
        "[scatter_add] 3 indices into 576460752303423488 places: there may be up to 2147483647 of each");
  // As many elements as there may be: rows are what is counted.
  const Tensor<2> tall = Tensor<2>::zeros({1 << 20, 1 << 20}, d).require_grad();
  const Tensor<1, Int> rows = Tensor<1, Int>::zeros({1 << 16}, d);
  CHECK_NOTHROW((tall.index_select(0, rows) * 2.0).sum().backward());
  const Tensor<1> far = Tensor<1>::zeros({k33}, d).require_grad();
  CHECK_NOTHROW(far.index_select(0, rows).sum().backward());
}
