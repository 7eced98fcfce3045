// The objects of the other translation unit: one is filled before main.
#include <cmath>

#include "tests/ends/check.h"
#include "tests/ends/statics.h"

namespace ends {

Late::~Late() {
  if (!tensor.defined()) return;
  // Records, plans and compiles anew: this chain was not run before.
  auto y = tensor * factor_ + 1.0;
  require(std::abs(y.sum().item() - (factor_ * 6 + 3)) < 1e-4,
          "a static object computes when it is destroyed");
}

Kept before_use;
sinter::Tensor<1> made_by_initialiser = sinter::Tensor<1>::from_data({1, 2, 3}, sinter::Device::host()) * 2.0;

void use(Kept& kept) {
  using namespace sinter;
  const Device device = Device::host().autodiff();
  kept.device = device;
  kept.model.emplace(Layer{nn::LinearConfig{.d_in = 4, .d_out = 3}.init(device),
                           Tensor<1>::ones({3}, device).require_grad()});
  const auto x = Tensor<2>::ones({2, 4}, device);
  for (int i = 0; i < 2; ++i) {
    auto loss = (kept.model->linear.forward(x) * kept.model->scale.unsqueeze(0)).square().mean();
    Gradients gradients = loss.backward();
    if (i == 0)
      kept.adam.step(1e-3, *kept.model, std::move(gradients));
    else
      kept.sgd.step(1e-3, *kept.model, std::move(gradients));
  }
  kept.gradients = kept.model->linear.forward(x).sum().backward();
  kept.computed = x.inner() * 2.0;
  kept.computed.sync();
  kept.pending = kept.computed + 1.0;
  kept.recipe = Tensor<2>::ones({256, 256}, device.inner()) * 2.0;
  device.sync();
  kept.recipe = kept.recipe * 2.0;
  (kept.recipe + 1.0).sum().sync();
  kept.late.tensor = Tensor<1>::from_data({1, 2, 3}, device.inner());
}

Kept& after_use() {
  static Kept kept;
  return kept;
}

}  // namespace ends
