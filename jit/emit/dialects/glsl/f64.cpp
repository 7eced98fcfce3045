// The double-precision mathematics that GLSL lacks: series after a reduction of the argument, as in the
// functions for f32.
#include "jit/emit/dialects/glsl/f64.h"

namespace sinter::emit {

namespace {

constexpr const char* kIsNan = R"(bool sn_is_nan_f64(double a) {
  const uvec2 bits = unpackDouble2x32(a);
  const u32 high = bits.y & 0x7fffffffu;
  return high > 0x7ff00000u || (high == 0x7ff00000u && bits.x != 0u);
}
)";

constexpr const char* kPower =
    R"(double sn_power_of_two_f64(int e) { return packDouble2x32(uvec2(0u, u32(e + 1023) << 20)); }
)";

constexpr const char* kExp = R"(double sn_exp_f64(double a) {
  if (sn_is_nan_f64(a)) return a;
  precise double x = clamp(a, -746.0lf, 710.0lf);
  precise double k = roundEven(x * 1.4426950408889634lf);
  precise double r = (x - k * 0.6931471803691238lf) - k * 1.9082149292705877e-10lf;
  precise double p = 1.6059043836821613e-10lf + r * 1.1470745597729725e-11lf;
  p = 2.08767569878681e-09lf + r * p;
  p = 2.505210838544172e-08lf + r * p;
  p = 2.755731922398589e-07lf + r * p;
  p = 2.7557319223985893e-06lf + r * p;
  p = 2.48015873015873e-05lf + r * p;
  p = 0.0001984126984126984lf + r * p;
  p = 0.001388888888888889lf + r * p;
  p = 0.008333333333333333lf + r * p;
  p = 0.041666666666666664lf + r * p;
  p = 0.16666666666666666lf + r * p;
  p = 0.5lf + r * p;
  p = 1.0lf + (r + r * r * p);
  const int e = int(k), low = e >> 1;
  return (p * sn_power_of_two_f64(low)) * sn_power_of_two_f64(e - low);
}
)";

constexpr const char* kLog = R"(double sn_log_f64(double a) {
  const uvec2 given = unpackDouble2x32(a);
  if (sn_is_nan_f64(a) || a == packDouble2x32(uvec2(0u, 0x7ff00000u))) return a;
  if (a < 0.0lf) return packDouble2x32(uvec2(0u, 0x7ff80000u));
  if (a == 0.0lf) return packDouble2x32(uvec2(0u, 0xfff00000u));
  const bool tiny = given.y < 0x00100000u;
  const uvec2 bits = tiny ? unpackDouble2x32(a * 18014398509481984.0lf) : given;
  const int e = (int(bits.y) - 0x3fe6a09e) >> 20;
  const double k = double(tiny ? e - 54 : e);
  precise double f = packDouble2x32(uvec2(bits.x, bits.y - u32(e << 20))) - 1.0lf;
  precise double s = f / (2.0lf + f);
  precise double z = s * s;
  precise double p = 0.09523809523809523lf + z * 0.08695652173913043lf;
  p = 0.10526315789473684lf + z * p;
  p = 0.11764705882352941lf + z * p;
  p = 0.13333333333333333lf + z * p;
  p = 0.15384615384615385lf + z * p;
  p = 0.18181818181818182lf + z * p;
  p = 0.2222222222222222lf + z * p;
  p = 0.2857142857142857lf + z * p;
  p = 0.4lf + z * p;
  p = 0.6666666666666666lf + z * p;
  precise double t = z * p;
  precise double y = k * 0.6931471803691238lf + (f - (s * (f - t) - k * 1.9082149292705877e-10lf));
  return y;
}
)";

constexpr const char* kLog1p = R"(double sn_log1p_f64(double a) {
  precise double u = 1.0lf + a;
  if (u == 1.0lf || a == packDouble2x32(uvec2(0u, 0x7ff00000u))) return a;
  precise double d = u - 1.0lf;
  precise double y = sn_log_f64(u) * (a / d);
  return y;
}
)";

constexpr const char* kExpm1 = R"(double sn_expm1_f64(double a) {
  if (!(abs(a) < 0.5lf)) return sn_exp_f64(a) - 1.0lf;
  precise double p = 1.5619206968586225e-16lf + a * 8.22063524662433e-18lf;
  p = 2.8114572543455206e-15lf + a * p;
  p = 4.779477332387385e-14lf + a * p;
  p = 7.647163731819816e-13lf + a * p;
  p = 1.1470745597729725e-11lf + a * p;
  p = 1.6059043836821613e-10lf + a * p;
  p = 2.08767569878681e-09lf + a * p;
  p = 2.505210838544172e-08lf + a * p;
  p = 2.755731922398589e-07lf + a * p;
  p = 2.7557319223985893e-06lf + a * p;
  p = 2.48015873015873e-05lf + a * p;
  p = 0.0001984126984126984lf + a * p;
  p = 0.001388888888888889lf + a * p;
  p = 0.008333333333333333lf + a * p;
  p = 0.041666666666666664lf + a * p;
  p = 0.16666666666666666lf + a * p;
  p = 0.5lf + a * p;
  p = a + a * a * p;
  return p;
}
)";

constexpr const char* kTanh = R"(double sn_tanh_f64(double a) {
  if (sn_is_nan_f64(a)) return a;
  const double x = abs(a);
  double y = 1.0lf;
  if (x < 20.0lf) {
    precise double t = sn_expm1_f64(2.0lf * x);
    y = t / (t + 2.0lf);
  }
  return a < 0.0lf ? -y : y;
}
)";

// erf(x) = 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 3 .. (2n+1)): all terms have one sign.
constexpr const char* kErf = R"(double sn_erf_f64(double a) {
  if (sn_is_nan_f64(a)) return a;
  const double x = abs(a);
  double y = 1.0lf;
  if (x < 6.0lf) {
    precise double z = x * x;
    precise double term = x;
    precise double sum = x;
    for (int n = 1; n < 160 && term > sum * 1e-17lf; ++n) {
      term = term * (2.0lf * z / double(2 * n + 1));
      sum = sum + term;
    }
    y = 1.1283791670955126lf * sn_exp_f64(-z) * sum;
  }
  return a < 0.0lf ? -y : y;
}
)";

// pi / 2 in three parts; good to |a| = 1e6.
constexpr const char* kWave = R"(double sn_wave_f64(double a, int shift) {
  if ((unpackDouble2x32(a).y & 0x7fffffffu) >= 0x7ff00000u) return packDouble2x32(uvec2(0u, 0x7ff80000u));
  precise double k = roundEven(a * 0.6366197723675814lf);
  precise double r = a - k * 1.5707963267341256lf;
  r = r - k * 6.077100506303966e-11lf;
  r = r - k * 2.0222662487959506e-21lf;
  const int quarter = int(k) + shift;
  precise double z = r * r;
  precise double y;
  if ((quarter & 1) == 0) {
    precise double p = 2.8114572543455206e-15lf + z * -8.22063524662433e-18lf;
    p = -7.647163731819816e-13lf + z * p;
    p = 1.6059043836821613e-10lf + z * p;
    p = -2.505210838544172e-08lf + z * p;
    p = 2.7557319223985893e-06lf + z * p;
    p = -0.0001984126984126984lf + z * p;
    p = 0.008333333333333333lf + z * p;
    p = -0.16666666666666666lf + z * p;
    y = r + r * (z * p);
  } else {
    precise double p = -1.5619206968586225e-16lf + z * 4.110317623312165e-19lf;
    p = 4.779477332387385e-14lf + z * p;
    p = -1.1470745597729725e-11lf + z * p;
    p = 2.08767569878681e-09lf + z * p;
    p = -2.755731922398589e-07lf + z * p;
    p = 2.48015873015873e-05lf + z * p;
    p = -0.001388888888888889lf + z * p;
    p = 0.041666666666666664lf + z * p;
    y = 1.0lf - (0.5lf * z - z * z * p);
  }
  return (quarter & 2) == 0 ? y : -y;
}
)";

constexpr const char* kProduct = R"(double sn_product_f64(double a, double b, out double rest) {
  precise double p = a * b;
  precise double c = 134217729.0lf * a;
  precise double ah = c - (c - a);
  precise double al = a - ah;
  c = 134217729.0lf * b;
  precise double bh = c - (c - b);
  precise double bl = b - bh;
  precise double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  rest = e;
  return p;
}
)";

constexpr const char* kLogPair = R"(double sn_log_pair_f64(double a, out double rest) {
  const uvec2 given = unpackDouble2x32(a);
  const bool tiny = given.y < 0x00100000u;
  const uvec2 bits = tiny ? unpackDouble2x32(a * 18014398509481984.0lf) : given;
  const int e = (int(bits.y) - 0x3fe6a09e) >> 20;
  const double k = double(tiny ? e - 54 : e);
  precise double f = packDouble2x32(uvec2(bits.x, bits.y - u32(e << 20))) - 1.0lf;
  precise double d = 2.0lf + f;
  precise double d_rest = f - (d - 2.0lf);
  precise double s = f / d;
  double p_rest;
  precise double product = sn_product_f64(s, d, p_rest);
  precise double s_rest = (((f - product) - p_rest) - s * d_rest) / d;
  precise double z = s * s;
  precise double p = 0.09523809523809523lf + z * 0.08695652173913043lf;
  p = 0.10526315789473684lf + z * p;
  p = 0.11764705882352941lf + z * p;
  p = 0.13333333333333333lf + z * p;
  p = 0.15384615384615385lf + z * p;
  p = 0.18181818181818182lf + z * p;
  p = 0.2222222222222222lf + z * p;
  p = 0.2857142857142857lf + z * p;
  p = 0.4lf + z * p;
  p = 0.6666666666666666lf + z * p;
  precise double low = 2.0lf * s_rest + s * z * p + k * 1.9082149292705877e-10lf;
  precise double x = k * 0.6931471803691238lf;
  precise double y = 2.0lf * s;
  precise double h = x + y;
  precise double t = h - x;
  low = ((x - (h - t)) + (y - t)) + low;
  precise double high = h + low;
  precise double e_low = low - (high - h);
  rest = e_low;
  return high;
}
)";

constexpr const char* kPow = R"(double sn_pow_f64(double a, double b) {
  if (b == 0.0lf || a == 1.0lf) return 1.0lf;
  const double infinity = packDouble2x32(uvec2(0u, 0x7ff00000u));
  const double nan = packDouble2x32(uvec2(0u, 0x7ff80000u));
  if (sn_is_nan_f64(a) || sn_is_nan_f64(b)) return nan;
  const double x = abs(a);
  const bool whole = b == floor(b);
  const bool odd = whole && abs(b) < 9007199254740992.0lf && fract(b * 0.5lf) != 0.0lf;
  if (abs(b) == infinity) return x == 1.0lf ? 1.0lf : (x > 1.0lf) == (b > 0.0lf) ? infinity : 0.0lf;
  double y;
  if (x == 0.0lf || x == infinity) {
    y = (x == 0.0lf) == (b > 0.0lf) ? 0.0lf : infinity;
    return (unpackDouble2x32(a).y >> 31) != 0u && odd ? -y : y;
  }
  if (a < 0.0lf && !whole) return nan;
  if (x == 1.0lf) return odd ? -1.0lf : 1.0lf;  // the splitting of a large b below would overflow
  double log_rest, rest;
  const double log_high = sn_log_pair_f64(x, log_rest);
  precise double rough = b * log_high;
  if (abs(rough) > 1000.0lf) {
    y = rough > 0.0lf ? infinity : 0.0lf;
  } else {
    const double high = sn_product_f64(b, log_high, rest);
    precise double low = rest + b * log_rest;
    precise double e = sn_exp_f64(high);
    y = e;
    if (e > 0.0lf && e < infinity) {
      precise double corrected = e + e * low;
      y = corrected;
    }
  }
  return a < 0.0lf && odd ? -y : y;
}
)";

// Also of denormals, which the bits of the exponent do not tell apart.
constexpr const char* kExponent = R"(int sn_exponent_f64(double a) {
  const uvec2 bits = unpackDouble2x32(a);
  return bits.y >= 0x100000u ? int(bits.y >> 20) : bits.y != 0u ? findMSB(bits.y) - 19 : findMSB(bits.x) - 51;
}
)";

// llvmpipe (Mesa 22.3) takes roundEven of the double 1.5 to 1 and trunc of large ones to a neighbour, where
// its vectors have 16 or 32 bytes. floor is right.
constexpr const char* kTrunc = R"(double sn_trunc_f64(double a) {
  const double t = floor(abs(a));
  return (unpackDouble2x32(a).y & 0x80000000u) != 0u ? -t : t;
}
)";

constexpr const char* kRound = R"(double sn_round_f64(double a) {
  const double whole = 4503599627370496.0lf;
  if (!(abs(a) < whole)) return a;
  precise double shifted = abs(a) + whole;
  precise double r = shifted - whole;
  return (unpackDouble2x32(a).y & 0x80000000u) != 0u ? -r : r;
}
)";

constexpr const char* kRemainder = R"(double sn_remainder_f64(double a, double b) {
  const u32 infinity = 0x7ff00000u;
  if (sn_is_nan_f64(b) || b == 0.0lf || (unpackDouble2x32(a).y & 0x7fffffffu) >= infinity)
    return packDouble2x32(uvec2(0u, 0x7ff80000u));
  const double d = abs(b);
  precise double r = abs(a);
  if (unpackDouble2x32(d).y != infinity) {
    const int of_divisor = sn_exponent_f64(d);
    while (r >= d) {
      const int e = sn_exponent_f64(r) - of_divisor, third = e / 3;
      precise double t = ((d * sn_power_of_two_f64(third)) * sn_power_of_two_f64(third)) *
          sn_power_of_two_f64(e - 2 * third);
      r -= t > r ? 0.5lf * t : t;
    }
  }
  if (a < 0.0lf) r = -r;
  if (r != 0.0lf && (r < 0.0lf) != (b < 0.0lf)) r += b;
  return r;
}
)";

}  // namespace

std::vector<FunctionTemplate> glsl_f64_functions() {
  return {
      {"sn_is_nan_f64", {}, kIsNan},
      {"sn_power_of_two_f64", {}, kPower},
      {"sn_exp_f64", {}, kExp},
      {"sn_log_f64", {}, kLog},
      {"sn_log1p_f64", {}, kLog1p},
      {"sn_expm1_f64", {}, kExpm1},
      {"sn_tanh_f64", {}, kTanh},
      {"sn_erf_f64", {}, kErf},
      {"sn_ndtr_f64",
       {},
       "double $N(double a) { return 0.5lf + 0.5lf * sn_erf_f64(a * 0.7071067811865476lf); }\n"},
      {"sn_wave_f64", {}, kWave},
      {"sn_pow_f64", {}, kPow},
      {"sn_product_f64", {}, kProduct},
      {"sn_log_pair_f64", {}, kLogPair},
      {"sn_sin_f64", {}, "double $N(double a) { return sn_wave_f64(a, 0); }\n"},
      {"sn_cos_f64", {}, "double $N(double a) { return sn_wave_f64(a, 1); }\n"},
      {"sn_exponent_f64", {}, kExponent},
      {"sn_remainder_f64", {}, kRemainder},
      {"sn_round_f64", {}, kRound},
      {"sn_trunc_f64", {}, kTrunc},
  };
}

}  // namespace sinter::emit
