// Generated source on disk.
#include "jit/compile/source_files.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <xxhash.h>

#include "jit/compile/private_files.h"
#include "src/base/env.h"

namespace sinter::compile {

namespace fs = std::filesystem;

namespace {

std::string name_of(const std::string& source, const std::string& extension) {
  char name[17];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(source.data(), source.size())));
  return name + extension;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Removes the oldest files of a folder beyond the number.
void keep_newest(const fs::path& folder, std::size_t number) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto time = at->last_write_time(gone);
    if (!gone && at->is_regular_file(gone)) files.emplace_back(time, at->path());
  }
  if (files.size() <= number) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - number);
  for (const auto& [time, path] : files) fs::remove(path, error);
}

/// The path of what was written; empty where nothing could be.
std::string keep_in_cache(const std::string& source, const std::string& name) {
  const std::string& cache = base::environment().cache_dir;
  if (cache.empty()) return "";
  const fs::path path = fs::path(cache) / "refused";
  const Opened folder = open_private_folder(path, true);
  if (folder.access != Access::Granted) return "";
  if (!write_file(folder.file, name, bytes_of(source), Existing::Replaced, S_IRUSR | S_IWUSR)) return "";
  keep_newest(path, kMostRefusedSources);
  return (path / name).string();
}

/// There everybody writes, so it gets a name that nobody can have prepared.
std::string keep_in_temporary_folder(const std::string& source, const std::string& extension) {
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / ("sinter-XXXXXX" + extension)).string();
  File file(::mkostemps(path.data(), static_cast<int>(extension.size()), O_CLOEXEC));
  return file.is_open() && file.write_all(bytes_of(source)) && file.close() ? path : "";
}

}  // namespace

void dump_source(const std::string& source, const std::string& extension) {
  const std::string& path = base::environment().dump_kernels;
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(path, error);
  // Written anew and renamed: a link of that name is replaced, not followed.
  const File folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr mode_t kAsUsual = 0666;  // less what the user's umask takes
  if (!folder.is_open() ||
      !write_file(folder, name_of(source, extension), bytes_of(source), Existing::Replaced, kAsUsual))
    base::warn_once("SINTER_DUMP_KERNELS names " + path + ", where no file can be written");
}

std::string keep_refused_source(const std::string& source, const std::string& extension) {
  static std::atomic<std::size_t> kept{0};
  if (kept.fetch_add(1) >= kMostRefusedSources)
    return "not written: this process has written " + std::to_string(kMostRefusedSources);
  std::string path = keep_in_cache(source, name_of(source, extension));
  if (path.empty()) path = keep_in_temporary_folder(source, extension);
  return path.empty() ? "nowhere: no folder can be written to" : path;
}

}  // namespace sinter::compile
