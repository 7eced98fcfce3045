// Batches of small products as sums of products, and those that stay what they are.
#include <doctest/doctest.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// Neither tiles nor a library.
bool is_sum(const Planned& p) { return p.tiled == 0 && p.libraries == 0 && p.plan.launches.size() == 1; }

}  // namespace

TEST_CASE("batches of products with few rows and columns are sums of products") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    CHECK(is_sum(product({4096, 16, 16}, {4096, 16, 16}, false, false, dtype)));
    CHECK(is_sum(product({2, 3, 7, 5}, {2, 3, 5, 1}, false, false, dtype)));
    CHECK(is_sum(product({100, 3, 3}, {100, 3, 3}, true, true, dtype)));
    CHECK_FALSE(is_sum(product({4096, 17, 16}, {4096, 16, 16}, false, false, dtype)));
    CHECK_FALSE(is_sum(product({4096, 16, 17}, {4096, 17, 16}, false, false, dtype)));
    CHECK_FALSE(is_sum(product({4096, 16, 16}, {4096, 16, 17}, false, false, dtype)));
    CHECK_FALSE(is_sum(product({16, 16}, {16, 16}, false, false, dtype)));
  }
}

TEST_CASE("products of many rows or columns, for each of which little is multiplied, are sums of products") {
  CHECK(is_sum(product({100000, 3}, {3, 3})));
  CHECK(is_sum(product({100000, 8}, {8, 4})));
  CHECK(is_sum(product({17, 16}, {16, 2})));
  CHECK(is_sum(product({3, 3}, {3, 100000})));
  CHECK(is_sum(product({64, 65536, 3}, {64, 3, 2})));
  CHECK_FALSE(is_sum(product({100000, 8}, {8, 5})));
  CHECK_FALSE(is_sum(product({16, 16}, {16, 2})));
  CHECK_FALSE(is_sum(product({3, 100000}, {100000, 3})));
}

TEST_CASE("a lane adds up a small product, with the work around it") {
  const Planned p = planned([](const Device& device) {
    const auto of = [&](const Shape& shape) { return input(shape, device, DType::f32); };
    const AnyTensor a = of({64, 8, 8}), b = of({64, 8, 8}), c = of({8});
    return std::vector{AnyTensor::add(a.matmul(b), c).gelu()};
  });
  REQUIRE(is_sum(p));
  CHECK(p.plan.kernels[0]->schedule == ir::Schedule::LanesOuter);
}

TEST_CASE("factors of small products are computed once, before") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor a = input({64, 8, 8}, device, DType::f32), b = input({64, 8, 8}, device, DType::f32);
    return std::vector{a.gelu().matmul(b)};
  });
  CHECK(p.plan.launches.size() == 2);
  CHECK((p.tiled == 0 && p.libraries == 0));
}

TEST_CASE("attention over few tokens is one kernel as before") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor q = input({64, 16, 16}, device), k = input({64, 16, 16}, device),
                    v = input({64, 16, 16}, device);
    return std::vector{AnyTensor::mul(q.matmul(k.transpose(1, 2)), 0.25).softmax(2).matmul(v)};
  });
  CHECK(p.plan.launches.size() == 1);
}
