// The fault words of runs on CUDA: each run has its own, any thread may ask for them at any time, and they
// are used again once nobody can ask and the run has ended.
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kRows = 20, kTable = 10;

/// Work that nothing waits for does not run.
bool is_late() {
  const char* order = std::getenv("SINTER_EMULATION_ORDER");
  return emulation() && order && std::string(order) == "late";
}

/// A gather of rows from a table: one fault word per launch.
class Gathers {
 public:
  Gathers() {
    KernelBuilder k({kRows});
    const ir::ExprId at = k.load(k.input(DType::i64, std::vector<std::int64_t>(kRows, 3)), k.all());
    const std::uint16_t result = k.output(DType::f32, kRows),
                        table = k.input(DType::f32, std::vector<double>(kTable, 2.0));
    k.store(result, k.all(), k.load_at(table, k.map({0}), at, 1, kTable));
    case_ = k.finish("gather");
    const ir::Kernel* kernel = &case_.kernel;
    executable_ = backend->compile(std::span(&kernel, 1)).at(0);
    const std::vector<float> values(kTable, 2.0F);
    table_ = backend->allocate(kTable * sizeof(float));
    backend->upload({table_.get(), 0}, std::as_bytes(std::span(values)));
    result_ = backend->allocate(kRows * sizeof(float));
    good_ = rows(3);
    bad_ = rows(kTable);
  }

  /// A run with one launch for each character: 'b' has an index out of range, 'g' has none.
  runtime::FaultReportRef run(const std::string& launches, std::unique_ptr<runtime::PlanState>* state) {
    backend->begin(state, {.faults = words ? words : static_cast<std::uint32_t>(launches.size())});
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const runtime::BufferView views[] = {
          {(launches[i] == 'b' ? bad_ : good_).get(), 0}, {result_.get(), 0}, {table_.get(), 0}};
      backend->launch(*executable_,
                      {views, case_.bindings.ints, case_.bindings.scalars, 1, static_cast<std::uint32_t>(i)});
    }
    return backend->submit();
  }

  const std::shared_ptr<runtime::Backend> backend = runtime::make_cuda_backend(0, 16);
  std::uint32_t words = 0;  // of a run; 0: one for each launch

 private:
  runtime::BufferRef rows(std::int64_t last) {
    std::vector<std::int64_t> at(kRows, 3);
    at.back() = last;
    auto buffer = backend->allocate(at.size() * sizeof at[0]);
    backend->upload({buffer.get(), 0}, std::as_bytes(std::span(at)));
    return buffer;
  }
  KernelCase case_;
  runtime::ExecutableRef executable_;
  runtime::BufferRef table_, result_, good_, bad_;
};

std::string told(runtime::FaultReport& report) {
  std::string text;
  for (const std::uint32_t word : report.words()) text += word == 0 ? 'g' : word == 1 ? 'b' : '?';
  return text;
}

}  // namespace

TEST_CASE("each launch has a word of its own, in each run of a plan") {
  Gathers gathers;
  for (const bool has_plan : {false, true}) {
    std::unique_ptr<runtime::PlanState> state;
    for (const char* launches : {"gbggb", "ggggg", "bbbbb", "ggggg", "bgggg", "ggggb", "ggggg"}) {
      const auto report = gathers.run(launches, has_plan ? &state : nullptr);
      REQUIRE(report);
      CHECK(told(*report) == launches);
      CHECK(report->done());
      CHECK(told(*report) == launches);  // as often as one likes
    }
  }
  CHECK(gathers.backend->statistics().graphs_built == 1);
  // Nothing else tells of them.
  const auto report = gathers.run("b", nullptr);
  CHECK_NOTHROW(gathers.backend->synchronize());
  CHECK(report->done());
  gathers.backend->begin(nullptr, {});
  CHECK(gathers.backend->submit() == nullptr);
}

TEST_CASE("reports are asked long after their runs, in any order") {
  Gathers gathers;
  std::unique_ptr<runtime::PlanState> state;
  constexpr int kRuns = 700;
  const auto launches_of = [](int run) -> std::string {
    return run % 5 == 0 ? "gbg" : run % 7 == 0 ? "bgg" : "ggg";
  };
  for (const bool read : {false, true}) {  // by waiting for each, or for all at once
    std::vector<runtime::FaultReportRef> reports;
    for (int run = 0; run < kRuns; ++run) reports.push_back(gathers.run(launches_of(run), &state));
    if (is_late()) CHECK(!reports.front()->done());
    if (is_late()) CHECK(!reports.back()->done());
    if (!read) gathers.backend->synchronize();
    for (int i = 0; i < kRuns; ++i) {
      const int run = i * 37 % kRuns;
      const auto at = static_cast<std::size_t>(run);
      CHECK(told(*reports[at]) == launches_of(run));
      CHECK(reports[at]->done());
    }
  }
}

TEST_CASE("a read tells of the runs up to its value, not of later ones") {
  if (!is_late()) return;
  Gathers gathers;
  const auto first = gathers.run("b", nullptr);
  const auto second = gathers.run("g", nullptr);
  CHECK(!first->done());
  CHECK(told(*first) == "b");
  CHECK(first->done());
  CHECK(!second->done());
  CHECK(told(*second) == "g");
}

TEST_CASE("words are used again, but not before their run has ended") {
  Gathers gathers;
  // Reports that nobody keeps: their words must not be cleared or written for another run too early.
  for (int round = 0; round < 50; ++round) {
    gathers.run("bbb", nullptr);
    const auto kept = gathers.run("ggg", nullptr);
    gathers.run("bgb", nullptr);
    if (round % 10 == 0) CHECK(told(*kept) == "ggg");
  }
  gathers.backend->synchronize();
  if (!emulation()) return;
  // A program that reads what it computes has the same words in each run: its graphs need no update for them.
  std::unique_ptr<runtime::PlanState> state;
  for (int run = 0; run < 3; ++run) CHECK(told(*gathers.run("gbg", &state)) == "gbg");
  const std::uint64_t updates = emulation()->graph_updates;
  for (int run = 0; run < 10; ++run) CHECK(told(*gathers.run("gbg", &state)) == "gbg");
  CHECK(emulation()->graph_updates == updates);
  // A report that is kept makes the next run have others: one update for each launch.
  const auto kept = gathers.run("gbg", &state);
  const std::uint64_t before = emulation()->graph_updates;
  CHECK(told(*gathers.run("gbg", &state)) == "gbg");
  CHECK(emulation()->graph_updates == before + 3);
  CHECK(told(*kept) == "gbg");
}

TEST_CASE("words of a run that was abandoned are not another's until it has ended") {
  Gathers gathers;
  for (int round = 0; round < 5; ++round) {
    gathers.backend->begin(nullptr, {.faults = 3});
    gathers.backend->abandon();
    const auto report = gathers.run("gbg", nullptr);
    CHECK(told(*report) == "gbg");
  }
}

TEST_CASE("other threads ask while the device is used") {
  Gathers gathers;
  std::unique_ptr<runtime::PlanState> state;
  std::vector<std::thread> threads;
  for (int round = 0; round < 60; ++round) {
    const std::string launches = round % 3 == 0 ? "ggb" : "ggg";
    threads.emplace_back([report = gathers.run(launches, &state), launches, round] {
      if (round % 2 == 0)
        while (!report->done() && !is_late()) std::this_thread::yield();
      CHECK(told(*report) == launches);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a launch has no more words than its run") {
  Gathers gathers;
  gathers.words = 2;
  CHECK_THROWS_WITH_AS(gathers.run("ggg", nullptr), doctest::Contains("fault words up to 3"), Error);
  gathers.backend->abandon();
  gathers.words = 0;
  CHECK(told(*gathers.run("ggg", nullptr)) == "ggg");
}

}  // namespace sinter::testing
