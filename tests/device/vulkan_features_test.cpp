// Devices with fewer features than the one at hand: each is taken away in turn. Also the pipelines that a
// driver has made, on disk. Passes where there is no Vulkan device; vulkan_test says so.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <sinter/error.h>

#include "jit/library/fourier.h"
#include "jit/library/sort.h"
#include "src/base/env.h"
#include "src/runtime/vulkan/kernels/pipeline_cache.h"
#include "src/runtime/vulkan/vulkan_backend.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/messages.h"
#include "tests/support/temporary_folder.h"

namespace sinter::testing {
namespace {

using runtime::VulkanOptions;
using runtime::vulkan::DriverIdentity;

int device_count() { return static_cast<int>(runtime::vulkan_devices().size()); }

/// Launches a kernel in a run of its own and gives all buffers.
std::vector<std::vector<std::byte>> run(runtime::Backend& backend, const KernelCase& c) {
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend.compile({&kernel, 1}).at(0);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const auto& bytes : c.bindings.buffers) {
    buffers.push_back(backend.allocate(bytes.size()));
    backend.upload({buffers.back().get(), 0}, bytes);
    views.push_back({buffers.back().get(), 0});
  }
  backend.begin(nullptr, {executable->workspace_bytes(c.bindings.ints, 1), 0});
  try {
    backend.launch(*executable, {views, c.bindings.ints, c.bindings.scalars});
  } catch (...) {
    backend.abandon();
    throw;
  }
  backend.submit();
  std::vector<std::vector<std::byte>> contents;
  for (std::size_t i = 0; i < views.size(); ++i) {
    contents.emplace_back(c.bindings.buffers[i].size());
    backend.download(views[i], contents.back());
  }
  return contents;
}

/// Sums of rows of ones, in f32.
KernelCase row_sums(std::int64_t rows, std::int64_t columns) {
  KernelBuilder k({rows}, {columns});
  const std::vector<double> ones(static_cast<std::size_t>(rows * columns), 1.0);
  const auto x = k.load(k.input(DType::f32, ones), k.all());
  k.store(k.output(DType::f32, rows), k.outer(), k.reduce(Op::Sum, x));
  return k.finish("row sums");
}

bool sums_are_right(runtime::Backend& backend, std::int64_t rows, std::int64_t columns) {
  const auto buffers = run(backend, row_sums(rows, columns));
  for (const double sum : to_doubles(DType::f32, buffers[1]))
    if (sum != static_cast<double>(columns)) return false;
  return true;
}

template <class T>
KernelCase copy_of(DType dtype, const std::vector<T>& values) {
  KernelBuilder k({static_cast<std::int64_t>(values.size())});
  const auto x = k.load(k.input(dtype, values), k.all());
  k.store(k.output(dtype, static_cast<std::int64_t>(values.size())), k.all(), x);
  return k.finish("copy");
}

bool product_is_right(runtime::Backend& backend, std::int64_t m, std::int64_t n, std::int64_t k) {
  library::MatMulOp op;
  op.m = m, op.n = n, op.k = k, op.a_row = k, op.a_column = 1, op.b_row = n, op.b_column = 1;
  const runtime::ExecutableRef executable = backend.prepare(op);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const std::int64_t count : {m * k, k * n, m * n}) {
    const std::vector<float> ones(static_cast<std::size_t>(count), 1.0f);
    buffers.push_back(backend.allocate(ones.size() * sizeof(float)));
    backend.upload({buffers.back().get(), 0}, std::as_bytes(std::span(ones)));
    views.push_back({buffers.back().get(), 0});
  }
  backend.begin(nullptr, {executable->workspace_bytes({}, 1), 0});
  backend.launch(*executable, {views, {}, {}});
  backend.submit();
  std::vector<float> c(static_cast<std::size_t>(m * n));
  backend.download(views[2], std::as_writable_bytes(std::span(c)));
  return c == std::vector<float>(c.size(), static_cast<float>(k));
}

/// The first numbers of the spectrum of (1, 1, 1, 1) in f64.
bool transform_is_right(runtime::Backend& backend) {
  library::FourierOp op;
  op.dtype = DType::f64;
  op.transform = library::Fourier::FromReal;
  op.length = op.real.length = op.imaginary.length = 4;
  op.real.outer_stride = op.imaginary.outer_stride = 4;
  op.real.stride = op.imaginary.stride = 1;
  op.has_imaginary = false;
  const runtime::ExecutableRef executable = backend.prepare(op);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const std::size_t count : {4, 3, 3}) {
    const std::vector<double> ones(count, 1.0);
    buffers.push_back(backend.allocate(ones.size() * sizeof(double)));
    backend.upload({buffers.back().get(), 0}, std::as_bytes(std::span(ones)));
    views.push_back({buffers.back().get(), 0});
  }
  backend.begin(nullptr, {executable->workspace_bytes({}, 1), 0});
  backend.launch(*executable, {views, {}, {}});
  backend.submit();
  std::vector<double> real(3), imaginary(3);
  backend.download(views[1], std::as_writable_bytes(std::span(real)));
  backend.download(views[2], std::as_writable_bytes(std::span(imaginary)));
  return real == std::vector<double>{4, 0, 0} && imaginary == std::vector<double>{0, 0, 0};
}

TEST_CASE("each feature taken away is emulated, or one error names it and the device") {
  for (int index = 0; index < device_count(); ++index) {
    const std::string device = runtime::vulkan_devices()[index].name;
    for (const bool gpu_kernels : {false, true}) {
      VulkanOptions whole;
      whole.cpu_kernels = !gpu_kernels;
      const auto without = [&](auto change) {
        VulkanOptions options = whole;
        change(options);
        return runtime::make_vulkan_backend(index, options);
      };
      const auto without_bytes = without([](VulkanOptions& o) { o.bytes = false; });
      CHECK(sums_are_right(*without_bytes, 5, 100));
      const KernelCase bools = copy_of(DType::boolean, std::vector<std::int64_t>{1, 0, 1});
      std::string said = message_of([&] { run(*without_bytes, bools); });
      CHECK_MESSAGE((contains(said, "storageBuffer8BitAccess") && contains(said, device)), said);

      const auto without_int64 = without([](VulkanOptions& o) { o.int64 = false; });
      CHECK(sums_are_right(*without_int64, 5, 100));
      CHECK(product_is_right(*without_int64, 20, 30, 40));
      CHECK(run(*without_int64, bools)[1] == bools.bindings.buffers[0]);
      const KernelCase longs = copy_of(DType::i64, std::vector<std::int64_t>{1, -2, 3});
      if (without_int64->traits().has_f64) {
        CHECK(transform_is_right(*without_int64));
        library::SearchSortedOp search;  // orders f64 by their bits
        search.x_dtype = DType::f64;
        search.dtype = DType::i32;
        CHECK(contains(message_of([&] { without_int64->prepare(search); }), "has no integers of 64 bits"));
      }
      said = message_of([&] { run(*without_int64, longs); });
      CHECK_MESSAGE((contains(said, "shaderInt64") && contains(said, device)), said);

      const auto without_f64 = without([](VulkanOptions& o) { o.float64 = false; });
      CHECK(run(*without_f64, longs)[1] == longs.bindings.buffers[0]);
      said = message_of([&] { run(*without_f64, copy_of(DType::f64, std::vector<double>{1, 2})); });
      CHECK_MESSAGE((contains(said, "shaderFloat64") && contains(said, device)), said);

      const auto without_halves = without([](VulkanOptions& o) { o.halves = false; });
      CHECK(sums_are_right(*without_halves, 5, 100));
      CHECK(!without_halves->traits().supports(DType::bf16));

      const auto few_lanes = without([](VulkanOptions& o) { o.max_invocations = 128; });
      CHECK(sums_are_right(*few_lanes, 3, 5000));
      CHECK(product_is_right(*few_lanes, 50, 70, 30));

      const auto few_buffers = without([](VulkanOptions& o) { o.max_buffers = 8; });
      CHECK(few_buffers->traits().max_buffers == 4);
      CHECK(sums_are_right(*few_buffers, 3, 5000));

      for (const auto& missing :
           {message_of([&] { without([](VulkanOptions& o) { o.timeline = false; }); }),
            message_of([&] { without([](VulkanOptions& o) { o.max_invocations = 64; }); }),
            message_of([&] { without([](VulkanOptions& o) { o.max_buffers = 4; }); })})
        CHECK_MESSAGE((contains(missing, device) && contains(missing, "lacks")), missing);
    }
  }
}

TEST_CASE("buffers beyond what a binding reaches are reached by addresses") {
  for (int index = 0; index < device_count(); ++index)
    for (const bool cpu_kernels : {true, false}) {
      VulkanOptions small{.cpu_kernels = cpu_kernels};
      small.max_storage_range = 1024;
      const auto backend = runtime::make_vulkan_backend(index, small);
      CHECK(sums_are_right(*backend, 5, 100));
      CHECK(sums_are_right(*backend, 5, 20));  // fits
      CHECK(sums_are_right(*backend, 3, 70'000));
      CHECK(product_is_right(*backend, 20, 30, 40));
      CHECK(product_is_right(*backend, 5, 6, 8));  // fits
      CHECK(product_is_right(*backend, 9, 10, 70'000));
      KernelCase split = row_sums(2, 50'000);
      split.kernel.split = true;
      const auto sums = to_doubles(DType::f32, run(*backend, split)[1]);
      CHECK(sums == std::vector<double>(2, 50'000.0));
      const KernelCase bools = copy_of(DType::boolean, std::vector<std::int64_t>(5000, 1));
      CHECK(run(*backend, bools)[1] == bools.bindings.buffers[0]);
      const KernelCase longs = copy_of(DType::i64, std::vector<std::int64_t>(500, -7));
      CHECK(run(*backend, longs)[1] == longs.bindings.buffers[0]);

      small.buffer_addresses = false;
      const auto without = runtime::make_vulkan_backend(index, small);
      for (const std::string& said : {message_of([&] { run(*without, row_sums(5, 100)); }),
                                      message_of([&] { product_is_right(*without, 20, 30, 40); })})
        CHECK_MESSAGE((contains(said, "bufferDeviceAddress") && contains(said, "1024")), said);
    }
}

DriverIdentity some_driver() {
  DriverIdentity identity;
  identity.vendor = 1, identity.device = 2, identity.driver_version = 3;
  identity.cache.fill(4);
  identity.driver.fill(5);
  return identity;
}

/// As a driver would give it: Vulkan's header, then anything.
std::vector<std::byte> some_data(const DriverIdentity& identity) {
  VkPipelineCacheHeaderVersionOne header{};
  header.headerSize = sizeof header;
  header.headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE;
  header.vendorID = identity.vendor;
  header.deviceID = identity.device;
  std::memcpy(header.pipelineCacheUUID, identity.cache.data(), VK_UUID_SIZE);
  std::vector<std::byte> data(sizeof header + 100, std::byte{7});
  std::memcpy(data.data(), &header, sizeof header);
  return data;
}

TEST_CASE("pipelines are taken from a whole file of the same driver alone") {
  using runtime::vulkan::pack_pipelines;
  using runtime::vulkan::unpack_pipelines;
  const DriverIdentity identity = some_driver();
  const std::vector<std::byte> data = some_data(identity), file = pack_pipelines(identity, data);
  REQUIRE(unpack_pipelines(identity, file));
  CHECK(*unpack_pipelines(identity, file) == data);
  int accepted = 0;
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes)
    accepted += unpack_pipelines(identity, std::span(file).first(bytes)).has_value();
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::vector<std::byte> damaged = file;
    damaged[at] ^= std::byte{16};
    accepted += unpack_pipelines(identity, damaged).has_value();
  }
  CHECK(accepted == 0);
  for (int which = 0; which < 5; ++which) {
    DriverIdentity other = identity;
    if (which == 0) other.vendor = 9;
    if (which == 1) other.device = 9;
    if (which == 2) other.driver_version = 9;
    if (which == 3) other.cache.fill(9);
    if (which == 4) other.driver.fill(9);
    CHECK(!unpack_pipelines(other, file));
    // A whole file whose data is of another driver.
    if (which != 2 && which != 4)
      CHECK(!unpack_pipelines(identity, pack_pipelines(identity, some_data(other))));
  }
}

TEST_CASE("pipelines are written for this user alone and read again") {
  const std::string before = base::environment().cache_dir;
  const TemporaryFolder folder;
  base::mutable_environment().cache_dir = (folder.path() / "cache").string();
  for (int index = 0; index < device_count(); ++index) {
    CHECK(sums_are_right(*runtime::make_vulkan_backend(index, {}), 4, 10));
    const auto pipelines = folder.path() / "cache" / "pipelines";
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(pipelines)) files.push_back(entry.path());
    REQUIRE(files.size() == static_cast<std::size_t>(index) + 1);
    struct stat status {};
    REQUIRE(::stat(pipelines.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    REQUIRE(::stat(files[0].c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    // Nothing bad comes of a file that is cut short, nor of one that others may write to.
    std::filesystem::resize_file(files[0], 70);
    CHECK(sums_are_right(*runtime::make_vulkan_backend(index, {}), 4, 10));
    CHECK(std::filesystem::file_size(files[0]) != 70);
    REQUIRE(::chmod(files[0].c_str(), 0666) == 0);
    CHECK(sums_are_right(*runtime::make_vulkan_backend(index, {}), 4, 10));
    REQUIRE(::stat(files[0].c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
  }
  base::mutable_environment().cache_dir = before;
}

}  // namespace
}  // namespace sinter::testing
