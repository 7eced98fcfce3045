// Child processes with a cache folder of their own.
#include "first_step.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <sinter/error.h>

#include "workload.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// Removed with the last row that uses it.
class CacheFolder {
 public:
  CacheFolder() {
    std::string name = (fs::temp_directory_path() / "sinter-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw sinter::Error("[sinter-bench] no folder can be made under " + name);
    path_ = name;
  }
  ~CacheFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  void empty() {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

std::function<double()> first_step(const sinter::Device& device, const std::string& name, bool cached) {
  const auto folder = std::make_shared<CacheFolder>();
  const std::string command = "SINTER_CACHE_DIR='" + folder->path().string() + "' '" +
                              fs::read_symlink("/proc/self/exe").string() + "' --first-step " + name +
                              " --device " + device.name();
  return [=] {
    if (!cached) folder->empty();
    const auto start = std::chrono::steady_clock::now();
    if (std::system(command.c_str()) != 0) throw sinter::Error("[sinter-bench] failed: " + command);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
}

void run_first_step(const sinter::Device& device, const std::string& name) {
  for (const Workload& workload : workloads())
    if (workload.name == name) workload.make(device)();
  device.sync();
}

}  // namespace bench
