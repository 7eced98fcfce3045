// Products on cards whose subgroups multiply by themselves, an A100 and an RTX 4090: which tiles they get,
// how lanes bring factors, and what stays as it is elsewhere. What the texts compute,
// contraction_test-emulated runs.
#include <algorithm>
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

Planned on(const ir::DeviceTraits& traits, const Shape& a, const Shape& b, DType dtype = DType::bf16) {
  return product(a, b, false, false, dtype, traits);
}

}  // namespace

TEST_CASE("subgroups have tiles that the card has room for") {
  for (const ir::DeviceTraits& traits : {ampere(), ada()})
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const Planned p = on(traits, {4096, 4096}, {4096, 4096}, dtype);
      REQUIRE(p.tiled == 1);
      CHECK(p.plan.launches.size() == 1);
      CHECK(p.kernel->tiling.rows * p.kernel->tiling.columns >= 128 * 128);
      const std::vector<ir::Tiling> tilings = tilings_of(p, traits);
      CHECK(tilings.size() >= 4);
      CHECK(tilings.front() == p.kernel->tiling);
      for (const ir::Tiling& tiling : tilings) {
        INFO(tune::describe(tiling));
        ir::Kernel kernel = *p.kernel;
        kernel.tiling = tiling;
        CHECK_NOTHROW(ir::verify(kernel));
        CHECK(tiling.subgroup_rows > 0);
        CHECK(tiling.slots >= 2);
        const emit::Geometry shape = emit::geometry(kernel, cuda_target(traits), p.ints);
        // A compute unit has a KiB more than a workgroup may ask for, and takes one from each.
        CHECK(tiling.workgroups * (shape.shared_bytes + 1024 + 128) <=
              traits.tensor_cores.shared_bytes + 1024);
        // Results are exchanged in a slot, 4 KiB of each subgroup.
        CHECK(shape.lanes / 32 * 4096 <= (tiling.rows + tiling.columns) * 128u);
        CHECK(shape.lanes % 128 == 0);
        CHECK(emit::tensor_maps(kernel, p.ints).empty());
      }
    }
}

TEST_CASE("the text of subgroups has no instruction of compute capability 9.0") {
  const Planned p = on(ampere(), {512, 256}, {256, 384});
  REQUIRE(p.tiled == 1);
  const std::string text = emit::emit(*p.kernel, cuda_target(ampere())).text;
  CHECK(text.find("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") != std::string::npos);
  CHECK(text.find("#define SN_A_ACROSS 0\n") != std::string::npos);
  CHECK(text.find("#define SN_B_ACROSS 1\n") != std::string::npos);
  for (const char* absent : {"wgmma", "mbarrier", "TensorMap", "//---"})
    CHECK(text.find(absent) == std::string::npos);
  // Sizes are arguments.
  const Planned other = on(ampere(), {640, 192}, {192, 384});
  REQUIRE(other.tiled == 1);
  if (other.kernel->tiling == p.kernel->tiling)
    CHECK(emit::emit(*other.kernel, cuda_target(ampere())).text == text);
}

TEST_CASE("lanes copy by as many bytes as all rows begin at multiples of") {
  const auto bytes = [](const Planned& p) {
    REQUIRE(p.tiled == 1);
    return std::pair{int{p.kernel->tiling.a.lane_bytes}, int{p.kernel->tiling.b.lane_bytes}};
  };
  using Bytes = std::pair<int, int>;
  CHECK(bytes(on(ampere(), {64, 128}, {128, 72})) == Bytes{16, 16});
  CHECK(bytes(on(ampere(), {64, 100}, {100, 78})) == Bytes{8, 4});
  const Planned odd = on(ampere(), {64, 77}, {77, 80});
  CHECK(bytes(odd) == Bytes{0, 16});
  CHECK(odd.kernel->tiling.a.computed);
  CHECK_FALSE(odd.kernel->tiling.b.computed);
  CHECK(odd.kernel->tiling.subgroup_rows <= 32);  // whose lanes have registers for what they compute
  // Where a slice begins may move from run to run: by multiples of 16 bytes or by anything.
  for (const auto& [start, expected] : {std::pair{16, 16}, {17, 0}}) {
    const Planned p = planned(
        [start = start](const Device& device) {
          const AnyTensor x = input({128, 512}, device), w = input({64, 128}, device);
          return std::vector{x.narrow(1, start, 64).matmul(w), x.sum(1)};
        },
        ampere());
    CAPTURE(start);
    CHECK(bytes(p).first == expected);
    CHECK(bytes(p).second == 16);
  }
  // f32 along the sum has whole words wherever it begins; across, lanes transpose it.
  const Planned f32 = planned(
      [](const Device& device) {
        const MatmulPrecisionScope scope(MatmulPrecision::High);
        return std::vector{input({64, 77}, device, DType::f32).matmul(input({77, 96}, device, DType::f32))};
      },
      ampere());
  CHECK(bytes(f32) == Bytes{4, 0});
  CHECK(f32.kernel->tiling.multiplied == DType::f32);
}

TEST_CASE("convolutions are computed by lanes without a copy engine") {
  const Planned convolution = planned(
      [](const Device& device) {
        const AnyTensor x = input({4, 64, 9, 8}, device), w = input({128, 64, 3, 3}, device);
        return std::vector{relu(x.conv2d(w, {.padding = {1, 1}}))};
      },
      ampere());
  REQUIRE(convolution.tiled == 1);
  CHECK(convolution.kernel->tiling.a.computed);
  CHECK_FALSE(convolution.kernel->tiling.a.windows);
  CHECK(convolution.kernel->tiling.b.lane_bytes == 16);
}

TEST_CASE("where groups of subgroups multiply, single ones are tried last") {
  const ir::DeviceTraits traits = with_tensor_cores();
  const Planned p = on(traits, {1024, 512}, {512, 1024});
  REQUIRE(p.tiled == 1);
  const std::vector<ir::Tiling> tilings = tilings_of(p, traits);
  CHECK(tilings.front().subgroup_rows == 0);
  const auto first = std::find_if(tilings.begin(), tilings.end(),
                                  [](const ir::Tiling& tiling) { return tiling.subgroup_rows > 0; });
  REQUIRE(first != tilings.end());
  CHECK(std::all_of(first, tilings.end(), [](const ir::Tiling& tiling) { return tiling.subgroup_rows > 0; }));
  const ir::Tiling pinned = tune::pinned(tilings, "rows=128,columns=256,subgroup_rows=64");
  CHECK(pinned.subgroup_rows == 64);
  CHECK(tune::describe(pinned) ==
        "rows=128,columns=256,slots=" + std::to_string(int{pinned.slots}) + ",workgroups=1,subgroup_rows=64");
  CHECK(tune::pinned(tilings, "rows=128,columns=256").subgroup_rows == 0);
  ir::Kernel kernel = *p.kernel;
  kernel.tiling = pinned;
  CHECK_NOTHROW(ir::verify(kernel));
  CHECK(emit::emit(kernel, hopper()).text.find("mma.sync") != std::string::npos);

  // What the copy engine cannot bring, lanes copy there too.
  const Planned odd = on(traits, {501, 78}, {78, 330});
  REQUIRE(odd.tiled == 1);
  CHECK((odd.kernel->tiling.a.computed && odd.kernel->tiling.b.computed));
  kernel = *odd.kernel;
  kernel.tiling = tune::pinned(tilings_of(odd, traits), "subgroup_rows=64");
  CHECK_NOTHROW(ir::verify(kernel));
  CHECK_FALSE(kernel.tiling.has_computed());
  CHECK(tune::family_of(kernel.tiling) == tune::family_of(odd.kernel->tiling));
  CHECK(emit::emit(kernel, hopper()).text.find("tc_copy_4(to_a") != std::string::npos);
}

TEST_CASE("few tiles are shared by workgroups of subgroups too") {
  const Planned p = on(ampere(), {256, 8192}, {8192, 256});
  REQUIRE(p.tiled == 1);
  const emit::Geometry shape = emit::geometry(*p.kernel, cuda_target(ampere()), p.ints);
  CHECK(shape.cut > 0);
  CHECK(shape.workgroups > 2 * shape.cut);
  CHECK(emit::contraction_scratch_bytes(*p.kernel, shape) > 0);
}
