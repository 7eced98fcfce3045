// Opens files and asks whose they are; writes files that appear as a whole.
#include "jit/compile/private_files.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sinter::compile {

namespace fs = std::filesystem;

namespace {

/// Why this user should not use what is open; empty where nothing speaks against it.
std::string objection_to(const struct stat& status) {
  if (status.st_uid != ::geteuid())
    return "it belongs to user " + std::to_string(status.st_uid) + ", and this process runs as user " +
           std::to_string(::geteuid());
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
    return std::string("others may write to it (its mode is ") + mode + ")";
  }
  return "";
}

Opened refused(std::string reason) {
  Opened result;
  result.access = Access::Refused;
  result.reason = std::move(reason);
  return result;
}

/// Of what errno says after a file could not be opened.
Opened not_opened() {
  Opened result;
  result.access = errno == ENOENT || errno == ENOTDIR ? Access::Missing : Access::Failed;
  return result;
}

Opened judged(File file) {
  Opened result;
  if (::fstat(file.get(), &result.status) != 0) return result;
  result.reason = objection_to(result.status);
  result.access = result.reason.empty() ? Access::Granted : Access::Refused;
  if (result.reason.empty()) result.file = std::move(file);
  return result;
}

/// Makes a folder and those missing above it. Root makes none in the folder of another user, which is what
/// sudo would do in that user's home: the user could never write there.
bool make_folder(const fs::path& folder, std::string& objection) {
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  struct stat above {};
  if (::stat(parent.c_str(), &above) != 0) {
    if (errno != ENOENT || parent == folder || !make_folder(parent, objection)) return false;
  } else if (::geteuid() == 0 && above.st_uid != 0) {
    objection = "it would be root's, in a folder of user " + std::to_string(above.st_uid);
    return false;
  }
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

std::string unguessable_name() {
  std::random_device random;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return std::string(kBeingWritten) + digits;
}

}  // namespace

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

int File::release() { return std::exchange(descriptor_, -1); }

bool File::close() { return descriptor_ < 0 || ::close(release()) == 0; }

bool File::read_all(std::span<std::byte> to) const {
  while (!to.empty()) {
    const ssize_t got = ::read(descriptor_, to.data(), to.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool File::write_all(std::span<const std::byte> from) const {
  while (!from.empty()) {
    const ssize_t put = ::write(descriptor_, from.data(), from.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from = from.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

Opened open_private_folder(const fs::path& folder, bool make) {
  auto open = [&] { return File(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); };
  File file = open();
  if (!file.is_open() && errno == ENOENT && make) {
    std::string objection;
    if (make_folder(folder, objection)) file = open();
    if (!objection.empty()) return refused(std::move(objection));
  }
  if (file.is_open()) return judged(std::move(file));
  const int error = errno;
  struct stat status {};
  if (::lstat(folder.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    return refused("it is a symbolic link");
  errno = error;
  return not_opened();
}

Opened open_private_file(const File& folder, const std::string& name) {
  // Not to wait for the writer of a pipe that somebody has put there.
  File file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() && errno == ELOOP) return refused("it is a symbolic link");
  if (!file.is_open()) return not_opened();
  Opened result = judged(std::move(file));
  if (result.access != Access::Granted || S_ISREG(result.status.st_mode)) return result;
  if (!S_ISDIR(result.status.st_mode)) return refused("it is no regular file");
  errno = EISDIR;
  return {};
}

bool write_file(const File& folder, const std::string& name, std::span<const std::byte> content,
                Existing existing, mode_t mode) {
  constexpr int kAttempts = 8;  // none has ever needed a second
  std::string temporary;
  File file;
  for (int attempt = 0; attempt < kAttempts && !file.is_open(); ++attempt) {
    temporary = unguessable_name();
    file = File(::openat(folder.get(), temporary.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.is_open() && errno != EEXIST) return false;
  }
  if (!file.is_open()) return false;
  bool published = false;
  if (file.write_all(content) && file.close()) {
    // A link fails where the name exists: whoever was first stays. Some file systems have no links.
    if (existing == Existing::Kept)
      published =
          ::linkat(folder.get(), temporary.c_str(), folder.get(), name.c_str(), 0) == 0 || errno == EEXIST;
    if (!published) published = ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) == 0;
  }
  const int error = errno;
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  errno = error;
  return published;
}

}  // namespace sinter::compile
