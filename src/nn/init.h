// Initial values of parameters.
#pragma once

#include <sinter/any_tensor.h>
#include <sinter/nn/init.h>

namespace sinter::nn::detail {

/// Requires a gradient where the device has autodiff.
AnyTensor uniform_parameter(const Shape& shape, double bound, const Device& device, Location where);
AnyTensor constant_parameter(const Shape& shape, double value, const Device& device, Location where);

/// y + bias. Inside of an Autocast scope the product y has 16 bits, and stays so.
AnyTensor biased(const AnyTensor& y, const AnyTensor& bias, const Location& where);

/// Throws ShapeError "[layer] name is value, expected 1 or more" unless value is positive.
void require_positive(const char* layer, const char* name, std::int64_t value, const Location& where);

/// Throws Error that names the layer where its weight was never given a value: it was declared, and not made
/// by a config's init(device).
void require_given(const char* layer, const AnyTensor& weight, const Location& where);

}  // namespace sinter::nn::detail
