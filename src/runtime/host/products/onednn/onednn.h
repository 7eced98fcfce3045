// Matrix products and convolutions through oneDNN.
#pragma once

#include <memory>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host {

/// Null where oneDNN has no implementation (f64, empty tensors), or none by instructions of the processor
/// (16-bit floats).
std::shared_ptr<ProductProgram> make_onednn_program(const library::MatMulOp& op);
std::shared_ptr<ProductProgram> make_onednn_program(const library::Conv2dOp& op);

}  // namespace sinter::runtime::host
