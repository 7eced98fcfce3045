// Adam and its relatives: steps divided by a running size of the gradients.
#pragma once

#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/optim/optimizer.h>

namespace sinter::optim {

using Adam = Optimizer;

/// For each parameter x with gradient g, at its step t, as PyTorch does:
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
///   x = x - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
/// Weight decay, if any, is added to the gradient. D. Kingma, J. Ba, "Adam: a method for stochastic
/// optimization", 2014. States: exp_avg, exp_avg_sq.
struct SINTER_API AdamConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  /// Divides by the greatest v that there was: S. Reddi et al., "On the convergence of Adam and beyond",
  /// 2018. State: max_exp_avg_sq.
  bool amsgrad = false;
  StepOptions options = {};

  /// Throws Error when a value is out of range.
  Optimizer init() const;
};

/// I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", 2017: the decay shrinks the parameters
/// themselves, x = x (1 - lr weight_decay).
struct SINTER_API AdamWConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool amsgrad = false;  // as in AdamConfig
  StepOptions options = {};

  Optimizer init() const;
};

/// The same paper's AdaMax, by the greatest gradient instead of the mean square:
///   u = max(beta2 u, |g| + epsilon),  x = x - lr / (1 - beta1^t) m / u
/// States: exp_avg, exp_inf.
struct SINTER_API AdaMaxConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  StepOptions options = {};

  Optimizer init() const;
};

/// L. Liu et al., "On the variance of the adaptive learning rate and beyond", 2019: Adam without a warm-up.
/// With
///   rho = 2 / (1 - beta2) - 1,  r = rho - 2 t beta2^t / (1 - beta2^t),
///   s = sqrt((r - 4) (r - 2) rho / ((rho - 4) (rho - 2) r)) sqrt(1 - beta2^t) / (sqrt(v) + epsilon) where r
///   > 5, else 1, x = x - lr s m / (1 - beta1^t), as PyTorch does; with weight decay, decoupled if told so.
///   States:
/// exp_avg, exp_avg_sq.
struct SINTER_API RAdamConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // shrinks the parameters themselves, as AdamW
  StepOptions options = {};

  Optimizer init() const;
};

/// X. Xie et al., "Adan: adaptive Nesterov momentum algorithm", 2022, with d the difference from the gradient
/// before (0 in the first step), as the authors' program computes it:
///   m = beta1 m + (1 - beta1) g,  n = beta2 n + (1 - beta2) d,  v = beta3 v + (1 - beta3) (g + beta2 d)^2,
///   x = (x - lr (m / (1 - beta1^t) + beta2 n / (1 - beta2^t)) / (sqrt(v / (1 - beta3^t)) + epsilon))
///       / (1 + lr weight_decay)
/// States: exp_avg, exp_avg_diff, exp_avg_sq, previous_gradient.
struct SINTER_API AdanConfig {
  double beta1 = 0.98, beta2 = 0.92, beta3 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  StepOptions options = {};

  Optimizer init() const;
};

/// v = alpha v + (1 - alpha) g^2, x = x - lr g / (sqrt(v) + epsilon); `centered` takes the square of the mean
/// gradient from v, and with momentum b = momentum b + (that quotient), x = x - lr b. T. Tieleman, G. Hinton,
/// 2012; order and place of epsilon as in PyTorch. States: square_avg, grad_avg, momentum_buffer.
struct SINTER_API RmsPropConfig {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  bool centered = false;
  StepOptions options = {};

  Optimizer init() const;
};

/// s = s + g^2, x = x - lr / (1 + (t - 1) decay) g / (sqrt(s) + epsilon). J. Duchi et al., "Adaptive
/// subgradient methods", JMLR 2011. State: sum.
struct SINTER_API AdaGradConfig {
  double epsilon = 1e-10;
  double decay = 0;    // of the learning rate
  double initial = 0;  // s before the first step
  double weight_decay = 0;
  StepOptions options = {};

  Optimizer init() const;
};

/// v = rho v + (1 - rho) g^2,  d = sqrt(u + epsilon) / sqrt(v + epsilon) g,  u = rho u + (1 - rho) d^2,  x =
/// x - lr d. M. Zeiler, "ADADELTA: an adaptive learning rate method", 2012, with a learning rate of 1.
/// States: square_avg, acc_delta.
struct SINTER_API AdaDeltaConfig {
  double rho = 0.9;
  double epsilon = 1e-6;
  double weight_decay = 0;
  StepOptions options = {};

  Optimizer init() const;
};

/// N. Shazeer, M. Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018. Of a
/// parameter
/// (.., rows, columns) the mean squares of rows and of columns are remembered instead of all squares:
///   beta = 1 - t^decay,  s = g^2 + epsilon1,  r = beta r + (1 - beta) mean over columns of s,  c = the same
///   over rows,  u = g / sqrt(r / mean(r) c),  u = u / max(1, rms(u) / threshold), x = x - lr max(epsilon2,
///   rms(x)) u
/// The factor of rms(x) is left out without `scale_by_parameter`; vectors have all squares. States:
/// exp_avg_sq_row and exp_avg_sq_col, or exp_avg_sq.
struct SINTER_API AdafactorConfig {
  double decay = -0.8;
  double epsilon1 = 1e-30, epsilon2 = 1e-3;
  double threshold = 1;
  double weight_decay = 0;  // decoupled
  bool scale_by_parameter = true;
  StepOptions options = {};

  Optimizer init() const;
};

}  // namespace sinter::optim
