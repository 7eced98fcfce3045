// What has to be whole in a forked child, where only the thread that forked goes on.
#pragma once

#include <mutex>

namespace sinter::base {

/// An object with locks or threads of its own. While a fork is made no other thread holds its locks, and the
/// child learns that its threads are gone.
///
/// The thread that forks takes all locks, in the order in which the library takes them:
///   1. the list of devices; of each device the list of its recorders, each recorder, then what its executor
///      has. A recorder is locked while its trace is planned, compiled and handed to the device, so a fork
///      waits for that, and everything that only runs do is at rest from here on;
///   2. the list of the objects below;
///   3. the objects that `watch_forks` named, oldest first: memory pools, and each ForkMutex, which is the
///   last
///      lock that its holder takes.
class SurvivesFork {
 public:
  /// In the thread that forks: takes all locks.
  virtual void before_fork() noexcept = 0;
  /// In the parent and in the child, by the thread that forked: releases them.
  virtual void after_fork(bool in_child) noexcept = 0;

 protected:
  ~SurvivesFork() = default;
};

/// From now on the object is told of each fork. Objects that were added earlier take their locks earlier.
void watch_forks(SurvivesFork& object);
void forget_forks(SurvivesFork& object) noexcept;

/// The object of step 1, which lives as long as the program. It may call `watch_forks` with its locks held.
void watch_forks_first(SurvivesFork& object);

/// A mutex that no other thread holds while a fork is made. Whoever holds it takes no other lock of the
/// library but a recorder's run, which holds its recorder's lock already.
class ForkMutex final : private SurvivesFork {
 public:
  ForkMutex() { watch_forks(*this); }
  ~ForkMutex() { forget_forks(*this); }
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork(bool) noexcept override { mutex_.unlock(); }

  std::mutex mutex_;
};

}  // namespace sinter::base
