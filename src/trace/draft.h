// A trace that is being written: numbers the values as they come and keeps the fingerprint up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/trace/fingerprint.h"
#include "src/trace/starts.h"
#include "src/trace/trace.h"
#include "src/trace/value.h"

namespace sinter::trace {

/// What devices may rely on of the address that a buffer begins at, in bytes.
inline constexpr std::int64_t kBaseAlignment = 256;

/// A trace that is ready to be run, with the objects behind its numbers.
struct Flushed {
  Trace trace;
  Fingerprint fingerprint;
  std::vector<Value*> values;                             // pinned; one for each value of the trace
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;  // behind the external values
  /// The byte of each buffer that layouts of external values count from, of `kBaseAlignment`.
  std::vector<std::int64_t> bases;
  /// Set by the sink before the first launch: from then on a failure may leave memory half written.
  bool started = false;
  /// True iff an external value has a failure: it was known only after an op with it was recorded.
  bool has_failed_inputs = false;
  /// Set by the sink: held values that it has not given a buffer. Null: none.
  std::shared_ptr<const std::vector<Unstored>> unstored;
};

/// Each op comes through here, so that its functions are inline.
class Draft {
 public:
  Draft() = default;
  Draft(Draft&&) = default;
  Draft& operator=(Draft&& other) noexcept {
    std::swap(flushed_, other.flushed_);
    std::swap(fingerprint_, other.fingerprint_);
    std::swap(externals_, other.externals_);
    std::swap(buffers_, other.buffers_);
    std::swap(in_memory_, other.in_memory_);
    std::swap(slices_, other.slices_);
    std::swap(started_, other.started_);
    std::swap(of_recipes_, other.of_recipes_);
    return *this;
  }
  ~Draft() {
    for (Value* value : flushed_.values) unpin(value);
  }

  Flushed& flushed() { return flushed_; }
  const Flushed& flushed() const { return flushed_; }
  Trace& trace() { return flushed_.trace; }
  const Trace& trace() const { return flushed_.trace; }
  /// Ops that the program recorded: all but those of recipes.
  std::size_t recorded() const { return trace().ops.size() - of_recipes_; }

  /// The number of a value that is in memory.
  ValueId number_external(Value* value) {
    const auto next = static_cast<ValueId>(trace().values.size());
    if (externals_.empty()) {
      externals_.reserve(usual_externals_);
      buffers_.reserve(usual_externals_);
    }
    auto [it, added] = externals_.try_emplace(value, next);
    if (!added) return it->second;
    const Value::Stored& stored = value->stored();
    auto [buffer, new_buffer] = buffers_.try_emplace(stored.buffer.get(), trace().buffer_count);
    if (new_buffer) {
      flushed_.buffers.push_back(stored.buffer);
      ++trace().buffer_count;
    }
    TraceValue& entry = trace().values.emplace_back();
    entry.shape = value->shape;
    entry.dtype = value->dtype;
    entry.external = true;
    entry.buffer = buffer->second;
    entry.layout = static_cast<std::uint32_t>(trace().layouts.size());
    trace().layouts.push_back(stored.layout);
    entry.fills_buffer = fills_buffer(*value);
    flushed_.has_failed_inputs |= value->failure != nullptr;
    pin(value);
    flushed_.values.push_back(value);
    in_memory_.push_back(next);

    Words words(fingerprint_, 4 + 2 * kMaxRank);
    words.add(0xe0000000u | static_cast<std::uint64_t>(value->dtype) << 8 | entry.fills_buffer);
    words.add(entry.buffer);
    words.add(entry.shape);
    words.add(stored.layout.strides);
    return next;
  }

  /// Adds the next result of `record`, whose first result has the number `record.output`. Takes over a pin.
  void add_result(OpRecord& record, Value* value, const Shape& shape, DType dtype) {
    trace().values.emplace_back(shape, dtype);
    ++record.output_count;
    flushed_.values.push_back(value);
  }

  std::uint32_t add_scalar(const Scalar& scalar) {
    trace().scalars.push_back(scalar);
    return static_cast<std::uint32_t>(trace().scalars.size() - 1);
  }
  /// Where the operands of `record` go, `operand_count` of them: to be filled before the next op's.
  OperandId* room_for_operands(OpRecord& record) {
    if (record.operand_count <= kRecordOperands) return record.operands;
    std::vector<OperandId>& all = trace().operands;
    record.operands[0] = OperandId::value(static_cast<std::uint32_t>(all.size()));
    all.resize(all.size() + record.operand_count);
    return &all[record.operands[0].index()];
  }
  void add_ints(OpRecord& record, std::span<const std::int64_t> ints) {
    record.int_count = static_cast<std::uint8_t>(ints.size());
    record.first_int = static_cast<std::uint32_t>(trace().ints.size());
    trace().ints.insert(trace().ints.end(), ints.begin(), ints.end());
  }
  void add_scalars(OpRecord& record, std::span<const Scalar> scalars) {
    record.scalar_count = static_cast<std::uint8_t>(scalars.size());
    record.first_scalar = static_cast<std::uint32_t>(trace().scalars.size());
    trace().scalars.insert(trace().scalars.end(), scalars.begin(), scalars.end());
  }

  /// Adds the op, whose results, integers and scalars were added before.
  void add_op(const OpRecord& record) {
    const TraceValue* result = &trace().values[record.output];
    Words words(fingerprint_, 2 + record.operand_count + record.int_count + kMaxRank);
    words.add(head_of(record, result->dtype));
    for (const OperandId operand : trace().operands_of(record)) words.add(operand.bits);
    std::span<const std::int64_t> ints = trace().ints_of(record);
    if (const std::size_t count = start_count(record); count > 0) {
      // Where something starts is no structure unless `decide` says so.
      const auto starts = ints.first(count);
      ints = ints.subspan(count);
      if (record.op == Op::Slice && trace().values[record.operands[0].index()].external)
        slices_.push_back({static_cast<std::uint32_t>(trace().ops.size()),
                           static_cast<std::uint32_t>(trace().starts.size())});
      trace().starts.insert(trace().starts.end(), starts.begin(), starts.end());
      started_.push_back(static_cast<std::uint32_t>(trace().ops.size()));
    }
    for (std::int64_t number : ints) words.add(static_cast<std::uint64_t>(number));
    words.add(result->shape);
    for (std::uint8_t r = 1; r < record.output_count; ++r) {
      words.more(2 + kMaxRank);
      words.add(static_cast<std::uint64_t>(result[r].dtype));
      words.add(result[r].shape);
    }
    of_recipes_ += record.again;
    trace().ops.push_back(record);
  }

  /// Fixes what becomes of each value, and with that the fingerprint. `is_held(id)`: somebody sees the result
  /// afterwards. `may_die(id)`: nobody sees the external value afterwards. `references`: to the buffers,
  /// beside those of the values that die here. `known`: which starts move. `asked`: results that the flush is
  /// there for, all of them held; none: the flush asks for no value in particular. `recipes`: that may read a
  /// value which dies.
  template <class IsHeld, class MayDie>
  void decide(IsHeld is_held, MayDie may_die, long references, MovingStarts& known,
              std::span<const ValueId> asked, std::int32_t recipes = 0);

  /// Undoes what `decide` did to shapes and layouts of external values and to slices of them, so that the
  /// trace can go on.
  void undo_bases();

  /// The external values, in their order.
  const std::vector<ValueId>& in_memory() const { return in_memory_; }

  /// Forgets everything; the memory of tables is kept for the next trace. `before_unpin(id, value)` is called
  /// for each value.
  template <class F>
  void clear(F before_unpin) {
    for (ValueId id = 0; id < flushed_.values.size(); ++id) {
      prefetch_value(id);
      before_unpin(id, *flushed_.values[id]);
      unpin(flushed_.values[id]);
    }
    flushed_.values.clear();
    clear_tables();
  }

 private:
  /// Words on their way into a fingerprint.
  class Words {
   public:
    /// At most `most` of them.
    Words(FingerprintBuilder& to, std::size_t most) : to_(to), end_(to.room_for(most)) {}
    ~Words() { to_.add_up_to(end_); }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    /// At most `most` further ones, whatever was said before.
    void more(std::size_t most) {
      to_.add_up_to(end_);
      end_ = to_.room_for(most);
    }
    void add(std::uint64_t word) { *end_++ = word; }
    void add(const Dims& dims) {
      add(dims.rank());
      for (std::int64_t d : dims) add(static_cast<std::uint64_t>(d));
    }

   private:
    FingerprintBuilder& to_;
    std::uint64_t* end_;
  };
  /// What stands before the operands of a record, and the result's dtype. Byte by byte: the bytes have just
  /// been written, and a load of all of them would wait until they are in the cache.
  static std::uint64_t head_of(const OpRecord& record, DType dtype) {
    const auto at = [](auto byte, int place) { return static_cast<std::uint64_t>(byte) << (8 * place); };
    return at(record.op, 0) | at(record.operand_count, 1) | at(record.int_count, 2) |
           at(record.scalar_count, 3) | at(record.output_count, 4) | at(record.again, 5) | at(dtype, 6) |
           at(record.precision, 7);
  }
  /// In front of a walk over all values, which lie anywhere.
  void prefetch_value(ValueId id) const {
    constexpr ValueId kAhead = 8;
    if (id + kAhead < flushed_.values.size()) __builtin_prefetch(flushed_.values[id + kAhead], 1);
  }
  static bool fills_buffer(const Value& value) {
    return runtime::bytes_of(*value.stored().buffer) <=
           static_cast<std::size_t>(value.shape.numel()) * size_of(value.dtype);
  }
  void clear_tables();
  void finish(std::vector<std::uint64_t>& words, MovingStarts& known);
  void choose_bases(std::vector<std::uint64_t>& words);
  std::vector<bool> read_as_whole() const;
  void crop_sliced();
  void let_move(const std::vector<bool>& moves, std::vector<std::uint64_t>& words);
  static std::int32_t recipes_of(const Value& value) {
#ifndef __SANITIZE_THREAD__                               // which knows no fences
    std::atomic_thread_fence(std::memory_order_acquire);  // use_count() alone orders nothing
#endif
    return value.recipes.load(std::memory_order_acquire);
  }

  static_assert(2 + kMostOperands + 255 + kMaxRank <= FingerprintBuilder::kMostAtOnce,
                "an op of 255 integers and one result");

  Flushed flushed_;
  FingerprintBuilder fingerprint_;
  absl::flat_hash_map<Value*, ValueId> externals_;
  absl::flat_hash_map<runtime::Buffer*, std::uint32_t> buffers_;
  // Of the trace before: large tables give their memory back when they are cleared, and the next trace mostly
  // has as many inputs.
  std::size_t usual_externals_ = 0;
  struct SliceOp {
    std::uint32_t op, first_start;
  };
  std::vector<ValueId> in_memory_;      // external values
  std::vector<SliceOp> slices_;         // ops that slice an external value
  std::vector<std::uint32_t> started_;  // ops that have starts
  std::size_t of_recipes_ = 0;          // ops
};

template <class IsHeld, class MayDie>
void Draft::decide(IsHeld is_held, MayDie may_die, long references, MovingStarts& known,
                   std::span<const ValueId> asked, std::int32_t recipes) {
  // What is seen now decides: a handle that is dropped later only means that a value was kept for nothing.
  std::vector<std::uint32_t> dying(trace().buffer_count, 0);
  if (!trace().asks_for_ends)  // it was decided before, and could not be run
    for (TraceValue& value : trace().values) value.asked = false;
  std::size_t held = 0;
  std::vector<std::uint64_t> bits((trace().values.size() + 63) / 64, 0);
  const auto set_bit = [&](ValueId id) { bits[id / 64] |= std::uint64_t{1} << (id % 64); };
  for (ValueId id = 0; id < trace().values.size(); ++id) {
    prefetch_value(id);
    TraceValue& value = trace().values[id];
    value.held = !value.external && is_held(id);
    value.dying = value.external && may_die(id);
    if (value.dying) ++dying[value.buffer];
    if (!value.held) continue;
    ++held;
    set_bit(id);
  }
  for (const ValueId id : in_memory_) {
    TraceValue& value = trace().values[id];
    // Views of the same memory may be held outside of this trace: then the buffer has more users than die
    // here. Another thread's trace is one of them until it has left its recipes: so these are counted after.
    if (value.dying &&
        (flushed_.buffers[value.buffer].use_count() != static_cast<long>(dying[value.buffer]) + references ||
         recipes_of(*flushed_.values[id]) > recipes))
      value.dying = false;
    if (value.dying) set_bit(id);
  }
  // A value alone is asked for either way: one plan serves both.
  trace().asks_for_ends = asked.empty() || held == 1;
  if (!trace().asks_for_ends) {
    for (ValueId id : asked) {
      trace().values[id].asked = true;
      bits.push_back(id);
    }
  }
  finish(bits, known);
}

}  // namespace sinter::trace
