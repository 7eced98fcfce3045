// Generators of one's own, and dtypes of what is drawn.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/temporary_folder.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

std::vector<float> floats(const AnyTensor& x) { return x.cast(DType::f32).to_data().to_vector<float>(); }
template <std::size_t Rank>
std::vector<float> floats(const Tensor<Rank>& x) {
  return floats(x.dynamic());
}
std::vector<std::int64_t> integers(const AnyTensor& x) {
  return x.cast(DType::i64).to_data().to_vector<std::int64_t>();
}

}  // namespace

TEST_CASE("a generator draws what follows from its seed, beside the device's stream") {
  const Device device = test_device();
  device.seed(3);
  const std::vector<float> of_device = floats(Tensor<1>::rand({9}, device));
  const RandomState state = random_state(device);

  Generator generator(3), copy = generator;
  CHECK(floats(Tensor<1>::rand({9}, device, generator)) == of_device);  // stream 0 of the same seed
  CHECK(random_state(device) == state);
  CHECK_FALSE(generator == copy);
  const std::vector<float> second = floats(Tensor<1>::randn({9}, device, generator));
  CHECK(floats(Tensor<1>::rand({9}, device, copy)) == of_device);
  CHECK(floats(Tensor<1>::randn({9}, device, copy)) == second);
  CHECK(generator == copy);

  Generator other(3, 1);
  CHECK(floats(Tensor<1>::rand({9}, device, other)) != of_device);
  CHECK_THROWS_WITH_AS(Generator(0, std::uint64_t{1} << 22),
                       "[Generator] stream 4194304 is not below 4194304", Error);
  // Elsewhere, too.
  Generator again(3);
  CHECK(floats(Tensor<1>::rand({9}, Device::host(), again)) == of_device);
}

TEST_CASE("every function that draws takes a generator") {
  const Device device = test_device();
  const auto weights = Tensor<1>::from_data({1, 2, 3, 4}, device);
  const auto draw = [&](Generator& g) {
    std::vector<std::vector<float>> all;
    all.push_back(floats(Tensor<1>::rand({5}, device, g)));
    all.push_back(floats(Tensor<1>::randn({5}, device, g)));
    all.push_back(floats(Tensor<1>::uniform({5}, -2, 3, device, g)));
    all.push_back(floats(Tensor<1>::normal({5}, 1, 2, device, g)));
    all.push_back(floats(Tensor<1, Bool>::bernoulli({40}, 0.5, device, g).dynamic()));
    all.push_back(floats(Tensor<1, Int>::randint({5}, -100, 100, device, g).dynamic()));
    all.push_back(floats(bernoulli(Shape{40}, 0.5, device, g)));
    all.push_back(floats(randperm(30, device, g)));
    all.push_back(floats(shuffle(Tensor<1>::arange(0, 30, 1, device), 0, g)));
    all.push_back(floats(multinomial(weights, 20, true, g).dynamic()));
    all.push_back(floats(multinomial(weights, 4, false, g).dynamic()));
    all.push_back(floats(categorical(weights.expand({30, 4}), 1, g).dynamic()));
    return all;
  };
  device.seed(1);
  const RandomState state = random_state(device);
  Generator first(11), second(11), third(12);
  const auto a = draw(first), b = draw(second), c = draw(third);
  CHECK(a == b);
  CHECK(first == second);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    // The orders of four weights are few; all else differs.
    if (i != 10) CHECK(a[i] != c[i]);
  }
  CHECK(random_state(device) == state);
}

TEST_CASE("in a scope everything draws from the generator, and the innermost one counts") {
  const Device device = test_device();
  device.seed(5);
  const RandomState state = random_state(device);
  Generator generator(8), inner(9);
  std::vector<float> weight;
  {
    const DrawFrom draws(generator);
    weight = floats(nn::LinearConfig{.d_in = 4, .d_out = 3}.init(device).weight);
    {
      const DrawFrom innermost(inner);
      Tensor<1>::rand({3}, device).sync();
    }
    Tensor<1>::rand({3}, device).sync();
  }
  CHECK(random_state(device) == state);
  Generator same(8), once(9);
  {
    const DrawFrom draws(same);
    CHECK(floats(nn::LinearConfig{.d_in = 4, .d_out = 3}.init(device).weight) == weight);
    Tensor<1>::rand({3}, device).sync();
  }
  CHECK(same == generator);
  Tensor<1>::rand({3}, device, once).sync();
  CHECK(once == inner);
}

TEST_CASE("what a checkpoint draws from a generator comes out the same when it runs again") {
  const Device device = test_device().autodiff();
  Generator generator(4);
  const auto x = Tensor<1>::ones({64}, device).require_grad();
  Generator in_checkpoint(6);
  const auto y = checkpoint(
      [&](const Tensor<1>& v) { return v * Tensor<1>::rand({64}, device.inner().autodiff(), in_checkpoint); },
      x);
  const RandomState after = in_checkpoint.state();
  const std::vector<float> values = floats(y.inner());
  const Gradients gradients = y.sum().backward();
  CHECK(floats(gradients.get(x)->inner()) == values);  // the numbers drawn
  CHECK(in_checkpoint.state() == after);
}

TEST_CASE("a generator is saved and goes on") {
  const Device device = test_device();
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "state.safetensors").string();
  Generator generator(21);
  Tensor<1>::rand({3}, device, generator).sync();
  record::Checkpoint checkpoint;
  checkpoint.random("noise", generator);
  checkpoint.save(file);
  const std::vector<float> next = floats(Tensor<1>::rand({3}, device, generator));
  generator = Generator(99);
  checkpoint.load(file);
  CHECK(floats(Tensor<1>::rand({3}, device, generator)) == next);
  CHECK(Generator(generator.state()) == generator);
}

TEST_CASE("floats of every dtype stay in their range") {
  const Device device = test_device();
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    if (!has_dtype(device, dtype)) continue;
    CAPTURE(name_of(dtype));
    Generator generator(2);
    const auto unit = Tensor<1>::rand({5000}, device, generator, dtype);
    CHECK(unit.dtype() == dtype);
    const std::vector<float> u = floats(unit);
    CHECK(*std::max_element(u.begin(), u.end()) < 1);
    CHECK(*std::max_element(u.begin(), u.end()) > 0.98);
    CHECK(*std::min_element(u.begin(), u.end()) >= 0);
    // Numbers that bf16 and f16 would round up to the end of the range.
    const std::vector<float> v = floats(Tensor<1>::uniform({5000}, -3, 256, device, generator, dtype));
    CHECK(*std::max_element(v.begin(), v.end()) < 256);
    const std::vector<float> w = floats(Tensor<1>::uniform({5000}, -256, -128, device, generator, dtype));
    CHECK(*std::max_element(w.begin(), w.end()) < -128);
    const auto z = Tensor<1>::randn({2000}, device, generator, dtype);
    CHECK(z.dtype() == dtype);
    double sum = 0;
    for (const float number : floats(z)) sum += number;
    CHECK(std::abs(sum / 2000) < 0.1);
  }
  CHECK_THROWS_WITH_AS(AnyTensor::uniform({2}, 0, 1, DType::i32, device), doctest::Contains("[uniform]"),
                       DTypeError);
}

TEST_CASE("random integers of every dtype, ends included") {
  const Device device = test_device();
  for (const DType dtype :
       {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    if (!has_dtype(device, dtype)) continue;
    CAPTURE(name_of(dtype));
    Generator generator(13);
    const std::int64_t low = is_unsigned(dtype) ? 3 : -4;
    const auto x = Tensor<2, Int>::randint({50, 40}, low, low + 7, device, generator, dtype);
    CHECK(x.dtype() == dtype);
    std::array<int, 7> counts{};
    for (const std::int64_t number : integers(x.dynamic())) {
      REQUIRE(number >= low);
      REQUIRE(number < low + 7);
      ++counts[static_cast<std::size_t>(number - low)];
    }
    // 2000 in 7 classes: 286 of each, within five deviations.
    for (const int count : counts) CHECK(std::abs(count - 286) < 80);
  }
  // Far more numbers than a float counts.
  Generator generator(1);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> wide =
      integers(Tensor<1, Int>::randint({4000}, -most / 2, most / 2, device, generator).dynamic());
  std::int64_t odd = 0, negative = 0;
  for (const std::int64_t number : wide) odd += number & 1, negative += number < 0;
  CHECK(std::abs(odd - 2000) < 200);
  CHECK(std::abs(negative - 2000) < 200);
  // Ends of what is drawn without a division, and one beyond: every digit is as likely.
  for (const std::int64_t count :
       {std::int64_t{1} << 31, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 2}) {
    CAPTURE(count);
    std::int64_t low_digits = 0, high = 0;
    for (const std::int64_t number :
         integers(Tensor<1, Int>::randint({4000}, -5, count - 5, device, generator).dynamic())) {
      REQUIRE(number >= -5);
      REQUIRE(number < count - 5);
      low_digits += (number + 5) & 1;
      high += number + 5 >= count / 2;
    }
    CHECK(std::abs(low_digits - 2000) < 200);
    CHECK(std::abs(high - 2000) < 200);
  }
  CHECK(integers(Tensor<1, Int>::randint({3}, 7, 8, device).dynamic()) == std::vector<std::int64_t>{7, 7, 7});
}

TEST_CASE("what randint and arange cannot give is said") {
  const Device device = test_device();
  using I = Tensor<1, Int>;
  CHECK_THROWS_WITH_AS(I::randint({2}, 5, 5, device),
                       doctest::Contains("[randint] the range from 5 to 5 is empty"), Error);
  CHECK_THROWS_WITH_AS(I::randint({2}, 0, 300, device, DType::u8),
                       doctest::Contains("[randint] the number 299 is not a value of dtype u8"), DTypeError);
  CHECK_THROWS_WITH_AS(I::randint({2}, std::numeric_limits<std::int64_t>::min(), 5, device),
                       doctest::Contains("has 2^63 numbers or more"), Error);
  CHECK_THROWS_AS(I::randint({2}, 0, 5, device, DType::f32), DTypeError);

  CHECK(integers(I::arange(250, 256, 2, device, DType::u8).dynamic()) ==
        std::vector<std::int64_t>{250, 252, 254});
  CHECK(I::arange(3, -3, -2, device, DType::i8).dtype() == DType::i8);
  CHECK(integers(I::arange(3, -4, -2, device, DType::i8).dynamic()) ==
        std::vector<std::int64_t>{3, 1, -1, -3});
  CHECK_THROWS_WITH_AS(I::arange(250, 300, 2, device, DType::u8),
                       doctest::Contains("[arange] the number 298 is not a value of dtype u8"), DTypeError);
  CHECK(I::arange(300, 300, 1, device, DType::u8).numel() == 0);
  // Farther from the first to the last than 63 bits say.
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max(), step = std::int64_t{1} << 62;
  CHECK(integers(I::arange(-far, far, step, device).dynamic()) ==
        std::vector<std::int64_t>{-far, -far + step, 1, 1 + step});
  CHECK_THROWS_WITH_AS(I::arange(-1, far, far, Device::null(), DType::i32),
                       doctest::Contains("the number 9223372036854775806 is not"), DTypeError);
}

}  // namespace sinter::testing
