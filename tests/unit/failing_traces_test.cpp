// Traces that fail while something else is under way: a thread that waits to record, a recipe on its way.
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "tests/support/failing_backend.h"

using namespace sinter;
using namespace std::chrono_literals;

namespace {

/// Launches take their time once, and fail then.
class SlowToFail final : public testing::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  bool fails = false;
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (std::exchange(fails, false)) {
      std::this_thread::sleep_for(300ms);
      throw DeviceError("[test] a launch failed");
    }
    inner().launch(executable, arguments);
  }
};

}  // namespace

TEST_CASE("an operand that fails while a thread waits to record is told to that thread") {
  auto backend = std::make_unique<SlowToFail>(runtime::make_host_backend());
  SlowToFail& slow = *backend;
  const Device device = testing::device_over(std::move(backend));
  // Memory of values that were stored is what the next ones get.
  for (int i = 0; i < 20; ++i) (Tensor<1>::ones({64}, device) * 3.0).sync();
  const Tensor<1> x = Tensor<1>::ones({64}, device) * 2.0 + 1.0;
  slow.fails = true;
  std::string asked;
  std::thread other([&] {
    try {
      x.sync();
    } catch (const DeviceError& error) {
      asked = error.what();
    }
  });
  std::this_thread::sleep_for(100ms);
  CHECK_THROWS_AS((x * 2.0).sum().item(), DeviceError);
  other.join();
  CHECK(asked == "[test] a launch failed");
  CHECK((Tensor<1>::ones({4}, device) * 2.0).sum().item() == 8);
}

TEST_CASE("what reads a recipe of several operations is computed alone where the rest has no memory") {
  base::mutable_environment().recipe_bytes = 0;
  auto backend = std::make_unique<testing::FailingBackend>(runtime::make_host_backend());
  testing::FailingBackend& failing = *backend;
  const Device device = testing::device_over(std::move(backend));
  for (int i = 0; i < 20; ++i) (Tensor<1>::ones({64}, device) * 3.0).sync();
  std::vector<float> places(1024);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i) / 1024;
  const auto x = Tensor<1>::from_data(places, {1024}, device);
  x.sync();
  const auto v = exp(x * 2.0) + 1.0;
  (v + 1.0).sum().sync();  // v itself is a recipe now
  const auto w = v * 3.0;
  const auto big = (Tensor<1>::ones({1 << 20}, device) * x.sum()).cumsum(0);
  failing.most_bytes = 1 << 20;
  double expected = 0;
  for (int i = 0; i < 1024; ++i) expected += 3 * (std::exp(2.0 * i / 1024) + 1);
  CHECK(w.sum().item() == doctest::Approx(expected).epsilon(1e-5));
  failing.most_bytes = ~std::size_t{0};
  CHECK(big.numel() == 1 << 20);
}
