// A sum of products by tiles on the tensor cores of compute capability 9.0: one warpgroup loads, the others
// multiply and finish tiles. What stands before it is written for one kernel (jit/emit/contraction):
//
//   SN_BM, SN_BN, SN_STAGES      a tile's rows and columns; slots of shared memory
//   SN_SHARES                    sums that a tile's columns are of, 1, 2 or 4: in each 64 columns of it the
//                                same ones of each sum, side by side
//   SN_BK                        elements of k in a slot
//   SN_LOADERS                   warpgroups that load, one slot each in turn
//   SN_COMPUTED                  1: lanes compute a factor, or both
//   SN_COPIED_BYTES              of a slot, that the copy engine brings
//   SN_CONSUMERS, SN_TAKE_TURNS  warpgroups that multiply: 64 rows of a tile each, or, in turns, whole tiles
//   SN_CLUSTER                   workgroups that share a tile's sums, in a cluster; then any warp finishes
//                                any step of the tile, and no workgroup takes turns
//   SN_REPEATS                   how often each result is needed, each time with something else
//   SN_MEMBERS                   products that share the launch; SN_HAS_MEMBERS: 1: there may be several
//   SN_OF_MEMBER(place)          definitions of what the product has that a tile is of
//   SN_TERMS                     products that are added up in one sum, each of as many rounds; `term`: which
//   SN_SHORT_SUMS                1: sums leave the tensor cores after each slot and are added in f32
//   SN_A_ACROSS, SN_B_ACROSS     1: the factor has its neighbours along m (n), 0: along k
//   SN_BAND                      rows of tiles that are done together
//   SN_TOGETHER                  rows that a lane finishes together, in one of the steps that a tile takes
//   Operands                     the sums of a step, and what they meet in memory, where SN_HAS_OPERANDS:
//                                which is loaded a step ahead
//   Columns                      what all rows meet in 64 columns, where SN_HAS_COLUMNS: loaded once for a
//                                tile
//   SN_FEWER_REGISTERS, SN_MORE_REGISTERS   statements
//   SN_MAP_A, SN_LOAD_A          of a factor that is copied: its tensor map, and statements that have its
//                                part of a slot copied; likewise of b
//   SN_SUM, SN_SUM_REGISTER(d)   what products are added up as, and the operand of an instruction that is one
//   tc_multiply(d, a, b, more)   one instruction: d = a * b, or += where `more`
//
// copy_engine_sm90.inc stands before it, contraction_tiles.inc between its first part and the head, and
// cluster_sums_sm90.inc behind that where there are clusters.
// The lines of three dashes are where the head of the kernel, the computing of factors, and what loads, has
// brought nearer and finishes parts of rows are put in.
// The head defines size_m, size_n, size_k, size_batch and has the arguments cut, partials, counters, t_a
// and t_b.
//
// A slot holds 128 bytes of k of each factor, swizzled by 128 bytes, and has two barriers: full, where the
// bytes of the copy engine have arrived and each warp that computes a factor has stored it, and empty, where
// each warp that multiplies has read it.

#define SN_A_BYTES (SN_BM * 128)
#define SN_B_BYTES (SN_BN * 128)
#define SN_SLOT (SN_A_BYTES + SN_B_BYTES)
#define SN_WARPS (SN_CONSUMERS * 4)
// The sums of a tile that a cluster shares are put where its slots were.
#define SN_STAGING (SN_CLUSTER > 1 ? 0 : SN_WARPS * 4096)
#define SN_SUMS (SN_BN / 2)
#define SN_BLOCKS (SN_TAKE_TURNS ? SN_BM / 64 : 1)
#define SN_GROUPS (SN_TAKE_TURNS ? 1 : SN_CONSUMERS)
#define SN_JOINED 128
#define SN_LANES (8 / SN_SHARES)  // that finish 8 neighbours each of a row in 64 columns
#define SN_TURNS (SN_LANES / 2 / SN_TOGETHER)
#define SN_TILE_STEPS (SN_WARPS * (SN_BN / 64) * SN_TURNS)  // of all warps
#define SN_STEPS (SN_BLOCKS * (SN_BN / 64) * SN_TURNS)     // of a warp, where it has its own rows' alone

// Windows of an image that the copy engine goes over: the elements (planes, lines, columns, channels) of the
// windows at the positions (images, planes, lines, columns), both counted row-major, in a group of the
// channels. An image may be a single plane.
struct Divisor {
  int by, multiplier, shift;
};
struct Windows {
  Divisor channels, elements[2], positions[3];
  int first[3], step[3], spread[3];
};
SN_FN int tc_divide(int n, const Divisor& divisor) {
  return divisor.by == 1 ? n : (int)(__umulhi(n, divisor.multiplier) >> divisor.shift);
}
SN_FN void tc_load_windows(unsigned to, const TensorMap& map, const Windows& windows, unsigned barrier,
                           int position, int element, int group) {
  const int line = tc_divide(position, windows.positions[0]);
  const int image = tc_divide(line, windows.positions[1]);
  const int x = position - line * windows.positions[0].by, y = line - image * windows.positions[1].by;
  const int pixel = tc_divide(element, windows.channels), row = tc_divide(pixel, windows.elements[0]);
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(element + (group - pixel) * windows.channels.by),
      "r"(windows.first[0] + x * windows.step[0]), "r"(windows.first[1] + y * windows.step[1]), "r"(image),
      "h"((unsigned short)((pixel - row * windows.elements[0].by) * windows.spread[0])),
      "h"((unsigned short)(row * windows.spread[1]))
      : "memory");
}
SN_FN void tc_load_windows_of_planes(unsigned to, const TensorMap& map, const Windows& windows,
                                     unsigned barrier, int position, int element, int group) {
  const int line = tc_divide(position, windows.positions[0]);
  const int plane = tc_divide(line, windows.positions[1]), image = tc_divide(plane, windows.positions[2]);
  const int x = position - line * windows.positions[0].by, y = line - plane * windows.positions[1].by,
            z = plane - image * windows.positions[2].by;
  const int pixel = tc_divide(element, windows.channels), row = tc_divide(pixel, windows.elements[0]),
            layer = tc_divide(row, windows.elements[1]);
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(element + (group - pixel) * windows.channels.by),
      "r"(windows.first[0] + x * windows.step[0]), "r"(windows.first[1] + y * windows.step[1]),
      "r"(windows.first[2] + z * windows.step[2]), "r"(image),
      "h"((unsigned short)((pixel - row * windows.elements[0].by) * windows.spread[0])),
      "h"((unsigned short)((row - layer * windows.elements[1].by) * windows.spread[1])),
      "h"((unsigned short)(layer * windows.spread[2]))
      : "memory");
}
// Of a matrix in shared memory. Along k the next 8 rows lie 1024 bytes on; across, chunks of 64 lie 8192
// bytes apart.
SN_FN unsigned long long tc_matrix(unsigned at, bool across) {
  return (unsigned long long)((at & 0x3ffff) >> 4) | (unsigned long long)(across ? 8192 >> 4 : 1) << 16 |
         (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

// A barrier of one of the warpgroups that multiply. Its number has to be a constant: else ptxas takes all
// sixteen.
SN_FN void tc_sync_group(int group) {
  if (group == 0) asm volatile("bar.sync 1, 128;" ::: "memory");
  if (group == 1) asm volatile("bar.sync 2, 128;" ::: "memory");
  if (group == 2) asm volatile("bar.sync 3, 128;" ::: "memory");
  if (group == 3) asm volatile("bar.sync 4, 128;" ::: "memory");
}
//---
  extern __shared__ unsigned char shared[];
  __shared__ unsigned last_to_come[SN_CONSUMERS];
  const unsigned slots = (tc_shared_address(shared) + 1023u) & ~1023u;
  const unsigned full = slots + SN_STAGES * SN_SLOT + SN_STAGING, empty = full + 8 * SN_STAGES;
  const unsigned turns = empty + 8 * SN_STAGES;
  Work work;
  work.tiles_m = (size_m + SN_BM - 1) / SN_BM;
  work.tiles_n = (size_n + SN_BN / SN_SHARES - 1) / (SN_BN / SN_SHARES);
  const int rounds_of_term = (size_k + SN_BK - 1) / SN_BK;
  work.rounds = SN_TERMS * rounds_of_term;
  work.cut = cut;
  work.slots_cut = (unsigned)cut * work.rounds;
  work.batches = size_batch;
  const int tiles = work.tiles_m * work.tiles_n * size_batch * SN_MEMBERS;
  if (threadIdx.x == 0) {
#if defined(SN_MAP_A) && !SN_HAS_MEMBERS
    tc_prefetch(SN_MAP_A);
#endif
#if defined(SN_MAP_B) && !SN_HAS_MEMBERS
    tc_prefetch(SN_MAP_B);
#endif
    for (int s = 0; s < SN_STAGES; ++s) {
      tc_barrier_init(full + 8 * s, (SN_COPIED_BYTES > 0 ? 1 : 0) + (SN_COMPUTED ? 4 : 0));
      tc_barrier_init(empty + 8 * s, 4 * SN_GROUPS);
    }
    for (int g = 0; g < SN_CONSUMERS; ++g) tc_barrier_init(turns + 8 * g, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  int slot = 0;
  unsigned parity = 0;
#if SN_CLUSTER > 1
  ClusterWalk walk;
#else
  Walk walk(work);
#endif
  Item item;
  if (group >= SN_CONSUMERS) {
    SN_FEWER_REGISTERS;
    const int loader = threadIdx.x % 128;
    if (!SN_COMPUTED && loader > 0) return;
    int whose = SN_CONSUMERS;  // the next slot: the number of a warpgroup
    while (walk.next(work, tiles, item)) {
      const Place at = tc_place(item.tile, work);
      SN_OF_MEMBER(at)
      for (int round = item.first; round < item.end; ++round) {
        if (SN_LOADERS == 1 || whose == group) {
          const unsigned to_a = slots + slot * SN_SLOT, to_b = to_a + SN_A_BYTES, arrived = full + 8 * slot;
          const int term = SN_TERMS > 1 ? round / rounds_of_term : 0;
          const int depth = (round - term * rounds_of_term) * SN_BK;
          tc_wait(empty + 8 * slot, parity ^ 1);
          if (SN_COPIED_BYTES > 0 && loader == 0) {
            tc_expect(arrived, SN_COPIED_BYTES);
#ifdef SN_MAP_A
            SN_LOAD_A;
#endif
#ifdef SN_MAP_B
            SN_LOAD_B;
#endif
          }
//---
          if (SN_COMPUTED) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (lane == 0) tc_arrive(arrived);
          }
        }
        whose = whose + 1 == SN_CONSUMERS + SN_LOADERS ? SN_CONSUMERS : whose + 1;
        if (++slot == SN_STAGES) {
          slot = 0;
          parity ^= 1;
        }
      }
#if SN_CLUSTER > 1
      tc_cluster_barrier();
      tc_cluster_barrier();
#endif
    }
    return;
  }
  SN_MORE_REGISTERS;
  const int own = SN_TAKE_TURNS ? 0 : group * 64, warp = threadIdx.x / 32;
  const int own_stage = SN_CLUSTER > 1 ? warp * (SN_BN / 64) * 4096 : SN_STAGES * SN_SLOT + warp * 4096;
  float* const stage = (float*)(shared + (slots - tc_shared_address(shared)) + own_stage);
  unsigned own_turn = group == 0 ? 1 : 0;  // the parity of this warpgroup's next turn; the first has begun
  for (int count = 0; walk.next(work, tiles, item); ++count) {
    if (SN_TAKE_TURNS && count % SN_CONSUMERS != group) {
      slot += item.end - item.first;
      parity ^= slot / SN_STAGES & 1;
      slot %= SN_STAGES;
      continue;
    }
    if (SN_TAKE_TURNS) {
      tc_wait(turns + 8 * group, own_turn);
      own_turn ^= 1;
    }
    const Place at = tc_place(item.tile, work);
    SN_OF_MEMBER(at)
    // Of a step of the tile, what a lane's first row and column are.
#if SN_CLUSTER > 1
    const auto step_of_all = [&](int step) -> int {
      return (step * SN_CLUSTER + blockIdx.x % SN_CLUSTER) * SN_WARPS + warp;
    };
    const auto step_of_tile = [&](int step) -> int { return step_of_all(step) % SN_TILE_STEPS; };
    const auto repeat_of = [&](int step) -> int { return step_of_all(step) / SN_TILE_STEPS; };
    const auto is_own = [&](int step) -> bool { return step_of_all(step) < SN_TILE_STEPS * SN_REPEATS; };
    const auto row_of = [&](int step) -> int {
      return at.m + step_of_tile(step) / (SN_BN / 64 * SN_TURNS) * 16 + lane / SN_LANES +
             step_of_tile(step) % SN_TURNS * (32 / SN_LANES * SN_TOGETHER);
    };
    const auto column_of = [&](int step) -> int {
      return at.n + step_of_tile(step) / SN_TURNS % (SN_BN / 64) * (64 / SN_SHARES) + lane % SN_LANES * 8;
    };
#else
    const auto repeat_of = [&](int) -> int { return 0; };
    const auto is_own = [&](int step) -> bool { return step < SN_STEPS; };
    const auto row_of = [&](int step) -> int {
      return at.m + own + step / (SN_BN / 64 * SN_TURNS) * 64 + warp % 4 * 16 + lane / SN_LANES +
             step % SN_TURNS * (32 / SN_LANES * SN_TOGETHER);
    };
    const auto column_of = [&](int step) -> int {
      return at.n + step / SN_TURNS % (SN_BN / 64) * (64 / SN_SHARES) + lane % SN_LANES * 8;
    };
#endif
#if SN_HAS_OPERANDS
    Operands next;
    const auto load = [&](int row, int column, int to_repeat) {
//---
    };
    // Only as far as the second-level cache.
    const auto bring_near = [&](int row, int column, int to_repeat) {
//---
    };
    if (item.is_whole) {
#pragma unroll
      for (int step = 1; is_own(step); ++step)
        bring_near(row_of(step), column_of(step), repeat_of(step));
    }
    if (is_own(0)) load(row_of(0), column_of(0), repeat_of(0));
#endif
#if SN_HAS_COLUMNS
    Columns columns_of[SN_BN / 64];
#pragma unroll
    for (int part = 0; part < SN_BN / 64; ++part) {
      Columns& columns = columns_of[part];
      const int column = column_of(part * SN_TURNS);
//---
    }
#endif
    SN_SUM d[SN_BLOCKS][SN_SUMS];
#if SN_SHORT_SUMS
    float sums[SN_SUMS];
#pragma unroll
    for (int k = 0; k < SN_SUMS; ++k) sums[k] = 0.f;
#endif
    int before = -1;
    for (int round = item.first; round < item.end; ++round) {
      tc_wait(full + 8 * slot, parity);
      const unsigned from_a = slots + slot * SN_SLOT + own * 128;
      const unsigned from_b = slots + slot * SN_SLOT + SN_A_BYTES;
      const unsigned long long a = tc_matrix(from_a, SN_A_ACROSS), b = tc_matrix(from_b, SN_B_ACROSS);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int block = 0; block < SN_BLOCKS; ++block)
          tc_multiply(d[block], a + k * (SN_A_ACROSS ? 128 : 2) + block * 512,
                      b + k * (SN_B_ACROSS ? 128 : 2), k > 0 || (!SN_SHORT_SUMS && round > item.first));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if SN_SHORT_SUMS
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (lane == 0) tc_arrive(empty + 8 * slot);
#pragma unroll
      for (int k = 0; k < SN_SUMS; ++k) {
        asm volatile("" : "+f"(d[0][k])::"memory");
        sums[k] += d[0][k];
      }
#else
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (before >= 0 && lane == 0) tc_arrive(empty + 8 * before);
#endif
      before = slot;
      if (++slot == SN_STAGES) {
        slot = 0;
        parity ^= 1;
      }
    }
    if (SN_TAKE_TURNS && lane == 0) tc_arrive(turns + 8 * ((group + 1) % SN_CONSUMERS));
#if SN_SHORT_SUMS
#pragma unroll
    for (int k = 0; k < SN_SUMS; ++k) d[0][k] = sums[k];
#else
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int k = 0; k < SN_BLOCKS * SN_SUMS; ++k)
      asm volatile("" : SN_SUM_REGISTER(d[k / SN_SUMS][k % SN_SUMS])::"memory");
    if (before >= 0 && lane == 0) tc_arrive(empty + 8 * before);
#endif
#if SN_CLUSTER > 1
    if (before < 0) {
#pragma unroll
      for (int k = 0; k < SN_SUMS; ++k) d[0][k] = 0.f;
    }
    tc_sync_consumers();  // all of them have read the slots
#pragma unroll
    for (int part = 0; part < SN_BN / 64; ++part) tc_put(stage + 1024 * part, d[0] + 32 * part);
    tc_cluster_barrier();
    {
#pragma unroll 1
      for (int step = 0; is_own(step); ++step) {
        const int turn = step_of_tile(step) % SN_TURNS, to_repeat = repeat_of(step);
        const unsigned sums_of_all = slots + step_of_tile(step) / SN_TURNS * 4096;
#else
    if (!item.is_whole && !tc_join(d, item, work, group, partials, counters, last_to_come)) continue;
    // Registers have no numbers that a loop could count, so which sums are put is said for each part. What
    // becomes of them stands in the text once.
#pragma unroll 1
    for (int part = 0; part < SN_BLOCKS * (SN_BN / 64); ++part) {
#if SN_HAS_COLUMNS
      Columns columns;
#endif
#pragma unroll
      for (int p = 0; p < SN_BLOCKS * (SN_BN / 64); ++p) {
        if (part != p) continue;
        tc_put(stage, d[p / (SN_BN / 64)] + 32 * (p % (SN_BN / 64)));
#if SN_HAS_COLUMNS
        columns = columns_of[p % (SN_BN / 64)];
#endif
      }
#pragma unroll 1
      for (int turn = 0; turn < SN_TURNS; ++turn) {
        const int step = part * SN_TURNS + turn;
#endif
        const int row = row_of(step), column = column_of(step);
        Operands met;
#if SN_HAS_OPERANDS
        met = next;
        if (is_own(step + 1)) load(row_of(step + 1), column_of(step + 1), repeat_of(step + 1));
#endif
//---
      }
    }
#if SN_CLUSTER > 1
    asm volatile("fence.proxy.async;" ::: "memory");
    tc_cluster_barrier();  // the others have read these sums: slots may be filled again
#endif
  }
