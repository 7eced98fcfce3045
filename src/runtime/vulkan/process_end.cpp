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
  struct Queue {
    Commands* commands;
    ::pid_t process;  // a forked child has its parent's objects, but not the driver's threads
  };
  std::mutex mutex;
  std::vector<Queue> open;
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
  {
    std::lock_guard lock(all.mutex);
    for (const Queues::Queue& queue : all.open)
      if (queue.process == ::getpid()) queue.commands->finish();
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
    all.open.push_back({&commands, ::getpid()});
  }
  gate().renew();
}

void forget(Commands& commands) noexcept {
  Queues& all = queues();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.open, [&](const Queues::Queue& queue) { return queue.commands == &commands; });
}

}  // namespace sinter::runtime::vulkan
