// Copies what is no number.
#include "jit/plan/reuse/skeleton.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <xxhash.h>

namespace sinter::plan {
namespace {

// All of an op's record but the line that it stands on.
constexpr std::size_t kBytesOfOp = offsetof(trace::OpRecord, line);
// Of a value its dtype and what is known about its memory, which follow each other, and its buffer.
constexpr std::size_t kFirstFlag = offsetof(trace::TraceValue, dtype);
constexpr std::size_t kBytesOfFlags = offsetof(trace::TraceValue, fills_buffer) + 1 - kFirstFlag;
constexpr std::size_t kWordsOfValue = 3;
constexpr std::size_t kWord = sizeof(std::uint32_t);
static_assert(kBytesOfOp % kWord == 0 && kBytesOfFlags == 6 && sizeof(DType) == 1,
              "no bytes that say nothing");

}  // namespace

Skeleton::Skeleton(const trace::Trace& trace) {
  const std::array<std::uint32_t, 5> counts = {
      static_cast<std::uint32_t>(trace.ops.size()), static_cast<std::uint32_t>(trace.values.size()),
      static_cast<std::uint32_t>(trace.operands.size()), trace.buffer_count,
      static_cast<std::uint32_t>(trace.asks_for_ends)};
  count_ = counts.size() + trace.operands.size() + trace.ops.size() * (kBytesOfOp / kWord) +
           trace.values.size() * kWordsOfValue;
  words_ = std::make_unique_for_overwrite<std::uint32_t[]>(count_);
  std::uint32_t* to = std::copy(counts.begin(), counts.end(), words_.get());
  for (const trace::OperandId operand : trace.operands) *to++ = operand.bits;
  for (const trace::OpRecord& op : trace.ops) {
    std::memcpy(to, &op, kBytesOfOp);
    to += kBytesOfOp / kWord;
  }
  for (const trace::TraceValue& value : trace.values) {
    const auto* const flags = reinterpret_cast<const std::byte*>(&value) + kFirstFlag;
    std::uint16_t rest = 0;
    std::memcpy(to, flags, kWord);
    std::memcpy(&rest, flags + kWord, kBytesOfFlags - kWord);
    to[1] = rest;
    to[2] = value.buffer;
    to += kWordsOfValue;
  }
}

SkeletonRef Skeleton::of(const trace::Trace& trace, const SkeletonRef& last) {
  std::shared_ptr<Skeleton> made(new Skeleton(trace));
  if (last && *made == *last) return last;
  made->hash_ = XXH3_64bits(made->words_.get(), made->bytes());
  return made;
}

bool operator==(const Skeleton& a, const Skeleton& b) {
  return a.count_ == b.count_ && std::memcmp(a.words_.get(), b.words_.get(), a.bytes()) == 0;
}

}  // namespace sinter::plan
