// Which launches of a plan may run at the same time: those between whose memory there is no conflict.
//
// Launches are divided among a few strands. Those of one strand run one after the other, so that they may
// share memory of a launch's own (workspace, counters); between strands a launch waits for what it reads, and
// for whoever reads or writes what it writes over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::plan {

struct Plan;

struct LaunchOrder {
  static constexpr std::size_t kMostStrands = 4;
  std::vector<std::uint8_t> strands;  // of each launch
  std::size_t strand_count = 1;
  std::vector<std::uint32_t> after;  // the lists of all launches, one after the other ...
  std::vector<std::uint32_t> ends;   // ... and where each ends

  /// Launches that must have ended before launch `i` begins, without those that others of them wait for.
  std::span<const std::uint32_t> after_of(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(after).subspan(begin, ends[i] - begin);
  }
};

/// `most_strands`: up to kMostStrands. Takes time and memory linear in the uses of values.
LaunchOrder launch_order(const Plan& plan, std::size_t most_strands);

/// Launches of the longest chain of which each waits for the one before.
std::size_t longest_chain(const LaunchOrder& order);

}  // namespace sinter::plan
