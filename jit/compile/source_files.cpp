// Generated source on disk.
#include "jit/compile/source_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <xxhash.h>

#include "src/base/env.h"

namespace sinter::compile {

namespace fs = std::filesystem;

namespace {

std::string write(const fs::path& folder, const std::string& source, const std::string& extension) {
  char name[17];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(source.data(), source.size())));
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = folder / (std::string(name) + extension);
  std::ofstream file(path, std::ios::binary);
  file << source;
  file.close();
  return file ? path.string() : std::string();
}

}  // namespace

void dump_source(const std::string& source, const std::string& extension) {
  const std::string& folder = base::environment().dump_kernels;
  if (folder.empty()) return;
  if (write(folder, source, extension).empty())
    base::warn_once("SINTER_DUMP_KERNELS names " + folder + ", where no file can be written");
}

std::string keep_refused_source(const std::string& source, const std::string& extension) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  const std::string& cache = base::environment().cache_dir;
  for (const fs::path& folder : {cache.empty() ? fs::path() : fs::path(cache) / "refused", temporary}) {
    if (folder.empty()) continue;
    if (const std::string path = write(folder, source, extension); !path.empty()) return path;
  }
  return "nowhere: no folder can be written to";
}

}  // namespace sinter::compile
