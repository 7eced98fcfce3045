// Starts of slices that move: which of them a plan is given at each launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/trace/fingerprint.h"

namespace sinter::trace {

/// Remembers where the slices of a recorder's traces started. A trace that comes with the starts of its first
/// time has a plan for these alone, whose kernels know them. Once it comes with others, the starts that are
/// not those of the first time move: from then on they are arguments of its plan. What is remembered follows
/// from what the recorder's thread did, so that the same program finds the same plans.
class MovingStarts {
 public:
  /// The starts that move in a trace, as in Trace::moves; null: none is known to. `structure`: the trace
  /// without its starts.
  const std::vector<bool>* find(const Fingerprint& structure, std::span<const std::int64_t> starts);
  /// The same for a trace of which none is known to move. `whole`: the trace with its starts, as far as a
  /// plan for them alone depends on them.
  const std::vector<bool>* compare(const Fingerprint& structure, const Fingerprint& whole,
                                   std::span<const std::int64_t> starts);
  void forget();

 private:
  struct Known {
    Fingerprint whole;
    std::vector<std::int64_t> starts;  // of the first time
    std::vector<bool> moves;           // empty: none
    std::uint64_t used = 0;
  };
  static void note(Known& known, std::span<const std::int64_t> starts);
  void make_room(std::size_t starts);

  absl::flat_hash_map<Fingerprint, Known> known_;
  std::size_t starts_ = 0;  // of all that is known
  std::uint64_t uses_ = 0;
};

}  // namespace sinter::trace
