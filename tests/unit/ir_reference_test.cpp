// The oracle of the device tests, checked against values computed by hand, and the random kernels it runs.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {
namespace {

using ir::ExprId;
using List = std::vector<double>;

// The elements of buffer `index` after the kernel ran.
List run(const KernelCase& c, std::size_t index, const Precision& precision = {}) {
  return to_doubles(c.kernel.buffers[index].dtype, evaluate(c.kernel, c.bindings, precision).buffers[index]);
}

Value real(double v, double error = 0) { return {DType::f32, v, 0, error}; }
Value integer(std::int64_t v, DType dtype = DType::i32) { return {dtype, 0, v, 0}; }

double of(Op op, double a, double b = 0) {
  const Value args[] = {real(a), real(b)};
  return apply(op, DType::f32, std::span(args, info(op).arity), {}).real;
}
std::int64_t of_integers(Op op, std::int64_t a, std::int64_t b = 0, DType dtype = DType::i32) {
  const Value args[] = {integer(a, dtype), integer(b, dtype)};
  return apply(op, dtype, std::span(args, info(op).arity), {}).integer;
}
std::int64_t cast_to(DType dtype, const Value& v) {
  return apply(Op::Cast, dtype, std::span(&v, 1), {}).integer;
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("elementwise values computed by hand") {
  CHECK(of(Op::Round, 2.5) == 2);
  CHECK(of(Op::Round, 3.5) == 4);
  CHECK(of(Op::Round, -0.5) == 0);
  CHECK(of(Op::Trunc, -1.5) == -1);
  CHECK(of(Op::Remainder, -7, 3) == 2);
  CHECK(of(Op::Remainder, 7, -3) == -2);
  CHECK(of(Op::Remainder, -1, kInf) == kInf);
  CHECK(std::isnan(of(Op::Sign, kNan)));
  CHECK(of(Op::Sign, -0.0) == 0);
  CHECK(std::isnan(of(Op::Maximum, kNan, 1)));
  CHECK(std::isnan(of(Op::Minimum, 1, kNan)));
  CHECK(of(Op::Pow, kNan, 0) == 1);
  CHECK(of(Op::Add, 16777216, 1) == 16777216);
  CHECK(of(Op::Mul, 1e30, 1e30) == kInf);
  CHECK(of_integers(Op::Div, -7, 2) == -3);
  CHECK(of_integers(Op::Div, 7, 0) == 0);
  CHECK(of_integers(Op::Div, INT32_MIN, -1) == INT32_MIN);
  CHECK(of_integers(Op::Div, INT64_MIN, -1, DType::i64) == INT64_MIN);
  CHECK(of_integers(Op::Remainder, -7, 3) == 2);
  CHECK(of_integers(Op::Remainder, 7, -3) == -2);
  CHECK(of_integers(Op::Remainder, 7, 0) == 0);
  CHECK(of_integers(Op::Remainder, INT64_MIN, -1, DType::i64) == 0);
  CHECK(of_integers(Op::Add, INT32_MAX, 1) == INT32_MIN);
  CHECK(of_integers(Op::Mul, 65536, 65536) == 0);
  CHECK(of_integers(Op::Abs, INT32_MIN) == INT32_MIN);
  CHECK(of_integers(Op::Not, 5) == -6);
  CHECK(of_integers(Op::Not, 1, 0, DType::boolean) == 0);
  CHECK(of_integers(Op::Add, 127, 1, DType::i8) == -128);
  CHECK(of_integers(Op::Div, -1, 2, DType::u64) == INT64_MAX);
  CHECK(of_integers(Op::Maximum, -1, 2, DType::u64) == -1);
  CHECK(of_integers(Op::ShiftRight, -1, 63, DType::u64) == 1);
}

TEST_CASE("casts computed by hand") {
  CHECK(cast_to(DType::i32, real(-1.9)) == -1);
  CHECK(cast_to(DType::i32, real(3e9)) == INT32_MAX);
  CHECK(cast_to(DType::i64, real(-1e30)) == INT64_MIN);
  CHECK(cast_to(DType::i64, real(kNan)) == 0);
  CHECK(cast_to(DType::u8, real(300)) == 255);
  CHECK(cast_to(DType::u8, real(-3)) == 0);
  CHECK(cast_to(DType::u8, integer(257)) == 1);
  CHECK(cast_to(DType::i8, integer(200)) == -56);
  CHECK(cast_to(DType::u16, real(-1)) == 0);
  CHECK(cast_to(DType::u32, real(5e9)) == 4294967295);
  CHECK(cast_to(DType::u64, real(1e30)) == -1);
  CHECK(cast_to(DType::u64, real(-3)) == 0);
  CHECK(cast_to(DType::i32, integer(4294967297, DType::i64)) == 1);
  CHECK(cast_to(DType::boolean, real(kNan)) == 1);
  CHECK(cast_to(DType::boolean, real(0.25)) == 1);
  CHECK(cast_to(DType::boolean, real(-0.0)) == 0);
}

TEST_CASE("bounds of error") {
  const auto bound = [](Op op, const Value& a, const Value& b) {
    const Value args[] = {a, b};
    return apply(op, info(op).rule == DTypeRule::Compare ? DType::boolean : DType::f32,
                 std::span(args, info(op).arity), {})
        .error;
  };
  CHECK(bound(Op::Mul, real(3), real(5)) == 0);
  CHECK(bound(Op::Mul, real(3, 0.5), real(5)) == doctest::Approx(2.5));
  CHECK(bound(Op::Exp, real(0), real(0)) > 0);
  CHECK(bound(Op::Exp, real(0), real(0)) < 2e-6);
  CHECK(bound(Op::Floor, real(2.999, 0.01), real(0)) >= 1);
  CHECK(bound(Op::Less, real(1, 0.1), real(2, 0.1)) == 0);
  CHECK(bound(Op::Less, real(1, 0.1), real(1.1, 0.1)) == kInf);
  CHECK(bound(Op::Recip, real(0.1, 0.2), real(0)) == kInf);
}

TEST_CASE("maps: permuted, backwards and in two steps") {
  KernelBuilder k({2, 3});
  const auto x = k.input(DType::f32, {0, 1, 2, 3, 4, 5});
  k.store(k.output(DType::f32, 6), k.all(), k.load(x, k.map({1, 2})));
  k.store(k.output(DType::f32, 6), k.all(), k.load(x, k.map({-3, -1}, 5)));
  k.store(k.output(DType::f32, 6), k.all(), k.load(x, k.map({3, 1}, 0, {{{3, 2}, {1, 3}, 0}})));
  const KernelCase c = k.finish("maps");
  CHECK(run(c, 1) == List{0, 2, 4, 1, 3, 5});
  CHECK(run(c, 2) == List{5, 4, 3, 2, 1, 0});
  CHECK(run(c, 3) == List{0, 3, 1, 4, 2, 5});
}

TEST_CASE("padding with steps") {
  KernelBuilder k({6});
  const ExprId inside = k.in_bounds(k.all(), {{6, 1, 2, 2}});
  k.store(k.output(DType::i64, 6), k.all(), k.cast(DType::i64, inside));
  const auto x = k.input(DType::f32, {1, 2, 3, 4, 5, 6});
  k.store(k.output(DType::f32, 6), k.all(), k.load(x, k.all(), inside));
  const KernelCase c = k.finish("padding");
  CHECK(run(c, 0) == List{0, 1, 0, 1, 0, 0});
  CHECK(run(c, 2) == List{0, 2, 0, 4, 0, 0});
}

TEST_CASE("phases: a softmax of two rows, in place") {
  KernelBuilder k({2}, {2});
  const auto buffer = k.input(DType::f32, {0, 0, 1, std::log(3.0) + 1});
  const ExprId x = k.load(buffer, k.all());
  const ExprId e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
  k.store(buffer, 0, k.op(Op::Div, e, k.reduce(Op::Sum, e)));
  const KernelCase c = k.finish("softmax");
  CHECK(c.kernel.phases == 3);
  const List y = run(c, 0);
  CHECK(y[0] == 0.5);
  CHECK(y[2] == doctest::Approx(0.25));
  CHECK(y[3] == doctest::Approx(0.75));
}

TEST_CASE("reductions of nothing give the identity") {
  KernelBuilder k({1}, {0});
  const ExprId x = k.load(k.input(DType::f32, List{}), k.all());
  const ExprId b = k.load(k.input(DType::boolean, List{}), k.all());
  for (const Op op : {Op::Sum, Op::Prod, Op::Max, Op::Min})
    k.store(k.output(DType::f32, 1), k.outer(), k.reduce(op, x));
  for (const Op op : {Op::Max, Op::Min}) k.store(k.output(DType::boolean, 1), k.outer(), k.reduce(op, b));
  const KernelCase c = k.finish("empty");
  CHECK(run(c, 2) == List{0});
  CHECK(run(c, 3) == List{1});
  CHECK(run(c, 4) == List{-kInf});
  CHECK(run(c, 5) == List{kInf});
  CHECK(run(c, 6) == List{0});
  CHECK(run(c, 7) == List{1});
}

TEST_CASE("gather, and an index out of range") {
  const auto gather = [](std::int64_t last) {
    KernelBuilder k({3});
    const ExprId at = k.load(k.input(DType::i32, std::vector<std::int64_t>{1, 0, last}), k.all());
    const ExprId x = k.load_at(k.input(DType::f32, {5, 6, 7, 8}), k.map({0}), at, 2, 2);
    k.store(k.output(DType::f32, 3), k.all(), x);
    return k.finish("gather");
  };
  CHECK(run(gather(1), 2) == List{7, 5, 7});
  using Words = std::vector<std::uint32_t>;
  CHECK(evaluate(gather(1).kernel, gather(1).bindings).faults == Words{0});
  CHECK(run(gather(2), 2) == List{7, 5, 0});
  CHECK(evaluate(gather(2).kernel, gather(2).bindings).faults == Words{1});
  CHECK(evaluate(gather(-1).kernel, gather(-1).bindings).faults == Words{1});
}

TEST_CASE("f32 rounding after each op, or at the end") {
  KernelBuilder k({1});
  const ExprId big = k.scalar(DType::f32, 16777216), one = k.scalar(DType::f32, 1);
  k.store(k.output(DType::f32, 1), k.all(), k.op(Op::Sub, k.op(Op::Add, big, one), big));
  const KernelCase c = k.finish("rounding");
  CHECK(run(c, 0) == List{0});
  CHECK(run(c, 0, {.round_f32 = false}) == List{1});
}

TEST_CASE("Philox gives the words of its authors' test vectors") {
  // Salmon et al., Random123, kat_vectors: philox4x32 with 10 rounds.
  const auto equal = [](const PhiloxWords& w, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        std::uint32_t d) {
    return w.word[0] == a && w.word[1] == b && w.word[2] == c && w.word[3] == d;
  };
  CHECK(equal(philox({{0, 0, 0, 0}}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  CHECK(equal(philox({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  CHECK(equal(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0), 0xd16cfe09,
              0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST_CASE("random numbers have the right mean and spread") {
  for (const bool normal : {false, true}) {
    KernelBuilder k({20000});
    k.store(k.output(DType::f32, 20000), k.all(), k.random(k.all(), 1, 2, normal));
    const List x = run(k.finish("random"), 0);
    double sum = 0, squares = 0;
    for (const double v : x) sum += v, squares += v * v;
    const double mean = sum / 20000, variance = squares / 20000 - mean * mean;
    CHECK(mean == doctest::Approx(normal ? 0 : 0.5).epsilon(0.02));
    CHECK(variance == doctest::Approx(normal ? 1.0 : 1.0 / 12).epsilon(0.03));
    for (const double v : x) REQUIRE((normal || (v >= 0 && v < 1)));
  }
}

TEST_CASE("a matrix product by hand") {
  // [1 2; 3 4] * [5 6; 7 8], the second one transposed in memory.
  library::MatMulOp op;
  op.m = op.n = op.k = 2;
  op.a_row = op.b_column = 2;
  op.a_column = op.b_row = 1;
  const double a[] = {1, 2, 3, 4}, b[] = {5, 7, 6, 8};
  CHECK(reference_matmul(op, a, b).values == List{19, 22, 43, 50});
  op.k = 0;
  CHECK(reference_matmul(op, a, b).values == List{0, 0, 0, 0});
}

TEST_CASE("a convolution and its gradients by hand") {
  library::Conv2dOp op;
  op.n = op.c_in = op.c_out = 1;
  op.h = op.w = 3;
  op.kh = op.kw = op.oh = op.ow = 2;
  const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, weight[] = {1, 0, 0, -1}, grad[] = {1, 2, 3, 4};
  CHECK(reference_conv2d(op, x, weight).values == List{-4, -4, -4, -4});
  op.direction = library::Conv2dOp::Direction::BackwardInput;
  CHECK(reference_conv2d(op, grad, weight).values == List{1, 2, 0, 3, 3, -2, 0, -3, -4});
  op.direction = library::Conv2dOp::Direction::BackwardWeight;
  CHECK(reference_conv2d(op, x, grad).values == List{37, 47, 67, 77});

  // Two groups of one channel each, with stride 2 and padding 1: only products inside of the image count.
  library::Conv2dOp grouped;
  grouped.n = 1;
  grouped.c_in = grouped.h = grouped.w = 2;
  grouped.c_out = grouped.kh = grouped.kw = grouped.oh = grouped.ow = 2;
  grouped.stride = {2, 2};
  grouped.padding = {1, 1};
  grouped.groups = 2;
  const double two[] = {1, 2, 3, 4, 10, 20, 30, 40}, kernels[] = {1, 2, 3, 4, 1, 1, 1, 1};
  CHECK(reference_conv2d(grouped, two, kernels).values == List{4, 6, 6, 4, 10, 20, 30, 40});
}

TEST_CASE("differences are found and told") {
  const auto bytes = [](const List& v) { return to_bytes(DType::f32, v); };
  const List errors = {0.1, 0.1};
  CHECK(difference(DType::f32, bytes({1, 2}), bytes({1.05, 2}), errors).empty());
  CHECK(difference(DType::f32, bytes({1, 2}), bytes({1, 2.2}), errors).find("element 1") == 0);
  CHECK(difference(DType::f32, bytes({kNan, 2}), bytes({kNan, 2}), {}).empty());
  CHECK_FALSE(difference(DType::f32, bytes({kNan, 2}), bytes({1, 2}), errors).empty());
  CHECK_FALSE(
      difference(DType::i32, to_bytes(DType::i32, List{3}), to_bytes(DType::i32, List{4}), {}).empty());
  const std::byte two{2}, one{1};
  CHECK_FALSE(difference(DType::boolean, std::span(&two, 1), std::span(&one, 1), {}).empty());
}

TEST_CASE("random kernels are valid, varied, and mostly certain") {
  std::size_t values = 0, uncertain = 0, reduced = 0, in_place = 0, gathers = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const KernelCase c = random_kernel(seed);
    CHECK(ir::to_string(c.kernel) == ir::to_string(random_kernel(seed).kernel));
    const ReferenceResult result = evaluate(c.kernel, c.bindings);
    for (const auto& errors : result.errors)
      for (const double e : errors) ++values, uncertain += e == kInf;
    reduced += c.kernel.phases > 1;
    gathers += c.kernel.faults > 0;
    for (const ir::BufferInfo& b : c.kernel.buffers) in_place += b.read && b.written;
  }
  CHECK(uncertain < values / 20);
  CHECK(reduced > 40);
  CHECK(in_place > 20);
  CHECK(gathers > 10);
}

}  // namespace sinter::testing
