// The host's library ops: matrix products and convolutions, by oneDNN where it is at hand and by our own
// kernels.
#pragma once

#include <memory>

#include "jit/ir/library_op.h"
#include "src/runtime/backend.h"

namespace sinter::runtime::host {

/// True iff convolutions of f32 go faster over images with their channels last.
bool prefers_channels_last();

/// Prepares an op for its sizes. Throws DeviceError for what cannot be done.
ExecutableRef make_library_program(const ir::LibraryOp& op);

}  // namespace sinter::runtime::host
