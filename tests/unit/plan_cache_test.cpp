// What a cache bounded by bytes keeps: the order in which entries go, plans and the kernels that they share,
// threads that rest.
#include "src/runtime/plan_cache.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "jit/compile/kernel_cache.h"
#include "src/base/greedy_dual.h"
#include "src/runtime/executor.h"
#include "src/runtime/null/null_backend.h"
#include "tests/support/new_structures.h"
#include "tests/support/temporary_folder.h"

namespace sinter::testing {
namespace {

using base::GreedyDual;
using runtime::PlanCache;
using runtime::PlanKey;
using runtime::ReadyPlan;
using runtime::ReadyPlanRef;

/// Numbers with a weight and a cost.
class Numbers {
 public:
  explicit Numbers(std::size_t limit) : order_(limit) {}
  bool has(int number) {
    const auto it = entries_.find(number);
    if (it == entries_.end()) return false;
    order_.use(*it->second);
    return true;
  }
  void add(int number, std::size_t bytes, double cost) {
    if (bytes > order_.limit()) return;
    while (order_.lacks_room(bytes)) {
      auto& next = static_cast<Entry&>(*order_.next_to_go());
      order_.remove(next);
      entries_.erase(next.number);
    }
    auto entry = std::make_unique<Entry>();
    entry->number = number;
    order_.add(*entry, bytes, cost);
    entries_[number] = std::move(entry);
  }
  std::size_t bytes() const { return order_.bytes(); }

 private:
  struct Entry : GreedyDual::Entry {
    int number = 0;
  };
  GreedyDual order_;
  std::map<int, std::unique_ptr<Entry>> entries_;
};

struct Executable final : runtime::Executable {
  Executable(std::atomic<int>& alive, std::size_t bytes) : alive(alive), bytes(bytes) { ++alive; }
  ~Executable() override { --alive; }
  std::size_t held_bytes() const override { return bytes; }
  std::atomic<int>& alive;
  const std::size_t bytes;
};

/// Plans of one executor that are put into a cache by hand.
struct Plans {
  std::unique_ptr<runtime::Backend> backend = runtime::make_null_backend({});
  runtime::Executor executor{*backend};
  std::atomic<int> alive{0};

  PlanKey key(std::uint64_t number) const {
    PlanKey key;
    key.fingerprint.low = number;
    return key;
  }
  PlanCache::Part part(const std::string& name, std::size_t bytes, double cost) {
    return {.name = name, .executable = std::make_shared<Executable>(alive, bytes), .cost = cost};
  }
  ReadyPlanRef plan(const std::vector<PlanCache::Part>& parts) {
    auto ready = std::make_shared<ReadyPlan>(executor);
    for (const PlanCache::Part& part : parts) ready->executables.push_back(part.executable);
    return ready;
  }
};

}  // namespace

TEST_CASE("the bytes never exceed the limit") {
  Numbers cache(10'000);
  std::size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    cache.add(i, static_cast<std::size_t>(1 + i * 7919 % 3000), 1 + i % 13);
    most = std::max(most, cache.bytes());
  }
  CHECK(most <= 10'000);
  CHECK(most > 7'000);
}

TEST_CASE("what is dear for its size stays longer") {
  Numbers cache(1000);
  cache.add(1, 100, 100'000);                               // 1000 for each byte
  cache.add(2, 100, 1'000);                                 // 10
  for (int i = 10; i < 60; ++i) cache.add(i, 100, 10'000);  // 100
  CHECK(cache.has(1));
  CHECK_FALSE(cache.has(2));
  // Nothing stays for ever without being used.
  for (int i = 100; i < 100'000 && cache.has(99) == false; ++i) cache.add(i, 100, 10'000);
  CHECK_FALSE(cache.has(2));
}

TEST_CASE("what nobody uses goes in the end, however dear it was") {
  Numbers cache(1000);
  cache.add(1, 100, 100'000);
  for (int i = 10; i < 1'000; ++i) cache.add(i, 100, 10'000);
  CHECK_FALSE(cache.has(1));
}

TEST_CASE("a hot entry survives 100,000 cold ones of its value") {
  for (const double cost : {0.0, 1.0, 1e9}) {
    Numbers cache(100 * 50);
    cache.add(-1, 100, cost);
    int missed = 0;
    for (int i = 0; i < 100'000; ++i) {
      cache.add(i, 100, cost);
      if (i % 20 == 0) missed += !cache.has(-1);
    }
    CHECK(missed == 0);
    CHECK(cache.has(99'999));
    CHECK_FALSE(cache.has(50'000));
  }
}

TEST_CASE("an entry that is held does not go") {
  GreedyDual order(100);
  GreedyDual::Entry a, b;
  order.add(a, 50, 1);
  order.add(b, 50, 1000);
  order.hold(a);
  CHECK(order.next_to_go() == &b);
  order.release(a);
  CHECK(order.next_to_go() == &b);  // as the release was a use, and the clock stands at b's value
  order.hold(b);
  CHECK(order.next_to_go() == &a);
  order.hold(a);
  CHECK(order.next_to_go() == nullptr);
  order.remove(a);
  order.release(b);
  CHECK(order.bytes() == 50);
  order.revise(b, 80, 3);
  CHECK(order.bytes() == 80);
  CHECK(order.lacks_room(21));
  CHECK_FALSE(order.lacks_room(20));
}

TEST_CASE("a kernel counts once, and stays as long as a plan of the cache launches it") {
  Plans plans;
  PlanCache cache("test", 64 * 1024);
  std::vector<PlanCache::Part> shared = {
      plans.part("shared", 20'000, 1)};  // cheap: the first to go by itself
  cache.add(shared[0]);
  const ReadyPlanRef first = plans.plan(shared), second = plans.plan(shared);
  cache.keep(plans.key(1), first, 1e9, shared);
  const std::size_t one = cache.counts().bytes;
  cache.keep(plans.key(2), second, 1e9, shared);
  CHECK(cache.counts().bytes - one < 10'000);
  CHECK(cache.counts().executables == 1);
  for (int i = 0; i < 200; ++i) {
    PlanCache::Part other = plans.part("kernel " + std::to_string(i), 5'000, 1e6);
    cache.add(other);
    CHECK(cache.counts().bytes <= 64 * 1024);
    PlanCache::Part again{.name = "shared"};
    REQUIRE(cache.find(again));
    CHECK(again.executable == shared[0].executable);
  }
  CHECK(cache.counts().plans == 2);
}

TEST_CASE("a plan that went lives until its last run, its kernels go after it") {
  Plans plans;
  PlanCache cache("test", 64 * 1024);
  std::vector<PlanCache::Part> parts = {plans.part("kernel", 40'000, 1)};
  ReadyPlanRef running = plans.plan(parts);
  cache.keep(plans.key(1), running, 1, parts);
  CHECK(cache.find(plans.key(1)) == running);
  parts.clear();
  for (std::uint64_t i = 2; i < 40; ++i) {
    std::vector<PlanCache::Part> more = {plans.part("kernel " + std::to_string(i), 40'000, 1e6)};
    cache.keep(plans.key(i), plans.plan(more), 1e6, more);
    CHECK(cache.counts().bytes <= 64 * 1024);
  }
  CHECK(cache.find(plans.key(1)) == nullptr);
  CHECK(cache.counts().plans_dropped > 30);
  CHECK(plans.alive == 2);  // the last plan's and the running one's
  running.reset();
  CHECK(plans.alive == 1);
}

TEST_CASE("a plan that is larger than the cache is not kept, and nothing goes for it") {
  Plans plans;
  PlanCache cache("test", 64 * 1024);
  std::vector<PlanCache::Part> small = {plans.part("small", 10'000, 1)};
  cache.keep(plans.key(1), plans.plan(small), 1, small);
  std::vector<PlanCache::Part> giant = {plans.part("half", 40'000, 1), plans.part("other half", 40'000, 1)};
  const ReadyPlanRef plan = plans.plan(giant);
  cache.keep(plans.key(2), plan, 1, giant);
  CHECK_FALSE(plan->entry.is_kept);
  CHECK(cache.find(plans.key(2)) == nullptr);
  CHECK(cache.find(plans.key(1)) != nullptr);
  CHECK(cache.counts().plans_dropped == 0);
}

TEST_CASE("a trace whose plan is larger than all the cache runs each time") {
  const Device device = device_with_plan_limit(1, [] { return runtime::make_null_backend({}); });
  const AnyTensor x = AnyTensor::full({4}, 1, DType::f32, device);
  device.flush();
  for (int round = 0; round < 4; ++round) {
    const std::uint64_t built = device.statistics().plans_built;
    std::vector<AnyTensor> sums;  // a launch for each, as their shapes differ
    for (int i = 1; i <= 1350; ++i) sums.push_back(x.reshape({4, 1}).expand({4, i}).sum({0}));
    device.flush();
    CHECK(device.statistics().plans_built > built);  // though the traces are equal
    CHECK(device.statistics().plan_bytes < std::size_t{1} << 19);
  }
  CHECK(device.statistics().plan_bytes <= std::size_t{1} << 20);
}

TEST_CASE("threads that rest keep nothing alive that has gone") {
  struct Counting final : runtime::Backend {
    explicit Counting(std::atomic<int>& alive) : alive(alive) {}
    const ir::DeviceTraits& traits() const override { return under->traits(); }
    runtime::BufferRef allocate(std::size_t bytes) override { return under->allocate(bytes); }
    void upload(const runtime::BufferView&, std::span<const std::byte>) override {}
    void download(const runtime::BufferView&, std::span<std::byte>) override {}
    std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
      std::vector<runtime::ExecutableRef> made;
      for (std::size_t i = 0; i < kernels.size(); ++i)
        made.push_back(std::make_shared<Executable>(alive, 8192));
      return made;
    }
    runtime::ExecutableRef prepare(const library::LibraryOp&) override { return nullptr; }
    void begin(std::unique_ptr<runtime::PlanState>*, const runtime::RunNeeds&) override {}
    void launch(runtime::Executable&, const runtime::LaunchArguments&) override {}
    runtime::FaultReportRef submit() override { return nullptr; }
    void synchronize() override {}
    runtime::BackendStatistics statistics() const override { return {}; }
    std::unique_ptr<runtime::Backend> under = runtime::make_null_backend({});
    std::atomic<int>& alive;
  };
  static std::atomic<int> alive{0};
  const Device device = device_with_plan_limit(1, [] { return std::make_unique<Counting>(alive); });
  const auto run = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t structure = first; structure < first + count; ++structure) {
      AnyTensor y = run_structure(AnyTensor::full({3}, 4, DType::f32, device), structure);
      device.flush();
    }
  };
  std::mutex mutex;
  std::condition_variable changed;
  int resting = 0;
  bool leave = false;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::unique_lock lock(mutex);
      run(1000 * t, 60);
      ++resting;
      changed.notify_all();
      changed.wait(lock, [&] { return leave; });
    });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return resting == 4; });
  }
  run(10'000, 1000);
  // 1 MiB of kernels of more than 8 KiB.
  CHECK(alive <= 128);
  CHECK(alive > 30);
  {
    std::lock_guard lock(mutex);
    leave = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("compiled kernels in memory stay below their limit") {
  TemporaryFolder folder;
  constexpr std::size_t kMemory = 100'000;
  compile::KernelCache cache(folder.path(), std::uint64_t{1} << 30, std::chrono::seconds(1), kMemory);
  const auto key = [](int i) { return compile::KernelKey{"kernel " + std::to_string(i), "", "", "", ""}; };
  for (int i = 0; i < 200; ++i) {
    cache.store(key(i), std::vector<std::byte>(5000, std::byte(i)), 1e6);
    CHECK(cache.statistics().memory_bytes <= kMemory);
  }
  CHECK(cache.statistics().forgotten > 150);
  compile::Origin origin{};
  CHECK(cache.find(key(0), &origin) == std::vector<std::byte>(5000, std::byte(0)));
  CHECK(origin == compile::Origin::Disk);
  CHECK(cache.find(key(0), &origin).has_value());
  CHECK(origin == compile::Origin::Memory);
  cache.store(key(300), std::vector<std::byte>(2 * kMemory), 1e6);
  CHECK(cache.statistics().memory_bytes <= kMemory);
  CHECK(cache.find(key(300), &origin).has_value());
  CHECK(origin == compile::Origin::Disk);
  cache.forget();
  CHECK(cache.statistics().memory_bytes == 0);
}

}  // namespace sinter::testing
