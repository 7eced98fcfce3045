// Programs that no device has seen before, and devices that keep few plans.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <sinter/any_tensor.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/null/null_backend.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#ifdef SINTER_HAS_CUDA
#include "src/runtime/cuda/cuda_backend.h"
#endif
#ifdef SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif

namespace sinter::testing {

/// A new device over what `make()` gives, whose plans and kernels hold at most so many MiB.
template <class Make>
Device device_with_plan_limit(std::int64_t mib, Make make) {
  struct Limit {
    std::int64_t before = base::environment().plan_limit_mib;
    ~Limit() { base::mutable_environment().plan_limit_mib = before; }
  } limit;
  base::mutable_environment().plan_limit_mib = mib;
  return device_over(make());
}

/// As `test_device`, but a new one.
inline Device device_with_plan_limit(std::int64_t mib) {
  return device_with_plan_limit(mib, []() -> std::unique_ptr<runtime::Backend> {
    if (const char* oracle = std::getenv("SINTER_TEST_ORACLE"); oracle && std::string(oracle) == "1")
      return make_oracle_backend();
    const char* const name = std::getenv("SINTER_DEVICE");
    const std::string kind = name ? name : "host";
#ifdef SINTER_HAS_CUDA
    if (kind.starts_with("cuda")) return runtime::make_cuda_backend(0);
#endif
#ifdef SINTER_HAS_VULKAN
    if (kind.starts_with("vulkan")) return runtime::make_vulkan_backend(0);
#endif
    if (kind == "null") return runtime::make_null_backend({});
    return runtime::make_host_backend();
  });
}

inline constexpr std::size_t kStructureOps = 10;  // 4^10 structures

/// Program number `structure` on x: each has a kernel of its own, and all its values are small integers.
inline AnyTensor run_structure(AnyTensor x, std::uint64_t structure) {
  for (std::size_t i = 0; i < kStructureOps; ++i, structure /= 4) {
    switch (structure % 4) {
      case 0: x = AnyTensor::add(x, 2); break;
      case 1: x = AnyTensor::mul(x, -1); break;
      case 2: x = AnyTensor::maximum(x, -3); break;
      default: x = AnyTensor::sub(5, x); break;
    }
  }
  return x;
}

inline double value_of_structure(double x, std::uint64_t structure) {
  for (std::size_t i = 0; i < kStructureOps; ++i, structure /= 4) {
    switch (structure % 4) {
      case 0: x = x + 2; break;
      case 1: x = -x; break;
      case 2: x = std::max(x, -3.0); break;
      default: x = 5 - x; break;
    }
  }
  return x;
}

}  // namespace sinter::testing
