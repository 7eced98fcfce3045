// A matrix times a vector, for each target. A matrix of 16-bit floats or of i8 is widened as it is read.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/products/gemv.cpp"
#include <algorithm>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/maths/widen-inl.h"
#include "src/runtime/host/products/gemv.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Items whose elements lie in a row: their products with x are added up lane by lane.
template <class T, class M>
HWY_INLINE T dot(const M* HWY_RESTRICT row, const T* HWY_RESTRICT x, std::int64_t k) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Four sums in turn, as each waits for the one before.
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::int64_t p = 0;
  for (; p + 4 * lanes <= k; p += 4 * lanes) {
    a = hn::MulAdd(load_wide(d, row + p), hn::LoadU(d, x + p), a);
    b = hn::MulAdd(load_wide(d, row + p + lanes), hn::LoadU(d, x + p + lanes), b);
    c = hn::MulAdd(load_wide(d, row + p + 2 * lanes), hn::LoadU(d, x + p + 2 * lanes), c);
    e = hn::MulAdd(load_wide(d, row + p + 3 * lanes), hn::LoadU(d, x + p + 3 * lanes), e);
  }
  for (; p + lanes <= k; p += lanes) a = hn::MulAdd(load_wide(d, row + p), hn::LoadU(d, x + p), a);
  if (p < k) {
    const auto rest = static_cast<std::size_t>(k - p);
    b = hn::MulAdd(load_some_wide(d, row + p, rest), load_some(d, x + p, rest), b);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// Up to a block of items that lie side by side, `step` from one element to the next.
template <class T, class M>
HWY_INLINE void block(const M* HWY_RESTRICT matrix, std::int64_t step, const T* HWY_RESTRICT x,
                      std::int64_t k, std::int64_t items, T* HWY_RESTRICT y, std::int64_t y_step) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN T sums[host::kGemvBlock<M> + HWY_MAX_BYTES / sizeof(T)];
  std::int64_t j = 0;
  if constexpr (sizeof(M) < sizeof(T)) {
    constexpr int kVectors = 8;
    for (; j + kVectors * lanes <= items; j += kVectors * lanes) {
      hn::Vec<decltype(d)> s[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) s[v] = hn::Zero(d);
      const M* from = matrix + j;
      for (std::int64_t p = 0; p < k; ++p, from += step) {
        const auto factor = hn::Set(d, x[p]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) s[v] = hn::MulAdd(factor, load_wide(d, from + v * lanes), s[v]);
      }
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) hn::StoreU(s[v], d, sums + j + v * lanes);
    }
  }
  for (; j + 4 * lanes <= items; j += 4 * lanes) {
    auto a = hn::Zero(d), b = a, c = a, e = a;
    const M* from = matrix + j;
    for (std::int64_t p = 0; p < k; ++p, from += step) {
      const auto factor = hn::Set(d, x[p]);
      a = hn::MulAdd(factor, load_wide(d, from), a);
      b = hn::MulAdd(factor, load_wide(d, from + lanes), b);
      c = hn::MulAdd(factor, load_wide(d, from + 2 * lanes), c);
      e = hn::MulAdd(factor, load_wide(d, from + 3 * lanes), e);
    }
    hn::StoreU(a, d, sums + j);
    hn::StoreU(b, d, sums + j + lanes);
    hn::StoreU(c, d, sums + j + 2 * lanes);
    hn::StoreU(e, d, sums + j + 3 * lanes);
  }
  for (; j < items; j += lanes) {
    const auto count = static_cast<std::size_t>(std::min(lanes, items - j));
    auto sum = hn::Zero(d);
    const M* from = matrix + j;
    for (std::int64_t p = 0; p < k; ++p, from += step)
      sum = hn::MulAdd(hn::Set(d, x[p]), load_some_wide(d, from, count), sum);
    hn::StoreU(sum, d, sums + j);
  }
  for (std::int64_t i = 0; i < items; ++i) y[i * y_step] = sums[i];
}

template <class T, class M>
void multiply_vector(std::int64_t items, std::int64_t k, const M* matrix, std::int64_t item,
                     std::int64_t step, const T* x, T* y, std::int64_t y_step) {
  if (step == 1) {
    for (std::int64_t j = 0; j < items; ++j) y[j * y_step] = dot(matrix + j * item, x, k);
    return;
  }
  for (std::int64_t j = 0; j < items; j += host::kGemvBlock<M>)
    block(matrix + j, step, x, k, std::min(host::kGemvBlock<M>, items - j), y + j * y_step, y_step);
}

// Dynamic dispatch needs a plain function for each type.
void vector_f32(std::int64_t items, std::int64_t k, const float* matrix, std::int64_t item, std::int64_t step,
                const float* x, float* y, std::int64_t y_step) {
  multiply_vector(items, k, matrix, item, step, x, y, y_step);
}
void vector_bf16(std::int64_t items, std::int64_t k, const bfloat16* matrix, std::int64_t item,
                 std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  multiply_vector(items, k, matrix, item, step, x, y, y_step);
}
void vector_f16(std::int64_t items, std::int64_t k, const float16* matrix, std::int64_t item,
                std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  multiply_vector(items, k, matrix, item, step, x, y, y_step);
}
void vector_i8(std::int64_t items, std::int64_t k, const std::int8_t* matrix, std::int64_t item,
               std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  multiply_vector(items, k, matrix, item, step, x, y, y_step);
}
void vector_f64(std::int64_t items, std::int64_t k, const double* matrix, std::int64_t item,
                std::int64_t step, const double* x, double* y, std::int64_t y_step) {
  multiply_vector(items, k, matrix, item, step, x, y, y_step);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(vector_f32);
HWY_EXPORT(vector_f64);
HWY_EXPORT(vector_bf16);
HWY_EXPORT(vector_f16);
HWY_EXPORT(vector_i8);

namespace host {

template <>
void multiply_vector(std::int64_t items, std::int64_t k, const float* matrix, std::int64_t item,
                     std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(vector_f32)(items, k, matrix, item, step, x, y, y_step);
}
template <>
void multiply_vector(std::int64_t items, std::int64_t k, const double* matrix, std::int64_t item,
                     std::int64_t step, const double* x, double* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(vector_f64)(items, k, matrix, item, step, x, y, y_step);
}
template <>
void multiply_vector(std::int64_t items, std::int64_t k, const bfloat16* matrix, std::int64_t item,
                     std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(vector_bf16)(items, k, matrix, item, step, x, y, y_step);
}
template <>
void multiply_vector(std::int64_t items, std::int64_t k, const float16* matrix, std::int64_t item,
                     std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(vector_f16)(items, k, matrix, item, step, x, y, y_step);
}
template <>
void multiply_vector(std::int64_t items, std::int64_t k, const std::int8_t* matrix, std::int64_t item,
                     std::int64_t step, const float* x, float* y, std::int64_t y_step) {
  HWY_DYNAMIC_DISPATCH(vector_i8)(items, k, matrix, item, step, x, y, y_step);
}

}  // namespace host
}  // namespace sinter::runtime
#endif
