// Learning rates as functions of the step.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <sinter/error.h>
#include <sinter/optim/schedule.h>

#include "src/base/number_text.h"
#include "src/optim/state.h"

namespace sinter::optim {
namespace {

constexpr const char* kName = "schedule";

void require_rate(const char* name, double rate) {
  require_within(kName, name, rate, 0, std::numeric_limits<double>::infinity());
}

void require_steps(const char* name, std::int64_t steps) {
  if (steps < 1)
    throw Error("[schedule] " + std::string(name) + " is " + std::to_string(steps) + ", expected 1 or more");
}

double part_of(std::int64_t step, double steps) {
  return std::clamp(static_cast<double>(step) / steps, 0.0, 1.0);
}

double cosine_between(double first, double last, double part) {
  return last + (first - last) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

}  // namespace

namespace schedule {

Schedule constant(double rate) {
  require_rate("the rate", rate);
  return [=](std::int64_t) { return rate; };
}

Schedule linear(double first, double last, std::int64_t steps) {
  require_rate("the first rate", first);
  require_rate("the last rate", last);
  require_steps("the number of steps", steps);
  return [=](std::int64_t step) {
    const double part = part_of(step, static_cast<double>(steps));
    return first * (1 - part) + last * part;
  };
}

Schedule cosine(double first, double last, std::int64_t steps) {
  require_rate("the first rate", first);
  require_rate("the last rate", last);
  require_steps("the number of steps", steps);
  return [=](std::int64_t step) {
    return cosine_between(first, last, part_of(step, static_cast<double>(steps)));
  };
}

Schedule warm_restarts(double first, double last, std::int64_t steps, std::int64_t growth) {
  require_rate("the first rate", first);
  require_rate("the last rate", last);
  require_steps("the number of steps", steps);
  require_steps("the growth", growth);
  return [=](std::int64_t step) {
    std::int64_t at = std::max<std::int64_t>(step, 0), length = steps;
    if (growth == 1) at %= length;
    // The cycles grow by a power: there are few.
    while (growth > 1 && at >= length) {
      at -= length;
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      length = length > kMost / growth ? kMost : length * growth;
    }
    return cosine_between(first, last, static_cast<double>(at) / static_cast<double>(length));
  };
}

Schedule exponential(double first, double gamma) {
  require_rate("the first rate", first);
  require_rate("gamma", gamma);
  return [=](std::int64_t step) { return first * std::pow(gamma, static_cast<double>(step)); };
}

Schedule steps(double first, double gamma, std::int64_t every) {
  require_rate("the first rate", first);
  require_rate("gamma", gamma);
  require_steps("the number of steps", every);
  return [=](std::int64_t step) { return first * std::pow(gamma, static_cast<double>(step / every)); };
}

Schedule milestones(double first, double gamma, std::vector<std::int64_t> steps) {
  require_rate("the first rate", first);
  require_rate("gamma", gamma);
  return [=](std::int64_t step) {
    const auto reached =
        std::count_if(steps.begin(), steps.end(), [&](std::int64_t milestone) { return milestone <= step; });
    return first * std::pow(gamma, static_cast<double>(reached));
  };
}

Schedule noam(double factor, std::int64_t d_model, std::int64_t warmup) {
  require_rate("the factor", factor);
  require_steps("d_model", d_model);
  require_steps("the warm-up", warmup);
  return [=](std::int64_t step) {
    const double n = static_cast<double>(step + 1);
    return factor / std::sqrt(static_cast<double>(d_model)) *
           std::min(1 / std::sqrt(n), n * std::pow(static_cast<double>(warmup), -1.5));
  };
}

Schedule one_cycle(double greatest, std::int64_t steps, OneCycle options) {
  require_rate("the greatest rate", greatest);
  require_steps("the number of steps", steps);
  require_within(kName, "the rising part", options.rising, 0, 1);
  if (!(options.divide_first > 0 && options.divide_last > 0))
    throw Error("[schedule] a cycle's rates are divided by " + text_of(options.divide_first) + " and " +
                text_of(options.divide_last) + ", expected positive numbers");
  const double first = greatest / options.divide_first, last = first / options.divide_last;
  const double top = options.rising * static_cast<double>(steps) - 1, end = static_cast<double>(steps) - 1;
  return [=](std::int64_t step) {
    const double at = std::clamp(static_cast<double>(step), 0.0, end);
    if (at <= top) return cosine_between(first, greatest, top > 0 ? at / top : 1);
    return cosine_between(greatest, last, end > top ? (at - top) / (end - top) : 1);
  };
}

Schedule sequential(std::vector<std::pair<std::int64_t, Schedule>> parts) {
  if (parts.empty()) throw Error("[schedule] a sequence has at least one part");
  for (const auto& [steps, part] : parts) {
    require_steps("the number of steps of a part", steps);
    if (!part) throw Error("[schedule] a part of a sequence is empty");
  }
  return [parts = std::move(parts)](std::int64_t step) {
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (step < parts[i].first) return parts[i].second(step);
      step -= parts[i].first;
    }
    return parts.back().second(step);
  };
}

Schedule product(std::vector<Schedule> factors) {
  for (const Schedule& factor : factors)
    if (!factor) throw Error("[schedule] a factor is empty");
  return [factors = std::move(factors)](std::int64_t step) {
    double rate = 1;
    for (const Schedule& factor : factors) rate *= factor(step);
    return rate;
  };
}

}  // namespace schedule

double ReduceOnPlateau::next(double metric) {
  if (std::isnan(metric)) throw Error("[schedule] the metric is no number");
  require_within(kName, "the factor of a reduction", factor, 0, 1);
  const bool better =
      seen == 0 || (greater_is_better ? metric > best * (1 + threshold) : metric < best * (1 - threshold));
  ++seen;
  if (better) best = metric;
  bad = better ? 0 : bad + 1;
  if (cooling > 0) {
    --cooling;
    bad = 0;
  }
  if (bad > patience) {
    rate = std::max(rate * factor, least);
    cooling = cooldown;
    bad = 0;
  }
  return rate;
}

}  // namespace sinter::optim
