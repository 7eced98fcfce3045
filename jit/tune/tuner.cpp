// Finds choices, or has them made by timing.
#include "jit/tune/tuner.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <mutex>
#include <utility>

#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "jit/tune/race.h"

namespace sinter::tune {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

void log(const std::string& line) {
  if (base::logs("tune")) base::log_line("tune", line);
}

std::string in_milliseconds(nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

std::string in_microseconds(double nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f us", nanoseconds * 1e-3);
  return text;
}

void log_outcome(const Outcome& outcome) {
  if (!base::logs("tune")) return;
  log(outcome.key.text());
  for (const Outcome::Tried& tried : outcome.tried)
    log("  " + tried.parameters + ": " +
        (tried.nanoseconds > 0 ? in_microseconds(tried.nanoseconds) : std::string("not timed")) +
        (tried.dropped.empty() ? "" : ", dropped: " + tried.dropped));
  log((outcome.decided ? "  chosen: " + outcome.tried[outcome.chosen].parameters
                       : "  the cost model's is taken: " + outcome.undecided) +
      " (" + std::to_string(outcome.rounds) + " rounds, " + in_milliseconds(outcome.took) + ")");
}

/// The planner's candidates, which the device's alternatives join when they are wanted.
class Candidates {
 public:
  Candidates(const ir::Kernel& kernel, std::span<const std::int64_t> ints,
             std::span<const ir::Tiling> tilings, Device& device)
      : prefers_library_(plan::prefers_library(kernel, ints)),
        device_(device),
        all_(tilings.begin(), tilings.end()) {
    if (prefers_library_) add_alternatives();
  }
  void add_alternatives() {
    if (std::exchange(has_alternatives_, true)) return;
    all_ = plan::ranked_with_library(all_, device_.alternatives(), prefers_library_);
  }
  const std::vector<ir::Tiling>& all() const { return all_; }

 private:
  const bool prefers_library_;
  Device& device_;
  std::vector<ir::Tiling> all_;
  bool has_alternatives_ = false;
};

/// Runs each variant that is compiled and drops those that fail or are wrong. Returns why there is nothing to
/// time; empty: there is.
std::string check_variants(Trial& trial, Race& race, Outcome& outcome, Time deadline, Device& device) {
  for (std::size_t v = 0; v < outcome.tried.size(); ++v) {
    std::string& dropped = outcome.tried[v].dropped;
    if (device.now() >= deadline) return "the budget ended while variants were compared";
    if (trial.state(v) == Trial::State::Failed) {
      dropped = "it does not compile: " + trial.failure(v);
    } else {
      try {
        dropped = trial.compare(v);
      } catch (const std::exception& error) {
        dropped = error.what();
      }
    }
    if (dropped.empty()) continue;
    race.drop(v);
    if (v == 0) return "it fails itself: " + dropped;
  }
  return "";
}

/// Returns why timing ended too early; empty: it did not.
std::string run_race(Trial& trial, Race& race, Outcome& outcome, Time deadline, Device& device) {
  while (!race.is_clear()) {
    for (std::size_t v = 0; v < outcome.tried.size(); ++v) {
      if (!race.is_in(v)) continue;
      if (device.now() >= deadline)
        return race.suffices()
                   ? ""
                   : "the budget ended after " + std::to_string(race.rounds()) + " rounds of timing";
      try {
        race.add(v, trial.time(v));
      } catch (const std::exception& error) {
        outcome.tried[v].dropped = error.what();
        race.drop(v);
        if (v == 0) return std::string("it fails itself: ") + error.what();
      }
    }
    race.end_round();
  }
  return "";
}

}  // namespace

Options options_of(const base::Environment& environment) {
  Options options;
  const std::string& mode = environment.autotune;
  options.mode = mode == "off"     ? Mode::Off
                 : mode == "quick" ? Mode::Quick
                 : mode == "full"  ? Mode::Full
                                   : Mode::Cached;
  const bool is_full = options.mode == Mode::Full;
  options.budget = milliseconds(is_full ? 30'000 : 2'000);
  // A year fits; so do ten of them in nanoseconds.
  constexpr std::int64_t kMostMilliseconds = std::int64_t{365} * 24 * 3600 * 1000;
  if (environment.autotune_budget_ms >= 0)
    options.budget = milliseconds(std::min(environment.autotune_budget_ms, kMostMilliseconds));
  options.process_budget = 10 * options.budget;
  if (is_full) options.process_budget = nanoseconds::max();
  options.most_variants = is_full ? 12 : 6;
  return options;
}

std::string to_string(const Choice& choice) {
  const char* by = choice.by == By::Model   ? "by the cost model"
                   : choice.by == By::Pin   ? "by SINTER_TUNE_"
                   : choice.by == By::Store ? "by the store of what was timed"
                                            : "by timing in this process";
  return describe(choice.tiling) + ": " + by +
         (choice.by == By::Pin ? std::string(family_of(choice.tiling)) : std::string());
}

Outcome time_variants(const ir::Kernel& kernel, std::span<const ir::Tiling> candidates, Time deadline,
                      Device& device) {
  Outcome outcome;
  const Time start = device.now();
  std::vector<ir::Kernel> variants(candidates.size(), kernel);
  for (std::size_t v = 0; v < candidates.size(); ++v) {
    variants[v].tiling = candidates[v];
    outcome.tried.push_back({describe(candidates[v]), 0, ""});
  }
  Race race(candidates.size());
  try {
    const std::unique_ptr<Trial> trial = device.begin(std::move(variants), deadline);
    // The rest is for timing.
    trial->wait(start + (deadline - start) / 4 * 3);
    std::size_t compiling = 0;
    for (std::size_t v = 0; v < candidates.size(); ++v)
      compiling += trial->state(v) == Trial::State::Compiling ? 1 : 0;
    // A choice among those that happen to be ready would be kept for good.
    if (compiling > 0)
      outcome.undecided = std::to_string(compiling) + " of " + std::to_string(candidates.size()) +
                          " variants were not compiled within the budget";
    else
      outcome.undecided = check_variants(*trial, race, outcome, deadline, device);
    if (outcome.undecided.empty()) outcome.undecided = run_race(*trial, race, outcome, deadline, device);
  } catch (const std::exception& error) {
    outcome.undecided = error.what();
  }
  outcome.decided = outcome.undecided.empty();
  if (outcome.decided) outcome.chosen = race.winner();
  for (std::size_t v = 0; v < candidates.size(); ++v) outcome.tried[v].nanoseconds = race.time(v);
  outcome.rounds = race.rounds();
  outcome.took = device.now() - start;
  return outcome;
}

Tuner& Tuner::global() {
  static Tuner& instance = *new Tuner(Store::global());  // never destroyed, like the store
  return instance;
}

Choice Tuner::choose(const ir::Kernel& kernel, std::span<const std::int64_t> ints,
                     std::span<const ir::Tiling> tilings, const std::string& pin, const Options& options,
                     Device& device) {
  Candidates candidates(kernel, ints, tilings, device);
  if (!pin.empty()) {
    if (names_library(pin)) candidates.add_alternatives();
    return {pinned(candidates.all(), pin), By::Pin};
  }
  const Choice model{candidates.all().front(), By::Model};
  if (options.mode == Mode::Off) return model;
  const std::string identity = device.identity();
  if (identity.empty()) return model;
  const Key key = key_of(kernel, ints, identity);
  const bool times = options.mode == Mode::Quick || options.mode == Mode::Full;

  std::promise<Decision> promise;
  std::shared_future<Decision> known;
  const auto find_known = [&] {
    const auto at = decisions_.find(key);
    if (at != decisions_.end()) known = at->second;
    return at != decisions_.end();
  };
  {
    const std::lock_guard lock(mutex_);
    if (!options.anew) find_known();
  }
  const auto described = [&](const std::string& parameters, By by) {
    if (names_library(parameters)) candidates.add_alternatives();
    const ir::Tiling* found = find_described(candidates.all(), parameters);
    return found == nullptr ? model : Choice{*found, by};
  };
  if (known.valid()) return described(known.get(), By::Timing);
  if (times && !options.anew) store_.refresh();
  if (!options.anew)
    if (const auto record = store_.find(key)) return described(record->parameters, By::Store);
  if (!times) return model;
  candidates.add_alternatives();
  if (candidates.all().size() < 2) return model;
  {
    // Another thread may have been faster.
    const std::lock_guard lock(mutex_);
    if (options.anew || !find_known()) decisions_.insert_or_assign(key, promise.get_future().share());
  }
  if (known.valid()) return described(known.get(), By::Timing);
  Decision decision;
  try {
    const std::span<const ir::Tiling> all = candidates.all();
    decision = decide(key, kernel, all.first(std::min(all.size(), options.most_variants)), options, device);
  } catch (const std::exception& error) {  // no memory for lists
    log(key.text() + ": " + error.what());
  }
  promise.set_value(decision);
  return described(decision, By::Timing);
}

/// False where nothing may be timed: for other threads that do, or by the process's budget.
bool Tuner::begin_timing(const Options& options, Time deadline, Device& device, std::string& why_not) {
  std::unique_lock lock(mutex_);
  if (!idle_.wait_for(lock, std::max(nanoseconds(0), nanoseconds(deadline - device.now())),
                      [&] { return !timing_; })) {
    why_not = "another thread was timing for as long as the budget lasted";
    return false;
  }
  if (spent_ >= options.process_budget) {
    why_not = "this process has timed for " + in_milliseconds(spent_) + ", and its budget is " +
              in_milliseconds(options.process_budget);
    return false;
  }
  return timing_ = true;
}

void Tuner::end_timing(nanoseconds took) {
  {
    const std::lock_guard lock(mutex_);
    timing_ = false;
    spent_ += took;
  }
  idle_.notify_one();
}

Tuner::Decision Tuner::decide(const Key& key, const ir::Kernel& kernel,
                              std::span<const ir::Tiling> candidates, const Options& options,
                              Device& device) {
  const Time deadline = device.now() + options.budget;
  std::string why_not;
  if (!begin_timing(options, deadline, device, why_not)) {
    log(key.text() + ": the cost model's choice is taken: " + why_not);
    return "";
  }
  Outcome outcome;
  {
    struct Timing {
      Tuner& tuner;
      Outcome& outcome;
      ~Timing() { tuner.end_timing(outcome.took); }
    } const timing{*this, outcome};
    outcome = time_variants(kernel, candidates, deadline, device);
  }
  outcome.key = key;
  log_outcome(outcome);
  {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(outcome);
    if (outcomes_.size() > kMostOutcomes) outcomes_.pop_front();
  }
  if (!outcome.decided) return "";
  const Outcome::Tried& chosen = outcome.tried[outcome.chosen];
  store_.add({key, chosen.parameters, chosen.nanoseconds, outcome.tried.front().nanoseconds}, options.anew);
  return chosen.parameters;
}

void Tuner::forget() {
  {
    const std::lock_guard lock(mutex_);
    decisions_.clear();
    outcomes_.clear();
    spent_ = nanoseconds(0);
  }
  store_.forget();
}

std::vector<Outcome> Tuner::take_outcomes() {
  const std::lock_guard lock(mutex_);
  std::vector<Outcome> taken(outcomes_.begin(), outcomes_.end());
  outcomes_.clear();
  return taken;
}

}  // namespace sinter::tune
