// Adam, AdamW, AdaMax and RAdam, composed of plain operations, which the planner fuses into a few launches
// for all parameters together.
#include <cmath>

#include <sinter/optim/adam.h>

#include "src/optim/rule.h"

namespace sinter::optim {
namespace {

class AdamRule : public PlainRule {
 public:
  AdamRule(const AdamConfig& config, bool decoupled) : config_(config), decoupled_(decoupled) {
    require_within(name(), "beta1", config.beta1, 0, 1);
    require_within(name(), "beta2", config.beta2, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adam"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const AnyTensor x = decoupled_ ? decayed_parameter(u, config_.weight_decay) : u.parameter();
    const AnyTensor gradient = decoupled_ ? u.gradient() : decayed_gradient(u, config_.weight_decay);
    AnyTensor first = o.mul(gradient, 1 - config_.beta1);
    AnyTensor second = o.mul(gradient.square(u.where()), 1 - config_.beta2);
    if (u.has("exp_avg")) {
      first = o.add(o.mul(u.state("exp_avg"), config_.beta1), first);
      second = o.add(o.mul(u.state("exp_avg_sq"), config_.beta2), second);
    }
    u.set("exp_avg", first);
    u.set("exp_avg_sq", second);
    if (config_.amsgrad) {
      if (u.has("max_exp_avg_sq")) second = o.max(u.state("max_exp_avg_sq"), second);
      u.set("max_exp_avg_sq", second);
    }

    const StepNumber step_size =
        u.of_step([&](auto t) { return u.learning_rate() / one_minus_power(config_.beta1, t); });
    const StepNumber second_scale =
        u.of_step([&](auto t) { return 1 / square_root(one_minus_power(config_.beta2, t)); });
    const AnyTensor denominator = o.add(o.mul(second.sqrt(u.where()), second_scale), config_.epsilon);
    return o.sub(x, o.div(o.mul(first, step_size), denominator));
  }

 private:
  AdamConfig config_;
  bool decoupled_;
};

class AdaMaxRule : public PlainRule {
 public:
  explicit AdaMaxRule(const AdaMaxConfig& config) : config_(config) {
    require_within(name(), "beta1", config.beta1, 0, 1);
    require_within(name(), "beta2", config.beta2, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adamax"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const AnyTensor gradient = decayed_gradient(u, config_.weight_decay);
    const AnyTensor first = o.mean(u.state("exp_avg"), gradient, config_.beta1);
    const AnyTensor size =
        o.max(o.mul(u.state("exp_inf"), config_.beta2), o.add(gradient.abs(u.where()), config_.epsilon));
    u.set("exp_avg", first);
    u.set("exp_inf", size);
    const StepNumber scale =
        u.of_step([&](auto t) { return u.learning_rate() / one_minus_power(config_.beta1, t); });
    return o.sub(u.parameter(), o.div(o.mul(first, scale), size));
  }

 private:
  AdaMaxConfig config_;
};

// What is known of Adam's variance at a step: how far it can be trusted, and where it cannot, nothing.
double rectification(double beta2, double t) {
  const double whole = 2 / (1 - beta2) - 1;
  const double r = whole - 2 * t * std::pow(beta2, t) / (1 - std::pow(beta2, t));
  if (r <= 5) return 0;
  return std::sqrt((r - 4) * (r - 2) * whole / ((whole - 4) * (whole - 2) * r) * (1 - std::pow(beta2, t)));
}
AnyTensor rectification(double beta2, const AnyTensor& t) {
  const double whole = 2 / (1 - beta2) - 1;
  const AnyTensor left = one_minus_power(beta2, t);  // 1 - beta2^t
  const AnyTensor r = whole - t * 2.0 * (1.0 - left) / left;
  const AnyTensor square = (r - 4.0) * (r - 2.0) * left * (whole / ((whole - 4) * (whole - 2))) / r;
  const AnyTensor is_known = r > 5.0;
  return AnyTensor::where(is_known, AnyTensor::where(is_known, square, 1.0).sqrt(), 0.0);
}
double where_zero(double x) { return x == 0 ? 1 : 0; }
AnyTensor where_zero(const AnyTensor& x) { return AnyTensor::where(AnyTensor::equal(x, 0.0), 1.0, x * 0.0); }

class RAdamRule : public PlainRule {
 public:
  explicit RAdamRule(const RAdamConfig& config) : config_(config) {
    require_within(name(), "beta1", config.beta1, 0, 1);
    require_within(name(), "beta2", config.beta2, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "radam"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const bool apart = config_.decoupled_weight_decay;
    const AnyTensor x = apart ? decayed_parameter(u, config_.weight_decay) : u.parameter();
    const AnyTensor gradient = apart ? u.gradient() : decayed_gradient(u, config_.weight_decay);
    const AnyTensor first = o.mean(u.state("exp_avg"), gradient, config_.beta1);
    const AnyTensor second = o.mean(u.state("exp_avg_sq"), gradient.square(u.where()), config_.beta2);
    u.set("exp_avg", first);
    u.set("exp_avg_sq", second);

    // Both kinds of steps are one expression, so that all steps record the same trace.
    const StepNumber step_size =
        u.of_step([&](auto t) { return u.learning_rate() / one_minus_power(config_.beta1, t); });
    const StepNumber adaptive = u.of_step([&](auto t) { return rectification(config_.beta2, t); });
    const StepNumber plain = u.of_step([&](auto t) { return where_zero(rectification(config_.beta2, t)); });
    const AnyTensor root = o.add(second.sqrt(u.where()), config_.epsilon);
    // With an epsilon of 0, a gradient that was always 0 gives NaN, as in Adam.
    const AnyTensor along = o.add(o.div(o.mul(first, adaptive), root), o.mul(first, plain));
    return o.sub(x, o.mul(along, step_size));
  }

 private:
  RAdamConfig config_;
};

}  // namespace

Optimizer RAdamConfig::init() const { return make_optimizer<RAdamRule>(*this); }

Optimizer AdamConfig::init() const { return Optimizer(AdamRule(*this, false), options); }

Optimizer AdamWConfig::init() const {
  const AdamConfig config{beta1, beta2, epsilon, weight_decay, amsgrad, {}};
  return Optimizer(AdamRule(config, true), options);
}

Optimizer AdaMaxConfig::init() const { return make_optimizer<AdaMaxRule>(*this); }

}  // namespace sinter::optim
