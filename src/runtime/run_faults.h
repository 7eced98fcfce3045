// Which values of a run came of an index out of range.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "jit/plan/plan.h"
#include "src/runtime/backend.h"
#include "src/trace/trace.h"
#include "src/trace/value.h"

namespace sinter::runtime {

/// The verdict on the values of one run. Devices set fault words while they compute; the plan knows what came
/// of which word, and of which input that is in doubt itself.
class RunFaults final : public trace::Doubt {
 public:
  /// An input that was in doubt when the run began.
  struct Input {
    trace::ValueId id;  // in this run's trace
    std::shared_ptr<trace::Doubt> doubt;
    trace::ValueId id_there;
  };
  /// Where the user wrote the op that a fault word belongs to.
  struct Place {
    const char* op;
    const char* file;
    std::uint32_t line;
    std::int64_t rows;  // that an index may name; -1: it does not name them by one number
  };

  /// `reports`: of all parts of the run, each with all words of the plan.
  RunFaults(std::shared_ptr<const plan::Plan> plan, std::vector<FaultReportRef> reports,
            std::vector<Input> inputs, std::vector<Place> places)
      : plan_(std::move(plan)),
        reports_(std::move(reports)),
        inputs_(std::move(inputs)),
        places_(std::move(places)) {}

  /// True where the verdict is known or needs no waiting.
  bool done() override;
  std::exception_ptr failure_of(trace::ValueId id) override;

 private:
  void settle();

  std::mutex mutex_;
  std::atomic<bool> settled_{false};
  bool is_done_ = false;                                                 // with the mutex held
  std::vector<std::pair<trace::ValueId, std::exception_ptr>> failures_;  // constant once settled

  // Let go of when settled.
  std::shared_ptr<const plan::Plan> plan_;
  std::vector<FaultReportRef> reports_;
  std::vector<Input> inputs_;
  std::vector<Place> places_;
};

/// A failure that was known before the run began.
class KnownFailure final : public trace::Doubt {
 public:
  explicit KnownFailure(std::exception_ptr failure) : failure_(std::move(failure)) {}
  bool done() override { return true; }
  std::exception_ptr failure_of(trace::ValueId) override { return failure_; }

 private:
  const std::exception_ptr failure_;
};

/// Runs in doubt, oldest first: they end in the order of submission, and what has ended is settled, so that a
/// run whose inputs come of earlier ones never looks back far.
class RunsInDoubt {
 public:
  void add(std::shared_ptr<RunFaults> run);
  /// Settles those that have ended. False: no value can be in doubt, as no run of the device ever was.
  bool settle_ended();

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  std::atomic<bool> used_{false};
  std::mutex mutex_;
  std::vector<std::shared_ptr<RunFaults>> runs_;
};

}  // namespace sinter::runtime
