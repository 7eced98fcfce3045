// Initial values of parameters.
#pragma once

#include <sinter/any_tensor.h>

namespace sinter::nn::detail {

/// Uniform in [-bound, bound); requires a gradient where the device has autodiff.
AnyTensor uniform_parameter(const Shape& shape, double bound, const Device& device, Location where);

/// Throws ShapeError "[layer] name is value, expected 1 or more" unless value is positive.
void require_positive(const char* layer, const char* name, std::int64_t value, const Location& where);

}  // namespace sinter::nn::detail
