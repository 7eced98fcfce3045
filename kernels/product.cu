// A blocked matrix product. What stands before it says what is multiplied: T, tile sizes, Problem, OperandA,
// OperandB, Tables, Output (matmul.cu, conv2d.cu).
//
// A block of 16 x 16 threads computes BM x BN elements, each thread TM x TN of them in registers. The next BK
// of k are fetched into registers while the ones before are multiplied out of shared memory, which is there
// twice, so that one barrier per step is enough. With p.splits > 1 each split sums a part of k and c is
// [splits, batch, m, n]: the parts are added in a fixed order by sum_splits.

#define FRAGMENT(n) (n >= 4 ? 4 : n)

// Thread t's i-th row or column of a tile: four together, so that one instruction reads them, 64 apart, so
// that the threads of a warp read different banks.
__device__ __forceinline__ int tile_index(int t, int i, int each) {
  return each >= 4 ? i / 4 * 64 + t * 4 + i % 4 : t * each + i;
}

template <int N>
__device__ __forceinline__ void read_fragment(T (&to)[N], const T* from, int t) {
  if (N >= 4) {
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      const Four four = *(const Four*)(from + tile_index(t, i, N));
#pragma unroll
      for (int j = 0; j < 4 && i + j < N; ++j) to[i + j] = four.at[j];
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from[tile_index(t, i, N)];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_CORE)
    sinter_product(const T* a, const T* b, T* __restrict__ c, const Problem p) {
  sn_follow();
  __shared__ __align__(16) T a_tile[2][BK][BM + 4];
  __shared__ __align__(16) T b_tile[2][BK][BN + 4];
  __shared__ Tables tables[2];

  // Tiles in bands of eight rows, so that blocks that run together share what they read.
  const i64 tiles_m = (p.m + BM - 1) / BM, tiles_n = (p.n + BN - 1) / BN;
  const i64 block = p.first_block + blockIdx.x;  // a grid has fewer than 2^31
  const i64 tile = block % (tiles_m * tiles_n), part = block / (tiles_m * tiles_n);
  const i64 split = part / p.batch, z = part % p.batch;
  const i64 band = tile / (8 * tiles_n), in_band = tile % (8 * tiles_n);
  const i64 band_rows = tiles_m - band * 8 < 8 ? tiles_m - band * 8 : 8;
  const i64 row0 = (band * 8 + in_band % band_rows) * BM, column0 = in_band / band_rows * BN;
  const i64 k_begin = split * p.k_per_split;
  const int depth = int(k_begin + p.k_per_split < p.k ? p.k_per_split : p.k - k_begin);

  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  OperandA load_a(a, p, z, row0, k_begin);
  OperandB load_b(b, p, z, column0, k_begin);
  T sums[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sums[i][j] = T(0);

  if (depth > 0) {
    tables[0].fill(p, Offset(k_begin), depth);
    tables[1].fill(p, Offset(k_begin) + BK, depth - BK);
    __syncthreads();
    fetch(load_a, load_b, tables[0], depth);
    load_a.put(a_tile[0]);
    load_b.put(b_tile[0]);
    __syncthreads();
  }
  int now = 0;
  for (int done = 0; done < depth; done += BK, now ^= 1) {
    const bool more = done + BK < depth;
    if (more) {
      fetch(load_a, load_b, tables[now ^ 1], depth - done - BK);
      tables[now].fill(p, Offset(k_begin) + done + 2 * BK, depth - done - 2 * BK);
    }
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      T rows[TM], columns[TN];
      read_fragment(rows, a_tile[now][k], ty);
      read_fragment(columns, b_tile[now][k], tx);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] += rows[i] * columns[j];
    }
    if (more) {
      load_a.put(a_tile[now ^ 1]);
      load_b.put(b_tile[now ^ 1]);
      __syncthreads();
    }
  }

  if (p.splits > 1) c += split * p.batch * p.m * p.n;
  const Output output(c, p, z);
  const bool vector = Output::vector(p) && TN >= 4;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const i64 row = row0 + tile_index(ty, i, TM);
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < TN; j += FRAGMENT(TN)) {
      const i64 column = column0 + tile_index(tx, j, TN);
      if (vector && column < p.n) {
        store4(output.at(p, row, column), &sums[i][j]);
      } else {
#pragma unroll
        for (int l = 0; l < FRAGMENT(TN); ++l)
          if (column + l < p.n) *output.at(p, row, column + l) = sums[i][j + l];
      }
    }
  }
}
