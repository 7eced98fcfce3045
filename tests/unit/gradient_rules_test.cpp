// Gradients of every differentiable op, and the gradients of those, against central differences in f64 on the
// host.
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <sinter/functions/activation.h>
#include <sinter/functions/scan.h>

#include "src/autodiff/rule.h"
#include "src/tensor/apply.h"
#include "src/trace/op.h"
#include "tests/support/differences.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Case {
  Op op;
  std::string what;
  Inputs inputs;
  TensorFunction f;
};

using V = const std::vector<A>&;
const std::int64_t kConv[] = {2, 1, 1, 0, 1, 2, 1};  // stride, padding, dilation, groups
// Of planes, lines and columns.
const std::int64_t kConvOfPlanes[] = {2, 1, 1, 1, 0, 0, 1, 1, 1, 1};

std::vector<Case> cases() {
  const Shape s{2, 3};
  const Inputs one{numbers(s)}, two{numbers(s), numbers(s, 0.8, 0.05)}, above{positive(s)};
  return {
      {Op::Neg, "neg", one, [](V x) { return x[0].neg(); }},
      {Op::Abs, "abs", one, [](V x) { return x[0].abs(); }},
      {Op::Exp, "exp", one, [](V x) { return x[0].exp(); }},
      {Op::Log, "log", above, [](V x) { return x[0].log(); }},
      {Op::Log1p, "log1p", above, [](V x) { return x[0].log1p(); }},
      {Op::Expm1, "expm1", one, [](V x) { return x[0].expm1(); }},
      {Op::Sqrt, "sqrt", above, [](V x) { return x[0].sqrt(); }},
      {Op::Rsqrt, "rsqrt", above, [](V x) { return x[0].rsqrt(); }},
      {Op::Recip, "recip", one, [](V x) { return x[0].recip(); }},
      {Op::Sin, "sin", one, [](V x) { return x[0].sin(); }},
      {Op::Cos, "cos", one, [](V x) { return x[0].cos(); }},
      {Op::Tan, "tan", {numbers(s, 0.5)}, [](V x) { return x[0].tan(); }},
      {Op::Asin, "asin", {numbers(s, 0.5)}, [](V x) { return x[0].asin(); }},
      {Op::Acos, "acos", {numbers(s, 0.5)}, [](V x) { return x[0].acos(); }},
      {Op::Atan, "atan", one, [](V x) { return x[0].atan(); }},
      {Op::Sinh, "sinh", one, [](V x) { return x[0].sinh(); }},
      {Op::Cosh, "cosh", one, [](V x) { return x[0].cosh(); }},
      {Op::Asinh, "asinh", one, [](V x) { return x[0].asinh(); }},
      {Op::Acosh, "acosh", {numbers(s, 0.5, 3)}, [](V x) { return x[0].acosh(); }},
      {Op::Atanh, "atanh", {numbers(s, 0.5)}, [](V x) { return x[0].atanh(); }},
      {Op::Atan2, "atan2", two, [](V x) { return A::atan2(x[0], x[1]); }},
      {Op::Atan2, "atan2 with a scalar", one,
       [](V x) { return A::add(A::atan2(x[0], -0.5), A::atan2(0.3, x[0])); }},
      {Op::Pow, "exp2", one, [](V x) { return x[0].exp2(); }},
      {Op::Log, "log2, log10", above, [](V x) { return A::add(x[0].log2(), x[0].log10()); }},
      {Op::Sqrt, "hypot", two, [](V x) { return A::hypot(x[0], x[1]); }},
      {Op::Sqrt,
       "hypot with 0",
       {{s, {0, 1, -2, 3, 0.5, 4}}},
       [](V x) { return A::add(A::hypot(x[0], 0.5), A::hypot(2, x[0])); }},
      {Op::Remainder,
       "fmod",
       {numbers(s, 5), numbers(s, 0.8, 0.05)},
       [](V x) { return A::fmod(x[0], x[1]); }},
      {Op::Floor, "floor", one, [](V x) { return A::mul(x[0].floor(), x[0]); }},
      {Op::Ceil, "ceil", one, [](V x) { return A::mul(x[0].ceil(), x[0]); }},
      {Op::Round, "round", one, [](V x) { return A::mul(x[0].round(), x[0]); }},
      {Op::Trunc, "trunc", one, [](V x) { return A::mul(x[0].trunc(), x[0]); }},
      {Op::Sign, "sign", one, [](V x) { return A::mul(x[0].sign(), x[0].square()); }},
      {Op::Floor, "floor alone", one, [](V x) { return x[0].floor(); }},
      {Op::Tanh, "tanh", one, [](V x) { return x[0].tanh(); }},
      {Op::Sigmoid, "sigmoid", one, [](V x) { return x[0].sigmoid(); }},
      {Op::Erf, "erf", one, [](V x) { return x[0].erf(); }},
      {Op::Ndtr, "ndtr", one, [](V x) { return x[0].ndtr(); }},
      {Op::Add, "add", two, [](V x) { return A::add(x[0], x[1]); }},
      {Op::Add,
       "add, broadcast",
       {numbers({3, 1}), numbers({2, 1, 4})},
       [](V x) { return A::add(x[0], x[1]); }},
      {Op::Add, "add, scalar", one, [](V x) { return A::add(2, x[0]); }},
      {Op::Sub, "sub", two, [](V x) { return A::sub(x[0], x[1]); }},
      {Op::Sub, "sub from scalar", one, [](V x) { return A::sub(2, x[0]); }},
      {Op::Mul, "mul", two, [](V x) { return A::mul(x[0], x[1]); }},
      {Op::Mul, "mul, broadcast", {numbers({2, 3}), numbers({3})}, [](V x) { return A::mul(x[0], x[1]); }},
      {Op::Mul, "mul, scalar", one, [](V x) { return A::mul(x[0], 3); }},
      {Op::Mul, "square", one, [](V x) { return x[0].square(); }},
      {Op::Div, "div", two, [](V x) { return A::div(x[0], x[1]); }},
      {Op::Div, "div of scalar", one, [](V x) { return A::div(2, x[0]); }},
      {Op::Div, "div by scalar", one, [](V x) { return A::div(x[0], 4); }},
      {Op::Remainder,
       "remainder",
       {numbers(s, 5), positive(s)},
       [](V x) { return A::remainder(x[0], x[1]); }},
      {Op::Remainder, "remainder of scalar", above, [](V x) { return A::remainder(5.1, x[0]); }},
      {Op::Pow, "pow", {positive(s), numbers(s)}, [](V x) { return A::pow(x[0], x[1]); }},
      {Op::Pow, "pow of negative numbers", one, [](V x) { return A::pow(x[0], 3); }},
      {Op::Pow, "pow with exponent 0", one, [](V x) { return A::pow(x[0], 0); }},
      {Op::Pow, "pow of scalar", one, [](V x) { return A::pow(2.5, x[0]); }},
      {Op::Pow, "pow of 0", above, [](V x) { return A::pow(0, x[0]); }},
      {Op::Maximum, "maximum", two, [](V x) { return A::maximum(x[0], x[1]); }},
      {Op::Maximum, "maximum, scalar", one, [](V x) { return A::maximum(0.1, x[0]); }},
      {Op::Minimum, "minimum", two, [](V x) { return A::minimum(x[0], x[1]); }},
      {Op::Minimum, "minimum, scalar", one, [](V x) { return A::minimum(x[0], 0.1); }},
      {Op::Where, "where", two, [](V x) { return A::where(A::less(x[0], 0.4), x[0], x[1]); }},
      {Op::Where, "where, scalars", one,
       [](V x) {
         return A::add(A::where(A::less(x[0], 0), x[0], 1), A::where(A::less(x[0], 0.7), 2, x[0]));
       }},
      {Op::Where,
       "where, broadcast",
       {numbers({3}), numbers({2, 1})},
       [](V x) { return A::where(A::less(x[0], 0), x[0], x[1]); }},
      {Op::Cast,
       "cast",
       {{{3}, {0.5, -1.25, 2}}},
       [](V x) { return x[0].cast(DType::f32).cast(DType::f64); }},

      {Op::Reshape, "reshape", one,
       [](V x) {
         return x[0].reshape({3, 2}).square();
       }},
      {Op::Permute,
       "permute",
       {numbers({2, 3, 4})},
       [](V x) {
         return x[0].permute({2, 0, 1}).exp();
       }},
      {Op::Expand,
       "expand",
       {numbers({2, 1})},
       [](V x) {
         return x[0].expand({3, 2, 4}).sin();
       }},
      {Op::Slice,
       "slice",
       {numbers({4, 5})},
       [](V x) {
         const Range ranges[] = {{1, std::nullopt, 2}, {std::nullopt, 0, -2}};
         return x[0].slice(ranges).square();
       }},
      {Op::Slice,
       "flip",
       {numbers({2, 3})},
       [](V x) {
         return x[0].flip({0, 1}).square();
       }},
      {Op::Slice,
       "slice of nothing",
       {numbers({2, 3})},
       [](V x) { return A::add(x[0].narrow(0, 1, 0).sum(0), x[0]); }},
      {Op::Windows,
       "windows that overlap",
       {numbers({7, 2})},
       [](V x) { return x[0].windows(0, 3, 2).square(); }},
      {Op::Windows,
       "windows side by side",
       {numbers({2, 7})},
       [](V x) { return x[0].windows(1, 2, 2).square(); }},
      {Op::Windows,
       "windows with gaps",
       {numbers({2, 8})},
       [](V x) { return x[0].windows(1, 2, 3).square(); }},
      {Op::Pad,
       "pad",
       {numbers({2, 3})},
       [](V x) {
         return x[0].pad({1, 0}, {0, 2}, 0.5).square();
       }},
      {Op::Pad,
       "place",
       {numbers({2, 3})},
       [](V x) {
         return x[0].place(Shape{3, 6}, {0, 5}, {2, -2}, 1).square();
       }},
      {Op::SliceAssign,
       "slice_assign",
       {numbers({4, 3}), numbers({2, 3})},
       [](V x) {
         const Range ranges[] = {{3, {}, -2}};
         return x[0].slice_assign(ranges, x[1]).square();
       }},
      {Op::SliceAssign,
       "slice_assign of a constant, broadcast, over itself",
       {numbers({4, 3})},
       [](V x) {
         const Range rows[] = {{1, 3, 1}}, column[] = {{}, {1, 2, 1}}, some[] = {{0, 3, 2}, {0, 1, 1}};
         return x[0]
             .slice_assign(rows, x[0].narrow(0, 0, 1))
             .slice_assign(column, x[0].sum({0, 1}))
             .slice_fill(some, 2)
             .square();
       }},
      {Op::SliceAssign,
       "slice_assign into a constant",
       {numbers({2, 3})},
       [](V x) {
         const Range ranges[] = {{1, 5, 2}};
         return constant(numbers({6, 3})).slice_assign(ranges, x[0]).square();
       }},
      {Op::SliceAssign,
       "cat",
       {numbers({2, 3}), numbers({2, 1}), numbers({2, 2})},
       [](V x) {
         const A pieces[] = {x[0], x[1].exp(), x[2], x[0].narrow(1, 1, 2)};
         return A::cat(pieces, 1).square();
       }},
      {Op::SliceAssign,
       "stack, repeat, roll",
       {numbers({2, 3}), numbers({2, 3}, 0.5)},
       [](V x) {
         const A pieces[] = {x[0].repeat({1, 2}).narrow(1, 1, 3), x[1].roll(2, 1), x[0]};
         return A::stack(pieces, 1).square();
       }},
      {Op::SliceAssign,
       "cat of many",
       {numbers({1, 40})},
       [](V x) { return A::cat(x[0].split(1, 1), 0).square(); }},

      {Op::Sum,
       "sum",
       {numbers({2, 3, 2})},
       [](V x) {
         return x[0].sum({0, 2}).square();
       }},
      {Op::Sum, "mean", {numbers({2, 3})}, [](V x) { return x[0].mean(1).square(); }},
      {Op::Prod, "prod", {numbers({2, 3})}, [](V x) { return x[0].prod(1); }},
      {Op::Prod,
       "prod of rows with one zero, with two",
       {{{3, 3}, {0, 2, 3, 0, 5, 0, 1, 2, 3}}},
       [](V x) { return x[0].prod(1); }},
      {Op::Max, "max", {numbers({3, 4})}, [](V x) { return x[0].max(1).square(); }},
      {Op::Min,
       "min",
       {numbers({3, 4})},
       [](V x) {
         return x[0].min({0, 1}).square();
       }},

      {Op::Gather,
       "gather with repeated indices",
       {numbers({3, 4})},
       [](V x) {
         return x[0].gather(1, long_index({3, 3, 0, 1, 1, 1}, {2, 3})).square();
       }},
      {Op::Gather,
       "gather with i32",
       {numbers({3, 4})},
       [](V x) {
         return x[0].gather(0, long_index({2, 0, 2, 2}, {1, 4}).cast(DType::i32)).square();
       }},
      {Op::Gather,
       "gather, rank 8, last axis",
       {numbers({1, 2, 1, 1, 1, 1, 2, 3})},
       [](V x) {
         return x[0].gather(7, long_index({2, 2, 0, 1}, {1, 1, 1, 1, 1, 1, 2, 2})).square();
       }},
      {Op::Gather,
       "gather, rank 8, first axis",
       {numbers({3, 1, 1, 1, 1, 1, 2, 2})},
       [](V x) {
         return x[0].gather(0, long_index({2, 0, 2, 1}, {2, 1, 1, 1, 1, 1, 2, 1})).square();
       }},
      {Op::Gather,
       "index_select",
       {numbers({3, 2})},
       [](V x) {
         return x[0].index_select(0, long_index({2, 0, 2, 2}, {4})).square();
       }},

      {Op::Gather,
       "index_select of many rows",
       {numbers({6, 2})},
       [](V x) {
         return x[0].index_select(0, long_index({2, 0, 5, 2, 2, 4, 0}, {7})).square();
       }},
      {Op::Gather,
       "index_select of few of many columns",
       {numbers({2, 9})},
       [](V x) {
         return x[0].index_select(1, long_index({2, 0, 5, 2, 8}, {5})).square();
       }},
      {Op::Gather,
       "gather of many, narrower than the table",
       {numbers({7, 3, 2})},
       [](V x) {
         return x[0].gather(0, long_index({3, 3, 0, 1, 1, 1, 6, 3, 3, 0}, {5, 2, 1})).square();
       }},
      {Op::SegmentSum,
       "index_add",
       {numbers({3, 2}), numbers({3, 5})},
       [](V x) {
         return x[0].index_add(1, long_index({1, 0, 1, 1, 0}, {5}), x[1]).square();
       }},
      {Op::SegmentSum,
       "index_add to more rows",
       {numbers({9, 2}), numbers({3, 2})},
       [](V x) {
         return x[0].index_add(0, long_index({7, 2, 7}, {3}), x[1]).square();
       }},
      {Op::SegmentSum,
       "index_add of nothing",
       {numbers({3, 2}), {{0, 2}, {}}},
       [](V x) { return x[0].index_add(0, long_index({}, {0}), x[1]).square(); }},
      {Op::SegmentSum,
       "scatter_add of a part of the source",
       {numbers({4, 3}), numbers({3, 6})},
       [](V x) {
         return x[0].scatter_add(1, long_index({1, 0, 1, 1, 0, 2, 2, 2, 2, 0}, {2, 5}), x[1]).square();
       }},

      {Op::CumSum, "cumsum", {numbers({2, 4, 3})}, [](V x) { return cumsum(x[0], 1).square(); }},
      {Op::CumSum,
       "cumsum, reversed and exclusive",
       {numbers({3, 4})},
       [](V x) { return cumsum(x[0], 0, {.reverse = true, .exclusive = true}).square(); }},
      {Op::CumProd, "cumprod", {numbers({2, 5})}, [](V x) { return cumprod(x[0], 1); }},
      {Op::CumProd,
       "cumprod with zeros",
       {{{2, 3}, {2, 0, 3, 0, 1.5, 0}}},
       [](V x) { return cumprod(x[0], 1, {.reverse = true}); }},
      {Op::LogCumSumExp,
       "logcumsumexp",
       {numbers({3, 4})},
       [](V x) { return logcumsumexp(x[0], 0).square(); }},

      {Op::MatMul, "matmul", {numbers({2, 3}), numbers({3, 4})}, [](V x) { return x[0].matmul(x[1]); }},
      {Op::MatMul,
       "matmul, batches broadcast",
       {numbers({2, 1, 2, 3}), numbers({3, 3, 2})},
       [](V x) { return x[0].matmul(x[1]); }},
      {Op::MatMul,
       "matmul, many rows",
       {numbers({2, 2, 3}), numbers({3, 2})},
       [](V x) { return x[0].matmul(x[1]); }},
      {Op::MatMul,
       "matmul of transposed",
       {numbers({3, 2}), numbers({4, 3})},
       [](V x) { return x[0].transpose(0, 1).matmul(x[1].transpose(0, 1)); }},
      {Op::Conv2d,
       "conv2d",
       {numbers({2, 4, 4, 5}), numbers({4, 2, 3, 2})},
       [](V x) {
         return x[0].conv2d(x[1], {.stride = {1, 2}, .padding = {1, 1}, .dilation = {1, 2}, .groups = 2});
       }},
      {Op::Conv2dBackwardInput,
       "gradient of conv2d's input",
       {numbers({1, 2, 2, 4}), numbers({2, 2, 2, 2})},
       [](V x) {
         return tensor::convolve(Op::Conv2dBackwardInput, x[0], x[1], kConv, {1, 2, 3, 6},
                                 Location::current());
       }},
      {Op::Conv2dBackwardWeight,
       "gradient of conv2d's weight",
       {numbers({1, 2, 3, 6}), numbers({1, 2, 2, 4})},
       [](V x) {
         return tensor::convolve(Op::Conv2dBackwardWeight, x[0], x[1], kConv, {2, 2, 2, 2},
                                 Location::current());
       }},
      {Op::Conv3d,
       "conv3d",
       {numbers({1, 2, 4, 3, 4}), numbers({2, 1, 2, 2, 3})},
       [](V x) {
         return x[0].conv3d(x[1],
                            {.stride = {2, 1, 1}, .padding = {1, 0, 1}, .dilation = {1, 2, 1}, .groups = 2});
       }},
      {Op::Conv3dBackwardInput,
       "gradient of conv3d's input",
       {numbers({1, 2, 2, 2, 2}), numbers({2, 1, 2, 1, 2})},
       [](V x) {
         return tensor::convolve(Op::Conv3dBackwardInput, x[0], x[1], kConvOfPlanes, {1, 1, 3, 2, 3},
                                 Location::current());
       }},
      {Op::Conv3dBackwardWeight,
       "gradient of conv3d's weight",
       {numbers({1, 1, 3, 2, 3}), numbers({1, 2, 2, 2, 2})},
       [](V x) {
         return tensor::convolve(Op::Conv3dBackwardWeight, x[0], x[1], kConvOfPlanes, {2, 1, 2, 1, 2},
                                 Location::current());
       }},
  };
}

}  // namespace

TEST_CASE("gradients of every op agree with central differences") {
  for (const Case& c : cases()) {
    CAPTURE(c.what);
    check_gradients(c.inputs, c.f);
  }
}

TEST_CASE("gradients of the gradients of every op agree with central differences") {
  for (const Case& c : cases()) {
    CAPTURE(c.what);
    check_second_gradients(c.inputs, c.f);
  }
}

TEST_CASE("every op that has a gradient rule is tested") {
  std::set<Op> tested;
  for (const Case& c : cases()) tested.insert(c.op);
  for (const OpInfo& op : kOps) {
    CAPTURE(op.name);
    if (op.op == Op::Extension) continue;  // its rule says that there is none: library_op_test
    bool differentiable = false;
    for (const autodiff::OperandRule& operand : autodiff::rule_of(op.op).operands)
      differentiable = differentiable || operand.gradient;
    CHECK(differentiable == tested.contains(op.op));
  }
}
