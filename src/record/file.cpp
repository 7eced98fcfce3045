// Reads and writes whole files by system calls, which report why an operation failed.
#include "src/record/file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sinter/error.h>

namespace sinter::record {
namespace {

[[noreturn]] void fail_system(const std::filesystem::path& file, const char* what, int error) {
  throw DataError("[record] \"" + file.string() + "\" cannot be " + what + ": " + std::strerror(error));
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
  // Some file systems report a failed write only at close. Returns 0 or the error.
  int close() { return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

 private:
  int number_;
};

// Returns 0 or the error.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.number() < 0) fail_system(file, "opened", errno);
  struct stat facts;
  if (::fstat(descriptor.number(), &facts) != 0) fail_system(file, "read", errno);
  if (!S_ISREG(facts.st_mode)) throw DataError("[record] \"" + file.string() + "\" is not a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
  std::size_t at = 0;
  while (at < bytes.size()) {
    ssize_t count = ::read(descriptor.number(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_system(file, "read", errno);
    if (count == 0) break;
    at += static_cast<std::size_t>(count);
  }
  bytes.resize(at);
  return bytes;
}

void write_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  static std::atomic<unsigned> counter = 0;
  std::filesystem::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
  Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (descriptor.number() < 0) fail_system(file, "written", errno);
  int error = write_all(descriptor.number(), bytes);
  if (int on_close = descriptor.close(); error == 0) error = on_close;
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail_system(file, "written", error);
  }
}

}  // namespace sinter::record
