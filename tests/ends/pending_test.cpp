// A program that ends while its device has much to do and much to compile: it ends as others do, and what was
// handed over was computed. SINTER_DEVICE names the device.
// usage: pending_test main|static|detached
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <sinter/sinter.h>

#include "tests/ends/check.h"

namespace {

using namespace sinter;

/// Kernels that no earlier run of this program has left in a cache, none like another.
Tensor<1> new_kernels(const Device& device, int count) {
  const auto seed = static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count() % 99991);
  Tensor<1> x = Tensor<1>::ones({40}, device);
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k <= i; ++k) x = (x * seed).abs().sqrt() + x;
    x = x / x.sum().unsqueeze(0);
    device.flush();
  }
  return x;
}

/// Reads, when static objects end, what was computed before.
struct ReadsLate {
  Tensor<1> value;
  ~ReadsLate() {
    if (value.defined()) ends::require(value.to_vector<float>()[0] == 2, "what was computed can be read");
    try {
      if (value.defined()) ends::require((value * 3.0).to_vector<float>()[0] == 6, "a late result");
    } catch (const DeviceError&) {
      // A device may refuse to compute so late, and says so.
    }
  }
} reads_late;

void detached(const Device& device) {
  static std::atomic<int> rounds{0};
  std::thread([device] {
    for (int size = 1;; ++size, ++rounds) (Tensor<1>::ones({40}, device) * size).exp().sum().sync();
  }).detach();
  while (rounds < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

int main(int, char** arguments) {
  ends::hang_after(100);
  const std::string what = arguments[1] ? arguments[1] : "";
  const Device device = Device::best();
  if (what == "static") {
    reads_late.value = Tensor<1>::ones({3}, device) + 1.0;
    reads_late.value.sync();
  }
  if (what == "detached") detached(device);
  new_kernels(device, 10);
}
