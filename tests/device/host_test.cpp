// The host backend passes the conformance suite.
#include <doctest/doctest.h>

#include "src/runtime/host/host_backend.h"
#include "tests/device/backend_conformance.h"

TEST_CASE("the host backend conforms") {
  const auto backend = sinter::runtime::make_host_backend();
  sinter::testing::ConformanceOptions options;
  options.random_kernels = 1000;
  options.random_long_kernels = 60;
  sinter::testing::check_backend(*backend, options);
}
