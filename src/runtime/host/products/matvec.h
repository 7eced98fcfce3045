// Products with few rows or columns on one side, which take the time of reading the other side.
#pragma once

#include <memory>

#include "jit/library/matmul.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host {

/// Whether there are so few rows or columns, and the other side is read along one of its dims.
bool is_matvec(const library::MatMulOp& op);

std::shared_ptr<ProductProgram> make_matvec(const library::MatMulOp& op);

}  // namespace sinter::runtime::host
