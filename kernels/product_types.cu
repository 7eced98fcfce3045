// What product.cu and its operands share; T, TM, TN, BK and WIDE are defined before it, and what the texts of
// all kernels have.

typedef long long i64;
// A position in a convolution's tensors. 64 bits cost registers and divisions, so only large ones have them.
#if WIDE
typedef i64 Offset;
#else
typedef int Offset;
#endif

#define THREADS 256
#define BM (16 * TM)
#define BN (16 * TN)

struct __align__(16) Four {
  T at[4];
};

// Four elements from aligned memory; 0 where not wanted.
__device__ __forceinline__ void load4(T (&to)[4], const T* from, bool wanted) {
  Four four;
  four.at[0] = four.at[1] = four.at[2] = four.at[3] = T(0);
  if (wanted) four = *(const Four*)from;
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = four.at[i];
}

__device__ __forceinline__ void store4(T* to, const T* from) {
  Four four;
#pragma unroll
  for (int i = 0; i < 4; ++i) four.at[i] = from[i];
  *(Four*)to = four;
}
