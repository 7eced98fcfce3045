// Reads and writes whole files by system calls, which report why an operation failed.
#include "src/record/file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

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
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
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
  std::vector<std::byte> bytes(size);
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

void remove_if_there(const Path& file) { ::unlink(file.c_str()); }

PendingFile::PendingFile(const Path& file) : file_(file.string()) {
  check_name(file);
  static std::atomic<unsigned> counter = 0;
  // A name that is taken is what a process of the same number has left behind.
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    temporary_ = file_ + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0 || errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_system(errno);
  }
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
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail_system(errno);
  temporary_.clear();
}

}  // namespace sinter::record
