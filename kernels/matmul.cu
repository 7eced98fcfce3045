// Operands of a matrix product (matmul_problem.cu) for product.cu.
//
// Each operand is read along the dim in which it has no gaps, four elements at once where alignment allows.
// A_ALONG_K and B_ALONG_K say which dim that is: constants, or p.a_along_k and p.b_along_k.

// ROWS x BK elements of an operand, four to a group; element (r, k) is at r * row_stride + k * k_stride.
template <int ROWS>
struct Panel {
  static const int kGroups = ROWS * BK / 4;
  static const int kEach = kGroups > THREADS ? kGroups / THREADS : 1;

  const T* at[kEach];  // this thread's groups in the tile that is fetched next
  int rows[kEach];     // how many of a group's rows exist
  i64 step, stride;    // from tile to tile, and in a group
  bool along_k, vector;
  T held[kEach][4];

  __device__ __forceinline__ int group(int g) const { return threadIdx.x + g * THREADS; }
  __device__ __forceinline__ int row(int g) const {
    return along_k ? group(g) / (BK / 4) : group(g) % (ROWS / 4) * 4;
  }
  __device__ __forceinline__ int depth(int g) const {
    return along_k ? group(g) % (BK / 4) * 4 : group(g) / (ROWS / 4);
  }

  __device__ __forceinline__ void start(const T* base, i64 row0, i64 all_rows, i64 k0, i64 row_stride,
                                        i64 k_stride, bool along_k_, bool vector_) {
    along_k = along_k_;
    vector = vector_;
    step = k_stride * BK;
    stride = along_k ? k_stride : row_stride;
#pragma unroll
    for (int g = 0; g < kEach; ++g) {
      at[g] = base + (row0 + row(g)) * row_stride + (k0 + depth(g)) * k_stride;
      rows[g] = int(all_rows - row0 < ROWS ? all_rows - row0 : ROWS) - row(g);
    }
  }

  // `left`: how much of k there is from the tile's first on.
  __device__ __forceinline__ void fetch(int left) {
    if (kGroups < THREADS && threadIdx.x >= kGroups) return;
#pragma unroll
    for (int g = 0; g < kEach; ++g) {
      const int deep = left - depth(g);
      const int wanted = rows[g] <= 0 || deep <= 0 ? 0 : along_k ? deep : rows[g];
      if (vector) {
        load4(held[g], at[g], wanted > 0);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) held[g][i] = i < wanted ? at[g][i * stride] : T(0);
      }
      at[g] += step;
    }
  }

  __device__ __forceinline__ void put(T (*to)[ROWS + 4]) {
    if (kGroups < THREADS && threadIdx.x >= kGroups) return;
#pragma unroll
    for (int g = 0; g < kEach; ++g) {
      if (along_k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) to[depth(g) + i][row(g)] = held[g][i];
      } else {
        store4(&to[depth(g)][row(g)], held[g]);
      }
    }
  }
};

struct OperandA : Panel<BM> {
  __device__ __forceinline__ OperandA(const T* a, const Problem& p, i64 z, i64 row0, i64 k0) {
    start(a + z * p.a_batch, row0, p.m, k0, p.a_row, p.a_column, A_ALONG_K, p.a_vector);
  }
};

struct OperandB : Panel<BN> {
  __device__ __forceinline__ OperandB(const T* b, const Problem& p, i64 z, i64 column0, i64 k0) {
    start(b + z * p.b_batch, column0, p.n, k0, p.b_column, p.b_row, B_ALONG_K, p.b_vector);
  }
};

struct Tables {
  __device__ __forceinline__ void fill(const Problem&, Offset, int) {}
};

__device__ __forceinline__ void fetch(OperandA& a, OperandB& b, const Tables&, int left) {
  a.fetch(left);
  b.fetch(left);
}

// Where c's elements go.
struct Output {
  T* row0;
  i64 stride;
  __device__ __forceinline__ Output(T* c, const Problem& p, i64 z) : row0(c + z * p.m * p.n), stride(p.n) {}
  __device__ __forceinline__ T* at(const Problem&, i64 row, i64 column) const {
    return row0 + row * stride + column;
  }
  __device__ __forceinline__ static bool vector(const Problem& p) { return p.c_vector; }
};
