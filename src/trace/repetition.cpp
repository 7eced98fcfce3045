// Rounds by the Z function of the stream read backwards.
#include "src/trace/repetition.h"

#include <algorithm>
#include <vector>

namespace sinter::trace {
namespace {

/// For each lag: how many of the last symbols equal those so far before them. [0] is not used.
std::vector<std::uint32_t> matches_by_lag(std::span<const Symbol> stream) {
  const std::size_t size = stream.size();
  const Symbol* const last = stream.data() + size - 1;
  std::vector<std::uint32_t> matches(size);
  // The match that reaches furthest back: the symbols from `left` to `right` before the end, lag `left`.
  std::size_t left = 0, right = 0;
  for (std::size_t lag = 1; lag < size; ++lag) {
    std::size_t count = lag < right ? std::min<std::size_t>(right - lag, matches[lag - left]) : 0;
    while (lag + count < size && *(last - count) == *(last - lag - count)) ++count;
    if (lag + count > right) {
      left = lag;
      right = lag + count;
    }
    matches[lag] = static_cast<std::uint32_t>(count);
  }
  return matches;
}

}  // namespace

std::size_t matched(std::span<const Symbol> stream, std::size_t lag, std::size_t most) {
  if (lag >= stream.size()) return 0;
  most = std::min(most, stream.size() - lag);
  const Symbol* const last = stream.data() + stream.size() - 1;
  std::size_t count = 0;
  while (count < most && *(last - count) == *(last - lag - count)) ++count;
  return count;
}

std::size_t find_round(std::span<const Symbol> stream, const RoundSizes& sizes) {
  if (stream.size() < 2) return 0;
  const std::vector<std::uint32_t> matches = matches_by_lag(stream);
  std::size_t found = 0, reach = 0;
  for (std::size_t lag = 1; lag < stream.size() && lag <= sizes.longest; ++lag) {
    const std::size_t enough = lag >= sizes.evidence ? sizes.evidence : std::max(lag, sizes.evidence - lag);
    // What reaches no further than the rounds of a shorter lag is several of these rounds, or some of their
    // loop and some of an earlier run of it: not a loop around them.
    if (matches[lag] < enough || matches[lag] <= reach) continue;
    found = lag;
    reach = lag + matches[lag];
    if (lag >= sizes.step) break;
  }
  return found;
}

}  // namespace sinter::trace
