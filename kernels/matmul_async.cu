// A matrix product of f32 (matmul_problem.cu) whose operands come by asynchronous copies.
//
// A block of 256 threads computes BM x BN elements. Each warp has a part of the tile, of 8 rows of threads by
// 4 columns, and each thread TM x TN elements in registers. Asynchronous copies bring STAGES steps of BK of
// both operands into shared memory, k by k, so that a thread reads four neighbouring rows or columns of one k
// by one instruction. An operand that lies along k is copied element by element: eight k of four rows a warp,
// which are whole sectors of memory, and with rows of BM + 4 elements a bank each.
//
// With p.splits > 1 each split sums a part of k and c is [splits, batch, m, n]: sum_splits.cu adds them.
// With CLUSTER > 1 the blocks of a cluster do so with one tile, and then each adds up a part of the tile, in
// the order of the blocks, from the shared memory of all.

#define WARPS_M 2
#define BAND 8
#define STRIDE_A (BM + 4)
#define STRIDE_B (BN + 4)
#define STAGE (BK * (STRIDE_A + STRIDE_B))
// Shared memory whose size the launch says.
#ifndef LAUNCH_SHARED
#define LAUNCH_SHARED(type, name) extern __shared__ __align__(16) type name[]
#endif

// Copies 4 or 16 bytes, or as many zeros where they are not wanted.
template <int BYTES>
__device__ __forceinline__ void copy(float* to, const float* from, bool wanted) {
#ifdef __CUDA_ARCH__
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  const int bytes = wanted ? BYTES : 0;
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes));
#else
#pragma unroll
  for (int i = 0; i < BYTES / 4; ++i) to[i] = wanted ? from[i] : 0.0f;
#endif
}

__device__ __forceinline__ void end_of_copies() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;");
#endif
}

// Waits until all but the last `LEFT` groups of copies have come.
template <int LEFT>
__device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT));
#endif
}

// An operand's part of a step: ROWS rows (of b: columns) by BK. Steps are fetched in order.
template <int ROWS, int PITCH, bool ALONG_K>
struct Panel {
  // Of neighbouring threads: k, or vectors of one k. All threads have something to copy.
  static const int kAcross = ALONG_K ? 8 : ROWS / 4, kApart = THREADS / kAcross;
  static_assert(kApart <= (ALONG_K ? ROWS : BK), "");

  const float* at;  // this thread's first element of the next step, or of a step of single elements
  i64 row_stride, k_stride;
  int rows;  // that exist, from the thread's first on
  bool vector;

  __device__ __forceinline__ static int first_row() {
    return ALONG_K ? threadIdx.x / 8 : threadIdx.x % (ROWS / 4) * 4;
  }
  __device__ __forceinline__ static int first_k() {
    return ALONG_K ? threadIdx.x % 8 : threadIdx.x / (ROWS / 4);
  }

  __device__ __forceinline__ Panel(const float* base, i64 row0, i64 all_rows, i64 k0, i64 row_stride,
                                   i64 k_stride, bool vector)
      : at(base + (row0 + first_row()) * row_stride + (k0 + first_k()) * k_stride),
        row_stride(row_stride),
        k_stride(k_stride),
        rows(int(all_rows - row0 < ROWS ? all_rows - row0 : ROWS) - first_row()),
        vector(vector) {}

  // Of the step `left` k exist.
  __device__ __forceinline__ void fetch(float* to, int left) {
    to += first_k() * PITCH + first_row();
    left -= first_k();
    if (ALONG_K) {
#pragma unroll
      for (int j = 0; j < BK; j += 8)
#pragma unroll
        for (int i = 0; i < ROWS; i += kApart)
          copy<4>(to + j * PITCH + i, at + i * row_stride + j * k_stride, i < rows && j < left);
    } else if (vector) {
#pragma unroll
      for (int k = 0; k < BK; k += kApart)
        copy<16>(to + k * PITCH, at + k * k_stride, 0 < rows && k < left);
    } else {
#pragma unroll
      for (int k = 0; k < BK; k += kApart)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          copy<4>(to + k * PITCH + i, at + k * k_stride + i * row_stride, i < rows && k < left);
    }
    at += BK * k_stride;
  }
};

#if CLUSTER > 1
__device__ __forceinline__ void cluster_barrier() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n\t"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

// From the shared memory of a block of the cluster, of which `at` is the place in this block's.
__device__ __forceinline__ Four read_from_block(const float* at, unsigned block) {
  Four four;
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"((unsigned)__cvta_generic_to_shared(at)), "r"(block));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.at[0]), "=f"(four.at[1]), "=f"(four.at[2]), "=f"(four.at[3])
               : "r"(there)
               : "memory");
  return four;
}
#endif

// Four neighbours of every so many, the first of which belong to thread 0.
template <int N, int APART>
__device__ __forceinline__ void read_fragment(float (&to)[N], const float* from) {
#pragma unroll
  for (int i = 0; i < N / 4; ++i) {
    const Four four = *(const Four*)(from + i * APART);
#pragma unroll
    for (int j = 0; j < 4; ++j) to[4 * i + j] = four.at[j];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_CORE) CLUSTER_DIMS
    sinter_product(const float* a, const float* b, float* __restrict__ c, const Problem p) {
  sn_follow();
  LAUNCH_SHARED(float, stages);

  // Tiles in bands, so that blocks that run together share what they read.
  const i64 tiles_m = (p.m + BM - 1) / BM, tiles_n = (p.n + BN - 1) / BN;
  const i64 block = p.first_block + blockIdx.x;  // a grid has fewer than 2^31
  const i64 whole = block / CLUSTER;
  const i64 tile = whole % (tiles_m * tiles_n), part = whole / (tiles_m * tiles_n);
  const i64 split = CLUSTER > 1 ? block % CLUSTER : part / p.batch, z = part % p.batch;
  const i64 band = tile / (BAND * tiles_n), in_band = tile % (BAND * tiles_n);
  const i64 band_rows = tiles_m - band * BAND < BAND ? tiles_m - band * BAND : BAND;
  const i64 row0 = (band * BAND + in_band % band_rows) * BM, column0 = in_band / band_rows * BN;
  const i64 k_begin = split * p.k_per_split;
  const i64 rest = p.k - k_begin;  // of a cluster's last blocks perhaps nothing
  const int depth = int(rest < 0 ? 0 : rest < p.k_per_split ? rest : p.k_per_split);

  Panel<BM, STRIDE_A, A_ALONG_K> panel_a(a + z * p.a_batch, row0, p.m, k_begin, p.a_row, p.a_column,
                                         p.a_vector);
  Panel<BN, STRIDE_B, B_ALONG_K> panel_b(b + z * p.b_batch, column0, p.n, k_begin, p.b_column, p.b_row,
                                         p.b_vector);
  const int steps = (depth + BK - 1) / BK;
  const auto fetch = [&](int step) {
    if (step < steps) {
      float* const to = stages + step % STAGES * STAGE;
      panel_a.fetch(to, depth - step * BK);
      panel_b.fetch(to + BK * STRIDE_A, depth - step * BK);
    }
    end_of_copies();
  };

  // Warps stand in WARPS_M rows; of a warp 8 x 4 threads, four rows and four columns of elements each, again
  // every 32 rows and 16 columns.
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = warp % WARPS_M * (8 * TM) + lane / 4 * 4;
  const int first_column = warp / WARPS_M * (4 * TN) + lane % 4 * 4;
  float sums[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sums[i][j] = 0.0f;

#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);
  float rows[2][TM], columns[2][TN];
  for (int step = 0; step < steps; ++step) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    const float* const from_a = stages + step % STAGES * STAGE + first_row;
    const float* const from_b = stages + step % STAGES * STAGE + BK * STRIDE_A + first_column;
    read_fragment<TM, 32>(rows[0], from_a);
    read_fragment<TN, 16>(columns[0], from_b);
    // Into the stage that all threads have left behind.
    fetch(step + STAGES - 1);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k + 1 < BK) {
        read_fragment<TM, 32>(rows[(k + 1) % 2], from_a + (k + 1) * STRIDE_A);
        read_fragment<TN, 16>(columns[(k + 1) % 2], from_b + (k + 1) * STRIDE_B);
      }
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sums[i][j] += rows[k % 2][i] * columns[k % 2][j];
    }
  }

#if CLUSTER > 1
  static_assert(BM * STRIDE_B <= STAGES * STAGE, "a tile lies where its steps were");
  __syncthreads();
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; j += 4)
      store4(&stages[(first_row + i / 4 * 32 + i % 4) * STRIDE_B + first_column + j / 4 * 16], &sums[i][j]);
  cluster_barrier();
  c += z * p.m * p.n;
  constexpr int kFours = BM * BN / 4 / CLUSTER;
#pragma unroll
  for (int f = threadIdx.x; f < kFours; f += THREADS) {
    const int at = int(split) * kFours + f, in_row = at / (BN / 4), in_column = at % (BN / 4) * 4;
    Four parts[CLUSTER];
#pragma unroll
    for (unsigned s = 0; s < CLUSTER; ++s)
      parts[s] = read_from_block(&stages[in_row * STRIDE_B + in_column], s);
    Four total = parts[0];
#pragma unroll
    for (int s = 1; s < CLUSTER; ++s)
#pragma unroll
      for (int l = 0; l < 4; ++l) total.at[l] += parts[s].at[l];
    const i64 row = row0 + in_row, column = column0 + in_column;
    if (row >= p.m) continue;
    float* const to = c + row * p.n + column;
    if (p.c_vector && column < p.n) {
      store4(to, total.at);
    } else {
#pragma unroll
      for (int l = 0; l < 4; ++l)
        if (column + l < p.n) to[l] = total.at[l];
    }
  }
  cluster_barrier();  // the memory of a block is there until it ends
#else
  if (p.splits > 1) c += split * p.batch * p.m * p.n;
  c += z * p.m * p.n;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const i64 row = row0 + first_row + i / 4 * 32 + i % 4;
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const i64 column = column0 + first_column + j / 4 * 16;
      float* const to = c + row * p.n + column;
      if (p.c_vector && column < p.n) {
        store4(to, &sums[i][j]);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (column + l < p.n) to[l] = sums[i][j + l];
      }
    }
  }
#endif
}
