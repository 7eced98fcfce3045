// Sums of values that an index sends to few rows, on the host.
#pragma once

#include <memory>

#include "jit/library/indexed_sum.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_indexed_sum(const library::IndexedSumOp& op);

}  // namespace sinter::runtime::host
