// Asks the tuner for each launch with tiles, and lets it try them on the backend.
#include "src/runtime/tuning.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "jit/ir/products/plain_product.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "jit/tune/tuner.h"
#include "src/base/env.h"
#include "src/runtime/trial.h"

namespace sinter::runtime {
namespace {

class TunedDevice final : public tune::Device {
 public:
  /// `moves`: ints of the launch differ from run to run.
  TunedDevice(Backend& backend, Executor& executor, Compilations& compilations, const ir::Kernel& kernel,
              TrialArguments arguments, bool moves)
      : backend_(backend),
        executor_(executor),
        compilations_(compilations),
        kernel_(kernel),
        arguments_(std::move(arguments)),
        moves_(moves) {}

  std::string identity() override { return backend_.timing_identity(); }
  std::unique_ptr<tune::Trial> begin(std::vector<ir::Kernel> variants, tune::Time deadline) override {
    return begin_trial(backend_, executor_, compilations_, std::move(variants), arguments_, deadline);
  }
  std::vector<ir::Tiling> alternatives() override {
    if (moves_) return {};
    const std::optional<ir::PlainProduct> product = ir::library_product(kernel_, arguments_.ints);
    if (!product) return {};
    const LibraryWays ways = backend_.library_ways(*product);
    std::vector<ir::Tiling> tilings(static_cast<std::size_t>(ways.count), kernel_.tiling);
    for (std::size_t way = 0; way < tilings.size(); ++way) {
      tilings[way].library = static_cast<std::uint8_t>(way + 1);
      tilings[way].library_version = ways.version;
    }
    return tilings;
  }

 private:
  Backend& backend_;
  Executor& executor_;
  Compilations& compilations_;
  const ir::Kernel& kernel_;
  const TrialArguments arguments_;
  const bool moves_;
};

tune::Options options() {
  tune::Options options = tune::options_of(base::environment());
  if (tuning_anew().load() == 0) return options;
  base::Environment full = base::environment();
  full.autotune = "full";
  options = tune::options_of(full);
  options.anew = true;
  return options;
}

/// The number of the kernel that is like `kernel` but for its tiling: that one itself where no launch has
/// taken it yet, one that another launch has taken, or a new one.
std::uint32_t with_tiling(plan::Plan& plan, std::uint32_t kernel, const ir::Tiling& tiling,
                          std::vector<std::pair<std::uint32_t, std::uint32_t>>& taken) {
  bool is_taken = false;
  for (const auto& [from, now] : taken) {
    if (from != kernel) continue;
    is_taken = true;
    if (plan.kernels[now]->tiling == tiling) return now;
  }
  std::uint32_t now = kernel;
  if (is_taken) {
    now = static_cast<std::uint32_t>(plan.kernels.size());
    plan.kernels.push_back(plan.kernels[kernel]);
  }
  if (plan.kernels[now]->tiling != tiling) {
    ir::Kernel other = *plan.kernels[now];
    other.tiling = tiling;
    plan.kernels[now] = plan::PlanKernel(std::move(other));
  }
  taken.emplace_back(kernel, now);
  return now;
}

/// The pin, or nothing where products that share a launch have no such variant, but one by itself has.
std::string pin_of_members(const std::string& pin, std::span<const ir::Tiling> candidates,
                           std::span<const ir::Tiling> of_one) {
  if (pin.empty()) return pin;
  if (tune::names_library(pin)) return "";
  try {
    tune::pinned(candidates, pin);
    return pin;
  } catch (const Error&) {
    tune::pinned(of_one, pin);  // throws for what no variant has at all
    return "";
  }
}

}  // namespace

std::atomic<int>& tuning_anew() {
  static std::atomic<int> instances{0};
  return instances;
}

std::vector<std::string> choose_tilings(plan::Plan& plan, const trace::Trace& trace, Executor& executor,
                                        Backend& backend, Compilations& compilations) {
  std::vector<std::string> chosen(plan.launches.size());
  const plan::LowerLimits limits = plan::limits_of(backend.traits());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    plan::Launch& launch = plan.launches[i];
    const auto* number = std::get_if<std::uint32_t>(&launch.what);
    if (number == nullptr || !plan.kernels[*number]->tiling.any()) continue;
    const ir::Kernel& kernel = *plan.kernels[*number];
    const std::vector<ir::Tiling> candidates =
        plan::ranked_tilings(kernel, launch.ints, limits, launch.members);
    TrialArguments arguments{{launch.ints.begin(), launch.ints.end()}, {}};
    for (const plan::ScalarArgument& argument : launch.scalars)
      arguments.scalars.push_back(to_argument(plan.scalar(argument.number, trace), argument.dtype));
    TunedDevice device(backend, executor, compilations, kernel, std::move(arguments),
                       !launch.moving_ints.empty());
    std::string pin = base::environment().tune_pins.at(std::string(tune::family_of(candidates.front())));
    // Trials are of one product by itself.
    tune::Options how = options();
    if (launch.members > 1) {
      how.mode = tune::Mode::Off;
      pin = pin_of_members(pin, candidates, plan::ranked_tilings(kernel, launch.ints, limits));
    }
    const tune::Choice choice =
        tune::Tuner::global().choose(kernel, launch.ints, candidates, pin, how, device);
    chosen[i] = tune::to_string(choice);
    if (base::logs("tune")) base::log_line("tune", plan::describe(launch, trace) + ": " + chosen[i]);
    launch.what = with_tiling(plan, *number, choice.tiling, taken);
  }
  return chosen;
}

}  // namespace sinter::runtime
