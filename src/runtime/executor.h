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
#include "src/runtime/backend.h"
#include "src/runtime/run_faults.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {

/// Several recorders may run traces at once. No lock is held while a trace is planned or compiled, and none
/// on a device that runs concurrently; on the others, the device's lock is held while launches are handed
/// over.
class Executor : public trace::TraceSink {
 public:
  explicit Executor(Backend& backend) : backend_(backend) {}

  std::unique_ptr<PerRecorder> attach() override;
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

 private:
  class Own;

  /// A plan with its kernels compiled, ready to be replayed.
  struct Ready : std::enable_shared_from_this<Ready> {
    explicit Ready(Executor& executor) : executor(executor) {}
    ~Ready();
    Executor& executor;
    plan::Plan plan;
    std::vector<ExecutableRef> executables;  // one for each launch of the plan
    RunNeeds needs;
    std::unique_ptr<PlanState> state;         // of the backend; only touched with the device's lock
    std::atomic<std::uint64_t> last_used{0};  // by Executor::made_
  };
  using ReadyRef = std::shared_ptr<Ready>;
  struct Key {
    trace::Fingerprint fingerprint;
    bool fusion;
    std::int64_t recipe_bytes;
    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.fingerprint, key.fusion, key.recipe_bytes);
    }
  };

  ReadyRef find_or_make(const trace::Flushed& flushed, Own& own, bool& built);
  ReadyRef find_shared_or_make(const Key& key, const trace::Trace& trace, bool& built);
  ReadyRef make(const trace::Trace& trace, const Key& key);
  void prepare_executables(Ready& ready, const std::vector<std::string>& texts);
  void launch(Ready& ready, trace::Flushed& flushed, Own& own);
  void note_faults(Ready& ready, trace::Flushed& flushed, std::vector<FaultReportRef> reports);
  void keep(const Key& key, const ReadyRef& ready);

  Backend& backend_;
  std::atomic<bool> lost_{false};
  std::mutex device_mutex_;

  std::mutex plans_mutex_;
  absl::flat_hash_map<Key, ReadyRef> plans_;
  absl::flat_hash_map<Key, std::shared_future<ReadyRef>> in_the_making_;
  std::atomic<std::uint64_t> made_{0};     // plans, so far: the clock by which the oldest is forgotten
  std::atomic<std::uint64_t> dropped_{0};  // plans forgotten: recorders look at it, and forget theirs

  std::mutex executables_mutex_;
  absl::flat_hash_map<std::string, ExecutableRef> kernels_;    // by printed kernel IR
  absl::flat_hash_map<std::string, ExecutableRef> libraries_;  // by op and sizes

  RunsInDoubt in_doubt_;

  std::mutex owns_mutex_;
  std::vector<Own*> owns_;
};

/// True while a ForbidCompilation exists.
bool compilation_forbidden();

}  // namespace sinter::runtime
