// The fully connected layer.
#include <cmath>
#include <string>

#include <sinter/nn/linear.h>

#include "src/nn/init.h"

namespace sinter::nn {

AnyTensor detail::linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor* bias, Location where) {
  require_given("linear", weight, where);
  std::int64_t d_out = weight.shape()[0], d_in = weight.shape()[1];
  if (x.shape().back() != d_in)
    throw ShapeError("[linear] the last dimension of the input " + to_string(x.shape()) +
                         " is not d_in of the weight " + to_string(weight.shape()),
                     where);
  // One matrix product for all leading dimensions together.
  bool flat = x.rank() == 2;
  Shape leading = x.shape();
  leading[leading.rank() - 1] = 1;  // not numel() / d_in: d_in may be 0
  AnyTensor rows = flat ? x : x.reshape({leading.numel(), d_in}, where);
  AnyTensor y = rows.matmul(weight.transpose(0, 1, where), where);
  if (bias) y = biased(y, *bias, where);
  if (flat) return y;
  Shape shape = x.shape();
  shape[shape.rank() - 1] = d_out;
  return y.reshape(shape, where);
}

AnyTensor detail::dequantized_for(const AnyTensor& x, const QuantizedTensor& weight, Location where) {
  return sinter::dequantize(weight, is_float(x.dtype()) ? std::optional(x.dtype()) : std::nullopt, where);
}

Linear LinearConfig::init(const Device& device, Location where) const {
  detail::require_positive("linear", "d_in", d_in, where);
  detail::require_positive("linear", "d_out", d_out, where);
  double bound = 1 / std::sqrt(static_cast<double>(d_in));
  Linear layer;
  layer.weight = initializer.parameter<2>({d_out, d_in}, device, where);
  if (bias) layer.bias = Tensor<1>(detail::uniform_parameter({d_out}, bound, device, where));
  return layer;
}

AnyTensor detail::bilinear(const AnyTensor& a, const AnyTensor& b, const AnyTensor& weight,
                           const AnyTensor* bias, Location where) {
  require_given("bilinear", weight, where);
  const Shape& shape = weight.shape();
  Shape rest_a = a.shape(), rest_b = b.shape();
  rest_a[rest_a.rank() - 1] = rest_b[rest_b.rank() - 1] = 1;
  if (a.shape().back() != shape[1] || b.shape().back() != shape[2] || rest_a != rest_b)
    throw ShapeError("[bilinear] inputs " + to_string(a.shape()) + " and " + to_string(b.shape()) +
                         " do not fit the weight " + to_string(shape),
                     where);
  const std::int64_t rows = rest_a.numel();
  // (rows, d_a) x (d_a, d_out d_b), then the sum over d_b.
  const AnyTensor matrix = weight.permute({1, 0, 2}, where).reshape({shape[1], shape[0] * shape[2]}, where);
  const AnyTensor left = a.reshape({rows, shape[1]}, where).matmul(matrix, where);
  const AnyTensor products = AnyTensor::mul(left.reshape({rows, shape[0], shape[2]}, where),
                                            b.reshape({rows, 1, shape[2]}, where), where);
  AnyTensor y = products.sum(2, where).squeeze(2, where);
  if (bias) y = biased(y, *bias, where);
  Shape out = a.shape();
  out[out.rank() - 1] = shape[0];
  return y.reshape(out, where);
}

Bilinear BilinearConfig::init(const Device& device, Location where) const {
  detail::require_positive("bilinear", "d_a", d_a, where);
  detail::require_positive("bilinear", "d_b", d_b, where);
  detail::require_positive("bilinear", "d_out", d_out, where);
  double bound = 1 / std::sqrt(static_cast<double>(d_a));
  Bilinear layer;
  layer.weight = Tensor<3>(detail::uniform_parameter({d_out, d_a, d_b}, bound, device, where));
  if (bias) layer.bias = Tensor<1>(detail::uniform_parameter({d_out}, bound, device, where));
  return layer;
}

}  // namespace sinter::nn
