// Compiled kernels on disk.
#include "jit/compile/kernel_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include <dirent.h>
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
constexpr std::time_t kAbandoned = 3600;  // seconds after which nobody writes a file any more
// The time of use is what eviction goes by; an hour is fine enough and spares most hits a write.
constexpr std::time_t kUseInterval = 3600;
constexpr int kLongestPause = 64;  // times the first

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

/// What a file is to hold.
std::vector<std::byte> file_of(const std::string& key_text, std::span<const std::byte> payload) {
  std::vector<std::byte> file(sizeof(Header) + key_text.size() + payload.size());
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.key_size = key_text.size();
  header.payload_size = payload.size();
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, key_text.data(), key_text.size());
  std::copy(payload.begin(), payload.end(),
            file.begin() + static_cast<std::ptrdiff_t>(sizeof header + key_text.size()));
  checksum_of(file, header.checksum);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

/// A file of the cache's folder.
struct Entry {
  std::string name;
  std::uint64_t bytes;
  std::time_t used;
};

/// Calls `visit(entry)` for each file in an open folder; what another process removes meanwhile is left out.
template <class Visit>
void for_each_file(const File& folder, Visit visit) {
  // A descriptor of its own: reading moves it, and closing the list closes it.
  const int own = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* list = own < 0 ? nullptr : ::fdopendir(own);
  if (list == nullptr) {
    if (own >= 0) ::close(own);
    return;
  }
  while (const dirent* at = ::readdir(list)) {
    struct stat status {};
    if (::fstatat(folder.get(), at->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(status.st_mode))
      visit(Entry{at->d_name, static_cast<std::uint64_t>(status.st_size), status.st_mtime});
  }
  ::closedir(list);
}

}  // namespace

std::string KernelKey::text() const {
  std::string all = "sinter " SINTER_VERSION_STRING " format " + std::to_string(kFormat) + "\n";
  for (const std::string* part : {&compiler, &target, &driver, &options, &source})
    all += std::to_string(part->size()) + ":" + *part + "\n";
  return all;
}

KernelCache::KernelCache(fs::path folder, std::uint64_t limit_bytes, Clock::duration retry,
                         std::size_t memory_limit)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes), retry_(retry), order_(memory_limit) {}

KernelCache& KernelCache::global() {
  // Never destroyed: threads may compile after the end of static objects.
  static KernelCache& instance = *[] {
    const base::Environment& e = base::environment();
    const bool disk = e.cache && !e.cache_dir.empty();
    // Devices have what they use themselves; this is for those that want the same, and for what they have
    // dropped.
    const std::size_t memory = e.plan_limit_mib == 0 ? std::numeric_limits<std::size_t>::max()
                                                     : static_cast<std::size_t>(e.plan_limit_mib) << 18;
    return new KernelCache(disk ? fs::path(e.cache_dir) / "kernels" : fs::path(),
                           static_cast<std::uint64_t>(e.cache_limit_mib) << 20, std::chrono::seconds(1),
                           memory);
  }();
  return instance;
}

/// With the lock held. What is too large for the limit is not kept.
void KernelCache::remember(const Hash& hash, std::span<const std::byte> payload, double cost) {
  constexpr std::size_t kEntry = sizeof(Kept) + 128;
  if (const auto known = memory_.find(hash); known != memory_.end()) {
    order_.remove(*known->second);
    memory_.erase(known);
  }
  const std::size_t bytes = kEntry + payload.size();
  if (bytes > order_.limit()) return;
  while (order_.lacks_room(bytes)) {
    Kept& next = static_cast<Kept&>(*order_.next_to_go());
    order_.remove(next);
    memory_.erase(Hash(next.hash));
    ++statistics_.forgotten;
  }
  auto kept = std::make_unique<Kept>();
  kept->hash = hash;
  kept->payload.assign(payload.begin(), payload.end());
  Kept& entry = *(memory_[hash] = std::move(kept));
  try {
    order_.add(entry, bytes, cost);
  } catch (...) {
    memory_.erase(hash);
    throw;
  }
}

KernelCache::Hash KernelCache::hash_of(const std::string& key_text) {
  const XXH128_hash_t hash = XXH3_128bits(key_text.data(), key_text.size());
  return {hash.high64, hash.low64};
}

std::string KernelCache::name_of(const Hash& hash) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (std::uint64_t half : {hash.first, hash.second})
    for (int shift = 60; shift >= 0; shift -= 4) name += digits[(half >> shift) & 15];
  return name + kExtension;
}

fs::path KernelCache::path_of(const KernelKey& key) const {
  return folder_.empty() ? fs::path() : folder_ / name_of(hash_of(key.text()));
}

void KernelCache::refused(const std::string& what, const std::string& why) {
  std::lock_guard lock(mutex_);
  ++statistics_.refused;
  if (base::logs("compile")) base::log_line("compile", what + " is not used: " + why);
}

void KernelCache::failed(const std::string& what) {
  const int error = errno;
  std::lock_guard lock(mutex_);
  ++statistics_.io_errors;
  if (base::logs("compile")) base::log_line("compile", what + ": " + std::strerror(error));
}

Opened KernelCache::open_folder(bool make) {
  Opened folder = open_private_folder(folder_, make);
  if (folder.access == Access::Refused) {
    refused(folder_.string(), folder.reason);
    base::warn_once("compiled kernels are not kept on disk: " + folder_.string() + " is not used because " +
                    folder.reason + "; SINTER_CACHE_DIR names another folder");
  }
  return folder;
}

KernelCache::Read KernelCache::read(const Hash& hash, const std::string& key_text,
                                    std::vector<std::byte>& payload) {
  const Opened folder = open_folder(false);
  const std::string name = name_of(hash);
  auto failure = [&] {
    failed("cannot read " + (folder_ / name).string());
    return Read::Failed;
  };
  // Removed, so that the next process finds what is compiled now.
  auto refusal = [&](const std::string& why) {
    refused((folder_ / name).string(), why);
    ::unlinkat(folder.file.get(), name.c_str(), 0);
    return Read::Refused;
  };
  if (folder.access == Access::Failed) return failure();
  if (folder.access != Access::Granted) return Read::Missing;
  const Opened opened = open_private_file(folder.file, name);
  if (opened.access == Access::Missing) return Read::Missing;
  if (opened.access == Access::Failed) return failure();
  if (opened.access == Access::Refused) return refusal(opened.reason);

  const std::string damaged = "its content is damaged";
  const std::uint64_t size = static_cast<std::uint64_t>(opened.status.st_size);
  if (size < sizeof(Header)) return refusal(damaged);
  Header header;
  if (!opened.file.read_all(std::as_writable_bytes(std::span(&header, 1)))) return failure();
  // Sizes are compared before anything is read by them: a damaged size must not ask for terabytes.
  const std::uint64_t rest = size - sizeof(Header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.format != kFormat || header.zero != 0 ||
      header.key_size != key_text.size() || header.key_size > rest ||
      header.payload_size != rest - header.key_size)
    return refusal(damaged);
  std::vector<std::byte> all(size);
  std::memcpy(all.data(), &header, sizeof header);
  if (!opened.file.read_all(std::span(all).subspan(sizeof(Header)))) return failure();
  unsigned char checksum[16];
  checksum_of(all, checksum);
  if (std::memcmp(checksum, header.checksum, sizeof checksum) != 0 ||
      std::memcmp(all.data() + sizeof(Header), key_text.data(), key_text.size()) != 0)
    return refusal(damaged);
  payload.assign(all.end() - static_cast<std::ptrdiff_t>(header.payload_size), all.end());
  if (std::time(nullptr) - opened.status.st_mtime > kUseInterval) ::futimens(opened.file.get(), nullptr);
  return Read::Found;
}

std::optional<std::vector<std::byte>> KernelCache::find(const KernelKey& key, Origin* origin) {
  const std::string text = key.text();
  const Hash hash = hash_of(text);
  auto came_from = [&](Origin where) {
    if (origin) *origin = where;
  };
  {
    std::lock_guard lock(mutex_);
    if (auto found = memory_.find(hash); found != memory_.end()) {
      ++statistics_.from_memory;
      came_from(Origin::Memory);
      order_.use(*found->second);
      return found->second->payload;
    }
  }
  std::vector<std::byte> payload;
  const auto start = Clock::now();
  const Read result = folder_.empty() ? Read::Missing : read(hash, text, payload);
  std::lock_guard lock(mutex_);
  if (result != Read::Found) {
    ++statistics_.missing;
    came_from(Origin::Compiled);
    return std::nullopt;
  }
  ++statistics_.from_disk;
  came_from(Origin::Disk);
  remember(hash, payload, nanoseconds_since(start));
  return payload;
}

bool KernelCache::write(const Hash& hash, std::span<const std::byte> file) {
  const Opened folder = open_folder(true);
  if (folder.access == Access::Refused) return false;
  if (folder.access == Access::Granted &&
      write_file(folder.file, name_of(hash), file, Existing::Kept, S_IRUSR | S_IWUSR))
    return true;
  failed("cannot write to " + folder_.string() + ", kernels stay in memory for a while");
  return false;
}

void KernelCache::store(const KernelKey& key, std::span<const std::byte> payload, double took) {
  const std::string text = key.text();
  const Hash hash = hash_of(text);
  {
    std::lock_guard lock(mutex_);
    remember(hash, payload, took);
    if (folder_.empty() || Clock::now() < writes_from_) return;
  }
  const std::vector<std::byte> file = file_of(text, payload);
  const auto start = Clock::now();
  const bool written = write(hash, file);
  bool full = false;
  {
    std::lock_guard lock(mutex_);
    if (written) {
      // From now on it takes about as long as reading the file to have it again.
      if (const auto kept = memory_.find(hash); kept != memory_.end())
        order_.revise(*kept->second, kept->second->bytes(), nanoseconds_since(start));
      pause_ = {};
      disk_bytes_ += file.size();
      full = !sized_ || disk_bytes_ > limit_bytes_;
    } else {
      // A disk is full, or a process has all files open that it may, for a moment or for good: it is tried
      // again, ever more rarely.
      pause_ = std::clamp(2 * pause_, retry_, kLongestPause * retry_);
      writes_from_ = Clock::now() + pause_;
    }
  }
  if (full) trim();
}

void KernelCache::forget() {
  std::lock_guard lock(mutex_);
  for (const auto& [hash, kept] : memory_) order_.remove(*kept);
  memory_.clear();
}

void KernelCache::trim() {
  if (folder_.empty()) return;
  const Opened folder = open_folder(false);
  if (folder.access != Access::Granted) return;
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  const std::time_t now = std::time(nullptr);
  for_each_file(folder.file, [&](Entry entry) {
    if (entry.name.starts_with(kBeingWritten)) {
      if (now - entry.used > kAbandoned) ::unlinkat(folder.file.get(), entry.name.c_str(), 0);
    } else if (entry.name.ends_with(kExtension)) {
      total += entry.bytes;
      entries.push_back(std::move(entry));
    }
  });
  std::uint64_t evicted = 0;
  if (total > limit_bytes_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    // A tenth more than needed, so that the next kernel does not trim again.
    const std::uint64_t keep = limit_bytes_ - limit_bytes_ / 10;
    for (const Entry& entry : entries) {
      if (total <= keep) break;
      if (::unlinkat(folder.file.get(), entry.name.c_str(), 0) == 0) ++evicted;
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
  CacheStatistics all = statistics_;
  all.memory_bytes = order_.bytes();
  return all;
}

}  // namespace sinter::compile
