// A language's functions as templates over dtypes.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

/// `text` is instantiated for each dtype under the name base_dtype (a base that is given no dtype is a full
/// name), with $N the full name, $T the type, $D the dtype's name, $U the unsigned type of the same size, $f
/// "f" for f32 and else "".
struct FunctionTemplate {
  std::string_view base;
  std::vector<DType> dtypes;
  std::string_view text;
};

inline std::map<std::string, std::string, std::less<>> instantiate(
    const std::vector<FunctionTemplate>& templates) {
  std::map<std::string, std::string, std::less<>> functions;
  auto add = [&](const FunctionTemplate& item, std::string_view name, DType dtype) {
    std::string text;
    for (std::size_t at = 0; at < item.text.size(); ++at) {
      if (item.text[at] != '$') {
        text += item.text[at];
        continue;
      }
      switch (item.text[++at]) {
        case 'N': text += name; break;
        case 'T': text += value_type(dtype); break;
        case 'D': text += name_of(dtype); break;
        case 'U': text += size_of(dtype) == 8 ? "u64" : "u32"; break;
        case 'f': text += dtype == DType::f32 ? "f" : ""; break;
      }
    }
    functions.emplace(name, std::move(text));
  };
  for (const FunctionTemplate& item : templates) {
    if (item.dtypes.empty()) add(item, item.base, DType::f32);
    for (DType dtype : item.dtypes)
      add(item, std::string(item.base) + "_" + std::string(name_of(dtype)), dtype);
  }
  return functions;
}

inline const std::vector<DType> kF32 = {DType::f32}, kF64 = {DType::f64};
inline const std::vector<DType> kFloats = {DType::f32, DType::f64};
inline const std::vector<DType> kInts = {DType::i32, DType::i64};
inline const std::vector<DType> kNumbers = {DType::f32, DType::f64, DType::i32, DType::i64};
inline const std::vector<DType> kBool = {DType::boolean};

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011); sn_mulhi is the
/// language's own.
inline constexpr std::string_view kPhilox = R"(struct sn_words { u32 x, y, z, w; };
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

inline constexpr std::string_view kUniform = R"(SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
)";

inline constexpr std::string_view kNormal = R"(SN_FN float sn_normal(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 1, seed, stream);
  const bool odd = (u32(i) & 1u) != 0u;
  const float u = float(((odd ? words.z : words.x) >> 8) + 1u) * 5.9604644775390625e-8f;
  const float v = float((odd ? words.w : words.y) >> 8) * 5.9604644775390625e-8f;
  return sn_sqrt_f32(-2.0f * sn_log_f32(u)) * sn_cos_f32(6.283185307179586f * v);
}
)";

}  // namespace sinter::emit
