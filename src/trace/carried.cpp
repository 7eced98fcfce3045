// Lifetimes within a round.
#include "src/trace/carried.h"

namespace sinter::trace {
namespace {

std::uint64_t bytes_of(const TraceValue& value) {
  std::uint64_t bytes = size_of(value.dtype);
  for (std::int64_t size : value.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

}  // namespace

std::vector<std::uint64_t> bytes_carried(const Flushed& flushed, std::size_t round) {
  const Trace& trace = flushed.trace;
  const std::size_t count = trace.values.size();
  std::size_t first = trace.ops.size();
  for (std::size_t left = round; left > 0;) left -= !trace.ops[--first].again;
  constexpr std::uint32_t kNever = ~0u;
  // By value: behind how many ops of the round it is computed (0: before them), and before which it is last
  // read.
  std::vector<std::uint32_t> computed(count, 0), read(count, kNever);
  std::uint32_t i = 0;
  for (std::size_t op = first; op < trace.ops.size(); ++op) {
    const OpRecord& record = trace.ops[op];
    for (const OperandId operand : trace.operands_of(record))
      if (!operand.is_scalar()) read[operand.index()] = i;
    for (ValueId id = record.output; id < record.output + record.output_count; ++id) computed[id] = i + 1;
    i += !record.again;  // those of recipes belong to the op that reads them
  }
  std::vector<std::uint64_t> bytes(round + 2, 0);  // first the changes from place to place, modulo 2^64
  for (ValueId id = 0; id < count; ++id) {
    const bool stays = is_owned(*flushed.values[id]);
    const bool is_of_round = computed[id] > 0;
    if (is_of_round ? !stays && read[id] == kNever : stays || read[id] == kNever) continue;
    const std::uint64_t size = bytes_of(trace.values[id]);
    bytes[computed[id]] += size;
    bytes[(stays ? round : read[id]) + 1] -= size;
  }
  for (std::size_t k = 1; k <= round; ++k) bytes[k] += bytes[k - 1];
  bytes[0] = bytes[round];
  bytes.resize(round + 1);
  return bytes;
}

}  // namespace sinter::trace
