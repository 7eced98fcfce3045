// From a trace to recipes, and back into traces.
#include "src/trace/recipe.h"

namespace sinter::trace {
namespace {

/// A handle, unless the last one is gone.
ValueRef owned_handle(Value* value) {
  std::uint64_t uses = value->uses.load(std::memory_order_relaxed);
  while (uses % Value::kPin > 0)
    if (value->uses.compare_exchange_weak(uses, uses + Value::kOwner, std::memory_order_acq_rel))
      return ValueRef::adopt(value);
  return {};
}

}  // namespace

std::vector<ValueRef> RecipeBook::readers_of(Value* input) {
  std::vector<ValueRef> found;
  std::lock_guard lock(mutex_);
  // A value ends after its recipe, which leaves the book first.
  if (const auto it = readers_.find(input); it != readers_.end())
    for (const auto& [number, reader] : it->second)
      if (ValueRef handle = owned_handle(reader)) found.push_back(std::move(handle));
  return found;
}

// Delegates, so that what is thrown half-way ends what is there.
Recipe::Recipe(RecipeBook& book, const Flushed& from, const Unstored& unstored) : Recipe(book) {
  const Trace& trace = from.trace;
  absl::flat_hash_map<ValueId, std::uint32_t> numbers;  // of inputs and results
  std::vector<ValueId> inputs;
  for (std::uint32_t op : unstored.ops) {
    const OpRecord& record = trace.ops[op];
    for (std::size_t k = 0; k < record.operand_count; ++k) {
      const OperandId operand = record.operands[k];
      if (!operand.is_scalar() && numbers.try_emplace(operand.index(), inputs.size()).second)
        inputs.push_back(operand.index());
    }
    // Not an input: its number follows when all of those are known.
    numbers.try_emplace(record.output, 0);
  }
  for (std::size_t i = 0; i < unstored.ops.size(); ++i)
    numbers[trace.ops[unstored.ops[i]].output] = static_cast<std::uint32_t>(inputs.size() + i);

  for (std::uint32_t op : unstored.ops) {
    OpRecord record = trace.ops[op];
    for (std::size_t k = 0; k < record.operand_count; ++k) {
      OperandId& operand = record.operands[k];
      if (operand.is_scalar()) {
        scalars_.push_back(trace.scalars[operand.index()]);
        operand = OperandId::scalar(static_cast<std::uint32_t>(scalars_.size() - 1));
      } else {
        operand = OperandId::value(numbers[operand.index()]);
      }
    }
    const auto ints = trace.ints_of(record);
    const auto first_scalar = trace.scalars.begin() + record.first_scalar;
    record.first_int = static_cast<std::uint32_t>(ints_.size());
    record.first_scalar = static_cast<std::uint32_t>(scalars_.size());
    ints_.insert(ints_.end(), ints.begin(), ints.end());
    scalars_.insert(scalars_.end(), first_scalar, first_scalar + record.scalar_count);
    record.again = true;
    types_.push_back({trace.values[record.output].shape, trace.values[record.output].dtype});
    ops_.push_back(record);
  }

  Value* const value = from.values[unstored.value];
  inputs_.reserve(inputs.size());
  std::lock_guard lock(book_.mutex_);
  number_ = book_.made_++;
  for (ValueId id : inputs) {
    Value* const input = from.values[id];
    inputs_.push_back(input);
    pin(input);
    input->recipes.fetch_add(1, std::memory_order_acq_rel);
    book_.readers_[input].emplace(number_, value);
  }
}

Recipe::~Recipe() {
  {
    std::lock_guard lock(book_.mutex_);
    for (Value* input : inputs_) {
      const auto it = book_.readers_.find(input);
      if (it == book_.readers_.end()) continue;
      it->second.erase(number_);
      if (it->second.empty()) book_.readers_.erase(it);
    }
  }
  for (Value* input : inputs_) {
    input->recipes.fetch_sub(1, std::memory_order_acq_rel);
    unpin(input);
  }
}

ValueId Recipe::record(Draft& draft, Value* value) const {
  std::vector<ValueId> numbers;
  for (Value* input : inputs_) numbers.push_back(draft.number_external(input));
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    OpRecord record = ops_[i];
    for (std::size_t k = 0; k < record.operand_count; ++k) {
      OperandId& operand = record.operands[k];
      operand = operand.is_scalar() ? OperandId::scalar(draft.add_scalar(scalars_[operand.index()]))
                                    : OperandId::value(numbers[operand.index()]);
    }
    draft.add_ints(record, std::span(ints_).subspan(record.first_int, record.int_count));
    draft.add_scalars(record, std::span(scalars_).subspan(record.first_scalar, record.scalar_count));
    record.output = static_cast<ValueId>(draft.trace().values.size());
    record.output_count = 0;
    ValueRef on_the_way;  // nobody sees it
    Value* result = value;
    if (i + 1 < ops_.size()) {
      on_the_way = ValueRef::adopt(new Value(value->device, types_[i].shape, types_[i].dtype));
      result = on_the_way.get();
    }
    pin(result);
    draft.add_result(record, result, types_[i].shape, types_[i].dtype);
    draft.add_op(record);
    numbers.push_back(record.output);
  }
  return numbers.back();
}

}  // namespace sinter::trace
