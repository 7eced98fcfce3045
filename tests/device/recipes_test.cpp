// Held values that are not stored: they give the same bits when they are asked for, take no more memory than
// they would have, and survive threads, failures and updates of what they read.
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "tests/support/failing_backend.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/setting.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Matrix = Tensor<2>;

/// Values of `bytes` or more may stay recipes while it exists.
class Recipes {
 public:
  explicit Recipes(std::int64_t bytes = 0) { base::mutable_environment().recipe_bytes = bytes; }
  ~Recipes() { base::mutable_environment().recipe_bytes = before_; }
  Recipes(const Recipes&) = delete;
  Recipes& operator=(const Recipes&) = delete;

 private:
  const std::int64_t before_ = base::environment().recipe_bytes;
};
constexpr std::int64_t kNone = std::int64_t{1} << 40;

bool fuses() { return base::environment().fusion; }

constexpr std::int64_t kRows = 96, kColumns = 128;
constexpr std::uint64_t kBytes = kRows * kColumns * sizeof(float);

Matrix counting(const Device& device, double scale = 1) {
  std::vector<float> data(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(scale * (static_cast<double>(i % 1013) - 500) / 37);
  return Matrix::from_data(data, {kRows, kColumns}, device);
}

std::vector<std::byte> bytes_of(const AnyTensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes);
  return bytes;
}

template <std::size_t Rank, class Kind>
std::vector<std::byte> bytes_of(const Tensor<Rank, Kind>& x) {
  return bytes_of(x.dynamic());
}

std::uint64_t in_use(const Device& device) { return device.statistics().bytes_in_use; }

/// A value that was not stored, and what it was held beside.
struct Held {
  Matrix x, value;
};
Held held_recipe(const Device& device) {
  Held held{counting(device), {}};
  held.value = held.x * 2.0;
  (held.value + 1.0).sum().sync();
  return held;
}

}  // namespace

TEST_CASE("recipes give the bits that would have been stored") {
  const Device device = test_device();
  const Matrix x = counting(device), y = counting(device, 0.3);
  const auto mask = x > 0.0;
  x.sync(), y.sync(), mask.sync();
  const std::vector<std::function<AnyTensor()>> programs = {
      [&] { return (x - x.mean(1)).dynamic(); },
      [&] { return ((x * 0.37 + 1.25).exp()).dynamic(); },
      [&] { return ((x - x.max(1)).exp() * x.sum(0)).dynamic(); },
      [&] { return (where(mask, x, x.sin() * 3.0)).dynamic(); },
      [&] {
        return (Matrix::rand({kRows, kColumns}, device) * 2.0).dynamic();
      },
      [&] {
        return (Matrix::randn({kRows, kColumns}, device)).dynamic();
      },
      [&] { return (x.transpose(0, 1).narrow(0, 3, 100).flip({1}) + 1.0).dynamic(); },
      [&] {
        return (Matrix::cat({x, x * 2.0}, 0)).dynamic();
      },
      [&] {
        return (x.pad({1, 2}, {3, 4}, 7.0).abs().sqrt()).dynamic();
      },
      [&] { return ((x * 100.0).cast<Int>() + 3).dynamic(); },
      [&] { return (x / 7.0 + x.tanh()).dynamic(); },
      [&] { return (y + gelu(y)).dynamic(); },
  };
  for (std::size_t p = 0; p < programs.size(); ++p) {
    CAPTURE(p);
    std::vector<std::vector<std::byte>> read;
    for (const std::int64_t bytes : {kNone, std::int64_t{0}}) {
      const Recipes setting(bytes);
      device.seed(5);
      const AnyTensor value = programs[p]();
      AnyTensor::add(value, 1).sum({0, 1}).sync();
      read.push_back(bytes_of(value));
      // Used again, by another kernel.
      device.seed(5);
      const AnyTensor other = programs[p]();
      AnyTensor::add(other, 1).sum({0, 1}).sync();
      const AnyTensor used = AnyTensor::mul(other, 3);
      used.sync();
      read.push_back(bytes_of(other));
      read.push_back(bytes_of(used));
    }
    CHECK(read[0] == read[3]);
    CHECK(read[1] == read[4]);
    CHECK(read[2] == read[5]);
    CHECK(read[0] == read[1]);
  }
}

TEST_CASE("a recipe takes no memory, and its value what it would have") {
  if (!fuses()) return;
  const Device device = test_device();
  const Recipes setting;
  device.sync();
  const std::uint64_t before = in_use(device);
  Held held = held_recipe(device);
  const std::uint64_t one = in_use(device) - before;
  CHECK(one < 2 * kBytes);
  // x lives on in the recipe, and is written over by what is asked for.
  held.x = Matrix();
  CHECK(in_use(device) - before == one);
  device.reset_statistics();
  held.value.sync();
  CHECK(device.statistics().bytes_in_place == kBytes);
  CHECK(in_use(device) - before == one);
  CHECK(bytes_of(held.value) == bytes_of(counting(device) * 2.0));
  held.value = Matrix();
  device.sync();
  CHECK(in_use(device) == before);
}

TEST_CASE("with its last handle a recipe lets go of what it reads") {
  const Device device = test_device();
  const Recipes setting;
  device.sync();
  const std::uint64_t before = in_use(device);
  {
    Held held = held_recipe(device);
    held.x = Matrix();
    // In another thread, and never computed.
    std::thread([&] { held.value = Matrix(); }).join();
    CHECK(in_use(device) - before < kBytes);
  }
  CHECK(in_use(device) == before);
}

TEST_CASE("a list of recipes over one input keeps that input alone") {
  if (!fuses()) return;
  const Device device = test_device();
  const Recipes setting;
  device.sync();
  const std::uint64_t before = in_use(device);
  std::vector<Matrix> list;
  {
    const Matrix x = counting(device);
    for (int i = 0; i < 10; ++i) {
      list.push_back(x * i);
      (list.back() + 1.0).sum().sync();
    }
  }
  CHECK(in_use(device) - before < 2 * kBytes);
  for (int i = 0; i < 10; ++i)
    CHECK(bytes_of(list[static_cast<std::size_t>(i)]) == bytes_of(counting(device) * i));
}

TEST_CASE("what comes of a slice does not keep the data alive") {
  const Device device = test_device();
  const Recipes setting;
  device.sync();
  const std::uint64_t before = in_use(device);
  Matrix value;
  {
    const Matrix data = counting(device);
    value = data.narrow(0, 32, 24) * 2.0;
    (value + 1.0).sum().sync();
  }
  CHECK(in_use(device) - before < kBytes / 2);
  CHECK(bytes_of(value) == bytes_of(counting(device).narrow(0, 32, 24) * 2.0));
}

TEST_CASE("what a recipe reads may be updated") {
  const Device device = test_device();
  const Recipes setting;
  for (int handles = 1; handles <= 3; ++handles) {
    Held held = held_recipe(device);
    std::vector<Matrix> more;  // several recipes that read the same
    for (int i = 1; i < handles; ++i) {
      more.push_back(held.x * (2.0 + i));
      (more.back() + 1.0).sum().sync();
    }
    device.reset_statistics();
    held.x = held.x + 1.0;
    held.x.sync();
    if (fuses()) CHECK(device.statistics().bytes_in_place == kBytes);
    held.x = held.x + 1.0;
    device.flush();
    CHECK(bytes_of(held.value) == bytes_of(counting(device) * 2.0));
    for (int i = 1; i < handles; ++i)
      CHECK(bytes_of(more[static_cast<std::size_t>(i - 1)]) == bytes_of(counting(device) * (2.0 + i)));
  }
}

TEST_CASE("another thread asks, and the owner's trace goes on") {
  const Device device = test_device();
  const Recipes setting;
  Held held = held_recipe(device);
  const Matrix pending = held.x + 5.0;
  device.reset_statistics();
  std::thread([&] { CHECK(bytes_of(held.value) == bytes_of(counting(device) * 2.0)); }).join();
  if (fuses()) CHECK(device.statistics().traces == 2);  // the recipe, and what it is compared with
  CHECK(bytes_of(pending) == bytes_of(counting(device) + 5.0));

  // As an operand there.
  held = held_recipe(device);
  std::thread([&] { CHECK(bytes_of(held.value + 1.0) == bytes_of(counting(device) * 2.0 + 1.0)); }).join();
}

TEST_CASE("what another thread's recipe reads is not written over") {
  const Device device = test_device();
  const Recipes setting;
  Matrix x = counting(device), others;
  std::thread([&] {
    others = x * 2.0;
    (others + 1.0).sum().sync();
  }).join();
  x = x + 1.0;
  x.sync();
  x = x + 1.0;  // this one is nobody else's
  device.reset_statistics();
  x.sync();
  if (fuses()) CHECK(device.statistics().bytes_in_place == kBytes);
  CHECK(bytes_of(others) == bytes_of(counting(device) * 2.0));
}

TEST_CASE("threads ask for, use, update and drop recipes at once") {
  const Device device = test_device();
  const Recipes setting;
  const std::vector<std::byte> doubled = bytes_of(counting(device) * 2.0);
  const std::int64_t rounds = testing::setting("SINTER_TEST_ROUNDS", compiles_slowly(device) ? 5 : 40);
  for (int round = 0; round < rounds; ++round) {
    Held held = held_recipe(device);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t, value = held.value, x = t == 2 ? held.x : Matrix()]() mutable {
        if (t == 0) CHECK(bytes_of(value) == doubled);
        if (t == 1) CHECK(bytes_of(value * 1.0) == doubled);
        if (t == 2) {
          value = Matrix();
          const Matrix own = x * 2.0;
          (own + 1.0).sum().sync();
          x = x + 1.0;
          x.sync();
          CHECK(bytes_of(own) == doubled);
        }
      });
    held.x = held.x + 1.0;
    held.x.sync();
    const Matrix value = std::exchange(held.value, Matrix());
    CHECK(bytes_of(value) == doubled);
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_CASE("an index out of range is told to who asks for a recipe") {
  const Device device = test_device();
  const Recipes setting;
  const Matrix table = counting(device);
  const auto wrong = Tensor<1, Int>::from_data(std::vector<std::int64_t>(kRows, kRows + 1), {kRows}, device);
  const Matrix picked = table.index_select(0, wrong), more = picked * 2.0;
  const Matrix good = table * 2.0;
  const auto spoiled = (more + 1.0).sum();
  CHECK_THROWS_AS(spoiled.item(), ShapeError);
  (good + 1.0).sum().sync();
  CHECK_THROWS_AS(bytes_of(more), ShapeError);
  CHECK(bytes_of(good) == bytes_of(counting(device) * 2.0));
}

TEST_CASE("a recipe that cannot be computed stays, and a half-written one says so") {
  if (!fuses()) return;
  const Recipes setting;
  for (const bool launches : {false, true}) {
    auto backend = std::make_unique<FailingBackend>(runtime::make_host_backend());
    FailingBackend* const fails = backend.get();
    const Device device = device_over(std::move(backend));
    const Held held = held_recipe(device);
    (launches ? fails->fail_launch_at : fails->fail_at) = 0;
    CHECK_THROWS_AS(held.value.sync(), Error);
    if (launches) {
      CHECK_THROWS_AS(held.value.sync(), Error);
    } else {
      CHECK(bytes_of(held.value) == bytes_of(counting(device) * 2.0));
    }
    CHECK(bytes_of(held.x) == bytes_of(counting(device)));
  }
}

TEST_CASE("random programs with recipes give what the oracle gives, twice") {
  const Device device = test_device();
  const Recipes setting;
  const std::int64_t count = testing::setting("SINTER_TEST_PROGRAMS", compiles_slowly(device) ? 20 : 300);
  const std::int64_t first = testing::setting("SINTER_TEST_FIRST", 5000);
  for (std::int64_t seed = first; seed < first + count; ++seed) {
    RandomProgramOptions options;
    options.steps = 20 + static_cast<int>(seed % 4) * 10;
    options.f64 = has_dtype(device, DType::f64);
    options.i64 = device.core().traits().name != "oracle";
    const std::string wrong = check(random_program(static_cast<std::uint64_t>(seed), options), device);
    CAPTURE(seed);
    CHECK(wrong == "");
  }
}

}  // namespace sinter::testing
