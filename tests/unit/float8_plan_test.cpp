// Products of 8-bit floats on devices with tensor cores: as what they are multiplied, how they are brought,
// and how their sums are added up.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/tune/scratch.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr DType kE4m3 = DType::f8_e4m3, kE5m2 = DType::f8_e5m2;

using Product = Float8Product;

std::string text_of(const Planned& p) { return emit::emit(*p.kernel, hopper()).text; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("products of 8-bit floats are exact ones of 16 bits, unless rounding is allowed") {
  for (const DType a : {kE4m3, kE5m2})
    for (const DType b : {kE4m3, kE5m2})
      for (const MatmulPrecision precision : {MatmulPrecision::Highest, MatmulPrecision::Tf32x3}) {
        const Planned p = Product{.a = a, .b = b, .precision = precision}.plan();
        REQUIRE(p.tiled == 1);
        CHECK(p.libraries == 0);
        CHECK(p.kernel->tiling.multiplied == DType::f16);
        CHECK_FALSE(p.kernel->tiling.short_sums);
      }
}

TEST_CASE(
    "where it is, tensor cores multiply 8 bits: each slot's sum is added in f32, or all of it is theirs") {
  for (const DType a : {kE4m3, kE5m2})
    for (const DType b : {kE4m3, kE5m2}) {
      const Planned high = Product{.a = a, .b = b, .precision = MatmulPrecision::High}.plan(),
                    medium = Product{.a = a, .b = b, .precision = MatmulPrecision::Medium}.plan();
      CHECK(high.plan.launches.size() == 1);
      CHECK(medium.plan.launches.size() == 1);
      REQUIRE((high.tiled == 1 && medium.tiled == 1));
      for (const Planned* p : {&high, &medium}) {
        const ir::Tiling& t = p->kernel->tiling;
        CHECK(t.multiplied == a);
        CHECK(p->kernel->exprs[t.b.value].dtype == b);
        CHECK_FALSE(t.has_computed());
        CHECK_FALSE(t.a.across);
        CHECK_FALSE(t.b.across);
        const auto name = [](DType dtype) { return dtype == kE4m3 ? ".e4m3" : ".e5m2"; };
        CHECK(has(text_of(*p), "k32.f32" + std::string(name(a)) + name(b) + " {"));
        CHECK(has(text_of(*p), "#define SN_BK 128\n"));
        for (const emit::TensorMap& map : emit::tensor_maps(*p->kernel, p->ints)) CHECK(map.box[0] == 128);
        // What transposes in shared memory is the instruction of 16 bits alone.
        for (const ir::Tiling& tiling : tilings_of(*p, with_tensor_cores())) {
          CHECK(tiling.subgroup_rows == 0);
          CHECK(tiling.short_sums == (p == &high));
          CHECK_FALSE((tiling.short_sums && tiling.turns > 0));
        }
      }
      // Variants are compared by what such sums may differ by.
      CHECK(tune::tolerance_of(*medium.kernel, medium.kernel->tiling, 4096) >
            4 * tune::tolerance_of(*high.kernel, high.kernel->tiling, 4096));
      CHECK(high.kernel->tiling.short_sums);
      CHECK(has(text_of(high), "#define SN_SHORT_SUMS 1\n"));
      CHECK_FALSE(medium.kernel->tiling.short_sums);
      CHECK(has(text_of(medium), "#define SN_SHORT_SUMS 0\n"));
    }
}

TEST_CASE("8-bit factors that lie across the sum are copied along it where they are large, else by lanes") {
  const MatmulPrecision high = MatmulPrecision::High;
  const Planned large =
      Product{.precision = high, .transposed = false, .m = 4096, .n = 4096, .k = 4096}.plan();
  CHECK(large.plan.launches.size() == 2);
  REQUIRE(large.tiled == 1);
  CHECK(large.kernel->tiling.multiplied == kE4m3);
  CHECK_FALSE(large.kernel->tiling.has_computed());
  const Planned small = Product{.precision = high, .transposed = false}.plan();
  CHECK(small.plan.launches.size() == 1);
  REQUIRE(small.tiled == 1);
  CHECK(small.kernel->tiling.multiplied == kE4m3);
  CHECK(small.kernel->tiling.b.computed);
  CHECK(small.kernel->tiling.b.across);
  CHECK_FALSE(small.kernel->tiling.a.computed);
  // Rows that are no multiples of 16 bytes.
  const Planned ragged = Product{.precision = high, .k = 200}.plan();
  REQUIRE(ragged.tiled == 1);
  CHECK(ragged.kernel->tiling.a.computed);
  CHECK(ragged.kernel->tiling.b.computed);
}

TEST_CASE("8-bit floats that were cast to 16 bits are the same factors, and beside 16 bits they have those") {
  for (const MatmulPrecision precision : {MatmulPrecision::High, MatmulPrecision::Medium})
    for (const bool transposed : {false, true})
      CHECK(Product{.precision = precision, .transposed = transposed, .cast = DType::bf16}
                .plan()
                .kernel->tiling.multiplied == kE4m3);
  for (const DType half : {DType::bf16, DType::f16})
    for (const MatmulPrecision precision : {MatmulPrecision::Highest, MatmulPrecision::Medium})
      for (const bool is_left : {false, true}) {
        const Planned p = planned([&](const Device& device) {
          const MatmulPrecisionScope scope(precision);
          const AnyTensor x = input({512, 128}, device, is_left ? kE5m2 : half),
                          y = input({128, 256}, device, is_left ? half : kE5m2);
          return std::vector{x.cast(half).matmul(y.cast(half))};
        });
        REQUIRE(p.tiled == 1);
        CHECK(p.plan.launches.size() == 2);
        CHECK(p.kernel->tiling.multiplied == half);
      }
}

TEST_CASE("products of two tensors of 8 bits round their result to 8 bits") {
  const Planned p = planned([&](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return std::vector{
        input({512, 384}, device, kE4m3).matmul(input({256, 384}, device, kE4m3).transpose(0, 1))};
  });
  CHECK(p.plan.launches.size() == 1);
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->tiling.multiplied == kE4m3);
  CHECK(p.kernel->buffers[p.kernel->stores[0].buffer].dtype == kE4m3);
  CHECK(has(text_of(p), "cvt.rn.satfinite.e4m3x2.f32"));
}

TEST_CASE("other devices multiply 8-bit floats as 16 bits, or by the library") {
  for (const MatmulPrecision precision : {MatmulPrecision::Highest, MatmulPrecision::Medium}) {
    const Planned p = Product{.b = kE5m2, .precision = precision}.plan(ampere());
    REQUIRE(p.tiled == 1);
    CHECK(p.kernel->tiling.multiplied == DType::f16);
    CHECK(p.kernel->tiling.subgroup_rows > 0);
    ir::DeviceTraits plain = with_tensor_cores();
    plain.tensor_cores = {};
    CHECK(Product{.b = kE5m2, .precision = precision}.plan(plain).libraries == 1);
  }
}

TEST_CASE("a product of one row reads 8-bit weights as they lie") {
  for (const MatmulPrecision precision : {MatmulPrecision::Highest, MatmulPrecision::High}) {
    const Planned p = Product{.precision = precision, .m = 1, .n = 4096, .k = 4096}.plan();
    CHECK(p.plan.launches.size() == 1);
    CHECK((p.tiled == 0 && p.libraries == 0));
    const Planned mixed = planned([&](const Device& device) {
      const AnyTensor x = input({1, 4096}, device, DType::bf16), w = input({4096, 4096}, device, kE4m3);
      return std::vector{x.matmul(w.cast(DType::bf16).transpose(0, 1))};
    });
    CHECK(mixed.plan.launches.size() == 1);
  }
}

TEST_CASE("convolutions of 8-bit floats are those of 16 bits") {
  const Planned p = planned([&](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const AnyTensor x = input({16, 128, 32, 32}, device, kE4m3), w = input({64, 128, 3, 3}, device, kE4m3);
    return std::vector{x.cast(DType::f32).conv2d(w.cast(DType::f32), {.padding = {1, 1}})};
  });
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->tiling.multiplied == DType::f16);
}
