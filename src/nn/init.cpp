// Initial values of parameters.
#include "src/nn/init.h"

#include <string>

namespace sinter::nn::detail {

AnyTensor uniform_parameter(const Shape& shape, double bound, const Device& device, Location where) {
  AnyTensor values = AnyTensor::uniform(shape, -bound, bound, device, where);
  return device.is_autodiff() ? values.require_grad(where) : values;
}

void require_positive(const char* layer, const char* name, std::int64_t value, const Location& where) {
  if (value <= 0)
    throw ShapeError(
        "[" + std::string(layer) + "] " + name + " is " + std::to_string(value) + ", expected 1 or more",
        where);
}

}  // namespace sinter::nn::detail
