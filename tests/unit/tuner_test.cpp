// Choices between variants of a kernel: where they come from, and what timing decides, on a device whose
// times and failures are made up.
#include "jit/tune/tuner.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "jit/tune/race.h"
#include "tests/support/planned_products.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tuner_bench.h"

namespace sinter::testing {
namespace {

using namespace std::chrono_literals;
using tune::By;
using tune::Choice;
using tune::Mode;
using tune::Outcome;
using tune::Time;

}  // namespace

TEST_CASE("the planner takes the first of the ranked tilings, which are few and differ") {
  for (const std::int64_t rows : {64, 200, 1000, 4096})
    for (const std::int64_t depth : {64, 1000 / 8 * 8, 8192}) {
      const Planned p = product({rows, depth}, {depth, 768});
      REQUIRE(p.tiled == 1);
      const auto tilings = plan::ranked_tilings(*p.kernel, p.ints, plan::limits_of(with_tensor_cores()));
      REQUIRE(tilings.size() > 1);
      CHECK(tilings.size() <= plan::kMostTilings);
      CHECK(tilings[0] == p.kernel->tiling);
      ir::Kernel kernel = *p.kernel;
      for (std::size_t i = 0; i < tilings.size(); ++i) {
        kernel.tiling = tilings[i];
        CHECK_NOTHROW(ir::verify(kernel));
        CHECK(tune::find_described(tilings, tune::describe(tilings[i])) == &tilings[i]);
      }
    }
}

TEST_CASE("off and cached time nothing, and take the model's choice where nothing else is known") {
  for (const Mode mode : {Mode::Off, Mode::Cached}) {
    Bench bench;
    bench.options.mode = mode;
    const Choice choice = bench.choose();
    CHECK(choice.by == By::Model);
    CHECK(choice.tiling == bench.candidates[0]);
    CHECK(bench.device.trials == 0);
    CHECK(bench.store.all().empty());
  }
}

TEST_CASE("the fastest variant is chosen, stored, and found by other processes, which time nothing") {
  Bench bench;
  bench.device.variants[3].time = always(80e3);
  const Choice choice = bench.choose();
  CHECK(choice.by == By::Timing);
  CHECK(choice.tiling == bench.candidates[3]);
  CHECK(bench.only_outcome().decided);
  REQUIRE(bench.store.all().size() == 1);
  CHECK(bench.store.all()[0].parameters == tune::describe(bench.candidates[3]));
  CHECK(bench.store.all()[0].nanoseconds == 80e3);
  CHECK(bench.store.all()[0].model_nanoseconds == 100e3);

  // This process, whatever times are now.
  bench.device.variants[3].time = always(1e9);
  CHECK(bench.choose().tiling == bench.candidates[3]);
  CHECK(bench.device.trials == 1);
  for (const Mode mode : {Mode::Cached, Mode::Quick, Mode::Full, Mode::Off}) {
    bench.options.mode = mode;
    tune::Store store(bench.folder.path() / "tuning");
    tune::Tuner other(store);
    const Choice found = bench.choose(other, bench.device);
    CHECK(found.by == (mode == Mode::Off ? By::Model : By::Store));
    CHECK(found.tiling == bench.candidates[mode == Mode::Off ? 0 : 3]);
    CHECK(bench.device.trials == 1);
  }
}

TEST_CASE("a tie keeps the model's choice, and so does a variant that is now faster and now slower") {
  Bench bench;
  bench.device.variants[1].time = always(99e3);  // faster, but by less than what counts
  bench.device.variants[2].time = [](std::size_t round) { return round % 2 ? 60e3 : 140e3; };
  const Choice choice = bench.choose();
  CHECK(choice.tiling == bench.candidates[0]);
  CHECK(bench.only_outcome().decided);  // that, too, is a choice: it is stored
  CHECK(bench.store.all().size() == 1);
}

TEST_CASE("what disturbs a whole round disturbs no comparison") {
  Bench bench;
  for (std::size_t v = 0; v < bench.candidates.size(); ++v)
    bench.device.variants[v].time = [v](std::size_t round) {
      return (v == 2 ? 90e3 : 100e3) * (round % 3 == 1 ? 1.7 : 1.0);
    };
  CHECK(bench.choose().tiling == bench.candidates[2]);
}

TEST_CASE("what is much slower is timed once, the model's choice and the winner to the end") {
  Bench bench;
  bench.device.variants[1].time = always(300e3);
  bench.device.variants[2].time = always(50e3);
  for (std::size_t v = 3; v < bench.candidates.size(); ++v) bench.device.variants[v].time = always(1e6);
  CHECK(bench.choose().tiling == bench.candidates[2]);
  CHECK(bench.device.timed[1] == 1);
  CHECK(bench.device.timed[3] == 1);
  CHECK(bench.device.timed[0] == bench.device.timed[2]);
  CHECK(bench.device.timed[2] < tune::Race::kMostRounds);
}

TEST_CASE("variants that fail or are wrong are dropped, with the reason") {
  Bench bench;
  REQUIRE(bench.candidates.size() > 5);
  for (std::size_t v = 1; v < 5; ++v) bench.device.variants[v].time = always(10e3);
  bench.device.variants[1].refused = "ptxas is out of registers";
  bench.device.variants[2].differs = "12 of 64 results differ";
  bench.device.variants[3].fails_to_run = true;
  bench.device.variants[4].fails_to_time = true;
  bench.device.variants[5].time = always(50e3);
  CHECK(bench.choose().tiling == bench.candidates[5]);
  const Outcome outcome = bench.only_outcome();
  CHECK(outcome.tried[1].dropped == "it does not compile: ptxas is out of registers");
  CHECK(outcome.tried[2].dropped == "12 of 64 results differ");
  CHECK(outcome.tried[3].dropped == "[fake] the launch failed");
  CHECK(outcome.tried[4].dropped == "[fake] the launch failed");
  CHECK(bench.device.timed[1] + bench.device.timed[2] + bench.device.timed[3] == 0);
  CHECK(bench.device.timed[4] == 0);
}

TEST_CASE("where the model's own choice fails, it is left to the plan to say so, and nothing is stored") {
  for (int failure = 0; failure < 4; ++failure) {
    Bench bench;
    Variant& model = bench.device.variants[0];
    if (failure == 0) model.refused = "no";
    if (failure == 1) model.fails_to_run = true;
    if (failure == 2) model.fails_to_time = true;
    if (failure == 3) bench.device.no_trial = "[fake] out of memory";
    CHECK(bench.choose().by == By::Model);
    const Outcome outcome = bench.only_outcome();
    CHECK_FALSE(outcome.decided);
    CHECK_FALSE(outcome.undecided.empty());
    CHECK(bench.store.all().empty());
  }
}

TEST_CASE("a choice waits no longer than its budget, and one that is not made stays the model's") {
  SUBCASE("compilations that take too long") {
    Bench bench;
    bench.device.variants[4].compiles = 60s;
    bench.device.variants[1].time = always(1e3);
    const Time start = bench.device.clock;
    CHECK(bench.choose().by == By::Model);
    CHECK(bench.device.clock - start <= bench.options.budget);
    CHECK(bench.device.timed.empty());
    CHECK(bench.store.all().empty());
    // For as long as the process lives, though it would be quick now.
    bench.device.variants[4].compiles = 0s;
    CHECK(bench.choose().by == By::Model);
    CHECK(bench.device.trials == 1);
    // The next process finds the code in the kernel cache.
    tune::Store store(bench.folder.path() / "tuning");
    tune::Tuner other(store);
    CHECK(bench.choose(other, bench.device).tiling == bench.candidates[1]);
  }
  SUBCASE("too few rounds") {
    Bench bench;
    bench.device.variants[1].time = always(1e3);
    const std::size_t tried = std::min(bench.candidates.size(), bench.options.most_variants);
    bench.options.budget = 10ms + std::chrono::milliseconds(tried) + 12ms;
    const Time start = bench.device.clock;
    CHECK(bench.choose().by == By::Model);
    CHECK(bench.device.clock - start <= bench.options.budget + 1ms);
    CHECK(bench.store.all().empty());
  }
  SUBCASE("enough rounds for a choice, though more would be clearer") {
    Bench bench;
    bench.device.variants[1].time = always(95e3);
    bench.options.budget = 60ms;
    const Time start = bench.device.clock;
    CHECK(bench.choose().tiling == bench.candidates[1]);
    CHECK(bench.device.clock - start <= bench.options.budget + 1ms);
    CHECK(bench.device.timed[0] >= tune::Race::kLeastRounds);
    CHECK(bench.device.timed[0] < tune::Race::kMostRounds);
  }
  SUBCASE("no budget at all") {
    Bench bench;
    bench.options.budget = 0s;
    CHECK(bench.choose().by == By::Model);
    CHECK(bench.device.timed.empty());
  }
}

TEST_CASE("a process times no longer than its own budget") {
  Bench bench;
  bench.options.process_budget = 1ms;
  CHECK(bench.choose().by == By::Timing);
  const Planned more = product({128, 256}, {256, 512});
  const auto candidates = plan::ranked_tilings(*more.kernel, more.ints, plan::limits_of(with_tensor_cores()));
  const Choice choice =
      bench.tuner.choose(*more.kernel, more.ints, candidates, "", bench.options, bench.device);
  CHECK(choice.by == By::Model);
  CHECK(bench.device.trials == 1);
}

TEST_CASE("a quick choice is between fewer variants") {
  Bench bench;
  base::Environment environment;
  environment.autotune = "quick";
  bench.options = tune::options_of(environment);
  bench.choose();
  CHECK(bench.device.tried == bench.options.most_variants);
  CHECK(bench.options.most_variants < bench.candidates.size());
}

TEST_CASE("the budget is the environment's") {
  base::Environment environment;
  CHECK(tune::options_of(environment).mode == Mode::Cached);  // unless asked for
  environment.autotune = "full";
  CHECK(tune::options_of(environment).budget == 30s);
  environment.autotune_budget_ms = 250;
  CHECK(tune::options_of(environment).budget == 250ms);
  environment.autotune = "quick";
  CHECK(tune::options_of(environment).process_budget == 2500ms);
  environment.autotune_budget_ms = INT64_MAX;
  CHECK(tune::options_of(environment).process_budget > 0s);
}

TEST_CASE("a device that cannot time has the model's choice in every mode") {
  Bench bench;
  bench.device.name = "";
  CHECK(bench.choose().by == By::Model);
  CHECK(bench.device.trials == 0);
}

TEST_CASE("choosing anew times whatever is known, and replaces it") {
  Bench bench;
  bench.device.variants[1].time = always(50e3);
  CHECK(bench.choose().tiling == bench.candidates[1]);
  bench.device.variants[2].time = always(20e3);
  bench.options.anew = true;
  CHECK(bench.choose().tiling == bench.candidates[2]);
  bench.options.anew = false;
  CHECK(bench.choose().tiling == bench.candidates[2]);
  REQUIRE(bench.store.all().size() == 1);
  CHECK(bench.store.all()[0].parameters == tune::describe(bench.candidates[2]));
}

TEST_CASE("what the store has of a variant that does not exist is not taken") {
  Bench bench;
  bench.options.mode = Mode::Cached;
  const tune::Key key = tune::key_of(*bench.product.kernel, bench.product.ints, bench.device.name);
  bench.store.add({key, "rows=7,columns=7", 1, 1}, false);
  CHECK(bench.choose().by == By::Model);
}

TEST_CASE("threads that want the same choice time it once, and none times beside another") {
  Bench bench;
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  bench.device.when_timed = [&] {
    if (++inside > 1) together = true;
    std::this_thread::sleep_for(1ms);
    --inside;
  };
  bench.device.variants[2].time = always(40e3);
  std::vector<std::thread> threads;
  std::vector<Choice> choices(6);
  for (std::size_t t = 0; t < choices.size(); ++t)
    threads.emplace_back([&, t] { choices[t] = bench.choose(); });
  for (std::thread& thread : threads) thread.join();
  for (const Choice& choice : choices) CHECK(choice.tiling == bench.candidates[2]);
  CHECK(bench.device.trials == 1);

  // Different sizes: one after the other.
  const Planned one = product({128, 256}, {256, 512}), two = product({256, 256}, {256, 256});
  FakeDevice first(bench.candidates.size()), second(bench.candidates.size());
  first.when_timed = second.when_timed = bench.device.when_timed;
  std::thread other(
      [&] { bench.tuner.choose(*one.kernel, one.ints, bench.candidates, "", bench.options, first); });
  bench.tuner.choose(*two.kernel, two.ints, bench.candidates, "", bench.options, second);
  other.join();
  CHECK(first.trials + second.trials == 2);
  CHECK_FALSE(together);
}

TEST_CASE("a pin takes the first variant that has its parameters, whatever is known") {
  Bench bench;
  const Choice choice = bench.choose("rows=64, columns=128");
  CHECK(choice.by == By::Pin);
  CHECK(choice.tiling.rows == 64);
  CHECK(choice.tiling.columns == 128);
  CHECK(bench.device.trials == 0);
  CHECK(bench.choose("turns=2").tiling.turns == 2);
  const Choice slots = bench.choose("rows=128,columns=256,slots=2");
  CHECK(slots.tiling.slots == 2);
  CHECK(slots.tiling.columns == 256);
}

TEST_CASE("a pin that does not fit is an error with its values and what there is") {
  Bench bench;
  const auto error_of = [&](const std::string& pin) -> std::string {
    try {
      bench.choose(pin);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* pin : {"rows=100", "rows=128,columns=256,slots=99", "slots=1", "workgroups=7"}) {
    const std::string error = error_of(pin);
    INFO(error);
    CHECK(error.find(std::string("SINTER_TUNE_TENSOR_CORES=") + pin) != std::string::npos);
    for (const ir::Tiling& candidate : bench.candidates)
      CHECK(error.find(tune::describe(candidate)) != std::string::npos);
  }
  CHECK(error_of("colour=3").find("there is no parameter \"colour\"; there are rows, columns, slots") !=
        std::string::npos);
  CHECK(error_of("rows=many").find("rows is \"many\"; it takes a whole number") != std::string::npos);
  CHECK(error_of("rows").find("it takes a whole number") != std::string::npos);
  CHECK(error_of("rows=128,").find("there is no parameter \"\"") != std::string::npos);
  CHECK(error_of("rows=99999999999999999999").find("whole number") != std::string::npos);
}

TEST_CASE("a key is the structure, the sizes in buckets and the device") {
  const auto key = [](const Planned& p, const std::string& device = "GPU") {
    return tune::key_of(*p.kernel, p.ints, device);
  };
  const Planned one = product({4096, 512}, {512, 2048});
  CHECK(key(one).sizes == "4096x2048x512");
  CHECK(key(one) == key(product({4000, 512}, {512, 2048})));
  CHECK(key(one) != key(product({3000, 512}, {512, 2048})));
  CHECK(key(one) != key(product({4096, 512}, {512, 2048}, false, false, DType::f16)));
  CHECK(key(one) != key(product({512, 4096}, {512, 2048}, true)));
  CHECK(key(one) != key(one, "another GPU"));
  const Planned with_bias = planned([](const Device& device) {
    const AnyTensor x = input({4096, 512}, device), w = input({512, 2048}, device), b = input({2048}, device);
    return std::vector{AnyTensor::add(x.matmul(w), b)};
  });
  CHECK(key(one) != key(with_bias));
  CHECK(key(product({6, 200, 256}, {6, 256, 128})).sizes == "208x128x256 of 6");
  CHECK(key(one, "a\tb\n").device.find_first_of("\t\n") == std::string::npos);
  // Which tiles it has now does not count.
  Planned other = one;
  ir::Kernel kernel = *other.kernel;
  kernel.tiling.rows = 64;
  kernel.tiling.slots = 2;
  CHECK(tune::key_of(kernel, one.ints, "GPU") == key(one));
}

TEST_CASE("buckets hold the sizes up to an eighth of a power of two") {
  CHECK(tune::bucket_of(1) == 1);
  CHECK(tune::bucket_of(16) == 16);
  CHECK(tune::bucket_of(17) == 18);
  CHECK(tune::bucket_of(4096) == 4096);
  CHECK(tune::bucket_of(4097) == 4608);
  std::int64_t before = 0;
  for (std::int64_t size = 1; size < 100'000; ++size) {
    const std::int64_t bucket = tune::bucket_of(size);
    REQUIRE((bucket >= size && bucket >= before && tune::bucket_of(bucket) == bucket));
    REQUIRE(bucket <= size + size / 8 + 1);
    before = bucket;
  }
  CHECK(tune::bucket_of(std::int64_t{1} << 40) == std::int64_t{1} << 40);
}

}  // namespace sinter::testing
