// Kernels that are handed to the GPU while the one before them ends (sn_follow) see what it wrote.
//
// Two buffers take turns: a kernel reads what the one before it wrote over what the one before that had read.
// A multiprocessor whose first-level cache still held what was read there would compute with old values.
// Sizes are such that a buffer stays in those caches, and grids are large enough to be handed over early
// (replays.h).
#include <algorithm>
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/setting.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

// The emulated driver runs thread by thread.
const bool is_emulated = std::getenv("SINTER_EMULATION_ORDER") != nullptr;

int rounds() { return is_emulated ? 3 : static_cast<int>(setting("SINTER_TEST_ROUNDS", 2000)); }

}  // namespace

TEST_CASE("each kernel reads what the one before it wrote, with two buffers that take turns") {
  const Device device = test_device();
  for (const std::int64_t mega : {1, 3, 8}) {
    const std::int64_t size = mega << (is_emulated ? 10 : 20);
    CAPTURE(size);
    Tensor<1> x = Tensor<1>::zeros({size}, device);
    x.sync();
    for (int round = 0; round < rounds(); ++round) {
      Tensor<1> next = x + 1.0;
      device.flush();  // while x is held, so that the result has other memory
      x = std::move(next);
    }
    const std::vector<float> values = x.to_vector<float>();
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    CHECK(*least == static_cast<float>(rounds()));
    CHECK(*most == static_cast<float>(rounds()));
  }
}

TEST_CASE("rows read by one multiprocessor and written by another") {
  const Device device = test_device();
  // Reversed rows: what a block reads was written by a block at the other end of the grid.
  const std::int64_t rows = is_emulated ? 64 : 4096, columns = 512;
  const Tensor<2> first =
      Tensor<1, Int>::arange(0, rows, 1, device).to_float().unsqueeze(1).expand({rows, columns});
  Tensor<2> x = first + 0.0;
  x.sync();
  for (int round = 0; round < 2 * rounds(); ++round) {
    Tensor<2> next = x.flip(0) + 1.0;
    device.flush();
    x = std::move(next);
  }
  const Tensor<2> off = (x - first - static_cast<double>(2 * rounds())).abs();
  CHECK(off.max({0, 1}).item() == 0);
}

}  // namespace sinter::testing
