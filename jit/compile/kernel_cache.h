// Compiled kernels on disk, one file each, shared by all processes of a user.
//
// A file is written under a name of its own and published by a link, so that no one ever sees half of one,
// and it is never changed afterwards. It holds everything it was made from, which is compared on reading: a
// file under a wrong name or with a damaged byte is not used, and removed. An I/O error says nothing about
// the content: then nothing is removed. Where files cannot be written, kernels are kept in memory for the
// life of the process.
//
// Layout, little-endian: char magic[8] "SINTERKN", u32 format, u32 0, u64 key size, u64 payload size, u8
// checksum[16] (XXH3-128, canonical form, of the file with these 16 bytes zero), the key's text, the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinter::compile {

/// Everything that decides what a compiler makes of a source. The library's version is added.
struct KernelKey {
  std::string source;
  std::string options;
  std::string compiler;  // name and version: "nvrtc 13.0"
  std::string target;    // "sm_90a", "vulkan1.2"
  std::string driver;    // where it matters, else empty

  /// All of it as one text, without two keys that share one.
  std::string text() const;
};

/// Counts since the cache was opened.
struct CacheStatistics {
  std::uint64_t hits = 0;         // found in memory
  std::uint64_t soft_misses = 0;  // found on disk
  std::uint64_t hard_misses = 0;  // not found: to be compiled
  std::uint64_t removed = 0;      // files removed for their content
  std::uint64_t evicted = 0;      // files removed for space
  std::uint64_t io_errors = 0;
};

class KernelCache {
 public:
  /// `folder` is made when first needed; empty: memory only.
  KernelCache(std::filesystem::path folder, std::uint64_t limit_bytes);

  /// The cache that the environment names (SINTER_CACHE_DIR and the like).
  static KernelCache& global();

  /// What was stored under the key. May be called from several threads, as all of this class.
  std::optional<std::vector<std::byte>> find(const KernelKey& key, bool* from_disk = nullptr);

  void store(const KernelKey& key, std::span<const std::byte> payload);

  /// Finds, or calls `compile()` and stores what it gives. `from_disk`, if given: no compiler was needed.
  template <class Compile>
  std::vector<std::byte> find_or(const KernelKey& key, Compile compile, bool* from_disk = nullptr) {
    if (auto found = find(key, from_disk)) return std::move(*found);
    std::vector<std::byte> made = compile();
    store(key, made);
    return made;
  }

  CacheStatistics statistics() const;

  /// The file a key is kept in; empty without a folder.
  std::filesystem::path path_of(const KernelKey& key) const;

  /// Removes the least recently used files until `limit_bytes` is kept, and what a killed process left
  /// behind.
  void trim();

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;
  enum class Read : std::uint8_t { Found, Missing, Failed, Bad };

  static Hash hash_of(const std::string& key_text);
  std::filesystem::path path_of(const Hash& hash) const;
  Read read(const std::filesystem::path& path, const std::string& key_text,
            std::vector<std::byte>& payload) const;
  bool write(const std::filesystem::path& path, std::span<const std::byte> file);
  void failed(const std::string& what);

  const std::filesystem::path folder_;
  const std::uint64_t limit_bytes_;
  mutable std::mutex mutex_;
  std::map<Hash, std::shared_ptr<const std::vector<std::byte>>> memory_;
  CacheStatistics statistics_;
  bool can_write_ = true;
  bool sized_ = false;            // disk_bytes_ has been counted
  std::uint64_t disk_bytes_ = 0;  // about: other processes write too
};

}  // namespace sinter::compile
