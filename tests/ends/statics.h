// Objects of static storage duration in two translation units.
#pragma once

#include <optional>

#include <sinter/sinter.h>

namespace ends {

struct Layer {
  sinter::nn::Linear linear;
  sinter::Tensor<1> scale;
};

/// A tensor that is computed when it is destroyed.
class Late {
 public:
  explicit Late(double factor) : factor_(factor) {}
  ~Late();
  sinter::Tensor<1> tensor;

 private:
  double factor_;
};

/// What a program may keep for as long as it lives.
struct Kept {
  sinter::Tensor<2> computed, pending, recipe;
  std::optional<sinter::Device> device;
  std::optional<Layer> model;
  sinter::optim::Adam adam = sinter::optim::AdamConfig{}.init();
  sinter::optim::Sgd sgd = sinter::optim::SgdConfig{.momentum = 0.9}.init();
  sinter::Gradients gradients;
  Late late{3};
};

/// Trains a step, and leaves something pending and something that is computed when it is asked for.
void use(Kept& kept);

extern Kept before_use;  // constructed when nothing of the library has run
extern sinter::Tensor<1> made_by_initialiser;
Kept& after_use();  // constructed by the first call

}  // namespace ends
