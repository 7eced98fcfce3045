// Counts of whole numbers on the host.
#pragma once

#include <memory>

#include "jit/library/counting.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_counting(const library::CountingOp& op);

}  // namespace sinter::runtime::host
