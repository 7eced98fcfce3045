// Windows of images that the copy engine of compute capability 9.0 brings, and those that lanes have to find.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("the copy engine brings windows of images whose channels are whole lines") {
  const Conv2dOptions framed{.padding = {1, 1}};
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    for (const Of of : {Of::Result, Of::Image}) {
      const Planned p = convolution({4, 64, 9, 8}, {128, 64, 3, 3}, framed, of, dtype);
      REQUIRE(p.tiled == 1);
      const ir::Tiling& t = p.kernel->tiling;
      CHECK((t.a.windows && !t.a.across && !t.a.computed));
      CHECK((!t.b.windows && !t.b.across && !t.b.computed));
      CHECK(t.vectors);
    }
    const Planned p = convolution({4, 64, 9, 8}, {128, 64, 3, 3}, framed, Of::Weight, dtype);
    REQUIRE(p.tiled == 1);
    const ir::Tiling& t = p.kernel->tiling;
    // Tensor cores read f32 along the sum alone.
    CHECK(t.a.computed == (dtype == DType::f32));
    CHECK((t.b.windows > 0) == (dtype != DType::f32));
    CHECK((t.a.across && t.b.across));
  }
  const auto windows = [](const Planned& p) { return p.tiled == 1 && p.kernel->tiling.a.windows; };
  const auto result = [](const Shape& x, const Shape& weight, const Conv2dOptions& options) {
    return convolution(x, weight, options, Of::Result, DType::bf16);
  };
  CHECK(windows(result({4, 64, 9, 8}, {64, 64, 3, 3}, {.stride = {2, 1}, .dilation = {1, 2}})));
  CHECK(windows(result({4, 64, 9, 8}, {64, 64, 1, 1}, {.stride = {2, 2}})));
  CHECK(windows(result({4, 64, 9, 8}, {64, 64, 3, 1}, {.padding = {1, 0}})));
  CHECK(windows(result({4, 64, 9, 8}, {64, 64, 1, 3}, {.padding = {0, 1}})));
  CHECK(windows(result({1, 64, 3, 3}, {64, 64, 3, 3}, framed)));
  CHECK(windows(result({4, 64, 3, 3}, {64, 64, 3, 3}, framed)));
  // As any product, by rows of pixels.
  CHECK_FALSE(result({4, 64, 9, 8}, {64, 64, 1, 1}, {}).kernel->tiling.a.computed);
  // Few channels, and steps that a tensor map has no room for.
  CHECK(result({4, 3, 9, 8}, {64, 3, 3, 3}, framed).kernel->tiling.a.computed);
  CHECK(result({4, 64, 40, 40}, {64, 64, 3, 3}, {.stride = {9, 9}}).kernel->tiling.a.computed);
  CHECK(result({1, 64, 300, 8}, {64, 64, 3, 3}, {.padding = {150, 1}, .dilation = {130, 1}})
            .kernel->tiling.a.computed);
}

TEST_CASE("tensor maps of windows say how these step through the image") {
  const Planned p =
      convolution({4, 64, 9, 8}, {128, 64, 3, 2}, {.stride = {2, 3}, .padding = {2, 1}, .dilation = {2, 1}},
                  Of::Result, DType::bf16);
  REQUIRE(p.tiled == 1);
  const std::vector<emit::TensorMap> maps = emit::tensor_maps(*p.kernel, p.ints);
  REQUIRE((maps.size() == 2 && maps[0].windows && !maps[1].windows));
  const emit::TensorMap& a = maps[0];
  CHECK(a.offset_bytes == 0);
  // Columns, then lines: 5 x 3 windows from -2 and -1 on.
  CHECK(a.sizes[0] == 64);
  CHECK(a.sizes[1] == 8);
  CHECK(a.sizes[3] == 4);
  CHECK(a.strides[0] == 2 * 64);
  CHECK(a.strides[2] == 2 * 64 * 8 * 9);
  CHECK(a.box == std::vector<std::uint32_t>{64, p.kernel->tiling.rows});
  CHECK(a.windows->lower[0] == -1);
  CHECK(a.windows->upper[0] == -1 + 2 * 3 - 7);
  CHECK(a.windows->steps[1] == 3);
  const emit::WindowNumbers& numbers = a.windows->numbers;
  CHECK(numbers.channels.by == 64);
  CHECK(numbers.elements[0].by == 2);
  CHECK(numbers.positions[0].by == 3);
  CHECK(numbers.positions[1].by == 5);
  CHECK(numbers.spread[0] == 1);
  const std::string text = emit::emit(*p.kernel, hopper()).text;
  CHECK(text.find("#define SN_LOAD_A tc_load_windows(to_a, t_a, w_a, arrived, at.m, depth, 0)") !=
        std::string::npos);
}

TEST_CASE("the copy engine brings lines of channels that are not full") {
  const auto map = [](std::int64_t channels, bool last, std::size_t launches) {
    const Planned p = planned([&](const Device& device) {
      const AnyTensor x = last ? input({4, 9, 8, channels}, device).permute({0, 3, 1, 2})
                               : input({4, channels, 9, 8}, device);
      return std::vector{x.conv2d(input({64, channels, 3, 3}, device), {.padding = {1, 1}})};
    });
    REQUIRE(p.tiled == 1);
    CHECK(p.plan.launches.size() == launches);  // the weight's copy among them
    REQUIRE(p.kernel->tiling.a.windows);
    return emit::tensor_maps(*p.kernel, p.ints).at(0);
  };
  const emit::TensorMap full = map(96, true, 2);
  CHECK(full.sizes[0] == 96);
  CHECK(full.strides[0] == 2 * 96);
  CHECK(full.windows->numbers.channels.by == 128);
  CHECK(map(24, true, 2).windows->numbers.channels.by == 64);
  CHECK(map(96, false, 3).sizes[0] == 96);
  // A step from pixel to pixel is a multiple of 16 bytes in the copy.
  const emit::TensorMap copied = map(61, true, 3);
  CHECK(copied.sizes[0] == 64);
  CHECK(copied.strides[0] == 2 * 64);
  // What a tensor map has no room for keeps its channels, and what begins anywhere is copied.
  const auto other = [](std::int64_t first, std::int64_t size, std::int64_t stride) {
    const Planned p = planned([&](const Device& device) {
      const AnyTensor x = input({4, 18, 18, 48}, device).permute({0, 3, 1, 2});
      return std::vector{
          x.narrow(1, first, 40).conv2d(input({64, 40, size, size}, device), {.stride = {stride, stride}})};
    });
    REQUIRE(p.tiled == 1);
    const ir::TiledFactor& a = p.kernel->tiling.a;
    return a.windows ? static_cast<std::int64_t>(p.plan.launches.size()) : -1;
  };
  CHECK(other(8, 3, 1) == 2);
  CHECK(other(4, 3, 1) == 3);
  CHECK(other(8, 3, 9) == -1);
  // Whole vectors of more than a line lanes bring as fast as twice as many lines.
  const Planned p = planned([&](const Device& device) {
    const AnyTensor x = input({4, 9, 8, 72}, device).permute({0, 3, 1, 2});
    return std::vector{x.conv2d(input({64, 72, 3, 3}, device), {.padding = {1, 1}})};
  });
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->tiling.a.computed);
}

TEST_CASE("windows of volumes step along three dims") {
  const auto of = [](const Shape& x, const Shape& weight, const ConvOptions<3>& options) {
    return planned([&](const Device& device) {
      const AnyTensor last = input({x[0], x[2], x[3], x[4], x[1]}, device).permute({0, 4, 1, 2, 3});
      return std::vector{last.conv3d(input(weight, device), options)};
    });
  };
  const ConvOptions<3> framed{.padding = {1, 1, 1}};
  const Planned p = of({2, 64, 9, 7, 8}, {64, 64, 3, 2, 3}, {.stride = {2, 1, 3}, .padding = {1, 0, 2}});
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->tiling.a.windows == 3);
  const emit::TensorMap map = emit::tensor_maps(*p.kernel, p.ints).at(0);
  CHECK(map.sizes == std::vector<std::uint64_t>{64, 8, 7, 9, 2});
  CHECK(map.strides == std::vector<std::uint64_t>{2 * 64, 2 * 64 * 8, 2 * 64 * 8 * 7, 2 * 64 * 8 * 7 * 9});
  CHECK(std::vector<std::int32_t>(map.windows->lower, map.windows->lower + 3) ==
        std::vector<std::int32_t>{-2, 0, -1});
  CHECK(std::vector<std::uint32_t>(map.windows->steps, map.windows->steps + 5) ==
        std::vector<std::uint32_t>{1, 3, 1, 2, 1});
  CHECK(map.windows->numbers.elements[0].by == 3);
  CHECK(map.windows->numbers.elements[1].by == 2);
  CHECK(emit::emit(*p.kernel, hopper()).text.find("tc_load_windows_of_planes(to_a, t_a, w_a,") !=
        std::string::npos);
  // A kernel of one plane meets images, and lines need not be full.
  CHECK(of({2, 64, 9, 7, 8}, {64, 64, 1, 3, 3}, {.padding = {0, 1, 1}}).kernel->tiling.a.windows == 2);
  CHECK(of({2, 160, 9, 7, 8}, {64, 160, 3, 3, 3}, framed).kernel->tiling.a.windows == 3);
  // One volume, as it lies or copied before.
  CHECK(of({1, 64, 9, 7, 8}, {64, 64, 3, 3, 3}, framed).kernel->tiling.a.windows == 3);
  CHECK(
      planned([&](const Device& device) {
        return std::vector{input({1, 64, 9, 7, 8}, device).conv3d(input({64, 64, 3, 3, 3}, device), framed)};
      }).kernel->tiling.a.windows == 3);
  // Three dims share the bits of two.
  const auto dilated = [&](std::int64_t by) {
    return of({1, 64, 40, 4, 4}, {64, 64, 2, 3, 3}, {.padding = {0, 1, 1}, .dilation = {by, 1, 1}})
        .kernel->tiling.a.windows;
  };
  CHECK(dilated(1) == 3);
  CHECK(dilated(16) == 3);
  CHECK(dilated(17) == 0);
  // What no tensor core multiplies goes plane by plane.
  const Planned planes = planned([](const Device& device) {
    return std::vector{input({1, 6, 4, 5, 5}, device).conv3d(input({6, 1, 3, 3, 3}, device), {.groups = 6})};
  });
  CHECK(planes.tiled == 0);
}
