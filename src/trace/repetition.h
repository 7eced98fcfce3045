// Repetition in a stream of symbols: after how many of them it comes again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sinter::trace {

/// A hash of what one op is, in every round of a loop the same.
using Symbol = std::uint32_t;

/// How many of the last symbols equal those `lag` before them; counts to `most`.
std::size_t matched(std::span<const Symbol> stream, std::size_t lag, std::size_t most);

/// What counts as a round.
struct RoundSizes {
  std::size_t evidence;  // symbols that have to be seen twice, or be part of rounds that come again
  std::size_t step;      // a round of so many is not taken together with the loop around it
  std::size_t longest;
};

/// The length of the round that the stream is repeating at its end; 0 where it does not. Of nested loops: the
/// innermost whose round has `step` symbols, else the outermost. Linear in the stream's length.
std::size_t find_round(std::span<const Symbol> stream, const RoundSizes& sizes);

}  // namespace sinter::trace
