// Which tiles the cost model prefers, on a GPU that need not be there.
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/lower/tiles/tile_end.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// What is done with a product of 16384 x 1536 results, whose sums are of 384.
template <typename End>
Planned finished(const End& end) {
  return planned([&](const Device& device) {
    const AnyTensor a = input({16384, 384}, device), b = input({384, 1536}, device),
                    met = input({16384, 1536}, device);
    return std::vector{end(a.matmul(b), met)};
  });
}

/// The derivative of gelu at x, times y.
AnyTensor gelu_gradient(const AnyTensor& y, const AnyTensor& x) {
  const AnyTensor z = AnyTensor::mul(x.cast(DType::f32), 0.70710678), wide = y.cast(DType::f32);
  const AnyTensor tail = AnyTensor::mul(AnyTensor::mul(wide, x.cast(DType::f32)),
                                        AnyTensor::mul(AnyTensor::mul(z, z).neg().exp(), 0.3989423));
  return AnyTensor::add(AnyTensor::mul(wide, AnyTensor::mul(AnyTensor::add(z.erf(), 1.0), 0.5)), tail)
      .cast(DType::bf16);
}

}  // namespace

TEST_CASE("what becomes of an element of a tile is counted") {
  const Planned plain = finished([](const AnyTensor&y, const AnyTensor&) { return y; }),
                gelu = finished(gelu_gradient);
  REQUIRE(plain.tiled == 1);
  REQUIRE(gelu.tiled == 1);
  const plan::TileEnd little = plan::end_of_tiles(*plain.kernel, plain.kernel->tiling),
                      much = plan::end_of_tiles(*gelu.kernel, gelu.kernel->tiling);
  CHECK(little.loaded == 0);
  CHECK(little.stored == 2);
  CHECK(little.instructions <= 2);
  CHECK(much.loaded == 2);
  CHECK(much.stored == 2);
  CHECK(much.instructions >= 17 + 8 + 10);  // erf, exp, products
}

TEST_CASE("tiles with little to do are finished in turns, others by more groups together") {
  const Planned plain = finished([](const AnyTensor&y, const AnyTensor&) { return y; }),
                gelu = finished(gelu_gradient);
  CHECK(plain.kernel->tiling.turns == 2);
  CHECK(gelu.kernel->tiling.turns == 0);
  CHECK(gelu.kernel->tiling.rows / 64 == 3);
  // All forms of groups that take turns have registers for them.
  for (const ir::Tiling& tiling : tilings_of(plain, with_tensor_cores())) {
    ir::Kernel kernel = *plain.kernel;
    kernel.tiling = tiling;
    CHECK(emit::geometry(kernel, hopper(), plain.ints).shared_bytes <= std::size_t{227} << 10);
  }
}
