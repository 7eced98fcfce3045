// Appends ops, and runs what was recorded: the whole of it, or what is asked for.
#include "src/trace/recorder.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "src/base/env.h"
#include "src/trace/slice.h"

namespace sinter::trace {
inline ValueId Recorder::number_of(Value* value) {
  if (!is_pending_here(*value)) return current_.number_external(value);
  return value->pending_id != Value::kHasRecipe ? value->pending_id : record_recipe(*value);
}

/// From now on the value is one of the trace like the others.
ValueId Recorder::record_recipe(Value& value) {
  value.pending_id = value.recipe->record(current_, &value);
  delete std::exchange(value.recipe, nullptr);
  return value.pending_id;
}

/// An input that nobody owns any more could be written over, but for recipes that read it: their values are
/// computed in this trace.
void Recorder::record_recipes_of_dying() {
  for (std::size_t i = 0; i < current_.in_memory().size(); ++i) {  // recipes may bring further ones
    Value* const input = current_.flushed().values[current_.in_memory()[i]];
    if (is_owned(*input) || input->recipes.load(std::memory_order_acquire) == 0) continue;
    for (const ValueRef& reader : recipes_.readers_of(input))
      if (is_pending_here(*reader) && reader->recipe) record_recipe(*reader);
  }
}

/// In a trace of its own: asking for what is as good as in memory ends no trace.
void Recorder::compute_recipe(Value& value) {
  Draft draft;
  const ValueId number = value.recipe->record(draft, &value);
  const Flushed& all = draft.flushed();
  // What this recipe alone keeps may be written over: it goes when the value is there.
  draft.decide([&](ValueId id) { return id == number; },
               [&](ValueId id) { return !is_owned(*all.values[id]); }, 1, starts_, {}, 1);
  try {
    sink_.run(draft.flushed(), *of_sink_);
  } catch (...) {
    if (!all.started) throw;
    value.failure = std::current_exception();
    for (ValueId id = 0; id < all.values.size(); ++id)
      if (all.trace.values[id].dying) all.values[id]->failure = value.failure;
  }
  delete std::exchange(value.recipe, nullptr);
  value.pending_id = number;
  value.pending.store(nullptr, std::memory_order_release);
  if (value.failure) std::rethrow_exception(value.failure);
}

void Recorder::append(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                      std::span<const Scalar> scalars, std::span<const ResultType> types,
                      std::span<ValueRef> results, const Location& where) {
  for (const Operand& operand : operands) {
    if (!operand.value) continue;
    if (Recorder* other = operand.value->pending.load(std::memory_order_acquire); other && other != this)
      materialise(*operand.value);
  }

  std::lock_guard lock(mutex_);
  if (current_.recorded() >= ends_.ask_at()) end_where_due();
  // Another thread may have asked for an operand, and failed, while this one waited for the lock.
  for (const Operand& operand : operands)
    if (operand.value && !is_pending_here(*operand.value) && operand.value->failure)
      std::rethrow_exception(operand.value->failure);
  OpRecord record;
  record.op = op;
  if (info(op).op_class == OpClass::Library) record.precision = matmul_precision();
  record.operand_count = static_cast<std::uint8_t>(operands.size());
  record.line = where.line();
  record.file = where.file_name();
  OperandId more[kMostOperands];  // recipes that an operand has are recorded on the way
  OperandId* const numbers = operands.size() <= kRecordOperands ? record.operands : more;
  for (std::size_t k = 0; k < operands.size(); ++k)
    numbers[k] = operands[k].value ? OperandId::value(number_of(operands[k].value))
                                   : OperandId::scalar(current_.add_scalar(operands[k].scalar));
  if (numbers == more) std::copy_n(more, operands.size(), current_.room_for_operands(record));
  current_.add_ints(record, ints);
  current_.add_scalars(record, scalars);
  record.output = static_cast<ValueId>(current_.trace().values.size());
  for (std::size_t r = 0; r < types.size(); ++r) {
    // The second use is the trace's.
    results[r] = ValueRef::adopt(new Value(&device_, *types[r].shape, types[r].dtype, Value::kPin));
    Value& value = *results[r];
    value.pending_id = record.output + record.output_count;
    value.pending.store(this, std::memory_order_release);
    current_.add_result(record, &value, *types[r].shape, types[r].dtype);
  }
  current_.add_op(record);

  // There is one writer at a time.
  ops_recorded_.store(ops_recorded_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Recorder::end_where_due() {
  try {
    if (ends_.is_end(current_.flushed())) flush_locked({}, false);
  } catch (const std::exception& error) {
    // Nobody has asked for anything. Whoever asks is told; until then the trace grows.
    ends_.restart(2 * std::max(current_.recorded(), usual_));
    if (base::logs("plan"))
      base::log_line("plan",
                     std::string("a trace could not be run when it was full, and is kept: ") + error.what());
  }
}

void Recorder::flush() {
  std::lock_guard lock(mutex_);
  flush_locked({}, true);
}

bool Recorder::empty() {
  std::lock_guard lock(mutex_);
  return current_.trace().ops.empty();
}

void Recorder::begin_thread() {
  std::lock_guard lock(mutex_);
  ends_.forget();
  starts_.forget();
}

/// `wanted`: what is asked for; none: nothing in particular.
void Recorder::flush_locked(std::span<Value* const> wanted, bool by_program) {
  if (has_failed_) drop_unseen();
  if (current_.trace().ops.empty()) {
    ends_.end(current_.flushed(), by_program);
    return finish(nullptr);
  }
  if (had_recipes_) record_recipes_of_dying();
  const std::vector<Value*>& values = current_.flushed().values;
  const auto is_asked = [this](const Value& value) { return is_pending_here(value) && is_owned(value); };
  std::vector<ValueId> several;
  if (wanted.size() > 1)
    for (const Value* value : wanted)
      if (is_asked(*value)) several.push_back(value->pending_id);
  std::span<const ValueId> asked(several);
  if (wanted.size() == 1 && is_asked(*wanted[0])) asked = {&wanted[0]->pending_id, 1};
  // One reference to each buffer is the trace's own.
  current_.decide([&](ValueId id) { return is_owned(*values[id]); },
                  [&](ValueId id) { return !is_owned(*values[id]); }, 1, starts_, asked);
  try {
    sink_.run(current_.flushed(), *of_sink_);
  } catch (...) {
    has_failed_ = true;
    if (current_.flushed().started) fail(std::current_exception());
    throw;
  }
  ends_.end(current_.flushed(), by_program);
  leave_recipes();
  finish(nullptr);
}

void Recorder::compute(std::span<Value* const> wanted) {
  std::lock_guard lock(mutex_);
  const auto is_wanted_here = [this](const Value* value) { return is_pending_here(*value); };
  for (Value* value : wanted)
    if (is_pending_here(*value) && value->recipe) compute_recipe(*value);
  if (std::none_of(wanted.begin(), wanted.end(), is_wanted_here)) return;
  try {
    flush_locked(wanted, true);
  } catch (...) {
    if (!std::any_of(wanted.begin(), wanted.end(), is_wanted_here) || !compute_alone(wanted)) throw;
  }
}

ValueRef Recorder::copy_of(Value& value, const Location& where) {
  std::lock_guard lock(mutex_);
  // A pad by nothing: what a kernel stores, where a view would share the memory.
  Draft draft;
  OpRecord record;
  record.op = Op::Pad;
  record.operand_count = 1;
  record.line = where.line();
  record.file = where.file_name();
  record.operands[0] = OperandId::value(draft.number_external(&value));
  const std::size_t rank = value.shape.rank();
  std::array<std::int64_t, 2 * kMaxRank> ints{};
  std::fill_n(ints.begin() + static_cast<std::ptrdiff_t>(rank), rank, 1);
  draft.add_ints(record, std::span(ints).first(2 * rank));
  const Scalar fill = 0;
  draft.add_scalars(record, {&fill, 1});
  record.output = static_cast<ValueId>(draft.trace().values.size());
  ValueRef copy = ValueRef::adopt(new Value(&device_, value.shape, value.dtype, Value::kPin));
  draft.add_result(record, copy.get(), copy->shape, copy->dtype);
  draft.add_op(record);
  draft.decide([&](ValueId id) { return id == record.output; }, [](ValueId) { return false; }, 1, starts_,
               {});
  sink_.run(draft.flushed(), *of_sink_);
  return copy;
}

/// False: the wanted values come of the whole trace.
bool Recorder::compute_alone(std::span<Value* const> wanted) {
  current_.undo_bases();
  const Flushed& all = current_.flushed();
  std::vector<bool> asked(all.values.size()), others(all.values.size());
  for (const Value* value : wanted)
    if (is_pending_here(*value)) asked[value->pending_id] = true;
  for (ValueId id = 0; id < all.values.size(); ++id)
    others[id] = !asked[id] && !all.trace.values[id].external && !is_last_pin(*all.values[id]);
  const std::vector<bool> needed = ops_behind(all, asked);
  std::vector<bool> rest = ops_behind(all, others);
  bool is_part = false;
  for (std::size_t i = 0; i < rest.size(); ++i) is_part |= rest[i] && !needed[i];
  if (!is_part) return false;

  std::vector<bool> still_read(all.values.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const OpRecord& record = all.trace.ops[i];
    if (!rest[i]) continue;
    for (const OperandId operand : all.trace.operands_of(record))
      if (!operand.is_scalar()) still_read[operand.index()] = true;
  }
  Slice part = copy_ops(all, needed, nullptr);
  const std::vector<Value*>& values = part.draft.flushed().values;
  std::vector<bool> held(values.size()), may_die(values.size());
  for (ValueId id = 0; id < all.values.size(); ++id) {
    if (part.number_of[id] == kNotCopied) continue;
    held[part.number_of[id]] = asked[id];
    may_die[part.number_of[id]] = !still_read[id] && !is_owned(*all.values[id]);
  }
  std::vector<ValueId> all_held;
  for (ValueId id = 0; id < values.size(); ++id)
    if (held[id]) all_held.push_back(id);
  // Both traces refer to each buffer.
  part.draft.decide([&](ValueId id) { return held[id]; }, [&](ValueId id) { return may_die[id]; }, 2, starts_,
                    all_held);
  try {
    sink_.run(part.draft.flushed(), *of_sink_);
  } catch (...) {
    if (part.draft.flushed().started) fail(std::current_exception());
    throw;
  }
  for (ValueId id = 0; id < all.values.size(); ++id) {
    if (!asked[id]) continue;
    all.values[id]->pending_id = part.number_of[id];
    all.values[id]->pending.store(nullptr, std::memory_order_release);
  }
  keep_only(ops_behind(all, others));
  return true;
}

void Recorder::keep_only(const std::vector<bool>& ops) {
  current_.undo_bases();
  current_ = std::move(copy_ops(current_.flushed(), ops, this).draft);
  ends_.restart(ends_.ask_at());
}

void Recorder::drop_unseen() {
  const Flushed& all = current_.flushed();
  // Not by owners: an optimizer's step counts on values that for the moment nobody owns.
  std::vector<bool> seen(all.values.size());
  for (ValueId id = 0; id < all.values.size(); ++id)
    seen[id] = !all.trace.values[id].external && !is_last_pin(*all.values[id]);
  keep_only(ops_behind(all, seen));
}

bool Recorder::drop_leftovers() {
  std::lock_guard lock(mutex_);
  if (has_failed_) drop_unseen();
  return has_failed_;
}

/// What the run has left out, and somebody still sees.
void Recorder::leave_recipes() {
  const Flushed& flushed = current_.flushed();
  if (!flushed.unstored) return;
  current_.undo_bases();
  for (const Unstored& unstored : *flushed.unstored) {
    Value* const value = flushed.values[unstored.value];
    if (is_last_pin(*value)) continue;
    try {
      value->recipe = new Recipe(recipes_, flushed, unstored);
      had_recipes_ = true;
    } catch (...) {
      value->failure = std::current_exception();  // nobody has asked: whoever does is told
    }
  }
}

/// The end of a trace that failed half-way.
void Recorder::fail(const std::exception_ptr& failure) {
  finish(failure);
  ends_.restart(usual_);
}

/// The end of the trace: its values are in memory, have recipes, or have failed.
void Recorder::finish(const std::exception_ptr& failure) {
  // Never destroyed: threads may run traces after the end of static objects.
  static const auto& not_kept =
      *new std::exception_ptr(std::make_exception_ptr(Error("[value] was not kept")));
  const Trace& trace = current_.trace();
  current_.clear([&](ValueId id, Value& value) {
    if (is_last_pin(value)) return;  // nobody is left to be told
    if (trace.values[id].external) {
      // It may have been written over.
      if (failure && trace.values[id].dying) value.failure = failure;
      return;
    }
    if (value.recipe && !failure) {
      value.pending_id = Value::kHasRecipe;
      return;
    }
    if (failure)
      value.failure = failure;
    else if (!value.is_stored && !value.failure)
      value.failure = not_kept;
    value.pending.store(nullptr, std::memory_order_release);
  });
  has_failed_ = false;
}

}  // namespace sinter::trace
