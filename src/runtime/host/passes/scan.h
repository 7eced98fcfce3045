// Scans on the host.
#pragma once

#include <memory>

#include "jit/library/scan.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_scan(const library::ScanOp& op);

}  // namespace sinter::runtime::host
