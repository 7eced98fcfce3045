// Products that are added up: which become one, of their factors side by side, and which are cut into
// several.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// The sum of so many products, the gradient of a weight that each step of a loop multiplies by.
AnyTensor sum_of_products(int count, const Shape& a, const Shape& b, const Device& device) {
  std::vector<AnyTensor> left, right;  // before anything is computed of them
  for (int i = 0; i < count; ++i) left.push_back(input(a, device)), right.push_back(input(b, device));
  AnyTensor sum;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const AnyTensor product = left[i].transpose(0, 1).matmul(right[i]).cast(DType::f32);
    sum = sum.defined() ? AnyTensor::add(sum, product) : product;
  }
  return sum;
}

Planned planned_sum(int count, const Shape& a, const Shape& b,
                    const ir::DeviceTraits& traits = with_tensor_cores()) {
  return planned([=](const Device& device) { return std::vector{sum_of_products(count, a, b, device)}; },
                 traits);
}

}  // namespace

TEST_CASE("products that are added up are one, of their factors side by side") {
  for (const int count : {2, 3, 16, 40, 300}) {
    CAPTURE(count);
    const Planned p = planned_sum(count, {64, 512}, {64, 256});
    CHECK(p.tiled == 1);
    CHECK(p.libraries == 0);
  }
  // Copies of the factors: pieces of 16, and what these are pieces of.
  CHECK(planned_sum(16, {64, 512}, {64, 256}).plan.launches.size() == 3);
  CHECK(planned_sum(256, {64, 512}, {64, 256}).plan.launches.size() < 50);
}

TEST_CASE("where copying the factors takes longer than adding up, products stay as they are") {
  CHECK(planned_sum(2, {1 << 20, 64}, {1 << 20, 64}, ampere()).tiled == 2);
  CHECK(planned_sum(2, {1 << 10, 64}, {1 << 10, 64}, ampere()).tiled == 1);
}

TEST_CASE("only products that nobody else reads are joined, and only alike ones") {
  struct Inputs {
    AnyTensor a, b, c, d, thin_a, thin_b, half_a, half_b, rest;
  };
  const auto plan_of = [](auto program) {
    return planned([&](const Device& device) {
      const Inputs x{input({512, 64}, device),
                     input({64, 256}, device),
                     input({512, 64}, device),
                     input({64, 256}, device),
                     input({512, 40}, device),
                     input({40, 256}, device),
                     input({512, 64}, device, DType::f16),
                     input({64, 256}, device, DType::f16),
                     input({512, 256}, device)};
      return program(x);
    });
  };
  const auto tiled = [&](auto program) { return plan_of(program).tiled; };
  using Results = std::vector<AnyTensor>;
  CHECK(tiled([](const Inputs& x) { return Results{AnyTensor::add(x.a.matmul(x.b), x.c.matmul(x.d))}; }) ==
        1);
  const Planned apart = plan_of([](const Inputs& x) {
    const AnyTensor first = x.a.matmul(x.b);
    return Results{AnyTensor::add(first, x.c.matmul(x.d)), first};
  });
  CHECK(apart.tiled == 2);
  CHECK(apart.plan.launches.size() == 2);  // and no copies of factors
  // Sums over as many elements or not, of one dtype.
  CHECK(tiled([](const Inputs& x) {
          return Results{AnyTensor::add(x.a.matmul(x.b), x.thin_a.matmul(x.thin_b))};
        }) == 1);
  CHECK(tiled([](const Inputs& x) {
          return Results{
              AnyTensor::add(x.a.matmul(x.b).cast(DType::f32), x.half_a.matmul(x.half_b).cast(DType::f32))};
        }) == 2);
  // What else is added up stays.
  const Planned p = planned([](const Device& device) {
    const AnyTensor a = input({512, 64}, device), b = input({64, 256}, device), c = input({512, 64}, device),
                    rest = input({512, 256}, device);
    return Results{AnyTensor::add(AnyTensor::add(a.matmul(b), rest), c.matmul(b))};
  });
  CHECK(p.tiled == 1);
  CHECK(p.libraries == 0);
}

TEST_CASE("a recurrent network has few kernels, however long its sequences are") {
  const auto kernels = [](std::int64_t length) {
    return planned([=](const Device& plain) {
             const Device device = plain.autodiff();
             const nn::Lstm lstm = nn::LstmConfig{.d_in = 512, .d_hidden = 512}.init(device);
             const auto x = Tensor<3>::zeros({64, length, 512}, device);
             const Autocast mixed(DType::bf16);
             const auto gradients = lstm.forward(x).output.sum().backward();
             return std::vector<AnyTensor>{gradients.get(lstm.weights[0].weight_hh)->dynamic(),
                                           gradients.get(lstm.weights[0].weight_ih)->dynamic()};
           })
        .plan.kernels.size();
  };
  CHECK(kernels(12) < 30);
  // A cell of an earlier step is in memory, and not computed again from all steps before it.
  CHECK(kernels(48) < 40);
}

TEST_CASE("a long sum of few tiles is cut into parts that its readers add up") {
  const auto plan_of = [](std::int64_t rows, std::int64_t depth, auto end) {
    return planned([&](const Device& device) {
      const AnyTensor x = input({rows, depth}, device), w = input({depth, 512}, device),
                      rest = input({rows, 512}, device, DType::f32);
      return std::vector{end(x.matmul(w), rest)};
    });
  };
  const auto added = [](const AnyTensor& y, const AnyTensor& rest) {
    return AnyTensor::add(y.cast(DType::f32), rest);
  };
  const auto is_shared = [](const Planned& p) { return emit::geometry(*p.kernel, hopper(), p.ints).cut > 0; };
  const Planned parts = plan_of(64, 2048, added);
  REQUIRE(parts.tiled == 1);
  CHECK(parts.plan.launches.size() == 2);
  CHECK(parts.kernel->outer_rank == 3);
  CHECK_FALSE(is_shared(parts));
  CHECK_FALSE(parts.kernel->tiling.a.computed);
  CHECK_FALSE(parts.kernel->tiling.b.computed);
  // The first reader would have to be a kernel for it.
  const Planned alone = plan_of(64, 2048, [](const AnyTensor& y, const AnyTensor&) { return y; });
  REQUIRE(alone.tiled == 1);
  CHECK(alone.plan.launches.size() == 1);
  CHECK(is_shared(alone));
  const Planned factor = plan_of(
      512, 2048, [](const AnyTensor& y, const AnyTensor& rest) { return rest.cast(y.dtype()).matmul(y); });
  CHECK(factor.tiled == 2);
  // Short sums, longer ones, of which more parts would be left to join, and many results are one kernel.
  for (const auto& [rows, depth] : {std::pair{64, 512}, {64, 8192}, {1024, 2048}}) {
    CAPTURE(rows);
    CAPTURE(depth);
    CHECK(plan_of(rows, depth, added).kernel->outer_rank == 2);
  }
}
