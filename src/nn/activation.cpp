// Activations with parameters.
#include <sinter/nn/activation.h>

#include "src/nn/init.h"

namespace sinter::nn {

Prelu PreluConfig::init(const Device& device, Location where) const {
  detail::require_positive("prelu", "channels", channels, where);
  return {.weight = Tensor<1>(detail::constant_parameter({channels}, slope, device, where))};
}

SwiGlu SwiGluConfig::init(const Device& device, Location where) const {
  const LinearConfig linear{.d_in = d_in, .d_out = d_out, .bias = bias};
  return {.gate = linear.init(device, where), .value = linear.init(device, where)};
}

}  // namespace sinter::nn
