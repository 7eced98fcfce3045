// Loops of many rounds that nobody reads: they take slices of data by a moving start, hold values that are
// not stored, and still find the plans of earlier rounds.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/new_structures.h"

namespace sinter::testing {
namespace {

using Matrix = Tensor<2>;
using Numbers = std::vector<float>;

constexpr int kUsual = 128;

class Settings {
 public:
  Settings() {
    base::mutable_environment().trace_limit = kUsual;
    base::mutable_environment().longest_trace = 1000;
    base::mutable_environment().recipe_bytes = 0;
  }
  ~Settings() { base::mutable_environment() = before_; }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  const base::Environment before_ = base::environment();
};

/// What became of the traces that ran while it exists.
class Traces final : public runtime::TraceObserver {
 public:
  Traces() { runtime::add_observer(*this); }
  ~Traces() override { runtime::remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    bool has_recipe = false;
    for (const trace::OpRecord& record : run.trace.ops) has_recipe |= record.again;
    ++count;
    taken_up += has_recipe;
  }
  std::size_t count = 0;
  std::size_t taken_up = 0;  // traces with recipes of earlier ones
};

constexpr std::int64_t kBatch = 16, kColumns = 64;  // rows of 256 bytes

/// A loop whose values are small integers. `length`: ops of a round, about. `kept`: values of earlier rounds
/// that stay alive.
Numbers run_rounds(const Device& device, int rounds, int length, std::size_t kept, bool fusion) {
  base::mutable_environment().fusion = fusion;
  const std::int64_t rows = 8 * rounds + kBatch;
  Numbers numbers(static_cast<std::size_t>(rows * kColumns));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>((i * 7 + i / 64) % 23) - 11;
  const auto data = Matrix::from_data(numbers, {rows, kColumns}, device);
  Matrix w =
      Matrix::from_data(Numbers(static_cast<std::size_t>(kBatch * kColumns), 1), {kBatch, kColumns}, device);
  Matrix scaled = w * 3.0;
  auto sum = scaled.sum();
  std::array<Matrix, 3> history;
  for (int i = 0; i < rounds; ++i) {
    const Matrix batch = data.narrow(0, 8 * i, kBatch);
    Matrix next = (batch - scaled + sum).maximum(-50.0).minimum(50.0);
    for (int k = 0; k < length; k += 2) next = (w - next).maximum(-60.0 + k % 8);
    w = (next - scaled).maximum(-60.0).minimum(60.0);  // reads what an earlier trace may have left out
    scaled = w * 3.0 + 1.0;
    sum = (scaled + 1.0).sum(1).max().minimum(40.0);
    if (kept > 0) history[static_cast<std::size_t>(i) % kept] = scaled;
  }
  Numbers result = w.to_vector<float>();
  for (const Matrix& value : {scaled, history[0], history[1], history[2]}) {
    if (!value.defined()) continue;
    const Numbers more = value.to_vector<float>();
    result.insert(result.end(), more.begin(), more.end());
  }
  return result;
}

}  // namespace

TEST_CASE("rounds with slices that move and values that are held find their plans") {
  const Settings settings;
  const bool fused = base::environment().fusion;
  std::size_t taken_up = 0, all = 0;
  for (const int length : {4, 40, 150, 400})
    for (const std::size_t kept : {0, 1, 3}) {
      const Device device = device_with_plan_limit(256);
      const bool is_slow = compiles_slowly(device) || device.name().starts_with("cuda");
      if (is_slow && (kept == 1 || length == 40 || length == 400)) continue;
      const int round = length + 16, rounds = (is_slow ? 1200 : 8000) / round;
      CAPTURE(length);
      CAPTURE(kept);
      const Traces traces;
      const Numbers got = run_rounds(device, rounds, length, kept, fused);
      CHECK(device.statistics().plans_built <= 10);
      // Where recipes are taken up, traces have as many rounds as elsewhere.
      CHECK(traces.count >= static_cast<std::size_t>(rounds * round / std::max(kUsual, round) * 3 / 4));
      all += traces.count;
      taken_up += traces.taken_up;
      CHECK(got == run_rounds(device, rounds, length, kept, false));
    }
  // Where a trace ends, between two rounds or within one, follows from fingerprints of its ops.
  CHECK((taken_up > all / 8) == fused);
}

}  // namespace sinter::testing
