// The end of a draft.
#include "src/trace/draft.h"

namespace sinter::trace {

void Draft::clear() {
  unpin_values();
  flushed_.trace.ops.clear();
  flushed_.trace.values.clear();
  flushed_.trace.ints.clear();
  flushed_.trace.scalars.clear();
  flushed_.trace.buffer_count = 0;
  flushed_.trace.asks_for_ends = true;
  flushed_.buffers.clear();
  flushed_.started = flushed_.has_failed_inputs = false;
  flushed_.unstored = {};
  externals_.clear();
  buffers_.clear();
  fingerprint_.reset();
}

}  // namespace sinter::trace
