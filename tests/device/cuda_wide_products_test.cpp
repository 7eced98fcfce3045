// Products of f64 that cuBLASLt computes: NVIDIA's on a GPU, else the emulated one, which checks what it is
// told.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "src/runtime/cuda/libraries/cublaslt_api.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

Device cuda_device(std::size_t most_graphs = 16) {
  return device_over(runtime::make_cuda_backend(0, most_graphs));
}

bool has_library() { return base::environment().cublaslt && runtime::cuda::cublaslt() != nullptr; }

/// Numbers that f32 does not have, none of them small.
A numbers(const Shape& shape, const Device& device, int salt) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  std::uint64_t state = static_cast<std::uint64_t>(salt) * 0x9e3779b97f4a7c15u + 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
  }
  const A made = A::from_bytes(std::as_bytes(std::span(values)), shape, DType::f64, device);
  made.sync();
  return made;
}

std::vector<double> read(const A& x) {
  std::vector<double> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// Computes a * b, and says how the last launch was.
std::string how(const A& a, const A& b, A& product) {
  const Report report = explain([&] {
    product = a.matmul(b);
    product.sync();
  });
  return report.traces.back().launches.back().how;
}

bool is_library(const std::string& how) { return how.find("by cuBLASLt") != std::string::npos; }

/// Compares with the host's product.
void check(const A& a, const A& b, bool by_library) {
  CAPTURE(to_string(a.shape()));
  CAPTURE(to_string(b.shape()));
  A product;
  const std::string said = how(a, b, product);
  CAPTURE(said);
  CHECK(is_library(said) == (by_library && has_library()));
  const std::vector<double> found = read(product);
  const std::vector<double> want = read(a.to_device(Device::host()).matmul(b.to_device(Device::host())));
  REQUIRE(found.size() == want.size());
  // Sums of products of up to 1, whose order differs.
  const double most = static_cast<double>(16 * a.shape().back() + 16) * 0x1p-52;
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(found[i] - want[i]);
    worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
  }
  CHECK(worst <= most);
  A again;
  how(a, b, again);
  CHECK(read(again) == found);
}

A t(const A& x) { return x.transpose(-2, -1); }

}  // namespace

TEST_CASE("large products of f64 are the library's, however their factors lie") {
  const Device device = cuda_device();
  const std::int64_t m = 257, n = 271, k = 263;
  for (const bool a_across : {false, true})
    for (const bool b_across : {false, true}) {
      CAPTURE(a_across);
      CAPTURE(b_across);
      const A a = a_across ? t(numbers({k, m}, device, 1)) : numbers({m, k}, device, 1);
      const A b = b_across ? t(numbers({n, k}, device, 2)) : numbers({k, n}, device, 2);
      check(a, b, true);
    }
  // Parts of something larger, which begin at an odd element and whose lines have gaps.
  const A larger = numbers({300, 301}, device, 3);
  check(larger.narrow(0, 1, m).narrow(1, 3, k), larger.narrow(0, 5, k).narrow(1, 7, n), true);
  check(t(larger.narrow(0, 1, k).narrow(1, 3, m)), t(larger.narrow(0, 5, n).narrow(1, 7, k)), true);
  // Two views of one matrix.
  check(larger, t(larger), true);
}

TEST_CASE("batches of products of f64 are the library's, also where they share a factor") {
  const Device device = cuda_device();
  const A a = numbers({41, 75, 77}, device, 1), b = numbers({41, 77, 79}, device, 2);
  check(a, b, true);
  check(t(numbers({41, 77, 75}, device, 3)), b, true);
  check(a, b.select(0, 3).unsqueeze(0).expand({41, 77, 79}), true);
  check(a.select(0, 3).unsqueeze(0).expand({41, 75, 77}), b, true);
  check(a.narrow(1, 1, 74).narrow(2, 2, 75), b.narrow(1, 1, 75).narrow(2, 3, 76), true);
}

TEST_CASE("small, narrow and empty products of f64 are Sinter's own") {
  const Device device = cuda_device();
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {5, 3, 7}, {64, 64, 64}, {255, 256, 256}, {15, 2048, 1024}, {2048, 15, 1024}})
    check(numbers({m, k}, device, 1), numbers({k, n}, device, 2), false);
  check(numbers({1024, 15}, device, 1), numbers({15, 1200}, device, 2), false);
  CHECK(read(A::full({0, 4}, 1, DType::f64, device).matmul(numbers({4, 3}, device, 1))).empty());
  CHECK(read(A::full({2, 0}, 1, DType::f64, device).matmul(A::full({0, 3}, 1, DType::f64, device))) ==
        std::vector<double>(6, 0));
}

TEST_CASE("products of f64 go without a library that is switched off, or finds no algorithm") {
  const A host_a = numbers({256, 256}, Device::host(), 1), host_b = numbers({256, 256}, Device::host(), 2);
  const base::Environment before = base::environment();
  base::mutable_environment().cublaslt = false;
  {
    const Device device = cuda_device();
    check(host_a.to_device(device), host_b.to_device(device), false);
  }
  base::mutable_environment() = before;
  if (!emulation()) return;
  const Device device = cuda_device();
  emulation()->library_finds_nothing = true;
  check(host_a.to_device(device), host_b.to_device(device), false);
  emulation()->library_finds_nothing = false;
}

TEST_CASE("products of f64 are nodes of graphs, which take new addresses") {
  if (!has_library()) return;
  const Device device = cuda_device();
  const A w = numbers({256, 260}, device, 1);
  std::vector<A> kept;  // so that no run has an earlier one's memory
  const std::uint64_t before = device.statistics().graph_launches;
  for (int run = 0; run < 5; ++run) {
    const A x = numbers({256, 256}, device, 10 + run);
    const A y = x.matmul(w), z = A::mul(y, y).sum({1}), most = y.max({0});
    device.flush();
    const std::vector<double> found = read(y),
                              want = read(x.to_device(Device::host()).matmul(w.to_device(Device::host())));
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, std::abs(found[i] - want[i]));
    CHECK(worst <= 4096 * 0x1p-52);
    for (const A& each : {x, y, z, most}) kept.push_back(each);
  }
  CHECK(device.statistics().graph_launches - before >= 3);
}

}  // namespace sinter::testing
