// A product with its variants, and a device whose times and failures are made up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/tuner.h"
#include "tests/support/planned_products.h"
#include "tests/support/temporary_folder.h"

namespace sinter::testing {

/// Of each variant: how long it compiles, what comparing says, and its times in turn.
struct Variant {
  std::chrono::nanoseconds compiles = std::chrono::milliseconds(10);
  std::string refused, differs;
  bool fails_to_run = false, fails_to_time = false;
  std::function<double(std::size_t round)> time = [](std::size_t) { return 100e3; };
};

/// Its clock moves by what is done alone.
class FakeDevice final : public tune::Device {
 public:
  explicit FakeDevice(std::size_t variants) : variants(variants) {}

  std::string identity() override { return name; }
  std::vector<ir::Tiling> alternatives() override {
    ++asked_alternatives;
    return more;
  }
  tune::Time now() override { return clock; }
  std::unique_ptr<tune::Trial> begin(std::vector<ir::Kernel> kernels, tune::Time) override {
    ++trials;
    if (!no_trial.empty()) throw DeviceError(no_trial);
    begun = clock;
    tried = kernels.size();
    for (std::size_t v = 0; v < kernels.size(); ++v) {
      if (v > 0) CHECK_FALSE(kernels[v].tiling == kernels[0].tiling);
      kernels[v].tiling = {};
      CHECK(ir::to_string(kernels[v]) == ir::to_string(kernels[0]));
    }
    return std::make_unique<FakeTrial>(*this);
  }

  std::vector<Variant> variants;
  std::vector<ir::Tiling> more;  // its alternatives
  std::size_t asked_alternatives = 0;
  std::string name = "fake GPU", no_trial;
  tune::Time clock{}, begun{};
  std::size_t trials = 0, tried = 0;
  std::map<std::size_t, std::size_t> timed;
  std::function<void()> when_timed = [] {};

 private:
  class FakeTrial final : public tune::Trial {
   public:
    explicit FakeTrial(FakeDevice& device) : device_(device) {}
    void wait(tune::Time deadline) override {
      tune::Time ends = device_.clock;
      for (std::size_t v = 0; v < device_.tried; ++v)
        ends = std::max(ends, device_.begun + device_.variants[v].compiles);
      device_.clock = std::max(device_.clock, std::min(deadline, ends));
    }
    State state(std::size_t v) override {
      if (device_.begun + device_.variants[v].compiles > device_.clock) return State::Compiling;
      return device_.variants[v].refused.empty() ? State::Ready : State::Failed;
    }
    std::string failure(std::size_t v) override { return device_.variants[v].refused; }
    std::string compare(std::size_t v) override {
      CHECK(state(v) == State::Ready);
      device_.clock += std::chrono::milliseconds(1);
      if (device_.variants[v].fails_to_run) throw DeviceError("[fake] the launch failed");
      return device_.variants[v].differs;
    }
    double time(std::size_t v) override {
      CHECK(state(v) == State::Ready);
      device_.when_timed();
      device_.clock += std::chrono::milliseconds(1);
      if (device_.variants[v].fails_to_time) throw DeviceError("[fake] the launch failed");
      return device_.variants[v].time(device_.timed[v]++);
    }

   private:
    FakeDevice& device_;
  };
};

inline std::function<double(std::size_t)> always(double time) {
  return [=](std::size_t) { return time; };
}

/// A product, its variants, and a tuner with a store of its own.
struct Bench {
  explicit Bench(const Shape& a = {1024, 512}, const Shape& b = {512, 2048})
      : Bench(testing::product(a, b)) {}
  explicit Bench(Planned planned)
      : product(std::move(planned)),
        candidates(plan::ranked_tilings(*product.kernel, product.ints, plan::limits_of(with_tensor_cores()))),
        device(candidates.size()) {
    options.mode = tune::Mode::Full;
    options.budget = std::chrono::seconds(10);
    options.process_budget = std::chrono::seconds(100);
  }
  tune::Choice choose(const std::string& pin = "") { return choose(tuner, device, pin); }
  tune::Choice choose(tune::Tuner& by, FakeDevice& on, const std::string& pin = "") {
    return by.choose(*product.kernel, product.ints, candidates, pin, options, on);
  }
  tune::Outcome only_outcome() {
    const std::vector<tune::Outcome> outcomes = tuner.take_outcomes();
    REQUIRE(outcomes.size() == 1);
    return outcomes[0];
  }

  Planned product;
  std::vector<ir::Tiling> candidates;
  FakeDevice device;
  TemporaryFolder folder;
  tune::Store store{folder.path() / "tuning"};
  tune::Tuner tuner{store};
  tune::Options options;
};

}  // namespace sinter::testing
