// Threads that evaluate, and threads that plan.
#include "threads.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <sinter/sinter.h>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using sinter::Tensor;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

std::function<double()> evaluations(const sinter::Device& device, int threads) {
  return [=] {
    constexpr int kEach = 20000;
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back([&] {
        const Tensor<1> x = Tensor<1>::ones({8}, device);
        const auto evaluate = [&] {
          const Tensor<1> y = x * 0.5 + 1.0;
          y.sync();
        };
        for (int i = 0; i < 100; ++i) evaluate();
        ++ready;
        while (!go.load()) std::this_thread::yield();
        for (int i = 0; i < kEach; ++i) evaluate();
      });
    while (ready.load() < threads) std::this_thread::yield();
    const auto start = Clock::now();
    go = true;
    for (std::thread& worker : workers) worker.join();
    return since(start) / (kEach * threads);
  };
}

std::function<double()> step_beside(const sinter::Device& device, bool beside) {
  return [=] {
    constexpr int kSteps = 20;
    Tensor<1> y = Tensor<1>::ones({64}, device);
    const auto step = [&] {
      for (int i = 0; i < 750; ++i) y = y * 0.5 + 1.0;
      device.flush();
    };
    for (int i = 0; i < 3; ++i) step();
    static std::atomic<std::int64_t> next{1};  // a shape of its own for each evaluation of the process
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (beside && !stop.load()) {
        const std::int64_t n = next.fetch_add(1);
        const Tensor<2> fresh = Tensor<2>::ones({n % 97 + 1, n / 97 + 2}, device);
        (fresh * 2.0 + fresh.sum(1)).sync();
      }
    });
    const auto start = Clock::now();
    for (int i = 0; i < kSteps; ++i) step();
    device.sync();
    const double seconds = since(start) / kSteps;
    stop = true;
    other.join();
    return seconds;
  };
}

}  // namespace bench
