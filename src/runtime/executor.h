// The executor: finds or makes the plan of a trace, binds addresses and scalars, and launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include <sinter/device.h>

#include "jit/plan/plan.h"
#include "jit/plan/reuse/reuse.h"
#include "src/runtime/backend.h"
#include "src/runtime/compilations.h"
#include "src/runtime/plan_cache.h"
#include "src/runtime/run_faults.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {

/// Several recorders may run traces at once. No lock is held while a trace is planned or compiled, and none
/// on a device that runs concurrently; on the others, the device's lock is held while launches are handed
/// over.
class Executor : public trace::TraceSink {
 public:
  explicit Executor(Backend& backend);

  std::unique_ptr<PerRecorder> attach(base::QuickMutex& running) override;
  void run(trace::Flushed& flushed, PerRecorder& own) override;

  /// The device's lock, for whoever talks to the backend; empty where the backend needs none.
  std::unique_lock<std::mutex> lock() {
    require_present();
    return backend_.runs_concurrently() ? std::unique_lock<std::mutex>() : std::unique_lock(device_mutex_);
  }

  /// Around a fork, by the thread that forks, which holds the lock of each recorder. In a child `lose` says
  /// that the device did not come along: from then on `lock` and `run` throw DeviceError.
  void before_fork();
  void after_fork();
  void lose();
  bool is_lost() const { return lost_.load(std::memory_order_relaxed); }
  void require_present() const;

  /// Counts since the start.
  Statistics counts();

  /// What the end of a plan takes: its state ends with the device's lock.
  void end(ReadyPlan& ready);

 private:
  class Own;

  ReadyPlan& find_or_make(const trace::Flushed& flushed, Own& own, ReadyPlanRef& passing, bool& built);
  ReadyPlanRef find_shared_or_make(const PlanKey& key, const trace::Trace& trace, bool& built);
  ReadyPlanRef make(const PlanKey& key, const trace::Trace& trace);
  std::vector<PlanCache::Part> prepare_executables(ReadyPlan& ready);
  std::vector<PlanCache::Part> compile(const plan::Plan& plan);
  void forget_dropped(Own& own);
  void launch(ReadyPlan& ready, trace::Flushed& flushed, Own& own);
  const Strands* strands_of_run(ReadyPlan& ready);
  void note_faults(ReadyPlan& ready, trace::Flushed& flushed, std::vector<FaultReportRef> reports);

  Backend& backend_;
  std::atomic<bool> lost_{false};
  std::mutex device_mutex_;

  std::mutex making_mutex_;  // taken before the cache's
  absl::flat_hash_map<PlanKey, std::shared_future<ReadyPlanRef>> in_the_making_;
  PlanCache cache_;
  plan::PlanReuse planner_;

  RunsInDoubt in_doubt_;

  std::mutex owns_mutex_;
  std::vector<Own*> owns_;

  Compilations compilations_;  // of variants that are tried
};

/// True while a ForbidCompilation exists.
bool compilation_forbidden();

}  // namespace sinter::runtime
