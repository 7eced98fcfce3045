// The list of observers.
#include "src/runtime/explain/observe.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace sinter::runtime {
namespace {

struct Listeners {
  std::mutex mutex;
  std::vector<TraceObserver*> all;
};

/// Never destroyed: traces may run during static destruction.
Listeners& listeners() {
  static auto* instance = new Listeners;
  return *instance;
}

}  // namespace

void add_observer(TraceObserver& observer) {
  Listeners& to = listeners();
  std::lock_guard lock(to.mutex);
  to.all.push_back(&observer);
  observer_count.store(static_cast<int>(to.all.size()));
}

void remove_observer(TraceObserver& observer) noexcept {
  Listeners& from = listeners();
  std::lock_guard lock(from.mutex);
  from.all.erase(std::remove(from.all.begin(), from.all.end(), &observer), from.all.end());
  observer_count.store(static_cast<int>(from.all.size()));
}

void tell_observers(const TraceRun& run) {
  Listeners& to = listeners();
  std::lock_guard lock(to.mutex);
  for (TraceObserver* observer : to.all) observer->runs(run);
}

}  // namespace sinter::runtime
