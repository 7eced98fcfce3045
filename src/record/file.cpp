// Reads and writes whole files by system calls, which report why an operation failed.
#include "src/record/file.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sinter/error.h>

namespace sinter::record {
namespace {

[[noreturn]] void fail_system(const std::string& file, const char* what, int error) {
  throw DataError("[record] \"" + file + "\" cannot be " + what + ": " + std::strerror(error));
}

[[noreturn]] void fail_without_memory(const std::string& file, std::size_t bytes) {
  throw DataError("[record] \"" + file + "\" has " + std::to_string(bytes) +
                  " bytes, more than memory is left");
}

// The system would take the part before it for the name.
void check_name(const Path& file) {
  if (file.string().find('\0') != std::string::npos)
    throw DataError("[record] the file name \"" + std::string(file.c_str()) + "\" has a zero byte behind it");
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

struct Mapping {
  Mapping(void* at, std::size_t bytes) : address(at), size(bytes) {}
  ~Mapping() { ::munmap(address, size); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  void* address;
  std::size_t size;
};

[[noreturn]] void fail_to_replace(const std::string& file) {
  throw DataError("[record] \"" + file + "\" cannot be written: it is not a regular file");
}

}  // namespace

std::string end_of_links(const Path& name) {
  const std::string file = name.string();
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::string at = file;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat facts;
    if (::lstat(at.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return at;
    std::vector<char> target(PATH_MAX);
    const ssize_t size = ::readlink(at.c_str(), target.data(), target.size());
    if (size < 0) return at;
    const std::string text(target.data(), static_cast<std::size_t>(size));
    const std::size_t slash = at.rfind('/');
    const bool is_absolute = text.starts_with('/') || slash == std::string::npos;
    at = is_absolute ? text : at.substr(0, slash + 1) + text;
  }
  return file;  // a loop, which the system refuses to open
}

namespace {

/// Returns 0 or the error.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

Bytes read_file(const Path& file, bool map) {
  check_name(file);
  // A FIFO, which is refused below, would let open() wait for a writer.
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.number() < 0) fail_system(file.string(), "opened", errno);
  struct stat facts;
  if (::fstat(descriptor.number(), &facts) != 0) fail_system(file.string(), "read", errno);
  if (!S_ISREG(facts.st_mode)) throw DataError("[record] \"" + file.string() + "\" is not a regular file");
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (map && size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
    if (address != MAP_FAILED) {
      auto mapping = std::make_shared<const Mapping>(address, size);
      return Bytes::view({static_cast<const std::byte*>(address), size}, std::move(mapping));
    }
  }
  std::vector<std::byte> bytes;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {  // such as of a sparse file, which takes no room on the disk
    fail_without_memory(file.string(), size);
  } catch (const std::length_error&) {
    fail_without_memory(file.string(), size);
  }
  std::size_t at = 0;
  while (at < bytes.size()) {
    ssize_t count = ::read(descriptor.number(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(file.string(), "read", errno);
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  bytes.resize(at);
  return bytes;
}

bool exists(const Path& file) { return ::access(file.c_str(), F_OK) == 0; }

void require_replaceable(const Path& file) {
  struct stat facts;
  if (::stat(file.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) fail_to_replace(file.string());
}

void remove_if_there(const Path& file) {
  struct stat facts;
  if (::lstat(file.c_str(), &facts) == 0 && (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)))
    ::unlink(file.c_str());
}

PendingFile::PendingFile(const Path& file, const Path& like) : file_(file.string()) {
  check_name(file);
  struct stat old;
  bool has_old = ::stat(file_.c_str(), &old) == 0;
  if (!has_old && errno != ENOENT) fail_system(errno);
  if (has_old && !S_ISREG(old.st_mode)) fail_to_replace(file_);
  if (!has_old) has_old = ::stat(like.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  // Never more than the old file lets others do, not even for a moment.
  constexpr mode_t kPermissions = 0777;
  const mode_t mode = has_old ? old.st_mode & kPermissions : 0666;
  target_ = end_of_links(file_);
  static std::atomic<unsigned> counter = 0;
  // A name that is taken is what a process of the same number has left behind.
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    temporary_ = target_ + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    descriptor_ =
        ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, has_old ? mode & 0700 : mode);
    if (descriptor_ >= 0 || errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_system(errno);
  }
  if (!has_old) return;
  // What the old file let a group do, it does not let another one do. Owner and group are changed where that
  // is allowed; the umask took some permissions away; some file systems have none.
  constexpr auto kSame = static_cast<uid_t>(-1);
  const bool has_group = ::fchown(descriptor_, kSame, old.st_gid) == 0;
  static_cast<void>(::fchown(descriptor_, old.st_uid, kSame));
  static_cast<void>(::fchmod(descriptor_, has_group ? mode : mode & ~mode_t{070}));
}

PendingFile::~PendingFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void PendingFile::fail_system(int error) { record::fail_system(file_, "written", error); }

void PendingFile::write(std::span<const Bytes> pieces) {
  for (const Bytes& piece : pieces)
    if (const int error = write_all(descriptor_, piece)) fail_system(error);
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_system(errno);
  // Some file systems report a failed write only at close.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_system(errno);
}

void PendingFile::publish() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_system(errno);
  temporary_.clear();
}

}  // namespace sinter::record
