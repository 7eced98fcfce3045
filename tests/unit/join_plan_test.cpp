// Pieces of a concatenation that are stored where it lies, instead of being copied there.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/plan_comparison.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// What the longest plan of its lifetime does with concatenations.
struct Copies : runtime::TraceObserver {
  Copies() { add_observer(*this); }
  ~Copies() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    if (run.plan.launches.size() < launches) return;
    launches = run.plan.launches.size();
    most_read = 0;
    for (const plan::Launch& launch : run.plan.launches)
      if (std::any_of(launch.records.begin(), launch.records.end(),
                      [&](std::uint32_t record) { return run.trace.ops[record].op == Op::SliceAssign; }))
        most_read = std::max(most_read, static_cast<std::size_t>(std::count_if(
                                            launch.uses.begin(), launch.uses.end(),
                                            [](const plan::ValueUse& use) { return use.read; })));
  }
  std::size_t launches = 0, most_read = 0;
};

std::vector<float> numbers(std::int64_t count, int step) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>((static_cast<int>(i % 1000) * step) % 13 - 6) / 16;
  return all;
}

/// A plain recurrent network, the states of whose steps are joined.
struct Network {
  Network(const Device& device, std::int64_t batch, std::int64_t width)
      : weight(Tensor<2>::from_data(numbers(width * width, 5), {width, width}, device)),
        x(Tensor<2>::from_data(numbers(batch * width, 3), {batch, width}, device)) {
    weight.sync(), x.sync();
  }
  std::vector<Tensor<2>> states(int steps) const {
    std::vector<Tensor<2>> all;
    for (int s = 0; s < steps; ++s)
      all.push_back(((all.empty() ? x : all.back()).matmul(weight) * 0.25 + x).tanh());
    return all;
  }
  Tensor<2> weight, x;
};

using Program = std::function<std::vector<Tensor<2>>(const Network&)>;

std::vector<std::vector<float>> values(const Network& network, const Program& program, bool fusion) {
  const bool before = std::exchange(base::mutable_environment().fusion, fusion);
  const std::vector<Tensor<2>> results = program(network);
  network.x.device().flush();
  std::vector<std::vector<float>> all;
  for (const Tensor<2>& result : results) all.push_back(result.to_vector<float>());
  base::mutable_environment().fusion = before;
  return all;
}

/// Of the launches that have to do with a concatenation, the most values that one reads: 0 where all pieces
/// are where they belong. Fused and unfused the program has the same values.
std::size_t copied(std::int64_t batch, std::int64_t width, const Program& program) {
  const Network network(device_over(make_oracle_backend()), batch, width);
  const auto want = values(network, program, false);
  Copies copies;
  const auto got = values(network, program, true);
  REQUIRE(got.size() == want.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    REQUIRE(got[r].size() == want[r].size());
    bool same = true;
    for (std::size_t i = 0; i < got[r].size(); ++i)
      same &= std::abs(got[r][i] - want[r][i]) <= 1e-5f * (1 + std::abs(want[r][i]));
    CHECK(same);
  }
  return copies.most_read;
}

Tensor<2> doubled(const std::vector<Tensor<2>>& pieces, std::int64_t axis = 0) {
  return Tensor<2>::cat(pieces, axis) * 2.0;
}

}  // namespace

TEST_CASE("states of steps are stored where their concatenation lies") {
  for (const int steps : {8, 9, 16, 17, 40, 300})
    CHECK(copied(4, 16, [=](const Network& n) { return std::vector{doubled(n.states(steps))}; }) == 0);
  // Of other shapes than the steps have, too.
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<AnyTensor> pieces;
          for (const Tensor<2>& state : n.states(12)) pieces.push_back(state.dynamic());
          const AnyTensor all = AnyTensor::stack(pieces, 0);
          return std::vector{Tensor<2>(AnyTensor::mul(all, all).reshape({48, 16}))};
        }) == 0);
  // In the gradient of the weight all states are one factor.
  CHECK(copied(4, 16, [](const Network& n) {
          Tensor<2> sum = Tensor<2>::zeros({16, 16}, n.x.device());
          for (const Tensor<2>& state : n.states(20)) sum = sum + state.transpose(0, 1).matmul(state);
          return std::vector{sum};
        }) == 0);
}

TEST_CASE("a concatenation that is a result has its pieces in it") {
  CHECK(copied(4, 16, [](const Network& n) { return std::vector{Tensor<2>::cat(n.states(12), 0)}; }) == 0);
  // And who reads the pieces and the whole in one kernel reads them twice.
  CHECK(copied(4, 16, [](const Network& n) {
          const std::vector<Tensor<2>> states = n.states(12);
          const Tensor<2> whole = Tensor<2>::cat(states, 0);
          return std::vector{whole, whole.narrow(0, 0, 4) * states[0] + states[11]};
        }) == 0);
}

TEST_CASE("few pieces, and such as lie apart or begin between vectors, are copied") {
  const auto count = [](std::int64_t batch, std::int64_t width, int steps, std::int64_t axis = 0) {
    return copied(batch, width,
                  [=](const Network& n) { return std::vector{doubled(n.states(steps), axis)}; });
  };
  // One kernel reads them all, and what the last one is computed of.
  CHECK(count(4, 16, 7) == 8);
  CHECK(count(4, 16, 12, 1) == 13);
  CHECK(count(3, 5, 12) == 13);
  CHECK(count(1, 64, 12) == 0);
  CHECK(count(1, 64, 12, 1) == 0);
  CHECK(count(64, 1, 12) == 0);
}

TEST_CASE("pieces that have memory elsewhere are copied, and no others") {
  constexpr std::size_t kAlone = 3;  // what the kernel of one state reads
  // Some that somebody sees, by themselves or by a view.
  CHECK(
      copied(4, 16, [](const Network& n) {
        const std::vector<Tensor<2>> states = n.states(12);
        return std::vector{doubled(states), states[3], states[5].narrow(1, 2, 3), states[7].transpose(0, 1)};
      }) <= kAlone);
  // One that was there before, and one twice.
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<Tensor<2>> states = n.states(12);
          states.insert(states.begin(), n.x);
          states.push_back(states[4]);
          return std::vector{doubled(states)};
        }) <= kAlone);
  // A piece of two concatenations is in one of them, and copied to the other if it has more of its own.
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<Tensor<2>> states = n.states(20);
          const Tensor<2> all = doubled({states.begin(), states.begin() + 12});
          return std::vector{all, doubled({states.begin() + 8, states.end()}) + 1.0};
        }) <= kAlone);
}

TEST_CASE("where most pieces would be copied, one kernel reads them where they are") {
  CHECK(copied(4, 16, [](const Network& n) {
          const std::vector<Tensor<2>> states = n.states(12);
          std::vector<Tensor<2>> results = states;
          results.push_back(doubled(states));
          return results;
        }) == 12);
  CHECK(copied(4, 16, [](const Network& n) {
          return std::vector{doubled(std::vector<Tensor<2>>(12, n.states(1)[0]))};
        }) == 2);
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<Tensor<2>> states = n.states(12);
          const Tensor<2> all = doubled(states);
          states.resize(9);
          return std::vector{all, doubled(states) + 1.0};
        }) == 9);
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<Tensor<2>> pieces;
          for (int i = 0; i < 7; ++i) pieces.push_back((n.x + static_cast<double>(i)).sin());
          for (const Tensor<2>& piece : pieces) piece.sync();
          pieces.push_back(n.x * 3.0);
          return std::vector{doubled(pieces)};
        }) == 8);
}

TEST_CASE("a concatenation of concatenations is one piece of memory") {
  CHECK(copied(4, 16, [](const Network& n) {
          const std::vector<Tensor<2>> states = n.states(30);
          const std::vector<Tensor<2>> early(states.begin(), states.begin() + 12);
          const std::vector<Tensor<2>> late(states.begin() + 12, states.end());
          const Tensor<2> first = Tensor<2>::cat(early, 0), second = Tensor<2>::cat(late, 0);
          return std::vector{doubled({first, second}), first.matmul(n.weight), second.matmul(n.weight)};
        }) == 0);
  // One of the parts is seen itself: it is copied to the whole.
  CHECK(copied(4, 16, [](const Network& n) {
          const std::vector<Tensor<2>> states = n.states(30);
          const Tensor<2> first = Tensor<2>::cat(std::vector(states.begin(), states.begin() + 10), 0);
          const Tensor<2> second = Tensor<2>::cat(std::vector(states.begin() + 10, states.end()), 0);
          return std::vector{doubled({first, second}), first};
        }) == 1);
}

TEST_CASE("joined pieces live as long as the whole, and nothing else is stored over them") {
  // Values of the same size come and go between the steps, each of which could lie where a state does.
  CHECK(copied(4, 16, [](const Network& n) {
          std::vector<Tensor<2>> states;
          Tensor<2> state = n.x;
          for (int s = 0; s < 12; ++s) {
            state = (state.matmul(n.weight) * 0.25 + n.x).tanh();
            states.push_back(state);
            for (int k = 0; k < 3; ++k) state = (state + 0.125).matmul(n.weight).sin();
          }
          const Tensor<2> whole = Tensor<2>::cat(states, 0);
          const Tensor<2> sums = whole.sum(0).reshape<2>({1, 16});
          Tensor<2> last = whole.matmul(n.weight);
          // Pieces are read when nobody reads the whole any more.
          for (int k = 0; k < 4; ++k) last = (last + 0.125).matmul(n.weight).sin();
          for (const std::size_t s : {0, 3, 11}) last = last.narrow(0, 0, 4).matmul(n.weight) + states[s];
          return std::vector{sums, last};
        }) == 0);
}

TEST_CASE("random programs of concatenations give what they give unfused") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    copied(2, 64, [=](const Network& n) {
      std::mt19937_64 random(seed);
      const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
      std::vector<Tensor<2>> all = n.states(3), results;
      const auto any = [&] { return all[below(all.size())]; };
      for (int step = 0; step < 16; ++step) {
        const Tensor<2> x = any();
        switch (below(5)) {
          case 0: all.push_back((x.matmul(n.weight) * 0.25).tanh()); break;
          case 1: all.push_back((x + 0.5).sin()); break;
          case 2: {
            std::vector<Tensor<2>> pieces;
            for (std::size_t k = 0; k < 6 + below(8); ++k) pieces.push_back(below(3) ? any().cos() : any());
            std::int64_t rows = 0;
            for (const Tensor<2>& piece : pieces) rows += piece.shape()[0];
            if (rows <= 100) all.push_back(Tensor<2>::cat(pieces, 0));
            break;
          }
          case 3: {
            const auto from = static_cast<std::int64_t>(below(static_cast<std::size_t>(x.shape()[0])));
            all.push_back(x.narrow(0, from, x.shape()[0] - from) * 2.0);
            break;
          }
          case 4: results.push_back(x); break;
        }
      }
      results.push_back(all.back());
      return results;
    });
  }
}

TEST_CASE("new sizes are joined where their pieces allow it") {
  const Device device = Device::null();
  Comparison comparison({sharing(), cutting(), contracting()});
  for (const std::int64_t batch : {4, 8, 3, 64, 5, 16, 1})
    for (const std::int64_t width : {16, 7}) {
      const Network network(device, batch, width);
      const Tensor<2> all = doubled(network.states(20)).matmul(network.weight);
      device.flush();
    }
  CHECK(comparison.differing == 0);
  CHECK(comparison.reused() > 0);
}

TEST_CASE(
    "long lists of large pieces are copied by one launch, or by kernels for some each where they "
    "interleave") {
  constexpr std::int64_t kCount = 24, kSide = 1024, kPiece = kSide * kSide;
  const Device device = Device::null();
  std::vector<Tensor<2>> pieces;
  for (std::int64_t k = 0; k < kCount; ++k)
    pieces.push_back(Tensor<2>::from_data(numbers(kPiece, 3), {kSide, kSide}, device));
  device.sync();
  constexpr double kLaunch = 8 << 20, kTest = 12.0 / 14;  // the null device's
  const auto each = static_cast<std::int64_t>(std::sqrt(kLaunch / (static_cast<double>(kPiece) * kTest)));
  for (const std::int64_t axis : {0, 1}) {
    Tensor<2> whole;
    const Report report = explain([&] { whole = Tensor<2>::cat(pieces, axis); });
    REQUIRE(report.traces.size() == 1);
    const ReportTrace& trace = report.traces[0];
    CHECK(trace.launches.size() == static_cast<std::size_t>(axis == 0 ? 1 : kCount / each));
    CHECK(trace.launches[0].members == static_cast<std::uint32_t>(axis == 0 ? kCount : 1));
    CHECK(trace.temporary_bytes == 0);
    CHECK(trace.bytes_moved == 2 * kCount * kPiece * 4);
  }
}

TEST_CASE("long lists of small pieces are joined in groups that share a launch") {
  const Device device = Device::null();
  std::vector<Tensor<2>> pieces;
  for (int k = 0; k < 256; ++k) pieces.push_back(Tensor<2>::from_data(numbers(12, 3), {4, 3}, device));
  device.sync();
  Tensor<2> whole;
  const Report report = explain([&] { whole = Tensor<2>::cat(pieces, 1); });
  REQUIRE(report.traces.size() == 1);
  CHECK(report.traces[0].launches.size() == 2);
}

TEST_CASE("what goes on from a long list of tensors reads them where they are") {
  const Device device = Device::null();
  std::vector<Tensor<2>> pieces;
  for (int k = 0; k < 12; ++k) pieces.push_back(Tensor<2>::from_data(numbers(512, 3), {16, 32}, device));
  device.sync();
  Tensor<2> whole;
  const Report report = explain([&] { whole = Tensor<2>::cat(pieces, 0) * 2.0 + 1.0; });
  REQUIRE(report.traces.size() == 1);
  CHECK(report.traces[0].temporary_bytes == 0);
  CHECK(report.traces[0].bytes_moved == 2 * 12 * 512 * 4);
}

}  // namespace sinter::testing
