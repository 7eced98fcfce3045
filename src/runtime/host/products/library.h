// The host's library ops: matrix products and convolutions, by oneDNN where it is available, else by our own
// kernels; and what others add.
#pragma once

#include <memory>

#include "src/runtime/host/program.h"
#include "src/runtime/library_table.h"

namespace sinter::runtime::host {

/// True iff f32 convolutions are faster on channels-last images.
bool prefers_channels_last();

/// Kind to a program for its sizes.
LibraryTable<std::shared_ptr<HostExecutable>(const library::LibraryOp&)>& library_table();

}  // namespace sinter::runtime::host
