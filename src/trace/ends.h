// Where a trace ends that nobody reads: at the same place of each round of a loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/trace/draft.h"
#include "src/trace/repetition.h"

namespace sinter::trace {

/// Decides for one recorder when a trace ends before somebody asks for a value. All decisions follow from the
/// ops: code, line, dtype, shape. It looks at them when a trace has the usual length, or the one that a round
/// had before; programs that read more often never get here.
///
/// - A stretch between two reads that has been seen before, by its first ops, stays one trace.
/// - A loop ends its traces at one place of its round, where the fewest bytes are carried from one trace to
///   the next: several rounds in one trace up to the usual length, or one round up to the longest.
/// - Elsewhere a trace has the usual length. The place is noted, so that a loop whose round is longer than
///   the longest trace finds the places of its last round again.
///
/// A place is known by the symbols in front of it.
///
/// Lengths count the ops that the program recorded. Those of recipes are left out: they stand where traces
/// began or end, so that the places would depend on themselves.
class TraceEnds {
 public:
  /// Loops are not looked for in traces shorter than `kLeastUsual`, nor if `longest` is no more than `usual`.
  TraceEnds(std::size_t usual, std::size_t longest);

  /// The length of the trace at which `is_end` is to be asked.
  std::size_t ask_at() const { return ask_at_; }
  /// True: the trace ends before its next op. False: it is to be asked again at the new `ask_at`.
  bool is_end(const Flushed& flushed);

  /// The trace ends, and is still there: `by_program` where somebody asked for it, else as `is_end` said.
  void end(const Flushed& flushed, bool by_program) noexcept;
  /// The trace has lost ops, or could not be run and is kept: what is known of it is forgotten. It is asked
  /// for at `ask_at`.
  void restart(std::size_t ask_at) noexcept;
  /// Another program begins.
  void forget() noexcept;

  static constexpr std::size_t kLeastUsual = 64;

 private:
  /// A place where traces have ended.
  struct Place {
    std::size_t round =
        0;  // of the loop that has it once in each round; 0: just where a trace was long enough
    std::array<std::uint32_t, 4> lengths{};  // of traces that began here, to a known place; 0: none
    std::uint8_t next_length = 0;            // to be overwritten
    bool is_searched = false;                // for a round, when a trace ended here again
    std::uint64_t used = 0;                  // by the clock
  };
  /// A stretch between two ends by the program, known by its first ops.
  struct Step {
    std::size_t length = 0;
    bool sure = true;       // it had this length the last time, too
    bool is_whole = false;  // worth one trace
    std::uint64_t used = 0;
  };

  bool decide(const Flushed& flushed);
  bool ask_again(std::size_t length);
  bool begin_rounds(const Flushed& flushed, std::size_t round);
  std::size_t place_of_round(const Flushed& flushed, std::size_t round) const;
  bool resume(std::size_t length, std::size_t least_round);
  std::size_t search();
  std::size_t search(std::span<const Symbol> stream) const;
  void take(const Trace& trace);
  void note_step();
  static std::size_t next_length(const Place& place, std::size_t length);
  static void add_length(Place& place, std::size_t length);
  Place& place_at(std::uint64_t context);
  Place* known_place(std::uint64_t context, std::size_t least_round);
  Place* place_of_start();
  std::uint64_t context_at(std::size_t end) const;
  RoundSizes sizes() const;
  void begin_stretch();

  const std::size_t usual_, longest_;
  std::size_t ask_at_;

  std::vector<Symbol> stream_;  // the last ones, across traces; those of short stretches are left out
  std::uint64_t taken_ever_ = 0;
  std::size_t taken_ = 0;  // of the trace at hand
  std::size_t seen_ = 0;   // its ops that were looked at

  // The stretch since the program's last end.
  std::size_t earlier_ops_ = 0;  // in traces that are gone
  std::uint64_t step_key_ = 0;   // of its first ops; 0: it has fewer
  bool is_waiting_ = false;      // for its known end

  // The trace at hand.
  std::uint64_t start_ = 0;        // the place where it began; 0: no known one
  bool has_searched_ = false;      // for a round
  std::size_t least_round_ = 0;    // while each op is asked about: of the places to end at
  std::size_t give_up_at_ = 0;     // the length at which that is over
  std::size_t awaited_round_ = 0;  // a round that has been found and is not in the trace as a whole

  std::size_t loop_round_ = 0;  // of the loop that traces last ended by
  std::uint64_t loop_since_ = 0;
  std::uint64_t searched_all_at_ = 0;

  std::uint64_t clock_ = 0;
  absl::flat_hash_map<std::uint64_t, Place> places_;
  absl::flat_hash_map<std::uint64_t, Step> steps_;
};

}  // namespace sinter::trace
