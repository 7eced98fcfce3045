// Launches that may run at the same time: who waits for whom, and whose memory.
#include "jit/plan/launch_order.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/reference/oracle_backend.h"
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
    if (run.built) compare(run);
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

  /// Beside plans with next to no memory to spare, and without batches.
  void compare(const runtime::TraceRun& run) {
    const auto planned = [&](std::size_t overlap, std::size_t batch) {
      ir::DeviceTraits traits = run.traits;
      traits.overlap_bytes = overlap;
      traits.batch_bytes = batch;
      return plan::make_plan(run.trace, traits, {.fusion = run.fused});
    };
    const auto chain_of = [](const plan::Plan& plan) {
      return plan::longest_chain(plan::launch_order(plan, plan::LaunchOrder::kMostStrands));
    };
    constexpr std::size_t kEnough = std::size_t{1} << 40;
    const std::size_t least = planned(1, run.traits.batch_bytes).temporary_bytes();
    for (const std::size_t overlap : {std::size_t{512}, std::size_t{4096}, run.traits.overlap_bytes})
      CHECK(planned(overlap, run.traits.batch_bytes).temporary_bytes() <= least + overlap);
    batched_chain = chain_of(planned(kEnough, run.traits.batch_bytes));
    single_chain = chain_of(planned(kEnough, 0));
  }

  std::size_t launches = 0, pairs = 0, peak = 0, longest_chain = 0;
  std::size_t batched_chain = 0, single_chain = 0;  // of the last plan made, where memory is no matter
  plan::LaunchOrder last;
};

/// A plan of launches that read and write values of bytes, at places in one segment or in one input.
class Handmade {
 public:
  struct Use {
    std::uint32_t value;
    std::size_t offset;
    plan::Binding::Space space = plan::Binding::Space::Temporary;
  };

  std::uint32_t value(std::int64_t bytes) {
    structure_.values.push_back({.dtype = DType::u8});
    plan_.shapes.push_back({bytes});
    return static_cast<std::uint32_t>(plan_.shapes.size() - 1);
  }

  void launch(const std::vector<Use>& reads, const std::vector<Use>& writes) {
    begins_.push_back(structure_.uses.size());
    for (const bool written : {false, true})
      for (const Use& use : written ? writes : reads) {
        const auto place = static_cast<std::uint16_t>(structure_.uses.size() - begins_.back());
        structure_.uses.push_back({use.value, place, !written, written});
        buffers_.push_back({use.space, 0, use.offset});
      }
  }

  plan::LaunchOrder order() {
    begins_.push_back(structure_.uses.size());
    for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
      plan::Launch& launch = plan_.launches.emplace_back();
      launch.uses = std::span(structure_.uses).subspan(begins_[i], begins_[i + 1] - begins_[i]);
      launch.buffers = std::span(buffers_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
    }
    plan_.structure = std::make_shared<const plan::LaunchStructure>(structure_);
    plan_.arena_bytes = {1000};
    return plan::launch_order(plan_, plan::LaunchOrder::kMostStrands);
  }

 private:
  plan::Plan plan_;
  plan::LaunchStructure structure_;
  std::vector<plan::Binding> buffers_;
  std::vector<std::size_t> begins_;  // of each launch in both lists
};

std::vector<std::uint32_t> after(const plan::LaunchOrder& order, std::size_t launch) {
  const std::span<const std::uint32_t> list = order.after_of(launch);
  return {list.begin(), list.end()};
}

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

TEST_CASE("what lies where a part of something else was waits for those who read that") {
  // A value of 1000 bytes that a launch reads, then two others where it was.
  Handmade plan;
  const std::uint32_t whole = plan.value(1000), first = plan.value(400), rest = plan.value(600);
  plan.launch({}, {{whole, 0}});
  plan.launch({{whole, 0}}, {});
  plan.launch({}, {{first, 0}});
  plan.launch({}, {{rest, 400}});
  plan.launch({{rest, 400}}, {});
  const plan::LaunchOrder order = plan.order();
  CHECK(after(order, 0).empty());
  CHECK(after(order, 1) == std::vector<std::uint32_t>{0});
  CHECK(after(order, 2) == std::vector<std::uint32_t>{1});
  CHECK(after(order, 3) == std::vector<std::uint32_t>{1});
  CHECK(after(order, 4) == std::vector<std::uint32_t>{3});
  CHECK(order.strands[2] != order.strands[3]);
}

TEST_CASE("memory that is no temporary is waited for as a whole") {
  // Launches that read parts of one input do not wait for each other, but whoever writes it waits for both.
  Handmade plan;
  const std::uint32_t x = plan.value(1000), y = plan.value(1000);
  plan.launch({{x, 0, plan::Binding::Space::Input}}, {});
  plan.launch({{x, 500, plan::Binding::Space::Input}}, {});
  plan.launch({}, {{y, 900, plan::Binding::Space::Input}});
  const plan::LaunchOrder order = plan.order();
  CHECK(after(order, 1).empty());
  CHECK(after(order, 2) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("who reads a concatenation waits for all who store its pieces") {
  Strands strands;
  OrderObserver observer;
  const auto joined = [](const Device& device) {
    std::vector<float> numbers(1024);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) / 64;
    const auto x = Tensor<2>::from_data(numbers, {16, 64}, device);
    const auto w = Tensor<2>::from_data(std::vector<float>(64 * 64, 0.015625f), {64, 64}, device);
    std::vector<Tensor<2>> ends;
    for (int c = 0; c < 9; ++c) {
      Tensor<2> end = x + static_cast<double>(c);
      for (int s = 0; s < 1 + c % 3; ++s) end = end.matmul(w);
      ends.push_back(end);
    }
    const Tensor<2> whole = Tensor<2>::cat(ends, 0);
    // A library op reads a part of it, without its beginning and before anybody reads all of it.
    const Tensor<2> sorted = whole.narrow(0, 40, 100).sort(0).values;
    const Tensor<2> product = whole.matmul(w), order = ends[0].matmul(w);
    device.flush();
    std::vector<float> all = product.to_vector<float>();
    for (const Tensor<2>* more : {&order, &sorted})
      for (const float value : more->to_vector<float>()) all.push_back(value);
    return all;
  };
  const std::vector<float> want = joined(device_over(make_oracle_backend()));
  for (int run = 0; run < 4; ++run) CHECK(joined(strands.device) == want);
  CHECK(observer.last.strand_count > 1);
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
  // Three steps like the first one's wait for products, of which the first is of its third step: with its
  // fourth in one launch they would hold up all others.
  const auto layers = [](const Device& device) {
    std::vector<float> numbers(256);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 5) / 8;
    const auto x = Tensor<2>::from_data(numbers, {16, 16}, device);
    const auto step = [&](const Tensor<2>& of) { return (of.matmul(x) * 0.5).tanh(); };
    Tensor<2> first = x, second = x;
    for (int s = 0; s < 12; ++s) {
      first = step(first);
      if (s == 2) second = first;
    }
    for (int s = 0; s < 5; ++s) second = second.matmul(x);
    for (int s = 0; s < 3; ++s) second = step(second);
    device.flush();
    return std::pair{first.to_vector<float>(), second.to_vector<float>()};
  };
  OrderObserver observer;
  const auto want = layers(device_over(make_oracle_backend()));
  Strands strands;
  for (int run = 0; run < 3; ++run) CHECK(layers(strands.device) == want);
  CHECK(observer.longest_chain <= 25);
}

TEST_CASE("several batches make no chain longer together either") {
  Strands strands;
  OrderObserver observer;
  const auto x = Tensor<2>::full({16, 16}, 0.01, strands.device);
  x.sync();
  const auto products = [&](Tensor<2> of, int count) {
    for (int i = 0; i < count; ++i) of = of.matmul(x);
    return of;
  };
  // In one launch with that of the second chain, the tanh of the first comes after ten products, so that
  // its exp comes later, too: too late for the many products behind the third chain's.
  const Tensor<2> longest = products(x, 22);
  const Tensor<2> first = products(products(products(x * 2.0, 1).tanh(), 1).exp(), 8);
  const Tensor<2> second = products(products(x * 3.0, 10).tanh(), 1);
  const Tensor<2> third = products(products(x * 4.0, 1).exp(), 17);
  strands.device.flush();
  CHECK(observer.single_chain <= 23);
  CHECK(observer.batched_chain <= observer.single_chain);
}

TEST_CASE("a result is not written over what others still read that could run beside it") {
  Strands strands;
  OrderObserver observer;
  const auto x = Tensor<2>::full({16, 16}, 0.01, strands.device);
  x.sync();
  Tensor<2> first, second;
  {
    const Tensor<2> shared = x.matmul(x);
    first = shared;
    for (int i = 0; i < 10; ++i) first = first.matmul(x);
    first = first.matmul(shared);
    second = (shared * 0.5).tanh();
  }
  for (int i = 0; i < 10; ++i) second = second.matmul(x);
  strands.device.flush();
  CHECK(observer.launches == 23);
  CHECK(observer.longest_chain <= 13);
}

TEST_CASE("small pieces do not cost large ones their places") {
  Strands strands;
  OrderObserver observer;
  const Fusion unfused(false);
  const auto full = [&](const Shape& shape) { return Tensor<2>::full(shape, 0.1, strands.device); };
  const auto x = full({8, 8}), z = full({8, 8}), y = full({16, 16}), column = full({192, 1}),
             large = full({192, 192});
  strands.device.flush();
  Tensor<2> of_first, small, middle, small_end, of_second, deep_end, other_end;
  {
    // A small piece is free that deep steps used, and a large one that others used, behind which there is
    // more.
    Tensor<2> deep = z;
    for (int i = 0; i < 12; ++i) deep = deep.matmul(z);
    const Tensor<2> first = large.matmul(large), other = y.matmul(y);
    of_first = first.matmul(column);
    small = x.matmul(x);
    middle = small.matmul(x);
    // A small value, less deep than those that used the small piece, would be put into the large one, and the
    // second large value has no place then.
    const Tensor<2> value = middle.matmul(x), second = large.matmul(large.transpose(0, 1));
    of_second = second.matmul(column);
    small_end = value.matmul(x);
    deep_end = deep.matmul(z);
    other_end = other.matmul(y);
  }
  strands.device.flush();
  CHECK(observer.launches == 23);
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
