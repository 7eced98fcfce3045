// What would have to be in memory if a trace ended at some place of a round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/trace/draft.h"

namespace sinter::trace {

/// For each place in the trace's last `round` ops: the bytes of the values that are computed before it and
/// read or owned after it, of this round and the next. [k] is behind k ops of the round, [0] the same as
/// [round]. What one round computes and no round replaces, such as weights that are only read, counts
/// nowhere.
std::vector<std::uint64_t> bytes_carried(const Flushed& flushed, std::size_t round);

}  // namespace sinter::trace
