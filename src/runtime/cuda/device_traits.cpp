// Asks the driver about a device.
#include "src/runtime/cuda/device_traits.h"

#include <algorithm>

#include "src/base/env.h"
#include "src/runtime/cuda/libraries/cublaslt_api.h"

namespace sinter::runtime::cuda {

namespace {

constexpr int kMostCluster = 8;  // blocks, which every device that has clusters takes

// Products of 16-bit floats, added up in f32, of a multiprocessor in a cycle: of 9.0 by groups of warps, of
// 8.0 and 10.0, and of others, which are of cards for graphics too.
constexpr double kHopper = 2048, kServer = 1024, kOther = 512;
// Of f32, by ordinary lanes.
constexpr double kServerLanes = 64, kLanes = 128;

ir::TensorCores tensor_cores_of(const DriverApi& api, const DeviceFacts& facts) {
  if (facts.major < 8 || facts.shared_bytes == 0) return {};
  const bool is_server = facts.major == 10 || (facts.major == 8 && facts.minor == 0);
  ir::TensorCores cores{facts.multiprocessors, facts.shared_bytes};
  cores.fewest_exact = static_cast<double>(base::environment().tiled_products);
  cores.exact_products = is_server && facts.major == 8 ? kServerLanes : kLanes;
  // Warps multiply in groups on 9.0 alone, and each by itself on all.
  if (facts.major == 9 && facts.minor == 0 && base::environment().warp_groups) {
    if (!api.tensor_map || !api.tensor_map_of_windows) return {};
    cores.products = kHopper;
    if (facts.has_clusters) cores.cluster = kMostCluster;
    return cores;
  }
  cores.has_groups = false;
  cores.products = is_server || facts.major == 9 ? kServer : kOther;
  return cores;
}

}  // namespace

DeviceFacts facts_of(const DriverApi& api, DeviceId device, int index) {
  DeviceFacts facts;
  facts.index = index;
  char name[256] = {};
  check(api.device_name(name, sizeof name - 1, device), "cuDeviceGetName");
  facts.name = name;
  const auto attribute = [&](int& value, Attribute which) {
    check(api.device_attribute(&value, which, device), "cuDeviceGetAttribute");
  };
  attribute(facts.multiprocessors, Attribute::MultiprocessorCount);
  attribute(facts.major, Attribute::ComputeMajor);
  attribute(facts.minor, Attribute::ComputeMinor);
  int cache_bytes = 0;
  attribute(cache_bytes, Attribute::SecondLevelCacheBytes);
  facts.cache_bytes = static_cast<std::size_t>(cache_bytes);
  check(api.device_total_memory(&facts.memory_bytes, device), "cuDeviceTotalMem");
  // A driver older than clusters does not know the attribute.
  int has_clusters = 0, shared_bytes = 0;
  facts.has_clusters =
      api.device_attribute(&has_clusters, Attribute::ClusterLaunch, device) == kSuccess && has_clusters != 0;
  if (api.function_attribute &&
      api.device_attribute(&shared_bytes, Attribute::SharedBytesOptIn, device) == kSuccess)
    facts.shared_bytes = static_cast<std::size_t>(shared_bytes);
  return facts;
}

ir::DeviceTraits traits_of(const DriverApi& api, const DeviceFacts& facts) {
  ir::DeviceTraits traits;
  traits.name = "cuda:" + std::to_string(facts.index);
  traits.description = facts.name;
  traits.lanes = std::int64_t{2048} * facts.multiprocessors;
  traits.groups = std::int64_t{4} * facts.multiprocessors;
  traits.max_buffers = 64;
  traits.max_divisions = 128;  // NVRTC takes 5 to 10 ms for each
  traits.grid_reductions = true;
  traits.split_members = true;
  traits.row_lanes = 1024;
  traits.short_row_lanes = 32;
  traits.reciprocals = true;
  traits.fixed_windows = true;
  traits.flat_vectors = true;
  traits.joins =
      facts.major >= 6 ? ir::DeviceTraits::Joins::UnorderedAll : ir::DeviceTraits::Joins::Unordered;
  traits.lone_rows = base::environment().lone_rows;
  if (base::environment().score_tiles) traits.score_tile_bytes = facts.shared_bytes;
  if (facts.has_clusters) traits.row_cluster = kMostCluster;
  traits.tensor_cores = tensor_cores_of(api, facts);
  traits.has_product_library = [] { return base::environment().cublaslt && cublaslt() != nullptr; };
  traits.memory_bytes = facts.memory_bytes;
  const base::Environment& environment = base::environment();
  if (api.has_graphs() && environment.cuda_graphs && environment.cuda_strands > 1) {
    const auto limit = static_cast<std::size_t>(environment.memory_limit_mib) << 20;
    traits.overlap_bytes = (limit > 0 ? std::min(limit, facts.memory_bytes) : facts.memory_bytes) / 1024;
  }
  traits.launch_bytes = 64.0 * 1024 * facts.multiprocessors;  // what the device moves in 2 us
  traits.work_per_byte = 14;
  traits.wait_bytes = traits.launch_bytes / 8;
  return traits;
}

emit::Target target_of(const DriverApi& api, const ir::Kernel& kernel, Function function,
                       const emit::Target& target, int multiprocessors) {
  emit::Target own = target;
  const int lanes = emit::workgroup_lanes(kernel, target);
  int at_once = 0;
  if (!kernel.split || !api.occupancy || api.occupancy(&at_once, function, lanes, 0) != kSuccess ||
      at_once < 1)
    return own;
  own.wanted_workgroups = std::int64_t{at_once} * multiprocessors * lanes / target.workgroup_size;
  return own;
}

}  // namespace sinter::runtime::cuda
