// Goes back from values to ops, and copies ops.
#include "src/trace/slice.h"

namespace sinter::trace {
namespace {

bool is_in_memory(const Flushed& from, ValueId id) {
  // What a recipe computes on the way is of no recorder, and in memory nowhere.
  const Value& value = *from.values[id];
  return from.trace.values[id].external ||
         (!value.pending.load(std::memory_order_acquire) && value.is_stored);
}

}  // namespace

std::vector<bool> ops_behind(const Flushed& from, const std::vector<bool>& wanted) {
  std::vector<bool> values = wanted, ops(from.trace.ops.size());
  for (std::size_t i = ops.size(); i-- > 0;) {
    const OpRecord& record = from.trace.ops[i];
    for (ValueId id = record.output; id < record.output + record.output_count; ++id)
      if (values[id] && !is_in_memory(from, id)) ops[i] = true;
    if (!ops[i]) continue;
    for (const OperandId operand : from.trace.operands_of(record))
      if (!operand.is_scalar()) values[operand.index()] = true;
  }
  return ops;
}

Slice copy_ops(const Flushed& from, const std::vector<bool>& ops, Recorder* owner) {
  Slice to;
  Draft& draft = to.draft;
  to.number_of.assign(from.values.size(), kNotCopied);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i]) continue;
    OpRecord record = from.trace.ops[i];
    const std::span<const OperandId> operands = from.trace.operands_of(from.trace.ops[i]);
    OperandId* const copies = draft.room_for_operands(record);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const OperandId operand = operands[k];
      if (operand.is_scalar()) {
        copies[k] = OperandId::scalar(draft.add_scalar(from.trace.scalars[operand.index()]));
        continue;
      }
      ValueId& number = to.number_of[operand.index()];
      if (number == kNotCopied) number = draft.number_external(from.values[operand.index()]);
      copies[k] = OperandId::value(number);
    }
    draft.add_ints(record, from.trace.ints_of(record));
    draft.add_scalars(record,
                      std::span(from.trace.scalars).subspan(record.first_scalar, record.scalar_count));
    const ValueId first = record.output;
    const std::uint8_t count = record.output_count;
    record.output = static_cast<ValueId>(draft.trace().values.size());
    record.output_count = 0;
    for (ValueId id = first; id < first + count; ++id) {
      const ValueId number = record.output + record.output_count;
      Value* value = from.values[id];
      ValueRef again;  // of several results one may be in memory: what is computed once more, nobody sees
      const TraceValue& like = from.trace.values[id];
      if (is_in_memory(from, id)) {
        again = ValueRef::adopt(new Value(value->device, like.shape, like.dtype));
        value = again.get();
      } else {
        to.number_of[id] = number;
        if (owner) value->pending_id = number;
      }
      pin(value);
      draft.add_result(record, value, like.shape, like.dtype);
    }
    draft.add_op(record);
  }
  return to;
}

}  // namespace sinter::trace
