// The host backend passes the conformance suite, interpreted and compiled, for every vector width of the
// processor. SINTER_CONFORMANCE_KERNELS sets the number of random kernels.
#include <algorithm>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/machine_code/jit.h"
#include "tests/conformance/backend_conformance.h"
#include "tests/support/setting.h"

namespace {

using namespace sinter;

void check(runtime::host::Jit* jit, int random_kernels, int random_long_kernels) {
  const auto backend = runtime::make_host_backend(jit, true);
  testing::ConformanceOptions options;
  options.random_kernels = static_cast<int>(testing::setting("SINTER_CONFORMANCE_KERNELS", random_kernels));
  options.random_long_kernels = std::min(random_long_kernels, options.random_kernels);
  options.products = options.segments = jit == nullptr;  // the same code, whoever computes kernels
  testing::check_backend(*backend, options);
}

// Compiles for this machine, or for fewer features than it has; `target`: texts as for another one.
void check_compiled(const std::string& cpu, const std::string& features, int random_kernels,
                    int random_long_kernels, const emit::LlvmTarget* target = nullptr) {
  std::string reason;
  const auto jit = runtime::host::open_jit(base::environment().llvm, cpu, features, reason, target);
  if (jit == nullptr) {
    MESSAGE("not checked: " << reason);
    return;
  }
  INFO(jit->describe());
  check(jit.get(), random_kernels, random_long_kernels);
}

}  // namespace

TEST_CASE("the host backend conforms, interpreting") { check(nullptr, 1000, 40); }

TEST_CASE("the host backend conforms, compiling") { check_compiled("", "", 300, 30); }

#if defined(__x86_64__)
constexpr const char* kAvx2 =
    "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt";

TEST_CASE("the host backend conforms, compiling for vectors of 16 bytes") {
  check_compiled("x86-64", "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16", 100, 10);
}

TEST_CASE("the host backend conforms, compiling for vectors of 32 bytes") {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  check_compiled("x86-64", kAvx2, 100, 10);
}

// One loop for whole vectors and for what is left of a row: kernels of all lengths are written so here. Texts
// of 64-byte vectors become instructions of whatever the processor has.
TEST_CASE("the host backend conforms, compiling one loop for whole vectors and the rest") {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
  for (const int bytes : {16, 32, 64}) {
    emit::LlvmTarget target;
    target.vector_bytes = bytes;
    target.has_gather = bytes > 16;
    target.has_fma = true;
    target.long_body = 0;
    INFO("vectors of " << bytes << " bytes");
    check_compiled("x86-64", kAvx2, 60, 6, &target);
  }
}
#endif
