// Waits for submitted work, says what became of it, and starts work that was held back.
#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include <sinter/error.h>

#include "src/runtime/vulkan/commands.h"
#include "src/runtime/vulkan/process_end.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

// The device idles some 15 us between two batches, so small consecutive plans share a batch while earlier
// batches keep the device busy.
constexpr std::uint32_t kSmallBatch = 32;
constexpr std::uint64_t kSmallPart = 2;  // of the work of a large batch
constexpr std::size_t kEnoughBatches = 2;
// How long a thread that waits takes to see that it should stop or look again.
constexpr std::uint64_t kSlice = 100'000'000;  // ns
constexpr int kMostSlices = 50;                // for a device that failed
// A thread that sleeps wakes some 50 us after a GPU is done. So long it asks again and again instead, as
// CUDA's waits do: beside longer work 50 us are little.
constexpr std::chrono::milliseconds kAwake{2};

void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
  std::uint64_t was = value;
  while (was < to && !value.compare_exchange_weak(was, to)) {
  }
}

}  // namespace

void Commands::fail(VkResult code, const char* call) {
  std::string text;
  try {
    check(code < 0 ? code : VK_ERROR_UNKNOWN, call);
  } catch (const DeviceError& error) {
    text = error.what();
  }
  {
    std::lock_guard lock(failure_mutex_);
    if (failure_.empty()) failure_ = text + "; " + device_.info().name + " does no more work";
  }
  failed_ = true;
  throw_if_failed();
  throw DeviceError(text);  // not reached
}

void Commands::throw_if_failed() const {
  if (!failed_) return;
  std::lock_guard lock(failure_mutex_);
  throw DeviceError(failure_);
}

std::uint64_t Commands::completed() {
  const std::uint64_t submitted = submitted_;
  if (completed_ >= submitted) return completed_;
  std::uint64_t value = 0;
  const VkResult code = device_.attempt("vkGetSemaphoreCounterValue", [&] {
    return vkGetSemaphoreCounterValue(device_.handle(), timeline_, &value);
  });
  if (code == VK_ERROR_DEVICE_LOST) fail(code, "vkGetSemaphoreCounterValue");
  // Without memory the driver may not say; what was done before is done.
  if (code == VK_SUCCESS) raise(completed_, std::min(value, submitted));
  return completed_;
}

/// Waits for work that was submitted.
void Commands::wait_submitted(std::uint64_t value) {
  throw_if_failed();
  if (value <= completed_) return;
  if (!device_.info().is_cpu)
    for (const auto end = std::chrono::steady_clock::now() + kAwake;
         std::chrono::steady_clock::now() < end;) {
      if (value <= completed()) return;
      throw_if_failed();
      std::this_thread::yield();
    }
  VkSemaphoreWaitInfo info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  // In slices: a driver that misses a wake-up, or a device that another thread finds to be lost, costs a
  // moment and not the program.
  while (true) {
    const VkResult code = device_.attempt("vkWaitSemaphores",
                                          [&] { return vkWaitSemaphores(device_.handle(), &info, kSlice); });
    if (code == VK_ERROR_DEVICE_LOST) fail(code, "vkWaitSemaphores");
    if (code != VK_TIMEOUT) {
      check(code, "vkWaitSemaphores");
      return raise(completed_, value);
    }
    throw_if_failed();
    if (value <= completed()) return;
  }
}

void Commands::wait_with_lock(std::uint64_t value) {
  if (value > submitted_) submit();
  wait_submitted(std::min<std::uint64_t>(value, submitted_));
}

void Commands::wait(std::uint64_t value) {
  if (value > submitted_) {
    const Lock held = lock();
    if (value > submitted_) submit();
  }
  wait_submitted(std::min<std::uint64_t>(value, submitted_));
}

void Commands::wait_all() {
  {
    const Lock held = lock();
    submit();
  }
  wait_submitted(submitted_);
}

void Commands::wait_quietly(std::uint64_t value) noexcept {
  value = std::min<std::uint64_t>(value, submitted_);
  VkSemaphoreWaitInfo info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  // All that was submitted ends, or the driver gives the device up, which it says here. Where it has given up
  // something else already, it is not trusted to end.
  for (int slices = 0; value > completed_ && (!failed_ || slices < kMostSlices); ++slices) {
    const VkResult code = vkWaitSemaphores(device_.handle(), &info, kSlice);
    if (code == VK_SUCCESS) raise(completed_, value);
    if (code != VK_SUCCESS && code != VK_TIMEOUT) return;
  }
}

void Commands::finish() noexcept {
  try {
    const Lock held = lock();
    submit();
  } catch (const std::exception&) {
    // A device that failed has work that ends all the same.
  }
  wait_quietly(submitted_);
}

void Commands::close() noexcept {
  forget(*this);
  {
    const Lock held = lock();
    stop_ = true;
  }
  held_changed_.notify_all();
  if (starter_.joinable()) starter_.join();
  wait_quietly(submitted_);
}

void Commands::end_plan() {
  throw_if_failed();
  if (recorded_ < kSmallBatch && work_ < most_work_ / kSmallPart && in_flight_.size() >= kEnoughBatches) {
    retire();
    if (recorded_ && in_flight_.size() >= kEnoughBatches && leave_to_starter()) return;
  }
  submit();
}

/// True iff the starter submits the open batch once the device has but one batch left.
bool Commands::leave_to_starter() {
  if (!starter_.joinable()) {
    try {
      starter_ = std::thread([this] { start_held_batches(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  if (held_ == open_value()) return true;
  held_ = open_value();
  held_after_ = in_flight_[in_flight_.size() - kEnoughBatches].value;
  if (starter_waits_) held_changed_.notify_one();
  return true;
}

void Commands::start_held_batches() {
  Lock held = lock();
  while (true) {
    starter_waits_ = true;
    held_changed_.wait(held, [&] { return stop_ || (held_ > submitted_ && !failed_); });
    starter_waits_ = false;
    if (stop_) return;
    const std::uint64_t batch = held_, after = held_after_;
    held.unlock();
    VkSemaphoreWaitInfo info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline_;
    info.pValues = &after;
    // A failed wait submits at once: early is right, too.
    while (!stop_ && batch > submitted_ && vkWaitSemaphores(device_.handle(), &info, kSlice) == VK_TIMEOUT) {
    }
    held.lock();
    if (stop_) return;
    if (batch <= submitted_) continue;
    try {
      submit();
    } catch (const std::exception&) {
      // Of a device that failed, whoever uses it next is told. Anything else: whoever comes next submits.
      held_ = 0;
    }
  }
}

}  // namespace sinter::runtime::vulkan
