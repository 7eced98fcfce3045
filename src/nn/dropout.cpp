// Dropout. Random numbers are counter-based: the backward pass generates the same ones again instead of
// storing a mask.
#include <string>

#include <sinter/nn/dropout.h>

namespace sinter::nn {

AnyTensor detail::dropout(const AnyTensor& x, double probability, Location where) {
  if (!(probability >= 0 && probability <= 1))
    throw Error("[dropout] the probability is " + std::to_string(probability) + ", expected 0 to 1", where);
  if (!x.device().is_autodiff() || probability == 0) return x;
  if (probability == 1) return AnyTensor::mul(x, 0.0, where);
  AnyTensor random = AnyTensor::uniform(x.shape(), 0.0, 1.0, x.device().inner(), where);
  AnyTensor scaled = AnyTensor::mul(x, 1 / (1 - probability), where);
  return AnyTensor::where(AnyTensor::less(random, probability, where), 0.0, scaled, where);
}

}  // namespace sinter::nn
