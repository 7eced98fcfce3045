// Values that an index sends to rows, joined on the host.
#pragma once

#include <memory>

#include "jit/library/indexed_join.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_indexed_join(const library::IndexedJoinOp& op);

}  // namespace sinter::runtime::host
