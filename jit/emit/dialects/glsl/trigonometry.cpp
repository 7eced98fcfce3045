// Tangent, inverse trigonometric and hyperbolic functions in GLSL: made of the prelude's other functions, one
// text for both dtypes, but for the arc tangent of [0, 1].
#include "jit/emit/dialects/glsl/trigonometry.h"

namespace sinter::emit {

namespace {

// Beyond tan(pi / 8) the angle is counted from pi / 4; the polynomials interpolate at Chebyshev points.
constexpr const char* kArc32 = R"(float sn_arc_f32(float t) {
  const bool steep = t > 0.41421356237309503;
  precise float u = steep ? (t - 1.0) / (t + 1.0) : t;
  precise float z = u * u;
  precise float p = -0.0862467614525 + z * 0.0504813851208;
  p = 0.110713650219 + z * p;
  p = -0.142841511936 + z * p;
  p = 0.199999772587 + z * p;
  p = -0.333333332793 + z * p;
  p = u + u * (z * p);
  return steep ? 0.7853981633974483 + p : p;
}
)";

constexpr const char* kArc64 = R"(double sn_arc_f64(double t) {
  const bool steep = t > 0.41421356237309503lf;
  precise double u = steep ? (t - 1.0lf) / (t + 1.0lf) : t;
  precise double z = u * u;
  precise double p = 0.030635704112969498lf - z * 0.013918229291024429lf;
  p = -0.04104436265755082lf + z * p;
  p = 0.047193950300274332lf + z * p;
  p = -0.052580415542977793lf + z * p;
  p = 0.058819252531928636lf + z * p;
  p = -0.066666420200551663lf + z * p;
  p = 0.076923067360001735lf + z * p;
  p = -0.090909090670099904lf + z * p;
  p = 0.11111111110754729lf + z * p;
  p = -0.14285714285711518lf + z * p;
  p = 0.19999999999999993lf + z * p;
  p = -0.33333333333333331lf + z * p;
  p = u + u * (z * p);
  return steep ? 0.7853981633974483lf + p : p;
}
)";

constexpr const char* kAtan2 = R"($T $N($T a, $T b) {
  if (sn_is_nan_$D(a) || sn_is_nan_$D(b)) return a + b;
  const $T x = abs(b), y = abs(a);
  $T ratio = x > y ? sn_div_$D(y, x) : sn_div_$D(x, y);
  if (x == y) ratio = x == $T(0) ? $T(0) : $T(1);
  precise $T angle = sn_arc_$D(ratio);
  if (y > x) angle = $T(0.5) * sn_pi_$D() - angle;
  if (sn_is_negative_$D(b)) angle = sn_pi_$D() - angle;
  return sn_is_negative_$D(a) ? -angle : angle;
}
)";

constexpr const char* kAtan = R"($T $N($T a) { return sn_atan2_$D(a, $T(1)); }
)";

// The root is given no negative number, of which GLSL says nothing.
constexpr const char* kAsin = R"($T $N($T a) {
  if (!(abs(a) <= $T(1))) return sn_log_$D($T(-1));
  precise $T x = sqrt(($T(1) - a) * ($T(1) + a));
  return sn_atan2_$D(a, x);
}
)";

constexpr const char* kAcos = R"($T $N($T a) {
  if (!(abs(a) <= $T(1))) return sn_log_$D($T(-1));
  precise $T y = sqrt(($T(1) - a) * ($T(1) + a));
  return sn_atan2_$D(y, a);
}
)";

// exp(x / 2) twice where exp(x) could overflow though half of it does not.
constexpr const char* kSinh = R"($T $N($T a) {
  const $T x = abs(a);
  precise $T y;
  if (x > $T(88)) {
    precise $T e = sn_exp_$D($T(0.5) * x);
    y = ($T(0.5) * e) * e;
  } else {
    precise $T t = sn_expm1_$D(x);
    y = $T(0.5) * (t + t / (t + $T(1)));
  }
  return a < $T(0) ? -y : y;
}
)";

constexpr const char* kCosh = R"($T $N($T a) {
  const $T x = abs(a);
  precise $T y;
  if (x > $T(88)) {
    precise $T e = sn_exp_$D($T(0.5) * x);
    y = ($T(0.5) * e) * e;
  } else {
    precise $T e = sn_exp_$D(x);
    y = $T(0.5) * e + $T(0.5) / e;
  }
  return y;
}
)";

// log(2 x) where the square of x would not fit and the rest does not count.
constexpr const char* kAsinh = R"($T $N($T a) {
  const $T x = abs(a);
  precise $T y;
  if (x > $T(1e9)) {
    y = sn_log_$D(x) + sn_log_$D($T(2));
  } else {
    precise $T square = x * x;
    precise $T t = x + square / ($T(1) + sqrt(square + $T(1)));
    y = sn_log1p_$D(t);
  }
  return a < $T(0) ? -y : y;
}
)";

constexpr const char* kAcosh = R"($T $N($T a) {
  if (!(a >= $T(1))) return sn_log_$D($T(-1));
  precise $T y;
  if (a > $T(1e9)) {
    y = sn_log_$D(a) + sn_log_$D($T(2));
  } else {
    precise $T t = a - $T(1);
    t = t + sqrt(t * (t + $T(2)));
    y = sn_log1p_$D(t);
  }
  return y;
}
)";

constexpr const char* kAtanh = R"($T $N($T a) {
  const $T x = abs(a);
  if (!(x <= $T(1))) return sn_log_$D($T(-1));
  precise $T t = ($T(2) * x) / ($T(1) - x);
  precise $T y = $T(0.5) * sn_log1p_$D(t);
  return a < $T(0) ? -y : y;
}
)";

}  // namespace

std::vector<FunctionTemplate> glsl_trigonometry() {
  return {
      {"sn_pi_f32", {}, "float $N() { return 3.141592653589793; }\n"},
      {"sn_pi_f64", {}, "double $N() { return 3.141592653589793lf; }\n"},
      {"sn_is_negative_f32", {}, "bool $N(float a) { return (floatBitsToUint(a) >> 31) != 0u; }\n"},
      {"sn_is_negative_f64", {}, "bool $N(double a) { return (unpackDouble2x32(a).y >> 31) != 0u; }\n"},
      {"sn_arc_f32", {}, kArc32},
      {"sn_arc_f64", {}, kArc64},
      {"sn_tan", kFloats, "$T $N($T a) { return sn_wave_$D(a, 0) / sn_wave_$D(a, 1); }\n"},
      {"sn_atan2", kFloats, kAtan2},
      {"sn_atan", kFloats, kAtan},
      {"sn_asin", kFloats, kAsin},
      {"sn_acos", kFloats, kAcos},
      {"sn_sinh", kFloats, kSinh},
      {"sn_cosh", kFloats, kCosh},
      {"sn_asinh", kFloats, kAsinh},
      {"sn_acosh", kFloats, kAcosh},
      {"sn_atanh", kFloats, kAtanh},
  };
}

}  // namespace sinter::emit
