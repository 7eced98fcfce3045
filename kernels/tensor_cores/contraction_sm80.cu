// A sum of products by tiles of compute capability 8.0 and later: all warps of a workgroup bring factors and
// multiply, each its part of the tile, which is 64 columns wide. How they multiply stands in
// warp_matrices_sm80.inc, by tensor cores, or in warp_lanes_sm80.inc, by ordinary lanes. What stands before
// all that is written for one kernel (jit/emit/contraction):
//
//   SN_BM, SN_BN, SN_STAGES      a tile's rows and columns; slots of shared memory
//   SN_BK                        elements of k in a slot
//   SN_WARP_ROWS                 rows of a warp's part
//   SN_A_ACROSS, SN_B_ACROSS     1: the factor has its neighbours along m (n), 0: along k
//   SN_BAND                      rows of tiles that are done together
//   SN_COMPUTED, SN_PARTS        1: lanes compute a factor, or both; declares what they hold of it
//   SN_TOGETHER                  rows that a lane finishes together, in one of the steps that a tile takes
//   Operands                     the sums of a step, and what they meet in memory, where SN_HAS_OPERANDS
//   SN_EXACT                     1: ordinary lanes multiply
//
// The lines of three dashes are where the head of the kernel, the computing of factors, their stores, the
// copies, and what loads, has brought nearer and finishes parts of rows are put in; contraction_tiles.inc and
// the way to multiply stand before the head, which defines size_m, size_n, size_k, size_batch and has the
// arguments cut, partials and counters.
//
// A slot holds 128 bytes of k of each factor. Of a factor that lies along k a row is 128 bytes, of one that
// lies across an element of k is, for 128 bytes of rows (columns) at a time. The 16-byte pieces of such 128
// bytes are swapped by the line's number, so that the eight lines of an 8x8 matrix are in different banks;
// not so where ordinary lanes read what lies across.

#ifndef LAUNCH_SHARED
#define LAUNCH_SHARED(type, name) extern __shared__ __align__(128) type name[]
#endif
#define SN_A_BYTES (SN_BM * 128)
#define SN_B_BYTES (SN_BN * 128)
#define SN_SLOT (SN_A_BYTES + SN_B_BYTES)
#define SN_SUMS 32
#define SN_BLOCKS (SN_WARP_ROWS / 16)
#define SN_GROUPS 1
#define SN_JOINED (SN_BM / SN_WARP_ROWS * (SN_BN / 64) * 32)
#define SN_TURNS (4 / SN_TOGETHER)
#define SN_STEPS (SN_BLOCKS * SN_TURNS)

SN_FN void tc_sync_group(int) { __syncthreads(); }
// A step of the sum: number k of those of the slot that begins at `from`.
struct StepPlace {
  unsigned from;
  int k;
};

//---
// What is brought next, some slots ahead of what is multiplied: of the next tile too.
struct Ahead {
  Walk walk;
  Item item;
  Place at;
  int round;
  bool is_there;
  __device__ __forceinline__ Ahead(const Work& work, int tiles) : walk(work) { enter(work, tiles); }
  __device__ __forceinline__ void enter(const Work& work, int tiles) {
    is_there = walk.next(work, tiles, item);
    if (!is_there) return;
    at = tc_place(item.tile, work);
    round = item.first;
  }
  __device__ __forceinline__ void step(const Work& work, int tiles) {
    if (++round == item.end) enter(work, tiles);
  }
};
//---
  LAUNCH_SHARED(unsigned char, shared);
  __shared__ unsigned last_to_come[1];
  const unsigned slots = tc_shared_address(shared);
  Work work;
  work.tiles_m = (size_m + SN_BM - 1) / SN_BM;
  work.tiles_n = (size_n + SN_BN - 1) / SN_BN;
  work.rounds = (size_k + SN_BK - 1) / SN_BK;
  work.cut = cut;
  work.slots_cut = (unsigned)cut * work.rounds;
  const int tiles = work.tiles_m * work.tiles_n * size_batch;
  const int loader = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int own_m = warp / (SN_BN / 64) * SN_WARP_ROWS, own_n = warp % (SN_BN / 64) * 64;
  SN_PARTS
  const auto compute = [&](const Place& at, int depth) {
//---
  };
  const auto put = [&](unsigned to_a, unsigned to_b) {
//---
  };
  const auto copy = [&](const Place& at, int depth, unsigned to_a, unsigned to_b) {
//---
  };
  Ahead ahead(work, tiles);
  for (int slot = 0; slot < SN_STAGES - 1; ++slot) {
    if (ahead.is_there) {
      const unsigned to_a = slots + slot * SN_SLOT, to_b = to_a + SN_A_BYTES;
      copy(ahead.at, ahead.round * SN_BK, to_a, to_b);
      compute(ahead.at, ahead.round * SN_BK);
      put(to_a, to_b);
      ahead.step(work, tiles);
    }
    tc_commit();
  }
  int slot = 0;
  Walk walk(work);
  Item item;
  while (walk.next(work, tiles, item)) {
    const Place at = tc_place(item.tile, work);
    // Of a step of the warp's part, what a lane's first row and column are.
    const int column = at.n + own_n + lane % 8 * 8;
    const auto row_of = [&](int step) -> int {
      return at.m + own_m + step / SN_TURNS * 16 + lane / 8 + step % SN_TURNS * (4 * SN_TOGETHER);
    };
#if SN_HAS_OPERANDS
    Operands next;
    const auto load = [&](int row) {
//---
    };
    // Only as far as the second-level cache.
    const auto bring_near = [&](int row) {
//---
    };
    if (item.is_whole) {
#pragma unroll
      for (int step = 0; step < SN_STEPS; ++step) bring_near(row_of(step));
    }
#endif
    SN_SUM d[SN_BLOCKS][SN_SUMS];
#pragma unroll
    for (int k = 0; k < SN_BLOCKS * SN_SUMS; ++k) d[k / SN_SUMS][k % SN_SUMS] = 0.f;
    Multiplier multiplier(own_m, own_n);
    tc_wait_all_but<SN_STAGES - 2>();
    __syncthreads();
    multiplier.begin(slots + slot * SN_SLOT);
    int last = slot;
    for (int round = item.first; round < item.end; ++round) {
      const int before = slot == 0 ? SN_STAGES - 1 : slot - 1;  // which all warps have read
      const unsigned to_a = slots + before * SN_SLOT, to_b = to_a + SN_A_BYTES;
      const bool brings = ahead.is_there;
      last = slot;
      if (++slot == SN_STAGES) slot = 0;
#pragma unroll 1
      for (int first = 0; first < SN_SLOT_STEPS; first += SN_UNROLLED_STEPS)
#pragma unroll
        for (int turn = 0; turn < SN_UNROLLED_STEPS; ++turn) {
          const int k = first + turn;
          const StepPlace now{slots + last * SN_SLOT, k};
          const auto next = [&]() -> StepPlace {
            if (k + 1 < SN_SLOT_STEPS) return {now.from, k + 1};
            if (round + 1 == item.end) return {now.from, 0};  // what is there is read, and not looked at
            tc_wait_all_but<SN_STAGES - 2>();
            __syncthreads();
            return {slots + slot * SN_SLOT, 0};
          };
          if (k == 0) {
            if (brings) {
              copy(ahead.at, ahead.round * SN_BK, to_a, to_b);
              compute(ahead.at, ahead.round * SN_BK);
              ahead.step(work, tiles);
            }
            tc_commit();
          }
          multiplier.step(d, now, turn, next);
          if (SN_COMPUTED && k == SN_SLOT_STEPS / 2 && brings) put(to_a, to_b);
        }
    }
    // The slot that was multiplied last is free until the next one is.
    __syncthreads();
    float* const stage = (float*)(shared + last * SN_SLOT + warp * 4096);
    if (!item.is_whole && !tc_join(d, item, work, 0, partials, counters, last_to_come)) continue;
#if SN_HAS_OPERANDS
    load(row_of(0));
#endif
#pragma unroll
    for (int block = 0; block < SN_BLOCKS; ++block) {
      tc_put_block(stage, d[block]);
#pragma unroll 1
      for (int turn = 0; turn < SN_TURNS; ++turn) {
        const int step = block * SN_TURNS + turn, row = row_of(step);
        Operands met;
#if SN_HAS_OPERANDS
        met = next;
        if (step + 1 < SN_STEPS) load(row_of(step + 1));
#endif
//---
      }
    }
  }
  tc_wait_all_but<0>();
