// Which work the copies of the CUDA backend wait for. With the emulated driver in the order `late`
// (SINTER_EMULATION_ORDER), work that nothing waits for does not run.
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <sinter/any_tensor.h>
#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "tests/cuda_emulation/control.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

/// Kernels that the emulated driver has run; 0 with a real one or in another order.
std::uint64_t kernels_run() {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  static const auto control = reinterpret_cast<sinter_emulation::ControlFunction>(
      driver ? dlsym(driver, "sinter_emulation_control") : nullptr);
  const char* order = std::getenv("SINTER_EMULATION_ORDER");
  return control && order && std::string(order) == "late" ? control()->grids : 0;
}
bool is_late() {
  const char* order = std::getenv("SINTER_EMULATION_ORDER");
  return order && std::string(order) == "late";
}

Device fresh_device() { return device_over(runtime::make_cuda_backend(0)); }

A tensor(const std::vector<float>& data, const Device& device) {
  return A::from_bytes(std::as_bytes(std::span(data)), {static_cast<std::int64_t>(data.size())}, DType::f32,
                       device);
}

std::vector<float> read(const A& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace

TEST_CASE("a read waits for its value, not for later work") {
  const Device device = fresh_device();
  const A x = tensor(std::vector<float>(1000, 3), device);
  const A first = A::add(x, 1);
  device.flush();
  const A second = A::mul(first, 2), third = A::mul(x, 5);
  device.flush();
  const std::uint64_t before = kernels_run();
  CHECK(read(first) == std::vector<float>(1000, 4));
  if (is_late()) CHECK(kernels_run() == before + 1);
  CHECK(read(x) == std::vector<float>(1000, 3));
  if (is_late()) CHECK(kernels_run() == before + 1);
  CHECK(read(second) == std::vector<float>(1000, 8));
  CHECK(read(third) == std::vector<float>(1000, 15));
}

TEST_CASE("uploads do not wait for work in flight that has nothing to do with them") {
  const Device device = fresh_device();
  A x = tensor(std::vector<float>(1000, 3), device);
  x = A::add(x, 1);
  device.flush();
  const std::uint64_t before = kernels_run();
  // More than all staging memory: the upload waits for slots, not for kernels.
  std::vector<A> batches;
  for (int i = 0; i < 3; ++i)
    batches.push_back(tensor(std::vector<float>(3'000'000, static_cast<float>(i)), device));
  if (is_late()) CHECK(kernels_run() == before);
  for (int i = 0; i < 3; ++i)
    CHECK(read(A::add(batches[static_cast<std::size_t>(i)], 1)) ==
          std::vector<float>(3'000'000, static_cast<float>(i + 1)));
  CHECK(read(x) == std::vector<float>(1000, 4));
}

TEST_CASE("batches that come and go while the device is behind") {
  const Device device = fresh_device();
  A total = A::full({1000}, 0, DType::f32, device);
  device.flush();
  constexpr int kSteps = 160;  // more than the upload memory: reuses memory that must be waited for
  for (int step = 1; step <= kSteps; ++step) {
    const A x = tensor(std::vector<float>(300'000, static_cast<float>(step)), device);
    total = A::add(total, x.slice(std::vector<Range>{Range(5000, 6000)}));
    device.flush();
  }
  CHECK(device.statistics().bytes_reserved <= std::size_t{256} << 20);
  CHECK(read(total) == std::vector<float>(1000, kSteps * (kSteps + 1) / 2));
}

TEST_CASE("memory of values that are gone is used again in time") {
  const Device device = fresh_device();
  std::mt19937 random(5);
  std::vector<std::pair<A, float>> live;
  for (int i = 0; i < 300; ++i) {
    const auto value = static_cast<float>(random() % 100);
    switch (random() % 4) {
      case 0: live.emplace_back(tensor(std::vector<float>(200'000, value), device), value); break;
      case 1:
        if (!live.empty()) live.emplace_back(A::add(live.back().first, 1), live.back().second + 1);
        break;
      case 2: device.flush(); break;
      default:
        if (!live.empty()) live.erase(live.begin() + static_cast<std::ptrdiff_t>(random() % live.size()));
    }
    if (i % 29 == 0)
      for (const auto& [x, expected] : live) CHECK(read(x) == std::vector<float>(200'000, expected));
  }
}

TEST_CASE("the limit: what is kept goes first, then the error says who holds what") {
  base::mutable_environment().memory_limit_mib = 256;
  const Device device = fresh_device();
  base::mutable_environment().memory_limit_mib = 0;
  {
    const A dropped = A::add(tensor(std::vector<float>(20'000'000, 1), device), 1);
    CHECK(read(dropped)[7] == 2);
  }
  std::vector<A> kept;
  std::string message;
  try {
    for (int i = 0; i < 20; ++i) {
      kept.push_back(A::add(A::full({10'000'000}, i, DType::f32, device), 1));
      device.flush();
    }
  } catch (const DeviceError& error) {
    message = error.what();
  }
  CHECK(kept.size() >= 5);
  CHECK(device.statistics().bytes_reserved <= std::size_t{256} << 20);
  for (const char* part :
       {"SINTER_MEMORY_LIMIT_MIB allows 256 MiB", "6 blocks of 39 MiB", "left; the largest free block"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, part << " is not in: " << message);
  kept.resize(2);
  CHECK(read(A::add(kept[1], 1))[9'999'999] == 3);
}

}  // namespace sinter::testing
