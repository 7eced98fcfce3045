// Plans that run again: with other scalars, with operands at other addresses, with other shapes in between,
// from several threads. On CUDA they are graphs from the second run on.
#include <atomic>
#include <cmath>
#include <deque>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include "tests/support/programs/random_program.h"
#include "tests/support/setting.h"
#include "tests/support/several_launches.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

int rounds(const Device& device) { return compiles_slowly(device) ? 4 : 8; }

}  // namespace

TEST_CASE("numbers may differ each time a plan comes again") {
  const Device device = test_device();
  const SeveralLaunches work(6, 40, 9, device);
  const std::uint64_t launches = device.statistics().launches;
  for (int round = 0; round < rounds(device); ++round) CHECK(work.is_right(round - 2));
  CHECK(device.statistics().launches - launches >= static_cast<std::uint64_t>(3 * rounds(device)));
}

TEST_CASE("results of a plan stay when it comes again") {
  const Device device = test_device();
  const SeveralLaunches work(6, 40, 9, device);
  std::vector<SeveralLaunches::Results> all;
  for (int round = 0; round < rounds(device); ++round) all.push_back(work.run(round));
  for (int round = 0; round < rounds(device); ++round)
    CHECK(work.is_right(all[static_cast<std::size_t>(round)], round));
}

TEST_CASE("operands may lie elsewhere each time") {
  const Device device = test_device();
  std::deque<SeveralLaunches> kept;  // so that memory is not reused in the same order
  for (int round = 0; round < rounds(device); ++round) {
    kept.emplace_back(5, 12, 7, device, round);
    CHECK(kept.back().is_right(2));
    if (round % 3 == 2) kept.pop_front();
    CHECK(kept.front().is_right(round));
  }
}

TEST_CASE("variables that are updated in place, step by step") {
  const Device device = test_device();
  A p = A::full({1000}, 64, DType::f32, device), m = A::full({1000}, 0, DType::f32, device);
  A scale = A::full({10, 1}, 1, DType::f32, device);
  double want_p = 64, want_m = 0, want_scale = 1;
  for (int step = 1; step <= 12; ++step) {
    const double rate = step % 2 ? 0.5 : 0.25;
    m = A::add(A::mul(m, 0.5), A::mul(p, 0.25));
    p = A::sub(p, A::mul(m, rate));
    scale = A::add(A::mul(scale, -1), step);
    const A total = p.reshape({10, 100}).max({1});
    device.flush();
    want_m = want_m * 0.5 + want_p * 0.25;
    want_p -= want_m * rate;
    want_scale = -want_scale + step;
    if (step % 4 == 0)
      for (float value : values_of(total)) CHECK(std::abs(value - want_p) <= 1e-5 * std::abs(want_p) + 1e-6);
  }
  for (float value : values_of(p)) CHECK(std::abs(value - want_p) <= 1e-5 * std::abs(want_p) + 1e-6);
  for (float value : values_of(scale)) CHECK(value == static_cast<float>(want_scale));
}

TEST_CASE("shapes that differ at each step, and come again later") {
  const Device device = test_device();
  const int most = compiles_slowly(device) ? 6 : 20;
  for (int pass = 0; pass < 3; ++pass)
    for (int rows = 1; rows <= most; ++rows)
      CHECK(SeveralLaunches(rows, 2 * rows + 1, 5, device).is_right(pass + 1));
}

TEST_CASE("one plan from several threads") {
  const Device device = test_device();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const SeveralLaunches work(4, 16, 6, device, t);
      for (int round = 0; round < rounds(device); ++round) wrong += !work.is_right(10 * t + round);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("random programs, again and again") {
  const Device device = test_device();
  const auto programs =
      static_cast<std::uint64_t>(setting("SINTER_TEST_REPLAYS", compiles_slowly(device) ? 5 : 100));
  RandomProgramOptions options;
  options.f64 = has_dtype(device, DType::f64);
  options.i64 = device.core().traits().name != "oracle";
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Program program = random_program(7000 + seed, options);
    for (int round = 0; round < 3; ++round) {
      const std::string wrong = check(program, device);
      if (wrong.empty()) continue;
      FAIL("program ", 7000 + seed, ", round ", round, ": ", wrong, "\n",
           to_text(program, evaluate(program, Reference(precision_of(device)))));
    }
  }
}

}  // namespace sinter::testing
