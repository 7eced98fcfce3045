// Convolutions by the unit of tiles, as products of panels of windows.
#pragma once

#include <functional>
#include <memory>

#include "jit/library/conv2d.h"
#include "src/runtime/host/products/amx/unit.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host::amx {

/// Makes the program for the same convolution of numbers that tiles do not take: in images also those that
/// are too small, if all of them are.
using MakeConv2dOtherwise = std::function<std::shared_ptr<ProductProgram>(const library::Conv2dOp&)>;

/// A program for convolutions of f32, and their gradients, of images with their channels last, that is
/// expected to be faster so; else null. Gradients by the weight may be of images of bf16.
std::shared_ptr<ProductProgram> make_conv2d(const library::Conv2dOp& op,
                                            const MakeConv2dOtherwise& otherwise);
/// Whether it is faster or not; null where it cannot be computed so.
std::shared_ptr<ProductProgram> make_conv2d_by(Unit unit, const library::Conv2dOp& op,
                                               const MakeConv2dOtherwise& otherwise);

}  // namespace sinter::runtime::host::amx
