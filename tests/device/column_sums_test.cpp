// Sums over rows that the kernels of rows add up in parts: values, against the same program in f64 on the
// host.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/small_gpu.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

/// Counts kernels with parts.
class Parts : public runtime::TraceObserver {
 public:
  Parts() { runtime::add_observer(*this); }
  ~Parts() override { runtime::remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    for (const plan::PlanKernel& kernel : run.plan.kernels) count += ir::has_parts(kernel) ? 1 : 0;
  }
  int count = 0;
};

/// On the host, in `dtype`: rounded to `given` first, so that it is the same in all dtypes.
A noise(const Shape& shape, DType given, DType dtype, double seed) {
  std::vector<float> data(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(std::sin(seed + 1.7 * static_cast<double>(i % 10007)) + 0.25);
  return Tensor<2>::from_data(data, {shape[0], shape[1]}, Device::host()).dynamic().cast(given).cast(dtype);
}

std::vector<double> numbers(const A& x) {
  const A on_host = x.to_device(Device::host()).cast(DType::f64);
  std::vector<double> values(static_cast<std::size_t>(x.numel()));
  on_host.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// Gradients of x, weight and bias of a norm, given the result's, and the sum of x's over all rows.
std::vector<std::vector<double>> gradients(const Shape& shape, DType given, DType dtype, bool centred,
                                           const Device& plain) {
  const Device device = plain.autodiff();
  const auto leaf = [&](const Shape& s, double seed) {
    const A x = noise(s, given, dtype, seed).to_device(device);
    x.sync();
    return x.require_grad();
  };
  const A x = leaf(shape, 1), weight = leaf({1, shape[1]}, 2), bias = leaf({1, shape[1]}, 3),
          dy = noise(shape, given, dtype, 4).to_device(device);
  A y;
  if (centred) {
    const A off = A::sub(x, x.mean(1));
    y = A::add(A::mul(A::mul(off, A::add(A::mul(off, off).mean(1), 0.1).rsqrt()), weight), bias);
  } else {
    y = A::add(A::mul(A::mul(x, A::add(A::mul(x, x).mean(1), 0.1).rsqrt()), weight), bias);
  }
  Gradients found = A::mul(y, dy).sum({0, 1}).backward();
  const A dx = found.remove(x).value(), dweight = found.remove(weight).value(),
          dbias = found.remove(bias).value(), total = dx.sum(0);
  device.sync();
  return {numbers(dx), numbers(dweight), numbers(dbias), numbers(total)};
}

double farthest(const std::vector<double>& got, const std::vector<double>& want) {
  double most = 0, largest = 1;
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    most = std::isnan(got[i]) ? INFINITY : std::max(most, std::abs(got[i] - want[i]));
  }
  return most / largest;
}

}  // namespace

TEST_CASE("gradients of norms whose columns are added up beside the rows are those of f64") {
  const Device device = small_gpu();
  struct Case {
    Shape shape;
    bool joins;  // one kernel has parts, of f32
  };
  const Case cases[] = {{{0, 33}, false},    {{1, 257}, false},    {{5, 64}, false},   {{4099, 2}, false},
                        {{1300, 33}, true},  {{613, 257}, true},   {{401, 768}, true}, {{130, 1023}, true},
                        {{131, 4096}, true}, {{70, 12289}, false}, {{1200, 1}, false}};
  for (const auto& [shape, joins] : cases)
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      for (const bool centred : {false, true}) {
        if (dtype == DType::f16 && shape.numel() > 50000) continue;
        CAPTURE(to_string(shape));
        CAPTURE(name_of(dtype));
        CAPTURE(centred);
        Parts parts;
        const auto got = gradients(shape, dtype, dtype, centred, device);
        // Rows of 257 are for one subgroup where that has as many lanes as a GPU's.
        const bool fits = shape[1] != 257 || device.core().traits().short_row_lanes >= 32;
        if (base::environment().fusion && joins && fits && dtype == DType::f32) CHECK(parts.count > 0);
        if (!base::environment().fusion) CHECK(parts.count == 0);
        CHECK(got == gradients(shape, dtype, dtype, centred, device));
        const auto want = gradients(shape, dtype, DType::f64, centred, Device::host());
        const double least = dtype == DType::f32 ? 2e-5 : dtype == DType::bf16 ? 2e-2 : 4e-3;
        for (std::size_t g = 0; g < 3; ++g) CHECK(farthest(got[g], want[g]) < least);
      }
}

namespace {

/// What a random program of elementwise work, rows' reductions and sums over rows gives. Values stay about 1.
std::vector<A> random_sums(std::uint64_t seed, const Shape& shape, DType dtype, const Device& device) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto input = [&](const Shape& s, double at) {
    const A x = noise(s, DType::f32, dtype, at).to_device(device);
    x.sync();
    return x;
  };
  std::vector<A> whole{input(shape, 1), input(shape, 2)}, results;
  const A row = input({1, shape[1]}, 3);
  for (std::size_t step = 5 + below(8); step > 0; --step) {
    const A x = whole[below(whole.size())], y = whole[below(whole.size())];
    switch (below(7)) {
      case 0: whole.push_back(A::mul(A::add(x, y), 0.5)); break;
      case 1: whole.push_back(A::mul(x, row).tanh()); break;
      case 2: whole.push_back(A::sub(x, x.mean(1))); break;
      case 3: whole.push_back(A::mul(x, A::add(A::mul(x, x).mean(1), 0.25).rsqrt())); break;
      case 4: whole.push_back(A::add(A::mul(x, y).tanh(), A::mul(x, y).mean(1))); break;
      case 5: results.push_back(A::mul(x, y).mean(0)); break;
      case 6: results.push_back(A::mul(x, y).sum(1)); break;
    }
  }
  results.push_back(whole.back());
  results.push_back(whole.back().mean(0));
  results.push_back(A::mul(whole.back(), whole.front()).mean(0));
  return results;
}

}  // namespace

TEST_CASE("random programs of rows and sums over them give what f64 gives") {
  const Device device = small_gpu();
  Parts parts;
  const Shape shapes[] = {{1300, 33}, {517, 96}, {613, 64}, {300, 520}};
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const Shape& shape = shapes[seed % 4];
    const std::vector<A> got = random_sums(seed, shape, DType::f32, device),
                         want = random_sums(seed, shape, DType::f64, Device::host());
    device.sync();
    CAPTURE(seed);
    for (std::size_t r = 0; r < got.size(); ++r) {
      CAPTURE(r);
      CHECK(farthest(numbers(got[r]), numbers(want[r])) < 1e-4);
    }
  }
  if (base::environment().fusion) CHECK(parts.count >= 8);
}

}  // namespace sinter::testing
