// The Vulkan backend passes the conformance suite on every Vulkan device found, with validation layers on.
//
// SINTER_TEST_VULKAN_DEVICE=1 tests the device of that index alone. Exit code 77: there is none to test,
// which is an error where SINTER_TEST_REQUIRE, a list such as "host,vulkan", names it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include <sinter/error.h>

#include "jit/library/indexed_join.h"
#include "src/base/env.h"
#include "src/runtime/vulkan/memory/memory.h"
#include "src/runtime/vulkan/vulkan_backend.h"
#include "tests/conformance/backend_conformance.h"
#include "tests/support/test_data.h"

namespace {

using namespace sinter;
using runtime::VulkanOptions;

/// Indices of the devices to test; prints them once.
const std::vector<int>& tested_devices() {
  static const std::vector<int> devices = [] {
    const auto found = runtime::vulkan_devices();
    const char* only = std::getenv("SINTER_TEST_VULKAN_DEVICE");
    std::vector<int> chosen;
    for (int i = 0; i < static_cast<int>(found.size()); ++i) {
      if (only && std::atoi(only) != i) continue;
      chosen.push_back(i);
      std::cout << "testing vulkan:" << i << ": " << found[i].name << (found[i].hardware ? "" : " (software)")
                << "\n";
    }
    return chosen;
  }();
  return devices;
}

/// Compilers of GPU drivers flush denormals by default.
testing::ConformanceOptions options(int index, int random_kernels) {
  testing::ConformanceOptions o;
  o.random_kernels = random_kernels;
  o.precision.flushes_denormals = runtime::vulkan_devices()[index].hardware;
  return o;
}

/// Other code paths on the same device: a GPU's kernels on llvmpipe, descriptor sets from pools, copies by
/// the queue.
constexpr VulkanOptions kOtherPaths{.cpu_kernels = false,
                                    .push_descriptors = false,
                                    .mapped_memory = false,
                                    .float64 = false,
                                    .subgroups = false};

std::vector<float> matmul(runtime::Backend& backend, const library::MatMulOp& op, const std::vector<float>& a,
                          const std::vector<float>& b, std::size_t offset) {
  auto put = [&](const std::vector<float>& values) {
    runtime::BufferRef buffer = backend.allocate((values.size() + offset) * sizeof(float));
    backend.upload({buffer.get(), offset * sizeof(float)}, std::as_bytes(std::span(values)));
    return buffer;
  };
  const runtime::BufferRef x = put(a), y = put(b),
                           z = backend.allocate(op.m * op.n * op.batch * sizeof(float));
  const std::size_t bytes = offset * sizeof(float);
  const runtime::BufferView views[] = {{x.get(), bytes}, {y.get(), bytes}, {z.get(), 0}};
  const runtime::ExecutableRef executable = backend.prepare(op);
  backend.begin(nullptr, {executable->workspace_bytes({}, 1), 0});
  backend.launch(*executable, {views, {}, {}});
  backend.submit();
  std::vector<float> c(static_cast<std::size_t>(op.m * op.n * op.batch));
  backend.download({z.get(), 0}, std::as_writable_bytes(std::span(c)));
  return c;
}

void check_matmul(runtime::Backend& backend, std::int64_t m, std::int64_t n, std::int64_t k,
                  std::size_t offset) {
  for (const bool transposed : {false, true}) {
    library::MatMulOp op;
    op.m = m, op.n = n, op.k = k;
    op.a_row = transposed ? 1 : k, op.a_column = transposed ? m : 1;
    op.b_row = transposed ? 1 : n, op.b_column = transposed ? k : 1;
    // Small integers: sums are exact in any order.
    std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 11) - 5;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 31 % 13) - 6;
    const std::vector<float> c = matmul(backend, op, a, b, offset);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += a[i * op.a_row + l * op.a_column] * b[l * op.b_row + j * op.b_column];
        wrong += c[i * n + j] != sum;
      }
    CHECK_MESSAGE(wrong == 0, m << " x " << n << " x " << k << (transposed ? " transposed" : "") << " on "
                                << backend.traits().description);
  }
}

TEST_CASE("every Vulkan device conforms") {
  for (int index : tested_devices()) {
    const auto backend = runtime::make_vulkan_backend(index, {});
    testing::check_backend(*backend, options(index, 10));
  }
}

TEST_CASE("every Vulkan device conforms without its optional features, and with the kernels of a GPU") {
  for (int index : tested_devices()) {
    const auto backend = runtime::make_vulkan_backend(index, kOtherPaths);
    testing::ConformanceOptions with = options(index, 5);
    with.first_seed = 1000;
    with.products = with.segments = false;  // have no other paths
    testing::check_backend(*backend, with);
  }
}

TEST_CASE("devices in software conform with the kernels of a GPU") {
  for (int index : tested_devices()) {
    if (runtime::vulkan_devices()[index].hardware) continue;
    const auto backend = runtime::make_vulkan_backend(index, VulkanOptions{.cpu_kernels = false});
    testing::ConformanceOptions with = options(index, 10);
    with.random_long_kernels = 5;
    with.segments = false;  // the same on all of them
    testing::check_backend(*backend, with);
  }
}

TEST_CASE("devices that cannot add floats atomically compare and swap them") {
  library::IndexedJoinOp op;
  op.count = 3000, op.rows = 7, op.columns = 3;
  op.any_order = true;
  std::vector<float> values(static_cast<std::size_t>(op.count * op.columns)), wanted(21);
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(op.count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    row_of[i / 3] = static_cast<std::int32_t>(i / 3 * 31 % 7);
    values[i] = static_cast<float>(i * 37 % 11) - 5;  // sums are exact in any order
    wanted[static_cast<std::size_t>(row_of[i / 3]) * 3 + i % 3] += values[i];
  }
  for (int index : tested_devices())
    for (const bool atomic_floats : {false, true}) {
      const auto backend = runtime::make_vulkan_backend(index, VulkanOptions{.atomic_floats = atomic_floats});
      const auto put = [&](std::span<const std::byte> bytes) {
        runtime::BufferRef buffer = backend->allocate(bytes.size());
        backend->upload({buffer.get(), 0}, bytes);
        return buffer;
      };
      const runtime::BufferRef x = put(std::as_bytes(std::span(values))),
                               y = put(std::as_bytes(std::span(row_of))), z = backend->allocate(21 * 4);
      const runtime::BufferView views[] = {{x.get(), 0}, {y.get(), 0}, {z.get(), 0}};
      const runtime::ExecutableRef executable = backend->prepare(op);
      backend->begin(nullptr, {executable->workspace_bytes({}, 1), 0});
      backend->launch(*executable, {views, {}, {}});
      backend->submit();
      std::vector<float> sums(21);
      backend->download({z.get(), 0}, std::as_writable_bytes(std::span(sums)));
      CHECK(sums == wanted);
    }
}

TEST_CASE(
    "members of one launch that want more workgroups than it may have go over their points with fewer") {
  for (int index : tested_devices())
    for (const bool cpu_kernels : {true, false}) {
      if (cpu_kernels && runtime::vulkan_devices()[index].hardware) continue;
      const auto backend =
          runtime::make_vulkan_backend(index, VulkanOptions{.cpu_kernels = cpu_kernels, .max_groups = 6});
      std::vector<testing::KernelCase> cases;
      for (std::uint64_t seed = 0; seed < 10; ++seed)
        cases.push_back(testing::random_kernel(seed, backend->traits().has_f64));
      testing::check_kernels_of_members(*backend, cases, options(index, 10));
    }
}

TEST_CASE("matrix products of every shape of tile, from inputs that begin anywhere") {
  for (int index : tested_devices())
    for (const VulkanOptions& with : {VulkanOptions{}, kOtherPaths}) {
      const auto backend = runtime::make_vulkan_backend(index, with);
      // Large enough for the largest tiles: a quarter of the lanes has work.
      const auto side =
          static_cast<std::int64_t>(128 * std::ceil(std::sqrt(backend->traits().lanes / 1024.0)));
      check_matmul(*backend, side + 3, side + 5, 9, 1);
      check_matmul(*backend, 70, 75, 40, 3);
      check_matmul(*backend, 9, 300, 50, 0);
      check_matmul(*backend, 300, 10, 50, 2);
      check_matmul(*backend, 20, 30, 5000, 5);
    }
}

TEST_CASE("transfers larger than the staging memory") {
  for (int index : tested_devices()) {
    const auto backend = runtime::make_vulkan_backend(index, kOtherPaths);
    std::vector<std::uint32_t> data((std::size_t{37} << 20) / 4 + 1), back(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i * 2654435761u);
    const runtime::BufferRef buffer = backend->allocate(data.size() * 4 + 12);
    backend->upload({buffer.get(), 12}, std::as_bytes(std::span(data)));
    backend->download({buffer.get(), 12}, std::as_writable_bytes(std::span(back)));
    CHECK(data == back);
  }
}

TEST_CASE("slices of memory are joined again and given back") {
  for (int index : tested_devices()) {
    const runtime::vulkan::Device device(index, {});
    runtime::vulkan::MemoryPool pool(device, 0);
    std::vector<runtime::vulkan::Slice> slices;
    for (std::size_t bytes : {100u, 5000u, 70000u, 1u << 20, 3u << 20, 40u << 20}) {
      const auto slice = pool.try_allocate(bytes);
      REQUIRE(slice);
      CHECK(slice->bytes >= bytes);
      CHECK(slice->bytes <= bytes + std::max<std::size_t>(bytes / 8, 256));
      CHECK(slice->offset % 256 == 0);
      slices.push_back(*slice);
    }
    const std::size_t reserved = pool.bytes_reserved();
    for (std::size_t i : {1u, 0u, 2u, 5u, 3u, 4u}) pool.release(slices[i]);
    CHECK(pool.bytes_in_use() == 0);
    // Free slices were joined: one large slice fits without new memory.
    const auto whole = pool.try_allocate(60 << 20);
    REQUIRE(whole);
    CHECK(pool.bytes_reserved() == reserved);
    pool.release(*whole);
    pool.trim(0);
    CHECK(pool.bytes_reserved() == 0);
    CHECK(pool.peak_bytes_in_use() >= (60u << 20));
  }
}

TEST_CASE("no memory left is an error with sizes, and the device goes on") {
  for (int index : tested_devices()) {
    const auto backend = runtime::make_vulkan_backend(index);
    if (!backend->traits().is_cpu) continue;  // does not fill the memory of a shared GPU
    CHECK_THROWS_WITH_AS(backend->allocate(std::size_t{1} << 50), doctest::Contains("1125899906842624"),
                         DeviceError);
    CHECK_NOTHROW(backend->allocate(1000));
    CHECK_THROWS_AS(runtime::make_vulkan_backend(99), DeviceError);
  }
}

TEST_CASE("a message of the validation layer is thrown by the next synchronize, once") {
  if (!base::environment().validation) return;
  for (int index : tested_devices()) {
    const auto backend = runtime::make_vulkan_backend(index);
    backend->synchronize();
    const std::uint64_t before = runtime::vulkan_validation_messages();
    CHECK_MESSAGE(before == 0, "messages came before this test");
    {
      const runtime::vulkan::Device device(index, {});
      VkBufferCreateInfo empty{};
      empty.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
      empty.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
      VkBuffer buffer = VK_NULL_HANDLE;
      vkCreateBuffer(device.handle(), &empty, nullptr, &buffer);
      if (buffer) vkDestroyBuffer(device.handle(), buffer, nullptr);
    }
    CHECK(runtime::vulkan_validation_messages() > before);
    CHECK_THROWS_AS(backend->synchronize(), DeviceError);
    CHECK_NOTHROW(backend->synchronize());
    break;  // the count above starts at 0 only once
  }
}

TEST_CASE("without a driver there are no devices and a reason that names the fix") {
  char path[4096] = {};
  REQUIRE(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const std::string command =
      "VK_ICD_FILENAMES=/nonexistent VK_DRIVER_FILES=/nonexistent '" + std::string(path) + "' --reason 2>&1";
  FILE* child = popen(command.c_str(), "r");
  REQUIRE(child);
  std::string output;
  for (char piece[256]; std::fgets(piece, sizeof piece, child);) output += piece;
  CHECK_MESSAGE(pclose(child) == 0, output);
  CHECK(output.find("devices 0 reason") != std::string::npos);
  CHECK(output.find("thrown [vulkan]") != std::string::npos);
  CHECK(output.find("mesa-vulkan-drivers") != std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  // On, unless the environment switches it off for machines without the layers.
  if (!std::getenv("SINTER_VULKAN_VALIDATION")) base::mutable_environment().validation = true;
  if (argc == 2 && std::string(argv[1]) == "--reason") {  // the child of the test above
    std::cout << "devices " << runtime::vulkan_devices().size() << " reason "
              << runtime::vulkan_unavailable_reason() << "\n";
    try {
      runtime::make_vulkan_backend(0);
    } catch (const DeviceError& error) {
      std::cout << "thrown " << error.what() << "\n";
    }
    return 0;
  }
  if (tested_devices().empty()) {
    constexpr int kSkipped = 77;
    const std::string reason = runtime::vulkan_unavailable_reason();
    std::cout << (reason.empty() ? "SINTER_TEST_VULKAN_DEVICE names no Vulkan device of this computer"
                                 : reason)
              << "\n";
    const char* required = std::getenv("SINTER_TEST_REQUIRE");
    return required && std::string(required).find("vulkan") != std::string::npos ? 1 : kSkipped;
  }
  return doctest::Context(argc, argv).run();
}
