// Observers of the traces that devices run.
#pragma once

#include <atomic>
#include <span>
#include <string>

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
  std::span<const ExecutableRef> executables;  // one for each launch of the plan
  std::span<const std::string> tilings;        // likewise: which was chosen by what; empty: nothing to choose
  bool built = false;                          // planned for this run; false: the plan was cached
  bool fused = true;
};

/// Called for each trace of each device, on the thread that flushes it and with the device's lock held: an
/// observer must not record, flush or query a device.
class TraceObserver {
 public:
  virtual ~TraceObserver() = default;
  virtual void runs(const TraceRun& run) = 0;
};

/// `of_process`: not of the calling thread alone. A forked child has its own thread's observers and the
/// process's.
void add_observer(TraceObserver& observer, bool of_process = false);
/// After this returns, the observer is not called any more.
void remove_observer(TraceObserver& observer) noexcept;

inline std::atomic<int> observer_count{0};

/// One relaxed load where there is no observer.
inline bool observed() { return observer_count.load(std::memory_order_relaxed) > 0; }

/// Calls all observers; call it where observed() is true.
void tell_observers(const TraceRun& run);

}  // namespace sinter::runtime
