// Convolutions in groups of several channels on devices with tensor cores: how many groups are multiplied
// side by side, and what their kernels are. What they compute, grouped_convolutions_test asks.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/ir/products/plain_product.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// A kernel of 3 x 3.
Planned grouped(std::int64_t channels, std::int64_t outputs, std::int64_t groups, Of of = Of::Result,
                DType dtype = DType::bf16, const ir::DeviceTraits& traits = with_tensor_cores()) {
  return convolution({4, channels, 9, 8}, {outputs, channels / groups, 3, 3},
                     {.padding = {1, 1}, .groups = groups}, of, dtype, traits);
}

bool are(const Planned& p, std::uint32_t count, std::uint32_t depth, std::uint32_t columns) {
  return p.tiled == 1 && p.kernel->tiling.blocks == ir::Tiling::Blocks{count, depth, columns};
}

}  // namespace

TEST_CASE("groups stand side by side, so that their channels fill a line of the copy engine") {
  const Planned p = grouped(256, 256, 32);
  CHECK(p.libraries == 0);
  // The image with its channels last, the weight in blocks, and the product, which writes all channels of a
  // pixel.
  CHECK(p.plan.launches.size() == 3);
  REQUIRE(are(p, 8, 64, 64));
  CHECK((p.kernel->tiling.a.windows && p.kernel->tiling.vectors));
  const std::vector<emit::TensorMap> maps = emit::tensor_maps(*p.kernel, p.ints);
  REQUIRE((maps.size() == 2 && maps[0].windows));
  CHECK(maps[0].sizes[0] == 256);
  CHECK(maps[0].windows->numbers.channels.by == 64);
  const std::string text = emit::emit(*p.kernel, hopper()).text;
  CHECK(text.find("arrived, at.m, depth, at.z)") != std::string::npos);
  CHECK(text.find("int own_group = (to_n + of) % 64 / 8;") != std::string::npos);

  CHECK(are(grouped(256, 256, 16), 4, 64, 64));
  CHECK(are(grouped(256, 512, 16), 4, 64, 128));
  CHECK(are(grouped(64, 64, 8), 8, 64, 64));  // all of them are one product
  CHECK(are(grouped(256, 256, 32, Of::Result, DType::f32), 4, 32, 32));
  CHECK_FALSE(grouped(256, 256, 4).kernel->tiling.blocks.any());
  CHECK_FALSE(grouped(256, 256, 2).kernel->tiling.blocks.any());
}

TEST_CASE("gradients have groups side by side") {
  CHECK(are(grouped(256, 512, 32, Of::Image), 4, 64, 32));
  // With strides phases are so many more columns, of which each has the channels of all groups.
  const Planned strided =
      convolution({4, 128, 8, 8}, {128, 8, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 16},
                  Of::Image, DType::bf16);
  CHECK(are(strided, 8, 64, 64));
  // Of the weight only the blocks are read.
  const Planned weight = grouped(256, 256, 32, Of::Weight);
  REQUIRE(weight.tiled == 1);
  CHECK(weight.plan.launches.size() == 4);  // with both images as they are read
  CHECK_FALSE(weight.kernel->tiling.blocks.any());
  CHECK(weight.kernel->tiling.b.windows);
}

TEST_CASE("a library, which would multiply by what is no factor, is not asked for groups side by side") {
  const auto points = [](std::int64_t groups) {
    const Planned p =
        convolution({4, 128, 9, 8}, {128, 128 / groups, 1, 1}, {.groups = groups}, Of::Result, DType::bf16);
    REQUIRE(p.tiled == 1);
    return ir::library_product(*p.kernel, p.ints).has_value();
  };
  CHECK(points(2));
  CHECK_FALSE(points(16));
}

TEST_CASE("where lanes bring windows, groups stand side by side as far as a tile is full") {
  for (const ir::DeviceTraits& traits : {ampere(), ada()}) {
    CHECK(are(grouped(256, 256, 32, Of::Result, DType::bf16, traits), 8, 64, 64));
    CHECK(are(grouped(120, 120, 15, Of::Result, DType::bf16, traits), 5, 40, 40));
  }
}

TEST_CASE("groups of an image that is one pixel many times are a kernel without tiles") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({1, 64, 1, 1}, device).expand({2, 64, 8, 8});
    return std::vector{x.conv2d(input({64, 8, 3, 3}, device), {.groups = 8})};
  });
  CHECK(p.libraries == 0);
  CHECK(p.tiled == 0);
  CHECK(p.plan.launches.size() == 3);  // the weight in blocks, the sums, and these in 16 bits
}

TEST_CASE("groups of one pixel stay a library op") {
  const Planned p = convolution({1, 64, 3, 3}, {64, 8, 3, 3}, {.groups = 8}, Of::Result, DType::bf16);
  CHECK(p.tiled == 0);
  CHECK(p.libraries == 1);
}
