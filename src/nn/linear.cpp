// The fully connected layer.
#include <cmath>
#include <string>

#include <sinter/nn/linear.h>

#include "src/nn/init.h"

namespace sinter::nn {

AnyTensor detail::linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor* bias, Location where) {
  std::int64_t d_out = weight.shape()[0], d_in = weight.shape()[1];
  if (x.shape().back() != d_in)
    throw ShapeError("[linear] the last dimension of the input " + to_string(x.shape()) +
                         " is not d_in of the weight " + to_string(weight.shape()),
                     where);
  // One matrix product for all leading dimensions together.
  bool flat = x.rank() == 2;
  AnyTensor rows = flat ? x : x.reshape({x.numel() / d_in, d_in}, where);
  AnyTensor y = rows.matmul(weight.transpose(0, 1, where), where);
  if (bias) y = AnyTensor::add(y, *bias, where);
  if (flat) return y;
  Shape shape = x.shape();
  shape[shape.rank() - 1] = d_out;
  return y.reshape(shape, where);
}

Linear LinearConfig::init(const Device& device, Location where) const {
  detail::require_positive("linear", "d_in", d_in, where);
  detail::require_positive("linear", "d_out", d_out, where);
  double bound = 1 / std::sqrt(static_cast<double>(d_in));
  Linear layer;
  layer.weight = Tensor<2>(detail::uniform_parameter({d_out, d_in}, bound, device, where));
  if (bias) layer.bias = Tensor<1>(detail::uniform_parameter({d_out}, bound, device, where));
  return layer;
}

}  // namespace sinter::nn
