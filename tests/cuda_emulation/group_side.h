// What groups of warps and the copy engine of compute capability 9.0 do, for
// kernels/tensor_cores/contraction_sm90.cu: the emulated NVRTC takes the functions of these names, which are
// PTX, out of the text and includes this instead. How matrices lie in shared memory, and which lane holds
// which sum, is written down here once more. Copies and products are done at once, so that what is read too
// early shows, and what is overwritten too early does not.
#pragma once

namespace sinter_emulation {

constexpr unsigned kSharedBegins = 1024, kCluster = SINTER_EMULATED_CLUSTER;
// Of each block of a cluster, as what follows. All kernels that are loaded have these in common, whatever
// their clusters.
constexpr unsigned kMostCluster = 8;
inline char* shared_memory[kMostCluster];
inline unsigned own_rank() { return sinter_emulation_state->block.x % kCluster; }

inline char* at_shared(unsigned address, unsigned rank) {
  if (address < kSharedBegins || address - kSharedBegins >= kMostShared) __builtin_trap();
  return shared_memory[rank] + (address - kSharedBegins);
}
inline char* at_shared(unsigned address) { return at_shared(address, own_rank()); }
/// The 16 bytes of a line of 128 are permuted by the number of the line.
inline unsigned swizzled(unsigned address) { return address ^ (address >> 7 & 7) << 4; }

/// Lets the others run until the condition holds. A kernel that waits for ever is wrong.
template <class Condition>
void wait_until(const Condition& holds) {
  for (long tries = 0; !holds(); ++tries) {
    if (tries > 2'000'000) __builtin_trap();
    sinter_emulation_state->yield();
  }
}

struct Barrier {
  int count, pending;
  long bytes;  // that are still to come
  unsigned phase;
  void look() {
    if (pending < 0) __builtin_trap();
    if (pending > 0 || bytes != 0) return;
    pending = count;
    ++phase;
  }
};
inline Barrier barriers[kMostCluster][kMostShared / 8];
inline Barrier& barrier_at(unsigned address) {
  if (address % 8 != 0) __builtin_trap();
  at_shared(address);
  return barriers[own_rank()][(address - kSharedBegins) / 8];
}

struct NamedBarrier {
  unsigned come, phase;
};
inline NamedBarrier named[kMostCluster][16], of_cluster;
inline void wait_for(NamedBarrier& at, unsigned lanes) {
  const unsigned phase = at.phase;
  if (++at.come == lanes) at.come = 0, ++at.phase;
  wait_until([&] { return at.phase != phase; });
}

}  // namespace sinter_emulation

/// As the emulated driver writes it (card.cpp).
struct alignas(64) TensorMap {
  unsigned long long address, rank, bytes, rounds, sizes[5], strides[5], boxes[2];
  long size(unsigned dim) const { return static_cast<long>(sizes[dim]); }
  long box(unsigned dim) const { return static_cast<long>(boxes[dim / 4] >> dim % 4 * 16 & 0xffff); }
};
static_assert(sizeof(TensorMap) == 128, "as the driver's");

inline unsigned tc_shared_address(const void* at) {
  sinter_emulation::shared_memory[sinter_emulation::own_rank()] = static_cast<char*>(const_cast<void*>(at));
  return sinter_emulation::kSharedBegins;
}
inline void tc_barrier_init(unsigned barrier, unsigned count) {
  const int all = static_cast<int>(count);
  sinter_emulation::barrier_at(barrier) = {all, all, 0, 0};
}
inline void tc_arrive(unsigned barrier) {
  sinter_emulation::Barrier& at = sinter_emulation::barrier_at(barrier);
  --at.pending;
  at.look();
}
inline void tc_expect(unsigned barrier, unsigned bytes) {
  sinter_emulation::barrier_at(barrier).bytes += bytes;
  tc_arrive(barrier);
}
inline void tc_wait(unsigned barrier, unsigned parity) {
  const sinter_emulation::Barrier& at = sinter_emulation::barrier_at(barrier);
  sinter_emulation::wait_until([&] { return at.phase % 2 != parity; });
}
inline void tc_sync_group(int group) {
  sinter_emulation::wait_for(sinter_emulation::named[sinter_emulation::own_rank()][group], 128);
}
// A launch's shared memory.
#define SINTER_SHARED_OF_BLOCK(name)                                                                         \
  alignas(16) static unsigned char name##_of_all[sinter_emulation::kCluster][sinter_emulation::kMostShared]; \
  unsigned char* const name = name##_of_all[sinter_emulation::own_rank()]
#define tc_sync_consumers() \
  sinter_emulation::wait_for(sinter_emulation::named[sinter_emulation::own_rank()][15], SN_CONSUMERS * 128)
// The lanes that load have left, but for one.
#define tc_cluster_barrier() \
  sinter_emulation::wait_for(sinter_emulation::of_cluster, SN_CLUSTER*(SN_CONSUMERS * 128 + 1))
inline float4 tc_read_of(int rank, unsigned own) {
  return *reinterpret_cast<const float4*>(sinter_emulation::at_shared(own, static_cast<unsigned>(rank)));
}
struct alignas(8) float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline void tc_prefetch(const TensorMap&) {}
inline void tc_bring_near(const void*) {}

inline unsigned tc_rounded(float a) {
  return (__builtin_bit_cast(unsigned, a) + 0x1000u) & 0xffffe000u;  // ties away from zero
}
inline void tc_put_words(unsigned to, unsigned x, unsigned y, unsigned z, unsigned w) {
  unsigned* words = reinterpret_cast<unsigned*>(sinter_emulation::at_shared(to));
  words[0] = x, words[1] = y, words[2] = z, words[3] = w;
}

/// A box of the tensor, lines of 128 bytes; what is outside of the tensor is 0.
inline void tc_load(unsigned to, const TensorMap& map, unsigned barrier, const int* first) {
  const unsigned bytes = static_cast<unsigned>(map.bytes);
  if (to % 1024 != 0 || map.box(0) * bytes != 128 || map.address % 16 != 0) __builtin_trap();
  long lines = 1;
  for (unsigned dim = 1; dim < map.rank; ++dim) lines *= map.box(dim);
  for (long line = 0; line < lines; ++line) {
    unsigned long long from = map.address;
    bool is_inside = true;
    long rest = line;
    for (unsigned dim = 1; dim < map.rank; ++dim) {
      const long at = first[dim] + rest % map.box(dim);
      rest /= map.box(dim);
      is_inside &= at >= 0 && at < map.size(dim);
      from += static_cast<unsigned long long>(at) * map.strides[dim];
    }
    for (unsigned i = 0; i < 128; ++i) {
      const long at = first[0] + static_cast<long>(i / bytes);
      char byte = 0;
      if (is_inside && at >= 0 && at < map.size(0)) {
        const auto* element = reinterpret_cast<const char*>(from) + at * static_cast<long>(bytes);
        if (map.rounds) {
          const unsigned word = tc_rounded(*reinterpret_cast<const float*>(element));
          byte = static_cast<char>(word >> 8 * (i % 4));
        } else {
          byte = element[i % bytes];
        }
      }
      *sinter_emulation::at_shared(sinter_emulation::swizzled(to + static_cast<unsigned>(line) * 128 + i)) =
          byte;
    }
  }
  sinter_emulation::Barrier& at = sinter_emulation::barrier_at(barrier);
  at.bytes -= 128 * lines;
  at.look();
}
template <class... Coordinates>
void tc_load_box(unsigned to, const TensorMap& map, unsigned barrier, Coordinates... coordinates) {
  const int first[] = {coordinates...};
  if (map.rank != sizeof...(coordinates)) __builtin_trap();
  tc_load(to, map, barrier, first);
}
#define tc_load_2d tc_load_box
#define tc_load_3d tc_load_box
#define tc_load_4d tc_load_box
#define tc_load_5d tc_load_box

/// A line of 128 bytes for each of so many pixels, from (n, y, x) or (n, z, y, x) on by the map's steps
/// between its corners, and from there `beyond` on; what is outside of the image is 0. Numbers are those of x
/// first.
template <int kDims>
void tc_load_pixels(unsigned to, const TensorMap& map, unsigned barrier, int channel,
                    const int (&first)[kDims], int n, const unsigned short (&beyond)[kDims]) {
  const auto bytes = static_cast<unsigned>(map.bytes);
  if (to % 1024 != 0 || map.box(0) * bytes != 128 || map.rank != kDims + 2) __builtin_trap();
  const auto corner = [&](int k) {
    return static_cast<int>(static_cast<signed char>(map.boxes[1] >> 8 * k));
  };
  const auto step = [&](int k) { return static_cast<int>(map.boxes[0] >> (32 + 8 * k) & 0xff); };
  int at[kDims];
  for (int k = 0; k < kDims; ++k) at[k] = first[k];
  for (long pixel = 0; pixel < map.box(1); ++pixel) {
    bool is_inside = n < map.size(kDims + 1);
    const char* line =
        reinterpret_cast<const char*>(map.address) + n * static_cast<long>(map.strides[kDims + 1]);
    for (int k = 0; k < kDims; ++k) {
      const long place = at[k] + beyond[k];
      is_inside = is_inside && place >= 0 && place < map.size(k + 1);
      line += place * static_cast<long>(map.strides[k + 1]);
    }
    for (unsigned i = 0; i < 128; ++i) {
      const long element = channel + static_cast<long>(i / bytes);
      char byte = 0;
      if (is_inside && element < map.size(0)) {
        const char* const from = line + element * static_cast<long>(bytes);
        byte = map.rounds
                   ? static_cast<char>(tc_rounded(*reinterpret_cast<const float*>(from)) >> 8 * (i % 4))
                   : from[i % bytes];
      }
      *sinter_emulation::at_shared(sinter_emulation::swizzled(to + static_cast<unsigned>(pixel) * 128 + i)) =
          byte;
    }
    int k = 0;
    for (; k < kDims; ++k) {
      at[k] += step(k);
      if (at[k] <= map.size(k + 1) - 1 + corner(4 + k)) break;
      at[k] = corner(k);
    }
    if (k == kDims) ++n;
  }
  sinter_emulation::Barrier& there = sinter_emulation::barrier_at(barrier);
  there.bytes -= 128 * map.box(1);
  there.look();
}
inline void tc_load_pixels(unsigned to, const TensorMap* map, unsigned barrier, int channel, int x, int y,
                           int n, unsigned short beyond_x, unsigned short beyond_y) {
  tc_load_pixels<2>(to, *map, barrier, channel, {x, y}, n, {beyond_x, beyond_y});
}
inline void tc_load_pixels(unsigned to, const TensorMap* map, unsigned barrier, int channel, int x, int y,
                           int z, int n, unsigned short beyond_x, unsigned short beyond_y,
                           unsigned short beyond_z) {
  tc_load_pixels<3>(to, *map, barrier, channel, {x, y, z}, n, {beyond_x, beyond_y, beyond_z});
}

namespace sinter_emulation {

/// Types of factors, as the text names them.
struct e4m3 {
  static constexpr unsigned bytes = 1;
  static float value(const char* at) {
    const int code = static_cast<unsigned char>(*at), power = code >> 3 & 15, rest = code & 7;
    if ((code & 127) == 127) return __builtin_nanf("");
    const float size = power == 0 ? static_cast<float>(rest) * 0x1p-9f
                                  : __builtin_ldexpf(static_cast<float>(8 + rest), power - 10);
    return code & 128 ? -size : size;
  }
};
struct e5m2 {
  static constexpr unsigned bytes = 1;
  static float value(const char* at) {
    const unsigned code = static_cast<unsigned char>(*at);
    return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<unsigned short>(code << 8)));
  }
};
struct s8 {
  static constexpr unsigned bytes = 1;
  static int value(const char* at) { return static_cast<signed char>(*at); }
};
struct f16 {
  static constexpr unsigned bytes = 2;
  static float value(const char* at) { return static_cast<float>(*reinterpret_cast<const _Float16*>(at)); }
};
struct bf16 {
  static constexpr unsigned bytes = 2;
  static float value(const char* at) {
    const unsigned half = *reinterpret_cast<const unsigned short*>(at);
    return __builtin_bit_cast(float, half << 16);
  }
};
struct tf32 {
  static constexpr unsigned bytes = 4;
  static float value(const char* at) {  // what is below its 10 bits is not looked at
    return __builtin_bit_cast(float, *reinterpret_cast<const unsigned*>(at) & 0xffffe000u);
  }
};

/// Row (column) number `line` of the matrix that a descriptor tells of: 32 bytes' worth of k.
template <class T, class Number>
void read_line(Number* to, unsigned long long matrix, bool across, unsigned line) {
  const unsigned begin = static_cast<unsigned>(matrix & 0x3fff) << 4,
                 leading = static_cast<unsigned>(matrix >> 16 & 0x3fff) << 4,
                 stride = static_cast<unsigned>(matrix >> 32 & 0x3fff) << 4;
  if (matrix >> 62 != 1) __builtin_trap();  // swizzled by 128 bytes
  for (unsigned k = 0; k < 32 / T::bytes; ++k) {
    const unsigned at =
        across ? begin + line / 64 * leading + k / 8 * stride + k % 8 * 128 + line % 64 * T::bytes
               : begin + line / 8 * stride + line % 8 * 128 + k * T::bytes;
    to[k] = T::value(at_shared(swizzled(at)));
  }
}

/// Each lane has of every eight columns two neighbours, of the rows lane / 4 and lane / 4 + 8 of its warp.
template <class A, class B, bool kAcrossA, bool kAcrossB, class Sum, int kSums>
void multiply(Sum (&d)[kSums], unsigned long long a, unsigned long long b, int more) {
  static_assert(A::bytes == B::bytes, "of one size");
  constexpr int kDepth = 32 / A::bytes;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  Sum rows[2][kDepth], column[kDepth];
  for (unsigned half = 0; half < 2; ++half)
    read_line<A>(rows[half], a, kAcrossA, 16 * warp + lane / 4 + 8 * half);
  for (int i = 0; i < kSums; i += 4)
    for (int next = 0; next < 2; ++next) {
      read_line<B>(column, b, kAcrossB,
                   static_cast<unsigned>(2 * i) + 2 * (lane % 4) + static_cast<unsigned>(next));
      for (int half = 0; half < 2; ++half) {
        Sum& sum = d[i + 2 * half + next];
        if (!more) sum = 0;
        for (int k = 0; k < kDepth; ++k) sum += rows[half][k] * column[k];
      }
    }
}

}  // namespace sinter_emulation
