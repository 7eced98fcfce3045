#include "src/tensor/composed/variance.h"

#include <sinter/autodiff.h>

namespace sinter::tensor {

AnyTensor scaled_variance(const AnyTensor& x, const AnyTensor& centred, const Axes& axes, double scale,
                          const Location& where) {
  using A = AnyTensor;
  const auto value = [&] { return A::mul(centred.square(where).sum(axes, where), scale, where); };
  if (!x.requires_grad()) return value();
  detail::FunctionParts parts{"var", where, {}, {}};
  parts.forward = [&](Saved& saved) {
    saved.keep(centred);
    return detail::Tensors{value()};
  };
  parts.backward = [scale, where](const Saved& saved, const detail::Tensors& gradients) {
    return detail::Tensors{A::mul(A::mul(gradients[0], 2 * scale, where), saved[0], where)};
  };
  return detail::call(std::move(parts), {x})[0];
}

}  // namespace sinter::tensor
