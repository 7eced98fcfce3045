// Exponentials, logarithms and what is made of them, of f32.
#include "jit/emit/dialects/glsl/exponentials.h"

namespace sinter::emit {

namespace {

// e^a = 2^k 2^f with |f| <= 1/2, except where the result leaves the range of normal numbers and k does not
// follow: there f takes the rest, and exp2 gives 0 or infinity in time. Adding 1.5 2^23 rounds to a whole
// number and leaves it, with the bias of exponents, in the low bits. k times the first constant is exact, so
// that its difference to a is. NaN goes through f.
constexpr const char* kExp = R"(SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
}
)";

// The same where fma rounds once: what is left of a log2(e) needs no splitting of the constant but its rest,
// and the bounds of k come with a sum that is cut to [0, 1].
constexpr const char* kFusedExp = R"(SN_FN float sn_exp_f32(float a) {
  precise float t = fma(clamp(fma(a, 5.7249800302088261e-3, 0.5), 0.0, 1.0), 252.0, 12582913.0);
  precise float k = t - 12583039.0;
  precise float f = fma(a, 1.4426950216293335, -k);
  f = fma(a, 1.925963033500011e-8, f);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
}
)";

// a = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) = 2 atanh(s) = f - s (f - t), s = f / (2 +
// f).
constexpr const char* kLog = R"(SN_FN float sn_log_f32(float a) {
  if (sn_is_nan_f32(a)) return a;
  if (a < 0.0) return uintBitsToFloat(0x7fc00000u);
  if (a == 0.0) return uintBitsToFloat(0xff800000u);
  if (floatBitsToUint(a) == 0x7f800000u) return a;
  const bool tiny = a < 1.1754943508222875e-38;
  const int bits = floatBitsToInt(tiny ? a * 8388608.0 : a);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float k = float(tiny ? e - 23 : e);
  precise float f = intBitsToFloat(bits - (e << 23)) - 1.0;
  precise float s = f / (2.0 + f);
  precise float z = s * s;
  precise float p = 0.2857142857142857 + z * 0.2222222222222222;
  p = 0.4 + z * p;
  precise float t = z * (0.6666666666666666 + z * p);
  precise float y = k * 0.693359375 + (f - (s * (f - t) + k * 2.1219444005469057e-4));
  return y;
}
)";

constexpr const char* kLog1p = R"(SN_FN float sn_log1p_f32(float a) {
  precise float u = 1.0 + a;
  if (u == 1.0 || floatBitsToUint(a) == 0x7f800000u) return a;
  if (a > 16777216.0) return sn_log_f32(u);
  precise float d = u - 1.0;
  precise float y = sn_log_f32(u) * (a / d);
  return y;
}
)";

constexpr const char* kExpm1 = R"(SN_FN float sn_expm1_f32(float a) {
  if (!(abs(a) < 0.5)) return sn_exp_f32(a) - 1.0;
  precise float p = 2.48015873015873e-5 + a * 2.7557319223985893e-6;
  p = 1.984126984126984e-4 + a * p;
  p = 1.3888888888888889e-3 + a * p;
  p = 8.333333333333333e-3 + a * p;
  p = 4.1666666666666664e-2 + a * p;
  p = 1.6666666666666666e-1 + a * p;
  p = 0.5 + a * p;
  p = a + a * a * p;
  return p;
}
)";

// Near 0 an odd polynomial, which NaN takes too; elsewhere 1 - 2 / (e^2x + 1).
constexpr const char* kTanh = R"(SN_FN float sn_tanh_f32(float a) {
  const float x = abs(a);
  precise float z = a * a;
  precise float p = fma(z, -6.61022774875164e-3, 2.1309388801455498e-2);
  p = fma(z, p, -5.390942841768265e-2);
  p = fma(z, p, 1.3333113491535187e-1);
  p = fma(z, p, -3.333333134651184e-1);
  p = fma(a, z * p, a);
  precise float e = exp2(min(x, 10.0) * 2.8853900817779268);
  precise float y = 1.0 - 2.0 / (e + 1.0);
  y = uintBitsToFloat(floatBitsToUint(y) | (floatBitsToUint(a) & 0x80000000u));
  return x >= 0.55 ? y : p;
}
)";

// Below 0.92 an odd polynomial, which NaN takes too; above it 1 - 2^t with t a polynomial for the logarithm
// of erfc, which beyond 4 is below -25 and falls for ever: that gives 1.
constexpr const char* kErf = R"(SN_FN float sn_erf_f32(float a) {
  const float x = abs(a);
  precise float z = a * a;
  precise float p = fma(z, -5.99940656684339e-4, 4.994830582290888e-3);
  p = fma(z, p, -2.676771953701973e-2);
  p = fma(z, p, 1.1281845718622208e-1);
  p = fma(z, p, -3.761249780654907e-1);
  p = fma(z, p, 1.2837915122509003e-1);
  p = fma(a, p, a);
  precise float t = fma(x, -1.7890962772071362e-3, 2.2345077246427536e-2);
  t = fma(t, x, -1.3103951513767242e-1);
  t = fma(t, x, -9.39447820186615e-1);
  t = fma(t, x, -1.6156489849090576);
  t = fma(t, x, -2.8363061137497425e-3);
  precise float q = 1.0 - exp2(t);
  q = uintBitsToFloat(floatBitsToUint(q) | (floatBitsToUint(a) & 0x80000000u));
  return x >= 0.92 ? q : p;
}
)";

// The distribution function of the standard normal distribution (src/base/polynomials.h): of negative numbers
// 2^t with t a polynomial, which beyond 6 falls for ever, of others 1 less that of their negative.
constexpr const char* kNdtr = R"(SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
}
)";

}  // namespace

std::map<std::string, std::string> glsl_fused_exponentials() {
  return {{"sn_exp_f32", std::string(kFusedExp)}};
}

std::vector<FunctionTemplate> glsl_exponentials() {
  return {
      {"sn_exp_f32", {}, kExp},
      {"sn_log_f32", {}, kLog},
      {"sn_log1p_f32", {}, kLog1p},
      {"sn_expm1_f32", {}, kExpm1},
      {"sn_tanh_f32", {}, kTanh},
      {"sn_erf_f32", {}, kErf},
      {"sn_ndtr_f32", {}, kNdtr},
      {"sn_sigmoid_f32",
       {},
       "SN_FN float $N(float a) {\n"
       "  precise float y = 1.0 / (1.0 + exp2(a * -1.4426950408889634));\n"
       "  return y;\n"
       "}\n"},
  };
}

}  // namespace sinter::emit
