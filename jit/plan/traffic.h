// How much memory a plan moves: which elements of each buffer its launches read and write, and the least that
// any plan of the same trace would have to move.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/plan.h"

namespace sinter::plan {

/// A set of positions in a buffer, in elements: `first` plus every sum of one multiple of each run's step.
/// Runs stand from the smallest step to the largest, so that equal sets written in different ways mostly
/// compare equal.
struct Reach {
  struct Run {
    std::int64_t step, count;
    friend bool operator==(const Run&, const Run&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Run& run) {
      return H::combine(std::move(h), run.step, run.count);
    }
  };
  std::int64_t first = 0, last = -1;  // smallest and largest position; last < first: empty
  std::int64_t count = 0;             // distinct positions, never fewer than there are
  std::vector<Run> runs;
  friend bool operator==(const Reach&, const Reach&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Reach& reach) {
    return H::combine(std::move(h), reach.first, reach.last, reach.count, reach.runs);
  }
};

/// Positions offset + sum of coordinate * stride for coordinates below `extents`. Overlapping windows are
/// counted once where their strides divide each other, which is how windows of tensors lie.
Reach reach_of(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
               std::int64_t offset);

/// The union of sets of positions, to the precision of intervals: sets that lie apart are added up, sets that
/// interleave or overlap count as their sum or as the whole stretch they lie in, whichever is less.
class Coverage {
 public:
  /// Returns how many elements it adds.
  std::int64_t add(const Reach& reach);
  std::int64_t total() const { return total_; }

 private:
  struct Stretch {
    std::int64_t last, elements;
  };
  std::map<std::int64_t, Stretch> stretches_;  // by first position; they do not touch each other's positions
  absl::flat_hash_set<Reach> known_;
  std::int64_t total_ = 0;
};

/// What a launch does with one value in memory.
struct Access {
  std::uint32_t value = 0;   // place in LaunchStructure::values: equal within a plan iff it is the same value
  bool external = false;     // in memory before the trace starts
  bool held = false;         // computed here, and somebody sees it afterwards
  std::uint32_t record = 0;  // not external: the op of the trace that it comes from
  Shape shape;
  DType dtype = DType::f32;
  Binding memory;
  bool written = false;         // by this launch; else only read
  std::int64_t bytes_read = 0;  // distinct elements that the launch reads, never more than the value has
  std::int64_t bytes_written = 0;
  std::int64_t least_bytes =
      0;  // the part that no plan can save: inputs read for the first time, results seen afterwards
};

struct LaunchTraffic {
  std::vector<Access> accesses;
  std::int64_t bytes_read() const;
  std::int64_t bytes_written() const;
};

/// Memory traffic of all launches, and the least of any plan: each input element that is needed read once,
/// each result that somebody sees written once.
struct Traffic {
  std::vector<LaunchTraffic> launches;
  std::int64_t bytes_moved() const;
  std::int64_t least_bytes() const;
};

/// For reports: takes longer than to make a plan of what is known. `trace`: one that the plan is of.
Traffic traffic_of(const Plan& plan, const trace::Trace& trace);

/// Bytes of the inputs' buffers that the trace can reach, each buffer once.
std::size_t input_bytes(const trace::Trace& trace);
/// The same where it is known which values are in memory before the trace.
std::size_t input_bytes(const trace::Trace& trace, std::span<const trace::ValueId> in_memory);

}  // namespace sinter::plan
