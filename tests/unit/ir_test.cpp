// Kernel IR: its text, and every rule of the verifier.
#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {
namespace {

using ir::ExprId;
using ir::Kernel;

// Row softmax with a gather and padding, so that every part of the IR occurs. Buffers 0 and 1 and maps 0 and
// 1 belong to x and the row-wise index.
KernelCase sample() {
  KernelBuilder k({4}, {6});
  const auto all = k.all(), outer = k.outer();
  const auto x_buffer = k.input(DType::f32, std::vector<double>(24, 1.0));
  const ExprId x = k.load(x_buffer, all);                                                  // %0 @i0
  const ExprId row = k.load(k.input(DType::i64, std::vector<std::int64_t>(4, 0)), outer);  // %1 @o0
  const ExprId inside = k.in_bounds(all, {{4, 0, 1, 4}, {6, 1, 1, 4}});                    // %2 @i0
  const ExprId bias =
      k.load_at(k.input(DType::f32, std::vector<double>(24, 2.0)), k.inner(), row, 6, 4, inside);  // %3
  const ExprId sum = k.op(Op::Add, x, bias);                                                       // %4 @i0
  const ExprId top = k.reduce(Op::Max, sum);                                                       // %5 @o1
  const ExprId shifted = k.op(Op::Sub, sum, top);                                                  // %6 @i1
  const ExprId scaled = k.op(Op::Mul, shifted, k.scalar(DType::f32, 0.5));  // %7 scalar, %8 @i1
  const ExprId noise = k.random(all, 1, 2);                                 // %9 @i0
  k.store(x_buffer, all, k.op(Op::Add, scaled, noise));                     // %10 @i1
  k.store(k.output(DType::f32, 4), outer, top);
  return k.finish("sample");
}

void check_rejected(const char* what, const std::function<void(Kernel&)>& break_it) {
  Kernel kernel = sample().kernel;
  break_it(kernel);
  CHECK_THROWS_AS_MESSAGE(ir::verify(kernel), std::logic_error, what);
}

}  // namespace

TEST_CASE("a reciprocal divides all numbers of 31 bits exactly") {
  const auto divide = [](std::int64_t n, const ir::Factor& by) {
    const auto m = static_cast<std::uint32_t>(static_cast<std::int32_t>(by.multiplier));
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(n) * m >> 32) >> by.shift);
  };
  constexpr std::int64_t kMost = 0x7fffffff;
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 2; d < 3000; ++d) divisors.push_back(d);
  for (int bit = 11; bit < 31; ++bit)
    for (const std::int64_t more : {-2, -1, 0, 1, 2, 1001})
      divisors.push_back((std::int64_t{1} << bit) + more);
  divisors.insert(divisors.end(), {kMost - 1, kMost, 715827883, 1431655765, 1000003});
  for (const std::int64_t d : divisors) {
    const ir::Factor by = ir::reciprocal_of(d);
    REQUIRE(by.multiplier == static_cast<std::int32_t>(by.multiplier));
    REQUIRE((by.shift >= 0 && by.shift < 32));
    const std::int64_t largest = kMost / d;
    for (const std::int64_t q : {std::int64_t{0}, std::int64_t{1}, largest / 2, largest - 1, largest})
      for (const std::int64_t r : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, d - 1}) {
        const std::int64_t n = q * d + r;
        if (n < 0 || n > kMost) continue;
        REQUIRE_MESSAGE(divide(n, by) == n / d, n << " / " << d);
      }
    REQUIRE(divide(kMost, by) == kMost / d);
  }
}

TEST_CASE("a kernel's text names every part of it") {
  CHECK(ir::to_string(sample().kernel) ==
        "kernel lanes_inner outer 1 inner 1 phases 2 ints 9 faults 1\n"
        "extents i0 i1\n"
        "scalars f32 i64 i64\n"
        "b0 f32 read written\n"
        "b1 i64 read\n"
        "b2 f32 read\n"
        "b3 f32 written\n"
        "m0 = at( i2 1 ) + 0\n"
        "m1 = at( 1 0 ) + 0\n"
        "m2 = at( 0 1 ) + 0\n"
        "%0 = load f32 b0 m0 @i0\n"
        "%1 = load i64 b1 m1 @o0\n"
        "%2 = in_bounds bool m0 ( i3 0 1 i4 ) ( i5 1 1 i6 ) @i0\n"
        "%3 = load_at f32 b2 m2 stride i7 extent i8 %1 if %2 @i0\n"
        "%4 = elementwise add f32 %0 %3 @i0\n"
        "%5 = reduce max f32 %4 @o1\n"
        "%6 = elementwise sub f32 %4 %5 @i1\n"
        "%7 = scalar f32 s0 @o0\n"
        "%8 = elementwise mul f32 %6 %7 @i1\n"
        "%9 = random f32 m0 s1 @i0\n"
        "%10 = elementwise add f32 %8 %9 @i1\n"
        "store b0 m0 = %10 @i1\n"
        "store b3 m1 = %5 @o1\n");
}

TEST_CASE("equal kernels have equal texts, sizes and values are not part of them") {
  CHECK(ir::to_string(sample().kernel) == ir::to_string(sample().kernel));
  const auto scaled = [](std::int64_t n, double by) {
    KernelBuilder k({n});
    const ExprId x = k.load(k.input(DType::f32, std::vector<double>(n, 1.0)), k.all());
    k.store(k.output(DType::f32, n), k.all(), k.op(Op::Mul, x, k.scalar(DType::f32, by)));
    return ir::to_string(k.finish("scaled").kernel);
  };
  CHECK(scaled(8, 0.5) == scaled(9, 0.25));
}

TEST_CASE("each change of structure changes the text") {
  const std::function<void(Kernel&)> changes[] = {
      [](Kernel&) {},
      [](Kernel& k) { k.schedule = ir::Schedule::LanesOuter; },
      [](Kernel& k) { k.wide = true; },
      [](Kernel& k) { k.faults = 0; },
      [](Kernel& k) { ++k.phases; },
      [](Kernel& k) { ++k.ints; },
      [](Kernel& k) { k.extents[1] = ir::IntRef::argument(0); },
      [](Kernel& k) { k.scalars[0] = DType::f64; },
      [](Kernel& k) { k.buffers[2].dtype = DType::f64; },
      [](Kernel& k) { k.buffers[0].written = false; },
      [](Kernel& k) { k.buffers[0].read = false; },
      [](Kernel& k) { k.maps[0].steps[0].strides[0] = ir::IntRef::one(); },
      [](Kernel& k) { k.maps[0].steps[0].offset = ir::IntRef::one(); },
      [](Kernel& k) {
        k.maps[0].steps.push_back({{ir::IntRef::argument(0)}, {ir::IntRef::one()}, {}, {}});
      },
      [](Kernel& k) { k.exprs[0].map = 2; },
      [](Kernel& k) { k.exprs[0].buffer = 2; },
      [](Kernel& k) { k.exprs[3].stride = ir::IntRef::one(); },
      [](Kernel& k) { k.exprs[3].extent = ir::IntRef::one(); },
      [](Kernel& k) { k.exprs[3].predicate = ir::kNone; },
      [](Kernel& k) { k.exprs[2].bounds[1].lower = ir::IntRef::zero(); },
      [](Kernel& k) { k.exprs[2].bounds.pop_back(); },
      [](Kernel& k) { k.exprs[4].op = Op::Sub; },
      [](Kernel& k) { std::swap(k.exprs[4].args[0], k.exprs[4].args[1]); },
      [](Kernel& k) { k.exprs[4].dtype = DType::f64; },
      [](Kernel& k) { k.exprs[4].level = ir::Level::Outer; },
      [](Kernel& k) { k.exprs[4].phase = 1; },
      [](Kernel& k) { k.exprs[5].op = Op::Min; },
      [](Kernel& k) { k.exprs[7].scalar = 1; },
      [](Kernel& k) { k.exprs[9].kind = ir::ExprKind::RandomNormal; },
      [](Kernel& k) { k.stores[0].value = 8; },
      [](Kernel& k) { k.stores[0].map = 2; },
      [](Kernel& k) { k.stores[0].phase = 2; },
      [](Kernel& k) { k.stores.pop_back(); },
  };
  std::set<std::string> texts;
  std::size_t count = 0;
  for (const auto& change : changes) {
    Kernel kernel = sample().kernel;
    change(kernel);
    texts.insert(ir::to_string(kernel));
    CHECK_MESSAGE(texts.size() == ++count, "change " << count - 1);
  }
}

TEST_CASE("the verifier takes valid kernels") {
  CHECK_NOTHROW(ir::verify(sample().kernel));
  CHECK(handmade_kernels().size() > 100);
}

TEST_CASE("the verifier rejects what breaks a rule") {
  check_rejected("extents for another rank", [](Kernel& k) { k.extents.pop_back(); });
  check_rejected("a constant extent", [](Kernel& k) { k.extents[0] = ir::IntRef::one(); });
  check_rejected("an extent out of range", [](Kernel& k) { k.extents[0].index = 99; });
  check_rejected("pointwise with inner dims", [](Kernel& k) { k.schedule = ir::Schedule::Pointwise; });
  check_rejected("a map without steps", [](Kernel& k) { k.maps[2].steps.clear(); });
  check_rejected("too few strides", [](Kernel& k) { k.maps[2].steps[0].strides.pop_back(); });
  check_rejected("a stride out of range", [](Kernel& k) { k.maps[0].steps[0].strides[0].index = 99; });
  check_rejected("an offset out of range",
                 [](Kernel& k) { k.maps[0].steps[0].offset = ir::IntRef::argument(99); });
  check_rejected("extents in the first step", [](Kernel& k) {
    k.maps[0].steps[0].extents = {ir::IntRef::argument(0), ir::IntRef::argument(1)};
  });
  check_rejected("a later step without extents", [](Kernel& k) { k.maps[2].steps.push_back({}); });
  check_rejected("a later step of other arity", [](Kernel& k) {
    k.maps[2].steps.push_back({{ir::IntRef::argument(0)}, {ir::IntRef::one(), ir::IntRef::one()}, {}, {}});
  });
  check_rejected("a later step with an extent of constant 0", [](Kernel& k) {
    k.maps[2].steps.push_back({{ir::IntRef::zero()}, {ir::IntRef::one()}, {}, {}});
  });
  check_rejected("a sum with a map that is no quotient", [](Kernel& k) {
    k.maps[2].steps.push_back({{}, {ir::IntRef::one()}, {}, {0}});
  });
  check_rejected("a sum with a map that stands behind it", [](Kernel& k) {
    k.maps.push_back(k.maps[2]);
    k.maps.back().steps.push_back({{ir::IntRef::argument(0), ir::IntRef::argument(0)},
                                   {ir::IntRef::one(), ir::IntRef::zero()},
                                   {},
                                   {}});
    k.maps[0].steps.push_back({{}, {ir::IntRef::one()}, {}, {static_cast<std::uint16_t>(k.maps.size() - 1)}});
  });
  check_rejected("a reciprocal of no int", [](Kernel& k) { k.reciprocals = {{0, 1, 99}}; });
  check_rejected("a reciprocal for 64-bit indices", [](Kernel& k) {
    k.reciprocals = {{0, 1, 2}};
    k.wide = true;
  });
  check_rejected("flat maps beside a reduction", [](Kernel& k) { k.flat_maps = {0}; });
  check_rejected("sizes of loops that a workgroup shares", [](Kernel& k) { k.inner_sizes = {6}; });
  check_rejected("an inner loop that is known to be empty", [](Kernel& k) {
    k.schedule = ir::Schedule::LanesOuter;
    k.inner_sizes = {0};
  });
  check_rejected("sizes of more loops than there are", [](Kernel& k) {
    k.schedule = ir::Schedule::LanesOuter;
    k.inner_sizes = {2, 3};
  });
  check_rejected("no such map", [](Kernel& k) { k.exprs[0].map = 9; });
  check_rejected("no such buffer", [](Kernel& k) { k.exprs[0].buffer = 9; });
  check_rejected("no such scalar", [](Kernel& k) { k.exprs[7].scalar = 9; });
  check_rejected("a load of another dtype", [](Kernel& k) { k.exprs[0].dtype = DType::f64; });
  check_rejected("a load from what is not read", [](Kernel& k) { k.buffers[2].read = false; });
  check_rejected("a scalar of another dtype", [](Kernel& k) { k.scalars[0] = DType::i64; });
  check_rejected("a seed that is not i64", [](Kernel& k) { k.scalars[2] = DType::i32; });
  check_rejected("an operand after its use", [](Kernel& k) { k.exprs[4].args[1] = 6; });
  check_rejected("an operand that is itself", [](Kernel& k) { k.exprs[4].args[1] = 4; });
  check_rejected("a missing operand", [](Kernel& k) { k.exprs[4].args[1] = ir::kNone; });
  check_rejected("an operand too many", [](Kernel& k) { k.exprs[4].args[2] = 0; });
  check_rejected("operands of different dtypes", [](Kernel& k) { k.exprs[4].args[1] = 1; });
  check_rejected("a structural op as an elementwise one", [](Kernel& k) { k.exprs[4].op = Op::MatMul; });
  check_rejected("an op that is not defined for the dtype", [](Kernel& k) { k.exprs[4].op = Op::And; });
  check_rejected("a result of the wrong dtype", [](Kernel& k) { k.exprs[4].op = Op::Less; });
  check_rejected("a predicate that is not bool", [](Kernel& k) { k.exprs[3].predicate = 0; });
  check_rejected("a predicate on an elementwise op", [](Kernel& k) { k.exprs[4].predicate = 2; });
  check_rejected("an index that is not an integer", [](Kernel& k) { k.exprs[3].args[0] = 0; });
  check_rejected("a LoadAt without fault", [](Kernel& k) { k.faults = 0; });
  check_rejected("an index that is not i64", [](Kernel& k) { k.exprs[9].kind = ir::ExprKind::Index; });
  check_rejected("no bounds", [](Kernel& k) { k.exprs[2].bounds.clear(); });
  check_rejected("a bound with step 0", [](Kernel& k) { k.exprs[2].bounds[0].step = ir::IntRef::zero(); });
  check_rejected("bounds that are not bool", [](Kernel& k) { k.exprs[2].dtype = DType::i64; });
  check_rejected("random numbers of another dtype", [](Kernel& k) { k.exprs[9].dtype = DType::f64; });
  check_rejected("a reduction by another op", [](Kernel& k) { k.exprs[5].op = Op::Add; });
  check_rejected("a reduction to another dtype", [](Kernel& k) { k.exprs[5].dtype = DType::f64; });
  check_rejected("an inner load said to be outer", [](Kernel& k) { k.exprs[0].level = ir::Level::Outer; });
  check_rejected("an outer load said to be inner", [](Kernel& k) { k.exprs[1].level = ir::Level::Inner; });
  check_rejected("an inner op said to be outer", [](Kernel& k) { k.exprs[6].level = ir::Level::Outer; });
  check_rejected("an inner reduction", [](Kernel& k) { k.exprs[5].level = ir::Level::Inner; });
  check_rejected("a reduction in its operand's phase", [](Kernel& k) { k.exprs[5].phase = 0; });
  check_rejected("a use before the reduction is done", [](Kernel& k) { k.exprs[6].phase = 0; });
  check_rejected("a phase later than needed", [](Kernel& k) { k.exprs[9].phase = 1; });
  check_rejected("too few phases", [](Kernel& k) { k.phases = 1; });
  check_rejected("too many phases", [](Kernel& k) { k.phases = 3; });
  check_rejected("a store of no value", [](Kernel& k) { k.stores[0].value = 99; });
  check_rejected("a store to no buffer", [](Kernel& k) { k.stores[0].buffer = 9; });
  check_rejected("a store through no map", [](Kernel& k) { k.stores[0].map = 9; });
  check_rejected("a store of another dtype", [](Kernel& k) { k.buffers[3].dtype = DType::i32; });
  check_rejected("a store to what is not written", [](Kernel& k) { k.buffers[3].written = false; });
  check_rejected("a store of another level than its map",
                 [](Kernel& k) { k.stores[0].level = ir::Level::Outer; });
  check_rejected("an outer store of an inner value", [](Kernel& k) { k.stores[1].value = 10; });
  check_rejected("a store before its value", [](Kernel& k) { k.stores[1].phase = 0; });
  check_rejected("two stores to a buffer", [](Kernel& k) { k.stores.push_back(k.stores[1]); });
  check_rejected("marked read, never loaded from", [](Kernel& k) { k.buffers[3].read = true; });
  check_rejected("marked written, never stored to", [](Kernel& k) { k.buffers[2].written = true; });
  check_rejected("in place through another map", [](Kernel& k) { k.exprs[0].map = 2; });
  check_rejected("in place, read by an index", [](Kernel& k) {
    k.exprs[3].buffer = 0;
    k.buffers[2] = {DType::f32, false, false};
  });
  check_rejected("in place, read after it was written", [](Kernel& k) {
    k.stores[0].value = 9;
    k.stores[0].phase = 0;
    k.buffers.push_back({DType::f32, false, true});
    k.stores.push_back({4, 0, 10, ir::Level::Inner, 1});
  });
}

TEST_CASE("reductions need inner dims, and fault a LoadAt") {
  KernelBuilder k({4});
  k.store(k.output(DType::f32, 4), k.all(),
          k.load(k.input(DType::f32, std::vector<double>(4, 1.0)), k.all()));
  Kernel kernel = k.finish("copy").kernel;
  kernel.faults = 1;
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
  kernel.faults = 0;
  CHECK_NOTHROW(ir::verify(kernel));
  ir::Expr sum;
  sum.kind = ir::ExprKind::Reduce;
  sum.op = Op::Sum;
  sum.phase = 1;
  sum.args[0] = 0;
  kernel.exprs.push_back(sum);
  kernel.phases = 2;
  CHECK_THROWS_AS(ir::verify(kernel), std::logic_error);
}

TEST_CASE("dtype rules of the op table") {
  const auto gives = [](Op op, DType a, DType b, DType c, DType result) {
    KernelBuilder k({1});
    ExprId args[3] = {ir::kNone, ir::kNone, ir::kNone};
    const DType dtypes[3] = {a, b, c};
    for (std::size_t i = 0; i < info(op).arity; ++i) args[i] = k.scalar(dtypes[i], 1);
    k.store(k.output(DType::f32, 1), k.all(), k.scalar(DType::f32, 0));
    Kernel kernel = k.finish("op").kernel;
    ir::Expr e;
    e.op = op;
    e.dtype = result;
    std::copy(args, args + 3, e.args);
    kernel.exprs.push_back(e);
    try {
      ir::verify(kernel);
    } catch (const std::logic_error&) {
      return false;
    }
    return true;
  };
  using enum DType;
  CHECK(gives(Op::Add, i32, i32, f32, i32));
  CHECK_FALSE(gives(Op::Add, boolean, boolean, f32, boolean));
  CHECK_FALSE(gives(Op::Add, u8, u8, f32, u8));
  CHECK(gives(Op::Exp, f64, f64, f64, f64));
  CHECK_FALSE(gives(Op::Exp, i32, f32, f32, i32));
  CHECK(gives(Op::Less, boolean, boolean, f32, boolean));
  CHECK_FALSE(gives(Op::Less, f32, f32, f32, f32));
  CHECK_FALSE(gives(Op::Less, f32, f64, f32, boolean));
  CHECK(gives(Op::Xor, boolean, boolean, f32, boolean));
  CHECK(gives(Op::Not, i64, f32, f32, i64));
  CHECK_FALSE(gives(Op::Not, f32, f32, f32, f32));
  CHECK(gives(Op::IsNan, f32, f32, f32, boolean));
  CHECK_FALSE(gives(Op::IsNan, i32, f32, f32, boolean));
  CHECK(gives(Op::Where, boolean, i64, i64, i64));
  CHECK_FALSE(gives(Op::Where, i32, f32, f32, f32));
  CHECK_FALSE(gives(Op::Where, boolean, f32, f64, f32));
  CHECK(gives(Op::Where, boolean, i8, i8, i8));
  CHECK(gives(Op::Cast, u8, f32, f32, i32));
  CHECK(gives(Op::Cast, i64, f32, f32, u64));
  CHECK_FALSE(gives(Op::Cast, u8, f32, f32, f32));
  CHECK_FALSE(gives(Op::Cast, boolean, f32, f32, u8));
}

}  // namespace sinter::testing
