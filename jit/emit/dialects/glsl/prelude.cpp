// The prelude's functions in GLSL, but for double-precision mathematics. Vulkan promises little of its
// built-in exp, log, sin, pow, and an optimiser may drop a test for NaN: so all of these are written out,
// with `precise` and tests of bits. Its exp2 is good to 3 + 2 |x| ulp, which is enough for small x and where
// the result is added to something larger, and keeps NaN. fma may round once or twice, and Mesa takes it
// apart and reorders the parts in spite of `precise`: polynomials bear that, other things do not.
#include "jit/emit/dialects/glsl/exponentials.h"
#include "jit/emit/dialects/glsl/f64.h"
#include "jit/emit/dialects/glsl/glsl.h"
#include "jit/emit/dialects/glsl/trigonometry.h"
#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

namespace {

constexpr FunctionSpelling kSpelling = {.float_suffix = "",
                                        .compares_nan = false,
                                        .bits_before = "floatBitsToUint(",
                                        .bits_after = ")",
                                        .float_before = "uintBitsToFloat(",
                                        .float_after = ")"};

// a = quarter * pi / 2 + the result. pi / 2 in four parts whose products with small numbers are exact; beyond
// those, 24 bits of a times 96 bits of 2 / pi, chosen by a's exponent (Payne and Hanek, 1983).
constexpr const char* kTwoOverPi =
    R"(const u32 sn_two_over_pi[8] = u32[8](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
u32 sn_bits_of_two_over_pi(u32 at) {
  const u32 w = at >> 5, s = at & 31u;
  return s == 0u ? sn_two_over_pi[w] : (sn_two_over_pi[w] << s) | (sn_two_over_pi[w + 1u] >> (32u - s));
}
)";

constexpr const char* kReduce = R"(float sn_reduce_f32(float a, out int quarter) {
  if (abs(a) < 12800.0) {
    precise float k = roundEven(a * 0.6366197723675814);
    precise float r = a - k * 1.5703125;
    r = r - k * 4.837512969970703e-4;
    r = r - k * 7.549533620476723e-8;
    r = r - k * 2.563344151594519e-12;
    quarter = int(k);
    return r;
  }
  const u32 bits = floatBitsToUint(a) & 0x7fffffffu;
  const u32 m = (bits & 0x7fffffu) | 0x800000u;
  const u32 at = (bits >> 23) - 120u;
  u32 carry, low, high;
  umulExtended(m, sn_bits_of_two_over_pi(at + 64u), carry, low);
  umulExtended(m, sn_bits_of_two_over_pi(at + 32u), high, low);
  const u32 middle = low + carry;
  high += m * sn_bits_of_two_over_pi(at) + (middle < low ? 1u : 0u);
  const int fraction = int((high << 2) | (middle >> 30));
  quarter = int(high >> 30) + (fraction < 0 ? 1 : 0);
  precise float r = (float(fraction) * 2.3283064365386963e-10 + float(middle << 2) * 5.421010862427522e-20) *
      1.5707963267948966;
  if (a < 0.0) {
    quarter = -quarter;
    r = -r;
  }
  return r;
}
)";

constexpr const char* kWave = R"(float sn_wave_f32(float a, int shift) {
  if ((floatBitsToUint(a) & 0x7fffffffu) >= 0x7f800000u) return uintBitsToFloat(0x7fc00000u);
  int quarter;
  const float r = sn_reduce_f32(a, quarter);
  quarter += shift;
  precise float z = r * r;
  precise float y;
  if ((quarter & 1) == 0) {
    precise float p = -1.984126984126984e-4 + z * 2.7557319223985893e-6;
    p = 8.333333333333333e-3 + z * p;
    p = -1.6666666666666666e-1 + z * p;
    y = r + r * (z * p);
  } else {
    precise float p = 2.48015873015873e-5 - z * 2.755731922398589e-7;
    p = -1.3888888888888889e-3 + z * p;
    p = 4.1666666666666664e-2 + z * p;
    y = 1.0 - (0.5 * z - z * z * p);
  }
  return (quarter & 2) == 0 ? y : -y;
}
)";

// e^(b log a) with log a and the product in two floats each.
constexpr const char* kProduct = R"(float sn_product_f32(float a, float b, out float rest) {
  precise float p = a * b;
  precise float c = 4097.0 * a;
  precise float ah = c - (c - a);
  precise float al = a - ah;
  c = 4097.0 * b;
  precise float bh = c - (c - b);
  precise float bl = b - bh;
  precise float e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  rest = e;
  return p;
}
)";

constexpr const char* kLogPair = R"(float sn_log_pair_f32(float a, out float rest) {
  const bool tiny = a < 1.1754943508222875e-38;
  const int bits = floatBitsToInt(tiny ? a * 8388608.0 : a);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float k = float(tiny ? e - 23 : e);
  precise float f = intBitsToFloat(bits - (e << 23)) - 1.0;
  precise float d = 2.0 + f;
  precise float d_rest = f - (d - 2.0);
  precise float s = f / d;
  float p_rest;
  precise float p = sn_product_f32(s, d, p_rest);
  precise float s_rest = (((f - p) - p_rest) - s * d_rest) / d;
  precise float z = s * s;
  precise float q = 0.2222222222222222 + z * 0.18181818181818182;
  q = 0.2857142857142857 + z * q;
  q = 0.4 + z * q;
  q = 0.6666666666666666 + z * q;
  precise float low = 2.0 * s_rest + s * z * q - k * 2.1219444005469057e-4;
  precise float x = k * 0.693359375;
  precise float y = 2.0 * s;
  precise float h = x + y;
  precise float t = h - x;
  low = ((x - (h - t)) + (y - t)) + low;
  precise float high = h + low;
  precise float e_low = low - (high - h);
  rest = e_low;
  return high;
}
)";

constexpr const char* kPow = R"(SN_FN float sn_pow_f32(float a, float b) {
  if (b == 0.0 || a == 1.0) return 1.0;
  if (sn_is_nan_f32(a) || sn_is_nan_f32(b)) return uintBitsToFloat(0x7fc00000u);
  const float infinity = uintBitsToFloat(0x7f800000u);
  const float x = abs(a);
  const bool whole = b == trunc(b);
  const bool odd = whole && abs(b) < 16777216.0 && (int(b) & 1) != 0;
  if (abs(b) == infinity) return x == 1.0 ? 1.0 : (x > 1.0) == (b > 0.0) ? infinity : 0.0;
  float y;
  if (x == 0.0 || x == infinity) {
    y = (x == 0.0) == (b > 0.0) ? 0.0 : infinity;
    return (floatBitsToUint(a) >> 31) != 0u && odd ? -y : y;
  }
  if (a < 0.0 && !whole) return uintBitsToFloat(0x7fc00000u);
  if (x == 1.0) return odd ? -1.0 : 1.0;  // the splitting of a large b below would overflow
  float log_rest, rest;
  const float log_high = sn_log_pair_f32(x, log_rest);
  precise float rough = b * log_high;
  if (abs(rough) > 200.0) {
    y = rough > 0.0 ? infinity : 0.0;
  } else {
    const float high = sn_product_f32(b, log_high, rest);
    precise float low = rest + b * log_rest;
    precise float e = sn_exp_f32(high);
    y = e;
    if (e > 0.0 && e < infinity) {
      precise float corrected = e + e * low;
      y = corrected;
    }
  }
  return a < 0.0 && odd ? -y : y;
}
)";

// Also of denormals, which the bits of the exponent do not tell apart.
constexpr const char* kExponent = R"(int sn_exponent_f32(float a) {
  const u32 bits = floatBitsToUint(a);
  return bits >= 0x800000u ? int(bits >> 23) : findMSB(bits) - 22;
}
)";

// Exact: takes off the largest b * 2^n that fits, until less than b is left.
constexpr const char* kRemainder = R"(SN_FN float sn_remainder_f32(float a, float b) {
  const u32 infinity = 0x7f800000u;
  if (sn_is_nan_f32(b) || (floatBitsToUint(b) & 0x7fffffffu) == 0u ||
      (floatBitsToUint(a) & 0x7fffffffu) >= infinity)
    return uintBitsToFloat(0x7fc00000u);
  // True only where the device takes a denormal for 0: what is left is smaller still.
  if (b == 0.0) return 0.0;
  const float d = abs(b);
  precise float r = abs(a);
  if (floatBitsToUint(d) != infinity) {
    const int of_divisor = sn_exponent_f32(d);
    while (r >= d) {
      const int e = sn_exponent_f32(r) - of_divisor, third = e / 3;
      const float power = intBitsToFloat((third + 127) << 23);
      precise float t = ((d * power) * power) * intBitsToFloat((e - 2 * third + 127) << 23);
      r -= t > r ? 0.5 * t : t;
    }
  }
  if (a < 0.0) r = -r;
  if (r != 0.0 && (r < 0.0) != (b < 0.0)) r += b;
  return r;
}
)";

FunctionTable make_table() {
  std::vector<FunctionTemplate> t = {
      {"sn_is_nan_f32",
       {},
       "bool $N(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }\n"},
      {"sn_abs", kNumbers, unary("abs(a)")},
      {"sn_sign", kFloats, unary("sn_is_nan_$D(a) ? a : a > $T(0) ? $T(1) : a < $T(0) ? $T(-1) : $T(0)")},
      {"sn_sign", kInts, unary("a > $T(0) ? $T(1) : a < $T(0) ? $T(-1) : $T(0)")},
      {"sn_rsqrt", kFloats, unary("$T(1) / sqrt(a)")},
      {"sn_bits_of_two_over_pi", {}, kTwoOverPi},
      {"sn_reduce_f32", {}, kReduce},
      {"sn_wave_f32", {}, kWave},
      {"sn_sin_f32", {}, "float $N(float a) { return sn_wave_f32(a, 0); }\n"},
      {"sn_cos_f32", {}, "float $N(float a) { return sn_wave_f32(a, 1); }\n"},
      {"sn_sigmoid", kF64, unary("$T(1) / ($T(1) + sn_exp_$D(-a))")},
      {"sn_join_welford", kFloats,
       "void $N(inout $T n, inout $T mean, inout $T m2, $T on, $T omean, $T om2) {\n"
       "  precise $T total = n + on, d = omean - mean, share = total > $T(0) ? on / total : $T(0);\n"
       "  precise $T next_mean = mean + d * share, next_m2 = (m2 + om2) + d * d * (n * share);\n"
       "  mean = next_mean;\n"
       "  m2 = next_m2;\n"
       "  n = total;\n"
       "}\n"},
      {"sn_round_f32", {}, "float $N(float a) { return roundEven(a); }\n"},
      // All bits are shifted out by counts that are negative or too large.
      {"sn_shift_left_i32", {}, "int $N(int a, int b) { return b < 0 || b > 31 ? 0 : a << b; }\n"},
      {"sn_shift_left_i64",
       {},
       "i64 $N(i64 a, i64 b) { return b < 0l || b > 63l ? 0l : i64(u64(a) << int(b)); }\n"},
      {"sn_shift_right_i32",
       {},
       "int $N(int a, int b) { return b < 0 || b > 31 ? (a < 0 ? -1 : 0) : a >> b; }\n"},
      {"sn_shift_right_i64",
       {},
       "i64 $N(i64 a, i64 b) { return b < 0l || b > 63l ? (a < 0l ? -1l : 0l) : a >> int(b); }\n"},
      // GLSL promises a good quotient for divisors up to 2^126 only; drivers give 0 beyond.
      {"sn_div", kFloats,
       "SN_FN $T $N($T a, $T b) {\n"
       "  const $T s = abs(b) > $T(4.2535295865117308e37) ? $T(0.25) : $T(1);\n"
       "  return (a * s) / (b * s);\n"
       "}\n"},
      {"sn_div_by_itself_f32",
       {},
       "float $N(float a) {\n"
       "  return a != 0.0 && abs(a) <= 3.4028234663852886e38 ? 1.0 : uintBitsToFloat(0x7fc00000u);\n"
       "}\n"},
      {"sn_div_by_itself_f64",
       {},
       "double $N(double a) {\n"
       "  const double nan = packDouble2x32(uvec2(0u, 0x7ff80000u));\n"
       "  return a != 0.0lf && abs(a) <= 1.7976931348623157e308lf ? 1.0lf : nan;\n"
       "}\n"},
      {"sn_div", kInts, binary("b == $T(0) ? $T(0) : b == $T(-1) ? -a : a / b")},
      {"sn_exponent_f32", {}, kExponent},
      {"sn_remainder_f32", {}, kRemainder},
      // GLSL leaves % of negative numbers undefined.
      {"sn_remainder", kInts,
       "$T $N($T a, $T b) {\n"
       "  if (b == $T(0) || b == $T(-1)) return $T(0);\n"
       "  const $T r = a - (a / b) * b;\n"
       "  return r != $T(0) && (r < $T(0)) != (b < $T(0)) ? r + b : r;\n"
       "}\n"},
      {"sn_product_f32", {}, kProduct},
      {"sn_log_pair_f32", {}, kLogPair},
      {"sn_pow_f32", {}, kPow},

      // NaN fails every test.
      {"sn_cast_f32_i32",
       {},
       "int $N(float a) {\n  return a >= 2147483648.0 ? 0x7fffffff : a > -2147483648.0 ? int(a) : "
       "a <= -2147483648.0 ? int(0x80000000u) : 0;\n}\n"},
      // Written so that Mesa's compiler does not see the cast: of 22.3 it finds that i64(0) > 0.
      {"sn_cast_i32_i64", {}, "i64 $N(int a) { return packInt2x32(ivec2(a, a >> 31)); }\n"},
      {"sn_cast_f32_i64",
       {},
       "i64 $N(float a) {\n  return a >= 9223372036854775808.0 ? 9223372036854775807l : a > "
       "-9223372036854775808.0 ? "
       "i64(a) : a <= -9223372036854775808.0 ? -9223372036854775807l - 1l : 0l;\n}\n"},
      {"sn_cast_f32_u8", {}, "u32 $N(float a) { return a >= 255.0 ? 255u : a > 0.0 ? u32(a) : 0u; }\n"},
      {"sn_cast_f64_i32",
       {},
       "int $N(double a) {\n  return a >= 2147483648.0lf ? 0x7fffffff : a > -2147483648.0lf ? int(a) : "
       "a <= -2147483648.0lf ? int(0x80000000u) : 0;\n}\n"},
      {"sn_cast_f64_i64",
       {},
       "i64 $N(double a) {\n  return a >= 9223372036854775808.0lf ? 9223372036854775807l : a > "
       "-9223372036854775808.0lf "
       "? i64(a) : a <= -9223372036854775808.0lf ? -9223372036854775807l - 1l : 0l;\n}\n"},
      {"sn_cast_f64_u8", {}, "u32 $N(double a) { return a >= 255.0lf ? 255u : a > 0.0lf ? u32(a) : 0u; }\n"},

      {"sn_cast_f32_bf16", {}, "u32 $N(float a) {\n" + std::string(kBf16OfFloat) + "}\n"},
      {"sn_cast_f16_f32", {}, "float $N(u32 a) {\n" + std::string(kFloatOfF16) + "}\n"},
      {"sn_cast_f32_f16",
       {},
       "u32 $N(float a) {\n"
       "  const u32 b = floatBitsToUint(a), sign = (b >> 16) & 0x8000u, size = b & 0x7fffffffu;\n"
       "  precise float sum = uintBitsToFloat(size) + 0.5;\n"
       "  const u32 small = floatBitsToUint(sum) - 0x3f000000u, moved = size - 0x38000000u;\n"
       "  const u32 large = min((moved + 0xfffu + ((moved >> 13) & 1u)) >> 13, 0x7c00u);\n"
       "  const u32 finite = size < 0x38800000u ? small : large;\n"
       "  return sign | (size > 0x7f800000u ? 0x7e00u : finite);\n"
       "}\n"},
      {"sn_cast_f32_f8_e4m3", {}, "u32 $N(float a) {\n" + e4m3_of_float("precise float ") + "}\n"},
      {"sn_cast_f32_f8_e5m2", {}, "u32 $N(float a) {\n" + e5m2_of_float("precise float ") + "}\n"},
      {"sn_halves",
       {},
       "uvec4 $N(uvec2 a) { return uvec4(a.x & 65535u, a.x >> 16, a.y & 65535u, a.y >> 16); }\n"},
      {"sn_words_of_halves",
       {},
       "uvec2 $N(uvec4 a) { return uvec2(a.x | (a.y << 16), a.z | (a.w << 16)); }\n"},

      // One test for NaN does for all: no sum of magnitudes is NaN unless one of them is. What is left rounds
      // to even.
      {"sn_pair_of_bf16",
       {},
       "u32 $N(vec2 a) {\n"
       "  const u32 x = floatBitsToUint(a.x), y = floatBitsToUint(a.y);\n"
       "  return ((x + 0x7fffu + ((x >> 16) & 1u)) >> 16) | ((y + 0x7fffu + ((y >> 16) & 1u)) & "
       "0xffff0000u);\n"
       "}\n"},
      {"sn_words_of_bf16",
       {},
       "uvec2 $N(vec4 a) {\n"
       "  precise float all = (abs(a.x) + abs(a.y)) + (abs(a.z) + abs(a.w));\n"
       "  if (!sn_is_nan_f32(all)) return uvec2(sn_pair_of_bf16(a.xy), sn_pair_of_bf16(a.zw));\n"
       "  return sn_words_of_halves(uvec4(sn_cast_f32_bf16(a.x), sn_cast_f32_bf16(a.y), "
       "sn_cast_f32_bf16(a.z),\n"
       "                                  sn_cast_f32_bf16(a.w)));\n"
       "}\n"},
      {"sn_words_of_8_bf16",
       {},
       "uvec4 $N(vec4 a, vec4 b) {\n"
       "  precise float all = ((abs(a.x) + abs(a.y)) + (abs(a.z) + abs(a.w))) +\n"
       "                      ((abs(b.x) + abs(b.y)) + (abs(b.z) + abs(b.w)));\n"
       "  if (sn_is_nan_f32(all)) return uvec4(sn_words_of_bf16(a), sn_words_of_bf16(b));\n"
       "  return uvec4(sn_pair_of_bf16(a.xy), sn_pair_of_bf16(a.zw), sn_pair_of_bf16(b.xy), "
       "sn_pair_of_bf16(b.zw));\n"
       "}\n"},

      {"sn_bytes",
       {},
       "uvec4 $N(u32 a) { return uvec4(a & 255u, (a >> 8) & 255u, (a >> 16) & 255u, a >> 24); }\n"},
      {"sn_word",
       {},
       "u32 $N(uvec4 a) {\n  return (a.x & 255u) | ((a.y & 255u) << 8) | ((a.z & 255u) << 16) | (a.w << "
       "24);\n}\n"},

      {"sn_mulhi",
       {},
       "u32 $N(u32 a, u32 b) {\n  u32 high, low;\n  umulExtended(a, b, high, low);\n  return high;\n}\n"},
  };
  for (FunctionTemplate& item : glsl_exponentials()) t.push_back(item);
  for (FunctionTemplate& item : glsl_f64_functions()) t.push_back(item);
  for (FunctionTemplate& item : glsl_trigonometry()) t.push_back(item);

  FunctionTable table = instantiate(t, kSpelling);
  add_shared_functions(table, kSpelling);
  return table;
}

}  // namespace

std::string_view glsl_function(std::string_view name) {
  static const auto& table = *new auto(make_table());  // never destroyed: threads may compile
  auto found = table.find(name);
  return found == table.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace sinter::emit
