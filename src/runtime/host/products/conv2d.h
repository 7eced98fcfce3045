// The host's own convolution and its gradients, as matrix products over unfolded images.
#pragma once

#include <array>
#include <memory>

#include "jit/library/conv2d.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host {

std::shared_ptr<ProductProgram> make_conv2d(const library::Conv2dOp& op);

/// What a program that convolves f32 alone needs to compute `op`.
std::array<Conversion, 3> conversions_of(const library::Conv2dOp& op);

// ---- unfolding (conv2d_unfold.cpp), for one group of one image

/// Rows (channel, r, s), columns output positions [begin, end): to[row * stride + p - begin] = the element of
/// x that the window at output position p has at (r, s), or 0 in the padding. `x` has op.c_in / op.groups
/// channels.
template <class T>
void unfold_input(const library::Conv2dOp& op, const T* x, std::int64_t begin, std::int64_t end, T* to,
                  std::int64_t stride);

/// Rows (output channel, r, s), columns input positions [begin, end): the element of the gradient of y whose
/// window has input position p at (r, s), or 0. `y` has op.c_out / op.groups channels.
template <class T>
void unfold_gradient(const library::Conv2dOp& op, const T* y, std::int64_t begin, std::int64_t end, T* to,
                     std::int64_t stride);

}  // namespace sinter::runtime::host
