// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) over vectors.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/interpreter/random.cpp"
#include <algorithm>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/interpreter/random.h"
#include "src/runtime/host/maths/maths-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
using host::RandomKey;

using DU = hn::ScalableTag<std::uint32_t>;
using DF = hn::ScalableTag<float>;
using VU = hn::Vec<DU>;
using VF = hn::Vec<DF>;
constexpr std::size_t kMost = HWY_MAX_BYTES / 4;  // more lanes than any vector has

/// High and low halves of the 64-bit products of all lanes with one factor.
HWY_INLINE void multiply(DU d, VU a, std::uint32_t factor, VU& high, VU& low) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * factor;
  high = hn::Set(d, static_cast<std::uint32_t>(product >> 32));
  low = hn::Set(d, static_cast<std::uint32_t>(product));
#else
  const hn::Repartition<std::uint64_t, DU> d64;
  const VU f = hn::Set(d, factor);
  const auto even = hn::MulEven(a, f);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), f);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
#endif
}

struct Words {
  VU w[4];
};

/// The four 32-bit words of each lane's counter (c0, c1, stream).
HWY_INLINE Words philox(DU d, VU c0, VU c1, RandomKey key) {
  Words x{{c0, c1, hn::Set(d, static_cast<std::uint32_t>(key.stream)),
           hn::Set(d, static_cast<std::uint32_t>(key.stream >> 32))}};
  std::uint32_t k0 = static_cast<std::uint32_t>(key.seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    VU high0, low0, high1, low1;
    multiply(d, x.w[0], 0xD2511F53u, high0, low0);
    multiply(d, x.w[2], 0xCD9E8D57u, high1, low1);
    x = Words{{hn::Xor(hn::Xor(high1, x.w[1]), hn::Set(d, k0)), low1,
               hn::Xor(hn::Xor(high0, x.w[3]), hn::Set(d, k1)), low0}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return x;
}

/// The upper 24 bits plus `add`, times 2^-24.
HWY_INLINE VF to_unit(DF d, VU word, std::int32_t add) {
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::Add(hn::BitCast(di, hn::ShiftRight<8>(word)), hn::Set(di, add));
  return hn::Mul(hn::ConvertTo(d, bits), hn::Set(d, 0x1p-24f));
}

/// Box-Muller: sqrt(-2 ln u1) cos(2 pi u2); the angle is split into quadrants exactly.
HWY_INLINE VF to_normal(DF d, VU word1, VU word2) {
  const hn::RebindToSigned<DF> di;
  const VF radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0f), log_f32(d, to_unit(d, word1, 1))));
  const VF turn = hn::Mul(to_unit(d, word2, 0), hn::Set(d, 4.0f));
  const VF quadrant = hn::Round(turn);
  const VF angle = hn::Mul(hn::Sub(turn, quadrant), hn::Set(d, 1.57079633f));
  return hn::Mul(radius, sin_of_quadrant(d, angle, hn::Add(hn::ConvertTo(di, quadrant), hn::Set(di, 1))));
}

/// All elements of the counters c .. c + lanes - 1, in order: 4 (uniform) or 2 (normal) for each counter.
HWY_INLINE void counters_in_order(std::uint64_t c, RandomKey key, bool normal, float* out) {
  const DU d;
  const DF df;
  VU low, high;
  if (static_cast<std::uint32_t>(c) <= 0xffffffffu - kMost) {
    low = hn::Iota(d, static_cast<std::uint32_t>(c));
    high = hn::Set(d, static_cast<std::uint32_t>(c >> 32));
  } else {
    HWY_ALIGN std::uint32_t lows[kMost], highs[kMost];
    for (std::size_t i = 0; i < kMost; ++i) {
      lows[i] = static_cast<std::uint32_t>(c + i);
      highs[i] = static_cast<std::uint32_t>((c + i) >> 32);
    }
    low = hn::Load(d, lows);
    high = hn::Load(d, highs);
  }
  const Words x = philox(d, low, high, key);
  if (normal) {
    hn::StoreInterleaved2(to_normal(df, x.w[0], x.w[1]), to_normal(df, x.w[2], x.w[3]), df, out);
  } else {
    hn::StoreInterleaved4(to_unit(df, x.w[0], 0), to_unit(df, x.w[1], 0), to_unit(df, x.w[2], 0),
                          to_unit(df, x.w[3], 0), df, out);
  }
}

/// Elements that are not consecutive: computes a counter for each and uses only part of its words.
void random_elements(float* out, const std::uint64_t* elements, std::size_t n, RandomKey key, bool normal) {
  const DU d;
  const DF df;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint32_t lows[kMost] = {}, highs[kMost] = {}, words[4][kMost];
  HWY_ALIGN float values[2][kMost];
  for (std::size_t begin = 0; begin < n; begin += lanes) {
    const std::size_t count = std::min(lanes, n - begin);
    const std::uint64_t* element = elements + begin;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t counter = element[i] >> (normal ? 1 : 2);
      lows[i] = static_cast<std::uint32_t>(counter);
      highs[i] = static_cast<std::uint32_t>(counter >> 32);
    }
    const Words x = philox(d, hn::Load(d, lows), hn::Load(d, highs), key);
    if (normal) {
      hn::Store(to_normal(df, x.w[0], x.w[1]), df, values[0]);
      hn::Store(to_normal(df, x.w[2], x.w[3]), df, values[1]);
      for (std::size_t i = 0; i < count; ++i) out[begin + i] = values[element[i] & 1][i];
    } else {
      for (int w = 0; w < 4; ++w) hn::Store(x.w[w], d, words[w]);
      for (std::size_t i = 0; i < count; ++i)
        out[begin + i] = static_cast<float>(words[element[i] & 3][i] >> 8) * 0x1p-24f;
    }
  }
}

void random_block(float* out, std::uint64_t first, std::size_t n, RandomKey key, bool normal) {
  const std::size_t per_counter = normal ? 2 : 4;
  const std::size_t group = per_counter * hn::Lanes(DU());
  std::size_t skip = first % per_counter;  // elements of the first counter before `first`
  // A block may start before element 0, where a predicate leaves the numbers unused; those from 0 on must be
  // right.
  std::uint64_t counter = static_cast<std::uint64_t>(static_cast<std::int64_t>(first) >> (normal ? 1 : 2));
  HWY_ALIGN float values[4 * kMost];
  for (std::size_t done = 0; done < n; counter += hn::Lanes(DU()), skip = 0) {
    const std::size_t count = std::min(group - skip, n - done);
    if (count == group) {
      counters_in_order(counter, key, normal, out + done);
    } else {
      counters_in_order(counter, key, normal, values);
      std::copy_n(values + skip, count, out + done);
    }
    done += count;
  }
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(random_block);
HWY_EXPORT(random_elements);
void host::random_block(float* out, std::uint64_t first, std::size_t n, RandomKey key, bool normal) {
  HWY_DYNAMIC_DISPATCH(random_block)(out, first, n, key, normal);
}
void host::random_elements(float* out, const std::uint64_t* elements, std::size_t n, RandomKey key,
                           bool normal) {
  HWY_DYNAMIC_DISPATCH(random_elements)(out, elements, n, key, normal);
}
}  // namespace sinter::runtime
#endif
