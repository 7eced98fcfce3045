// Larger sequences, images and volumes.
#include <sinter/nn/interpolate.h>

#include "src/nn/init.h"

namespace sinter::nn {

AnyTensor detail::upsample(const AnyTensor& x, std::int64_t factor, Interpolation mode, bool align_corners,
                           Location where) {
  if (factor < 1)
    throw Error("[upsample] the factor is " + std::to_string(factor) + ", expected 1 or more", where);
  Dims to;
  for (std::size_t i = 2; i < x.rank(); ++i) to.push_back(x.shape()[i] * factor);
  return interpolate(x, to, mode, align_corners, where);
}

}  // namespace sinter::nn
