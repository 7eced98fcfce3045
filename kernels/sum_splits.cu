// Adds the parts of a product whose sum was split, in their order.

extern "C" __global__ void sinter_sum_splits(const T* parts, T* __restrict__ c, const i64 count,
                                             const int splits) {
  sn_follow();
  for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += i64(gridDim.x) * blockDim.x) {
    T sum = parts[i];
    for (int s = 1; s < splits; ++s) sum += parts[s * count + i];
    c[i] = sum;
  }
}
