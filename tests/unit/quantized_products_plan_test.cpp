// Products with weights of few bits: when the kernel that multiplies computes the weight itself, and what is
// part of its text. What the texts compute, quantized_products_test-emulated runs.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/lower/tiles/tiling.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Layer {
  std::int64_t rows = 4, outputs = 4096, depth = 4096;
  QuantOptions options{.scheme = QuantScheme::int8};
  DType dtype = DType::bf16;

  /// Its weight as it would be in a record: codes and scales in memory.
  QuantizedTensor weight(const Device& device) const {
    const bool is_packed = options.scheme == QuantScheme::int4 || options.scheme == QuantScheme::nf4,
               is_float = options.scheme == QuantScheme::fp8;
    const std::int64_t groups =
        options.granularity == QuantGranularity::block ? (depth - 1) / options.block + 1 : 1;
    QuantizedTensor q{.shape = Shape{outputs, depth},
                      .dtype = dtype,
                      .options = options,
                      .codes = {},
                      .numbers = {},
                      .scales = Buffer<2>(input({outputs, groups}, device, DType::f32)),
                      .quantized_scales = {}};
    if (is_float)
      q.numbers = Buffer<2>(input({outputs, depth}, device, DType::f8_e4m3));
    else
      q.codes = Buffer<2, Int>(
          input({outputs, is_packed ? (depth + 1) / 2 : depth}, device, is_packed ? DType::u8 : DType::i8));
    return q;
  }

  Planned plan(const ir::DeviceTraits& traits = with_tensor_cores()) const {
    return planned(
        [&](const Device& device) {
          const AnyTensor x = input({rows, depth}, device, dtype);
          return std::vector{x.matmul(dequantize(weight(device)).transpose(0, 1))};
        },
        traits);
  }
};

bool unpacks(const Planned& p) { return p.tiled == 1 && p.kernel->tiling.unpacks(); }

}  // namespace

TEST_CASE("a weight in few bits is computed where few rows are multiplied with it") {
  for (const QuantScheme scheme : {QuantScheme::int8, QuantScheme::int4, QuantScheme::nf4, QuantScheme::fp8})
    for (const QuantGranularity granularity :
         {QuantGranularity::tensor, QuantGranularity::channel, QuantGranularity::block}) {
      CAPTURE(name_of(scheme));
      CAPTURE(static_cast<int>(granularity));
      for (const std::int64_t rows : {2, 4, 16}) {
        CAPTURE(rows);
        const Planned p = Layer{.rows = rows, .options = {scheme, granularity}}.plan();
        CHECK(p.plan.launches.size() == 1);
        CHECK(unpacks(p));
      }
      const Planned one = Layer{.rows = 1, .options = {scheme, granularity}}.plan();
      CHECK(one.plan.launches.size() == 1);
      CHECK(one.tiled == 0);
    }
  for (const ir::DeviceTraits& traits : {ampere(), ada()})
    CHECK(unpacks(Layer{.dtype = DType::f16}.plan(traits)));
}

TEST_CASE(
    "a weight in few bits is stored where many rows meet it, or what it is made of lies in no vectors") {
  const Planned many = Layer{.rows = 17}.plan();
  CHECK(many.plan.launches.size() == 2);
  CHECK_FALSE(unpacks(many));
  for (const std::int64_t depth : {1001, 1004}) {
    CAPTURE(depth);
    const Planned p = Layer{.rows = 4, .depth = depth}.plan();
    CHECK(p.plan.launches.size() == 2);
    CHECK_FALSE(unpacks(p));
  }
  // Scales in 8 bits are made of three numbers each: with the codes these take more registers than a piece.
  const Planned twice = planned([](const Device& device) {
    const AnyTensor x = input({4, 256}, device), codes = input({64, 256}, device, DType::i8),
                    of_codes = input({64, 1}, device, DType::i8), step = input({64, 1}, device, DType::f32),
                    mean = input({1, 1}, device, DType::f32);
    const AnyTensor scales = AnyTensor::add(AnyTensor::mul(of_codes.cast(DType::f32), step), mean);
    const AnyTensor w = AnyTensor::mul(codes.cast(DType::f32), scales).cast(DType::bf16);
    return std::vector{x.matmul(w.transpose(0, 1))};
  });
  CHECK_FALSE(unpacks(twice));
  // Codes that begin within a vector.
  const auto part = [](std::int64_t start) {
    return planned([=](const Device& device) {
      const AnyTensor codes = input({512, 264}, device, DType::i8),
                      scales = input({512, 1}, device, DType::f32), x = input({4, 256}, device);
      const AnyTensor w = AnyTensor::mul(codes.narrow(1, start, 256).cast(DType::f32), scales);
      return std::vector{x.matmul(w.cast(DType::bf16).transpose(0, 1))};
    });
  };
  CHECK(unpacks(part(8)));
  CHECK_FALSE(unpacks(part(4)));
  ir::DeviceTraits plain = with_tensor_cores();
  plain.lone_rows = false;
  CHECK(Layer{}.plan(plain).plan.launches.size() == 2);
  // Each expert's weight meets its own rows, one weight of all meets too many.
  const auto batch = [](std::int64_t weights) {
    return planned([=](const Device& device) {
      const AnyTensor codes = input({weights, 512, 256}, device, DType::i8),
                      scales = input({weights, 512, 1}, device, DType::f32), x = input({5, 4, 256}, device);
      const AnyTensor w = AnyTensor::mul(codes.cast(DType::f32), scales).cast(DType::bf16);
      return std::vector{x.matmul(w.transpose(1, 2))};
    });
  };
  CHECK(unpacks(batch(5)));
  CHECK_FALSE(unpacks(batch(1)));
  CHECK(batch(1).plan.launches.size() == 2);
}

TEST_CASE("what follows such a product is in its kernel, and a weight that others read is stored once") {
  const auto of = [](const std::function<std::vector<AnyTensor>(const AnyTensor& x, const AnyTensor& w)>& f) {
    return planned([=](const Device& device) {
      const AnyTensor x = input({4, 4096}, device);
      return f(x, dequantize(Layer{}.weight(device)).transpose(0, 1));
    });
  };
  const Planned layer = of([](const AnyTensor& x, const AnyTensor& w) {
    return std::vector{gelu(AnyTensor::add(x.matmul(w), 1.0))};
  });
  CHECK(layer.plan.launches.size() == 1);
  CHECK(unpacks(layer));
  const Planned held = of([](const AnyTensor& x, const AnyTensor& w) { return std::vector{x.matmul(w), w}; });
  CHECK(held.plan.launches.size() == 2);
  const Planned twice = of([](const AnyTensor& x, const AnyTensor& w) {
    return std::vector{x.matmul(w), AnyTensor::mul(x, 2.0).matmul(w)};
  });
  CHECK(twice.plan.launches.size() == 4);  // the weight, twice x, and two products
  CHECK(twice.tiled == 2);
}

TEST_CASE(
    "all ways of a product that unpacks hold codes and scales in registers, and no weight in shared memory") {
  const Planned p = Layer{.rows = 4, .options = {.scheme = QuantScheme::int8}}.plan();
  REQUIRE(unpacks(p));
  std::size_t found = 0;
  for (const ir::Tiling& tiling : tilings_of(p, with_tensor_cores())) {
    if (tiling.sharers == 0) continue;
    ++found;
    ir::Kernel kernel = *p.kernel;
    kernel.tiling = tiling;
    ir::verify(kernel);
    const std::string text = emit::emit(kernel, hopper()).text;
    CHECK(text.find("#define SN_UNPACKS 1") != std::string::npos);
    CHECK(text.find("struct Raw {") != std::string::npos);
    CHECK(emit::geometry(kernel, hopper(), p.ints).shared_bytes ==
          std::uint32_t{tiling.sharers} * tiling.slots * tiling.rows * 128);
  }
  CHECK(found >= 3);
}
