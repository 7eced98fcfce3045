// The recorder: appends ops to the current trace of one thread on one device and keeps its fingerprint up to
// date.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/trace/fingerprint.h"
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

/// A trace that is ready to be run, with the objects behind its numbers.
struct Flushed {
  Trace trace;
  Fingerprint fingerprint;
  std::vector<Value*> values;                             // pinned; one for each value of the trace
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;  // behind the external values
};

/// Takes traces from recorders and computes them. Implemented by the device.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Gives every held value of the trace its buffer and layout, or its failure. Throws what went wrong.
  virtual void run(Flushed& flushed) = 0;
};

class Recorder {
 public:
  Recorder(TraceSink& sink, runtime::DeviceCore& device, std::size_t limit)
      : sink_(sink), device_(device), limit_(limit) {}
  ~Recorder();

  /// Records one op whose arguments were checked: fills `results` with a value for each of `types`. Operands
  /// pending in another thread's recorder are flushed there first.
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

  /// Hands the trace to the device. On an exception the trace is gone and its values carry the failure.
  void flush();

  std::uint64_t ops_recorded() const { return ops_recorded_.load(std::memory_order_relaxed); }

 private:
  ValueId number_of(Value* value);
  ValueRef add_result(OpRecord& record, const ResultType& type);
  void add_to_fingerprint(const OpRecord& record);
  void flush_locked();
  void finish(Flushed& flushed, const std::shared_ptr<const std::string>& failure);

  std::mutex mutex_;
  TraceSink& sink_;
  runtime::DeviceCore& device_;
  std::size_t limit_;
  Flushed current_;
  FingerprintBuilder fingerprint_;
  absl::flat_hash_map<Value*, ValueId> externals_;
  absl::flat_hash_map<runtime::Buffer*, std::uint32_t> buffers_;
  std::atomic<std::uint64_t> ops_recorded_{0};
};

/// A value that is in memory already: data handed in by the user.
detail::Ref<Value> make_materialised(runtime::DeviceCore& device, const Shape& shape, DType dtype,
                                     std::shared_ptr<runtime::Buffer> buffer);

/// Makes sure that the value is in memory, by flushing the recorder that holds it. Throws its failure.
void materialise(Value& value);

}  // namespace sinter::trace
