// Plans as CUDA graphs: when they are built, what replays update, and driver errors. With the emulated driver
// also the calls it receives.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/several_launches.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

/// A new device with at most this many graphs.
Device device_with(std::size_t most_graphs) {
  return device_over(runtime::make_cuda_backend(0, most_graphs));
}

/// Three variables, each updated in place by a different kernel.
struct Variables {
  explicit Variables(const Device& device)
      : a(A::full({100}, 3, DType::f32, device)),
        b(A::full({20, 4}, 5, DType::f32, device)),
        c(A::full({70}, 7, DType::f32, device)) {
    device.flush();
  }
  void step(const Device& device, int number) {
    a = A::add(A::mul(a, -1), number);
    b = A::sub(b.max({0}).expand({20, 4}), A::mul(b, number));
    c = A::maximum(A::mul(c, c), A::sub(number, c)).sqrt();
    device.flush();
  }
  std::vector<float> values() const {
    std::vector<float> all = values_of(a);
    for (const A& more : {b, c})
      for (float value : values_of(more)) all.push_back(value);
    return all;
  }
  A a, b, c;
};

}  // namespace

TEST_CASE("a plan becomes a graph when it is seen for the second time") {
  const Device device = device_with(16);
  const SeveralLaunches work(6, 10, 5, device);
  const Statistics before = device.statistics();
  for (std::uint64_t run = 1; run <= 5; ++run) {
    CHECK(work.is_right(static_cast<int>(run)));
    const Statistics now = device.statistics();
    CHECK(now.graphs_built - before.graphs_built == (run >= 2 ? 1 : 0));
    CHECK(now.graph_launches - before.graph_launches == run - 1);
    CHECK((now.launches - before.launches) % run == 0);
  }
}

TEST_CASE("with graphs and without give the same bits") {
  const Device with = device_with(16), without = device_with(0);
  Variables a(with), b(without);
  for (int step = 1; step <= 9; ++step) {
    a.step(with, step % 3);
    b.step(without, step % 3);
    CHECK(a.values() == b.values());
  }
  CHECK(with.statistics().graph_launches > 0);
  CHECK(without.statistics().graph_launches == 0);
}

TEST_CASE("launches of a graph that do not wait for each other have memory of their own") {
  const Device with = device_with(16), without = device_with(0);
  // Each chain sums long columns again and again, each sum of what the one before made of them: the parts of
  // a sum lie in a workspace, and are counted.
  const auto chains = [](const Device& device, int number) {
    std::vector<A> ends;
    for (int chain = 0; chain < 5; ++chain) {
      const std::int64_t columns = 3 + 2 * chain;
      std::vector<float> data(static_cast<std::size_t>(3000 * columns));
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 11) / 8 + number;
      const A x = A::from_bytes(std::as_bytes(std::span(data)), {3000, columns}, DType::f32, device);
      A sum = x.sum({0});
      for (int link = 0; link <= chain % 3; ++link) {
        const A scaled = A::mul(x, A::div(1, A::add(sum.abs(), number + link)));
        sum = chain % 2 == 0 ? A::mul(scaled, scaled).sum({0}) : scaled.exp().sum({0});
      }
      ends.push_back(sum);
    }
    device.flush();
    std::vector<float> all;
    for (const A& end : ends)
      for (const float value : values_of(end)) all.push_back(value);
    return all;
  };
  for (int number = 1; number <= 8; ++number) CHECK(chains(with, number) == chains(without, number));
  CHECK(with.statistics().graph_launches > 0);
}

TEST_CASE("kernels of a chain are placed while the one before runs, those of several strands are not") {
  if (!emulation()) return;
  const char* compute = std::getenv("SINTER_EMULATION_COMPUTE");
  const bool has_early = !compute || std::atoi(compute) >= 9;
  const auto edges_of = [](int chains) {
    const Device device = device_with(16);
    const A x = A::full({16, 16}, 0.0625, DType::f32, device);
    x.sync();
    const std::uint64_t before = emulation()->early_edges;
    for (int run = 0; run < 3; ++run) {
      std::vector<A> ends;
      for (int chain = 0; chain < chains; ++chain) {
        ends.push_back(A::add(x, chain));
        for (int link = 0; link < 5; ++link) ends.back() = ends.back().matmul(x);
      }
      device.flush();
      for (int chain = 0; chain < chains; ++chain)
        CHECK(values_of(ends[static_cast<std::size_t>(chain)])[0] ==
              doctest::Approx(0.0625 + chain).epsilon(1e-5));
    }
    CHECK(device.statistics().graphs_built == 1);
    return emulation()->early_edges - before;
  };
  CHECK(edges_of(1) == (has_early ? 5 : 0));
  CHECK(edges_of(3) == 0);
}

TEST_CASE("one or two launches are no graph") {
  const Device device = device_with(16);
  for (int run = 0; run < 4; ++run) {
    const A x = A::add(A::mul(A::full({100}, run, DType::f32, device), 2), 1);
    CHECK(values_of(x)[0] == static_cast<float>(2 * run + 1));
  }
  CHECK(device.statistics().graphs_built == 0);
}

TEST_CASE("replays write only what moved") {
  if (!emulation()) return;
  const Device device = device_with(16);
  Variables variables(device);
  variables.step(device, 2);
  variables.step(device, 2);
  REQUIRE(device.statistics().graphs_built == 1);
  const std::uint64_t before = emulation()->graph_updates, launches = emulation()->launches;
  variables.step(device, 2);
  variables.step(device, 2);
  if (device.statistics().bytes_in_place > 0) CHECK(emulation()->graph_updates == before);
  variables.step(device, 1);  // two kernels have the scalar, the third does not
  CHECK(emulation()->graph_updates > before);
  CHECK(emulation()->launches == launches);
}

TEST_CASE("few graphs for many plans") {
  const Device device = device_with(2);
  std::deque<SeveralLaunches> works;
  for (int i = 0; i < 5; ++i) works.emplace_back(3 + i, 8, 4, device);
  const std::uint64_t alive = emulation() ? emulation()->graphs_alive : 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round)
    for (const SeveralLaunches& work : works) {
      CHECK(work.is_right(round % 5));
      if (emulation()) CHECK(emulation()->graphs_alive <= alive + 2);
    }
  // Graphs that evict each other are built less and less often.
  const std::uint64_t built = device.statistics().graphs_built;
  CHECK(built > 5);
  CHECK(built <= 5 * 8);
  // A plan that runs alone keeps its graph.
  for (int run = 0; run < 200; ++run) works[0].run(run % 3);
  const std::uint64_t settled = device.statistics().graphs_built;
  for (int run = 0; run < 20; ++run) CHECK(works[0].is_right(run));
  CHECK(device.statistics().graphs_built == settled);
}

TEST_CASE("a graph that cannot be made or changed is done without") {
  if (!emulation()) return;
  int sinter_emulation::Control::*const failures[] = {&sinter_emulation::Control::fail_graph_instantiate,
                                                      &sinter_emulation::Control::fail_graph_update};
  for (const auto failure : failures) {
    const Device device = device_with(16);
    const SeveralLaunches work(6, 11, 5, device), other(4, 5, 6, device);
    const std::uint64_t alive = emulation()->graphs_alive;
    emulation()->*failure = 1;
    for (int run = 0; run < 6; ++run) CHECK(work.is_right(run));
    CHECK(emulation()->*failure == 0);
    CHECK(emulation()->graphs_alive == alive);
    const std::uint64_t launches = device.statistics().graph_launches;
    CHECK(work.is_right(7));
    CHECK(device.statistics().graph_launches == launches);  // this plan lost its graph
    for (int run = 0; run < 3; ++run) CHECK(other.is_right(run));
    CHECK(device.statistics().graph_launches > launches);  // other plans have one
  }
}

TEST_CASE("a graph that does not launch is an error like a kernel's") {
  if (!emulation()) return;
  const Device device = device_with(16);
  const SeveralLaunches work(6, 11, 5, device);
  for (int run = 0; run < 3; ++run) CHECK(work.is_right(run));
  emulation()->fail_graph_launch = 1;
  CHECK_THROWS_WITH_AS(work.run(3), doctest::Contains("the launch of a plan's graph failed"), DeviceError);
  CHECK(work.is_right(4));
}

TEST_CASE("a plan that fails on its way can be run again") {
  if (!emulation()) return;
  // A launch fails in the first, second, third run; with graphs, the second and third run call no launch
  // function.
  for (const std::size_t most_graphs : {0, 16})
    for (int failing = 0; failing < 3; ++failing)
      for (int launch = 1; launch <= 3; ++launch) {
        const Device device = device_with(most_graphs);
        const SeveralLaunches work(6, 9 + launch, 5 + failing, device);
        for (int run = 0; run < 6; ++run) {
          if (run != failing || (most_graphs > 0 && run > 0)) {
            CHECK(work.is_right(run));
            continue;
          }
          emulation()->fail_launch = launch;
          CHECK_THROWS_AS(work.run(run), DeviceError);
          CHECK(emulation()->fail_launch == 0);
        }
        CHECK(device.statistics().graphs_built == (most_graphs > 0 ? 1 : 0));
      }
}

TEST_CASE("a plan for whose results there was no memory can be run again") {
  if (!emulation()) return;
  // All results take memory: none stays a recipe.
  struct Stored {
    Stored() { base::mutable_environment().recipe_bytes = INT64_MAX; }
    ~Stored() { base::mutable_environment().recipe_bytes = before; }
    const std::int64_t before = base::environment().recipe_bytes;
  } stored;
  std::unique_ptr<runtime::Backend> made = runtime::make_cuda_backend(0, 16);
  runtime::Backend& backend = *made;
  const Device device = device_over(std::move(made));
  for (int failing = 0; failing < 3; ++failing) {
    const SeveralLaunches work(4096, 2048 + failing, 1, device);
    emulation()->idle = true;
    const std::uint64_t built = device.statistics().graphs_built;
    for (int run = 0; run < 5; ++run) {
      if (run != failing) {
        work.run(run);
        continue;
      }
      std::vector<runtime::BufferRef> all;
      for (const std::size_t bytes : {std::size_t{256} << 20, std::size_t{16} << 20, std::size_t{1} << 20})
        try {
          while (all.size() < 500) all.push_back(backend.allocate(bytes));
        } catch (const DeviceError&) {
        }
      CHECK_THROWS_AS(work.run(run), DeviceError);
    }
    emulation()->idle = false;
    CHECK(device.statistics().graphs_built == built + 1);
  }
  device.trim_memory();  // the tests that follow have devices of their own
}

TEST_CASE("a graph ends with its plan, which may be in flight") {
  const Device device = device_with(2000);
  const SeveralLaunches first(2, 3, 2, device);
  for (int run = 0; run < 3; ++run) CHECK(first.is_right(run));
  const std::uint64_t alive = emulation() ? emulation()->graphs_alive : 0;
  // More plans than the executor caches.
  constexpr int kPlans = 1100;
  const A x = A::full({2 * kPlans}, 1, DType::f32, device);
  x.sync();
  for (int i = 1; i <= kPlans; ++i) {
    A last;
    for (int run = 0; run < 2; ++run) {
      const Range ranges[] = {{0, i, 1}};
      const A part = x.slice(ranges);
      const A a = A::add(part, 2), b = A::mul(part, part).sqrt();
      last = part.sum({0});
      device.flush();
    }
    if (i % 100 == 0) CHECK(values_of(last)[0] == static_cast<float>(i));
  }
  if (emulation()) CHECK(emulation()->graphs_alive <= alive + 1024);
  for (int run = 0; run < 3; ++run) CHECK(first.is_right(run));
}

TEST_CASE("timed launches are not graphs") {
  const Device device = device_with(16);
  const SeveralLaunches work(6, 10, 5, device);
  for (int run = 0; run < 3; ++run) CHECK(work.is_right(run));
  const std::uint64_t launches = device.statistics().graph_launches;
  base::mutable_environment().log = {"launch"};
  CHECK(work.is_right(4));
  base::mutable_environment().log.clear();
  CHECK(device.statistics().graph_launches == launches);
  CHECK(work.is_right(5));
  CHECK(device.statistics().graph_launches == launches + 1);
}

TEST_CASE("SINTER_CUDA_GRAPHS=0 is a device without graphs") {
  base::mutable_environment().cuda_graphs = false;
  const Device device = device_over(runtime::make_cuda_backend(0));
  base::mutable_environment().cuda_graphs = true;
  const SeveralLaunches work(6, 10, 5, device);
  for (int run = 0; run < 4; ++run) CHECK(work.is_right(run));
  CHECK(device.statistics().graphs_built == 0);
}

}  // namespace sinter::testing
