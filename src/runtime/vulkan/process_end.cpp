// Empties the queues when the process ends.
#include "src/runtime/vulkan/process_end.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include <sinter/error.h>

#include "src/runtime/vulkan/commands.h"

namespace sinter::runtime::vulkan {
namespace {

/// How long a thread that goes on waits for the end of the process once the queues are empty.
constexpr auto kPatience = std::chrono::seconds(5);

/// Never destroyed: it is needed last.
struct Queues {
  std::mutex mutex;
  std::vector<Commands*> open;
  ::pid_t process = ::getpid();  // a forked child has the objects, but not the driver's threads
  std::atomic<std::thread::id> ending{};
  std::atomic<bool> finished{false};
};

Queues& queues() {
  static Queues& instance = *new Queues;
  return instance;
}

void finish() {
  Queues& all = queues();
  all.ending = std::this_thread::get_id();
  if (all.process == ::getpid()) {
    std::lock_guard lock(all.mutex);
    for (Commands* commands : all.open) commands->finish();
  }
  all.finished = true;
}

}  // namespace

base::ExitGate& gate() {
  static base::ExitGate& instance = *new base::ExitGate([] { gate().close(); }, finish);
  return instance;
}

void require(const base::ExitGate::Entry& entry) {
  if (entry) return;
  const Queues& all = queues();
  if (all.ending.load() != std::this_thread::get_id()) {
    while (!all.finished) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(kPatience);
  }
  throw DeviceError("[vulkan] the process is ending: nothing more is computed");
}

void finish_with_process(Commands& commands) {
  Queues& all = queues();
  {
    std::lock_guard lock(all.mutex);
    if (all.open.empty()) all.process = ::getpid();
    all.open.push_back(&commands);
  }
  gate().renew();
}

void forget(Commands& commands) noexcept {
  Queues& all = queues();
  std::lock_guard lock(all.mutex);
  std::erase(all.open, &commands);
}

}  // namespace sinter::runtime::vulkan
