// Affinity masks and the quotas of control groups.
#include "src/base/cores.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <cerrno>

#include <sched.h>
#endif

namespace sinter::base {

namespace fs = std::filesystem;

namespace {

/// The smallest of what is seen, in cores.
class Smallest {
 public:
  /// `quota` of each `period`; others than positive numbers mean that there is none.
  void see(double quota, double period) {
    if (!(quota > 0) || !(period > 0)) return;
    const auto cores = static_cast<std::size_t>((quota + period - 1) / period);
    cores_ = std::min(cores_ == 0 ? cores : cores_, std::max<std::size_t>(cores, 1));
  }
  std::size_t cores() const { return cores_; }

 private:
  std::size_t cores_ = 0;
};

/// The first number of a file; 0 where there is none, as in "max 100000".
double number_in(const fs::path& file) {
  std::ifstream text(file);
  double number = 0;
  return text >> number ? number : 0;
}

void see_version_1(const fs::path& group, Smallest& smallest) {
  smallest.see(number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us"));
}

void see_version_2(const fs::path& group, Smallest& smallest) {
  std::ifstream text(group / "cpu.max");
  double quota = 0, period = 0;
  if (text >> quota >> period) smallest.see(quota, period);
}

/// Calls `see` for a control group and all above it. A container often sees only its own group, mounted as if
/// it were the topmost, under the name that it has outside: then only the last call finds files.
template <class See>
void see_with_those_above(const fs::path& mount, const std::string& group, See see) {
  for (fs::path at = fs::path(group).relative_path();; at = at.parent_path()) {
    see(mount / at);
    if (at.empty()) return;
  }
}

bool has_controller(const std::string& controllers, const std::string& name) {
  return ("," + controllers + ",").find("," + name + ",") != std::string::npos;
}

/// Cores of the affinity mask.
std::size_t allowed_cores() {
#if defined(__linux__)
  // A machine may have more processors than the usual mask has bits.
  for (std::size_t bits = 1024; bits <= (std::size_t{1} << 20); bits *= 4) {
    cpu_set_t* mask = CPU_ALLOC(bits);
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    const bool known = ::sched_getaffinity(0, bytes, mask) == 0;
    const bool too_small = !known && errno == EINVAL;
    const int count = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known) return static_cast<std::size_t>(std::max(count, 1));
    if (!too_small) break;
  }
#endif
  return std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace

std::size_t quota_in_cores(const fs::path& root) {
  // Lines "4:cpu,cpuacct:/group" of version 1, "0::/group" of version 2.
  std::ifstream groups(root / "proc/self/cgroup");
  const fs::path mounts = root / "sys/fs/cgroup";
  Smallest smallest;
  for (std::string line; std::getline(groups, line);) {
    std::istringstream parts(line);
    std::string number, controllers, group;
    if (!std::getline(parts, number, ':') || !std::getline(parts, controllers, ':') ||
        !std::getline(parts, group))
      continue;
    auto see_1 = [&](const fs::path& at) { see_version_1(at, smallest); };
    auto see_2 = [&](const fs::path& at) { see_version_2(at, smallest); };
    if (controllers.empty()) {
      for (const fs::path& mount : {mounts, mounts / "unified"}) see_with_those_above(mount, group, see_2);
    } else if (has_controller(controllers, "cpu")) {
      for (const fs::path& mount : {mounts / controllers, mounts / "cpu"})
        see_with_those_above(mount, group, see_1);
    }
  }
  return smallest.cores();
}

std::size_t usable_cores() {
  const std::size_t allowed = allowed_cores(), paid = quota_in_cores();
  return paid == 0 ? allowed : std::min(allowed, paid);
}

}  // namespace sinter::base
