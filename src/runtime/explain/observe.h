// Who wants to know about the traces that devices run.
#pragma once

#include <atomic>
#include <span>

#include "jit/ir/traits.h"
#include "jit/plan/plan.h"
#include "src/runtime/backend.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {

/// A trace that is about to run.
struct TraceRun {
  const trace::Trace& trace;
  const trace::Fingerprint& fingerprint;
  const plan::Plan& plan;
  const ir::DeviceTraits& traits;
  std::span<const ExecutableRef> executables;  // of the plan's launches
  bool built = false;                          // planned for this run; else the plan was known
  bool fused = true;
};

/// Told about each trace of each device, on the thread that flushes it, with the device locked: an observer
/// must not record, flush or ask a device anything.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void runs(const TraceRun& run) = 0;
};

void add_observer(TraceObserver& observer);
/// Once this returns, the observer is not called any more.
void remove_observer(TraceObserver& observer) noexcept;

inline std::atomic<int> observer_count{0};

/// Costs one relaxed load where nobody listens.
inline bool observed() { return observer_count.load(std::memory_order_relaxed) > 0; }

/// For who has seen that somebody listens.
void tell_observers(const TraceRun& run);

}  // namespace sinter::runtime
