// Matrix products by the unit of tiles.
#pragma once

#include <functional>
#include <memory>

#include "jit/library/matmul.h"
#include "src/runtime/host/products/amx/unit.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host::amx {

/// Makes the program for the same product of numbers that tiles do not take.
using MakeOtherwise = std::function<std::shared_ptr<ProductProgram>(const library::MatMulOp&)>;

/// A program for products of f32 and bf16 that are expected to be faster so; else null.
std::shared_ptr<ProductProgram> make_matmul(const library::MatMulOp& op, const MakeOtherwise& otherwise);
/// Whether it is faster or not; null where it cannot be computed so.
std::shared_ptr<ProductProgram> make_matmul_by(Unit unit, const library::MatMulOp& op,
                                               const MakeOtherwise& otherwise);

}  // namespace sinter::runtime::host::amx
