// Sums of products by cooperative matrices whose tiles several workgroups share. Passes where no Vulkan
// device has such matrices.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/tune/parameters.h"
#include "src/runtime/vulkan/vulkan_backend.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/matrix_devices.h"

namespace sinter::testing {
namespace {

using runtime::VulkanOptions;

constexpr double kPoison = -12345;

/// Whole numbers from -3 to 3, and as f16.
std::vector<float> some_numbers(std::int64_t count, int step) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>((i * static_cast<std::size_t>(step) + i / 61) % 7) - 3.f;
  return numbers;
}
std::vector<std::uint16_t> as_halves(const std::vector<float>& numbers) {
  constexpr std::uint16_t kHalves[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
  std::vector<std::uint16_t> halves;
  for (const float number : numbers) halves.push_back(kHalves[static_cast<int>(number) + 3]);
  return halves;
}

/// (m, k) by (k, n), twice in one run on a backend that says it has so many compute units: each time all
/// parts have to find their counters at zero.
void check_product(const VulkanOptions& options, int index, std::int64_t m, std::int64_t n, std::int64_t k) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  const auto backend = runtime::make_vulkan_backend(index, options);
  const Planned p = planned(
      [&](const Device& device) {
        return std::vector{
            input({m, k}, device, DType::f16).matmul(input({k, n}, device, DType::f16)).cast(DType::f32)};
      },
      backend->traits());
  REQUIRE(p.tiled == 1);
  REQUIRE(p.kernel->tiling.matrices.any());
  const runtime::ExecutableRef executable = backend->compile({&p.kernel, 1}).at(0);
  const emit::Geometry shape = emit::geometry(*p.kernel, glsl_target(backend->traits()), p.ints);
  CHECK(shape.parts > 1);
  const std::size_t bytes = executable->workspace_bytes(p.ints, 1);
  CHECK(bytes ==
        std::size_t{shape.workgroups} * p.kernel->tiling.rows * p.kernel->tiling.columns * sizeof(float));

  const std::vector<float> a = some_numbers(m * k, 3), b = some_numbers(k * n, 5);
  const std::vector<std::uint16_t> halves[] = {as_halves(a), as_halves(b)};
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  const auto add = [&](std::span<const std::byte> content) {
    buffers.push_back(backend->allocate(content.size()));
    backend->upload({buffers.back().get(), 0}, content);
    views.push_back({buffers.back().get(), 0});
  };
  // f16, where its cast to f32 is a kernel of its own.
  const DType dtype = p.kernel->buffers[2].dtype;
  const std::vector<std::byte> poison =
      to_bytes(dtype, std::vector<double>(static_cast<std::size_t>(m * n), kPoison));
  for (const auto& factor : halves) add(std::as_bytes(std::span(factor)));
  REQUIRE(p.kernel->buffers.size() == 3);
  REQUIRE(p.kernel->buffers[2].written);
  for (int time = 0; time < 2; ++time) add(poison);
  backend->begin(nullptr, {bytes, 0});
  for (std::size_t time = 0; time < 2; ++time) {
    const runtime::BufferView of_launch[] = {views[0], views[1], views[2 + time]};
    backend->launch(*executable, {of_launch, p.ints, {}});
  }
  backend->submit();
  std::vector<double> sums(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t column = 0; column < n; ++column)
        sums[static_cast<std::size_t>(row * n + column)] +=
            a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(i * n + column)];
  const std::vector<double> expected = to_doubles(dtype, to_bytes(dtype, sums));
  for (std::size_t time = 0; time < 2; ++time) {
    std::vector<std::byte> bytes_found(poison.size());
    backend->download(views[2 + time], bytes_found);
    const std::vector<double> found = to_doubles(dtype, bytes_found);
    const auto [wrong, wanted] = std::ranges::mismatch(found, expected);
    INFO(tune::describe(p.kernel->tiling) << ", " << shape.parts << " parts");
    if (wrong == found.end()) continue;
    FAIL_CHECK("element " << wrong - found.begin() << " is " << *wrong << ", not " << *wanted);
  }
}

TEST_CASE("the workgroups of a tile of cooperative matrices add up all parts of its sums") {
  const int devices = static_cast<int>(runtime::vulkan_devices().size());
  for (int index = 0; index < devices; ++index) {
    VulkanOptions options;
    options.cooperative_matrices = true;
    if (runtime::make_vulkan_backend(index, options)->traits().tensor_cores.matrices.empty()) continue;
    // Few units: parts that are added up one after the other. Many: in groups. Sums of no whole slots, and
    // results beside whole tiles.
    for (const int units : {2, 16, 64}) {
      options.compute_units = units;
      check_product(options, index, 64, 64, 2048);
      check_product(options, index, 56, 72, 3001);
    }
    options.compute_units = 200;
    check_product(options, index, 49, 40, 4096 + 8);
  }
}

}  // namespace
}  // namespace sinter::testing
