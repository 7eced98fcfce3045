// The plans and executables that a device keeps, bounded by the bytes that they hold.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/base/greedy_dual.h"
#include "src/runtime/ready_plan.h"

namespace sinter::runtime {

/// Kernels by their text, library ops by their sizes, plans by the fingerprint of their trace. Beyond the
/// limit goes first what was cheapest to make for the memory that it takes, and was not used for long. An
/// executable counts once, however many plans launch it, and goes only when no plan that is kept launches it.
/// What goes is alive until its last run has ended. All functions may be called by any thread.
class PlanCache {
 public:
  /// An executable of a plan, and the nanoseconds that making it took.
  struct Part {
    std::string name;
    ExecutableRef executable{};
    double cost = 0;
    bool is_new = false;  // made for this plan
  };
  struct Counts {
    std::size_t plans = 0, executables = 0, bytes = 0;
    std::uint64_t plans_dropped = 0;
  };

  /// `device` names it in log lines.
  PlanCache(std::string device, std::size_t limit_bytes) : device_(std::move(device)), order_(limit_bytes) {}

  /// Null where there is none.
  ReadyPlanRef find(const PlanKey& key);
  /// Notes a use of a plan that `find` or `keep` was given. Takes no lock; writes at most once.
  void use(ReadyPlan& plan) const { order_.use(plan.entry); }

  /// Fills `part` with the executable of its name. False where there is none.
  bool find(Part& part);
  /// Adds an executable that was made. Where another thread was faster, `part` is filled with its.
  void add(Part& part);

  /// Keeps a plan that took `cost` nanoseconds to make, without its parts: each executable that it launches,
  /// once. One that is too large for the cache is not kept.
  void keep(const PlanKey& key, const ReadyPlanRef& plan, double cost, std::span<const Part> parts);

  /// Plans that went, so far: who keeps references to plans looks at it, and lets go of them.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_acquire); }
  Counts counts();

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  struct Gone;
  ExecutableEntry* find_entry(std::string_view name);
  ExecutableEntry& add_entry(const Part& part, std::size_t bytes);
  void make_room(std::size_t bytes, Gone& gone);
  void drop(CacheEntry& entry, Gone& gone);
  std::string describe(const CacheEntry& entry) const;

  const std::string device_;
  std::mutex mutex_;
  base::GreedyDual order_;
  // The entries by their own names, so that each text is held once.
  absl::flat_hash_map<std::string_view, std::unique_ptr<ExecutableEntry>> executables_;
  absl::flat_hash_map<PlanKey, ReadyPlanRef> plans_;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace sinter::runtime
