// Compiled kernels on disk, one file each, shared by all processes of a user and by nobody else.
//
// What a file holds is run. So the folder has to belong to the effective user, to be writable for no other
// and to be no link; each file likewise (jit/compile/private_files.h). A folder that is refused is said once,
// and kernels stay in memory.
//
// A file is written under a name that nobody can guess and published by a link, so that no one ever sees half
// of one, and it is never changed afterwards. It holds everything it was made from, which is compared on
// reading: a file under a wrong name, with a damaged byte or of another owner is refused, and removed. An I/O
// error says nothing about the content: then nothing is removed. After an error in writing, kernels stay in
// memory for a while; then the next is written again.
//
// Layout, little-endian: char magic[8] "SINTERKN", u32 format, u32 0, u64 key size, u64 payload size, u8
// checksum[16] (XXH3-128, canonical form, of the file with these 16 bytes zero), the key's text, the payload.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/compile/private_files.h"
#include "src/base/fork.h"
#include "src/base/greedy_dual.h"

namespace sinter::compile {

/// Everything that decides what a compiler makes of a source. The library's version is added.
struct KernelKey {
  std::string source;
  std::string options;
  std::string compiler;  // name, version and build (jit/compile/library_build.h)
  std::string target;    // "sm_90a", "vulkan1.2"
  std::string driver;    // where it matters, else empty

  /// All of it as one text, without two keys that share one.
  std::string text() const;
};

/// Where a kernel came from.
enum class Origin : std::uint8_t { Compiled, Memory, Disk };

/// Kernels by where they came from, counted by any thread.
struct OriginCounts {
  std::atomic<std::uint64_t> compiled{0}, from_memory{0}, from_disk{0};
  void add(Origin origin) {
    ++(origin == Origin::Compiled ? compiled : origin == Origin::Memory ? from_memory : from_disk);
  }
};

/// Counts since the cache was opened.
struct CacheStatistics {
  std::uint64_t from_memory = 0;
  std::uint64_t from_disk = 0;
  std::uint64_t missing = 0;  // not found: to be compiled
  std::uint64_t refused = 0;  // files and folders for their content, owner, mode or kind
  std::uint64_t evicted = 0;  // files removed for space
  std::uint64_t io_errors = 0;
  std::size_t memory_bytes = 0;  // of what is in memory now
  std::uint64_t forgotten = 0;   // from memory, for room
};

class KernelCache {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kUsualMemory = std::size_t{64} << 20;

  /// `folder` is made when first needed; empty: memory only. `limit_bytes` is that of the folder,
  /// `memory_limit` of what is in memory: there goes first what is quick to have again for its size. `retry`:
  /// how long nothing is written after an error; each further one doubles that, up to 64 times.
  KernelCache(std::filesystem::path folder, std::uint64_t limit_bytes,
              Clock::duration retry = std::chrono::seconds(1), std::size_t memory_limit = kUsualMemory);

  /// The cache that the environment names (SINTER_CACHE_DIR and the like).
  static KernelCache& global();

  /// What was stored under the key. May be called from several threads, as all of this class.
  std::optional<std::vector<std::byte>> find(const KernelKey& key, Origin* origin = nullptr);

  /// `took`: nanoseconds that it took to compile.
  void store(const KernelKey& key, std::span<const std::byte> payload, double took = 0);

  /// Finds, or calls `compile()` and stores what it gives.
  template <class Compile>
  std::vector<std::byte> find_or(const KernelKey& key, Compile compile, Origin* origin = nullptr) {
    if (auto found = find(key, origin)) return std::move(*found);
    const auto start = Clock::now();
    std::vector<std::byte> made = compile();
    store(key, made, nanoseconds_since(start));
    return made;
  }

  CacheStatistics statistics() const;

  /// The file a key is kept in; empty without a folder.
  std::filesystem::path path_of(const KernelKey& key) const;

  /// Forgets what is in memory, as a new process would.
  void forget();

  /// Removes the least recently used files until `limit_bytes` is kept, and what a killed process left
  /// behind.
  void trim();

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;
  enum class Read : std::uint8_t { Found, Missing, Failed, Refused };

  /// A payload in memory.
  struct Kept : base::GreedyDual::Entry {
    Hash hash;
    std::vector<std::byte> payload;
  };

  static double nanoseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  }
  void remember(const Hash& hash, std::span<const std::byte> payload, double cost);
  static Hash hash_of(const std::string& key_text);
  static std::string name_of(const Hash& hash);
  Opened open_folder(bool make);
  Read read(const Hash& hash, const std::string& key_text, std::vector<std::byte>& payload);
  bool write(const Hash& hash, std::span<const std::byte> file);
  void refused(const std::string& what, const std::string& why);
  void failed(const std::string& what);

  const std::filesystem::path folder_;
  const std::uint64_t limit_bytes_;
  const Clock::duration retry_;
  mutable base::ForkMutex mutex_;
  base::GreedyDual order_;  // of what is in memory
  std::map<Hash, std::unique_ptr<Kept>> memory_;
  CacheStatistics statistics_;
  Clock::duration pause_{0};         // after the last error in writing; 0: the last write went well
  Clock::time_point writes_from_{};  // nothing is written before
  bool sized_ = false;               // disk_bytes_ has been counted
  std::uint64_t disk_bytes_ = 0;     // about: other processes write too
};

}  // namespace sinter::compile
