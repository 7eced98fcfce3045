// A sum of products by tiles on cooperative matrices: all subgroups of a workgroup bring factors and
// multiply, each its part of the tile. What stands before it is written for one kernel
// (jit/emit/contraction):
//
//   SN_BM, SN_BN, SN_BK          a tile's rows and columns; elements of k in a slot
//   SN_PART_M, SN_PART_N         of a tile, that a subgroup has
//   SN_M, SN_N, SN_K             of one matrix
//   SN_A, SN_B, SN_SUM           the types of factors and sums
//   SN_A_ACROSS, SN_B_ACROSS     true: the factor has its neighbours along m (n), false: along k
//   SN_LINE_A, SN_LINE_B         pieces from a line of a factor to the next one in a slot
//   SN_FILLED_A, SN_FILLED_B     pieces of a line that have something
//   SN_PIECES_A, SN_PIECES_B     such pieces of a slot
//   SN_START_B, SN_SLOT          pieces: of A in a slot, and of both
//   SN_KEPT_A, SN_KEPT_B         what is put into a slot of a piece that was loaded, by its line and place
//   SN_EXCHANGE, SN_EXCHANGE_LINE  pieces of a row of a subgroup's sums, and from a line of it to the next
//   SN_LOADERS                   lanes of a workgroup
//   SN_BAND                      rows of tiles that are done together
//   SN_MANY_PARTS                of a tile's sums
//
// The lines of three dashes are where the head of the kernel, the loads of factors, and what becomes of sums
// are put in; the head defines size_m, size_n, size_k, size_batch and parts, and has memory for the sums of
// parts and counters, all zero, which the kernel leaves so.
//
// Eight values of 16 bits are a piece, in whose multiples matrices are loaded. Of a factor that lies along k
// a line is a row (column), of one that lies across a line is an element of k. While one of the two slots is
// multiplied, lanes load what comes into the other: pieces as they lie without a branch, in which drivers
// wait for them, so that beyond the last round the last pieces are loaded once more. Sums get from matrices,
// of which nobody knows which lane has what, to lanes through the memory of the slots.

#define SN_UP(a, b) (((a) + (b) - 1) / (b))
#define SN_BLOCKS_M (SN_PART_M / SN_M)
#define SN_BLOCKS_N (SN_PART_N / SN_N)
#define SN_PARTS_A SN_UP(SN_PIECES_A, SN_LOADERS)
#define SN_PARTS_B SN_UP(SN_PIECES_B, SN_LOADERS)

shared uvec4 cm_slots[2 * SN_SLOT];
shared u32 cm_turn;

struct Place {
  int m, n, z;
};
Place cm_place(int tile, int tiles_m, int tiles_n) {
  const int area = tiles_m * tiles_n, in_area = tile % area;
  const int band = in_area / (SN_BAND * tiles_n), in_band = in_area % (SN_BAND * tiles_n);
  const int height = min(tiles_m - band * SN_BAND, SN_BAND);
  return Place((band * SN_BAND + in_band % height) * SN_BM, in_band / height * SN_BN, tile / area);
}

// The first `count` of a piece's values, and zeros behind.
uvec4 cm_first(uvec4 piece, int count) {
  if (count >= 8) return piece;
  [[unroll]]
  for (int w = 0; w < 4; ++w) {
    const int left = count - 2 * w;
    piece[w] = left <= 0 ? 0u : left == 1 ? piece[w] & 65535u : piece[w];
  }
  return piece;
}
//---
  const int tiles_m = SN_UP(size_m, SN_BM), tiles_n = SN_UP(size_n, SN_BN), rounds = SN_UP(size_k, SN_BK);
  const int tiles = tiles_m * tiles_n * size_batch, all_parts = int(parts);
  const int loader = int(gl_LocalInvocationID.x), lane = int(gl_SubgroupInvocationID);
  const int subgroup = int(gl_SubgroupID);
  const int own_m = subgroup / (SN_BN / SN_PART_N) * SN_PART_M;
  const int own_n = subgroup % (SN_BN / SN_PART_N) * SN_PART_N;
  // Each part of a tile has the sums of a stretch of rounds.
  for (int item = int(gl_WorkGroupID.x); item < tiles * all_parts; item += int(gl_NumWorkGroups.x)) {
    const int tile = item % tiles, part = item / tiles;
    const int least = rounds / all_parts, longer = rounds % all_parts;
    const int begin = part * least + min(part, longer), end = begin + least + (part < longer ? 1 : 0);
    const Place at = cm_place(tile, tiles_m, tiles_n);
    SN_SUM d[SN_BLOCKS_M][SN_BLOCKS_N];
    [[unroll]]
    for (int i = 0; i < SN_BLOCKS_M; ++i) {
      [[unroll]]
      for (int j = 0; j < SN_BLOCKS_N; ++j) d[i][j] = SN_SUM(0.0);
    }
    // In round r slot r % 2 is multiplied, which all have filled before its barrier, and then the other one
    // is filled by what was loaded in round r - 1: so long it is on its way, and no compiler moves the loads
    // to where they are used.
    uvec4 old_a[SN_PARTS_A], old_b[SN_PARTS_B];
    for (int round = begin < end ? begin - 2 : end; round < end; ++round) {
      const bool brings = round + 2 < end;
      const int depth = (round + 2) * SN_BK;
      uvec4 part_a[SN_PARTS_A], part_b[SN_PARTS_B];
      barrier();
//---
      if (round >= begin) {
        const int from = (round & 1) * SN_SLOT;
        [[unroll]]
        for (int k = 0; k < SN_BK; k += SN_K) {
          SN_A a[SN_BLOCKS_M];
          SN_B b[SN_BLOCKS_N];
          [[unroll]]
          for (int i = 0; i < SN_BLOCKS_M; ++i) {
            const int own = own_m + i * SN_M;
            const int first = SN_A_ACROSS ? k * SN_LINE_A + own / 8 : own * SN_LINE_A + k / 8;
            coopMatLoadNV(a[i], cm_slots, from + first, SN_LINE_A, SN_A_ACROSS);
          }
          [[unroll]]
          for (int j = 0; j < SN_BLOCKS_N; ++j) {
            const int own = own_n + j * SN_N;
            const int first = SN_START_B + (SN_B_ACROSS ? k * SN_LINE_B + own / 8 : own * SN_LINE_B + k / 8);
            coopMatLoadNV(b[j], cm_slots, from + first, SN_LINE_B, !SN_B_ACROSS);
          }
          [[unroll]]
          for (int i = 0; i < SN_BLOCKS_M; ++i) {
            [[unroll]]
            for (int j = 0; j < SN_BLOCKS_N; ++j) d[i][j] = coopMatMulAddNV(a[i], b[j], d[i][j]);
          }
        }
      }
      if (round >= begin - 1 && round + 1 < end) {
        const int to = (round + 1 & 1) * SN_SLOT, kept = (round + 1) * SN_BK;
        [[unroll]]
        for (int i = 0; i < SN_PARTS_A; ++i) {
          const int number = i * SN_LOADERS + loader;
          const int line = number / SN_FILLED_A, piece = number % SN_FILLED_A;
          if (number < SN_PIECES_A)
            cm_slots[to + line * SN_LINE_A + piece] = SN_KEPT_A(old_a[i], line, piece);
        }
        [[unroll]]
        for (int i = 0; i < SN_PARTS_B; ++i) {
          const int number = i * SN_LOADERS + loader;
          const int line = number / SN_FILLED_B, piece = number % SN_FILLED_B;
          if (number < SN_PIECES_B)
            cm_slots[to + SN_START_B + line * SN_LINE_B + piece] = SN_KEPT_B(old_b[i], line, piece);
        }
      }
      [[unroll]]
      for (int i = 0; i < SN_PARTS_A; ++i) old_a[i] = part_a[i];
      [[unroll]]
      for (int i = 0; i < SN_PARTS_B; ++i) old_b[i] = part_b[i];
    }
    barrier();
    if (all_parts > 1) {
      // The last to come of a tile's workgroups adds up what all have left, in the order of k. Nobody reads
      // many parts: from SN_MANY_PARTS on, the last of each group of `each` adds up those of the group, and
      // the last of all groups what they have.
      int each = 1;
      while (all_parts >= SN_MANY_PARTS && each * each < all_parts) ++each;
      const int groups = (all_parts + each - 1) / each, group = part / each;
      bool is_last = true;
      for (int stage = each > 1 ? 0 : 1; stage < 2 && is_last; ++stage) {
        const int first = stage == 0 ? group * each : 0, step = stage == 0 ? 1 : each;
        const int last = stage == 0 ? min(first + each, all_parts) : all_parts;
        const int counter = stage == 0 ? tiles + tile * groups + group : tile;
        const int own_part = stage == 0 ? part : group * each;
        const int own_matrices = subgroup * (SN_BLOCKS_M * SN_BLOCKS_N) * (SN_M * SN_N);
        const int from = (tile * all_parts + own_part) * (SN_BM * SN_BN) + own_matrices;
        [[unroll]]
        for (int i = 0; i < SN_BLOCKS_M; ++i) {
          [[unroll]]
          for (int j = 0; j < SN_BLOCKS_N; ++j)
            coopMatStoreNV(d[i][j], sn_partials.word, from + (i * SN_BLOCKS_N + j) * (SN_M * SN_N), SN_N,
                           false);
        }
        memoryBarrierBuffer();
        barrier();
        if (loader == 0) {
          const u32 come = atomicAdd(sn_counters.word[counter], 1u) + 1u;
          const u32 all = u32((last - first + step - 1) / step);
          if (come == all) sn_counters.word[counter] = 0u;
          cm_turn = come == all ? 1u : 0u;
        }
        memoryBarrierShared();
        barrier();
        is_last = cm_turn != 0u;
        barrier();
        if (!is_last) continue;
        memoryBarrierBuffer();
        [[unroll]]
        for (int i = 0; i < SN_BLOCKS_M; ++i) {
          [[unroll]]
          for (int j = 0; j < SN_BLOCKS_N; ++j) d[i][j] = SN_SUM(0.0);
        }
        for (int other = first; other < last; other += step) {
          const int left = (tile * all_parts + other) * (SN_BM * SN_BN) + own_matrices;
          [[unroll]]
          for (int i = 0; i < SN_BLOCKS_M; ++i) {
            [[unroll]]
            for (int j = 0; j < SN_BLOCKS_N; ++j) {
              SN_SUM there;
              const int at_matrix = left + (i * SN_BLOCKS_N + j) * (SN_M * SN_N);
              coopMatLoadNV(there, sn_partials.word, at_matrix, SN_N, false);
              d[i][j] = d[i][j] + there;
            }
          }
        }
      }
      if (!is_last) continue;
    }
    const int exchange = subgroup * SN_EXCHANGE;
    [[unroll]]
    for (int block = 0; block < SN_BLOCKS_M; ++block) {
      [[unroll]]
      for (int j = 0; j < SN_BLOCKS_N; ++j)
        coopMatStoreNV(d[block][j], cm_slots, exchange + j * SN_N / 4, SN_EXCHANGE_LINE, false);
      barrier();
      const int row = at.m + own_m + block * SN_M, column = at.n + own_n;
//---
      barrier();
    }
  }
