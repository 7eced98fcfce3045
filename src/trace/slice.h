// Parts of a trace: the ops that some values come of, as a trace of their own.
#pragma once

#include <vector>

#include "src/trace/draft.h"

namespace sinter::trace {

class Recorder;

/// For each op of the trace whether `wanted` values come of it; by numbers of values. A value that is in
/// memory by now comes of nothing.
std::vector<bool> ops_behind(const Flushed& from, const std::vector<bool>& wanted);

inline constexpr ValueId kNotCopied = 0xffffffff;

struct Slice {
  Draft draft;
  std::vector<ValueId> number_of;  // by number in the trace it was cut from: its number here, or kNotCopied
};

/// Copies ops with all that they need, in their order: the copy has the fingerprint that a program of these
/// ops alone would have. `owner`: results that are still to be computed are pending there from now on, with
/// their numbers in the copy; null: they stay what they are.
Slice copy_ops(const Flushed& from, const std::vector<bool>& ops, Recorder* owner);

}  // namespace sinter::trace
