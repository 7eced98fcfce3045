// What a compiled kernel is launched for: as many workgroups as the driver says a device runs at once.
#include <doctest/doctest.h>

#include "jit/emit/dialects/table.h"
#include "src/runtime/cuda/device_traits.h"

using namespace sinter;
using runtime::cuda::DriverApi, runtime::cuda::Result, runtime::cuda::target_of;

namespace {

constexpr int kMultiprocessors = 10;
constexpr std::int64_t kWanted = 8 * kMultiprocessors;

emit::Target device() {
  emit::Target target(emit::dialect("cuda"));
  target.wanted_workgroups = kWanted;
  return target;
}

ir::Kernel reduction(bool split) {
  ir::Kernel kernel;
  kernel.schedule = ir::Schedule::LanesInner;
  kernel.split = split;
  return kernel;
}

std::int64_t wanted(const DriverApi& api, bool split) {
  return target_of(api, reduction(split), runtime::cuda::Function{}, device(), kMultiprocessors)
      .wanted_workgroups;
}

}  // namespace

TEST_CASE("a shared reduction has as many parts as the device runs at once of its function") {
  DriverApi api;
  api.occupancy = [](int* workgroups, runtime::cuda::Function, int, std::size_t) -> Result {
    *workgroups = 6;
    return runtime::cuda::kSuccess;
  };
  CHECK(wanted(api, true) == 6 * kMultiprocessors);
  CHECK(wanted(api, false) == kWanted);
}

TEST_CASE("a driver that cannot say how many leaves what is usual") {
  DriverApi api;
  CHECK(wanted(api, true) == kWanted);
  api.occupancy = [](int*, runtime::cuda::Function, int, std::size_t) -> Result { return 1; };
  CHECK(wanted(api, true) == kWanted);
  api.occupancy = [](int* workgroups, runtime::cuda::Function, int, std::size_t) -> Result {
    *workgroups = 0;
    return runtime::cuda::kSuccess;
  };
  CHECK(wanted(api, true) == kWanted);
}
