// Plans traces, with what is known of traces that differ in sizes only.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/plan.h"
#include "jit/plan/reuse/plan_template.h"

namespace sinter::plan {

/// Makes plans as `make_plan` does. A structure that comes again with other sizes becomes a template: from
/// then on, further sizes take what no size decides from there. All functions may be called by any thread;
/// nobody waits for another's planning.
class PlanReuse {
 public:
  explicit PlanReuse(const ir::DeviceTraits& traits) : traits_(traits) {}

  Plan plan(const trace::Trace& trace, const PlanOptions& options);

  /// Plans that were made of a template.
  std::uint64_t reused() const { return reused_.load(std::memory_order_relaxed); }
  /// Kernels that were lowered while templates were filled in: what new sizes cost in the main.
  std::uint64_t lowered() const { return lowered_.load(std::memory_order_relaxed); }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  using Structure = std::uint64_t;
  struct Entry {
    Structure structure;
    std::unique_ptr<PlanTemplate> plans;
  };

  std::vector<Entry> take(Structure structure, const SkeletonRef& skeleton);
  void give_back(std::vector<Entry> entries);

  const ir::DeviceTraits& traits_;
  std::mutex mutex_;
  std::list<Entry> templates_;                // what was used last comes first
  SkeletonRef last_;                          // of the trace that was planned last
  absl::flat_hash_set<Structure> seen_once_;  // structures that were planned, of which there is no template
  std::atomic<std::uint64_t> reused_{0}, lowered_{0};
};

}  // namespace sinter::plan
