// Stochastic gradient descent.
#include <limits>

#include <sinter/optim/sgd.h>

#include "src/optim/state.h"

namespace sinter::optim {
namespace {

constexpr const char* kName = "sgd";
const std::string kVelocity = ".momentum_buffer";

}  // namespace

Sgd SgdConfig::init() const { return Sgd(*this); }

Sgd::Sgd(const SgdConfig& config) : config_(config) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  require_within(kName, "momentum", config.momentum, 0, kAny);
  require_within(kName, "dampening", config.dampening, 0, kAny);
  require_within(kName, "weight_decay", config.weight_decay, 0, kAny);
  if (config.nesterov && (config.momentum == 0 || config.dampening != 0))
    throw Error("[sgd] nesterov needs a momentum above 0 and a dampening of 0, not " +
                std::to_string(config.momentum) + " and " + std::to_string(config.dampening));
}

void Sgd::update(double learning_rate, Step& step, Location where) {
  require_within(kName, "the learning rate", learning_rate, 0, std::numeric_limits<double>::infinity());
  auto add_scaled = [&](const AnyTensor& a, const AnyTensor& b, double scale) {
    return AnyTensor::add(a, AnyTensor::mul(b, scale, where), where);
  };
  for (Parameter& parameter : step.parameters()) {
    AnyTensor& x = parameter.value;
    AnyTensor& gradient = parameter.gradient;
    if (config_.weight_decay != 0) gradient = add_scaled(gradient, x, config_.weight_decay);
    if (config_.momentum != 0) {
      AnyTensor& velocity = velocities_[parameter.path];
      AnyTensor next = gradient;
      if (velocity.defined()) {
        require_same_shape(kName, parameter.path, velocity.shape(), x.shape(), where);
        next = add_scaled(AnyTensor::mul(velocity, config_.momentum, where), gradient, 1 - config_.dampening);
      }
      gradient = config_.nesterov ? add_scaled(gradient, next, config_.momentum) : next;
      step.assign(velocity, std::move(next));
    }
    x = add_scaled(x, gradient, -learning_rate);
  }
}

record::Record Sgd::to_record() const {
  record::Record record;
  mark(record, kName);
  for (const auto& [path, velocity] : velocities_)
    if (velocity.defined()) record.add(path + kVelocity, velocity);  // else its first step failed
  return record;
}

void Sgd::load_record(const record::Record& record, const Device& device) {
  require_mark(record, kName);
  std::map<std::string, AnyTensor> velocities;
  for (const auto& [name, entry] : record.entries()) {
    std::string path = without_suffix(name, kVelocity);
    if (!path.empty()) velocities.emplace(path, record.tensor(name, device.inner()));
  }
  velocities_ = std::move(velocities);
}

}  // namespace sinter::optim
