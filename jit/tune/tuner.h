// Chooses between the variants of a kernel.
//
// A choice comes from the first of these that has one:
//
//   pin      SINTER_TUNE_<FAMILY>
//   process  what this process has chosen for the key by timing, or not within its budget
//   store    what any process of the user has chosen by timing (not with SINTER_AUTOTUNE=off)
//   timing   with SINTER_AUTOTUNE=quick or full, and on a device that can time
//   model    the planner's
//
// So a key has one choice for as long as the process lives, and with `off` and `cached` nothing is timed:
// what is chosen follows from the program, the environment and the store as it was when first read.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/tune/device.h"
#include "jit/tune/key.h"
#include "jit/tune/store.h"
#include "src/base/env.h"
#include "src/base/fork.h"

namespace sinter::tune {

enum class Mode : std::uint8_t { Off, Cached, Quick, Full };

struct Options {
  Mode mode = Mode::Cached;
  std::chrono::nanoseconds budget{0};          // of one choice by timing, from its start to its end
  std::chrono::nanoseconds process_budget{0};  // of all of them together
  std::size_t most_variants = 12;
  bool anew = false;  // whatever is known already; replaces what the store has
};

/// What the environment says.
Options options_of(const base::Environment& environment);

enum class By : std::uint8_t { Model, Pin, Store, Timing };
struct Choice {
  ir::Tiling tiling;
  By by = By::Model;
};
/// "rows=128,...: by timing".
std::string to_string(const Choice& choice);

/// What timing a kernel's variants came to.
struct Outcome {
  struct Tried {
    std::string parameters;
    double nanoseconds = 0;  // the median; 0: not timed
    std::string dropped;     // why it takes no part; empty: it does
  };
  Key key;
  std::vector<Tried> tried;  // the cost model's choice first
  std::size_t chosen = 0;
  bool decided = false;   // else the cost model's is taken, and not stored
  std::string undecided;  // why
  std::size_t rounds = 0;
  std::chrono::nanoseconds took{0};
};

/// All functions may be called by any thread. Two that want the same key time it once, and no two time at
/// once.
class Tuner {
 public:
  explicit Tuner(Store& store) : store_(store) {}
  static Tuner& global();

  /// `candidates`: of the kernel, the cost model's choice first (plan::ranked_tilings). The device's
  /// alternatives join them where one of these may be taken: one that the cost model prefers, that is pinned
  /// or stored, and wherever candidates are timed. `pin`: empty where nothing is pinned. Throws Error for a
  /// pin that does not fit, and for nothing else.
  Choice choose(const ir::Kernel& kernel, std::span<const std::int64_t> ints,
                std::span<const ir::Tiling> candidates, const std::string& pin, const Options& options,
                Device& device);

  /// What was timed since the last call, the last kMostOutcomes.
  std::vector<Outcome> take_outcomes();
  static constexpr std::size_t kMostOutcomes = 1024;

  /// Forgets what this process has chosen and spent, as a new one would. While nothing is timed.
  void forget();

 private:
  /// Parameters of the choice; empty: the cost model's.
  using Decision = std::string;

  Decision decide(const Key& key, const ir::Kernel& kernel, std::span<const ir::Tiling> candidates,
                  const Options& options, Device& device);
  bool begin_timing(const Options& options, Time deadline, Device& device, std::string& why_not);
  void end_timing(std::chrono::nanoseconds took);

  Store& store_;
  base::ForkMutex mutex_;
  std::condition_variable_any idle_;
  bool timing_ = false;
  std::chrono::nanoseconds spent_{0};
  std::map<Key, std::shared_future<Decision>> decisions_;
  std::deque<Outcome> outcomes_;
};

/// Times the variants of a kernel by the rules of race.h. What fails on the way is in the outcome.
Outcome time_variants(const ir::Kernel& kernel, std::span<const ir::Tiling> candidates, Time deadline,
                      Device& device);

}  // namespace sinter::tune
