// What finished tiles of a product meet in memory, and when it is loaded: by the texts, which need no device.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("what all rows of results have in common is loaded once for a tile, what differs a step ahead") {
  const auto text_of = [](int columns) {
    const Planned p = planned([&](const Device& device) {
      const AnyTensor a = input({4096, 576}, device), b = input({576, 4096}, device),
                      rest = input({4096, 4096}, device);
      std::vector<AnyTensor> common;
      for (int i = 0; i < columns; ++i) common.push_back(input({4096}, device, DType::f32));
      AnyTensor y = AnyTensor::add(a.matmul(b).cast(DType::f32), rest.cast(DType::f32));
      for (const AnyTensor& column : common) y = AnyTensor::mul(y, column);
      return std::vector{y};
    });
    REQUIRE(p.tiled == 1);
    return emit::emit(*p.kernel, hopper()).text;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string one = text_of(1), many = text_of(8);
  CHECK(has(one, "#define SN_HAS_COLUMNS 1"));
  CHECK(has(one, "columns.c"));
  CHECK(has(one, "next.h1[i]"));
  CHECK_FALSE(has(text_of(0), "columns.c"));
  // As far as registers go: the rest is loaded where it is met.
  CHECK(has(many, "columns.c"));
  CHECK(has(many, "sn_load8_f32(l"));
  CHECK_FALSE(has(one, "sn_load8_f32(l"));
}

TEST_CASE(
    "a bf16 that becomes an f32 again is rounded in one step, unless lanes hold it from phase to phase") {
  bool holds_rows = false;
  const auto text_of = [&](const std::function<AnyTensor(const Device&)>& program) {
    ir::DeviceTraits traits = with_tensor_cores();
    traits.row_lanes = 1024;
    traits.short_row_lanes = 32;
    traits.lanes = std::int64_t{2048} * 132;
    traits.groups = std::int64_t{4} * 132;
    const Planned p = planned([&](const Device& device) { return std::vector{program(device)}; }, traits);
    REQUIRE(p.plan.kernels.size() > 0);
    holds_rows = p.plan.kernels.back()->row_elements > 0;
    return emit::emit(*p.plan.kernels.back(), hopper()).text;
  };
  const auto rounds = [](const std::string& text) {
    return text.find("sn_round_bf16(v") != std::string::npos;
  };
  CHECK(rounds(text_of([](const Device& device) {
    const AnyTensor y = input({256, 256}, device).matmul(input({256, 256}, device));
    return AnyTensor::mul(y.cast(DType::f32), 3.0);
  })));
  CHECK(rounds(text_of([](const Device& device) {
    return AnyTensor::mul(input({4096}, device, DType::f32).cast(DType::bf16).cast(DType::f32), 3.0);
  })));
  CHECK_FALSE(rounds(text_of([](const Device& device) {
    const AnyTensor x = AnyTensor::mul(input({4096, 1000}, device, DType::f32), 0.5).cast(DType::bf16);
    const AnyTensor wide = x.cast(DType::f32);
    return wide.softmax(1);
  })));
  CHECK(holds_rows);
}
