// Adan, RMSProp, AdaGrad, AdaDelta and Adafactor.
#include <cmath>

#include <sinter/optim/adam.h>

#include "src/base/number_text.h"
#include "src/optim/rule.h"

namespace sinter::optim {
namespace {

using A = AnyTensor;

class AdanRule : public PlainRule {
 public:
  explicit AdanRule(const AdanConfig& config) : config_(config) {
    require_within(name(), "beta1", config.beta1, 0, 1);
    require_within(name(), "beta2", config.beta2, 0, 1);
    require_within(name(), "beta3", config.beta3, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adan"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const A& gradient = u.gradient();
    const A before = u.unless_first(gradient, [&] { return u.state("previous_gradient"); });
    const A difference = o.sub(gradient, before);
    const A ahead = o.add_scaled(gradient, difference, config_.beta2);
    const A first = o.mean(u.state("exp_avg"), gradient, config_.beta1);
    const A change = o.mean(u.state("exp_avg_diff"), difference, config_.beta2);
    const A second = o.mean(u.state("exp_avg_sq"), ahead.square(u.where()), config_.beta3);
    u.set("exp_avg", first);
    u.set("exp_avg_diff", change);
    u.set("exp_avg_sq", second);
    u.set("previous_gradient", gradient);

    const auto correction = [&](double beta, double factor) {
      return u.of_step([&](auto t) { return factor / one_minus_power(beta, t); });
    };
    const StepNumber second_scale =
        u.of_step([&](auto t) { return 1 / square_root(one_minus_power(config_.beta3, t)); });
    const A denominator = o.add(o.mul(second.sqrt(u.where()), second_scale), config_.epsilon);
    const A along = o.add(o.mul(first, correction(config_.beta1, 1)),
                          o.mul(change, correction(config_.beta2, config_.beta2)));
    const A next = o.sub(u.parameter(), o.mul(o.div(along, denominator), u.learning_rate()));
    const double decay = u.weight_decay(config_.weight_decay);
    return decay == 0 ? next : o.mul(next, 1 / (1 + u.learning_rate() * decay));
  }

 private:
  AdanConfig config_;
};

class RmsPropRule : public PlainRule {
 public:
  explicit RmsPropRule(const RmsPropConfig& config) : config_(config) {
    require_within(name(), "alpha", config.alpha, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "momentum", config.momentum, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "rmsprop"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const A gradient = decayed_gradient(u, config_.weight_decay);
    A square = o.mean(u.state("square_avg"), gradient.square(u.where()), config_.alpha);
    u.set("square_avg", square);
    if (config_.centered) {
      const A mean = o.mean(u.state("grad_avg"), gradient, config_.alpha);
      u.set("grad_avg", mean);
      square = o.sub(square, mean.square(u.where()));
    }
    A step = o.div(gradient, o.add(square.sqrt(u.where()), config_.epsilon));
    if (config_.momentum != 0) {
      step = o.add(o.mul(u.state("momentum_buffer"), config_.momentum), step);
      u.set("momentum_buffer", step);
    }
    return o.sub(u.parameter(), o.mul(step, u.learning_rate()));
  }

 private:
  RmsPropConfig config_;
};

class AdaGradRule : public PlainRule {
 public:
  explicit AdaGradRule(const AdaGradConfig& config) : config_(config) {
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "decay", config.decay, 0, kAnySize);
    require_within(name(), "initial", config.initial, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adagrad"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const A gradient = decayed_gradient(u, config_.weight_decay);
    const A squares = gradient.square(u.where());
    const A sum =
        u.unless_first(o.add(squares, config_.initial), [&] { return o.add(u.state("sum"), squares); });
    u.set("sum", sum);
    const StepNumber rate =
        u.of_step([&](auto t) { return u.learning_rate() / (1 + (t - 1) * config_.decay); });
    const A denominator = o.add(sum.sqrt(u.where()), config_.epsilon);
    return o.sub(u.parameter(), o.div(o.mul(gradient, rate), denominator));
  }

 private:
  AdaGradConfig config_;
};

class AdaDeltaRule : public PlainRule {
 public:
  explicit AdaDeltaRule(const AdaDeltaConfig& config) : config_(config) {
    require_within(name(), "rho", config.rho, 0, 1);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adadelta"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const A gradient = decayed_gradient(u, config_.weight_decay);
    const A square = o.mean(u.state("square_avg"), gradient.square(u.where()), config_.rho);
    const A before = u.state("acc_delta");
    const auto root = [&](const A& x) { return o.add(x, config_.epsilon).sqrt(u.where()); };
    const A step = o.mul(o.div(root(before), root(square)), gradient);
    u.set("square_avg", square);
    u.set("acc_delta", o.mean(before, step.square(u.where()), config_.rho));
    return o.sub(u.parameter(), o.mul(step, u.learning_rate()));
  }

 private:
  AdaDeltaConfig config_;
};

class AdafactorRule : public PlainRule {
 public:
  explicit AdafactorRule(const AdafactorConfig& config) : config_(config) {
    if (!(config.decay < 0))
      throw Error("[adafactor] decay is " + text_of(config.decay) + ", expected less than 0");
    require_within(name(), "epsilon1", config.epsilon1, 0, kAnySize);
    require_within(name(), "epsilon2", config.epsilon2, 0, kAnySize);
    require_within(name(), "threshold", config.threshold, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "adafactor"; }
  void check_states(const std::string& path, const ParameterState& state) const final {
    require_alike(path, state.tensors, false);  // of a matrix: means of rows, and of columns
  }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const Location& where = u.where();
    const A& gradient = u.gradient();
    const A squares = o.add(gradient.square(where), config_.epsilon1);
    const StepNumber now = u.of_step([&](auto t) { return power(t, config_.decay); });
    const StepNumber before = u.of_step([&](auto t) { return 1 - power(t, config_.decay); });
    const auto mean = [&](const A& old, const A& x) { return o.add(o.mul(old, before), o.mul(x, now)); };
    A direction;
    if (gradient.rank() >= 2) {
      Shape rows = gradient.shape(), columns = gradient.shape();
      rows[rows.rank() - 1] = 1;
      columns[columns.rank() - 2] = 1;
      const A row = mean(u.state("exp_avg_sq_row", rows), squares.mean(-1, where));
      const A column = mean(u.state("exp_avg_sq_col", columns), squares.mean(-2, where));
      u.set("exp_avg_sq_row", row);
      u.set("exp_avg_sq_col", column);
      const A row_factor = o.div(row, row.mean(-2, where)).rsqrt(where);
      direction = o.mul(o.mul(gradient, row_factor), column.rsqrt(where));
    } else {
      const A second = mean(u.state("exp_avg_sq"), squares);
      u.set("exp_avg_sq", second);
      direction = o.mul(gradient, second.rsqrt(where));
    }
    const auto rms = [&](const A& x) { return x.square(where).mean(x.all_axes(), where).sqrt(where); };
    direction = o.div(direction, o.max(o.mul(rms(direction), 1 / config_.threshold), 1));
    A step = o.mul(direction, u.learning_rate());
    A shrink;
    const double decay = u.weight_decay(config_.weight_decay) * u.learning_rate();
    if (config_.scale_by_parameter) {
      const A scale = o.max(rms(u.parameter()), config_.epsilon2);
      step = o.mul(step, scale);
      if (decay != 0) shrink = o.mul(scale, decay);
    }
    A x = u.parameter();
    if (decay != 0) x = shrink.defined() ? o.sub(x, o.mul(x, shrink)) : o.mul(x, 1 - decay);
    return o.sub(x, step);
  }

 private:
  AdafactorConfig config_;
};

}  // namespace

Optimizer AdanConfig::init() const { return make_optimizer<AdanRule>(*this); }
Optimizer RmsPropConfig::init() const { return make_optimizer<RmsPropRule>(*this); }
Optimizer AdaGradConfig::init() const { return make_optimizer<AdaGradRule>(*this); }
Optimizer AdaDeltaConfig::init() const { return make_optimizer<AdaDeltaRule>(*this); }
Optimizer AdafactorConfig::init() const { return make_optimizer<AdafactorRule>(*this); }

}  // namespace sinter::optim
