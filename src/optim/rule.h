// What the rules of this folder have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <sinter/optim/optimizer.h>

#include "src/optim/state.h"

namespace sinter::optim {

/// Operations on tensors that note the caller's place.
struct Operations {
  using A = AnyTensor;
  const Location& where;

  A add(const A& a, A::Operand b) const { return A::add(a, b, where); }
  A sub(const A& a, A::Operand b) const { return A::sub(a, b, where); }
  A mul(const A& a, A::Operand b) const { return A::mul(a, b, where); }
  A div(const A& a, A::Operand b) const { return A::div(a, b, where); }
  A max(const A& a, A::Operand b) const { return A::maximum(a, b, where); }
  /// a + b * scale
  A add_scaled(const A& a, const A& b, double scale) const { return add(a, mul(b, scale)); }
  /// The running mean: old * beta + now * (1 - beta).
  A mean(const A& old, const A& now, double beta) const { return add(mul(old, beta), mul(now, 1 - beta)); }
};

// Of a step that is known here or on the device, for Update::of_step. On the device it is an f32, in which
// 1 - beta^t would lose the digits that -expm1(t log(beta)) keeps.
inline double one_minus_power(double beta, double t) { return 1 - std::pow(beta, t); }
inline AnyTensor one_minus_power(double beta, const AnyTensor& t) {
  // A logarithm of 0 is as good as one that is far below all others.
  return -(t * std::max(std::log(beta), -1e4)).expm1();
}
inline double power(double t, double exponent) { return std::pow(t, exponent); }
inline AnyTensor power(const AnyTensor& t, double exponent) { return AnyTensor::pow(t, exponent); }
inline double square_root(double x) { return std::sqrt(x); }
inline AnyTensor square_root(const AnyTensor& x) { return x.sqrt(); }

/// The gradient with the decay of the parameter added.
inline AnyTensor decayed_gradient(const Update& u, double weight_decay) {
  const double decay = u.weight_decay(weight_decay);
  return decay == 0 ? u.gradient() : Operations{u.where()}.add_scaled(u.gradient(), u.parameter(), decay);
}

/// The parameter, shrunk by the decay: x (1 - lr decay).
inline AnyTensor decayed_parameter(const Update& u, double weight_decay) {
  const double decay = u.weight_decay(weight_decay);
  return decay == 0 ? u.parameter() : Operations{u.where()}.mul(u.parameter(), 1 - u.learning_rate() * decay);
}

/// A rule whose states have the dtype and the shape of the parameter.
class PlainRule : public Rule {
 public:
  void check_states(const std::string& path, const ParameterState& state) const override {
    require_alike(path, state.tensors, true);
  }
};

inline constexpr double kAnySize = std::numeric_limits<double>::infinity();

template <class MadeRule, class Config>
Optimizer make_optimizer(const Config& config) {
  return Optimizer(MadeRule(config), config.options);
}

}  // namespace sinter::optim
