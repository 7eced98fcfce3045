// Resident memory of a program whose structures and shapes never come again. SINTER_TEST_STRUCTURES and
// SINTER_TEST_SHAPES set how many there are; 100,000 take some minutes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include <doctest/doctest.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/new_structures.h"
#include "tests/support/setting.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kLimitMib = 8;
// Of the process's compiled code, which is a cache beside the devices': a quarter of this.
const bool limited = (base::mutable_environment().plan_limit_mib = 4, true);

/// Without pages of files, of which the system takes and brings back as many as it likes: a compiler's
/// library has 100 MiB. And without what nobody holds: what LLVM has allocated and freed for one kernel, some
/// MiB, goes back to the system or stays with malloc, as a piece that is held lies behind it or not.
std::int64_t resident_kib() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0, of_files = 0;
  statm >> all >> resident >> of_files;
  return (resident - of_files) * sysconf(_SC_PAGESIZE) / 1024;
}

/// Calls run(0 .. count-1). Memory is flat: after the first third, within which the limit is reached, it does
/// not grow at a rate that makes a quarter of the limit of it. What is left is cut in four parts, of whose
/// growths the middle two are taken four times: a single step, as of a system that brings pages, is no rate.
template <class Run>
void check_flat(const std::string& what, const Device& device, std::int64_t count, Run run) {
  REQUIRE(limited);
  constexpr std::int64_t kParts = 4;
  const std::int64_t first = count / 3;
  std::array<std::int64_t, kParts + 1> most{};  // before the parts, and up to the end of each
  for (std::int64_t i = 0; i < count; ++i) {
    run(i);
    if (i == first) {
      most.fill(resident_kib());
      CHECK_MESSAGE(device.statistics().plans_dropped > 0, what << ": too few to reach the limit");
    }
    if (i > first && i % 64 == 0) {
      const auto part = static_cast<std::size_t>((i - first) * kParts / (count - first) + 1);
      const std::int64_t now = resident_kib();
      for (std::size_t k = part; k < most.size(); ++k) most[k] = std::max(most[k], now);
    }
    if (i % (count / 10) == 0)
      std::cout << what << ": " << i << ": " << resident_kib() << " KiB resident, "
                << device.statistics().plan_bytes / 1024 << " KiB counted" << std::endl;
  }
  std::array<std::int64_t, kParts> grown;
  for (std::size_t k = 0; k < grown.size(); ++k) grown[k] = most[k + 1] - most[k];
  std::sort(grown.begin(), grown.end());
  const std::int64_t rate = 2 * (grown[1] + grown[2]);
  std::cout << what << ": grew by " << most.back() - most.front() << " KiB, at a rate of " << rate
            << std::endl;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(rate < kLimitMib * 1024 / 4);
#endif
  CHECK(device.statistics().plan_bytes <= static_cast<std::size_t>(kLimitMib) << 20);
}

void check_structures(const std::string& what, const Device& device, std::int64_t count) {
  check_flat(what + ", structures", device, count, [&](std::int64_t i) {
    const AnyTensor y =
        run_structure(AnyTensor::full({3}, 4, DType::f32, device), static_cast<std::uint64_t>(i));
    device.sync();
  });
}

void check_shapes(const std::string& what, const Device& device, std::int64_t count) {
  check_flat(what + ", shapes", device, count, [&](std::int64_t i) {
    const AnyTensor x = AnyTensor::full({2 + i % 300, 2 + i / 300 % 500}, 2, DType::f32, device);
    const AnyTensor y = AnyTensor::add(AnyTensor::mul(x, x), 1).sum({1});
    device.sync();
  });
}

std::int64_t shapes() { return setting("SINTER_TEST_SHAPES", 15'000); }
std::int64_t structures(std::int64_t usual) { return setting("SINTER_TEST_STRUCTURES", usual); }

}  // namespace

TEST_CASE("null") {
  const auto make = [] { return runtime::make_null_backend({}); };
  check_structures("null", device_with_plan_limit(kLimitMib, make), structures(9'000));
  check_shapes("null", device_with_plan_limit(kLimitMib, make), shapes());
}

TEST_CASE("the interpreter") {
  const auto make = [] { return runtime::make_host_backend(nullptr, false); };
  check_structures("interpreter", device_with_plan_limit(kLimitMib, make), structures(9'000));
  check_shapes("interpreter", device_with_plan_limit(kLimitMib, make), shapes());
}

TEST_CASE("machine code") {
  runtime::host::Jit* const jit = runtime::host::jit();
  if (!jit) return;
  const auto make = [&] { return runtime::make_host_backend(jit, true); };
  check_structures("machine code", device_with_plan_limit(kLimitMib, make), structures(3'000));
  check_shapes("machine code", device_with_plan_limit(kLimitMib, make), shapes());
}

}  // namespace sinter::testing
