// Runs on Vulkan devices: memory that is had before, fault words, failures, threads. Passes where there is no
// Vulkan device; vulkan_test says so.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <vulkan/vulkan.h>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/vulkan/vulkan_backend.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/messages.h"

namespace sinter::testing {
namespace {

using runtime::VulkanOptions;
using BackendRef = std::unique_ptr<runtime::Backend>;
using Clock = std::chrono::steady_clock;

std::vector<int> devices() {
  std::vector<int> all;
  for (std::size_t i = 0; i < runtime::vulkan_devices().size(); ++i) all.push_back(static_cast<int>(i));
  return all;
}

// What the calls that tests make fail give (VulkanOptions::result_of), and how many of them from now on.
std::atomic<const char*> failing_call{nullptr};
std::atomic<int> failing_result{0}, failures_left{0};

int result_of(const char* call) {
  const char* failing = failing_call;
  if (!failing || std::strcmp(call, failing) != 0) return 0;
  return failures_left.fetch_sub(1) > 0 ? failing_result.load() : 0;
}

/// The calls of a name fail while it lives, `times` of them.
struct Failing {
  Failing(const char* call, VkResult result, int times = 1 << 30) {
    failing_result = result;
    failures_left = times;
    failing_call = call;
  }
  ~Failing() { failing_call = nullptr; }
};

KernelCase negation(std::int64_t n) {
  KernelBuilder k({n});
  const auto x = k.load(k.input(DType::f32, std::vector<double>(static_cast<std::size_t>(n), 1.0)), k.all());
  k.store(k.output(DType::f32, n), k.all(), k.op(Op::Neg, x));
  return k.finish("negation");
}

/// result = table[where], 10 elements of a table of 10.
KernelCase gather(std::int64_t last) {
  KernelBuilder k({10});
  std::vector<std::int64_t> where(10, 3);
  where[9] = last;
  const auto at = k.load(k.input(DType::i32, where), k.all());
  const auto table = k.input(DType::f32, std::vector<double>(10, 2.0));
  k.store(k.output(DType::f32, 10), k.all(), k.load_at(table, k.map({0}), at, 1, 10));
  return k.finish("gather");
}

/// A kernel with its buffers on a device.
struct Loaded {
  Loaded(runtime::Backend& backend, const KernelCase& c) : backend(backend), c(c) {
    const ir::Kernel* kernel = &this->c.kernel;
    executable = backend.compile({&kernel, 1}).at(0);
    for (const auto& bytes : c.bindings.buffers) {
      buffers.push_back(backend.allocate(bytes.size()));
      backend.upload({buffers.back().get(), 0}, bytes);
      views.push_back({buffers.back().get(), 0});
    }
  }
  void launch(std::uint32_t first_fault = 0) {
    backend.launch(*executable, {views, c.bindings.ints, c.bindings.scalars, 1, first_fault});
  }
  std::vector<float> read(std::size_t buffer) {
    std::vector<float> values(buffers[buffer]->bytes() / sizeof(float));
    backend.download(views[buffer], std::as_writable_bytes(std::span(values)));
    return values;
  }

  runtime::Backend& backend;
  const KernelCase c;
  runtime::ExecutableRef executable;
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
};

/// A product of a's m x k ones and b's k x n ones.
struct LoadedProduct {
  LoadedProduct(runtime::Backend& backend, std::int64_t m, std::int64_t n, std::int64_t k)
      : backend(backend) {
    op.m = m, op.n = n, op.k = k, op.a_row = k, op.a_column = 1, op.b_row = n, op.b_column = 1;
    executable = backend.prepare(op);
    for (std::int64_t count : {m * k, k * n, m * n}) {
      const std::vector<float> ones(static_cast<std::size_t>(count), 1.0f);
      buffers.push_back(backend.allocate(ones.size() * sizeof(float)));
      backend.upload({buffers.back().get(), 0}, std::as_bytes(std::span(ones)));
      views.push_back({buffers.back().get(), 0});
    }
  }
  std::size_t workspace() const { return executable->workspace_bytes({}, 1); }
  void launch() { backend.launch(*executable, {views, {}, {}}); }
  bool is_right() {
    std::vector<float> c(static_cast<std::size_t>(op.m * op.n));
    backend.download(views[2], std::as_writable_bytes(std::span(c)));
    for (float value : c)
      if (value != static_cast<float>(op.k)) return false;
    return true;
  }

  runtime::Backend& backend;
  library::MatMulOp op;
  runtime::ExecutableRef executable;
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
};

constexpr VulkanOptions kFailing{.push_descriptors = false, .result_of = result_of};

bool comes_true(const auto& condition) {
  const auto limit = Clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST_CASE("a run has its workspace before its first launch") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {});
    LoadedProduct deep(*backend, 3, 4, 70'000);
    REQUIRE(deep.workspace() > 0);
    const std::size_t before = backend->statistics().bytes_in_use;
    backend->begin(nullptr, {deep.workspace(), 0});
    CHECK(backend->statistics().bytes_in_use >= before + deep.workspace());
    deep.launch();
    deep.launch();
    CHECK(backend->submit() == nullptr);
    CHECK(backend->statistics().bytes_in_use == before);
    CHECK(deep.is_right());

    backend->begin(nullptr, {deep.workspace() - 4, 0});
    CHECK(contains(message_of([&] { deep.launch(); }), std::to_string(deep.workspace())));
    backend->abandon();
    CHECK(contains(message_of([&] { deep.launch(); }), "outside of a run"));
  }
}

TEST_CASE("without memory for a run there is no run") {
  for (int index : devices()) {
    base::mutable_environment().memory_limit_mib = 64;
    const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
    base::mutable_environment().memory_limit_mib = 0;
    Loaded good(*backend, negation(100));
    CHECK(contains(message_of([&] { backend->begin(nullptr, {std::size_t{100} << 20, 0}); }), "104857600"));
    {
      const Failing failing("vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY);
      CHECK(contains(message_of([&] { backend->begin(nullptr, {0, 1}); }), "no memory left"));
    }
    for (const char* call : {"vkAllocateCommandBuffers", "vkBeginCommandBuffer", "vkCreateDescriptorPool"}) {
      const BackendRef fresh = runtime::make_vulkan_backend(index, kFailing);
      {
        const Failing failing(call, VK_ERROR_OUT_OF_HOST_MEMORY);
        CHECK_MESSAGE(contains(message_of([&] { fresh->begin(nullptr, {}); }), call), call);
      }
      Loaded again(*fresh, negation(100));
      fresh->begin(nullptr, {});
      again.launch();
      fresh->submit();
      CHECK(again.read(1) == std::vector<float>(100, -1.0f));
    }
    backend->begin(nullptr, {});
    good.launch();
    backend->submit();
    CHECK(good.read(1) == std::vector<float>(100, -1.0f));
  }
}

TEST_CASE("a run that has begun needs no more memory from the driver") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
    Loaded chain(*backend, negation(1000));
    backend->begin(nullptr, {});
    for (const char* call : {"vkAllocateMemory", "vkAllocateCommandBuffers", "vkCreateDescriptorPool"}) {
      const Failing failing(call, VK_ERROR_OUT_OF_DEVICE_MEMORY);
      for (int i = 0; i < 301; ++i) {
        chain.launch();
        std::swap(chain.views[0], chain.views[1]);
      }
    }
    backend->submit();
    CHECK(chain.read(0) == std::vector<float>(1000, -1.0f));
  }
}

TEST_CASE("a run that is abandoned among others changes nothing for them") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {});
    LoadedProduct busy(*backend, 200, 200, 400);
    Loaded before(*backend, negation(50)), abandoned(*backend, gather(10)), after(*backend, gather(9));
    for (int i = 0; i < 4; ++i) {  // the last ones stay unsubmitted behind these
      backend->begin(nullptr, {busy.workspace(), 0});
      busy.launch();
      backend->submit();
    }
    backend->begin(nullptr, {});
    before.launch();
    backend->submit();
    backend->begin(nullptr, {0, 2});
    abandoned.launch(0);
    backend->abandon();
    backend->begin(nullptr, {0, 1});
    after.launch(0);
    const runtime::FaultReportRef report = backend->submit();
    CHECK(report->words()[0] == 0);
    CHECK(before.read(1) == std::vector<float>(50, -1.0f));
    CHECK_NOTHROW(backend->synchronize());
  }
}

TEST_CASE("each run has fault words of its own, in the numbering of its launches") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {});
    Loaded good(*backend, gather(9)), bad(*backend, gather(10));
    backend->begin(nullptr, {0, 3});
    good.launch(0);
    bad.launch(1);
    good.launch(2);
    const runtime::FaultReportRef first = backend->submit();
    backend->begin(nullptr, {0, 2});
    good.launch(0);
    good.launch(1);
    const runtime::FaultReportRef second = backend->submit();
    REQUIRE(first);
    REQUIRE(second);
    using Words = std::vector<std::uint32_t>;
    std::thread other([&] {
      const auto words = second->words();
      CHECK(Words(words.begin(), words.end()) == Words{0, 0});
    });
    const auto words = first->words();
    CHECK(Words(words.begin(), words.end()) == Words{0, 1, 0});
    CHECK(first->done());
    other.join();
    CHECK_NOTHROW(backend->synchronize());
    CHECK(bad.read(2)[9] == 0.0f);

    backend->begin(nullptr, {0, 1});
    CHECK(contains(message_of([&] { good.launch(1); }), "fault words"));
    backend->abandon();
  }
}

TEST_CASE("fault words are memory that is used again") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
    Loaded good(*backend, gather(9)), bad(*backend, gather(10));
    for (int round = 0; round < 1000; ++round) {
      Loaded& one = round % 2 ? bad : good;
      backend->begin(nullptr, {0, 1});
      one.launch();
      const runtime::FaultReportRef report = backend->submit();
      REQUIRE(report->words()[0] == static_cast<std::uint32_t>(round % 2));
      if (round == 3) {
        failing_result = VK_ERROR_OUT_OF_DEVICE_MEMORY, failures_left = 1 << 30;
        failing_call = "vkAllocateMemory";
      }
    }
    failing_call = nullptr;
  }
}

TEST_CASE("a plan that waits for company starts although nobody comes") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {});
    LoadedProduct busy(*backend, 256, 256, 512);
    Loaded last(*backend, gather(10));
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 5; ++i) {
        backend->begin(nullptr, {busy.workspace(), 0});
        busy.launch();
        backend->submit();
      }
      backend->begin(nullptr, {0, 1});
      last.launch();
      const runtime::FaultReportRef report = backend->submit();
      CHECK(comes_true([&] { return report->done(); }));  // asking does not submit
      CHECK(report->words()[0] == 1);
    }
  }
}

TEST_CASE("a device that fails says so once and for all") {
  struct Case {
    const char* call;
    VkResult result;
  };
  for (int index : devices())
    for (const Case& c :
         {Case{"vkQueueSubmit", VK_ERROR_DEVICE_LOST}, Case{"vkQueueSubmit", VK_ERROR_OUT_OF_DEVICE_MEMORY},
          Case{"vkEndCommandBuffer", VK_ERROR_OUT_OF_HOST_MEMORY},
          Case{"vkWaitSemaphores", VK_ERROR_DEVICE_LOST}}) {
      const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
      Loaded good(*backend, gather(9));
      backend->begin(nullptr, {0, 1});
      good.launch();
      runtime::FaultReportRef report;
      std::string said;
      {
        const Failing failing(c.call, c.result);
        said = message_of([&] {
          report = backend->submit();
          backend->synchronize();
        });
      }
      CHECK_MESSAGE(contains(said, c.call), said);
      CHECK(message_of([&] { backend->synchronize(); }) == said);
      CHECK(message_of([&] { backend->begin(nullptr, {}); }) == said);
      CHECK(message_of([&] { good.read(2); }) == said);
      CHECK(message_of([&] { backend->trim(); }) == said);
      if (report) {
        CHECK(report->done());
        CHECK(message_of([&] { report->words(); }) == said);
      }
    }
}

TEST_CASE("a submit that lacks memory once is tried again") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
    Loaded good(*backend, negation(100));
    const Failing failing("vkQueueSubmit", VK_ERROR_OUT_OF_HOST_MEMORY, 1);
    backend->begin(nullptr, {});
    good.launch();
    backend->submit();
    CHECK(good.read(1) == std::vector<float>(100, -1.0f));
  }
}

TEST_CASE("a download waits for what wrote its buffer, without the device's lock") {
  for (int index : devices())
    for (const bool mapped : {true, false}) {
      const BackendRef backend = runtime::make_vulkan_backend(index, {.mapped_memory = mapped});
      LoadedProduct busy(*backend, 200, 200, 500);
      const std::int64_t n = (std::int64_t{17} << 20) / 4;  // more than two blocks of staging memory
      Loaded wanted(*backend, negation(n));
      backend->begin(nullptr, {});
      wanted.launch();
      backend->submit();
      std::vector<float> values(static_cast<std::size_t>(n));
      const auto transfer =
          backend->begin_download(wanted.views[1], std::as_writable_bytes(std::span(values)));
      REQUIRE(transfer);
      runtime::FaultReportRef later;
      Loaded marker(*backend, gather(9));
      for (int i = 0; i < 6; ++i) {
        backend->begin(nullptr, {busy.workspace(), 1});
        busy.launch();
        if (i == 5) marker.launch();
        later = backend->submit();
      }
      std::thread other([&] { transfer->finish(); });
      // This thread goes on recording meanwhile.
      for (int i = 0; i < 20; ++i) {
        backend->begin(nullptr, {0, 1});
        marker.launch();
        backend->submit();
      }
      other.join();
      if (mapped && backend->traits().is_cpu) CHECK(!later->done());
      CHECK(values == std::vector<float>(static_cast<std::size_t>(n), -1.0f));
      CHECK(later->words()[0] == 0);
    }
}

TEST_CASE("uploads of several threads, and one that is never finished") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {.mapped_memory = false});
    constexpr std::size_t kCount = (std::size_t{18} << 20) / 4;
    std::vector<std::vector<float>> data;
    std::vector<runtime::BufferRef> buffers;
    std::vector<std::unique_ptr<runtime::Transfer>> transfers;
    for (int t = 0; t < 3; ++t) {
      data.emplace_back(kCount);
      for (std::size_t i = 0; i < kCount; ++i) data.back()[i] = static_cast<float>(i % 1000 + 1000 * t);
      buffers.push_back(backend->allocate(kCount * sizeof(float)));
      transfers.push_back(
          backend->begin_upload({buffers.back().get(), 0}, std::as_bytes(std::span(data.back()))));
      REQUIRE(transfers.back());
    }
    transfers.pop_back();
    std::vector<std::thread> threads;
    for (const auto& transfer : transfers) threads.emplace_back([&] { transfer->finish(); });
    for (std::thread& thread : threads) thread.join();
    for (int t = 0; t < 2; ++t) {
      std::vector<float> back(kCount);
      backend->download({buffers[t].get(), 0}, std::as_writable_bytes(std::span(back)));
      CHECK(back == data[t]);
    }
  }
}

TEST_CASE("threads that want the same kernels compile each once") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, {});
    // One text each, whatever the cache has.
    std::vector<KernelCase> cases;
    for (const Op op : {Op::Exp, Op::Log, Op::Sin, Op::Tanh}) {
      KernelBuilder k({64});
      const auto x = k.load(k.input(DType::f32, std::vector<double>(64, 0.5)), k.all());
      k.store(k.output(DType::f32, 64), k.all(), k.op(op, x));
      cases.push_back(k.finish("op"));
    }
    std::vector<std::thread> threads;
    std::vector<std::vector<runtime::ExecutableRef>> kept(4);  // a kernel that nobody has is forgotten
    std::atomic<int> failed{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::vector<const ir::Kernel*> kernels;
        for (int i = 0; i < 4; ++i) kernels.push_back(&cases[(i + t) % 4].kernel);
        try {
          kept[static_cast<std::size_t>(t)] = backend->compile(kernels);
          for (const auto& executable : kept[static_cast<std::size_t>(t)])
            backend->wait_until_ready(*executable, cases[0].bindings.ints, 1);
        } catch (const Error&) {
          ++failed;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    const runtime::BackendStatistics s = backend->statistics();
    CHECK(s.kernels_compiled + s.kernels_from_memory + s.kernels_from_disk == 4);
  }
}

TEST_CASE("a launch that was made ready compiles nothing") {
  for (int index : devices()) {
    const BackendRef backend = runtime::make_vulkan_backend(index, kFailing);
    // Long loops along few rows: on llvmpipe lanes share them, by another text.
    KernelBuilder k({2}, {70'000});
    const auto x = k.load(k.input(DType::f32, std::vector<double>(140'000, 0.5)), k.all());
    k.store(k.output(DType::f32, 2), k.outer(), k.reduce(Op::Max, x));
    Loaded rows(*backend, k.finish("rows"));
    const std::size_t workspace = rows.executable->workspace_bytes(rows.c.bindings.ints, 1);
    backend->wait_until_ready(*rows.executable, rows.c.bindings.ints, 1);
    const Failing failing("vkCreateComputePipelines", VK_ERROR_OUT_OF_HOST_MEMORY);
    backend->begin(nullptr, {workspace, 0});
    CHECK_NOTHROW(rows.launch());
    backend->submit();
    CHECK(rows.read(1) == std::vector<float>(2, 0.5f));
  }
}

}  // namespace
}  // namespace sinter::testing
