// What has to be whole in a forked child, where only the thread that forked goes on.
#pragma once

namespace sinter::runtime {

/// An object with locks or threads of its own. While a fork is made no other thread holds its locks, and the
/// child learns that its threads are gone.
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

}  // namespace sinter::runtime
