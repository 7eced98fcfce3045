// The executor: finds or makes the plan of a trace, binds addresses and scalars, and launches.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include <sinter/device.h>

#include "jit/plan/plan.h"
#include "src/runtime/backend.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {

class Executor : public trace::TraceSink {
 public:
  explicit Executor(Backend& backend) : backend_(backend) {}

  void run(trace::Flushed& flushed) override;

  /// The device's lock: held while a thread talks to the backend.
  std::mutex& mutex() { return mutex_; }

  /// Counts since the start; call with the mutex held.
  const Statistics& counts() const { return counts_; }

 private:
  /// A plan with its kernels compiled, ready to be replayed.
  struct Ready {
    plan::Plan plan;
    std::vector<ExecutableRef> executables;  // one for each launch of the plan
    RunNeeds needs;
    std::unique_ptr<PlanState> state;  // of the backend
    std::uint64_t last_used = 0;
  };
  struct Key {
    trace::Fingerprint fingerprint;
    bool fusion;
    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.fingerprint, key.fusion);
    }
  };

  Ready& find_or_make(const trace::Flushed& flushed);
  std::unique_ptr<Ready> make(const trace::Trace& trace, bool fusion);
  void launch(Ready& ready, trace::Flushed& flushed);
  void evict_oldest();

  Backend& backend_;
  std::mutex mutex_;
  absl::flat_hash_map<Key, std::unique_ptr<Ready>> plans_;
  absl::flat_hash_map<std::string, ExecutableRef> kernels_;    // by printed kernel IR
  absl::flat_hash_map<std::string, ExecutableRef> libraries_;  // by op and sizes
  std::uint64_t clock_ = 0;
  Statistics counts_;

  // Buffers for the arguments of a launch, reused to save allocations.
  std::vector<BufferView> views_;
  std::vector<ScalarValue> scalars_;
  std::vector<BufferRef> outputs_;
};

/// True while a ForbidCompilation exists.
bool compilation_forbidden();

}  // namespace sinter::runtime
