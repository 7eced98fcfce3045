// The list of observers.
#include "src/runtime/explain/observe.h"

#include <mutex>
#include <thread>
#include <vector>

#include "src/base/fork.h"

namespace sinter::runtime {
namespace {

struct Listeners final : base::SurvivesFork {
  struct Entry {
    TraceObserver* observer;
    std::thread::id thread;  // whose it is; none: the process's
  };

  Listeners() { base::watch_forks(*this); }
  void before_fork() noexcept override { mutex.lock(); }
  void after_fork(bool in_child) noexcept override {
    // Other threads' observers lie on stacks that threads of the child will write over.
    if (in_child) {
      const std::thread::id here = std::this_thread::get_id();
      std::erase_if(all, [here](const Entry& entry) {
        return entry.thread != std::thread::id() && entry.thread != here;
      });
      observer_count.store(static_cast<int>(all.size()));
    }
    mutex.unlock();
  }

  std::mutex mutex;
  std::vector<Entry> all;
};

/// Never destroyed: traces may run during static destruction.
Listeners& listeners() {
  static auto* instance = new Listeners;
  return *instance;
}

}  // namespace

void add_observer(TraceObserver& observer, bool of_process) {
  Listeners& to = listeners();
  std::lock_guard lock(to.mutex);
  to.all.push_back({&observer, of_process ? std::thread::id() : std::this_thread::get_id()});
  observer_count.store(static_cast<int>(to.all.size()));
}

void remove_observer(TraceObserver& observer) noexcept {
  Listeners& from = listeners();
  std::lock_guard lock(from.mutex);
  std::erase_if(from.all, [&](const Listeners::Entry& entry) { return entry.observer == &observer; });
  observer_count.store(static_cast<int>(from.all.size()));
}

void tell_observers(const TraceRun& run) {
  Listeners& to = listeners();
  std::lock_guard lock(to.mutex);
  for (const Listeners::Entry& entry : to.all) entry.observer->runs(run);
}

}  // namespace sinter::runtime
