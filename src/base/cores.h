// How much of the machine this process may use.
#pragma once

#include <cstddef>
#include <filesystem>

namespace sinter::base {

/// Cores that this process may keep busy: those it may run on (its affinity mask), and no more than the quota
/// of its control groups pays for. At least 1.
std::size_t usable_cores();

/// The quota of the control groups alone (version 1 and 2, the smallest on the way up), in cores, rounded up;
/// 0 where there is none. `root` stands for "/" in tests.
std::size_t quota_in_cores(const std::filesystem::path& root = "/");

}  // namespace sinter::base
