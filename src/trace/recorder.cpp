// Appending ops, numbering values, hashing as it goes.
#include "src/trace/recorder.h"

#include <array>

namespace sinter::trace {
namespace {

/// Words on their way into a fingerprint, collected on the stack: there is room for all that is known of an
/// op but further results, for which room is made.
class Words {
 public:
  explicit Words(FingerprintBuilder& to) : to_(to) {}
  ~Words() { send(); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  void make_room(std::size_t count) {
    if (count_ + count > words_.size()) send();
  }
  void add(std::uint64_t word) { words_[count_++] = word; }
  void add(const Dims& dims) {
    add(dims.rank());
    for (std::int64_t d : dims) add(static_cast<std::uint64_t>(d));
  }

 private:
  void send() {
    to_.add({words_.data(), count_});
    count_ = 0;
  }

  FingerprintBuilder& to_;
  std::array<std::uint64_t, 320> words_;
  std::size_t count_ = 0;
};
static_assert(2 + kMostOperands + 255 + 1 + kMaxRank <= 320, "an op of 255 integers and one result");

}  // namespace

Recorder::~Recorder() {
  for (Value* value : current_.values) unpin(value);
}

ValueId Recorder::number_of(Value* value) {
  if (value->pending.load(std::memory_order_acquire) == this) return value->pending_id;
  const auto next = static_cast<ValueId>(current_.trace.values.size());
  auto [it, added] = externals_.try_emplace(value, next);
  if (!added) return it->second;

  auto [buffer, new_buffer] = buffers_.try_emplace(value->buffer.get(), current_.trace.buffer_count);
  if (new_buffer) {
    current_.buffers.push_back(value->buffer);
    ++current_.trace.buffer_count;
  }
  TraceValue& entry = current_.trace.values.emplace_back();
  entry.shape = value->shape;
  entry.dtype = value->dtype;
  entry.external = true;
  entry.buffer = buffer->second;
  entry.layout = value->layout;
  pin(value);
  current_.values.push_back(value);

  Words words(fingerprint_);
  words.add(0xe0000000u | static_cast<std::uint64_t>(value->dtype) << 8);
  words.add(entry.buffer);
  words.add(entry.shape);
  words.add(entry.layout.strides);
  words.add(static_cast<std::uint64_t>(entry.layout.offset));
  return next;
}

// Both are inline as each op comes through here, and a function of a shared library is otherwise called.
inline ValueRef Recorder::add_result(OpRecord& record, const ResultType& type) {
  TraceValue& entry = current_.trace.values.emplace_back();
  entry.shape = *type.shape;
  entry.dtype = type.dtype;
  ValueRef value = ValueRef::adopt(new Value);
  value->device = &device_;
  value->shape = *type.shape;
  value->dtype = type.dtype;
  value->pending_id = record.output + record.output_count++;
  value->pending.store(this, std::memory_order_release);
  pin(value.get());
  current_.values.push_back(value.get());
  return value;
}

inline void Recorder::add_to_fingerprint(const OpRecord& record) {
  const Trace& trace = current_.trace;
  const TraceValue* result = &trace.values[record.output];
  Words words(fingerprint_);
  words.add(static_cast<std::uint64_t>(record.op) | static_cast<std::uint64_t>(result->dtype) << 8 |
            std::uint64_t{record.operand_count} << 16 | std::uint64_t{record.int_count} << 24 |
            std::uint64_t{record.scalar_count} << 32 | std::uint64_t{record.output_count} << 40);
  for (std::size_t k = 0; k < record.operand_count; ++k) words.add(record.operands[k].bits);
  for (std::int64_t number : trace.ints_of(record)) words.add(static_cast<std::uint64_t>(number));
  words.add(result->shape);
  for (std::uint8_t r = 1; r < record.output_count; ++r) {
    words.make_room(2 + kMaxRank);
    words.add(static_cast<std::uint64_t>(result[r].dtype));
    words.add(result[r].shape);
  }
}

void Recorder::append(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                      std::span<const Scalar> scalars, std::span<const ResultType> types,
                      std::span<ValueRef> results, const Location& where) {
  for (const Operand& operand : operands) {
    if (!operand.value) continue;
    if (Recorder* other = operand.value->pending.load(std::memory_order_acquire); other && other != this)
      materialise(*operand.value);
    if (!operand.value->pending.load(std::memory_order_acquire) && operand.value->failure)
      throw Error(*operand.value->failure, where);
  }

  std::lock_guard lock(mutex_);
  Trace& trace = current_.trace;
  OpRecord record;
  record.op = op;
  record.operand_count = static_cast<std::uint8_t>(operands.size());
  record.int_count = static_cast<std::uint8_t>(ints.size());
  record.scalar_count = static_cast<std::uint8_t>(scalars.size());
  record.line = where.line();
  record.file = where.file_name();
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].value) {
      record.operands[k] = OperandId::value(number_of(operands[k].value));
    } else {
      record.operands[k] = OperandId::scalar(static_cast<std::uint32_t>(trace.scalars.size()));
      trace.scalars.push_back(operands[k].scalar);
    }
  }
  record.first_int = static_cast<std::uint32_t>(trace.ints.size());
  trace.ints.insert(trace.ints.end(), ints.begin(), ints.end());
  record.first_scalar = static_cast<std::uint32_t>(trace.scalars.size());
  trace.scalars.insert(trace.scalars.end(), scalars.begin(), scalars.end());
  record.output = static_cast<ValueId>(trace.values.size());
  for (std::size_t r = 0; r < types.size(); ++r) results[r] = add_result(record, types[r]);
  add_to_fingerprint(record);

  trace.ops.push_back(record);
  ops_recorded_.fetch_add(1, std::memory_order_relaxed);
  if (trace.ops.size() >= limit_) flush_locked();
}

void Recorder::flush() {
  std::lock_guard lock(mutex_);
  flush_locked();
}

void Recorder::flush_locked() {
  if (current_.trace.ops.empty()) return;
  Trace& trace = current_.trace;

  // What is seen now decides: a handle that is dropped later only means that a value was kept for nothing.
  std::vector<std::uint32_t> dying(trace.buffer_count, 0);
  for (ValueId id = 0; id < trace.values.size(); ++id) {
    TraceValue& value = trace.values[id];
    const bool owned = current_.values[id]->owners.load(std::memory_order_acquire) > 0;
    value.held = !value.external && owned;
    value.dying = value.external && !owned;
    if (value.dying) ++dying[value.buffer];
  }
  std::vector<std::uint64_t> bits((trace.values.size() + 63) / 64, 0);
  for (ValueId id = 0; id < trace.values.size(); ++id) {
    TraceValue& value = trace.values[id];
    // Views of the same memory may be held outside of this trace: then the buffer has more users than die
    // here.
    if (value.dying &&
        current_.buffers[value.buffer].use_count() != static_cast<long>(dying[value.buffer]) + 1)
      value.dying = false;
    if (value.held || value.dying) bits[id / 64] |= std::uint64_t{1} << (id % 64);
  }
  fingerprint_.add(bits);
  current_.fingerprint = fingerprint_.finish();

  try {
    sink_.run(current_);
  } catch (const std::exception& error) {
    finish(current_, std::make_shared<const std::string>(error.what()));
    throw;
  }
  finish(current_, nullptr);
}

void Recorder::finish(Flushed& flushed, const std::shared_ptr<const std::string>& failure) {
  static const auto not_kept = std::make_shared<const std::string>("[value] was not kept");
  for (ValueId id = 0; id < flushed.values.size(); ++id) {
    Value* value = flushed.values[id];
    if (!flushed.trace.values[id].external && !is_last_pin(*value)) {  // else nobody is left to be told
      if (failure || !value->buffer) value->failure = failure ? failure : not_kept;
      value->pending.store(nullptr, std::memory_order_release);
    }
    unpin(value);
  }
  flushed.trace.ops.clear();
  flushed.trace.values.clear();
  flushed.trace.ints.clear();
  flushed.trace.scalars.clear();
  flushed.trace.buffer_count = 0;
  flushed.values.clear();
  flushed.buffers.clear();
  externals_.clear();
  buffers_.clear();
  fingerprint_.reset();
}

}  // namespace sinter::trace
