// Operands of the two-dimensional convolution and its gradients as matrix products, for product.cu. Nothing
// is unfolded in memory: an element's place is computed when it is read. One product m x k times k x n per
// group:
//
// - DIRECTION 0, forward: y = weight [c_out, c_in kh kw] . x [c_in kh kw, pixels of y]
// - DIRECTION 1, backward input: grad x = weight [c_in, c_out kh kw] . grad y [c_out kh kw, pixels of x]
// - DIRECTION 2, backward weight: grad weight = grad y [c_out, pixels of y] . x [pixels of y, c_in kh kw]
//
// Element (k, n) of the second operand lies at base(n) + base(k) + h * width + w with h = h(n) + h(k) and
// w = w(n) + w(k), and is 0 where (h, w) is outside of its picture. In direction 1, h and w count steps of
// the stride.

struct Problem {
  i64 batch, m, n, k;  // batch: groups
  i64 k_per_split, splits;
  i64 first_block;
  int channels_in, height_in, width_in;     // of a group; x
  int channels_out, height_out, width_out;  // of a group; y
  int kernel_height, kernel_width;
  int stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;
};

struct Place {
  Offset base;
  int h, w;
};

// For column n of the product.
__device__ __forceinline__ Place column_place(const Problem& p, Offset n) {
  Place place;
#if DIRECTION == 2
  const Offset rest = n / p.kernel_width, c = rest / p.kernel_height;
  const int s = int(n % p.kernel_width), r = int(rest % p.kernel_height);
  place.base = c * p.height_in * p.width_in;
  place.h = r * p.dilation_y - p.padding_y;
  place.w = s * p.dilation_x - p.padding_x;
#else
  const int height = DIRECTION == 0 ? p.height_out : p.height_in,
            width = DIRECTION == 0 ? p.width_out : p.width_in;
  const Offset rest = n / width, image = rest / height;
  const int x = int(n % width), y = int(rest % height);
#if DIRECTION == 0
  place.base = image * Offset(p.batch) * p.channels_in * p.height_in * p.width_in;
  place.h = y * p.stride_y - p.padding_y;
  place.w = x * p.stride_x - p.padding_x;
#else
  place.base = image * Offset(p.batch) * p.channels_out * p.height_out * p.width_out;
  place.h = y + p.padding_y;
  place.w = x + p.padding_x;
#endif
#endif
  return place;
}

// For row k of the second operand, and where k puts an element of the first.
struct DepthPlace {
  Offset a, base;
  int h, w;
};

__device__ __forceinline__ DepthPlace depth_place(const Problem& p, Offset k) {
  DepthPlace place;
#if DIRECTION == 2
  const Offset rest = k / p.width_out, image = rest / p.height_out;
  const int x = int(k % p.width_out), y = int(rest % p.height_out);
  place.a = (image * Offset(p.batch) * p.channels_out * p.height_out + y) * p.width_out + x;
  place.base = image * Offset(p.batch) * p.channels_in * p.height_in * p.width_in;
  place.h = y * p.stride_y;
  place.w = x * p.stride_x;
#else
  const Offset rest = k / p.kernel_width, c = rest / p.kernel_height;
  const int s = int(k % p.kernel_width), r = int(rest % p.kernel_height);
#if DIRECTION == 0
  place.a = k;
  place.base = c * p.height_in * p.width_in;
  place.h = r * p.dilation_y;
  place.w = s * p.dilation_x;
#else
  place.a = (c * p.channels_in * p.kernel_height + r) * p.kernel_width + s;
  place.base = c * p.height_out * p.width_out;
  place.h = -r * p.dilation_y;
  place.w = -s * p.dilation_x;
#endif
#endif
  return place;
}

// The places of the k of one tile, computed once for all threads.
struct Tables {
  DepthPlace places[BK];
  __device__ __forceinline__ void fill(const Problem& p, Offset k0, int left) {
    const int k = threadIdx.x;
    if (k < BK && k < left) places[k] = depth_place(p, k0 + k);
  }
};

struct OperandA {
  static const int kEach = BM * BK / THREADS;
  const T* from;
  Offset row_stride;
  int rows_left;
  T held[kEach];

  __device__ __forceinline__ OperandA(const T* a, const Problem& p, i64 z, i64 row0, i64) {
#if DIRECTION == 0
    row_stride = Offset(p.k);
    from = a + z * p.m * p.k;
#elif DIRECTION == 1
    row_stride = p.kernel_height * p.kernel_width;
    from = a + z * p.channels_out * p.channels_in * p.kernel_height * p.kernel_width;
#else
    row_stride = Offset(p.height_out) * p.width_out;
    from = a + z * p.channels_out * row_stride;
#endif
    from += row0 * row_stride;
    rows_left = int(p.m - row0);
  }
  __device__ __forceinline__ void fetch(const Tables& tables, int left) {
    const int k = threadIdx.x % BK;
    const bool inside = k < left;
    const T* at = from + (inside ? tables.places[k].a : 0);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int r = threadIdx.x / BK + i * (THREADS / BK);
      held[i] = inside && r < rows_left ? at[r * row_stride] : T(0);
    }
  }
  __device__ __forceinline__ void put(T (*to)[BM + 4]) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[threadIdx.x % BK][threadIdx.x / BK + i * (THREADS / BK)] = held[i];
  }
};

struct OperandB {
  static const int kEach = BN * BK / THREADS;
#if DIRECTION == 2
  static const int kColumns = kEach;  // neighbouring threads read neighbouring pixels, here along k
#else
  static const int kColumns = 1;
#endif
  const T* from;
  Place places[kColumns];
  int height, width, stride_y, stride_x;
  T held[kEach];

  __device__ __forceinline__ static int column(int i) {
    return DIRECTION == 2 ? threadIdx.x / BK + i * (THREADS / BK) : threadIdx.x % BN;
  }
  __device__ __forceinline__ static int depth(int i) {
    return DIRECTION == 2 ? threadIdx.x % BK : threadIdx.x / BN + i * (THREADS / BN);
  }

  __device__ __forceinline__ OperandB(const T* b, const Problem& p, i64 z, i64 column0, i64) {
    height = DIRECTION == 1 ? p.height_out : p.height_in;
    width = DIRECTION == 1 ? p.width_out : p.width_in;
    stride_y = p.stride_y;
    stride_x = p.stride_x;
    from = b + z * (DIRECTION == 1 ? p.channels_out : p.channels_in) * height * width;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const i64 n = column0 + column(i);
      places[i].base = 0;
      places[i].h = -(1 << 29);  // outside of every picture
      places[i].w = 0;
      if (n < p.n) places[i] = column_place(p, Offset(n));
    }
  }
  __device__ __forceinline__ void fetch(const Tables& tables, int left) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int k = depth(i);
      held[i] = T(0);
      if (k >= left) continue;
      const DepthPlace deep = tables.places[k];
      const Place place = places[DIRECTION == 2 ? i : 0];
      int h = place.h + deep.h, w = place.w + deep.w;
#if DIRECTION == 1
      if (h < 0 || w < 0) continue;
      if (stride_y != 1 || stride_x != 1) {
        if (h % stride_y != 0 || w % stride_x != 0) continue;
        h /= stride_y;
        w /= stride_x;
      }
#endif
      if (unsigned(h) < unsigned(height) && unsigned(w) < unsigned(width))
        held[i] = from[place.base + deep.base + Offset(h) * width + w];
    }
  }
  __device__ __forceinline__ void put(T (*to)[BN + 4]) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[depth(i)][column(i)] = held[i];
  }
};

__device__ __forceinline__ void fetch(OperandA& a, OperandB& b, const Tables& tables, int left) {
  a.fetch(tables, left);
  b.fetch(tables, left);
}

// Where the product's elements go. A split product goes to a row-major matrix per group, as the gradient of
// weights does.
struct Output {
  T* start;
  bool dense;
  __device__ __forceinline__ Output(T* c, const Problem& p, i64 z) {
    dense = DIRECTION == 2;
    const i64 picture = DIRECTION == 0 ? i64(p.height_out) * p.width_out : i64(p.height_in) * p.width_in;
    start = c + z * p.m * (dense ? p.n : picture);
  }
  __device__ __forceinline__ T* at(const Problem& p, i64 row, i64 column) const {
    if (dense) return start + row * p.n + column;
    const Offset picture =
        DIRECTION == 0 ? Offset(p.height_out) * p.width_out : Offset(p.height_in) * p.width_in;
    const Offset n = Offset(column), image = n / picture;
    return start + (i64(image) * p.batch * p.m + row) * picture + (n - image * picture);
  }
  __device__ __forceinline__ static bool vector(const Problem&) { return false; }
};
