// expect: an optimizer cannot step a module that is const or has const tensors
#include <utility>

#include <sinter/nn/linear.h>
#include <sinter/optim.h>

struct Model {
#ifndef SINTER_CONTROL
  const
#endif
      sinter::nn::Linear layer;
};

void step(Model& model, sinter::Gradients gradients) {
  auto sgd = sinter::optim::SgdConfig{}.init();
  sgd.step(0.1, model, std::move(gradients));
}
