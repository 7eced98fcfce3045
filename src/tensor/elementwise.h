// Elementwise operations by their row of the op table.
#pragma once

#include "src/tensor/apply.h"

namespace sinter::tensor {

/// Records an op of one operand, or of two, which meet in one dtype and broadcast. Throws what is wrong with
/// them, as the methods that are named after ops do.
AnyTensor unary(Op op, const AnyTensor& x, const Location& where);
AnyTensor binary(Op op, Operand a, Operand b, const Location& where);

/// The operand `x` of an op whose operands have `shape`, which `broadcast` gave for it. Where that takes a
/// view, the operand refers to `view`.
Operand seen_as(const AnyTensor& x, const Shape& shape, AnyTensor& view, const Location& where);

}  // namespace sinter::tensor
