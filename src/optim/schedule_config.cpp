// Schedules that a configuration names.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

#include <sinter/optim/schedule.h>

namespace sinter::optim {
namespace {

constexpr const char* kNames[] = {"constant", "linear",     "cosine", "warm_restarts", "exponential",
                                  "steps",    "milestones", "noam",   "one_cycle"};

/// A setting that would do nothing is a mistake: the kind or the setting is another one than was meant.
void require_unset(const ScheduleConfig& config, bool is_set, const char* setting) {
  if (is_set)
    throw Error("[schedule] the kind " + std::string(kNames[static_cast<std::size_t>(config.kind)]) +
                " has no " + setting);
}

Schedule without_warmup(const ScheduleConfig& c) {
  switch (c.kind) {
    case ScheduleConfig::Kind::constant: return schedule::constant(c.rate);
    case ScheduleConfig::Kind::linear: return schedule::linear(c.rate, c.last, c.steps);
    case ScheduleConfig::Kind::cosine: return schedule::cosine(c.rate, c.last, c.steps);
    case ScheduleConfig::Kind::warm_restarts:
      return schedule::warm_restarts(c.rate, c.last, c.steps, c.growth);
    case ScheduleConfig::Kind::exponential: return schedule::exponential(c.rate, c.gamma);
    case ScheduleConfig::Kind::steps: return schedule::steps(c.rate, c.gamma, c.steps);
    case ScheduleConfig::Kind::milestones: return schedule::milestones(c.rate, c.gamma, c.milestones);
    case ScheduleConfig::Kind::noam: return schedule::noam(c.rate, c.d_model, c.warmup);
    case ScheduleConfig::Kind::one_cycle: return schedule::one_cycle(c.rate, c.steps);
  }
  throw Error("[schedule] there is no kind " + std::to_string(static_cast<int>(c.kind)));
}

}  // namespace

Schedule ScheduleConfig::init() const {
  const auto is = [&](std::initializer_list<Kind> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  const bool counts = is({Kind::linear, Kind::cosine, Kind::warm_restarts, Kind::steps, Kind::one_cycle});
  Schedule schedule = without_warmup(*this);
  require_unset(*this, !counts && steps != 0, "steps");
  require_unset(*this, last != 0 && !is({Kind::linear, Kind::cosine, Kind::warm_restarts}), "last rate");
  require_unset(*this, kind != Kind::milestones && !milestones.empty(), "milestones");
  require_unset(*this, kind != Kind::warm_restarts && growth != 1, "growth");
  if (warmup < 0)
    throw Error("[schedule] the number of steps of the warmup is " + std::to_string(warmup) +
                ", expected 0 or more");
  if (warmup == 0 || kind == Kind::noam) return schedule;
  return [schedule = std::move(schedule), warmup = warmup](std::int64_t step) {
    const double part =
        static_cast<double>(std::max<std::int64_t>(step, 0) + 1) / static_cast<double>(warmup);
    return schedule(step) * std::min(1.0, part);
  };
}

}  // namespace sinter::optim
