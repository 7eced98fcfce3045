// Sums of products that have a factor in common and come together: what becomes one kernel, and how its tiles
// are laid out.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using A = AnyTensor;

/// x (rows, depth) times a weight (count width, depth) transposed, in slices that come together.
struct Sliced {
  std::int64_t rows = 64, width = 512, depth = 512, count = 4;
  DType dtype = DType::bf16;
  bool lies_along = true;  // the weight, along the sum
  // Between the product and its slices; what else that needs is in memory before.
  std::vector<Shape> more = {};
  DType of_more = DType::bf16;
  std::function<A(const A&, const std::vector<A>&)> between = [](const A& y, auto&) { return y; };
  std::function<std::vector<A>(const std::vector<A>&)> end = [](const std::vector<A>& parts) {
    A all = parts[0].sigmoid();
    for (std::size_t k = 1; k < parts.size(); ++k) all = A::mul(all, parts[k].tanh());
    return std::vector{all};
  };

  Planned plan(const ir::DeviceTraits& traits = with_tensor_cores()) const {
    return planned(
        [&](const Device& device) {
          const std::int64_t columns = count * width;
          const A x = input({rows, depth}, device, dtype),
                  w = lies_along ? input({columns, depth}, device, dtype).transpose(0, 1)
                                 : input({depth, columns}, device, dtype);
          std::vector<A> inputs;
          for (const Shape& shape : more) inputs.push_back(input(shape, device, of_more));
          const A y = between(x.matmul(w), inputs);
          std::vector<A> parts;
          for (std::int64_t k = 0; k < count; ++k) parts.push_back(y.narrow(1, k * width, width));
          return end(parts);
        },
        traits);
  }
};

/// Sums of the only kernel; 0: there are others.
std::size_t sums_of(const Planned& p) {
  return p.plan.launches.size() == 1 && p.tiled == 1 ? p.kernel->tiling.others.size() + 1 : 0;
}
std::size_t sums_of(const Sliced& sliced) { return sums_of(sliced.plan()); }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("slices of a product that come together are sums of one kernel") {
  for (const std::int64_t count : {2, 3, 4}) {
    CAPTURE(count);
    CHECK(sums_of({.count = count}) == static_cast<std::size_t>(count));
    CHECK(sums_of({.count = count, .dtype = DType::f16}) == static_cast<std::size_t>(count));
  }
  CHECK(sums_of({.rows = 100, .width = 40, .depth = 72}) == 4);
}

TEST_CASE("what stands between a product and its slices is sliced too") {
  const auto add = [](const A& y, const std::vector<A>& more) { return A::add(y, more[0]); };
  CHECK(sums_of({.more = {{1, 2048}}, .between = add}) == 4);
  CHECK(sums_of({.more = {{64, 2048}},
                 .of_more = DType::f32,
                 .between = [](const A& y, const std::vector<A>& more) {
                   return A::add(y.cast(DType::f32), more[0]);
                 }}) == 4);
  // Each of many operations needs the one before twice.
  CHECK(sums_of({.between = [](const A& y, auto&) {
          A x = y;
          for (int k = 0; k < 40; ++k) x = A::mul(x, x);
          return x;
        }}) == 4);
  // Another product stays whole.
  const Planned two = Sliced{
      .more = {{64, 96}, {2048, 96}}, .between = [](const A& y, const std::vector<A>& more) {
        return A::mul(y, more[0].matmul(more[1].transpose(0, 1)));
      }}.plan();
  CHECK(two.plan.launches.size() == 2);
  CHECK(two.tiled == 2);
}

TEST_CASE("what is kept of each slice is stored by the kernel of all") {
  const Planned p = Sliced{.end = [](const std::vector<A>& parts) {
                      std::vector<A> all = parts;
                      A sum = parts[0];
                      for (std::size_t k = 1; k < parts.size(); ++k) sum = A::add(sum, parts[k].tanh());
                      all.push_back(sum);
                      return all;
                    }}.plan();
  CHECK(sums_of(p) == 4);
  CHECK(p.kernel->stores.size() == 5);
}

TEST_CASE("products by weights of their own become one kernel where they come together") {
  const Planned p = planned([](const Device& device) {
    const A x = input({256, 320}, device), gate = input({768, 320}, device), up = input({768, 320}, device);
    const A opened = x.matmul(gate.transpose(0, 1)).silu();
    return std::vector{A::mul(opened, x.matmul(up.transpose(0, 1)))};
  });
  CHECK(sums_of(p) == 2);
}

TEST_CASE("what stays one product, or several kernels") {
  const auto launches = [](const Sliced& sliced, const ir::DeviceTraits& traits = with_tensor_cores()) {
    const Planned p = sliced.plan(traits);
    for (const auto& kernel : p.plan.kernels) CHECK(kernel->tiling.others.empty());
    return p.plan.launches.size();
  };
  const auto apart = [](const std::vector<A>& parts) {
    std::vector<A> all;
    for (const A& part : parts) all.push_back(part.tanh());
    return all;
  };
  CHECK(launches({.end = apart}) >= 2);             // nothing needs all of them
  CHECK(launches({.rows = 16}) == 2);               // few rows
  CHECK(launches({.rows = 8192}) == 2);             // so many that multiplying hides the rest
  CHECK(launches({.lies_along = false}) == 2);      // a factor across the sum
  CHECK(launches({.depth = 516}) == 2);             // rows that are no multiples of 16 bytes
  CHECK(launches({.width = 64, .count = 8}) == 2);  // more than a tile has
  CHECK(launches({}, ampere()) == 2);               // no groups of subgroups
  // Two of four.
  CHECK(launches({.end = [](const std::vector<A>& parts) {
          return std::vector{A::mul(parts[0], parts[2])};
        }}) == 2);
  // Products of other factors, which have nothing in common.
  const Planned p = planned([](const Device& device) {
    const A x = input({256, 320}, device), y = input({256, 320}, device), w = input({768, 320}, device);
    return std::vector{A::mul(x.matmul(w.transpose(0, 1)), y.matmul(w.transpose(0, 1)).tanh())};
  });
  CHECK(p.tiled == 2);
  // Of weights of which the second lies across the sum, or begins anywhere.
  for (const bool across : {true, false}) {
    const Planned q = planned([&](const Device& device) {
      const A x = input({256, 320}, device), gate = input({768, 320}, device),
              up = across ? input({320, 768}, device)
                          : input({768, 321}, device).narrow(1, 1, 320).transpose(0, 1);
      return std::vector{A::mul(x.matmul(gate.transpose(0, 1)).silu(), x.matmul(up))};
    });
    CHECK(q.plan.launches.size() == 2);
    for (const auto& kernel : q.plan.kernels) CHECK(kernel->tiling.others.empty());
  }
  // Of a large layer two weights share tiles, three do not.
  for (const int gates : {2, 3}) {
    const Planned large = planned([&](const Device& device) {
      const A x = input({4096, 320}, device);
      std::vector<A> weights;
      for (int k = 0; k < gates; ++k) weights.push_back(input({768, 320}, device));
      A y = x.matmul(weights[0].transpose(0, 1));
      for (int k = 1; k < gates; ++k)
        y = A::mul(y.silu(), x.matmul(weights[static_cast<std::size_t>(k)].transpose(0, 1)));
      return std::vector{y};
    });
    CHECK(large.plan.launches.size() == (gates == 2 ? 1 : 2));
    for (const auto& kernel : large.plan.kernels) CHECK(kernel->tiling.others.size() <= 1);
  }
  // The product itself is wanted too.
  const Planned kept = planned([](const Device& device) {
    const A x = input({64, 320}, device), w = input({768, 320}, device);
    const A y = x.matmul(w.transpose(0, 1));
    return std::vector{y, A::mul(y.narrow(1, 0, 384), y.narrow(1, 384, 384).tanh())};
  });
  for (const auto& kernel : kept.plan.kernels) CHECK(kernel->tiling.others.empty());
}

TEST_CASE("products side by side that nothing brings together are no sums of one kernel") {
  const Planned p = planned([](const Device& device) {
    const A x = input({256, 320}, device);
    std::vector<A> weights, all;
    for (int k = 0; k < 3; ++k) weights.push_back(input({320, 320}, device));
    for (const A& w : weights) all.push_back(x.matmul(w.transpose(0, 1)));
    return all;
  });
  CHECK(p.tiled == 3);
}

TEST_CASE("a tile has the same columns of all sums, in each 64 of its own") {
  const Planned p = Sliced{}.plan();
  REQUIRE(sums_of(p) == 4);
  for (const ir::Tiling& tiling : tilings_of(p, with_tensor_cores())) {
    ir::Kernel kernel = *p.kernel;
    kernel.tiling = tiling;
    ir::verify(kernel);
    CAPTURE(tiling.columns);
    CHECK(tiling.has_groups());
    CHECK(tiling.own_columns() == tiling.columns / 4);
    const emit::Geometry shape = emit::geometry(kernel, hopper(), p.ints);
    CHECK(shape.workgroups >= 512u / (tiling.columns / 4u));
    const std::vector<emit::TensorMap> maps = emit::tensor_maps(kernel, p.ints);
    REQUIRE(maps.size() == 5);
    for (std::size_t k = 1; k < maps.size(); ++k) {
      CHECK(maps[k].box == std::vector<std::uint32_t>{64, 16});
      CHECK(maps[k].sizes == std::vector<std::uint64_t>{512, 512});
      CHECK(maps[k].buffer == maps[1].buffer);
      CHECK(maps[k].offset_bytes == static_cast<std::int64_t>(k - 1) * 512 * 512 * 2);
    }
    const std::string text = emit::emit(kernel, hopper()).text;
    CHECK(count_of(text, "tc_load_2d(to_b + ") == tiling.columns / 16u);
    CHECK(count_of(text, "tc_get(stage, ") == 4);
  }
  // Of three sums a share of each 64 columns is nobody's.
  const Planned three = Sliced{.count = 3}.plan();
  REQUIRE(sums_of(three) == 3);
  const ir::Tiling& tiling = three.kernel->tiling;
  CHECK(tiling.shares() == 4);
  const std::string text = emit::emit(*three.kernel, hopper()).text;
  CHECK(count_of(text, "tc_load_2d(to_b + ") == tiling.columns / 64u * 3);
  CHECK(text.find("#define SN_COPIED_BYTES " +
                  std::to_string((tiling.rows + tiling.columns / 4 * 3) * 128)) != std::string::npos);
}

TEST_CASE("factors that lie otherwise are refused by the verifier") {
  const Planned p = Sliced{}.plan();
  REQUIRE(sums_of(p) == 4);
  ir::Kernel kernel = *p.kernel;
  kernel.tiling.others[1].b = kernel.tiling.a.value;
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
  kernel = *p.kernel;
  kernel.tiling.others.pop_back();  // a reduction that nobody has
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
}
