// What finished tiles of a product meet in memory, and when it is loaded: by the texts, which need no device.
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
