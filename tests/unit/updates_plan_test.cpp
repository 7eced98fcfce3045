// Parameters that are changed while others still read their old values: the order of launches lets results be
// written over them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// What the last plan writes in place.
struct InPlace : runtime::TraceObserver {
  InPlace() { add_observer(*this); }
  ~InPlace() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    bytes = run.plan.in_place_bytes;
    new_results = run.plan.output_bytes.size();
  }
  std::size_t bytes = 0, new_results = 0;
};

std::vector<float> numbers(std::size_t count, int step) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<float>((static_cast<int>(i) * step) % 13) / 8;
  return all;
}

}  // namespace

TEST_CASE("an update comes behind what reads the old value, and is written over it") {
  const Device device = device_over(make_oracle_backend());
  const auto x = Tensor<2>::from_data(numbers(48 * 32, 5), {48, 32}, device);
  auto w = Tensor<1>::from_data(numbers(32, 3), {32}, device);
  w.sync();
  InPlace in_place;
  for (int step = 0; step < 3; ++step) {
    const std::vector<float> before = w.to_vector<float>();
    Tensor<1> rows = Tensor<1>::zeros({48}, device);
    {
      const Tensor<1> old = w;
      w = w - x.sum(0).reshape<1>({32}) * 0.01;
      rows = (x * old.unsqueeze(0)).sum(1).reshape<1>({48});
    }
    device.flush();
    CHECK(in_place.bytes >= 32 * sizeof(float));
    CHECK(in_place.new_results == 1);
    const std::vector<float> values = x.to_vector<float>(), sums = rows.to_vector<float>(),
                             after = w.to_vector<float>();
    for (std::size_t r = 0; r < 48; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < 32; ++c) sum += static_cast<double>(values[r * 32 + c]) * before[c];
      CHECK(sums[r] == doctest::Approx(sum));
    }
    for (std::size_t c = 0; c < 32; ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < 48; ++r) sum += values[r * 32 + c];
      CHECK(after[c] == doctest::Approx(before[c] - sum * 0.01));
    }
  }
}

TEST_CASE("of two updates that read each other's old value one has new memory") {
  const Device device = device_over(make_oracle_backend());
  const auto x = Tensor<2>::from_data(numbers(48 * 32, 5), {48, 32}, device);
  auto a = Tensor<1>::from_data(numbers(32, 3), {32}, device);
  auto b = Tensor<1>::from_data(numbers(32, 7), {32}, device);
  device.flush();
  InPlace in_place;
  for (int step = 0; step < 3; ++step) {
    const std::vector<float> old_a = a.to_vector<float>(), old_b = b.to_vector<float>();
    {
      const Tensor<1> a_was = a, b_was = b;
      a = a_was - (x * b_was.unsqueeze(0)).sum(0).reshape<1>({32}) * 0.01;
      b = b_was - (x.exp() * a_was.unsqueeze(0)).max(0).reshape<1>({32}) * 0.01;
    }
    device.flush();
    CHECK(in_place.new_results <= 1);
    const std::vector<float> values = x.to_vector<float>(), new_a = a.to_vector<float>(),
                             new_b = b.to_vector<float>();
    for (std::size_t c = 0; c < 32; ++c) {
      double sum = 0, most = -1e30;
      for (std::size_t r = 0; r < 48; ++r) {
        sum += static_cast<double>(values[r * 32 + c]) * old_b[c];
        most = std::max(most, std::exp(static_cast<double>(values[r * 32 + c])) * old_a[c]);
      }
      CHECK(new_a[c] == doctest::Approx(old_a[c] - sum * 0.01));
      CHECK(new_b[c] == doctest::Approx(old_b[c] - most * 0.01));
    }
  }
}

}  // namespace sinter::testing
