// A sum of products by tiles on cooperative matrices: all subgroups of a workgroup bring factors and
// multiply, each its part of the tile. What stands before it is written for one kernel
// (jit/emit/contraction):
//
//   SN_BM, SN_BN, SN_BK          a tile's rows and columns; elements of k in the slot
//   SN_PART_M, SN_PART_N         of a tile, that a subgroup has
//   SN_M, SN_N, SN_K             of one matrix
//   SN_A, SN_B, SN_SUM           the types of factors and sums
//   SN_A_ACROSS, SN_B_ACROSS     true: the factor has its neighbours along m (n), false: along k
//   SN_LINE_A, SN_LINE_B         pieces from a line of a factor to the next one in the slot
//   SN_FILLED_A, SN_FILLED_B     pieces of a line that have something
//   SN_PIECES_A, SN_PIECES_B     such pieces of the slot
//   SN_START_B, SN_SHARED        pieces: of A in the slot, and of the memory
//   SN_KEPT_A, SN_KEPT_B         what is put into the slot of a piece that was loaded, by its line and place
//   SN_EXCHANGE, SN_EXCHANGE_LINE  pieces of a row of a subgroup's sums, and from a line of it to the next
//   SN_LOADERS                   lanes of a workgroup
//   SN_BAND                      rows of tiles that are done together
//   SN_MANY_PARTS                of a tile's sums
//
// The lines of three dashes are where the head of the kernel, twice the loads of factors, and what becomes of
// sums are put in; the head defines size_m, size_n, size_k, size_batch and parts, and has memory for the sums
// of parts and counters, all zero, which the kernel leaves so.
//
// Eight values of 16 bits are a piece, in whose multiples matrices are loaded. Of a factor that lies along k
// a line is a row (column), of one that lies across a line is an element of k. While the slot is multiplied,
// lanes load what comes into it next: pieces as they lie without a branch, in which drivers wait for them, so
// that in the last round its own pieces are loaded once more. A second slot would save a barrier, but took
// 1.4 to 1.9 times as long (docs/benchmarks/products.md). Sums get from matrices, of which nobody knows which
// lane has what, to the lanes of the subgroup through the memory of the slot.

#define SN_UP(a, b) (((a) + (b) - 1) / (b))
#define SN_BLOCKS_M (SN_PART_M / SN_M)
#define SN_BLOCKS_N (SN_PART_N / SN_N)
#define SN_PARTS_A SN_UP(SN_PIECES_A, SN_LOADERS)
#define SN_PARTS_B SN_UP(SN_PIECES_B, SN_LOADERS)

// Fills the slot with what a lane has loaded, as KEPT_A and KEPT_B say.
#define SN_PUT(KEPT_A, KEPT_B)                                                                     \
  [[unroll]]                                                                                       \
  for (int i = 0; i < SN_PARTS_A; ++i) {                                                           \
    const int number = i * SN_LOADERS + loader;                                                    \
    const int line = number / SN_FILLED_A, piece = number % SN_FILLED_A;                           \
    if (number < SN_PIECES_A) cm_slot[line * SN_LINE_A + piece] = KEPT_A(part_a[i], line, piece);  \
  }                                                                                                \
  [[unroll]]                                                                                       \
  for (int i = 0; i < SN_PARTS_B; ++i) {                                                           \
    const int number = i * SN_LOADERS + loader;                                                    \
    const int line = number / SN_FILLED_B, piece = number % SN_FILLED_B;                           \
    if (number < SN_PIECES_B)                                                                      \
      cm_slot[SN_START_B + line * SN_LINE_B + piece] = KEPT_B(part_b[i], line, piece);             \
  }
#define CM_AS_IT_IS(value, line, piece) value

shared uvec4 cm_slot[SN_SHARED];
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
    uvec4 part_a[SN_PARTS_A], part_b[SN_PARTS_B];
    const bool is_within = at.m + SN_BM <= size_m && at.n + SN_BN <= size_n;
    bool brings = begin < end;
    int depth = begin * SN_BK;
//---
    for (int round = begin; round < end; ++round) {
      const int kept = round * SN_BK;
      barrier();
      // What lies within the factors needs no look at where they end, which took a quarter of the time.
      if (is_within && kept + SN_BK <= size_k) {
        SN_PUT(CM_AS_IT_IS, CM_AS_IT_IS)
      } else {
        SN_PUT(SN_KEPT_A, SN_KEPT_B)
      }
      barrier();
      brings = round + 1 < end;
      depth = min(round + 1, end - 1) * SN_BK;
//---
      [[unroll]]
      for (int k = 0; k < SN_BK; k += SN_K) {
        SN_A a[SN_BLOCKS_M];
        [[unroll]]
        for (int i = 0; i < SN_BLOCKS_M; ++i) {
          const int own = own_m + i * SN_M;
          const int first = SN_A_ACROSS ? k * SN_LINE_A + own / 8 : own * SN_LINE_A + k / 8;
          coopMatLoadNV(a[i], cm_slot, first, SN_LINE_A, SN_A_ACROSS);
        }
        [[unroll]]
        for (int j = 0; j < SN_BLOCKS_N; ++j) {
          SN_B b;
          const int own = own_n + j * SN_N;
          const int first = SN_START_B + (SN_B_ACROSS ? k * SN_LINE_B + own / 8 : own * SN_LINE_B + k / 8);
          coopMatLoadNV(b, cm_slot, first, SN_LINE_B, !SN_B_ACROSS);
          [[unroll]]
          for (int i = 0; i < SN_BLOCKS_M; ++i) d[i][j] = coopMatMulAddNV(a[i], b, d[i][j]);
        }
      }
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
        coopMatStoreNV(d[block][j], cm_slot, exchange + j * SN_N / 4, SN_EXCHANGE_LINE, false);
      subgroupBarrier();
      const int row = at.m + own_m + block * SN_M, column = at.n + own_n;
//---
      subgroupBarrier();
    }
  }
