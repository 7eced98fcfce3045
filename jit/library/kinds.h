// The table of kinds: those that have a row in the op table, and those that are registered while the program
// runs.
#pragma once

#include "jit/library/library_op.h"
#include "src/trace/trace.h"

namespace sinter::library {

/// Makes a kind known that has no row in the op table; `kind` lives until the process ends. Throws Error
/// where its name is taken. From any thread.
void add_kind(Kind& kind);

/// The kind of a recorded library op, `ints` as recorded.
const Kind& kind_of(Op op, std::span<const std::int64_t> ints);

/// `ints` without the number of an Extension's kind.
std::span<const std::int64_t> attributes_of(Op op, std::span<const std::int64_t> ints);

/// The name of any op of a trace: that of the op table, or that of an Extension's kind.
std::string_view name_of(const trace::Trace& trace, const trace::OpRecord& record);

}  // namespace sinter::library
