// The CUDA backend passes the conformance suite. SINTER_TIMING=1 also prints how fast a few kernels are,
// SINTER_CONFORMANCE_KERNELS sets how many random kernels are run. Exit code 77: there is no GPU, which is an
// error where SINTER_TEST_REQUIRE, a list such as "host,cuda", names it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/cuda/cuda_backend.h"
#include "tests/conformance/backend_conformance.h"
#include "tests/conformance/timing.h"
#include "tests/support/setting.h"

using namespace sinter;

TEST_CASE("a device that does not exist is an error that says so") {
  CHECK_THROWS_AS(runtime::make_cuda_backend(1000), DeviceError);
}

TEST_CASE("the CUDA backend conforms") {
  const auto backend = runtime::make_cuda_backend(0);
  testing::ConformanceOptions options;
  options.random_kernels = static_cast<int>(testing::setting("SINTER_CONFORMANCE_KERNELS", 200));
  testing::check_backend(*backend, options);
}

TEST_CASE("memory that is given back is used again") {
  const auto backend = runtime::make_cuda_backend(0);
  const std::size_t before = backend->statistics().bytes_in_use;
  for (int i = 0; i < 100; ++i) {
    const auto large = backend->allocate(std::size_t{48} << 20);
    const auto small = backend->allocate(1000);
    CHECK(backend->statistics().bytes_in_use > before);
  }
  CHECK(backend->statistics().bytes_in_use == before);
  CHECK(backend->statistics().bytes_reserved <= std::size_t{128} << 20);
}

TEST_CASE("too much memory asked for is an error that leaves the backend usable") {
  const auto backend = runtime::make_cuda_backend(0);
  CHECK_THROWS_AS(backend->allocate(std::size_t{1} << 42), DeviceError);
  CHECK(backend->allocate(1 << 20)->bytes() == 1 << 20);
}

TEST_CASE("timing") {
  if (testing::setting("SINTER_TIMING", 0) == 0) return;
  const auto backend = runtime::make_cuda_backend(0);
  testing::print_timings(*backend);
}

int main(int argc, char** argv) {
  if (runtime::cuda_device_count() == 0) {
    std::cout << "skipped: " << runtime::cuda_unavailable_reason() << "\n";
    const char* required = std::getenv("SINTER_TEST_REQUIRE");
    std::stringstream names(required ? required : "");
    for (std::string name; std::getline(names, name, ',');)
      if (name == "cuda") return 1;
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
