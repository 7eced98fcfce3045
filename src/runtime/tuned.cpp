// The public face of the tuner.
#include <filesystem>
#include <utility>

#include <sinter/error.h>
#include <sinter/tuning.h>

#include "jit/tune/store.h"
#include "jit/tune/tuner.h"
#include "src/runtime/tuning.h"

namespace sinter {

std::vector<TunedKernel> tuned_kernels() {
  std::vector<TunedKernel> kernels;
  for (tune::Record& record : tune::Store::global().all())
    kernels.push_back({std::move(record.key.device), std::move(record.key.kernel),
                       std::move(record.key.sizes), std::move(record.parameters), record.nanoseconds * 1e-3,
                       record.model_nanoseconds * 1e-3});
  return kernels;
}

std::string tuning_file() { return tune::Store::global().file().string(); }

std::size_t forget_tuned_kernels() {
  try {
    return tune::Store::global().clear();
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(std::string("[tune] ") + error.what());
  }
}

TuneAnew::TuneAnew() {
  tune::Tuner::global().take_outcomes();
  ++runtime::tuning_anew();
}
TuneAnew::~TuneAnew() { --runtime::tuning_anew(); }

std::vector<TimedKernel> TuneAnew::take_timed() {
  std::vector<TimedKernel> kernels;
  for (tune::Outcome& outcome : tune::Tuner::global().take_outcomes()) {
    TimedKernel& kernel = kernels.emplace_back();
    kernel.device = std::move(outcome.key.device);
    kernel.kernel = std::move(outcome.key.kernel);
    kernel.sizes = std::move(outcome.key.sizes);
    kernel.chosen = outcome.tried[outcome.chosen].parameters;
    kernel.undecided = std::move(outcome.undecided);
    kernel.rounds = outcome.rounds;
    kernel.milliseconds = std::chrono::duration<double, std::milli>(outcome.took).count();
    for (tune::Outcome::Tried& tried : outcome.tried)
      kernel.variants.push_back(
          {std::move(tried.parameters), tried.nanoseconds * 1e-3, std::move(tried.dropped)});
  }
  return kernels;
}

}  // namespace sinter
