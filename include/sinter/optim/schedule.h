// Learning rates as functions of the step, which counts from 0:
//   auto rate = sn::optim::schedule::cosine(1e-3, 0, 10'000);
//   adam.step(rate(step), model, loss.backward());
// They have no state, so that a program that goes on at step n goes on with the same rates.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/detail/shared.h>
#include <sinter/error.h>

namespace sinter::optim {

/// A function of the step to the learning rate; copies share it. Made of any such function, a lambda of one's
/// own included.
class Schedule {
 public:
  /// Empty: can only be assigned to.
  Schedule() = default;
  template <class F>
  requires(!std::is_same_v<F, Schedule> && std::is_invocable_r_v<double, const F&, std::int64_t>)
      Schedule(F function)
      : rates_(sinter::detail::Shared<const Rates>::of(Function<F>(std::move(function)))) {}

  /// Throws Error when empty.
  double operator()(std::int64_t step) const {
    if (!rates_) throw Error("[schedule] the schedule is empty: it was declared and never given a value");
    return rates_->rate(step);
  }
  explicit operator bool() const { return static_cast<bool>(rates_); }

 private:
  struct Rates {
    virtual ~Rates() = default;
    virtual double rate(std::int64_t step) const = 0;
  };
  template <class F>
  struct Function final : Rates {
    explicit Function(F f) : function(std::move(f)) {}
    double rate(std::int64_t step) const override { return function(step); }
    F function;
  };

  sinter::detail::Shared<const Rates> rates_;
};

/// All throw Error where a number of steps is not positive or a rate is negative or no number.
namespace schedule {

SINTER_API Schedule constant(double rate);
/// From `first` at step 0 to `last` at step `steps`, and `last` from there on.
SINTER_API Schedule linear(double first, double last, std::int64_t steps);
/// last + (first - last) (1 + cos(pi step / steps)) / 2, and `last` from `steps` on. I. Loshchilov, F.
/// Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016.
SINTER_API Schedule cosine(double first, double last, std::int64_t steps);
/// The same paper's restarts: a cosine of `steps` steps, then one of `steps` times `growth`, and so on.
SINTER_API Schedule warm_restarts(double first, double last, std::int64_t steps, std::int64_t growth = 1);
/// first gamma^step
SINTER_API Schedule exponential(double first, double gamma);
/// first gamma^floor(step / every)
SINTER_API Schedule steps(double first, double gamma, std::int64_t every);
/// first times gamma for each milestone that has been reached.
SINTER_API Schedule milestones(double first, double gamma, std::vector<std::int64_t> steps);
/// factor d_model^-0.5 min(n^-0.5, n warmup^-1.5) with n = step + 1: A. Vaswani et al., "Attention is all you
/// need", 2017.
SINTER_API Schedule noam(double factor, std::int64_t d_model, std::int64_t warmup);

/// See one_cycle().
struct OneCycle {
  double rising = 0.3;       // part of the steps in which the rate grows
  double divide_first = 25;  // it begins at greatest / divide_first
  double divide_last = 1e4;  // and ends at the first divided by this
};
/// Grows along a cosine to `greatest` and falls along another, within `steps` steps, as PyTorch's OneCycleLR:
/// L. Smith, N. Topin, "Super-convergence", 2018. The last rate from there on.
SINTER_API Schedule one_cycle(double greatest, std::int64_t steps, OneCycle options = {});

/// Each for its number of steps, which it counts from 0; the last one stays.
SINTER_API Schedule sequential(std::vector<std::pair<std::int64_t, Schedule>> parts);
/// The product of several: a schedule and a factor that grows from 0 to 1 is one with a warm-up.
SINTER_API Schedule product(std::vector<Schedule> factors);

/// The rates of the first `steps` steps as text for a terminal: columns of block characters, from 0 to the
/// greatest rate, which stands beside them, in `width` columns at most and `height` lines. Throws Error where
/// a number is not positive, or a rate is negative or not finite.
SINTER_API std::string plot(const Schedule& schedule, std::int64_t steps, std::int64_t width = 60,
                            std::int64_t height = 6);

}  // namespace schedule

/// A schedule as part of a program's configuration: read from JSON and the command line, written into
/// checkpoints (see config.h).
///
///   struct Training { optim::ScheduleConfig schedule; };    // --schedule.kind=cosine --schedule.warmup=500
///   const auto rate = training.schedule.init();
struct SINTER_API ScheduleConfig {
  /// The functions of those names above.
  enum class Kind : std::uint8_t {
    constant,
    linear,
    cosine,
    warm_restarts,
    exponential,
    steps,
    milestones,
    noam,
    one_cycle
  };
  Kind kind = Kind::constant;
  /// The first one; of one_cycle the greatest, of noam the factor.
  double rate = 1e-3;
  /// Of linear, cosine and warm_restarts.
  double last = 0;
  /// All of linear, cosine and one_cycle; of warm_restarts those of the first cycle, of steps those between
  /// two changes.
  std::int64_t steps = 0;
  /// Of exponential, steps and milestones.
  double gamma = 0.1;
  std::vector<std::int64_t> milestones = {};
  std::int64_t growth = 1;     // of warm_restarts
  std::int64_t d_model = 512;  // of noam
  /// In the first so many steps the rate is (step + 1) / warmup of what it is otherwise, so that none is 0.
  /// Noam's has one of its own, of as many steps.
  std::int64_t warmup = 0;

  /// Throws Error where a number that the kind needs is out of range, or where `steps`, `last`, `milestones`
  /// or `growth` is set for a kind that has none.
  Schedule init() const;
};

/// Divides the rate when a metric has not become better for a while, as PyTorch's ReduceLROnPlateau. The only
/// one with a state: what was seen.
struct SINTER_API ReduceOnPlateau {
  double rate;
  double factor = 0.1;
  /// So many values without an improvement are let pass.
  std::int64_t patience = 10;
  /// Better is less than best (1 - threshold), or more than best (1 + threshold) with `greater_is_better`.
  double threshold = 1e-4;
  bool greater_is_better = false;
  /// After a reduction so many values count for nothing.
  std::int64_t cooldown = 0;
  double least = 0;

  /// Takes the metric of an epoch, and gives the rate for the next one. Throws Error when the metric is no
  /// number: a loss that has become NaN is no plateau.
  double next(double metric);

  double best = 0;  // what was seen: of meaning after the first value
  std::int64_t bad = 0, cooling = 0, seen = 0;
};

}  // namespace sinter::optim
