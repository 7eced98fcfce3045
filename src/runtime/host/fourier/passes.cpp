#include "src/runtime/host/fourier/passes.h"

#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/fourier/passes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/fourier/butterflies-inl.h"
#include "src/runtime/host/fourier/roots.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::fourier::Passes;
using host::fourier::RowBuffers;
using host::fourier::Rows;

template <class T>
using Tag = hn::CappedTag<T, host::fourier::kMostLanes<T>>;

/// One butterfly: rows `apart` from each other to rows `next` to each other.
template <int kRadix, bool kTurned, class T>
HWY_INLINE void combine(const T* re, const T* im, std::int64_t re_apart, std::int64_t im_apart, T* to_re,
                        T* to_im, std::int64_t re_next, std::int64_t im_next, const T* turns,
                        const T* roots) {
  const Tag<T> d;
  using V = hn::Vec<decltype(d)>;
  Number<V> x[kRadix];
#pragma GCC unroll 16
  for (int j = 0; j < kRadix; ++j) x[j] = {hn::LoadU(d, re + j * re_apart), hn::LoadU(d, im + j * im_apart)};
  Butterfly<kRadix>::apply(d, x, roots);
#pragma GCC unroll 16
  for (int k = 0; k < kRadix; ++k) {
    if (kTurned && k > 0)
      x[k] = times(x[k], Number<V>{hn::Set(d, turns[2 * k - 2]), hn::Set(d, turns[2 * k - 1])});
    hn::StoreU(x[k].re, d, to_re + k * re_next);
    hn::StoreU(x[k].im, d, to_im + k * im_next);
  }
}

template <int kRadix, class T>
HWY_NOINLINE void run_pass(const typename Passes<T>::Pass& pass, const Rows<const T>& from,
                           const Rows<T>& to) {
  const std::int64_t done = pass.done, apart = done * pass.rest;
  for (std::int64_t p = 0; p < pass.rest; ++p) {
    const T* re = from.re + done * p * from.re_step;
    const T* im = from.im + done * p * from.im_step;
    T* to_re = to.re + done * kRadix * p * to.re_step;
    T* to_im = to.im + done * kRadix * p * to.im_step;
    const T* turns = pass.turns + p * (kRadix - 1) * 2;
    const auto each = [&](auto combine_rows) HWY_ATTR {
      for (std::int64_t q = 0; q < done; ++q)
        combine_rows(re + q * from.re_step, im + q * from.im_step, apart * from.re_step, apart * from.im_step,
                     to_re + q * to.re_step, to_im + q * to.im_step, done * to.re_step, done * to.im_step,
                     turns, pass.roots);
    };
    if (p == 0)
      each([](auto... arguments) HWY_ATTR { combine<kRadix, false, T>(arguments...); });
    else
      each([](auto... arguments) HWY_ATTR { combine<kRadix, true, T>(arguments...); });
  }
}

template <class T>
void run_any(const typename Passes<T>::Pass& pass, const Rows<const T>& from, const Rows<T>& to) {
  switch (pass.radix) {
    case 2: return run_pass<2, T>(pass, from, to);
    case 3: return run_pass<3, T>(pass, from, to);
    case 4: return run_pass<4, T>(pass, from, to);
    case 5: return run_pass<5, T>(pass, from, to);
    case 7: return run_pass<7, T>(pass, from, to);
    case 8: return run_pass<8, T>(pass, from, to);
    case 11: return run_pass<11, T>(pass, from, to);
    default: return run_pass<13, T>(pass, from, to);
  }
}

template <class T>
Rows<const T> transform_all(const Passes<T>& passes, const Rows<const T>& from, const RowBuffers<T>& buffers,
                            const Rows<T>& to) {
  Rows<const T> at = from;
  const auto& all = passes.passes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Rows<T> next = to;
    if (i + 1 < all.size() || to.re == nullptr) {
      const bool is_in_first = at.re == buffers.first || at.im == buffers.first;
      next = RowBuffers<T>::rows(is_in_first ? buffers.second : buffers.first);
    }
    run_any<T>(all[i], at, next);
    at = next;
  }
  return at;
}

// Dynamic dispatch needs a plain function for each type.
std::int64_t lanes_f32() { return static_cast<std::int64_t>(hn::Lanes(Tag<float>())); }
std::int64_t lanes_f64() { return static_cast<std::int64_t>(hn::Lanes(Tag<double>())); }
Rows<const float> rows_f32(const Passes<float>& passes, const Rows<const float>& from,
                           const RowBuffers<float>& buffers, const Rows<float>& to) {
  return transform_all(passes, from, buffers, to);
}
Rows<const double> rows_f64(const Passes<double>& passes, const Rows<const double>& from,
                            const RowBuffers<double>& buffers, const Rows<double>& to) {
  return transform_all(passes, from, buffers, to);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(lanes_f32);
HWY_EXPORT(lanes_f64);
HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);

namespace host::fourier {
namespace {

/// Few passes: as many butterflies of 8 as leave no single 2.
std::vector<int> radices(std::int64_t length) {
  std::vector<int> found;
  for (const int prime : {13, 11, 7, 5, 3})
    for (; length % prime == 0; length /= prime) found.push_back(prime);
  for (; length % 8 == 0 && length != 16; length /= 8) found.push_back(8);
  for (; length % 4 == 0; length /= 4) found.push_back(4);
  if (length == 2) found.push_back(2);
  return found;
}

}  // namespace

template <class T>
Passes<T>::Passes(std::int64_t length) : length_(length) {
  std::int64_t done = 1;
  std::vector<std::size_t> begins;
  for (const int radix : radices(length)) {
    const std::int64_t rest = length / (done * radix);
    begins.push_back(table_.size());
    for (std::int64_t p = 0; p < rest; ++p)
      for (int k = 1; k < radix; ++k) append(table_, root_of_unity(p * k, rest * radix));
    if (radix % 2 == 1)
      for (int k = 0; k < radix; ++k) append(table_, root_of_unity(k, radix));
    passes_.push_back({radix, done, rest, nullptr, nullptr});
    done *= radix;
  }
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    passes_[i].turns = table_.data() + begins[i];
    passes_[i].roots = passes_[i].turns + passes_[i].rest * (passes_[i].radix - 1) * 2;
  }
}
template class Passes<float>;
template class Passes<double>;

template <>
std::int64_t lanes<float>() {
  return HWY_DYNAMIC_DISPATCH(lanes_f32)();
}
template <>
std::int64_t lanes<double>() {
  return HWY_DYNAMIC_DISPATCH(lanes_f64)();
}
template <>
Rows<const float> transform_rows(const Passes<float>& passes, const Rows<const float>& from,
                                 const RowBuffers<float>& buffers, const Rows<float>& to) {
  return HWY_DYNAMIC_DISPATCH(rows_f32)(passes, from, buffers, to);
}
template <>
Rows<const double> transform_rows(const Passes<double>& passes, const Rows<const double>& from,
                                  const RowBuffers<double>& buffers, const Rows<double>& to) {
  return HWY_DYNAMIC_DISPATCH(rows_f64)(passes, from, buffers, to);
}

}  // namespace host::fourier
}  // namespace sinter::runtime
#endif
