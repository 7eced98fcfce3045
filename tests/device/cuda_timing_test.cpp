// Variants of a product tried on a CUDA device: by its tensor cores where it has them; a device without, and
// the emulated one, computes all variants by the same loops.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/race.h"
#include "jit/tune/tuner.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "src/runtime/executor.h"
#include "src/runtime/trial.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/one_run.h"
#include "tests/support/planned_products.h"

namespace sinter::testing {
namespace {

using namespace std::chrono_literals;

/// On a backend of its own.
class Trials final : public tune::Device {
 public:
  explicit Trials(Planned planned) : planned_(std::move(planned)) {}

  std::string identity() override { return backend->timing_identity(); }
  std::unique_ptr<tune::Trial> begin(std::vector<ir::Kernel> variants, tune::Time deadline) override {
    return runtime::begin_trial(*backend, executor_, compilations_, std::move(variants), {planned_.ints, {}},
                                deadline);
  }
  tune::Outcome time(std::chrono::nanoseconds budget = 120s) {
    std::vector<ir::Tiling> tilings =
        plan::ranked_tilings(*planned_.kernel, planned_.ints, plan::limits_of(with_tensor_cores()));
    tilings.resize(std::min<std::size_t>(tilings.size(), 3));
    return tune::time_variants(*planned_.kernel, tilings, now() + budget, *this);
  }

  const std::unique_ptr<runtime::Backend> backend = runtime::make_cuda_backend(0);

 private:
  const Planned planned_;
  runtime::Executor executor_{*backend};
  runtime::Compilations compilations_{*backend};
};

Planned small_product() {
  return planned([](const Device& device) {
    const AnyTensor a = input({24, 64}, device), b = input({64, 16}, device), bias = input({16}, device);
    return std::vector{AnyTensor::add(a.matmul(b), bias)};
  });
}

}  // namespace

TEST_CASE("a launch that is timed computes what it computes otherwise, and takes some time") {
  const auto backend = runtime::make_cuda_backend(0);
  CHECK(backend->timing_identity().find(backend->traits().description) == 0);
  const Planned sum = planned(
      [](const Device& device) { return std::vector{AnyTensor::add(input({1024}, device, DType::f32), 1)}; });
  const ir::Kernel& kernel = sum.plan.kernels.at(0);
  const plan::Launch& launch = sum.plan.launches.at(0);
  const ir::Kernel* const kernels[] = {&kernel};
  const runtime::ExecutableRef executable = backend->compile(kernels).front();
  std::vector<runtime::ScalarValue> scalars;
  for (const plan::ScalarArgument& argument : launch.scalars)
    scalars.push_back(runtime::to_argument(Scalar(2.0), argument.dtype));
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  const std::vector<float> ones(1024, 1);
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    buffers.push_back(backend->allocate(4096));
    views.push_back({buffers.back().get(), 0});
    if (kernel.buffers[b].read) backend->upload(views.back(), std::as_bytes(std::span(ones)));
  }
  REQUIRE(kernel.buffers.back().written);
  const double time = backend->time_launch(*executable, {views, launch.ints, scalars}, {});
  CHECK(time > 0);
  CHECK(time < 1e9);
  std::vector<float> results(1024);
  backend->download(views.back(), std::as_writable_bytes(std::span(results)));
  for (const float result : results) REQUIRE((result == 2 || result == 3));  // 1 is text or an argument
  // The next run is like any other.
  run_alone(*backend, *executable, {views, launch.ints, scalars});
  backend->synchronize();
}

TEST_CASE("variants agree with each other, are timed, and leave no memory behind") {
  Trials trials(small_product());
  const std::size_t before = trials.backend->statistics().bytes_in_use;
  const tune::Outcome outcome = trials.time();
  INFO(outcome.undecided);
  CHECK(outcome.decided);
  CHECK(outcome.rounds >= tune::Race::kLeastRounds);
  for (const tune::Outcome::Tried& tried : outcome.tried) {
    INFO(tried.parameters << ": " << tried.dropped);
    CHECK(tried.dropped.empty());
    CHECK(tried.nanoseconds > 0);
  }
  CHECK(trials.backend->statistics().bytes_in_use == before);
}

TEST_CASE("a trial that the budget ends early decides nothing and waits for nothing") {
  Trials trials(small_product());
  const auto start = trials.now();
  const tune::Outcome outcome = trials.time(0s);
  CHECK_FALSE(outcome.decided);
  CHECK(trials.now() - start < 5s);
  CHECK(trials.backend->statistics().bytes_in_use == 0);
}

TEST_CASE("whatever fails on the way, nothing is decided wrongly and no memory stays") {
  sinter_emulation::Control* control = emulation();
  if (control == nullptr) return;
  Trials trials(small_product());
  CHECK(trials.time().decided);  // compiles
  trials.backend->synchronize();
  trials.backend->trim();
  const std::size_t before = trials.backend->statistics().bytes_in_use;
  std::size_t undecided = 0;
  for (int at = 1; at < 12; ++at) {
    control->fail_allocation = at;
    const tune::Outcome outcome = trials.time();
    control->fail_allocation = 0;
    undecided += outcome.decided ? 0 : 1;
    if (!outcome.decided) CHECK_FALSE(outcome.undecided.empty());
    trials.backend->trim();
    CHECK(trials.backend->statistics().bytes_in_use == before);
  }
  // Launches: of the first variant, of others, while they are compared and timed.
  for (int at = 1; at < 12; ++at) {
    control->fail_start = at;
    control->start_error = 1;
    const tune::Outcome outcome = trials.time();
    // On a busy machine the race may be clear before so many launches; each variant is compared in any case.
    const bool has_failed = control->fail_start == 0;
    CHECK((has_failed || at > 3));
    control->fail_start = 0;
    std::size_t dropped = 0;
    for (const tune::Outcome::Tried& tried : outcome.tried) dropped += tried.dropped.empty() ? 0 : 1;
    CHECK(dropped == (has_failed ? 1 : 0));
    CHECK(outcome.decided == outcome.tried[0].dropped.empty());
    undecided += outcome.decided ? 0 : 1;
    CHECK(trials.backend->statistics().bytes_in_use == before);
  }
  CHECK(undecided > 0);
  CHECK(trials.time().decided);
}

}  // namespace sinter::testing
