// The list of objects that are told of forks.
#include "src/runtime/host/threads/fork.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include <pthread.h>

namespace sinter::runtime {
namespace {

struct Watched {
  std::mutex mutex;
  std::vector<SurvivesFork*> objects;
};

/// Never destroyed: a fork may follow the end of static objects.
Watched& watched() {
  static Watched& instance = *new Watched;
  return instance;
}

void before() {
  watched().mutex.lock();
  for (SurvivesFork* object : watched().objects) object->before_fork();
}

void after(bool in_child) {
  auto& objects = watched().objects;
  for (auto it = objects.rbegin(); it != objects.rend(); ++it) (*it)->after_fork(in_child);
  watched().mutex.unlock();
}

}  // namespace

void watch_forks(SurvivesFork& object) {
  [[maybe_unused]] static const int registered = pthread_atfork(
      before, [] { after(false); }, [] { after(true); });
  std::lock_guard lock(watched().mutex);
  watched().objects.push_back(&object);
}

void forget_forks(SurvivesFork& object) noexcept {
  std::lock_guard lock(watched().mutex);
  std::erase(watched().objects, &object);
}

}  // namespace sinter::runtime
