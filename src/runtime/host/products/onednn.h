// Matrix products and convolutions through oneDNN.
#pragma once

#include <memory>

#include "jit/ir/library_op.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

/// Null where oneDNN has no implementation (f64, empty tensors).
std::shared_ptr<HostExecutable> make_onednn_program(const ir::LibraryOp& op);

}  // namespace sinter::runtime::host
