// Products of 8-bit integers on devices with tensor cores: as what they are multiplied and added up.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// (m, k) times (n, k) transposed, cast to f32, perhaps by way of a smaller float.
Planned product(std::int64_t m, std::int64_t n, std::int64_t k, const ir::DeviceTraits& traits,
                DType left = DType::i8, DType by_way_of = DType::f32) {
  return planned(
      [=](const Device& device) {
        const AnyTensor x = input({m, k}, device, left), w = input({n, k}, device, DType::i8);
        return std::vector{
            x.cast(by_way_of).cast(DType::f32).matmul(w.cast(by_way_of).cast(DType::f32).transpose(0, 1))};
      },
      traits);
}

std::string text_of(const Planned& p) { return emit::emit(*p.kernel, hopper()).text; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("where tensor cores have 8-bit integers, these are copied as they lie and added up as integers") {
  for (const DType by_way_of : {DType::f32, DType::bf16, DType::f16}) {
    const Planned p = product(512, 256, 384, with_tensor_cores(), DType::i8, by_way_of);
    CHECK(p.plan.launches.size() == 1);
    REQUIRE(p.tiled == 1);
    CHECK(p.kernel->tiling.multiplied == DType::i8);
    CHECK_FALSE(p.kernel->tiling.has_computed());
    CHECK_FALSE(p.kernel->tiling.short_sums);
    const std::string text = text_of(p);
    CHECK(has(text, "k32.s32.s8.s8 {"));
    CHECK(has(text, ", p;"));
    CHECK(has(text, "#define SN_SUM int\n"));
    CHECK(has(text, "#define SN_BK 128\n"));
    for (const ir::Tiling& tiling : tilings_of(p, with_tensor_cores())) {
      ir::Kernel kernel = *p.kernel;
      kernel.tiling = tiling;
      ir::verify(kernel);
      CHECK(tiling.has_groups());
    }
  }
  CHECK(has(text_of(product(512, 256, 384, with_tensor_cores(), DType::bf16)), "#define SN_SUM float\n"));
}

TEST_CASE("elsewhere, beside a float of 16 bits, or where a sum has no room, they are floats of 16 bits") {
  CHECK(product(512, 256, 384, ampere()).kernel->tiling.multiplied == DType::f16);
  CHECK(product(512, 256, 384, with_tensor_cores(), DType::bf16).kernel->tiling.multiplied == DType::bf16);
  CHECK(product(512, 256, 384, with_tensor_cores(), DType::f8_e4m3).kernel->tiling.multiplied == DType::f16);
  CHECK(product(64, 64, 131071, with_tensor_cores()).kernel->tiling.multiplied == DType::i8);
  CHECK(product(64, 64, 131072, with_tensor_cores()).kernel->tiling.multiplied == DType::f16);
}

TEST_CASE("what follows a product of integers is in its kernel, as floats") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({512, 384}, device, DType::i8), w = input({256, 384}, device, DType::i8);
    const AnyTensor of_rows = input({512, 1}, device, DType::f32),
                    of_columns = input({256}, device, DType::f32);
    const AnyTensor sum = x.cast(DType::f32).matmul(w.cast(DType::f32).transpose(0, 1));
    const AnyTensor scaled = AnyTensor::mul(AnyTensor::mul(sum, of_rows), of_columns);
    return std::vector{gelu(scaled).cast(DType::bf16)};
  });
  CHECK(p.plan.launches.size() == 1);
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->tiling.multiplied == DType::i8);
}
