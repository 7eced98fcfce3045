// The halves of a scatter on the host.
#pragma once

#include <memory>

#include "jit/library/segments.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_sort_indices(const library::SortIndicesOp& op);
std::shared_ptr<HostExecutable> make_segment_sum(const library::SegmentSumOp& op);

}  // namespace sinter::runtime::host
