// The variance as the functions and layers that need one compute it.
#pragma once

#include <sinter/any_tensor.h>

namespace sinter::tensor {

/// scale * the sum over `axes` of centred^2, where `centred` is x - mean(x) over them.
///
/// Its gradient is 2 scale centred, which goes to x at once: the deviations sum to 0, so that nothing of it
/// comes through the mean. Made of the operations alone it would go through the mean as well, which takes a
/// sum over the whole of x that is 0 but for rounding.
AnyTensor scaled_variance(const AnyTensor& x, const AnyTensor& centred, const Axes& axes, double scale,
                          const Location& where);

}  // namespace sinter::tensor
