// A sum of products of few rows on the tensor cores of compute capability 8.0 and later: each element of the
// other factor is needed once or so, and all depends on how much of it is on its way. `mma.sync` has the
// roles changed: 16 columns of the result are the rows of an instruction, 8 rows of it the columns. All warps
// of a workgroup have the same tile and share its sum. What stands before it is written for one kernel
// (jit/emit/contraction/few_rows.cpp):
//
//   SN_FEW, SN_MANY              a tile's rows and columns: a multiple of 8, a multiple of 16
//   SN_SHARERS, SN_SLOTS         warps; slots of shared memory that each has
//   SN_CHUNK, SN_PIECE           elements of k in a slot, 128 bytes; in 16 bytes
//   SN_MANY_ACROSS               1: the columns' factor has its neighbours along n, 0: along k
//   SN_UNPACKS                   1: lanes compute the columns' factor of what they hold in registers, which
//                                struct Raw says
//   SN_PAIR(low, high)           two floats as 16 bits each of a word, where lanes compute such
//   SN_ROUND_MANY, SN_ROUND_FEW  1: the factor is f32 that has yet to be rounded to tf32
//   tc_multiply(d, a, b)         one instruction: d += a * b
//
// The lines of three dashes are where the head of the kernel is put in, what a lane copies from, where that
// is in a warp's first chunk of a tile, the copies of both factors into a slot, what a lane loads to compute
// the columns' factor of, that computation, and what becomes of a sum; lane_copies_sm80.inc stands before.
// The head defines size_m, size_n, size_k and size_batch.
//
// Which elements of k meet in an instruction does not matter, as long as they are the same ones of both
// factors. So a lane multiplies what it has copied itself, and needs to wait for no other: of each half of a
// chunk, lane q of four has the neighbours [q * SN_PIECE, (q + 1) * SN_PIECE), half of them for one
// instruction and half for the next.

#ifndef LAUNCH_SHARED
#define LAUNCH_SHARED(type, name) extern __shared__ __align__(128) type name[]
#endif
#define SN_BLOCKS (SN_MANY / 16)
#define SN_EIGHTS (SN_FEW / 8)
#define SN_MANY_BYTES (SN_UNPACKS ? 0 : SN_MANY * 128)
#define SN_SLOT (SN_MANY_BYTES + SN_FEW * 128)

// What a lane has of half a chunk. Along k: of each block 16 bytes of a column and 16 of the eighth one after
// it. Across: for each element of k two neighbouring columns of a block.
struct Many {
  unsigned words[SN_BLOCKS][8];
};
struct Few {
  unsigned words[SN_EIGHTS][4];
};
struct __align__(4 * SN_BLOCKS) Neighbours {
  unsigned words[SN_BLOCKS];
};
struct Place {
  int m, n, z;
};

SN_FN unsigned tc_rounded(float a) {
  unsigned word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(a));
  return word;
}
// What lanes compute of a factor: 16 bytes.
SN_FN void tc_put(unsigned char* to, const unsigned short (&a)[8]) {
  *(uint4*)to = make_uint4(a[0] | (unsigned)a[1] << 16, a[2] | (unsigned)a[3] << 16,
                           a[4] | (unsigned)a[5] << 16, a[6] | (unsigned)a[7] << 16);
}
SN_FN void tc_put(unsigned char* to, const float (&a)[4]) {
  *(uint4*)to = make_uint4(tc_rounded(a[0]), tc_rounded(a[1]), tc_rounded(a[2]), tc_rounded(a[3]));
}

// What a lane holds until it computes a factor of it, by words: neighbours in memory, read by no other lane.
SN_FN void tc_fetch(unsigned (&to)[1], const void* from) { to[0] = *(const unsigned*)from; }
SN_FN void tc_fetch(unsigned (&to)[2], const void* from) {
  const uint2 words = *(const uint2*)from;
  to[0] = words.x, to[1] = words.y;
}
template <int kWords>
SN_FN void tc_fetch(unsigned (&to)[kWords], const void* from) {
#pragma unroll
  for (int i = 0; i < kWords / 4; ++i) {
    const uint4 words = ((const uint4*)from)[i];
    to[4 * i] = words.x, to[4 * i + 1] = words.y, to[4 * i + 2] = words.z, to[4 * i + 3] = words.w;
  }
}
// A piece that was computed.
SN_FN void tc_pack(unsigned* to, const unsigned short (&a)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = a[2 * i] | (unsigned)a[2 * i + 1] << 16;
}
#ifdef SN_PAIR
SN_FN void tc_pack(unsigned* to, const float (&a)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = SN_PAIR(a[2 * i], a[2 * i + 1]);
}
#endif
SN_FN void tc_pack(unsigned* to, const float (&a)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = tc_rounded(a[i]);
}
// What lies beyond the sum: all of a lane's pieces of half a chunk, or none.
SN_FN void tc_clear(Many& many, bool is_inside) {
#pragma unroll
  for (int i = 0; i < SN_BLOCKS * 8; ++i) many.words[i / 8][i % 8] = is_inside ? many.words[i / 8][i % 8] : 0;
}
// Byte number j of a word as the last digits of 2^23, which is then taken off.
SN_FN float tc_float_of_u8(unsigned word, int j) {
  return __int_as_float((int)__byte_perm(word, 0x4b000000u, 0x7440u | j)) - 8388608.0f;
}
SN_FN float tc_float_of_i8(unsigned word, int j) {
  return __int_as_float((int)__byte_perm(word ^ 0x80808080u, 0x4b000000u, 0x7440u | j)) - 8388736.0f;
}

// Piece number `piece` of a lane's, which lie side by side for the lanes of a warp.
SN_FN void tc_get(unsigned* to, const unsigned char* from, int piece, bool rounds) {
  const uint4 words = ((const uint4*)from)[piece * 32 + threadIdx.x % 32];
  to[0] = words.x, to[1] = words.y, to[2] = words.z, to[3] = words.w;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (rounds) to[i] = tc_rounded(__uint_as_float(to[i]));
}
SN_FN void tc_get_half(Many& many, Few& few, const unsigned char* slot, int half) {
#pragma unroll
  for (int i = 0; i < (SN_UNPACKS ? 0 : SN_MANY_ACROSS ? 8 : 2 * SN_BLOCKS); ++i) {
#if SN_MANY_ACROSS
    const Neighbours at = ((const Neighbours*)slot)[(half * 8 + i) * 32 + threadIdx.x % 32];
#pragma unroll
    for (int block = 0; block < SN_BLOCKS; ++block) many.words[block][i] = at.words[block];
#else
    tc_get(many.words[i / 2] + i % 2 * 4, slot, half * (2 * SN_BLOCKS) + i, SN_ROUND_MANY);
#endif
  }
#pragma unroll
  for (int i = 0; i < SN_EIGHTS; ++i)
    tc_get(few.words[i], slot + SN_MANY_BYTES, half * SN_EIGHTS + i, SN_ROUND_FEW);
}
// What an instruction takes of a block: rows g and g + 8 of it, each at two words of k. Across, these are
// columns that lie side by side.
SN_FN void tc_take(unsigned (&a)[4], const unsigned (&words)[8], int step) {
#if SN_MANY_ACROSS
  const unsigned* at = words + step * 4;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    a[2 * i] = at[2 * i] & 0xffffu | at[2 * i + 1] << 16;
    a[2 * i + 1] = at[2 * i] >> 16 | at[2 * i + 1] & 0xffff0000u;
  }
#else
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = words[i % 2 * 4 + 2 * step + i / 2];
#endif
}
SN_FN void tc_multiply_half(float (&d)[SN_BLOCKS][SN_EIGHTS][4], const Many& many, const Few& few) {
#pragma unroll
  for (int step = 0; step < 2; ++step)
#pragma unroll
    for (int block = 0; block < SN_BLOCKS; ++block) {
      unsigned a[4];
      tc_take(a, many.words[block], step);
#pragma unroll
      for (int eight = 0; eight < SN_EIGHTS; ++eight)
        tc_multiply(d[block][eight], a, few.words[eight] + 2 * step);
    }
}
// The column of a tile that row g (`half` 0) or g + 8 of a block is.
SN_FN int tc_column(int block, int half, int g) {
  return SN_MANY_ACROSS ? g * (2 * SN_BLOCKS) + 2 * block + half : block * 16 + half * 8 + g;
}
//---
  LAUNCH_SHARED(unsigned char, shared);
  // A row is so long that lanes which have columns meet different banks, and those that have rows too.
  __shared__ float sums[SN_SHARERS][SN_FEW][SN_MANY + 4];
  const unsigned slots = tc_shared_address(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, line = lane / 4, quarter = lane % 4;
  const int tiles_m = (size_m + SN_FEW - 1) / SN_FEW, tiles_n = (size_n + SN_MANY - 1) / SN_MANY;
  const int tiles = tiles_m * tiles_n * size_batch;
  const auto place_of = [&](int tile) -> Place {
    // Most products have one matrix, and rows for one tile: nothing to divide.
    const int z = size_batch > 1 ? tile / (tiles_m * tiles_n) : 0, in = tile - z * (tiles_m * tiles_n);
    const int column = tiles_m > 1 ? in / tiles_m : in;
    return {(in - column * tiles_m) * SN_FEW, column * SN_MANY, z};
  };
  // Chunks of the sum are dealt out among the warps.
  const int chunks = (size_k + SN_CHUNK - 1) / SN_CHUNK;
  const int count = (chunks - warp + SN_SHARERS - 1) / SN_SHARERS;

  unsigned char* const own_slots = shared + warp * (SN_SLOTS * SN_SLOT);
  const unsigned own_addresses = slots + warp * (SN_SLOTS * SN_SLOT);
//---
  const auto start = [&](const Place& at, int depth) {
//---
  };
  // `at_slot`: where the slot begins among the warp's.
  const auto copy = [&](const Place& at, int depth, int at_slot) {
    unsigned char* const into = own_slots + at_slot;
    const unsigned to = own_addresses + at_slot;
    const bool is_whole = depth + SN_CHUNK <= size_k;
//---
  };
#if SN_UNPACKS
  const auto fetch = [&](Raw& raw, const Place& at, int depth) {
#endif
//---
#if SN_UNPACKS
  };
  // `half`: of the chunk that begins at `depth`.
  const auto unpack = [&](Many& many, const Raw& raw, const Place& at, int depth, int half) {
#endif
//---
#if SN_UNPACKS
  };
  // As many as there are slots, in the order in which they are needed.
  Raw raws[SN_SLOTS];
#endif
  // What is brought next: a chunk of this tile, or of the workgroup's next one. Each is one group of copies,
  // empty where nothing is left. `turn`: which of `raws` it belongs to.
  int tile_ahead = blockIdx.x, depth_ahead = warp * SN_CHUNK;
  Place at_ahead = place_of(tile_ahead);
  start(at_ahead, depth_ahead);
  const auto bring = [&](int at_slot, int turn) {
    if (depth_ahead < size_k) {
      copy(at_ahead, depth_ahead, at_slot);
#if SN_UNPACKS
      fetch(raws[turn], at_ahead, depth_ahead);
#endif
      depth_ahead += SN_SHARERS * SN_CHUNK;
      if (depth_ahead >= size_k && (tile_ahead += gridDim.x) < tiles) {
        depth_ahead = warp * SN_CHUNK;
        at_ahead = place_of(tile_ahead);
        start(at_ahead, depth_ahead);
      }
    }
    tc_commit();
  };
#pragma unroll
  for (int slot = 0; slot < SN_SLOTS; ++slot) bring(slot * SN_SLOT, slot);
  int at_slot = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Place at = place_of(tile);
    float d[SN_BLOCKS][SN_EIGHTS][4];
#pragma unroll
    for (int k = 0; k < SN_BLOCKS * SN_EIGHTS * 4; ++k) d[k / 4 / SN_EIGHTS][k / 4 % SN_EIGHTS][k % 4] = 0.f;
    // Multiplies chunk number i of the warp's, and has the place of it filled anew.
    const auto take = [&](int i, int turn) {
      tc_wait_all_but<SN_SLOTS - 1>();
      Many many[2];
      Few few[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        tc_get_half(many[half], few[half], own_slots + at_slot, half);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#if SN_UNPACKS
        unpack(many[half], raws[turn], at, (warp + i * SN_SHARERS) * SN_CHUNK, half);
#endif
        tc_multiply_half(d, many[half], few[half]);
      }
      bring(at_slot, turn);
      at_slot = at_slot == (SN_SLOTS - 1) * SN_SLOT ? 0 : at_slot + SN_SLOT;
    };
#if SN_UNPACKS
    // Registers have no numbers at run time: the text says which of them are taken.
    for (int i = 0; i < count; i += SN_SLOTS)
#pragma unroll
      for (int turn = 0; turn < SN_SLOTS; ++turn)
        if (i + turn < count) take(i + turn, turn);
    for (int turn = count % SN_SLOTS; turn > 0; --turn) {
      const Raw last = raws[0];
#pragma unroll
      for (int k = 0; k + 1 < SN_SLOTS; ++k) raws[k] = raws[k + 1];
      raws[SN_SLOTS - 1] = last;
    }
#else
    for (int i = 0; i < count; ++i) take(i, 0);
#endif
#pragma unroll
    for (int k = 0; k < SN_BLOCKS * SN_EIGHTS * 4; ++k) {
      const int block = k / 4 / SN_EIGHTS, eight = k / 4 % SN_EIGHTS, i = k % 4;
      sums[warp][eight * 8 + quarter * 2 + i % 2][tc_column(block, i / 2, line)] = d[block][eight][i];
    }
    __syncthreads();
    for (int number = threadIdx.x; number < SN_FEW * SN_MANY; number += SN_SHARERS * 32) {
      const int row = number / SN_MANY, column = number % SN_MANY;
      const int to_m = at.m + row, to_n = at.n + column;
      if (to_m >= size_m || to_n >= size_n) continue;
      float sum = sums[0][row][column];
#pragma unroll
      for (int sharer = 1; sharer < SN_SHARERS; ++sharer) sum += sums[sharer][row][column];
//---
    }
    if (tile + gridDim.x < tiles) __syncthreads();
  }
  tc_wait_all_but<0>();
