// Stochastic gradient descent, Lion and Muon.
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/optim/sgd.h>

#include "src/base/number_text.h"
#include "src/optim/rule.h"

namespace sinter::optim {
namespace {

using A = AnyTensor;

class SgdRule : public PlainRule {
 public:
  explicit SgdRule(const SgdConfig& config) : config_(config) {
    require_within(name(), "momentum", config.momentum, 0, kAnySize);
    require_within(name(), "dampening", config.dampening, 0, kAnySize);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
    if (config.nesterov && (config.momentum == 0 || config.dampening != 0))
      throw Error("[sgd] nesterov needs a momentum above 0 and a dampening of 0, not " +
                  text_of(config.momentum) + " and " + text_of(config.dampening));
  }
  const char* name() const final { return "sgd"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    A gradient = decayed_gradient(u, config_.weight_decay);
    if (config_.momentum != 0) {
      A next = u.unless_first(gradient, [&] {
        return o.add_scaled(o.mul(u.state("momentum_buffer"), config_.momentum), gradient,
                            1 - config_.dampening);
      });
      gradient = config_.nesterov ? o.add_scaled(gradient, next, config_.momentum) : next;
      u.set("momentum_buffer", std::move(next));
    }
    return o.add_scaled(u.parameter(), gradient, -u.learning_rate());
  }

 private:
  SgdConfig config_;
};

class LionRule : public PlainRule {
 public:
  explicit LionRule(const LionConfig& config) : config_(config) {
    require_within(name(), "beta1", config.beta1, 0, 1);
    require_within(name(), "beta2", config.beta2, 0, 1);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
  }
  const char* name() const final { return "lion"; }

  AnyTensor update(Update& u) const final {
    const Operations o{u.where()};
    const A mean = u.state("exp_avg");
    u.set("exp_avg", o.mean(mean, u.gradient(), config_.beta2));
    const A direction = o.mean(mean, u.gradient(), config_.beta1).sign(u.where());
    return o.add_scaled(decayed_parameter(u, config_.weight_decay), direction, -u.learning_rate());
  }

 private:
  LionConfig config_;
};

class MuonRule : public PlainRule {
 public:
  explicit MuonRule(const MuonConfig& config) : config_(config) {
    require_within(name(), "momentum", config.momentum, 0, 1);
    require_within(name(), "weight_decay", config.weight_decay, 0, kAnySize);
    require_within(name(), "epsilon", config.epsilon, 0, kAnySize);
    require_within(name(), "iterations", config.iterations, 1, 100);
  }
  const char* name() const final { return "muon"; }

  AnyTensor update(Update& u) const final { return update_all({&u, 1}).front(); }

  /// Matrices of one shape go through the iteration together: a model has many, and products of one alone
  /// leave a device idle.
  std::vector<AnyTensor> update_all(std::span<Update> updates) const final {
    std::vector<A> directions;
    for (Update& u : updates) directions.push_back(direction(u));
    std::vector<A> next(updates.size());
    std::vector<bool> done(updates.size());
    for (std::size_t first = 0; first < updates.size(); ++first) {
      if (done[first]) continue;
      const A& like = directions[first];
      const std::size_t most = std::max<std::int64_t>(1, kMostStacked / like.shape().numel());
      std::vector<std::size_t> members;
      for (std::size_t i = first; i < updates.size() && members.size() < most; ++i)
        if (!done[i] && directions[i].shape() == like.shape() && directions[i].dtype() == like.dtype() &&
            directions[i].device() == like.device())
          members.push_back(i);
      std::vector<A> matrices;
      for (const std::size_t i : members) matrices.push_back(std::move(directions[i]));
      const Location& where = updates[first].where();
      const A stacked = newton_schulz(A::stack(matrices, 0, where), where);
      for (std::size_t k = 0; k < members.size(); ++k) {
        done[members[k]] = true;
        next[members[k]] =
            stepped(updates[members[k]], stacked.narrow(0, static_cast<std::int64_t>(k), 1, where));
      }
    }
    return next;
  }

 private:
  /// As many elements take part in one iteration: it needs memory for a few times as many.
  static constexpr std::int64_t kMostStacked = std::int64_t{16} << 20;

  /// What the iteration makes orthogonal, as a matrix.
  A direction(Update& u) const {
    const Operations o{u.where()};
    const Shape& shape = u.parameter().shape();
    if (shape.rank() < 2 || shape.numel() == 0)
      throw ShapeError("[muon] parameter " + u.path() + " has shape " + to_string(shape) +
                           ", expected a matrix: a group with `skip` leaves it to another optimizer",
                       u.where());
    const A momentum = o.mean(u.state("momentum_buffer"), u.gradient(), config_.momentum);
    u.set("momentum_buffer", momentum);
    const A along = config_.nesterov ? o.mean(momentum, u.gradient(), config_.momentum) : momentum;
    return along.reshape({shape[0], shape.numel() / shape[0]}, u.where());
  }

  A stepped(const Update& u, const A& matrix) const {
    const Operations o{u.where()};
    const Shape& shape = u.parameter().shape();
    const double rows = static_cast<double>(shape[0]),
                 columns = static_cast<double>(shape.numel() / shape[0]);
    return o.add_scaled(decayed_parameter(u, config_.weight_decay), matrix.reshape(shape, u.where()),
                        -u.learning_rate() * std::sqrt(std::max(1.0, rows / columns)));
  }

  /// Of each matrix of a stack. The iteration works on the smaller of X X^T and X^T X.
  A newton_schulz(A x, const Location& where) const {
    constexpr double a = 3.4445, b = -4.775, c = 2.0315;
    const Operations o{where};
    const bool tall = x.shape()[1] > x.shape()[2];
    if (tall) x = x.transpose(1, 2, where);
    const A norm = x.square(where).sum({1, 2}, where).sqrt(where);
    x = o.div(x, o.max(norm, config_.epsilon));
    for (int i = 0; i < config_.iterations; ++i) {
      const A square = x.matmul(x.transpose(1, 2, where), where);
      const A factor = o.add_scaled(o.mul(square, b), square.matmul(square, where), c);
      x = o.add(o.mul(x, a), factor.matmul(x, where));
    }
    return tall ? x.transpose(1, 2, where) : x;
  }

  MuonConfig config_;
};

}  // namespace

Optimizer SgdConfig::init() const { return make_optimizer<SgdRule>(*this); }
Optimizer LionConfig::init() const { return make_optimizer<LionRule>(*this); }
Optimizer MuonConfig::init() const { return make_optimizer<MuonRule>(*this); }

}  // namespace sinter::optim
