// Reads and writes the file of a driver's pipelines.
#include "src/runtime/vulkan/kernels/pipeline_cache.h"

#include <cstdio>
#include <cstring>
#include <exception>

#include <xxhash.h>

#include "jit/compile/private_files.h"
#include "src/base/env.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

constexpr char kMagic[8] = {'S', 'I', 'N', 'T', 'E', 'R', 'P', 'C'};
constexpr std::uint32_t kFormat = 1;
// Drivers never forget. A larger file is begun anew.
constexpr std::size_t kMost = std::size_t{64} << 20;
constexpr std::uint64_t kAskedAfter = 64;  // pipelines, after which the driver is asked for the size
constexpr int kShare = 10;                 // writing may take so small a part of the time of making

struct Header {
  char magic[8];
  std::uint32_t format, vendor, device, driver_version;
  std::uint8_t driver[VK_UUID_SIZE];
  std::uint64_t size;
  std::uint8_t checksum[16];
};
static_assert(sizeof(Header) == 64);

Header header_of(const DriverIdentity& identity, std::span<const std::byte> data) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.vendor = identity.vendor;
  header.device = identity.device;
  header.driver_version = identity.driver_version;
  std::memcpy(header.driver, identity.driver.data(), VK_UUID_SIZE);
  header.size = data.size();
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(data.data(), data.size()));
  std::memcpy(header.checksum, sum.digest, sizeof header.checksum);
  return header;
}

/// The header that Vulkan says all such data begins with.
bool is_of(const DriverIdentity& identity, std::span<const std::byte> data) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == identity.vendor &&
         header.deviceID == identity.device &&
         std::memcmp(header.pipelineCacheUUID, identity.cache.data(), VK_UUID_SIZE) == 0;
}

DriverIdentity identity_of(VkPhysicalDevice device) {
  VkPhysicalDeviceIDProperties ids =
      structure<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
  VkPhysicalDeviceProperties2 properties =
      structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &ids;
  vkGetPhysicalDeviceProperties2(device, &properties);
  const VkPhysicalDeviceProperties& p = properties.properties;
  DriverIdentity identity;
  identity.vendor = p.vendorID;
  identity.device = p.deviceID;
  identity.driver_version = p.driverVersion;
  std::memcpy(identity.cache.data(), p.pipelineCacheUUID, VK_UUID_SIZE);
  std::memcpy(identity.driver.data(), ids.driverUUID, VK_UUID_SIZE);
  return identity;
}

std::string name_for(const DriverIdentity& identity) {
  char text[64];
  std::snprintf(text, sizeof text, "%08x-%08x-", identity.vendor, identity.device);
  std::string name = text;
  for (const std::uint8_t byte : identity.cache) {
    std::snprintf(text, sizeof text, "%02x", byte);
    name += text;
  }
  return name;
}

}  // namespace

std::vector<std::byte> pack_pipelines(const DriverIdentity& identity, std::span<const std::byte> data) {
  const Header header = header_of(identity, data);
  std::vector<std::byte> file(sizeof header + data.size());
  std::memcpy(file.data(), &header, sizeof header);
  if (!data.empty()) std::memcpy(file.data() + sizeof header, data.data(), data.size());
  return file;
}

std::optional<std::vector<std::byte>> unpack_pipelines(const DriverIdentity& identity,
                                                       std::span<const std::byte> file) {
  if (file.size() < sizeof(Header)) return std::nullopt;
  const std::span<const std::byte> data = file.subspan(sizeof(Header));
  const Header wanted = header_of(identity, data);
  if (std::memcmp(&wanted, file.data(), sizeof wanted) != 0 || !is_of(identity, data)) return std::nullopt;
  return std::vector<std::byte>(data.begin(), data.end());
}

PipelineCache::PipelineCache(const Device& device)
    : device_(device), identity_(identity_of(device.physical())) {
  const base::Environment& environment = base::environment();
  if (environment.cache && !environment.cache_dir.empty()) {
    folder_ = std::filesystem::path(environment.cache_dir) / "pipelines";
    name_ = name_for(identity_);
  }
  const std::vector<std::byte> data = read();
  written_bytes_ = data.size();
  handle_ = make(data);
}

PipelineCache::~PipelineCache() { write(true); }

/// Null where the driver makes none: pipelines are made all the same.
PipelineCache::Handle PipelineCache::make(std::span<const std::byte> data) const {
  VkPipelineCacheCreateInfo info =
      structure<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  VkPipelineCache made = VK_NULL_HANDLE;
  if (vkCreatePipelineCache(device_.handle(), &info, nullptr, &made) != VK_SUCCESS) return nullptr;
  return Handle(made, [device = device_.handle()](VkPipelineCache cache) {
    vkDestroyPipelineCache(device, cache, nullptr);
  });
}

PipelineCache::Handle PipelineCache::handle() const {
  std::lock_guard lock(mutex_);
  return handle_;
}

void PipelineCache::add(Clock::duration took) {
  std::lock_guard lock(mutex_);
  is_new_ = true;
  made_ += took;
  std::size_t bytes = 0;
  if (++added_ % kAskedAfter != 0 || !handle_ ||
      vkGetPipelineCacheData(device_.handle(), handle_.get(), &bytes, nullptr) != VK_SUCCESS || bytes < kMost)
    return;
  if (Handle fresh = make({})) handle_ = std::move(fresh);
}

std::vector<std::byte> PipelineCache::read() const {
  if (folder_.empty()) return {};
  const compile::Opened folder = compile::open_private_folder(folder_, false);
  if (folder.access == compile::Access::Refused)
    base::warn_once("pipelines are not kept in " + folder_.string() + ": " + folder.reason);
  if (folder.access != compile::Access::Granted) return {};
  const compile::Opened file = compile::open_private_file(folder.file, name_);
  if (file.access != compile::Access::Granted) return {};
  const auto bytes = static_cast<std::size_t>(file.status.st_size);
  if (bytes > kMost) return {};
  std::vector<std::byte> content(bytes);
  if (!file.file.read_all(content)) return {};
  return unpack_pipelines(identity_, content).value_or(std::vector<std::byte>());
}

void PipelineCache::write(bool always) noexcept {
  if (folder_.empty()) return;
  try {
    std::lock_guard lock(mutex_);
    if (!handle_ || !is_new_ || (!always && wrote_ * kShare > made_)) return;
    const auto start = Clock::now();
    is_new_ = false;
    std::size_t bytes = 0;
    if (vkGetPipelineCacheData(device_.handle(), handle_.get(), &bytes, nullptr) != VK_SUCCESS) return;
    std::vector<std::byte> data(bytes);
    // Another thread may have made a pipeline in between: then the data is cut short, and is no less valid.
    const VkResult code = vkGetPipelineCacheData(device_.handle(), handle_.get(), &bytes, data.data());
    if (code != VK_SUCCESS && code != VK_INCOMPLETE) return;
    data.resize(bytes);
    // Of a driver that keeps its pipelines elsewhere it is always the same.
    if (is_of(identity_, data) && bytes != written_bytes_ && bytes < kMost - sizeof(Header)) {
      const compile::Opened folder = compile::open_private_folder(folder_, true);
      if (folder.access == compile::Access::Granted &&
          compile::write_file(folder.file, name_, pack_pipelines(identity_, data),
                              compile::Existing::Replaced, 0600))
        written_bytes_ = bytes;
    }
    wrote_ += Clock::now() - start;
  } catch (const std::exception&) {
    // Without memory nothing is written; the kernels are compiled again.
  }
}

}  // namespace sinter::runtime::vulkan
