// Temporaries on a device whose buffers have a limit: several segments, the same numbers.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"

using namespace sinter;

namespace {

/// What the plans that run while it lives do with their temporaries.
struct Segments : runtime::TraceObserver {
  Segments() { add_observer(*this); }
  ~Segments() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    last = run.plan.arena_bytes;
    last_peak = run.plan.peak_bytes;
    most = std::max(most, last.size());
    for (const plan::Launch& launch : run.plan.launches)
      for (const plan::Binding& binding : launch.buffers)
        if (binding.space == plan::Binding::Space::Temporary)
          CHECK(binding.byte_offset < last.at(binding.index));
  }
  std::vector<std::size_t> last;
  std::size_t last_peak = 0, most = 0;
};

struct Unfused {
  Unfused() { base::mutable_environment().fusion = false; }
  ~Unfused() { base::mutable_environment().fusion = before; }
  const bool before = base::environment().fusion;
};

/// Six products that are alive at once, of 1024 bytes each.
std::vector<float> products(const Device& device) {
  std::vector<float> numbers(256);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7);
  const auto x = Tensor<2>::from_data(numbers, {16, 16}, device);
  std::vector<Tensor<2>> all;
  for (int i = 0; i < 6; ++i) all.push_back(x.matmul(x + static_cast<double>(i)));
  auto sum = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) sum = sum * 0.5 + all[i];
  all.clear();
  return sum.to_vector<float>();
}

}  // namespace

TEST_CASE("temporaries are dealt out among buffers of the device's limit") {
  const std::vector<float> want = products(testing::device_over(testing::make_oracle_backend()));
  Segments segments;
  CHECK(products(testing::device_over(testing::make_oracle_backend())) == want);
  REQUIRE(segments.last.size() == 1);
  const std::size_t whole = segments.last[0], peak = segments.last_peak;
  CHECK(whole >= 6 * 1024);
  for (const std::size_t limit : {std::size_t{1024}, std::size_t{2500}, std::size_t{4096}, whole}) {
    CHECK(products(testing::device_over(testing::make_oracle_backend(limit))) == want);
    std::size_t sum = 0;
    for (std::size_t bytes : segments.last) {
      CHECK(bytes <= limit);
      sum += bytes;
    }
    CHECK(segments.last.size() >= (whole + limit - 1) / limit);
    CHECK(sum >= whole);
    CHECK(segments.last_peak == peak - whole + sum);
  }
  CHECK(segments.last == std::vector<std::size_t>{whole});
}

TEST_CASE("a temporary larger than the limit is the device's to refuse") {
  const Device device = testing::device_over(testing::make_oracle_backend(1000));
  CHECK_THROWS_AS(products(device), DeviceError);
}

TEST_CASE("random programs give the same numbers in segments") {
  const Unfused unfused;
  constexpr std::size_t kLimit = 2500;
  const Device device = testing::device_over(testing::make_oracle_backend(kLimit));
  Segments segments;
  int right = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const testing::Program program = testing::random_program(seed, {.steps = 30, .i64 = false});
    const std::string wrong = testing::check(program, device);
    // A single value may be larger.
    const bool refused = wrong.find("[oracle] a buffer of") != std::string::npos;
    CHECK_MESSAGE((wrong.empty() || refused), "program " << seed << ": " << wrong);
    right += wrong.empty();
  }
  CHECK(right > 30);
  CHECK(segments.most > 1);
}
