// Whole files: mapped or read at once, and written atomically.
#pragma once

#include <span>
#include <string>

#include <sinter/path.h>
#include <sinter/record/bytes.h>

namespace sinter::record {

/// Throws DataError with the file and the system's reason. A file that cannot be mapped, as those of some
/// network file systems, is read.
Bytes read_file(const Path& file, bool map);

bool exists(const Path& file);
/// What stands at the end of symbolic links, which need not be there.
std::string end_of_links(const Path& file);
/// Throws DataError where there is something that is no regular file, nor a link to one.
void require_replaceable(const Path& file);
/// Nothing where there is no regular file or link, or it cannot be removed: what is left is of no more use.
void remove_if_there(const Path& file);

/// A file that is written beside its place and takes it when it is complete; else it is removed. Where the
/// name is a symbolic link, the place is that which it leads to. A file that is replaced hands on its
/// permissions.
class PendingFile {
 public:
  /// Throws DataError with the file and the system's reason, as all of this, or where what is there is not a
  /// regular file.
  explicit PendingFile(const Path& file) : PendingFile(file, file) {}
  /// With the permissions of `like` where there is no `file` and that is there.
  PendingFile(const Path& file, const Path& like);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Writes the content, whole and on the disk.
  void write(std::span<const Bytes> pieces);
  void publish();

 private:
  [[noreturn]] void fail_system(int error);

  std::string file_, target_, temporary_;
  int descriptor_ = -1;
};

}  // namespace sinter::record
