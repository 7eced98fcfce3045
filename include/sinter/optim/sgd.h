// Steps along the gradient: SGD with momentum, and two that normalise the step.
#pragma once

#include <sinter/detail/api.h>
#include <sinter/optim/optimizer.h>

namespace sinter::optim {

using Sgd = Optimizer;

/// For each parameter x with gradient g, as PyTorch does: g = g + weight_decay x; the velocity v is g in the
/// first step, then momentum v + (1 - dampening) g; x = x - lr v, or with Nesterov x = x - lr (g + momentum
/// v). State, where there is momentum: momentum_buffer.
struct SINTER_API SgdConfig {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  StepOptions options = {};

  /// Throws Error when a value is out of range, or nesterov is set without momentum or with dampening.
  Optimizer init() const;
};

/// x = x (1 - lr weight_decay) - lr sign(beta1 m + (1 - beta1) g), then m = beta2 m + (1 - beta2) g. X. Chen
/// et al., "Symbolic discovery of optimization algorithms", 2023. State: exp_avg.
struct SINTER_API LionConfig {
  double beta1 = 0.9, beta2 = 0.99;
  double weight_decay = 0;
  StepOptions options = {};

  Optimizer init() const;
};

/// K. Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024. For matrices:
///   b = momentum b + (1 - momentum) g,  u = (1 - momentum) g + momentum b, or b without Nesterov,
///   x = x (1 - lr weight_decay) - lr sqrt(max(1, rows / columns)) newton_schulz(u)
/// where the last brings all singular values of u near 1 by `iterations` of X = a X + (b A + c A^2) X, A = X
/// X^T, with (a, b, c) = (3.4445, -4.775, 2.0315). A kernel of a convolution is the matrix (c_out, all
/// others). Other parameters are a ShapeError: leave them to another optimizer by a group with `skip`. State:
/// momentum_buffer.
struct SINTER_API MuonConfig {
  double momentum = 0.95;
  double weight_decay = 0.1;
  bool nesterov = true;
  int iterations = 5;
  double epsilon = 1e-7;  // the least norm that u is divided by
  StepOptions options = {};

  Optimizer init() const;
};

}  // namespace sinter::optim
