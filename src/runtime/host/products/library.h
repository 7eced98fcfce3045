// The host's library ops: matrix products and convolutions, by oneDNN where it is available, else by our own
// kernels.
#pragma once

#include <memory>

#include "jit/ir/library_op.h"
#include "src/runtime/backend.h"

namespace sinter::runtime::host {

/// True iff f32 convolutions are faster on channels-last images.
bool prefers_channels_last();

/// Prepares an op for its sizes. Throws DeviceError where no implementation exists.
ExecutableRef make_library_program(const ir::LibraryOp& op);

}  // namespace sinter::runtime::host
