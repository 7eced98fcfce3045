// What the steps of a loop have a slice each of is computed before them, not by each of them while the next
// one waits.
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using A = AnyTensor;

constexpr std::int64_t kRows = 64, kWidth = 512;

/// Steps of a loop, each of which adds a slice of `value`, which is made of two inputs.
Planned steps(std::int64_t count, const std::function<A(const A&, const A&)>& value,
              std::int64_t rows = kRows) {
  return planned([&](const Device& device) {
    const A a = input({count * rows, kWidth}, device, DType::f32),
            b = input({count * rows, kWidth}, device, DType::f32), w = input({kWidth, kWidth}, device);
    A state = input({rows, kWidth}, device);
    const A all = value(a, b);
    const std::int64_t width = all.shape()[1];
    for (std::int64_t k = 0; k < count; ++k) {
      A part = all.narrow(0, k * rows, rows);
      if (width > kWidth) part = A::add(part.narrow(1, 0, kWidth), part.narrow(1, kWidth, kWidth));
      state = A::add(state.matmul(w.transpose(0, 1)), part.cast(DType::bf16));
    }
    return std::vector{state};
  });
}

/// Launches that compute the function.
int launches_with(const Planned& p, Op op) {
  int count = 0;
  for (const plan::Launch& launch : p.plan.launches) {
    const auto* number = std::get_if<std::uint32_t>(&launch.what);
    if (number == nullptr) continue;
    bool has = false;
    for (const ir::Expr& expr : p.plan.kernels[*number]->exprs)
      has |= expr.kind == ir::ExprKind::Elementwise && expr.op == op;
    count += has;
  }
  return count;
}

A costly(const A& a, const A& b) { return A::mul(a.tanh(), b.sigmoid()); }

}  // namespace

TEST_CASE("what many steps have a small slice each of is computed once, before them") {
  const Planned p = steps(16, costly);
  CHECK(launches_with(p, Op::Tanh) == 1);
  CHECK(p.plan.launches.size() == 17);
}

TEST_CASE("few steps, large slices and little work leave it to them") {
  CHECK(launches_with(steps(4, costly), Op::Tanh) == 4);
  const auto cheaper = [](const A& a, const A&) { return A::mul(a.tanh(), 2); };
  CHECK(launches_with(steps(16, cheaper), Op::Tanh) == 1);
  CHECK(launches_with(steps(16, cheaper, 1024), Op::Tanh) == 16);
  const Planned p = steps(16, [](const A& a, const A& b) { return A::mul(a, b); });
  CHECK(launches_with(p, Op::Mul) == 16);
}

TEST_CASE("slices that few kernels have, such as neighbours in a grid, are no steps of a loop") {
  const Planned p = planned([](const Device& device) {
    const A x = input({kRows, kWidth}, device, DType::f32);
    const A y = A::mul(x.tanh(), 2);
    A sum = y.narrow(0, 0, kRows - 16);
    for (std::int64_t k = 1; k < 9; ++k) sum = A::add(sum, y.narrow(0, k, kRows - 16));
    return std::vector{sum, y.narrow(0, 20, 8).sum({1})};
  });
  CHECK(launches_with(p, Op::Tanh) == 2);
}

TEST_CASE("a concatenation that they have slices of is stored as a whole") {
  const Planned p = steps(16, [](const A& a, const A& b) {
    const A pieces[] = {costly(a, b), A::mul(a.sin(), b.sigmoid())};
    return A::cat(pieces, 1);
  });
  CHECK(launches_with(p, Op::Tanh) == 1);
  CHECK(launches_with(p, Op::Sin) == 1);
}
