// The recorder: appends ops to the current trace of one thread on one device and keeps its fingerprint up to
// date.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "src/base/quick_mutex.h"
#include "src/trace/draft.h"
#include "src/trace/ends.h"
#include "src/trace/recipe.h"
#include "src/trace/starts.h"
#include "src/trace/trace.h"
#include "src/trace/value.h"

namespace sinter::trace {

/// One operand handed to `append`: a value, or a scalar where `value` is null.
struct Operand {
  Value* value = nullptr;
  Scalar scalar = 0;
};

/// What a result will be; `shape` outlives the call it is given to.
struct ResultType {
  const Shape* shape;
  DType dtype;
};

/// Takes traces from recorders and computes them. Implemented by the device.
class TraceSink {
 public:
  /// What the sink keeps for one recorder, so that recorders share nothing while they run what they know.
  class PerRecorder {
   public:
    virtual ~PerRecorder() = default;
  };

  virtual ~TraceSink() = default;
  /// `running` is the recorder's lock, which is held around `run`: whoever holds it may touch what the sink
  /// keeps for the recorder.
  virtual std::unique_ptr<PerRecorder> attach(base::QuickMutex& running) = 0;

  /// Gives every held value of the trace its buffer and layout, but for those that it names in
  /// `flushed.unstored`. Throws what went wrong: with
  /// `flushed.started` false, nothing has changed and the trace may be run again. Several recorders may call
  /// at once.
  virtual void run(Flushed& flushed, PerRecorder& own) = 0;
};

/// A failure loses nothing. Where a trace cannot be run, because memory is short or a kernel does not
/// compile, it stays here as it was, and the next call tries again: by then handles may have gone, and with
/// them what was too much. Values that nobody can see any more are left out then. Only a run that fails
/// half-way, with memory half written, leaves failures in its values.
///
/// What is held after a flush but was not asked for may be left as a recipe, which the recorder keeps: an op
/// that reads the value appends the recipe to the trace, and who asks for it has it computed alone, without
/// an end of the trace at hand.
class Recorder {
 public:
  /// `usual`, `longest`: ops in a trace that nobody asks for, as TraceEnds has them.
  Recorder(TraceSink& sink, runtime::DeviceCore& device, std::size_t usual, std::size_t longest)
      : sink_(sink), of_sink_(sink.attach(mutex_)), device_(device), usual_(usual), ends_(usual, longest) {}

  /// Records one op whose arguments were checked: fills `results` with a value for each of `types`. Operands
  /// pending in another thread's recorder are computed there first. Where the trace is at its end, it runs
  /// before; if that fails, whoever asks for a value is told.
  void append(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
              std::span<const Scalar> scalars, std::span<const ResultType> types, std::span<ValueRef> results,
              const Location& where);
  /// The same for an op of one result.
  ValueRef append(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                  std::span<const Scalar> scalars, const Shape& shape, DType dtype, const Location& where) {
    const ResultType type{&shape, dtype};
    ValueRef result;
    append(op, operands, ints, scalars, {&type, 1}, {&result, 1}, where);
    return result;
  }

  /// Hands the trace to the device. Throws what went wrong.
  void flush();

  /// Hands the trace to the device, so that `wanted` are in memory afterwards. Where the whole of it fails
  /// before it starts, runs what they alone come of, and keeps the rest. Throws what went wrong with them.
  void compute(std::span<Value* const> wanted);

  /// What a value in memory shows, row-major in memory of its own, by a run that ends no trace.
  ValueRef copy_of(Value& value, const Location& where);

  /// Lets go of what a failed trace keeps alive and nobody can see any more. False: there was no such trace.
  bool drop_leftovers();

  /// True iff nothing is recorded.
  bool empty();

  /// Another thread takes the recorder, in which nothing is recorded: where its traces end must not follow
  /// from what the thread before it did.
  void begin_thread();

  /// Around a fork, by the thread that forks: no other thread is within this recorder then.
  void before_fork() {
    mutex_.lock();
    recipes_.before_fork();
  }
  void after_fork() {
    recipes_.after_fork();
    mutex_.unlock();
  }

  std::uint64_t ops_recorded() const { return ops_recorded_.load(std::memory_order_relaxed); }

 private:
  ValueId number_of(Value* value);
  ValueId record_recipe(Value& value);
  void record_recipes_of_dying();
  void compute_recipe(Value& value);
  bool is_pending_here(const Value& value) const {
    return value.pending.load(std::memory_order_acquire) == this;
  }
  void end_where_due();
  void flush_locked(std::span<Value* const> wanted, bool by_program);
  bool compute_alone(std::span<Value* const> wanted);
  void keep_only(const std::vector<bool>& ops);
  void drop_unseen();
  void leave_recipes();
  void fail(const std::exception_ptr& failure);
  void finish(const std::exception_ptr& failure);

  base::QuickMutex mutex_;
  TraceSink& sink_;
  std::unique_ptr<TraceSink::PerRecorder> of_sink_;
  runtime::DeviceCore& device_;
  const std::size_t usual_;
  TraceEnds ends_;
  bool has_failed_ = false;  // the trace at hand could not be run before
  RecipeBook recipes_;
  bool had_recipes_ = false;  // there may be some in the book
  MovingStarts starts_;
  Draft current_;
  std::atomic<std::uint64_t> ops_recorded_{0};
};

/// A value that is in memory already: data handed in by the user.
detail::Ref<Value> make_materialised(runtime::DeviceCore& device, const Shape& shape, DType dtype,
                                     std::shared_ptr<runtime::Buffer> buffer);

/// Makes sure that the value is in memory, by its recorder. Throws why it cannot be; indices that it came of
/// are not waited for.
void materialise(Value& value);
/// The same for several, with one run for those of each recorder.
void materialise(std::span<Value* const> values);

/// Throws where a value in memory came of an index out of range. Waits for the run that computed it.
void require_good(const Value& value);

}  // namespace sinter::trace
