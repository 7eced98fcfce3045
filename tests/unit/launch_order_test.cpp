// Launches that may run at the same time: who waits for whom, and whose memory.
#include "jit/plan/launch_order.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/strands_backend.h"

namespace sinter::testing {
namespace {

struct Strands {
  Strands() {
    auto made = std::make_unique<StrandsBackend>(make_oracle_backend());
    backend = made.get();
    device = device_over(std::move(made));
  }
  StrandsBackend* backend = nullptr;
  Device device{nullptr};
};

/// Without fusion a program has more launches.
struct Fusion {
  explicit Fusion(bool fusion) { base::mutable_environment().fusion = fusion; }
  ~Fusion() { base::mutable_environment().fusion = before; }
  const bool before = base::environment().fusion;
};

/// Bytes that a launch reads or writes.
struct Bytes {
  plan::Binding::Space space;
  std::uint32_t index;
  std::size_t begin, end;
  bool written;
  bool conflicts(const Bytes& other) const {
    return (written || other.written) && space == other.space && index == other.index && begin < other.end &&
           other.begin < end;
  }
};

/// Holds the orders of all plans that run against the plain rule, pair by pair.
struct OrderObserver : runtime::TraceObserver {
  OrderObserver() { add_observer(*this); }
  ~OrderObserver() override { remove_observer(*this); }

  void runs(const runtime::TraceRun& run) override {
    const plan::Plan& plan = run.plan;
    launches = plan.launches.size();
    peak = plan.peak_bytes;
    const plan::LaunchOrder order = plan::launch_order(plan, plan::LaunchOrder::kMostStrands);
    last = order;
    std::vector<std::vector<Bytes>> bytes;
    std::vector<std::vector<bool>> waits(launches, std::vector<bool>(launches, false));
    for (std::size_t i = 0; i < launches; ++i) {
      bytes.push_back(bytes_of(plan, i));
      for (const std::uint32_t before : order.after_of(i)) {
        // None that another one waits for.
        CHECK_FALSE(waits[i][before]);
        waits[i][before] = true;
        for (std::size_t k = 0; k < before; ++k)
          if (waits[before][k]) waits[i][k] = true;
      }
      for (std::size_t k = 0; k < i; ++k) {
        const bool conflict = std::any_of(bytes[k].begin(), bytes[k].end(), [&](const Bytes& a) {
          return std::any_of(bytes[i].begin(), bytes[i].end(),
                             [&](const Bytes& b) { return a.conflicts(b); });
        });
        pairs += conflict;
        CHECK_MESSAGE((!conflict || waits[i][k]), "launch " << i << " does not wait for " << k);
        if (order.strands[i] == order.strands[k]) CHECK(waits[i][k]);
      }
    }
    longest_chain = plan::longest_chain(order);
  }

  static std::vector<Bytes> bytes_of(const plan::Plan& plan, std::size_t i) {
    const plan::Launch& launch = plan.launches[i];
    const std::size_t uses = launch.uses.size() / launch.members,
                      buffers = launch.buffers.size() / launch.members;
    std::vector<Bytes> found;
    for (std::size_t u = 0; u < launch.uses.size(); ++u) {
      const plan::ValueUse& use = launch.uses[u];
      const plan::Binding& at = launch.buffers[u / uses * buffers + use.buffer];
      const std::size_t size = static_cast<std::size_t>(plan.shapes[use.value].numel()) *
                               size_of(plan.structure->values[use.value].dtype);
      if (size == 0) continue;
      if (at.space != plan::Binding::Space::Temporary) {
        found.push_back({at.space, at.index, 0, ~std::size_t{0}, use.written});
        continue;
      }
      // A library op's operand may begin within a value; no more of it than the value has is used.
      found.push_back({at.space, at.index, at.byte_offset, at.byte_offset + size, use.written});
      if (std::holds_alternative<std::uint32_t>(launch.what))
        CHECK(at.byte_offset + size <= plan.arena_bytes[at.index]);
    }
    return found;
  }

  std::size_t launches = 0, pairs = 0, peak = 0, longest_chain = 0;
  plan::LaunchOrder last;
};

/// `chains` that have nothing in common, of `steps` products each.
std::vector<float> chains(const Device& device, int chains, int steps) {
  std::vector<float> numbers(256);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) / 16;
  const auto x = Tensor<2>::from_data(numbers, {16, 16}, device);
  std::vector<Tensor<2>> ends;
  for (int c = 0; c < chains; ++c) {
    Tensor<2> end = x + static_cast<double>(c);
    for (int s = 0; s < steps; ++s) end = end.matmul(x);
    ends.push_back(end);
  }
  device.flush();
  std::vector<float> all;
  for (const Tensor<2>& end : ends)
    for (const float value : end.to_vector<float>()) all.push_back(value);
  return all;
}

}  // namespace

TEST_CASE("chains that have nothing in common run in strands of their own") {
  Strands strands;
  OrderObserver observer;
  const std::vector<float> want = chains(device_over(make_oracle_backend()), 3, 5);
  for (int run = 0; run < 4; ++run) CHECK(chains(strands.device, 3, 5) == want);
  CHECK(observer.last.strand_count == 3);
  CHECK(observer.longest_chain < observer.launches / 2);
  CHECK(strands.backend->ordered_runs == 3);  // all but the first
  CHECK(strands.backend->moved_launches > 0);
}

TEST_CASE("a plan of one chain has no order") {
  Strands strands;
  const std::vector<float> want = chains(device_over(make_oracle_backend()), 1, 6);
  for (int run = 0; run < 3; ++run) CHECK(chains(strands.device, 1, 6) == want);
  CHECK(strands.backend->ordered_runs == 0);
}

TEST_CASE("more chains than strands") {
  Strands strands;
  OrderObserver observer;
  const std::vector<float> want = chains(device_over(make_oracle_backend()), 9, 3);
  for (int run = 0; run < 3; ++run) CHECK(chains(strands.device, 9, 3) == want);
  CHECK(observer.last.strand_count == plan::LaunchOrder::kMostStrands);
}

TEST_CASE("where there is no memory for several workspaces, launches run one after the other") {
  Strands strands;
  const std::vector<float> want = chains(device_over(make_oracle_backend()), 3, 5);
  strands.backend->refuses_orders = true;
  for (int run = 0; run < 3; ++run) CHECK(chains(strands.device, 3, 5) == want);
  CHECK(strands.backend->ordered_runs == 0);
  // It is not tried again.
  strands.backend->refuses_orders = false;
  CHECK(chains(strands.device, 3, 5) == want);
  CHECK(strands.backend->ordered_runs == 0);
}

TEST_CASE("batches make no chain longer where launches may run at the same time") {
  // Two layers: the second one's steps begin when the first has done three of its own.
  const auto layers = [](const Device& device) {
    std::vector<float> numbers(256);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 5) / 8;
    const auto x = Tensor<2>::from_data(numbers, {16, 16}, device);
    Tensor<2> first = x, second = x;
    for (int s = 0; s < 12; ++s) {
      first = (first * 0.5 + 0.25).sum(0).tanh().expand({16, 16});
      if (s == 2) second = first.matmul(x);
      if (s > 2) second = (second * 0.5 + 0.25).sum(0).tanh().expand({16, 16});
    }
    device.flush();
    return std::pair{first.to_vector<float>(), second.to_vector<float>()};
  };
  OrderObserver observer;
  const auto want = layers(device_over(make_oracle_backend()));
  Strands strands;
  for (int run = 0; run < 3; ++run) CHECK(layers(strands.device) == want);
  CHECK(observer.longest_chain <= 14);
}

TEST_CASE("a plan takes other memory where it would wait for what still uses some, up to a limit") {
  // Each round's temporaries die before the next round, which does not depend on it.
  const auto rounds = [](const Device& device) {
    const Fusion unfused(false);
    std::vector<Tensor<1>> all;
    for (int r = 0; r < 6; ++r) {
      Tensor<1> x = Tensor<1>::full({1000}, r, device);
      for (int s = 0; s < 4; ++s) x = (x + 1.0) * 0.5;
      all.push_back(x);
    }
    device.flush();
    std::vector<float> ends;
    for (const Tensor<1>& x : all) ends.push_back(x.to_vector<float>()[7]);
    return ends;
  };
  OrderObserver observer;
  const std::vector<float> want = rounds(device_over(make_oracle_backend()));
  const std::size_t least = observer.peak, serial = observer.longest_chain;
  Strands strands;
  CHECK(rounds(strands.device) == want);
  CHECK(rounds(strands.device) == want);
  CHECK(observer.longest_chain < serial);
  CHECK(observer.peak >= least);
  CHECK(observer.peak <= least + strands.backend->traits().overlap_bytes);
}

TEST_CASE("random programs give the same numbers in any order of launches that is allowed") {
  for (const bool fusion : {true, false}) {
    const Fusion of_programs(fusion);
    Strands strands;
    OrderObserver observer;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Program program = random_program(seed, {.steps = 30, .i64 = false});
      for (int run = 0; run < 3; ++run) {
        const std::string wrong = check(program, strands.device);
        CHECK_MESSAGE(wrong.empty(), "program " << seed << ", run " << run << ": " << wrong);
      }
    }
    CHECK(observer.pairs > 500);
    CHECK(strands.backend->ordered_runs > 20);
    CHECK(strands.backend->moved_launches > 50);
  }
}

}  // namespace sinter::testing
