// The prelude's functions in CUDA C++. The compiler has accurate mathematics built in.
#include "jit/emit/dialects/cuda/cuda.h"
#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

namespace {

constexpr FunctionSpelling kSpelling = {.float_suffix = "f",
                                        .compares_nan = true,
                                        .bits_before = "u32(__float_as_int(",
                                        .bits_after = "))",
                                        .float_before = "__int_as_float(int(",
                                        .float_after = "))"};

// Below 0.92 an odd polynomial, above it 1 - 2^t with t a polynomial for the logarithm of erfc; within 2.1
// ulp. Beyond 4 t is below -25 and falls for ever, which gives 1. A third of the instructions of the
// compiler's own function, which chooses its coefficients element by element.
constexpr const char* kErf = R"(SN_FN float sn_erf_f32(float a) {
  const float c = fabsf(a), z = a * a;
  float p = fma(-5.99940656684339e-4f, z, 4.994830582290888e-3f);
  p = fma(p, z, -2.676771953701973e-2f);
  p = fma(p, z, 1.1281845718622208e-1f);
  p = fma(p, z, -3.761249780654907e-1f);
  p = fma(p, z, 1.2837915122509003e-1f);
  p = fma(a, p, a);
  float t = fma(-1.7890962772071362e-3f, c, 2.2345077246427536e-2f);
  t = fma(t, c, -1.3103951513767242e-1f);
  t = fma(t, c, -9.39447820186615e-1f);
  t = fma(t, c, -1.6156489849090576f);
  t = fma(t, c, -2.8363061137497425e-3f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  q = copysignf(1.0f - q, a);
  return c >= 0.92f ? q : p;
}
)";

// The distribution function of the standard normal distribution (src/base/polynomials.h): of negative numbers
// 2^t with t a polynomial, of others 1 less that of their negative. A gelu takes two thirds of the
// instructions that it takes by erf.
constexpr const char* kNdtr = R"(SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
)";

// The instruction that keeps NaN came with compute capability 8.0.
constexpr const char* kMax = R"(SN_FN float sn_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a > b || a != a ? a : b;
#endif
}
)";
constexpr const char* kMin = R"(SN_FN float sn_min_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a < b || a != a ? a : b;
#endif
}
)";

// Numbers with a sign have the order of those without, once the sign's bit is turned over. For compute
// capability 9.0, ptxas 13.0 makes one instruction of two maxima and forgets that one of its operands was to
// be negated: max(max(-a, -b), -c) comes out wrong; it cannot look through this.
constexpr const char* kMaxOfInts = R"(SN_FN int sn_max_i32(int a, int b) {
  const u32 x = u32(a) ^ 0x80000000u, z = u32(b) ^ 0x80000000u;
  u32 y;
  asm("max.u32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(z));
  return int(y ^ 0x80000000u);
}
)";
constexpr const char* kMinOfInts = R"(SN_FN int sn_min_i32(int a, int b) {
  const u32 x = u32(a) ^ 0x80000000u, z = u32(b) ^ 0x80000000u;
  u32 y;
  asm("min.u32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(z));
  return int(y ^ 0x80000000u);
}
)";

// Division by a number that many are divided by, from its rounded reciprocal: two Newton steps give the
// rounded quotient, as long as nothing on the way overflows or is subnormal. Else, and for a reciprocal that
// is NaN, the compiler's own. Half of its instructions, none of them on the slow units.
constexpr const char* kReciprocal = R"(SN_FN float sn_reciprocal_f32(float b) {
  const float m = fabsf(b);
  return m > 9.5367431640625e-7f && m < 1.152921504606847e18f ? 1.0f / b : __int_as_float(0x7fc00000);
}
)";
constexpr const char* kDivBy = R"(SN_FN float sn_div_by_f32(float a, float b, float reciprocal) {
  const float q = a * reciprocal;
  const float p = fma(fma(-b, q, a), reciprocal, q);
  const float m = fabsf(p);
  if (m > 8.271806125530277e-25f && m < 1.152921504606847e18f) return fma(fma(-b, p, a), reciprocal, p);
  return a == 0.0f && q == 0.0f ? q : a / b;
}
)";

/// sn_load4 and sn_store4. What a lane holds are values; memory has bytes for bool and u8.
void add_vectors(FunctionTable& table) {
  auto vectors = [&](DType dtype, const std::string& vector, const std::string& element, bool halves) {
    const std::string type(c_type(dtype)), name(name_of(dtype));
    auto value = [&](const std::string& text) { return dtype == DType::boolean ? text + " != 0" : text; };
    std::string load =
        "SN_FN void sn_load4_" + name + "(" + type + " (&to)[4], const " + element + "* from) {\n";
    std::string store =
        "SN_FN void sn_store4_" + name + "(" + element + "* to, const " + type + " (&from)[4]) {\n";
    if (halves) {
      load += "  const " + vector + " low = ((const " + vector + "*)from)[0], high = ((const " + vector +
              "*)from)[1];\n  to[0] = low.x;\n  to[1] = low.y;\n  to[2] = high.x;\n  to[3] = high.y;\n}\n";
      store += "  ((" + vector + "*)to)[0] = make_" + vector + "(from[0], from[1]);\n  ((" + vector +
               "*)to)[1] = make_" + vector + "(from[2], from[3]);\n}\n";
    } else {
      load += "  const " + vector + " all = *(const " + vector + "*)from;\n  to[0] = " + value("all.x") +
              ";\n  to[1] = " + value("all.y") + ";\n  to[2] = " + value("all.z") +
              ";\n  to[3] = " + value("all.w") + ";\n}\n";
      store += "  *(" + vector + "*)to = make_" + vector + "(from[0], from[1], from[2], from[3]);\n}\n";
    }
    table["sn_load4_" + name] = load;
    table["sn_store4_" + name] = store;
  };
  vectors(DType::f32, "float4", "float", false);
  vectors(DType::i32, "int4", "int", false);
  vectors(DType::f64, "double2", "double", true);
  vectors(DType::i64, "longlong2", "i64", true);
  vectors(DType::u32, "uint4", "u32", false);
  vectors(DType::u64, "longlong2", "i64", true);
  for (DType dtype : {DType::i8, DType::u8, DType::f8_e4m3, DType::f8_e5m2})
    vectors(dtype, "uchar4", "unsigned char", false);
  vectors(DType::boolean, "uchar4", "unsigned char", false);
}

/// The same of 16 bits, and sn_load8 and sn_store8: two are a word (SnPairs), and eight of them one vector.
/// sn_store_floats4 and 8 round two floats by one instruction.
void add_vectors_of_halves(FunctionTable& table) {
  for (DType dtype : {DType::bf16, DType::f16, DType::i16, DType::u16})
    for (int width : {4, 8}) {
      const std::string name(name_of(dtype)), count = std::to_string(width),
                                              vector = width == 4 ? "uint2" : "uint4";
      std::string load = "SN_FN void sn_load" + count + "_" + name + "(SnPairs<" + count +
                         ">& to, const unsigned short* from) {\n  const " + vector + " all = *(const " +
                         vector + "*)from;\n";
      std::string words, rounded;
      for (int w = 0; w < width / 2; ++w) {
        const std::string number = std::to_string(w), comma = w ? ", " : "";
        load += "  to.words[" + number + "] = all." + "xyzw"[w] + ";\n";
        words += comma + "from.words[" + number + "]";
        rounded += comma + "sn_pair_" + name + "(from[" + std::to_string(2 * w) + "], from[" +
                   std::to_string(2 * w + 1) + "])";
      }
      const auto store = [&](const std::string& function, const std::string& from, const std::string& what) {
        table[function] = "SN_FN void " + function + "(unsigned short* to, const " + from + ") {\n  *(" +
                          vector + "*)to = make_" + vector + "(" + what + ");\n}\n";
      };
      table["sn_load" + count + "_" + name] = load + "}\n";
      store("sn_store" + count + "_" + name, "SnPairs<" + count + ">& from", words);
      if (is_half(dtype))
        store("sn_store_floats" + count + "_" + name, "float (&from)[" + count + "]", rounded);
    }
  for (DType dtype : {DType::bf16, DType::f16}) {
    const std::string name(name_of(dtype)), cast = "sn_cast_f32_" + name + "(";
    table["sn_pair_" + name] =
        "SN_FN u32 sn_pair_" + name +
        "(float low, float high) {\n"
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n  u32 pair;\n  asm(\"cvt.rn." +
        name +
        "x2.f32 %0, %1, %2;\" : \"=r\"(pair) : \"f\"(high), \"f\"(low));\n  return pair;\n#else\n  return " +
        cast + "low) | " + cast + "high) << 16;\n#endif\n}\n";
  }
}

/// sn_load8 and sn_store8 of bytes, which are the words of one vector.
void add_vectors_of_bytes(FunctionTable& table) {
  for (DType dtype : {DType::i8, DType::u8, DType::f8_e4m3, DType::f8_e5m2, DType::boolean}) {
    const std::string type(c_type(dtype)), name(name_of(dtype)),
        value = dtype == DType::boolean ? " != 0" : "";
    table["sn_load8_" + name] =
        "SN_FN void sn_load8_" + name + "(" + type + " (&to)[8], const unsigned char* from) {\n" +
        "  const uint2 all = *(const uint2*)from;\n#pragma unroll\n  for (int i = 0; i < 4; ++i) {\n" +
        "    to[i] = __byte_perm(all.x, 0u, 0x4440u | i)" + value +
        ";\n    to[4 + i] = __byte_perm(all.y, 0u, 0x4440u | i)" + value + ";\n  }\n}\n";
    table["sn_store8_" + name] =
        "SN_FN void sn_store8_" + name + "(unsigned char* to, const " + type + " (&from)[8]) {\n" +
        "  u32 low = 0, high = 0;\n#pragma unroll\n  for (int i = 0; i < 4; ++i) {\n" +
        "    low |= (u32(from[i]) & 255u) << 8 * i;\n    high |= (u32(from[4 + i]) & 255u) << 8 * i;\n  }\n" +
        "  *(uint2*)to = make_uint2(low, high);\n}\n";
  }
}

/// sn_load8 and sn_store8 of what is larger: two vectors.
void add_pairs_of_vectors(FunctionTable& table) {
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64}) {
    const std::string type(c_type(dtype)), name(name_of(dtype));
    table["sn_load8_" + name] = "SN_FN void sn_load8_" + name + "(" + type + " (&to)[8], const " + type +
                                "* from) {\n  sn_load4_" + name + "((" + type +
                                " (&)[4])to[0], from);\n  sn_load4_" + name + "((" + type +
                                " (&)[4])to[4], from + 4);\n}\n";
    table["sn_store8_" + name] = "SN_FN void sn_store8_" + name + "(" + type + "* to, const " + type +
                                 " (&from)[8]) {\n  sn_store4_" + name + "(to, (const " + type +
                                 " (&)[4])from[0]);\n  sn_store4_" + name + "(to + 4, (const " + type +
                                 " (&)[4])from[4]);\n}\n";
  }
}

FunctionTable make_table() {
  std::vector<FunctionTemplate> t = {
      {"sn_abs", kFloats, unary("fabs$f(a)")},
      {"sn_abs", kInts, unary("a < 0 ? $T($U(0) - $U(a)) : a")},
      {"sn_sign", kFloats, unary("a > $T(0) ? $T(1) : a < $T(0) ? $T(-1) : a == $T(0) ? $T(0) : a")},
      {"sn_sign", kInts, unary("$T(a > 0) - $T(a < 0)")},
      {"sn_exp", kFloats, unary("exp$f(a)")},
      {"sn_log", kFloats, unary("log$f(a)")},
      {"sn_log1p", kFloats, unary("log1p$f(a)")},
      {"sn_expm1", kFloats, unary("expm1$f(a)")},
      {"sn_rsqrt", kF32, unary("rsqrtf(a)")},  // within 2 ulp
      {"sn_rsqrt", kF64, unary("1.0 / sqrt(a)")},
      {"sn_sin", kFloats, unary("sin$f(a)")},
      {"sn_cos", kFloats, unary("cos$f(a)")},
      {"sn_tan", kFloats, unary("tan$f(a)")},
      {"sn_asin", kFloats, unary("asin$f(a)")},
      {"sn_acos", kFloats, unary("acos$f(a)")},
      {"sn_atan", kFloats, unary("atan$f(a)")},
      {"sn_atan2", kFloats, binary("atan2$f(a, b)")},
      {"sn_sinh", kFloats, unary("sinh$f(a)")},
      {"sn_cosh", kFloats, unary("cosh$f(a)")},
      {"sn_asinh", kFloats, unary("asinh$f(a)")},
      {"sn_acosh", kFloats, unary("acosh$f(a)")},
      {"sn_atanh", kFloats, unary("atanh$f(a)")},
      {"sn_tanh", kFloats, unary("tanh$f(a)")},
      // The fast division gives 0 where the quotient would be denormal.
      {"sn_sigmoid", kF32, unary("__fdividef(1.0f, 1.0f + expf(-a))")},
      {"sn_sigmoid", kF64, unary("1.0 / (1.0 + exp(-a))")},
      {"sn_erf", kF32, kErf},
      {"sn_erf", kF64, unary("erf(a)")},
      {"sn_ndtr", kF32, kNdtr},
      {"sn_ndtr", kF64, unary("0.5 * erfc(a * -0.7071067811865476)")},
      {"sn_join_welford", kFloats,
       "SN_FN void $N($T& n, $T& mean, $T& m2, $T on, $T omean, $T om2) {\n"
       "  const $T total = n + on, d = omean - mean, share = total > $T(0) ? on / total : $T(0);\n"
       "  mean = mean + d * share;\n"
       "  m2 = (m2 + om2) + d * d * (n * share);\n"
       "  n = total;\n"
       "}\n"},
      {"sn_round", kFloats, unary("rint$f(a)")},
      {"sn_is_nan", kFloats, "SN_FN bool $N($T a) { return a != a; }\n"},
      // All bits are shifted out by counts that are negative or too large.
      {"sn_shift_left", kInts, binary("b < 0 || b >= $T(8 * sizeof(a)) ? $T(0) : $T($U(a) << b)")},
      {"sn_shift_right", kInts,
       binary("b < 0 || b >= $T(8 * sizeof(a)) ? (a < 0 ? $T(-1) : $T(0)) : a >> b")},
      {"sn_div", kFloats, binary("a / b")},
      {"sn_reciprocal", kF32, kReciprocal},
      {"sn_div_by", kF32, kDivBy},
      {"sn_div", kInts, binary("b == 0 ? $T(0) : b == -1 ? $T($U(0) - $U(a)) : a / b")},
      {"sn_remainder", kFloats,
       "SN_FN $T $N($T a, $T b) {\n"
       "  const $T r = fmod$f(a, b);\n"
       "  return r != $T(0) && (r < $T(0)) != (b < $T(0)) ? r + b : r;\n"
       "}\n"},
      {"sn_remainder", kInts,
       "SN_FN $T $N($T a, $T b) {\n"
       "  if (b == 0 || b == -1) return 0;\n"
       "  const $T r = a % b;\n"
       "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n"
       "}\n"},
      {"sn_pow", kFloats, binary("pow$f(a, b)")},
      // NaN wins: fmax would drop it.
      {"sn_max", kF32, kMax},
      {"sn_min", kF32, kMin},
      {"sn_max_i32", {}, kMaxOfInts},
      {"sn_min_i32", {}, kMinOfInts},

      {"sn_cast_f32_i32", {}, "SN_FN int $N(float a) { return a != a ? 0 : __float2int_rz(a); }\n"},
      {"sn_cast_f32_i64", {}, "SN_FN i64 $N(float a) { return a != a ? 0 : __float2ll_rz(a); }\n"},
      {"sn_cast_f32_u8",
       {},
       "SN_FN u32 $N(float a) { return __float2uint_rz(fminf(fmaxf(a, 0.0f), 255.0f)); }\n"},
      {"sn_cast_f64_i32", {}, "SN_FN int $N(double a) { return a != a ? 0 : __double2int_rz(a); }\n"},
      {"sn_cast_f64_i64", {}, "SN_FN i64 $N(double a) { return a != a ? 0 : __double2ll_rz(a); }\n"},
      {"sn_cast_f64_u8",
       {},
       "SN_FN u32 $N(double a) { return __double2uint_rz(fmin(fmax(a, 0.0), 255.0)); }\n"},

      {"sn_cast_f32_bf16",
       {},
       "SN_FN u32 $N(float a) {\n"
       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
       "  u32 pair;  // with zero: of a single one some conversions run at an eighth of the speed\n"
       "  asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(pair) : \"f\"(0.0f), \"f\"(a));\n"
       "  return pair;\n"
       "#else\n" +
           std::string(kBf16OfFloat) +
           "#endif\n"
           "}\n"},
      {"sn_round_bf16",
       {},
       "SN_FN float $N(float a) {\n"
       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
       "  u32 pair;  // in its upper half a bf16 is what it is as an f32\n"
       "  asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(pair) : \"f\"(a), \"f\"(0.0f));\n"
       "  return __int_as_float(int(pair));\n"
       "#else\n"
       "  return sn_cast_bf16_f32(sn_cast_f32_bf16(a));\n"
       "#endif\n"
       "}\n"},
      {"sn_cast_f16_f32",
       {},
       "SN_FN float $N(u32 a) {\n"
       "#if defined(__CUDA_ARCH__)\n"
       "  float f;\n"
       "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"((unsigned short)a));\n"
       "  return f;\n"
       "#else\n" +
           std::string(kFloatOfF16) +
           "#endif\n"
           "}\n"},
      {"sn_cast_f32_f16",
       {},
       "SN_FN u32 $N(float a) {\n"
       "#if defined(__CUDA_ARCH__)\n"
       "  unsigned short h;\n"
       "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(a));\n"
       "  return h;\n"
       "#else\n"
       "  const u32 b = u32(__float_as_int(a)), sign = (b >> 16) & 0x8000u, size = b & 0x7fffffffu;\n"
       "  if (size > 0x7f800000u) return sign | 0x7e00u;\n"
       "  if (size < 0x38800000u) return sign | (u32(__float_as_int(__int_as_float(int(size)) + 0.5f)) - "
       "0x3f000000u);\n"
       "  const u32 moved = size - 0x38000000u, whole = (moved + 0xfffu + ((moved >> 13) & 1u)) >> 13;\n"
       "  return sign | (whole < 0x7c00u ? whole : 0x7c00u);\n"
       "#endif\n"
       "}\n"},
      // The instruction takes what is beyond the greatest number for that number.
      {"sn_cast_f32_f8_e4m3",
       {},
       "SN_FN u32 $N(float a) {\n"
       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890\n"
       "  unsigned short pair;\n"
       "  asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(pair) : \"f\"(0.0f), \"f\"(a));\n"
       "  return fabsf(a) <= 464.0f ? u32(pair) : u32(pair) | 0x7fu;\n"
       "#else\n" +
           e4m3_of_float("const float ") +
           "#endif\n"
           "}\n"},
      {"sn_cast_f32_f8_e5m2",
       {},
       "SN_FN u32 $N(float a) {\n"
       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890\n"
       "  unsigned short pair;\n"
       "  asm(\"cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;\" : \"=h\"(pair) : \"f\"(0.0f), \"f\"(a));\n"
       "  return fabsf(a) >= 61440.0f ? (u32(pair) & 0x80u) | 0x7cu : u32(pair);\n"
       "#else\n" +
           e5m2_of_float("const float ") +
           "#endif\n"
           "}\n"},
      // As the last digits of 2^23 a byte takes two instructions at full speed, where a conversion takes one
      // at a quarter of it.
      {"sn_cast_i8_f32",
       {},
       "SN_FN float $N(u32 a) { return __int_as_float(int(a ^ 0x4b000080u)) - 8388736.0f; }\n"},
      {"sn_cast_u8_f32",
       {},
       "SN_FN float $N(u32 a) { return __int_as_float(int(a | 0x4b000000u)) - 8388608.0f; }\n"},
      // f16 has a greater bias, by 8, and the same denormal numbers.
      {"sn_cast_f8_e4m3_f32",
       {},
       "SN_FN float $N(u32 a) {\n"
       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890\n"
       "  u32 pair;\n"
       "  asm(\"cvt.rn.f16x2.e4m3x2 %0, %1;\" : \"=r\"(pair) : \"h\"((unsigned short)a));\n"
       "  return sn_cast_f16_f32(pair & 0xffffu);\n"
       "#endif\n"
       "  const float f = sn_cast_f16_f32(((a & 0x80u) << 8) | ((a & 0x7fu) << 7)) * 256.0f;\n"
       "  return (a & 0x7fu) == 0x7fu ? __int_as_float(0x7fc00000) : f;\n"
       "}\n"},

      {"sn_mulhi", {}, "SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }\n"},
  };

  FunctionTable table = instantiate(t, kSpelling);
  add_shared_functions(table, kSpelling);

  add_vectors(table);
  add_vectors_of_halves(table);
  add_vectors_of_bytes(table);
  add_pairs_of_vectors(table);
  return table;
}

}  // namespace

std::string_view cuda_head() {
  return "#define SN_FN static __device__ __forceinline__\n"
         "SN_FN void sn_follow() {\n"
         "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
         "  asm volatile(\"griddepcontrol.launch_dependents;\\n\\tgriddepcontrol.wait;\" ::: \"memory\");\n"
         "#endif\n"
         "}\n";
}

std::string_view cuda_pairs() {
  return "template <int N>\n"
         "struct SnPairs {\n"
         "  u32 words[N / 2];\n"
         "  struct Value {\n"
         "    u32& word;\n"
         "    const int shift;\n"
         "    __device__ __forceinline__ operator u32() const { return word >> shift & 0xffffu; }\n"
         "    __device__ __forceinline__ void operator=(u32 value) {\n"
         "      word = (word & 0xffff0000u >> shift) | value << shift;\n"
         "    }\n"
         "  };\n"
         "  __device__ __forceinline__ Value operator[](int k) { return {words[k / 2], k % 2 * 16}; }\n"
         "  __device__ __forceinline__ u32 operator[](int k) const { return words[k / 2] >> k % 2 * 16 & "
         "0xffffu; }\n"
         "};\n";
}

std::string_view cuda_function(std::string_view name) {
  static const auto& table = *new auto(make_table());  // never destroyed: threads may compile
  auto found = table.find(name);
  return found == table.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace sinter::emit
