// Error bounds of the host's elementwise functions, interpreted and compiled. Tests enforce this table
// (tests/unit/maths_bounds_test.cpp), and docs/numerics.md shows it.
//
// An error is counted in units in the last place of the exact result: 2^(e - 23) for a result in [2^e, 2^(e +
// 1)), never less than 2^-149, the least denormal number. Where the exact result rounds to infinity, so must
// the function's or it is off by one. Of a distribution function (ndtr) the unit is never less than that of
// 1/2, 2^-24. Zeros have their sign. The result is NaN exactly where C's function returns NaN.
#pragma once

#include "src/trace/op.h"

namespace sinter::runtime::host {

struct MathsBound {
  Op op;
  double ulp;
};

/// f32, over all floats.
inline constexpr MathsBound kMathsBounds[] = {
    {Op::Exp, 1.5},  {Op::Expm1, 2},   {Op::Log, 1},     {Op::Log1p, 3}, {Op::Sin, 2.5},   {Op::Cos, 2.5},
    {Op::Tan, 4},    {Op::Asin, 4},    {Op::Acos, 4},    {Op::Atan, 3},  {Op::Sinh, 3},    {Op::Cosh, 3},
    {Op::Asinh, 3},  {Op::Acosh, 3.5}, {Op::Atanh, 3.5}, {Op::Tanh, 3},  {Op::Sigmoid, 3}, {Op::Erf, 3},
    {Op::Sqrt, 0.5}, {Op::Rsqrt, 1.5}, {Op::Recip, 0.5}, {Op::Floor, 0}, {Op::Ceil, 0},    {Op::Round, 0},
    {Op::Trunc, 0},  {Op::Ndtr, 2},
};
/// Over pairs of f32: tested on many chosen pairs and all pairs of special values.
inline constexpr MathsBound kMathsBoundsOfPairs[] = {{Op::Pow, 0.51}, {Op::Atan2, 3}};
/// f64 functions with formulas of their own (the unit is 2^(e - 52), the least number 2^-1074); all others
/// are the C library's.
inline constexpr MathsBound kMathsBoundsOfF64[] = {
    {Op::Exp, 1.5}, {Op::Expm1, 2}, {Op::Log, 1}, {Op::Log1p, 3}, {Op::Tanh, 3}, {Op::Sigmoid, 3},
};

}  // namespace sinter::runtime::host
