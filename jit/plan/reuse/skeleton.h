// What a trace is apart from its sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/trace/trace.h"

namespace sinter::plan {

class Skeleton;
using SkeletonRef = std::shared_ptr<const Skeleton>;

/// The ops of a trace with their operands, and of its values all but numbers, as a list of words: equal for
/// traces of one structure. Two long traces are compared as quickly as two texts.
class Skeleton {
 public:
  /// The trace's; `last` where that is equal: then nothing is hashed, and both are known to be equal by their
  /// addresses.
  static SkeletonRef of(const trace::Trace& trace, const SkeletonRef& last);

  std::uint64_t hash() const { return hash_; }
  friend bool operator==(const Skeleton& a, const Skeleton& b);

 private:
  explicit Skeleton(const trace::Trace& trace);
  std::size_t bytes() const { return count_ * sizeof(std::uint32_t); }

  std::size_t count_;
  std::uint64_t hash_ = 0;
  std::unique_ptr<std::uint32_t[]> words_;
};

}  // namespace sinter::plan
