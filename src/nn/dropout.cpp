// Dropout and noise. Random numbers are counter-based: the backward pass generates the same ones again
// instead of storing a mask.
#include <cmath>
#include <string>

#include <sinter/nn/dropout.h>

#include "src/base/number_text.h"

namespace sinter::nn {
namespace {

void require_probability(const char* layer, double probability, const Location& where) {
  if (!(probability >= 0 && probability <= 1))
    throw Error(
        "[" + std::string(layer) + "] the probability is " + text_of(probability) + ", expected 0 to 1",
        where);
}

void require_deviation(double deviation, const Location& where) {
  if (!(deviation >= 0))
    throw Error("[gaussian_noise] the deviation is " + text_of(deviation) + ", expected 0 or more", where);
}

}  // namespace

double detail::checked_probability(const char* layer, double probability, Location where) {
  require_probability(layer, probability, where);
  return probability;
}

double detail::checked_deviation(double deviation, Location where) {
  require_deviation(deviation, where);
  return deviation;
}

AnyTensor detail::dropout(const AnyTensor& x, double probability, std::size_t dims, bool training,
                          Location where) {
  require_probability("dropout", probability, where);
  if (!training || probability == 0) return x;
  if (probability == 1)
    return AnyTensor::where(AnyTensor::full(Shape(), true, DType::boolean, x.device().inner(), where), 0.0, x,
                            where);
  Shape shape = x.shape();
  for (std::size_t i = dims; i < shape.rank(); ++i) shape[i] = 1;
  AnyTensor random = AnyTensor::uniform(shape, 0.0, 1.0, x.device().inner(), where);
  AnyTensor scaled = AnyTensor::mul(x, 1 / (1 - probability), where);
  return AnyTensor::where(AnyTensor::less(random, probability, where), 0.0, scaled, where);
}

AnyTensor detail::alpha_dropout(const AnyTensor& x, double probability, bool training, Location where) {
  require_probability("alpha_dropout", probability, where);
  if (!training || probability == 0) return x;
  // SELU's limit for small x, -scale * alpha, and the affine map that restores mean and variance (section 3
  // of the paper).
  const double low = -1.0507009873554805 * 1.6732632423543772;
  const double keep = 1 - probability;
  const double a = keep == 0 ? 0 : 1 / std::sqrt(keep + low * low * keep * probability);
  const double b = -a * low * probability;
  AnyTensor random = AnyTensor::uniform(x.shape(), 0.0, 1.0, x.device().inner(), where);
  AnyTensor kept = AnyTensor::where(AnyTensor::less(random, probability, where), low, x, where);
  return AnyTensor::add(AnyTensor::mul(kept, a, where), b, where);
}

AnyTensor detail::gaussian_noise(const AnyTensor& x, double deviation, bool training, Location where) {
  require_deviation(deviation, where);
  if (!training || deviation == 0) return x;
  AnyTensor noise = AnyTensor::normal(x.shape(), 0.0, deviation, x.device().inner(), where);
  return AnyTensor::add(x, noise.cast(x.dtype(), where), where);
}

}  // namespace sinter::nn
