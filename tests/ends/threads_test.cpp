// Threads that go on while main returns, and tensors that end with their threads.
// usage: threads_test detached|thread_local
#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include <sinter/sinter.h>

#include "tests/ends/check.h"

namespace {

using namespace sinter;

/// Records, plans and reads for ever, with sizes that nothing has seen before now and then.
void never_end(int seed, std::atomic<int>& rounds) {
  const Device device = Device::host().autodiff();
  for (int i = 0;; ++i) {
    const int size = 3 + (seed * 7 + i / 8) % 61;
    const auto x = Tensor<1>::full({size}, 2, device).require_grad();
    auto y = x * 3.0;
    for (int k = 0; k < 1 + i / 8 % 5; ++k) y = (y * 0.5 + x).tanh();
    const Gradients gradients = y.sum().backward();
    ends::require(std::isfinite(gradients.get(x)->sum().item()), "a detached thread computes");
    const auto a = Tensor<2>::full({size, size}, 1, device.inner());
    ends::require(a.matmul(a).sum().item() == double(size) * size * size, "a detached thread multiplies");
    ++rounds;
  }
}

void detached() {
  // A program's main thread uses the library too, and so its end is seen.
  Tensor<1>::ones({3}, Device::host()).sync();
  static std::atomic<int> rounds{0};  // trivially destructible
  for (int t = 0; t < 3; ++t) std::thread([t] { never_end(t, rounds); }).detach();
  while (rounds < 30) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Static objects take a while to end, and threads go on meanwhile.
struct Slow {
  ~Slow() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
} slow;

std::atomic<int> ended{0};

/// Computes when its thread ends: before or after the thread's recorders have, by when it is made.
struct OfThread {
  double expected = 0;
  Tensor<1> tensor, pending;
  Tensor<2> square;
  ~OfThread() {
    if (!tensor.defined()) return;
    ends::require((tensor * 2.0 + expected).sum().item() == 12 + 3 * expected,
                  "a tensor of a thread is computed when its thread ends");
    ends::require(pending.sum().item() == 9, "what a thread left pending is computed when it ends");
    ends::require(square.matmul(square).sum().item() == 8, "a product at a thread's end");
    ++ended;
  }
};
thread_local OfThread early;
thread_local OfThread late;

void fill(OfThread& object, double expected) {
  object.expected = expected;
  object.tensor = Tensor<1>::from_data({1, 2, 3}, Device::host());
  object.pending = object.tensor + 1.0;
  object.square = Tensor<2>::ones({2, 2}, Device::host());
}

void of_threads() {
  for (int i = 0; i < 8; ++i)
    std::thread([i] {
      early.expected = i;  // constructed before the thread's first use of the library: ends after it
      fill(early, i);
      fill(late, i + 0.5);
      early.square.matmul(early.square).sync();
    }).join();
  ends::require(ended == 16, "objects of threads have ended");
  // A recorder comes back when its thread has ended, whatever the thread did last.
  std::thread([] { fill(early, 1); }).join();
}

}  // namespace

int main(int, char** arguments) {
  ends::hang_after(100);
  const std::string what = arguments[1] ? arguments[1] : "";
  if (what == "detached") {
    detached();
  } else if (what == "thread_local") {
    of_threads();
  } else {
    return 2;
  }
}
