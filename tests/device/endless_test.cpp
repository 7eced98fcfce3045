// A program whose structures and shapes never come again holds no more memory in the end than in the
// beginning, and computes what it should while plans and kernels go.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/new_structures.h"
#include "tests/support/several_launches.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

constexpr std::size_t kLimit = std::size_t{1} << 20;

bool is_slow(const Device& device) { return compiles_slowly(device) || device.name().starts_with("cuda"); }

bool is_right(const Device& device, std::uint64_t structure) {
  const A x = A::full({3}, 4, DType::f32, device);
  for (const float value : values_of(run_structure(x, structure)))
    if (value != value_of_structure(4, structure)) return false;
  return true;
}

}  // namespace

TEST_CASE("ever new structures stay below the limit") {
  const Device device = device_with_plan_limit(1);
  const std::uint64_t structures = is_slow(device) ? 70 : 600;
  std::size_t most = 0;
  for (std::uint64_t structure = 0; structure < structures; ++structure) {
    CHECK(is_right(device, structure));
    most = std::max(most, device.statistics().plan_bytes);
  }
  CHECK(most <= kLimit);
  CHECK(most > kLimit / 2);
  CHECK(device.statistics().plans_dropped > 0);
  // What went is made again. Which of them went follows from how long each took to make, so all are asked
  // for.
  const std::uint64_t built = device.statistics().plans_built;
  for (std::uint64_t structure = 0; structure < structures; ++structure) CHECK(is_right(device, structure));
  CHECK(device.statistics().plans_built > built);
}

TEST_CASE("ever new shapes stay below the limit, and compile nothing") {
  const Device device = device_with_plan_limit(1);
  const std::int64_t rows = is_slow(device) ? 10 : 40, columns = 50;
  std::size_t most = 0;
  for (std::int64_t i = 2; i < 2 + rows; ++i)
    for (std::int64_t k = 2; k < 2 + columns; ++k) {
      const A x = A::full({i, k}, 2, DType::f32, device);
      for (const float value : values_of(A::add(A::mul(x, x), 1).sum({1})))
        CHECK(value == static_cast<float>(5 * k));
      most = std::max(most, device.statistics().plan_bytes);
    }
  CHECK(most <= kLimit);
  CHECK(device.statistics().plans_built >= static_cast<std::uint64_t>(rows * columns));
}

TEST_CASE("what is used all the time stays") {
  const Device device = device_with_plan_limit(1);
  const SeveralLaunches hot(6, 40, 9, device);
  CHECK(hot.is_right(1));
  std::uint64_t made_again = 0;
  for (std::uint64_t structure = 0; structure < (is_slow(device) ? 60 : 400); ++structure) {
    CHECK(is_right(device, structure));
    const std::uint64_t built = device.statistics().plans_built;
    CHECK(hot.is_right(static_cast<int>(structure % 5)));
    if (structure > 5) made_again += device.statistics().plans_built - built;
  }
  CHECK(device.statistics().plans_dropped > 0);
  // Once in a while what was dear to make goes between two uses, and with it what is cheap for its size.
  CHECK(made_again <= (is_slow(device) ? 6 : 20));
}

TEST_CASE("plans go while other threads run them") {
  const Device device = device_with_plan_limit(1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::uint64_t structures = is_slow(device) ? 25 : 200;
      for (std::uint64_t i = 0; i < structures; ++i) {
        // Half of them are every thread's.
        wrong += !is_right(device, i);
        wrong += !is_right(device, 1000 * (t + 1) + i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(device.statistics().plans_dropped > 0);
  CHECK(device.statistics().plan_bytes <= kLimit);
}

}  // namespace sinter::testing
