// Compiled kernels on disk.
#include "jit/compile/kernel_cache.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <sinter/version.h>

#include "src/base/env.h"

namespace sinter::compile {

namespace fs = std::filesystem;

namespace {

constexpr char kMagic[8] = {'S', 'I', 'N', 'T', 'E', 'R', 'K', 'N'};
constexpr std::uint32_t kFormat = 1;
constexpr const char* kExtension = ".kernel";
constexpr const char* kTemporary = ".writing-";
constexpr auto kAbandoned = std::chrono::hours(1);
// The time of use is what eviction goes by; an hour is fine enough and spares most hits a write.
constexpr auto kUseInterval = std::chrono::hours(1);

struct Header {
  char magic[8];
  std::uint32_t format;
  std::uint32_t zero;
  std::uint64_t key_size;
  std::uint64_t payload_size;
  unsigned char checksum[16];
};
static_assert(sizeof(Header) == 48);

void checksum_of(std::span<const std::byte> file, unsigned char (&out)[16]) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  constexpr std::size_t at = offsetof(Header, checksum);
  constexpr unsigned char zeros[16] = {};
  XXH3_128bits_update(state, file.data(), at);
  XXH3_128bits_update(state, zeros, sizeof zeros);
  XXH3_128bits_update(state, file.data() + sizeof(Header), file.size() - sizeof(Header));
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  std::memcpy(out, canonical.digest, sizeof out);
}

/// A file descriptor that closes itself.
class File {
 public:
  File(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  bool read_all(std::byte* to, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor_, to, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }
  bool write_all(const std::byte* from, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t put = ::write(descriptor_, from, bytes);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      from += put;
      bytes -= static_cast<std::size_t>(put);
    }
    return true;
  }
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

}  // namespace

std::string KernelKey::text() const {
  std::string all = "sinter " SINTER_VERSION_STRING " format " + std::to_string(kFormat) + "\n";
  for (const std::string* part : {&compiler, &target, &driver, &options, &source})
    all += std::to_string(part->size()) + ":" + *part + "\n";
  return all;
}

KernelCache::KernelCache(fs::path folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

KernelCache& KernelCache::global() {
  static KernelCache instance = [] {
    const base::Environment& e = base::environment();
    const bool disk = e.cache && !e.cache_dir.empty();
    return KernelCache(disk ? fs::path(e.cache_dir) / "kernels" : fs::path(),
                       static_cast<std::uint64_t>(e.cache_limit_mib) << 20);
  }();
  return instance;
}

KernelCache::Hash KernelCache::hash_of(const std::string& key_text) {
  const XXH128_hash_t hash = XXH3_128bits(key_text.data(), key_text.size());
  return {hash.high64, hash.low64};
}

fs::path KernelCache::path_of(const Hash& hash) const {
  if (folder_.empty()) return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (std::uint64_t half : {hash.first, hash.second})
    for (int shift = 60; shift >= 0; shift -= 4) name += digits[(half >> shift) & 15];
  return folder_ / (name + kExtension);
}

fs::path KernelCache::path_of(const KernelKey& key) const { return path_of(hash_of(key.text())); }

KernelCache::Read KernelCache::read(const fs::path& path, const std::string& key_text,
                                    std::vector<std::byte>& payload) const {
  File file(path, O_RDONLY);
  if (!file.is_open()) return errno == ENOENT || errno == ENOTDIR ? Read::Missing : Read::Failed;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return Read::Failed;
  const std::uint64_t size = static_cast<std::uint64_t>(status.st_size);
  if (size < sizeof(Header)) return Read::Bad;
  Header header;
  if (!file.read_all(reinterpret_cast<std::byte*>(&header), sizeof header)) return Read::Failed;
  // Sizes are compared before anything is read by them: a damaged size must not ask for terabytes.
  const std::uint64_t rest = size - sizeof(Header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.format != kFormat || header.zero != 0 ||
      header.key_size != key_text.size() || header.key_size > rest ||
      header.payload_size != rest - header.key_size)
    return Read::Bad;
  std::vector<std::byte> all(size);
  std::memcpy(all.data(), &header, sizeof header);
  if (!file.read_all(all.data() + sizeof(Header), rest)) return Read::Failed;
  unsigned char checksum[16];
  checksum_of(all, checksum);
  if (std::memcmp(checksum, header.checksum, sizeof checksum) != 0 ||
      std::memcmp(all.data() + sizeof(Header), key_text.data(), key_text.size()) != 0)
    return Read::Bad;
  payload.assign(all.end() - static_cast<std::ptrdiff_t>(header.payload_size), all.end());

  const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(status.st_mtime);
  if (age > kUseInterval) ::futimens(file.get(), nullptr);
  return Read::Found;
}

std::optional<std::vector<std::byte>> KernelCache::find(const KernelKey& key, bool* from_disk) {
  const std::string text = key.text();
  const Hash hash = hash_of(text);
  if (from_disk) *from_disk = true;
  {
    std::lock_guard lock(mutex_);
    if (auto found = memory_.find(hash); found != memory_.end()) {
      ++statistics_.hits;
      return *found->second;
    }
  }
  std::vector<std::byte> payload;
  const fs::path path = path_of(hash);
  const Read result = path.empty() ? Read::Missing : read(path, text, payload);
  std::lock_guard lock(mutex_);
  if (result == Read::Found) {
    ++statistics_.soft_misses;
    memory_[hash] = std::make_shared<const std::vector<std::byte>>(payload);
    return payload;
  }
  if (result == Read::Bad) {
    std::error_code error;
    fs::remove(path, error);
    ++statistics_.removed;
    if (base::logs("compile"))
      base::log_line("compile", "removed " + path.string() + ": its content is damaged");
  }
  if (result == Read::Failed) failed("cannot read " + path.string());
  ++statistics_.hard_misses;
  if (from_disk) *from_disk = false;
  return std::nullopt;
}

void KernelCache::failed(const std::string& what) {
  ++statistics_.io_errors;
  if (base::logs("compile")) base::log_line("compile", what + ": " + std::strerror(errno));
}

bool KernelCache::write(const fs::path& path, std::span<const std::byte> file) {
  static std::atomic<std::uint64_t> counter{0};
  const fs::path temporary =
      folder_ / (kTemporary + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1)));
  File out(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!out.is_open()) return false;
  const bool written = out.write_all(file.data(), file.size()) && out.close();
  // A link fails where the name exists: whoever was first stays. Some file systems have no links.
  bool published = false;
  if (written) {
    published = ::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST;
    if (!published) published = ::rename(temporary.c_str(), path.c_str()) == 0;
  }
  const int reason = errno;
  ::unlink(temporary.c_str());
  errno = reason;
  return published;
}

void KernelCache::store(const KernelKey& key, std::span<const std::byte> payload) {
  const std::string text = key.text();
  const Hash hash = hash_of(text);
  bool disk = false;
  {
    std::lock_guard lock(mutex_);
    memory_[hash] = std::make_shared<const std::vector<std::byte>>(payload.begin(), payload.end());
    disk = can_write_ && !folder_.empty();
  }
  if (!disk) return;

  std::vector<std::byte> file(sizeof(Header) + text.size() + payload.size());
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.key_size = text.size();
  header.payload_size = payload.size();
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, text.data(), text.size());
  std::copy(payload.begin(), payload.end(),
            file.begin() + static_cast<std::ptrdiff_t>(sizeof header + text.size()));
  checksum_of(file, header.checksum);
  std::memcpy(file.data(), &header, sizeof header);

  std::error_code error;
  fs::create_directories(folder_, error);
  const bool written = write(path_of(hash), file);
  bool full = false;
  {
    std::lock_guard lock(mutex_);
    if (!written) {
      failed("cannot write to " + folder_.string() + ", kernels are kept in memory");
      can_write_ = false;  // a read-only or full disk stays one: do not try for each kernel
      return;
    }
    disk_bytes_ += file.size();
    full = !sized_ || disk_bytes_ > limit_bytes_;
  }
  if (full) trim();
}

void KernelCache::trim() {
  if (folder_.empty()) return;
  struct Entry {
    fs::path path;
    std::uint64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may trim too
    const std::uint64_t bytes = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (gone) continue;
    const std::string name = at->path().filename().string();
    if (name.starts_with(kTemporary)) {
      if (now - used > kAbandoned) fs::remove(at->path(), gone);
    } else if (at->path().extension() == kExtension) {
      entries.push_back({at->path(), bytes, used});
      total += bytes;
    }
  }
  std::uint64_t evicted = 0;
  if (total > limit_bytes_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    // A tenth more than needed, so that the next kernel does not trim again.
    const std::uint64_t keep = limit_bytes_ - limit_bytes_ / 10;
    for (const Entry& entry : entries) {
      if (total <= keep) break;
      std::error_code gone;
      if (fs::remove(entry.path, gone)) ++evicted;
      total -= entry.bytes;
    }
  }
  std::lock_guard lock(mutex_);
  statistics_.evicted += evicted;
  disk_bytes_ = total;
  sized_ = true;
}

CacheStatistics KernelCache::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace sinter::compile
