// What warps of compute capability 8.0 do together, for contraction_sm80.cu, contraction_few_rows.cu and
// attention_sm80.cu in kernels/tensor_cores: the emulated NVRTC takes the functions of these names, which are
// PTX, out of the text and includes this instead. Which element of a matrix each lane holds is written
// down here once more, from the PTX manual. Copies arrive as late as they may: when they are waited for.
#pragma once

namespace sinter_emulation {

constexpr unsigned kMostThreads = 1024, kMostCopies = 2048, kSharedBegins = 1024;

inline char* shared_memory = nullptr;

inline unsigned lane() { return threadIdx.x % 32; }
inline unsigned first_of_warp() { return threadIdx.x - lane(); }
inline char* at_shared(unsigned address) {
  if (address < kSharedBegins || address - kSharedBegins >= kMostShared) __builtin_trap();
  return shared_memory + (address - kSharedBegins);
}

struct Copy {
  unsigned to;
  const char* from;
  int size, bytes;
};
struct Copies {
  Copy copies[kMostCopies];
  unsigned begin, end;    // counted on and on
  unsigned ends[16];      // of the groups that were committed
  unsigned first, count;  // of those
};
inline Copies pending[kMostThreads];

inline void copy_later(unsigned to, const void* from, int size, int bytes) {
  if (to % static_cast<unsigned>(size) != 0 || bytes < 0 || bytes > size ||
      (bytes > 0 && reinterpret_cast<unsigned long>(from) % static_cast<unsigned long>(size) != 0))
    __builtin_trap();
  Copies& own = pending[threadIdx.x];
  if (own.end - own.begin == kMostCopies) __builtin_trap();
  own.copies[own.end++ % kMostCopies] = {to, static_cast<const char*>(from), size, bytes};
}
inline void wait_for_all_but(unsigned groups) {
  Copies& own = pending[threadIdx.x];
  for (; own.count > groups; --own.count, ++own.first)
    for (; own.begin != own.ends[own.first % 16]; ++own.begin) {
      const Copy& copy = own.copies[own.begin % kMostCopies];
      for (int k = 0; k < copy.size; ++k) at_shared(copy.to)[k] = k < copy.bytes ? copy.from[k] : 0;
    }
}

/// What the lanes of a warp show each other. Two in turn: a lane may show its next words before all have read
/// these.
struct Shown {
  unsigned words[8];
};
inline Shown shown[2][kMostThreads];
inline unsigned char turns[kMostThreads];
inline const Shown* show(const Shown& own) {
  const unsigned turn = turns[threadIdx.x] ^= 1;
  shown[turn][threadIdx.x] = own;
  __syncwarp();
  return shown[turn] + first_of_warp();
}

/// Eight lanes give the lines of a matrix, 16 bytes each.
inline void load_matrices(unsigned (&to)[4], unsigned at, bool transposed) {
  if (at % 16 != 0) __builtin_trap();
  const Shown* all = show({{at}});
  const unsigned own = lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    const auto element = [&](unsigned line, unsigned k) {
      return reinterpret_cast<const unsigned short*>(at_shared(all[matrix * 8 + line].words[0]))[k];
    };
    const unsigned line = own / 4, k = own % 4 * 2;
    to[matrix] = transposed ? element(k, line) | static_cast<unsigned>(element(k + 1, line)) << 16
                            : element(line, k) | static_cast<unsigned>(element(line, k + 1)) << 16;
  }
  __syncwarp();  // before anything is written there again
}

enum class Factor { TF32, BF16, F16 };
template <Factor kFactor>
float factor_of(unsigned word, unsigned half) {
  if (kFactor == Factor::TF32)  // what is below its 10 bits is not looked at
    return __builtin_bit_cast(float, word & 0xffffe000u);
  if (kFactor == Factor::BF16) return __builtin_bit_cast(float, (word >> 16 * half & 0xffffu) << 16);
  return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<unsigned short>(word >> 16 * half)));
}

}  // namespace sinter_emulation

inline unsigned tc_shared_address(const void* at) {
  sinter_emulation::shared_memory = static_cast<char*>(const_cast<void*>(at));
  return sinter_emulation::kSharedBegins;
}
inline void tc_copy_16(unsigned to, const void* from, int bytes) {
  sinter_emulation::copy_later(to, from, 16, bytes);
}
inline void tc_copy_near_16(unsigned to, const void* from, int bytes) { tc_copy_16(to, from, bytes); }
inline void tc_copy_only_8(unsigned to, const void* from, int bytes) {
  sinter_emulation::copy_later(to, from, 8, bytes);
}
inline void tc_copy_only_4(unsigned to, const void* from, int bytes) {
  sinter_emulation::copy_later(to, from, 4, bytes);
}
inline void tc_commit() {
  sinter_emulation::Copies& own = sinter_emulation::pending[threadIdx.x];
  own.ends[(own.first + own.count++) % 16] = own.end;
}
template <int kGroups>
void tc_wait_all_but() {
  sinter_emulation::wait_for_all_but(kGroups);
}
inline void tc_load_matrices(unsigned (&to)[4], unsigned at) {
  sinter_emulation::load_matrices(to, at, false);
}
inline void tc_load_transposed(unsigned (&to)[4], unsigned at) {
  sinter_emulation::load_matrices(to, at, true);
}
inline void tc_put_words(unsigned to, unsigned x, unsigned y, unsigned z, unsigned w) {
  unsigned* words = reinterpret_cast<unsigned*>(sinter_emulation::at_shared(to));
  words[0] = x, words[1] = y, words[2] = z, words[3] = w;
}
inline unsigned tc_rounded(float a) {
  return (__builtin_bit_cast(unsigned, a) + 0x1000u) & 0xffffe000u;  // ties away from zero
}
inline void tc_bring_near(const void*) {}
inline void tc_read_four(float (&to)[4], unsigned at) {
  if (at % 16 != 0) __builtin_trap();
  for (unsigned i = 0; i < 4; ++i) to[i] = reinterpret_cast<float*>(sinter_emulation::at_shared(at))[i];
}
inline void tc_read_two(float (&to)[2], unsigned at) {
  if (at % 8 != 0) __builtin_trap();
  for (unsigned i = 0; i < 2; ++i) to[i] = reinterpret_cast<float*>(sinter_emulation::at_shared(at))[i];
}
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
struct alignas(8) float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }

/// A lane has of a the rows lane/4 and lane/4 + 8, of b the column lane/4, each at 32 bits of k from lane%4
/// on and as much again half a step later; of d two neighbours of both rows.
template <sinter_emulation::Factor kFactor>
void multiply_matrices(float* d, const unsigned* a, const unsigned* b) {
  const sinter_emulation::Shown* all = sinter_emulation::show({{a[0], a[1], a[2], a[3], b[0], b[1]}});
  const unsigned own = sinter_emulation::lane();
  constexpr unsigned kHalves = kFactor == sinter_emulation::Factor::TF32 ? 1 : 2;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = own / 4 + i / 2 * 8, column = own % 4 * 2 + i % 2;
    for (unsigned later = 0; later < 2; ++later)
      for (unsigned k = 0; k < 4; ++k)
        for (unsigned half = 0; half < kHalves; ++half)
          d[i] +=
              sinter_emulation::factor_of<kFactor>(all[row % 8 * 4 + k].words[later * 2 + row / 8], half) *
              sinter_emulation::factor_of<kFactor>(all[column * 4 + k].words[4 + later], half);
  }
}
#define tc_multiply multiply_matrices<static_cast<sinter_emulation::Factor>(SINTER_EMULATED_FACTOR)>
#define tc_multiply_f32 multiply_matrices<sinter_emulation::Factor::TF32>
#define tc_multiply_bf16 multiply_matrices<sinter_emulation::Factor::BF16>
#define tc_multiply_f16 multiply_matrices<sinter_emulation::Factor::F16>

inline float tc_value(unsigned at) { return *reinterpret_cast<float*>(sinter_emulation::at_shared(at)); }
inline float2 tc_values(unsigned at) { return *reinterpret_cast<float2*>(sinter_emulation::at_shared(at)); }
