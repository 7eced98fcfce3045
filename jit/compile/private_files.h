// Files that no other user can have written: compiled kernels are run, so whoever writes them runs what they
// like as the user of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>

namespace sinter::compile {

/// A file descriptor that closes itself.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int release();

  /// False after an error, which is in errno, and where the file ends early.
  bool read_all(std::span<std::byte> to) const;
  bool write_all(std::span<const std::byte> from) const;
  /// False where the system says only now that something was not written.
  bool close();

 private:
  int descriptor_ = -1;
};

enum class Access : std::uint8_t {
  Granted,
  Missing,
  Refused,  // for its owner, its mode or its kind; `reason` says which
  Failed    // an I/O error, in errno
};

/// A folder or a file that was opened, or why not.
struct Opened {
  Access access = Access::Failed;
  File file;
  struct stat status {};
  std::string reason;  // "it belongs to user 1000, and this process runs as user 0"
};

/// Opens a folder whose files may be used: it belongs to the effective user, neither group nor others may
/// write to it, and it is no link. Owner and mode are those of what is open, which nobody can exchange any
/// more. `make`: makes it, and what is missing above it, for this user alone (mode 0700).
Opened open_private_folder(const std::filesystem::path& folder, bool make);

/// Opens a regular file in such a folder for reading, under the same conditions.
Opened open_private_file(const File& folder, const std::string& name);

enum class Existing : std::uint8_t { Kept, Replaced };

/// Writes a file under a name that nobody can guess, and then gives it its own: nobody ever sees half of it.
/// `existing` says what becomes of a file that has the name already. False after an error, which is in errno;
/// nothing is left then.
bool write_file(const File& folder, const std::string& name, std::span<const std::byte> content,
                Existing existing, mode_t mode);

/// What the names of files begin with that are being written, or were when their process was killed.
inline constexpr std::string_view kBeingWritten = ".writing-";

}  // namespace sinter::compile
