// The kernel templates that are built into the library as strings.
#include "kernels/embedded.h"

#include <stdexcept>

#include <doctest/doctest.h>

TEST_CASE("an unknown kernel template is an error that names it") {
  CHECK_THROWS_WITH_AS(sinter::kernels::source("none.cu"), "no kernel template is named \"none.cu\"",
                       std::out_of_range);
}
