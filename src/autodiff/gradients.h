// The gradients of a backward pass, from within the library.
#pragma once

#include <sinter/any_tensor.h>

namespace sinter::autodiff {

/// Where the gradient of `leaf` stands, until `gradients` changes; null where there is none. Throws
/// AutodiffError for a tensor that is no leaf but a result.
AnyTensor* find_gradient(Gradients& gradients, const AnyTensor& leaf);

}  // namespace sinter::autodiff
