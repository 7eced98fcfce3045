// Forks, before the library is used, after, and while other threads use it.
// usage: fork_test before|after|busy|lists|lost
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

#include <sinter/sinter.h>

#include "tests/ends/check.h"

namespace {

using namespace sinter;

/// The child's exit code; a child that hangs is ended by its alarm.
int in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  ends::require(child >= 0, "fork");
  if (child == 0) {
    ends::hang_after(30);
    try {
      work();
    } catch (const std::exception& error) {
      ends::require(false, std::string("a child: ") + error.what());
    }
    ::_exit(0);
  }
  int status = 0;
  ends::require(waitpid(child, &status, 0) == child, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
void require_child(const char* what, const std::function<void()>& work) {
  const int code = in_child(work);
  ends::require(code == 0, std::string(what) + ": the child ended with " + std::to_string(code));
}

/// Every way through the library: kernels, products, gradients, uploads, statistics, and plans that are new.
void compute(int seed) {
  const Device device = Device::host().autodiff();
  const int size = 3 + seed % 13;
  const auto x = Tensor<1>::full({size}, 2, device).require_grad();
  auto y = x * 3.0;
  for (int k = 0; k < 1 + seed / 13 % 5; ++k) y = y * 0.5 + x;
  const Gradients gradients = y.sum().backward();
  ends::require(std::isfinite(gradients.get(x)->sum().item()), "a gradient");
  const auto a = Tensor<2>::full({size, size}, 1, device.inner());
  ends::require(a.matmul(a).sum().item() == double(size) * size * size, "a product");
  const auto large = Tensor<1>::full({100'000}, 1, device.inner());
  const int more = seed % 100;  // so that each partial sum is exact in f32, however far a thread gets
  ends::require((large + double(more)).sum().item() == 100'000.0 * (more + 1), "a sum by all threads");
  device.statistics();
  const Report report = explain([&] { (x.inner() * double(seed)).sync(); });
  ends::require(report.launches() >= 1, "a report");
}

/// A value that is computed when it is asked for.
Tensor<1> not_stored(const Device& device) {
  const auto ones = Tensor<1>::ones({1 << 20}, device);
  ones.sync();
  auto held = ones * 2.0;
  (held + 1.0).sum().sync();
  return held;
}

void before() {
  require_child("a fork before the first use", [] { compute(1); });
  compute(1);
}

void after() {
  compute(1);
  const auto held = not_stored(Device::host());
  const auto pending = Tensor<1>::full({3}, 2, Device::host()) + 1.0;
  require_child("a fork after use", [&] {
    ends::require(pending.sum().item() == 9, "what was pending in the parent");
    ends::require(held.max().item() == 2, "what the parent had not stored");
    compute(1);
    compute(2);
    std::thread(compute, 3).join();
    require_child("a grandchild", [] { compute(4); });
  });
  ends::require(pending.sum().item() == 9, "what was pending when the process was forked");
  ends::require(held.max().item() == 2, "what was not stored when the process was forked");
  compute(2);
}

/// Other threads record, plan, compile and run at the moment of each fork.
void busy(const std::function<void(int)>& work) {
  work(0);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) work(t + 3 * i);
    });
  for (int i = 0; i < 60; ++i)
    require_child("a fork while others compute", [i, &work] {
      work(i);
      // Also by the recorders that threads which are gone had.
      std::thread(work, i + 1).join();
    });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  work(1);
}

/// Short critical sections, many times: gradients, reports and the list of devices.
void lists(int seed) {
  const Device device = Device::host().autodiff();
  for (int i = 0; i < 20; ++i) {
    const auto x = Tensor<1>::full({2}, seed, device).require_grad();
    (x * 2.0).sum().backward();
    explain([] {});
    device.statistics();
  }
}

/// A GPU does not survive a fork: the child is told so.
void lost() {
  const char* name = std::getenv("SINTER_DEVICE");
  ends::require(name != nullptr, "SINTER_DEVICE");
  std::optional<Device> device;
  try {
    device = Device::parse(name);
  } catch (const DeviceError& error) {
    std::printf("%s\n", error.what());
    ::_exit(77);
  }
  const std::string full_name = device->name();
  const auto computed = Tensor<1>::full({3}, 2, *device) + 1.0;
  computed.sync();
  auto held = not_stored(*device);
  auto pending = computed * 2.0;
  const auto uploaded = Tensor<1>::from_data({1, 2, 3}, *device);
  const auto is_told = [&](const char* what, const std::function<void()>& work) {
    try {
      work();
    } catch (const DeviceError& error) {
      const std::string text = error.what();
      const bool one_line = text.find('\n') == std::string::npos;
      ends::require(
          one_line && text.find(full_name) != std::string::npos && text.find("forked") != std::string::npos,
          std::string(what) + " says: " + text);
      return;
    }
    ends::require(false, std::string(what) + " on a device that was lost does not throw");
  };
  for (int i = 0; i < 3; ++i)
    require_child("a fork after use of a GPU", [&] {
      is_told("reading", [&] { computed.sum().item(); });
      is_told("reading what is in memory", [&] { computed.to_vector<float>(); });
      is_told("reading what was pending", [&] { pending.to_vector<float>(); });
      is_told("reading what was not stored", [&] { held.to_vector<float>(); });
      is_told("uploading", [&] { Tensor<1>::from_data({1, 2}, *device); });
      is_told("waiting", [&] { device->sync(); });
      is_told("trimming", [&] { device->trim_memory(); });
      is_told("another thread", [&] {
        std::exception_ptr failure;
        std::thread([&] {
          try {
            (uploaded + 1.0).sum().item();
          } catch (...) {
            failure = std::current_exception();
          }
        }).join();
        if (failure) std::rethrow_exception(failure);
      });
      device->statistics();
      pending = held = Tensor<1>();  // what is let go of reaches no driver
      const_cast<Tensor<1>&>(computed) = Tensor<1>();
      compute(1);
    });
  ends::require((computed + uploaded).sum().item() == 15, "the parent goes on");
  ends::require(pending.sum().item() == 18, "the parent's pending values");
  ends::require(held.max().item() == 2, "what the parent had not stored");
}

}  // namespace

int main(int, char** arguments) {
  ends::hang_after(200);
  const std::string what = arguments[1] ? arguments[1] : "";
  if (what == "before") {
    before();
  } else if (what == "after") {
    after();
  } else if (what == "busy") {
    busy(compute);
  } else if (what == "lists") {
    busy(lists);
  } else if (what == "lost") {
    lost();
  } else {
    return 2;
  }
}
