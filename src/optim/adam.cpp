// Adam and AdamW, composed of plain operations, which the planner fuses into a few launches for all
// parameters together.
#include <cmath>
#include <limits>

#include <sinter/optim/adam.h>

#include "src/optim/state.h"

namespace sinter::optim {
namespace {

constexpr const char* kName = "adam";
const std::string kFirst = ".exp_avg", kSecond = ".exp_avg_sq", kStep = ".step";

}  // namespace

Adam AdamConfig::init() const { return Adam(*this, false); }

Adam AdamWConfig::init() const { return Adam(AdamConfig{beta1, beta2, epsilon, weight_decay}, true); }

Adam::Adam(const AdamConfig& config, bool decoupled) : config_(config), decoupled_(decoupled) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  require_within(kName, "beta1", config.beta1, 0, 1);
  require_within(kName, "beta2", config.beta2, 0, 1);
  require_within(kName, "epsilon", config.epsilon, 0, kAny);
  require_within(kName, "weight_decay", config.weight_decay, 0, kAny);
}

void Adam::update(double learning_rate, Step& step, Location where) {
  require_within(kName, "the learning rate", learning_rate, 0, std::numeric_limits<double>::infinity());
  auto add = [&](const AnyTensor& a, const AnyTensor& b) { return AnyTensor::add(a, b, where); };
  auto scale = [&](const AnyTensor& a, double by) { return AnyTensor::mul(a, by, where); };
  for (Parameter& parameter : step.parameters()) {
    Moments& moments = moments_[parameter.path];
    AnyTensor& x = parameter.value;
    AnyTensor& gradient = parameter.gradient;
    if (config_.weight_decay != 0) {
      if (decoupled_)
        x = scale(x, 1 - learning_rate * config_.weight_decay);
      else
        gradient = add(gradient, scale(x, config_.weight_decay));
    }

    AnyTensor first = scale(gradient, 1 - config_.beta1);
    AnyTensor second = scale(gradient.square(where), 1 - config_.beta2);
    if (moments.step > 0) {
      require_same_shape(kName, parameter.path, moments.first.shape(), x.shape(), where);
      first = add(scale(moments.first, config_.beta1), first);
      second = add(scale(moments.second, config_.beta2), second);
    }
    step.assign(moments.first, first);
    step.assign(moments.second, second);
    step.assign(moments.step, moments.step + 1);

    // Values that change at each step are scalar arguments, so that every step records the same trace.
    double steps = static_cast<double>(moments.step + 1);
    double step_size = learning_rate / (1 - std::pow(config_.beta1, steps));
    double second_scale = 1 / std::sqrt(1 - std::pow(config_.beta2, steps));
    AnyTensor denominator = AnyTensor::add(scale(second.sqrt(where), second_scale), config_.epsilon, where);
    x = AnyTensor::sub(x, AnyTensor::div(scale(first, step_size), denominator, where), where);
  }
}

record::Record Adam::to_record() const {
  record::Record record;
  mark(record, kName);
  for (const auto& [path, moments] : moments_) {
    if (moments.step == 0) continue;  // its first step failed
    record.add(path + kFirst, moments.first);
    record.add(path + kSecond, moments.second);
    add_count(record, path + kStep, moments.step);
  }
  return record;
}

void Adam::load_record(const record::Record& record, const Device& device) {
  require_mark(record, kName);
  std::map<std::string, Moments> moments;
  for (const auto& [name, entry] : record.entries()) {
    std::string path = without_suffix(name, kStep);
    if (path.empty()) continue;
    Moments loaded{record.tensor(path + kFirst, device.inner()),
                   record.tensor(path + kSecond, device.inner()), read_count(record, name)};
    if (loaded.first.shape() != loaded.second.shape())
      throw DataError("[record] " + path + kFirst + " has shape " + to_string(loaded.first.shape()) + ", " +
                      path + kSecond + " has " + to_string(loaded.second.shape()));
    moments.emplace(path, std::move(loaded));
  }
  moments_ = std::move(moments);
}

}  // namespace sinter::optim
