// The host's library ops: matrix products and convolutions, by oneDNN where it is at hand and by our own
// kernels.
#pragma once

#include <memory>

#include "jit/ir/library_op.h"
#include "src/runtime/backend.h"

namespace sinter::runtime::host {

/// Prepares an op for its sizes. Throws DeviceError for what cannot be done.
ExecutableRef make_library_program(const ir::LibraryOp& op);

}  // namespace sinter::runtime::host
