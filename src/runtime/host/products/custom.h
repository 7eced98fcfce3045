// Kernels that a program brought along, on the host.
#pragma once

#include <memory>

#include "jit/library/custom.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_custom(const library::CustomOp& op);

}  // namespace sinter::runtime::host
