// What a driver made of kernels, on disk: the next process has its pipelines at once.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/device.h"

namespace sinter::runtime::vulkan {

/// Which driver of which device made the data of a file.
struct DriverIdentity {
  std::uint32_t vendor = 0, device = 0, driver_version = 0;
  std::array<std::uint8_t, VK_UUID_SIZE> cache{}, driver{};
};

/// The content of a file for the driver's data.
///
/// Layout, little-endian: char magic[8] "SINTERPC", u32 format, u32 vendor, u32 device, u32 driver version,
/// u8 driver[16], u64 size of the data, u8 checksum[16] (XXH3-128 of the data), the data.
std::vector<std::byte> pack_pipelines(const DriverIdentity& identity, std::span<const std::byte> data);

/// The driver's data; none where a byte is missing or was changed, or another driver made it: drivers trust
/// their data.
std::optional<std::vector<std::byte>> unpack_pipelines(const DriverIdentity& identity,
                                                       std::span<const std::byte> file);

/// A VkPipelineCache that is read from a file in the folder `pipelines` beside the kernel cache and written
/// back as it grows. The same rules as for kernels hold for the folder and the file
/// (jit/compile/private_files.h). Thread-safe.
class PipelineCache {
 public:
  using Clock = std::chrono::steady_clock;

  explicit PipelineCache(const Device& device);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;

  /// The driver's object, which lives as long as somebody refers to it; null where there is none.
  using Handle = std::shared_ptr<std::remove_pointer_t<VkPipelineCache>>;
  Handle handle() const;
  /// A pipeline was made, which took so long. The driver's object only grows: at the size that is written at
  /// most it begins anew.
  void add(Clock::duration took);
  /// Writes the file where there is something new, unless writing has taken more than a tenth of the time
  /// that making pipelines has.
  void save() noexcept { write(false); }

  /// Empty where nothing is kept on disk.
  const std::filesystem::path& folder() const { return folder_; }
  const std::string& file_name() const { return name_; }

 private:
  Handle make(std::span<const std::byte> data) const;
  std::vector<std::byte> read() const;
  void write(bool always) noexcept;

  const Device& device_;
  DriverIdentity identity_;
  std::filesystem::path folder_;
  std::string name_;
  mutable std::mutex mutex_;
  Handle handle_;
  std::uint64_t added_ = 0;
  bool is_new_ = false;
  Clock::duration made_{0}, wrote_{0};
  std::size_t written_bytes_ = 0;
};

}  // namespace sinter::runtime::vulkan
