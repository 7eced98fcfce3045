// The list of objects that are told of forks.
#include "src/base/fork.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <pthread.h>

namespace sinter::base {
namespace {

struct Watched {
  std::atomic<SurvivesFork*> first{nullptr};
  std::mutex mutex;
  std::vector<SurvivesFork*> objects;
};

/// Never destroyed: a fork may follow the end of static objects.
Watched& watched() {
  static Watched& instance = *new Watched;
  return instance;
}

// The object that `before` has told: another thread may name it in between.
SurvivesFork* told_first = nullptr;

void before() {
  SurvivesFork* const first = watched().first.load();
  if (first != nullptr) first->before_fork();
  watched().mutex.lock();
  told_first = first;
  for (SurvivesFork* object : watched().objects) object->before_fork();
}

void after(bool in_child) {
  auto& objects = watched().objects;
  for (auto it = objects.rbegin(); it != objects.rend(); ++it) (*it)->after_fork(in_child);
  SurvivesFork* const first = told_first;
  watched().mutex.unlock();
  if (first != nullptr) first->after_fork(in_child);
}

void listen() {
  [[maybe_unused]] static const int registered = pthread_atfork(
      before, [] { after(false); }, [] { after(true); });
}

}  // namespace

void watch_forks(SurvivesFork& object) {
  listen();
  std::lock_guard lock(watched().mutex);
  watched().objects.push_back(&object);
}

void watch_forks_first(SurvivesFork& object) {
  watched().first.store(&object);
  listen();
}

void forget_forks(SurvivesFork& object) noexcept {
  std::lock_guard lock(watched().mutex);
  std::erase(watched().objects, &object);
}

}  // namespace sinter::base
