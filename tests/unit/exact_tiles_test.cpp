// Convolutions of f32 that may not be rounded, by tiles of ordinary lanes: which ones, how lanes bring their
// factors, and what stays a library op. What the texts compute, convolutions_test-emulated-tiled runs.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

ir::DeviceTraits with_lanes(ir::DeviceTraits traits, double fewest = 0) {
  traits.tensor_cores.exact_products = 128;
  traits.tensor_cores.fewest_exact = fewest;
  return traits;
}

Planned convolution(const ir::DeviceTraits& traits, std::int64_t channels, std::int64_t size = 3) {
  return planned(
      [=](const Device& device) {
        const AnyTensor x = input({4, channels, 9, 8}, device, DType::f32),
                        w = input({128, channels, size, size}, device, DType::f32);
        return std::vector{relu(x.conv2d(w, {.padding = {size / 2, size / 2}}))};
      },
      traits);
}

}  // namespace

TEST_CASE("convolutions of f32 go by tiles of ordinary lanes where these are told to") {
  for (const ir::DeviceTraits& traits : {with_tensor_cores(), ampere(), ada()}) {
    CHECK(convolution(traits, 64).tiled == 0);
    const Planned p = convolution(with_lanes(traits), 64);
    REQUIRE(p.tiled == 1);
    CHECK(p.libraries == 0);
    const ir::Tiling& tiling = p.kernel->tiling;
    CHECK(tiling.exact);
    CHECK(tiling.multiplied == DType::f32);
    CHECK(tiling.subgroup_rows > 0);
    CHECK(tiling.a.computed);
    CHECK(tiling.a.vector == 4);  // all of a pixel's channels are within the image, or none is
    const std::string text = emit::emit(*p.kernel, cuda_target(with_lanes(traits))).text;
    CHECK(text.find("#define SN_EXACT 1\n") != std::string::npos);
    for (const char* absent : {"mma", "TensorMap", "//---"}) CHECK(text.find(absent) == std::string::npos);
    for (const ir::Tiling& other : tilings_of(p, with_lanes(traits))) {
      INFO(tune::describe(other));
      ir::Kernel kernel = *p.kernel;
      kernel.tiling = other;
      CHECK(other.exact);
      CHECK_NOTHROW(ir::verify(kernel));
      const emit::Geometry shape = emit::geometry(kernel, cuda_target(traits), p.ints);
      CHECK(other.workgroups * (shape.shared_bytes + 1024 + 128) <= traits.tensor_cores.shared_bytes + 1024);
      CHECK(shape.lanes / 32 * 4096 <= (other.rows + other.columns) * 128u);
    }
  }
}

TEST_CASE("convolutions over points are copied by lanes") {
  const Planned points = convolution(with_lanes(with_tensor_cores()), 64, 1);
  REQUIRE(points.tiled == 1);
  CHECK_FALSE(points.kernel->tiling.has_computed());
  CHECK(points.kernel->tiling.b.lane_bytes == 16);
  const Planned small = convolution(with_lanes(ada()), 64, 1);
  REQUIRE(small.tiled == 1);
  CHECK(small.kernel->tiling.rows == 64);
}

TEST_CASE("small convolutions, products of matrices, and all that may be rounded are none of these") {
  const ir::DeviceTraits traits = with_lanes(with_tensor_cores(), 0x1p30);
  CHECK(convolution(traits, 64).tiled == 0);
  CHECK(product({256, 256}, {256, 256}, false, false, DType::f32, with_lanes(with_tensor_cores())).tiled ==
        0);
  const auto by_hand = [](const Device& device) {
    const AnyTensor a = input({300, 500}, device, DType::f32), b = input({200, 500}, device, DType::f32);
    return std::vector{AnyTensor::mul(a.unsqueeze(1), b.unsqueeze(0)).sum(2)};
  };
  CHECK(planned(by_hand, with_lanes(with_tensor_cores())).tiled == 0);
  const auto few_channels = [](const Device& device) {
    const AnyTensor x = input({4, 64, 300, 300}, device, DType::f32),
                    w = input({3, 64, 3, 3}, device, DType::f32);
    return std::vector{x.conv2d(w, {.padding = {1, 1}})};
  };
  CHECK(planned(few_channels, with_lanes(with_tensor_cores(), 1)).tiled == 0);
  CHECK(planned(few_channels, with_lanes(with_tensor_cores())).tiled == 1);
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  const Planned rounded = convolution(with_lanes(with_tensor_cores()), 64);
  REQUIRE(rounded.tiled == 1);
  CHECK_FALSE(rounded.kernel->tiling.exact);
}
