// Products on devices with cooperative matrices: which are computed by tiles, of what sizes, and that nothing
// of the text belongs to one size of matrices. What the texts compute, contraction_test runs on a device that
// has such matrices.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/ir/products/matrix_tile.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "tests/support/matrix_devices.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

Planned on(const ir::DeviceTraits& traits, const Shape& a, const Shape& b, DType dtype = DType::f16) {
  return product(a, b, false, false, dtype, traits);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("tiles are made of whole matrices of the device, and fit into its memory") {
  const ir::DeviceTraits with_little_memory =
      with_matrices(8, 16, 32, {{16, 16, 16, DType::f16, DType::f32}});
  for (const ir::DeviceTraits& traits :
       {lavapipe(), nvidia(), with_wide_subgroups(), with_flat_matrices(), with_little_memory})
    for (const DType dtype : {DType::bf16, DType::f16}) {
      if (!traits.tensor_cores.multiplies(dtype)) continue;
      const Planned p = on(traits, {4096, 4096}, {4096, 4096}, dtype);
      REQUIRE(p.tiled == 1);
      CHECK(p.plan.launches.size() == 1);
      const std::vector<ir::Tiling> tilings = tilings_of(p, traits);
      CHECK(tilings.size() >= 3);
      CHECK(tilings.size() <= plan::kMostTilings);
      CHECK(tilings.front() == p.kernel->tiling);
      for (const ir::Tiling& tiling : tilings) {
        INFO(tune::describe(tiling));
        ir::Kernel kernel = *p.kernel;
        kernel.tiling = tiling;
        CHECK_NOTHROW(ir::verify(kernel));
        const ir::MatrixTile tile(tiling);
        CHECK(tile.shared_bytes() <= traits.tensor_cores.shared_bytes);
        CHECK(tile.shared() >= tile.subgroups() * tile.exchange());
        CHECK(tile.depth() % tiling.matrices.k == 0);
        const auto& shapes = traits.tensor_cores.matrices;
        CHECK(std::any_of(shapes.begin(), shapes.end(), [&](const ir::MatrixShape& shape) {
          return shape.m == tiling.matrices.m && shape.n == tiling.matrices.n &&
                 shape.k == tiling.matrices.k && shape.multiplied == dtype && shape.added == DType::f32;
        }));
        const emit::Geometry shape = emit::geometry(kernel, glsl_target(traits), p.ints);
        CHECK(shape.lanes % static_cast<unsigned>(traits.tensor_cores.subgroup_lanes) == 0);
        CHECK(shape.lanes <= 1024);
        CHECK(shape.workgroups * tiling.rows * tiling.columns == 4096 * 4096);
        CHECK(tune::find_described(tilings, tune::describe(tiling)) != nullptr);
      }
    }
  // The largest matrices come first, and there are tiles of the others.
  const Planned p = on(nvidia(), {4096, 4096}, {4096, 4096});
  CHECK(p.kernel->tiling.matrices.n == 16);
  const std::vector<ir::Tiling> tilings = tilings_of(p, nvidia());
  CHECK(std::any_of(tilings.begin(), tilings.end(),
                    [](const ir::Tiling& tiling) { return tiling.matrices.n == 8; }));
}

TEST_CASE("small products have small tiles, and a launch no more workgroups than there may be") {
  const Planned small = on(nvidia(), {32, 256}, {256, 48});
  REQUIRE(small.tiled == 1);
  CHECK(small.kernel->tiling.rows * small.kernel->tiling.columns < 128 * 128);
  const Planned large = on(nvidia(), {1 << 16, 64}, {64, 1 << 16});
  REQUIRE(large.tiled == 1);
  CHECK(emit::geometry(*large.kernel, glsl_target(nvidia()), large.ints).workgroups == 65535);
}

TEST_CASE("what the device's matrices do not multiply stays on ordinary lanes") {
  CHECK(on(lavapipe(), {64, 64}, {64, 64}, DType::f16).tiled == 1);
  CHECK(on(lavapipe(), {64, 64}, {64, 64}, DType::bf16).tiled == 0);
  CHECK(on(lavapipe(), {64, 64}, {64, 64}, DType::bf16).libraries == 1);
  // Products of f32 are exact, unless their factors may be rounded to bf16.
  const auto f32 = [](MatmulPrecision precision, const ir::DeviceTraits& traits) {
    return planned(
        [&](const Device& device) {
          const MatmulPrecisionScope scope(precision);
          return std::vector{
              input({256, 256}, device, DType::f32).matmul(input({256, 256}, device, DType::f32))};
        },
        traits);
  };
  for (const MatmulPrecision precision :
       {MatmulPrecision::Highest, MatmulPrecision::Tf32x3, MatmulPrecision::High}) {
    CHECK(f32(precision, nvidia()).tiled == 0);
    CHECK(f32(precision, nvidia()).libraries == 1);
  }
  CHECK(f32(MatmulPrecision::Medium, nvidia()).tiled == 1);
  CHECK(f32(MatmulPrecision::Medium, lavapipe()).tiled == 0);
  // Sums in f16 are no exact products.
  ir::DeviceTraits f16_sums = nvidia();
  std::erase_if(f16_sums.tensor_cores.matrices,
                [](const ir::MatrixShape& shape) { return shape.added == DType::f32; });
  CHECK(on(f16_sums, {64, 64}, {64, 64}).tiled == 0);
  // Matrices that do not fill a slot of the sum.
  for (const std::uint16_t k : {16, 24, 32}) {
    const ir::DeviceTraits device = with_matrices(60, 64, 32, {{16, 16, k, DType::f16, DType::f32}});
    CHECK(on(device, {96, 96}, {96, 96}, DType::f16).tiled == (k == 24 ? 0 : 1));
  }
}

TEST_CASE("the text says what the matrices are, and has no size") {
  const auto text_of = [](const ir::DeviceTraits& traits, const Planned& p) {
    REQUIRE(p.tiled == 1);
    return emit::emit(*p.kernel, glsl_target(traits)).text;
  };
  const Planned first = on(nvidia(), {512, 256}, {256, 384}), other = on(nvidia(), {1024, 512}, {512, 384});
  const std::string f16 = text_of(nvidia(), first);
  CHECK(has(f16, "#extension GL_NV_cooperative_matrix : require\n"));
  CHECK(has(f16, "#define SN_A fcoopmatNV<16, 259, 16, 16>\n"));
  CHECK(has(f16, "#define SN_B fcoopmatNV<16, 515, 16, 16>\n"));
  CHECK(has(f16, "#define SN_SUM fcoopmatNV<32, 771, 16, 16>\n"));
  CHECK(has(f16, "#define SN_A_ACROSS false\n"));
  CHECK(has(f16, "#define SN_B_ACROSS true\n"));
  CHECK_FALSE(has(f16, "//---"));
  REQUIRE(other.tiled == 1);
  ir::Kernel of_other = *other.kernel;
  of_other.tiling = first.kernel->tiling;
  const bool is_same = emit::emit(of_other, glsl_target(nvidia())).text == f16;
  CHECK(is_same);
  const std::string bf16 = text_of(nvidia(), on(nvidia(), {512, 256}, {256, 384}, DType::bf16));
  CHECK(has(bf16, "#define SN_A fcoopmatNV<16, 4355, 16, 16>\n"));
  CHECK(has(bf16, "#define SN_SUM fcoopmatNV<32, 771, 16, 16>\n"));
  const std::string small = text_of(lavapipe(), on(lavapipe(), {64, 64}, {64, 64}));
  CHECK(has(small, "#define SN_A fcoopmatNV<16, 259, 8, 8>\n"));
  // 16 bytes at a time where all rows begin at multiples of them, else element by element.
  CHECK(has(f16, "part_a[i] = b0_4.at["));
  CHECK_FALSE(has(f16, "b0.at["));
  const std::string odd = text_of(nvidia(), on(nvidia(), {64, 77}, {77, 80}));
  CHECK(has(odd, "b0.at["));
  CHECK(has(odd, "part_b[i] = b1_4.at["));
}

TEST_CASE("what follows a product is in its kernel, and convolutions are computed by lanes") {
  const Planned behind = planned(
      [](const Device& device) {
        const AnyTensor x = input({256, 64}, device, DType::f16), w = input({64, 128}, device, DType::f16),
                        bias = input({1, 128}, device, DType::f16);
        return std::vector{gelu(x.matmul(w) + bias)};
      },
      nvidia());
  CHECK(behind.plan.launches.size() == 1);
  CHECK(behind.tiled == 1);
  const Planned convolution = planned(
      [](const Device& device) {
        const AnyTensor x = input({4, 64, 9, 8}, device, DType::f16),
                        w = input({128, 64, 3, 3}, device, DType::f16);
        return std::vector{relu(x.conv2d(w, {.padding = {1, 1}}))};
      },
      nvidia());
  REQUIRE(convolution.tiled == 1);
  CHECK(convolution.kernel->tiling.a.computed);
  CHECK(convolution.kernel->tiling.b.lane_bytes == 16);
  const std::string text = emit::emit(*convolution.kernel, glsl_target(nvidia())).text;
  CHECK(has(text, "coopMatMulAddNV"));
  // Pixels of the frame are zeros, and nothing is read of them.
  CHECK(has(text, "? there : uvec4(0u);"));
}

TEST_CASE("workgroups share the sums of few tiles, as many as the device holds") {
  // A weight's gradient: few results, a long sum.
  const Planned p = on(nvidia(), {384, 16384}, {16384, 384});
  REQUIRE(p.tiled == 1);
  const emit::Target target = glsl_target(nvidia());
  REQUIRE(emit::takes_parts(*p.kernel, target));
  const emit::Geometry shape = emit::geometry(*p.kernel, target, p.ints);
  const ir::Tiling& tiling = p.kernel->tiling;
  const int tiles = 384 / tiling.rows * (384 / tiling.columns);
  CHECK(shape.parts >= 4);
  CHECK(shape.workgroups == shape.parts * tiles);
  CHECK(shape.workgroups <= 132u * tiling.workgroups);
  CHECK(emit::split_scratch_bytes(*p.kernel, shape, p.ints) == std::size_t{shape.parts} * 384 * 384 * 4);
  CHECK(emit::counters_of(*p.kernel, shape) >= tiles);
  CHECK(emit::counters_of(*p.kernel, shape) <= shape.workgroups);
  // A launch of few workgroups has no more parts than those, and memory for each.
  emit::Target small = target;
  small.max_workgroups = 2 * tiles + 1;
  const emit::Geometry few = emit::geometry(*p.kernel, small, p.ints);
  CHECK(few.parts <= 2);
  CHECK(few.workgroups == few.parts * tiles);
  // Of small tiles a compute unit holds several.
  const std::vector<ir::Tiling> tilings = tilings_of(p, nvidia());
  CHECK(std::any_of(tilings.begin(), tilings.end(), [](const ir::Tiling& t) { return t.workgroups >= 4; }));
  // So has one of a convolution.
  const Planned convolution = planned(
      [](const Device& device) {
        const Device tracked = device.autodiff();
        const AnyTensor x = input({16, 64, 8, 8}, tracked, DType::f16),
                        w = input({64, 64, 3, 3}, tracked, DType::f16).require_grad();
        const AnyTensor y = x.conv2d(w, {.padding = {1, 1}});
        return std::vector{*AnyTensor::mul(y, 2.0).sum({0, 1, 2, 3}).backward().get(w)};
      },
      nvidia());
  REQUIRE(convolution.tiled == 1);
  CHECK(emit::geometry(*convolution.kernel, target, convolution.ints).parts > 1);
  // Where tiles are many, or the sum is short, each workgroup has one.
  for (const Shape& shape : {Shape{8192, 4096}, Shape{384, 64}}) {
    const Planned alone = on(nvidia(), shape, {shape[1], 512});
    REQUIRE(alone.tiled == 1);
    const emit::Geometry of_all = emit::geometry(*alone.kernel, target, alone.ints);
    CHECK(of_all.parts == 1);
    CHECK(emit::split_scratch_bytes(*alone.kernel, of_all, alone.ints) == 0);
  }
}

TEST_CASE("tiles that are no whole matrices are refused") {
  const Planned p = on(nvidia(), {512, 256}, {256, 384});
  REQUIRE(p.tiled == 1);
  const auto refuses = [&](const auto& change) {
    ir::Kernel kernel = *p.kernel;
    change(kernel.tiling);
    CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
  };
  refuses([](ir::Tiling& t) { t.matrices.m = 24; });
  refuses([](ir::Tiling& t) { t.matrices.n = 4; });
  refuses([](ir::Tiling& t) { t.matrices.columns = 24; });
  refuses([](ir::Tiling& t) { t.slots = 3; });
  refuses([](ir::Tiling& t) { t.matrices.lanes = 0; });
}
