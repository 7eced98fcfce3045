// Fourier transforms on the host.
#pragma once

#include <memory>

#include "jit/library/fourier.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_fourier(const library::FourierOp& op);

}  // namespace sinter::runtime::host
