// Matrix products and convolutions through oneDNN.
#pragma once

#include <memory>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

/// Null where oneDNN has no implementation (f64, empty tensors).
std::shared_ptr<HostExecutable> make_onednn_program(const library::MatMulOp& op);
std::shared_ptr<HostExecutable> make_onednn_program(const library::Conv2dOp& op);

}  // namespace sinter::runtime::host
