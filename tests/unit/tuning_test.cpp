// Programs on a device whose variants take made-up times: which are compiled, launched, stored and told.
#include "src/runtime/tuning.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/scratch.h"
#include "jit/tune/store.h"
#include "jit/tune/tuner.h"
#include "src/base/env.h"
#include "tests/support/planned_products.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_device.h"
#include "tests/support/timed_backend.h"

namespace sinter::testing {
namespace {

/// The store of this process lies in a folder of this test's, whatever file of tests runs first.
void use_own_store() {
  static TemporaryFolder& folder = *new TemporaryFolder;
  static const bool done = [] {
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(folder.path(), ignored);
    });
    base::mutable_environment().cache_dir = folder.path();
    return true;
  }();
  static_cast<void>(done);
}

std::vector<TimedControl*>& controls() {
  static auto* all = new std::vector<TimedControl*>;
  return *all;
}

/// An environment of its own, forgotten choices, and a device.
struct Process {
  explicit Process(const std::string& autotune, bool keeps_store = false) : before(base::environment()) {
    use_own_store();
    base::mutable_environment().autotune = autotune;
    tune::Tuner::global().forget();
    if (!keeps_store) tune::Store::global().clear();
    restart();
  }
  ~Process() { base::mutable_environment() = before; }
  void restart() {
    tune::Tuner::global().forget();
    control.timed = 0;
    control.compiled.clear();
    device = device_over(std::make_unique<TimedBackend>(make_oracle_backend(), control));
  }

  AnyTensor operand(const Shape& shape) const {
    std::mt19937 random(7);
    std::vector<float> data(static_cast<std::size_t>(shape.numel()));
    for (float& x : data) x = static_cast<float>(random() % 64) / 32 - 1;
    const AnyTensor x =
        AnyTensor::from_bytes(std::as_bytes(std::span(data)), shape, DType::f32, device).cast(DType::bf16);
    x.sync();
    return x;
  }
  static std::vector<float> values(const AnyTensor& x) {
    std::vector<float> data(static_cast<std::size_t>(x.numel()));
    x.cast(DType::f32).read_bytes(std::as_writable_bytes(std::span(data)));
    return data;
  }
  /// A product with a bias; its bits.
  std::vector<float> run() {
    const AnyTensor a = operand({64, 48}), b = operand({48, 40}), bias = operand({40});
    AnyTensor y;
    report = explain([&] {
      y = AnyTensor::add(a.matmul(b), bias);
      y.sync();
    });
    return values(y);
  }
  std::string how() const {
    std::string all;
    for (const ReportTrace& trace : report.traces)
      for (const ReportLaunch& launch : trace.launches) all += launch.how;
    return all;
  }

  const base::Environment before;
  // Devices live as long as the program, and so does what they ask.
  TimedControl& control = *controls().emplace_back(new TimedControl);
  Device device = Device::null();
  Report report;
};

bool is(const ir::Tiling& tiling, int rows, int columns) {
  return tiling.rows == rows && tiling.columns == columns && tiling.subgroup_rows == 0;
}

}  // namespace

TEST_CASE("off and cached time nothing, compile one variant, and give the same bits every time") {
  for (const char* mode : {"off", "cached"}) {
    Process process(mode);
    const std::vector<float> first = process.run();
    CHECK(process.how().find("tiles rows=") != std::string::npos);
    CHECK(process.how().find("by the cost model") != std::string::npos);
    const std::vector<std::string> compiled = process.control.compiled;
    CHECK(compiled.size() == 1);
    for (int again = 0; again < 2; ++again) {
      process.restart();
      CHECK(process.run() == first);
      CHECK(process.control.compiled == compiled);
    }
    CHECK(process.control.timed == 0);
    CHECK(tuned_kernels().empty());
  }
}

TEST_CASE("timing chooses a variant; the next process takes it from the store and times nothing") {
  Process process("full");
  process.control.time = [](const ir::Tiling& t) { return is(t, 128, 64) ? 10e3 : 90e3; };
  const std::vector<float> timed = process.run();
  CHECK(process.control.timed > 0);
  CHECK(process.how().find("rows=128,columns=64") != std::string::npos);
  CHECK(process.how().find("by timing in this process") != std::string::npos);
  REQUIRE(tuned_kernels().size() == 1);
  CHECK(tuned_kernels()[0].parameters.starts_with("rows=128,columns=64"));
  CHECK(tuned_kernels()[0].microseconds == 10);
  CHECK(tuned_kernels()[0].sizes == "64x40x48");
  const std::size_t times = process.control.timed;
  process.run();
  CHECK(process.control.timed == times);

  for (const char* mode : {"cached", "quick", "full"}) {
    base::mutable_environment().autotune = mode;
    process.restart();
    CHECK(process.run() == timed);
    CHECK(process.how().find("rows=128,columns=64") != std::string::npos);
    CHECK(process.how().find("by the store") != std::string::npos);
    CHECK(process.control.timed == 0);
    CHECK(process.control.compiled.size() == 1);
  }
  base::mutable_environment().autotune = "off";
  process.restart();
  process.run();
  CHECK(process.how().find("by the cost model") != std::string::npos);
}

TEST_CASE("variants that are refused, fail or compute something else are never taken") {
  Process process("full");
  process.control.time = [](const ir::Tiling& t) {
    if (is(t, 128, 64) || is(t, 128, 256) || is(t, 64, 256) || is(t, 192, 128)) return 1e3;
    return is(t, 128, 192) ? 50e3 : 90e3;
  };
  process.control.refuses = [](const ir::Tiling& t) { return is(t, 128, 64); };
  process.control.fails = [](const ir::Tiling& t) { return is(t, 128, 256); };
  process.control.is_wrong = [](const ir::Tiling& t) { return is(t, 64, 256); };
  process.control.does_nothing = [](const ir::Tiling& t) { return is(t, 192, 128); };
  process.run();
  CHECK(process.how().find("rows=128,columns=192") != std::string::npos);
  const auto outcomes = tune::Tuner::global().take_outcomes();
  REQUIRE(outcomes.size() == 1);
  std::size_t dropped = 0;
  for (const auto& tried : outcomes[0].tried) {
    INFO(tried.parameters << ": " << tried.dropped);
    if (tried.parameters.find("subgroup_rows") != std::string::npos)
      CHECK(tried.dropped.empty());
    else if (tried.parameters.starts_with("rows=128,columns=64"))
      CHECK(tried.dropped == "it does not compile: [made up] refused");
    else if (tried.parameters.starts_with("rows=128,columns=256"))
      CHECK(tried.dropped == "[made up] the launch failed");
    else if (tried.parameters.starts_with("rows=64,columns=256") ||
             tried.parameters.starts_with("rows=192,columns=128"))
      CHECK(tried.dropped.find("results differ") != std::string::npos);
    else
      CHECK(tried.dropped.empty());
    dropped += tried.dropped.empty() ? 0 : 1;
  }
  CHECK(dropped == 4);
}

TEST_CASE("a device without a stopwatch has the cost model's choice") {
  Process process("full");
  process.control.identity = "";
  process.run();
  CHECK(process.control.timed == 0);
  CHECK(process.how().find("by the cost model") != std::string::npos);
}

TEST_CASE("a pin is taken, or an error that leaves the values as they were") {
  Process process("full");
  base::mutable_environment().tune_pins["TENSOR_CORES"] = "rows=128,columns=192";
  const std::vector<float> pinned = process.run();
  CHECK(process.how().find("rows=128,columns=192") != std::string::npos);
  CHECK(process.how().find("by SINTER_TUNE_TENSOR_CORES") != std::string::npos);
  CHECK(process.control.timed == 0);
  CHECK(tuned_kernels().empty());
  base::mutable_environment().tune_pins["TENSOR_CORES"] = "rows=77";
  process.restart();
  CHECK_THROWS_WITH_AS(process.run(), doctest::Contains("SINTER_TUNE_TENSOR_CORES=rows=77 fits no variant"),
                       Error);
  base::mutable_environment().tune_pins["TENSOR_CORES"] = "";
  CHECK(process.run() == pinned);
}

TEST_CASE("launches of one kernel with sizes of their own may have tiles of their own") {
  Process process("full");
  const auto run = [&](const std::vector<std::int64_t>& rows) {
    std::vector<AnyTensor> a, y;
    for (const std::int64_t r : rows) a.push_back(process.operand({r, 48}));
    const AnyTensor w = process.operand({48, 40});
    process.report = explain([&] {
      for (const AnyTensor& x : a) y.push_back(x.matmul(w));
      y.front().device().flush();
    });
    std::vector<std::vector<float>> results;
    for (const AnyTensor& x : y) results.push_back(Process::values(x));
    return results;
  };
  process.control.time = [](const ir::Tiling& t) { return is(t, 128, 64) ? 10e3 : 90e3; };
  const auto one = run({192});
  process.control.time = [](const ir::Tiling& t) { return is(t, 64, 256) ? 10e3 : 90e3; };
  const auto other = run({128});
  base::mutable_environment().autotune = "cached";
  process.restart();
  const auto both = run({192, 128, 192});
  REQUIRE(process.report.traces.at(0).launches.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& how = process.report.traces[0].launches[i].how;
    const bool is_long = process.report.traces[0].launches[i].accesses.back().shape[0] == 128;
    CHECK(how.find(is_long ? "rows=64,columns=256" : "rows=128,columns=64") != std::string::npos);
  }
  CHECK(process.control.compiled.size() == 2);
  CHECK(both[0] == one[0]);
  CHECK(both[1] == other[0]);
  CHECK(both[2] == one[0]);
}

TEST_CASE("choosing anew times plans that are made meanwhile, and replaces what the store has") {
  Process process("cached");
  {
    TuneAnew anew;
    process.control.time = [](const ir::Tiling& t) { return is(t, 128, 64) ? 10e3 : 90e3; };
    process.run();
    const std::vector<TimedKernel> timed = anew.take_timed();
    REQUIRE(timed.size() == 1);
    CHECK(timed[0].chosen.starts_with("rows=128,columns=64"));
    CHECK(timed[0].undecided.empty());
    CHECK(timed[0].variants.size() > 6);
    CHECK(timed[0].variants[0].microseconds == 90);
  }
  process.restart();
  {
    TuneAnew anew;
    process.control.time = [](const ir::Tiling& t) { return is(t, 64, 256) ? 10e3 : 90e3; };
    process.run();
  }
  REQUIRE(tuned_kernels().size() == 1);
  CHECK(tuned_kernels()[0].parameters.starts_with("rows=64,columns=256"));
  process.restart();
  process.run();
  CHECK(process.control.timed == 0);
  CHECK(process.how().find("rows=64,columns=256") != std::string::npos);
  CHECK(forget_tuned_kernels() == 1);
  CHECK(tuned_kernels().empty());
}

TEST_CASE("threads of one device time once, and their programs go on meanwhile") {
  Process process("full");
  process.control.time = [](const ir::Tiling& t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return is(t, 128, 64) ? 10e3 : 90e3;
  };
  std::vector<AnyTensor> operands;
  for (int k = 0; k < 2; ++k) {
    operands.push_back(AnyTensor::full({48, 48}, 0.5, DType::bf16, process.device));
    operands.back().sync();
  }
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      const AnyTensor y = operands[0].matmul(operands[1]);
      y.sync();
      results[t] = Process::values(y);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == results[0]);
  CHECK(results[0][0] == 12);
  CHECK(tune::Tuner::global().take_outcomes().size() == 1);
}

TEST_CASE("scratch memory has all that a launch touches and little more") {
  const auto check = [](const Planned& p, std::vector<std::int64_t> ends) {
    REQUIRE(p.tiled == 1);
    std::vector<std::int64_t> found;
    for (const tune::Touched& touched : tune::touched_by(*p.kernel, p.ints)) {
      CHECK(touched.low == 0);
      found.push_back(touched.end);
    }
    std::sort(found.begin(), found.end());
    std::sort(ends.begin(), ends.end());
    CHECK(found == ends);
  };
  check(product({64, 32}, {32, 48}), {64 * 32, 32 * 48, 64 * 48});
  check(product({3, 64, 32}, {3, 32, 48}), {3 * 64 * 32, 3 * 32 * 48, 3 * 64 * 48});
  check(planned([](const Device& device) {
          const AnyTensor a = input({64, 64}, device).narrow(1, 16, 32), b = input({32, 48}, device);
          return std::vector{a.matmul(b)};
        }),
        {63 * 64 + 16 + 32, 32 * 48, 64 * 48});
  // A padded operand of the epilogue is read where its predicate says so, which bounds do not know.
  const Planned padded = planned([](const Device& device) {
    const AnyTensor a = input({64, 32}, device), b = input({32, 48}, device), c = input({60, 48}, device);
    return std::vector{AnyTensor::add(a.matmul(b), c.pad({2, 0}, {2, 0}, 0.0))};
  });
  bool leads_before = false;
  for (const tune::Touched& touched : tune::touched_by(*padded.kernel, padded.ints))
    leads_before |= touched.low < 0;
  CHECK(leads_before);
}

TEST_CASE("results that differ by rounding agree, and one wrong tile does not") {
  const Planned p = product({256, 512}, {512, 256});
  const double tolerance = tune::tolerance_of(*p.kernel, p.kernel->tiling, 512);
  std::vector<bfloat16> reference, result;
  std::mt19937 random(3);
  for (int i = 0; i < 4096; ++i) {
    const float value = static_cast<float>(random() % 1000) / 500 - 1;
    reference.emplace_back(value);
    result.push_back(bfloat16::from_bits(static_cast<std::uint16_t>(reference.back().bits() + random() % 2)));
  }
  const auto verdict = [&] {
    const auto one = std::as_bytes(std::span(reference)), other = std::as_bytes(std::span(result));
    tune::Comparison comparison(DType::bf16, tolerance, tune::greatest_of(DType::bf16, one));
    comparison.add(one, other);
    return comparison.verdict();
  };
  CHECK(verdict() == "");
  for (int i = 64; i < 128; ++i) result[static_cast<std::size_t>(i)] = bfloat16(0.f);
  CHECK(verdict().find("of 4096 results differ") != std::string::npos);
  result = reference;
  result[17] = bfloat16::from_bits(0x7fc0);  // not a number
  CHECK(verdict().find("1 of 4096 results differ") != std::string::npos);
  reference[17] = result[17];
  CHECK(verdict() == "");
  // Of truth values a few may be others, where a sum lies at the limit.
  std::vector<std::uint8_t> truths(100'000, 1), others = truths;
  const auto differs = [&] {
    tune::Comparison comparison(DType::boolean, tolerance, 1);
    comparison.add(std::as_bytes(std::span(truths)), std::as_bytes(std::span(others)));
    return !comparison.verdict().empty();
  };
  others[5] = others[500] = 0;
  CHECK_FALSE(differs());
  std::fill(others.begin(), others.begin() + 64, std::uint8_t{0});
  CHECK(differs());
}

}  // namespace sinter::testing
