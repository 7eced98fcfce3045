// Sums of products that are added up and whose factors lie apart: what becomes one kernel, and how its tiles
// go from one product to the next.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/ir/products/terms.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using A = AnyTensor;

/// x_k (rows, depth) times w_k (depth, columns), and what is made of all of these products.
struct Added {
  std::int64_t rows = 8192, columns = 768, depth = 768;
  int count = 3;
  DType dtype = DType::bf16;
  std::function<std::vector<A>(const std::vector<A>&, const A&)> end = [](const std::vector<A>& products,
                                                                          const A&) {
    A sum = products[0].cast(DType::f32);
    for (std::size_t k = 1; k < products.size(); ++k) sum = A::add(sum, products[k].cast(DType::f32));
    return std::vector{A::mul(sum, 2)};
  };

  Planned plan(const ir::DeviceTraits& traits = with_tensor_cores()) const {
    return planned(
        [&](const Device& device) {
          std::vector<A> x, w, products;
          for (int k = 0; k < count; ++k) {
            x.push_back(input({rows, depth}, device, dtype));
            w.push_back(input({columns, depth}, device, dtype));
          }
          const A rest = input({rows, columns}, device, DType::f32);
          const auto factor = [&](const A& a) { return dtype == DType::i8 ? a.cast(DType::f32) : a; };
          for (int k = 0; k < count; ++k)
            products.push_back(factor(x[k]).matmul(factor(w[k].transpose(0, 1))));
          return end(products, rest);
        },
        traits);
  }
};

/// Products that the only kernel adds up; 0: there are several kernels.
std::size_t terms_of(const Planned& p) {
  return p.plan.launches.size() == 1 && p.tiled == 1 ? p.kernel->tiling.terms.size() + 1 : 0;
}
std::size_t terms_of(const Added& added) { return terms_of(added.plan()); }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("products that are added up are one kernel, however their factors lie") {
  for (const int count : {2, 3, 4}) {
    CAPTURE(count);
    CHECK(terms_of({.count = count}) == static_cast<std::size_t>(count));
    CHECK(terms_of({.count = count, .dtype = DType::f16}) == static_cast<std::size_t>(count));
  }
  // Where copies of the factors were less than the results, there are none either.
  CHECK(terms_of({.rows = 2048, .columns = 2048, .depth = 2000, .count = 2}) == 2);
}

TEST_CASE("what else is added, and what becomes of the sum") {
  // As f32, with something else in between.
  CHECK(terms_of({.end = [](const std::vector<A>& products, const A& rest) {
          const A first = A::add(A::add(products[0].cast(DType::f32), rest), products[1].cast(DType::f32));
          return std::vector{A::add(first, products[2].cast(DType::f32)).cast(DType::bf16)};
        }}) == 3);
  CHECK(terms_of({.end = [](const std::vector<A>& products, const A&) {
          return std::vector{A::add(A::add(products[0], products[1]), products[2])};
        }}) == 3);
  // Several results of it.
  const Planned two = Added{.end = [](const std::vector<A>& products, const A& rest) {
                        const A sum = A::add(A::add(products[0], products[1]), products[2]);
                        return std::vector{sum, A::mul(sum.cast(DType::f32), rest)};
                      }}.plan();
  CHECK(terms_of(two) == 3);
  CHECK(two.kernel->stores.size() == 2);
}

TEST_CASE("what stays several kernels") {
  const auto launches = [](const Added& added, const ir::DeviceTraits& traits = with_tensor_cores()) {
    const Planned p = added.plan(traits);
    for (const auto& kernel : p.plan.kernels) CHECK(kernel->tiling.terms.empty());
    return p.plan.launches.size();
  };
  // One of the products is asked for, or something else is made of it.
  CHECK(launches({.count = 2, .end = [](const std::vector<A>& products, const A&) {
                    return std::vector{A::add(products[0], products[1]), products[0]};
                  }}) == 2);
  CHECK(launches({.count = 2, .end = [](const std::vector<A>& products, const A&) {
                    return std::vector{A::add(products[0].tanh(), products[1])};
                  }}) == 2);
  // What is rounded because the program says so.
  for (const DType dtype : {DType::f8_e4m3, DType::f16}) {
    CHECK(launches({.count = 2, .end = [=](const std::vector<A>& products, const A&) {
                      const A rounded = products[0].cast(dtype).cast(DType::f32);
                      return std::vector{A::add(rounded, products[1].cast(DType::f32))};
                    }}) == 2);
    CHECK(launches({.count = 2, .end = [=](const std::vector<A>& products, const A& rest) {
                      const A first = A::add(products[0].cast(DType::f32), rest);
                      return std::vector{
                          A::add(first.cast(dtype).cast(DType::f32), products[1].cast(DType::f32))};
                    }}) == 2);
  }
  // A sum of what is no product, along the same loops.
  const Planned plain = planned([](const Device& device) {
    const A x = input({512, 256}, device), w = input({256, 256}, device), y = input({512, 256, 256}, device);
    return std::vector{A::add(x.matmul(w.transpose(0, 1)), y.sum(2).squeeze({2}))};
  });
  for (const auto& kernel : plain.plan.kernels) CHECK(kernel->tiling.terms.empty());
  // Few rows are read from memory once.
  launches({.rows = 16, .columns = 4096, .depth = 4096, .count = 2});
  // A factor that begins in the middle of 16 bytes, and one that lies across beside one that lies along.
  for (const bool begins_odd : {true, false}) {
    const Planned other = planned([=](const Device& device) {
      const A x = input({2048, 1032}, device), y = input({2048, 1024}, device),
              w = input({512, 1024}, device), v = input({1024, 512}, device);
      const A left = begins_odd ? x.narrow(1, 4, 1024) : y;
      return std::vector{
          A::add(left.matmul(w.transpose(0, 1)), y.matmul(begins_odd ? w.transpose(0, 1) : v))};
    });
    for (const auto& kernel : other.plan.kernels) CHECK(kernel->tiling.terms.empty());
  }
  // Integers of four sums would not have room in one.
  for (const DType dtype : {DType::i8, DType::f8_e4m3}) {
    const Planned of_8_bits = Added{
        .rows = 256,
        .columns = 256,
        .depth = 65536,
        .dtype = dtype,
        .end = [](const std::vector<A>& products, const A&) {
          return std::vector{A::add(A::add(products[0], products[1]), products[2])};
        }}.plan();
    for (const auto& kernel : of_8_bits.plan.kernels) CHECK(kernel->tiling.terms.empty());
  }
  // One product may be rounded, and the other may not.
  const Planned mixed = planned([](const Device& device) {
    const A x = input({512, 256}, device, DType::f32), w = input({256, 256}, device, DType::f32),
            v = input({256, 256}, device, DType::f32);
    const A exact = x.matmul(w.transpose(0, 1));
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return std::vector{A::add(exact, x.matmul(v.transpose(0, 1)))};
  });
  for (const auto& kernel : mixed.plan.kernels) CHECK(kernel->tiling.terms.empty());
  // Nor is what a program multiplies and adds up by itself.
  const Planned by_hand = planned([](const Device& device) {
    const A x = input({512, 256}, device, DType::f32), w = input({256, 256}, device, DType::f32),
            y = input({512, 1, 256}, device, DType::f32), v = input({1, 256, 256}, device, DType::f32);
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return std::vector{A::add(x.matmul(w.transpose(0, 1)), A::mul(y, v).sum(2).squeeze({2}))};
  });
  for (const auto& kernel : by_hand.plan.kernels) CHECK(kernel->tiling.terms.empty());
  // Subgroups by themselves go along one product: these are copied side by side.
  CHECK(launches({.count = 2}, ampere()) == 3);
}

TEST_CASE("the gradient of what queries, keys and values are made of is one product") {
  const Planned p = planned([](const Device& plain) {
    const Device device = plain.autodiff();
    const A x = input({4096, 512}, device).require_grad();
    std::vector<A> weights, seeds;
    for (int k = 0; k < 3; ++k) {
      weights.push_back(input({512, 512}, device));
      seeds.push_back(input({4096, 512}, device));
    }
    A loss = A::mul(x.matmul(weights[0]), seeds[0]).sum();
    for (int k = 1; k < 3; ++k) loss = A::add(loss, A::mul(x.matmul(weights[k]), seeds[k]).sum());
    return std::vector{*loss.backward().get(x)};
  });
  CHECK(p.tiled == 1);
  REQUIRE(p.kernel != nullptr);
  CHECK(p.kernel->tiling.terms.size() == 2);
}

TEST_CASE("tiles go from one product to the next, each with maps of its own") {
  const Planned p = Added{}.plan(with_clusters());
  REQUIRE(terms_of(p) == 3);
  for (const ir::Tiling& tiling : tilings_of(p, with_clusters())) {
    ir::Kernel kernel = *p.kernel;
    kernel.tiling = tiling;
    ir::verify(kernel);
    CHECK(tiling.has_groups());
    CHECK(tiling.library == 0);
    const std::vector<emit::TensorMap> maps = emit::tensor_maps(kernel, p.ints);
    REQUIRE(maps.size() == 6);
    CHECK(emit::names_of_tensor_maps(tiling) ==
          std::vector<std::string>{"t_a", "t_b", "t_a1", "t_b1", "t_a2", "t_b2"});
    for (std::size_t k = 0; k < maps.size(); ++k) {
      CHECK(maps[k].sizes == maps[k % 2].sizes);
      CHECK(maps[k].box == maps[k % 2].box);
      for (std::size_t other = 0; other < k; ++other) CHECK(maps[k].buffer != maps[other].buffer);
    }
    const std::string text = emit::emit(kernel, hopper()).text;
    CHECK(text.find("#define SN_TERMS 3\n") != std::string::npos);
    CHECK(count_of(text, "term == 2 ? t_a2 : term == 1 ? t_a1 : t_a;") == 1);
    CHECK(count_of(text, "term == 2 ? t_b2 : term == 1 ? t_b1 : t_b;") == 1);
    CHECK(count_of(text, tiling.cluster > 1 ? "tc_get_of_all(sums_of_all, " : "tc_get(stage, ") == 1);
  }
}

TEST_CASE("few tiles share the sums of all terms among workgroups") {
  // Of one product of so many elements no workgroup would share a tile.
  const auto workgroups = [](int count) {
    const Planned p = Added{.rows = 512, .columns = 512, .depth = 320, .count = count}.plan();
    REQUIRE(terms_of(p) == static_cast<std::size_t>(count));
    ir::Kernel kernel = *p.kernel;
    kernel.tiling.rows = kernel.tiling.columns = 128;
    return emit::geometry(kernel, hopper(), p.ints).workgroups;
  };
  CHECK(workgroups(1) == 16);
  CHECK(workgroups(4) > 16);
}

TEST_CASE("one sum takes the place of its terms") {
  const Planned p = Added{.end = [](const std::vector<A>& products, const A& rest) {
                      const auto wide = [&](int k) { return products[k].cast(DType::f32); };
                      const A first = A::add(A::add(wide(0), rest), wide(1));
                      return std::vector{A::mul(A::add(first, wide(2)), 3)};
                    }}.plan();
  REQUIRE(terms_of(p) == 3);
  const ir::Kernel one = ir::with_one_sum(*p.kernel);
  const auto count = [](const ir::Kernel& kernel, Op op) {
    std::vector<bool> live(kernel.exprs.size());
    for (const ir::Store& store : kernel.stores) live[store.value] = true;
    int found = 0;
    for (ir::ExprId id = static_cast<ir::ExprId>(kernel.exprs.size()); id-- > 0;) {
      if (!live[id] || kernel.exprs[id].kind == ir::ExprKind::Reduce) continue;
      for (const ir::ExprId arg : kernel.exprs[id].args)
        if (arg != ir::kNone) live[arg] = true;
      found += kernel.exprs[id].kind == ir::ExprKind::Elementwise && kernel.exprs[id].op == op;
    }
    return found;
  };
  CHECK(count(*p.kernel, Op::Add) == 3);
  CHECK(count(one, Op::Add) == 1);
  CHECK(count(one, Op::Cast) == 0);
  CHECK(count(one, Op::Mul) == 1);
}

TEST_CASE("terms whose sums are asked for, or that lie otherwise, are refused by the verifier") {
  const Planned p = Added{}.plan();
  REQUIRE(terms_of(p) == 3);
  ir::Kernel kernel = *p.kernel;
  kernel.tiling.terms[1].b = kernel.tiling.a.value;
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
  kernel = *p.kernel;
  kernel.tiling.terms.pop_back();  // a reduction that nobody has
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
  kernel = *p.kernel;
  ir::Store also = kernel.stores[0];
  also.value = kernel.tiling.terms[0].sum;
  kernel.stores.push_back(also);
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
}
