// Functions that C-like languages define alike.
#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

namespace {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011); sn_mulhi is the
// language's own.
constexpr std::string_view kPhilox = R"(struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
)";

constexpr std::string_view kUniform = R"(SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
)";

constexpr std::string_view kNormal = R"(SN_FN float sn_normal(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 1, seed, stream);
  const bool odd = (u32(i) & 1u) != 0u;
  const float u = float(((odd ? words.z : words.x) >> 8) + 1u) * 5.9604644775390625e-8f;
  const float v = float((odd ? words.w : words.y) >> 8) * 5.9604644775390625e-8f;
  return sn_sqrt_f32(-2.0f * sn_log_f32(u)) * sn_cos_f32(6.283185307179586f * v);
}
)";

/// sn_cast_FROM_TO.
void add_casts(FunctionTable& functions, const FunctionSpelling& spelling) {
  const auto cast = [&](DType from, DType to, const std::string& value) {
    const std::string name = "sn_cast_" + std::string(name_of(from)) + "_" + std::string(name_of(to));
    functions.emplace(name, "SN_FN " + std::string(c_type(to)) + " " + name + "(" +
                                std::string(c_type(from)) + " a) { return " + value + "; }\n");
  };
  cast(DType::f32, DType::f64, "double(a)");
  cast(DType::f64, DType::f32, "float(a)");
  cast(DType::i64, DType::i32, "int(a)");
  cast(DType::i32, DType::i64, "i64(a)");
  for (DType number : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    const std::string type(c_type(number)), differs = "a != " + type + "(0)";
    const bool asks = is_float(number) && !spelling.compares_nan;
    cast(number, DType::boolean,
         asks ? differs + " || sn_is_nan_" + std::string(name_of(number)) + "(a)" : differs);
    cast(DType::boolean, number, "a ? " + type + "(1) : " + type + "(0)");
    if (is_float(number)) continue;
    cast(number, DType::f32, "float(a)");
    cast(number, DType::f64, "double(a)");
  }
  // Registers hold the low bits of small integers, without their sign.
  for (DType small : {DType::i8, DType::i16, DType::u8, DType::u16}) {
    const int bits = 8 * static_cast<int>(size_of(small));
    const std::string unused = std::to_string(32 - bits);
    cast(DType::i32, small, "u32(a) & " + std::to_string((1 << bits) - 1) + "u");
    cast(small, DType::i32, is_unsigned(small) ? "int(a)" : "int(a << " + unused + ") >> " + unused);
  }
  cast(DType::i64, DType::u32, "u32(a)");
  cast(DType::u32, DType::i64, "i64(a)");
  cast(DType::i64, DType::u64, "a");
  cast(DType::u64, DType::i64, "a");
}

}  // namespace

// Casts choose between values that are there: with a branch each, neighbours would be cast in turn.
const std::string_view kBf16OfFloat =
    "  const u32 b = $[a$], nan = (b >> 16) | 0x40u, near = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;\n"
    "  return (b & 0x7fffffffu) > 0x7f800000u ? nan : near;\n";

const std::string_view kFloatOfF16 =
    "  const u32 sign = (a & 0x8000u) << 16, size = a & 0x7fffu;\n"
    "  const u32 small = $[float(size) * 5.9604644775390625e-8$f$];\n"
    "  const u32 large = (size << 13) + (size < 0x7c00u ? 0x38000000u : 0x70000000u);\n"
    "  return $<sign | (size < 0x400u ? small : large)$>;\n";

// The steps are those of include/sinter/float8.h.
std::string e4m3_of_float(std::string_view exact) {
  return "  const u32 b = $[a$], sign = (b >> 24) & 0x80u, size = b & 0x7fffffffu;\n  " + std::string(exact) +
         "sum = $<size$> + 16384.0$f;\n"
         "  const u32 small = $[sum$] - 0x46800000u;\n"
         "  const u32 moved = size - 0x3c000000u, whole = (moved + 0x7ffffu + ((moved >> 20) & 1u)) >> 20;\n"
         "  const u32 large = whole < 0x7fu ? whole : 0x7fu;\n"
         "  return sign | (size < 0x3c800000u ? small : large);\n";
}

std::string e5m2_of_float(std::string_view exact) {
  return "  const u32 b = $[a$], sign = (b >> 24) & 0x80u, size = b & 0x7fffffffu;\n  " + std::string(exact) +
         "sum = $<size$> + 128.0$f;\n"
         "  const u32 small = $[sum$] - 0x43000000u;\n"
         "  const u32 moved = size - 0x38000000u, whole = (moved + 0xfffffu + ((moved >> 21) & 1u)) >> 21;\n"
         "  const u32 large = whole < 0x7cu ? whole : 0x7cu, finite = size < 0x38800000u ? small : large;\n"
         "  return sign | (size > 0x7f800000u ? 0x7fu : finite);\n";
}

void add_shared_functions(FunctionTable& functions, const FunctionSpelling& spelling) {
  functions.merge(instantiate(
      {
          {"sn_sqrt", kFloats, unary("sqrt$f(a)")},
          {"sn_recip", kFloats, unary("$T(1) / a")},
          {"sn_floor", kFloats, unary("floor$f(a)")},
          {"sn_ceil", kFloats, unary("ceil$f(a)")},
          {"sn_trunc", kFloats, unary("trunc$f(a)")},
          {"sn_not", kBool, unary("!a")},
          {"sn_not", kInts, unary("~a")},
          {"sn_and", kBool, binary("a && b")},
          {"sn_and", kInts, binary("a & b")},
          {"sn_or", kBool, binary("a || b")},
          {"sn_or", kInts, binary("a | b")},
          {"sn_xor", kBool, binary("a != b")},
          {"sn_xor", kInts, binary("a ^ b")},
          // NaN wins: fmax would drop it.
          {"sn_max", kFloats, binary("a > b || $n ? a : b")},
          {"sn_min", kFloats, binary("a < b || $n ? a : b")},
          {"sn_max", kInts, binary("a > b ? a : b")},
          {"sn_min", kInts, binary("a < b ? a : b")},
          {"sn_max", kBool, binary("a || b")},
          {"sn_min", kBool, binary("a && b")},
          {"sn_cast_bf16_f32", {}, "SN_FN float $N(u32 a) { return $<a << 16$>; }\n"},
          {"sn_cast_f8_e4m3_f32",
           {},
           "SN_FN float $N(u32 a) {\n"
           "  const u32 sign = (a & 0x80u) << 24, size = a & 0x7fu;\n"
           "  const u32 subnormal = $[float(size) * 1.953125e-3$f$];\n"
           "  const u32 normal = (size << 20) + (size < 0x7fu ? 0x3c000000u : 0x78000000u);\n"
           "  return $<sign | (size < 8u ? subnormal : normal)$>;\n"
           "}\n"},
          // The upper half of an f16.
          {"sn_cast_f8_e5m2_f32", {}, "SN_FN float $N(u32 a) { return sn_cast_f16_f32(a << 8); }\n"},
          {"sn_philox", {}, std::string(kPhilox)},
          {"sn_uniform", {}, std::string(kUniform)},
          {"sn_normal", {}, std::string(kNormal)},
      },
      spelling));
  add_casts(functions, spelling);
}

}  // namespace sinter::emit
