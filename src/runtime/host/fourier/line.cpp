#include "src/runtime/host/fourier/line.h"

#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/fourier/line.cpp"
#include <algorithm>
#include <cmath>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/fourier/butterflies-inl.h"
#include "src/runtime/host/fourier/roots.h"
#include "src/runtime/host/fourier/transpose-inl.h"
#include "src/runtime/host/maths/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::fourier::Line;
using host::fourier::Matrix;
using host::fourier::Mirror;
using host::fourier::RowBuffers;
using host::fourier::Rows;

/// Rows `step` apart of `count` columns each, copied where vectors of them would reach beyond the line.
template <class T>
Rows<const T> columns_at(const Line<const T>& from, std::int64_t at, std::int64_t step, std::int64_t rows,
                         std::int64_t count, T* buffer) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool is_whole = count == lanes;
  if (!from.in_pairs && is_whole && from.im != nullptr) return {from.re + at, from.im + at, step, step};
  const auto some = static_cast<std::size_t>(count);
  for (std::int64_t j = 0; j < rows; ++j) {
    T* to = buffer + 2 * lanes * j;
    if (from.in_pairs && is_whole) {
      hn::Vec<decltype(d)> re, im;
      hn::LoadInterleaved2(d, from.re + 2 * (at + j * step), re, im);
      hn::StoreU(re, d, to);
      hn::StoreU(im, d, to + lanes);
    } else if (from.in_pairs) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const T* pair = from.re + 2 * (at + j * step + lane);
        to[lane] = lane < count ? pair[0] : T{0};
        to[lanes + lane] = lane < count ? pair[1] : T{0};
      }
    } else {
      const auto load = [&](const T* part) HWY_ATTR {
        if (part == nullptr) return hn::Zero(d);
        return is_whole ? hn::LoadU(d, part + at + j * step) : load_some(d, part + at + j * step, some);
      };
      hn::StoreU(load(from.re), d, to);
      hn::StoreU(load(from.im), d, to + lanes);
    }
  }
  return RowBuffers<T>::rows(buffer);
}

template <class T>
void columns_any(const Matrix<T>& matrix, const Line<const T>& from, std::int64_t block, T* between,
                 const RowBuffers<T>& buffers) {
  const LaneTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr int kRows = kTileRows<T>;
  const std::int64_t at = block * lanes, count = std::min(lanes, matrix.second() - at);
  Rows<const T> rows = columns_at(from, at, matrix.second(), matrix.first(), count, buffers.first);
  rows = host::fourier::transform_rows(matrix.columns(), from.exchanged ? rows.exchanged() : rows, buffers,
                                       Rows<T>{});
  const T* fine = matrix.fine_turns(block);
  const T* coarse = matrix.coarse_turns(block);
  T* const to = between + at * matrix.step();
  const std::int64_t step = matrix.step(), part = matrix.part();
  // The last tile may have rows that are none; they are stored where nothing reads them.
  for (std::int64_t k = 0; k < matrix.first(); k += kRows) {
    const std::int64_t whole = k / matrix.fine(), rest = k - whole * matrix.fine();
    V re[kRows], im[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const T* turn = fine + (rest + i) * 2 * lanes;
      Number<V> by{hn::LoadU(d, turn), hn::LoadU(d, turn + lanes)};
      if (whole > 0) {
        const T* more = coarse + whole * 2 * lanes;
        by = times(by, {hn::LoadU(d, more), hn::LoadU(d, more + lanes)});
      }
      const Number<V> x = times(Number<V>{hn::LoadU(d, rows.re + (k + i) * rows.re_step),
                                          hn::LoadU(d, rows.im + (k + i) * rows.im_step)},
                                by);
      re[i] = x.re, im[i] = x.im;
    }
    transpose_blocks(d, re);
    transpose_blocks(d, im);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      store_blocks(d, re[i], [&](int b) HWY_ATTR { return to + (b * kRows + i) * step + k; });
      store_blocks(d, im[i], [&](int b) HWY_ATTR { return to + (b * kRows + i) * step + part + k; });
    }
  }
}

template <class T>
void rows_any(const Matrix<T>& matrix, const T* between, std::int64_t block, const Line<T>& to,
              const RowBuffers<T>& buffers) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t first = matrix.first(), at = block * lanes, count = std::min(lanes, first - at);
  const Line<const T> from{between, between + matrix.part()};
  const Rows<const T> given = columns_at(from, at, matrix.step(), matrix.second(), count, buffers.first);
  Rows<T> direct;
  if (!to.in_pairs && count == lanes) direct = {to.re + at, to.im + at, first, first};
  if (to.exchanged) direct = direct.exchanged();
  Rows<const T> rows = host::fourier::transform_rows(matrix.rows(), given, buffers, direct);
  if (direct.re != nullptr) return;
  if (to.exchanged) rows = rows.exchanged();
  const auto some = static_cast<std::size_t>(count);
  for (std::int64_t k = 0; k < matrix.second(); ++k) {
    const std::int64_t place = at + first * k;
    const auto re = hn::LoadU(d, rows.re + k * rows.re_step), im = hn::LoadU(d, rows.im + k * rows.im_step);
    if (!to.in_pairs) {
      store_some(re, d, to.re + place, some);
      store_some(im, d, to.im + place, some);
    } else if (count == lanes) {
      hn::StoreInterleaved2(re, im, d, to.re + 2 * place);
    } else {
      for (std::int64_t lane = 0; lane < count; ++lane) {
        to.re[2 * (place + lane)] = rows.re[k * rows.re_step + lane];
        to.re[2 * (place + lane) + 1] = rows.im[k * rows.im_step + lane];
      }
    }
  }
}

/// Of z[k] and z[h - k], k in one vector, what `kParts` says: results, or what they were.
template <bool kParts, class T>
HWY_INLINE void mirror_block(const Mirror<T>& mirror, const Line<const T>& from, const Line<T>& to,
                             std::int64_t block) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t h = mirror.h(), k = block * lanes, mirrored = h - k - lanes + 1;
  const auto re_a = hn::LoadU(d, from.re + k), im_a = hn::LoadU(d, from.im + k);
  const auto re_b = hn::Reverse(d, hn::LoadU(d, from.re + mirrored));
  const auto im_b = hn::Reverse(d, hn::LoadU(d, from.im + mirrored));
  const T *of_block = mirror.of_block(block), *of_lanes = mirror.of_lanes();
  auto turn = times(Number<hn::Vec<decltype(d)>>{hn::Set(d, of_block[0]), hn::Set(d, of_block[1])},
                    {hn::LoadU(d, of_lanes), hn::LoadU(d, of_lanes + lanes)});
  if (!kParts) turn.im = hn::Neg(turn.im);
  const auto re = hn::Add(re_a, re_b), im = hn::Sub(im_a, im_b);
  const auto t = times(Number<hn::Vec<decltype(d)>>{hn::Sub(re_a, re_b), hn::Add(im_a, im_b)}, turn);
  const auto near_re = kParts ? hn::Add(re, t.im) : hn::Sub(re, t.im);
  const auto near_im = kParts ? hn::Sub(im, t.re) : hn::Add(im, t.re);
  const auto far_re = kParts ? hn::Sub(re, t.im) : hn::Add(re, t.im);
  const auto far_im = kParts ? hn::Neg(hn::Add(im, t.re)) : hn::Sub(t.re, im);
  const std::int64_t count = std::min(lanes, h / 2 - k + 1);
  if (count == lanes) {
    hn::StoreU(hn::Reverse(d, far_re), d, to.re + mirrored);
    hn::StoreU(hn::Reverse(d, far_im), d, to.im + mirrored);
    hn::StoreU(near_re, d, to.re + k);
    hn::StoreU(near_im, d, to.im + k);
    return;
  }
  HWY_ALIGN T far[2][host::fourier::kMostLanes<T>];
  hn::StoreU(far_re, d, far[0]);
  hn::StoreU(far_im, d, far[1]);
  for (std::int64_t lane = 0; lane < count; ++lane) {
    to.re[h - k - lane] = far[0][lane];
    to.im[h - k - lane] = far[1][lane];
  }
  store_some(near_re, d, to.re + k, static_cast<std::size_t>(count));
  store_some(near_im, d, to.im + k, static_cast<std::size_t>(count));
}

template <bool kParts, class T>
void mirror_any(const Mirror<T>& mirror, const Line<const T>& from, const Line<T>& to,
                host::fourier::Blocks blocks) {
  for (std::int64_t block = blocks.begin; block < blocks.end; ++block)
    mirror_block<kParts>(mirror, from, to, block);
}

// Dynamic dispatch needs a plain function for each type.
#define SINTER_FOURIER_LINE(T, suffix)                                                                      \
  void columns_##suffix(const Matrix<T>& matrix, const Line<const T>& from, std::int64_t block, T* between, \
                        const RowBuffers<T>& buffers) {                                                     \
    columns_any(matrix, from, block, between, buffers);                                                     \
  }                                                                                                         \
  void rows_##suffix(const Matrix<T>& matrix, const T* between, std::int64_t block, const Line<T>& to,      \
                     const RowBuffers<T>& buffers) {                                                        \
    rows_any(matrix, between, block, to, buffers);                                                          \
  }                                                                                                         \
  void part_##suffix(const Mirror<T>& mirror, const Line<const T>& from, const Line<T>& to,                 \
                     host::fourier::Blocks blocks) {                                                        \
    mirror_any<true>(mirror, from, to, blocks);                                                             \
  }                                                                                                         \
  void join_##suffix(const Mirror<T>& mirror, const Line<const T>& from, const Line<T>& to,                 \
                     host::fourier::Blocks blocks) {                                                        \
    mirror_any<false>(mirror, from, to, blocks);                                                            \
  }
SINTER_FOURIER_LINE(float, f32)
SINTER_FOURIER_LINE(double, f64)
#undef SINTER_FOURIER_LINE

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {

#define SINTER_FOURIER_LINE(T, suffix)                                                                     \
  HWY_EXPORT(columns_##suffix);                                                                            \
  HWY_EXPORT(rows_##suffix);                                                                               \
  HWY_EXPORT(part_##suffix);                                                                               \
  HWY_EXPORT(join_##suffix);                                                                               \
  namespace host::fourier {                                                                                \
  template <>                                                                                              \
  void columns_of_line(const Matrix<T>& matrix, const Line<const T>& from, std::int64_t block, T* between, \
                       const RowBuffers<T>& buffers) {                                                     \
    HWY_DYNAMIC_DISPATCH(columns_##suffix)(matrix, from, block, between, buffers);                         \
  }                                                                                                        \
  template <>                                                                                              \
  void rows_of_line(const Matrix<T>& matrix, const T* between, std::int64_t block, const Line<T>& to,      \
                    const RowBuffers<T>& buffers) {                                                        \
    HWY_DYNAMIC_DISPATCH(rows_##suffix)(matrix, between, block, to, buffers);                              \
  }                                                                                                        \
  template <>                                                                                              \
  void part_mirrored(const Mirror<T>& mirror, const Line<const T>& z, const Line<T>& to, Blocks blocks) {  \
    HWY_DYNAMIC_DISPATCH(part_##suffix)(mirror, z, to, blocks);                                            \
  }                                                                                                        \
  template <>                                                                                              \
  void join_mirrored(const Mirror<T>& mirror, const Line<const T>& results, const Line<T>& z,              \
                     Blocks blocks) {                                                                      \
    HWY_DYNAMIC_DISPATCH(join_##suffix)(mirror, results, z, blocks);                                       \
  }                                                                                                        \
  }
SINTER_FOURIER_LINE(float, f32)
SINTER_FOURIER_LINE(double, f64)
#undef SINTER_FOURIER_LINE

namespace host::fourier {
namespace {

/// Of the two sides of the matrix, the columns' length: about as long as the rows, in whole vectors.
std::int64_t best_first(std::int64_t length, std::int64_t lanes) {
  std::int64_t best = length;
  double least = 0;
  for (std::int64_t first = 2; first * first <= length; ++first) {
    if (length % first != 0) continue;
    for (const std::int64_t side : {first, length / first}) {
      const std::int64_t other = length / side;
      // Lanes that are computed, times passes, and as much again for what long sides cost in caches.
      const auto cost = [&](std::int64_t n, std::int64_t beside) {
        return static_cast<double>(rounded_up(beside, lanes) * n) *
               (3 + std::log2(static_cast<double>(n)) + static_cast<double>(n) / 512);
      };
      const double sum = cost(side, other) + cost(other, side);
      if (best < length && sum >= least) continue;
      best = side, least = sum;
    }
  }
  return best;
}

}  // namespace

// Tables of all factors up to this length are read faster than products of two are computed.
constexpr std::int64_t kWholeTable = 1 << 15;
constexpr std::int64_t kFine = 32;

template <class T>
Matrix<T>::Matrix(std::int64_t length, double factor)
    : columns_(best_first(length, lanes<T>())), rows_(length / columns_.length()) {
  const std::int64_t padded = rounded_up<std::int64_t>(first(), 4);
  fine_count_ = length <= kWholeTable ? padded : std::min(padded, kFine);
  coarse_count_ = (padded + fine_count_ - 1) / fine_count_;
  fine_ = turns(fine_count_, 1, factor);
  coarse_ = turns(coarse_count_, fine_count_, 1);
}

template <class T>
std::vector<T> Matrix<T>::turns(std::int64_t count, std::int64_t apart, double factor) const {
  const std::int64_t width = lanes<T>();
  std::vector<T> table(static_cast<std::size_t>(column_blocks() * count * 2 * width));
  T* to = table.data();
  for (std::int64_t block = 0; block < column_blocks(); ++block)
    for (std::int64_t i = 0; i < count; ++i, to += 2 * width)
      for (std::int64_t lane = 0; lane < width; ++lane) {
        const Root root = root_of_unity((block * width + lane) * i * apart, length());
        to[lane] = static_cast<T>(root.re * factor);
        to[width + lane] = static_cast<T>(root.im * factor);
      }
  return table;
}

template <class T>
Mirror<T>::Mirror(std::int64_t h) : h_(h) {
  const std::int64_t width = lanes<T>();
  for (std::int64_t block = 0; block < blocks(); ++block) append(turns_, root_of_unity(block * width, 2 * h));
  for (std::int64_t lane = 0; lane < width; ++lane)
    turns_.push_back(static_cast<T>(root_of_unity(lane, 2 * h).re));
  for (std::int64_t lane = 0; lane < width; ++lane)
    turns_.push_back(static_cast<T>(root_of_unity(lane, 2 * h).im));
}

template class Matrix<float>;
template class Matrix<double>;
template class Mirror<float>;
template class Mirror<double>;

}  // namespace host::fourier
}  // namespace sinter::runtime
#endif
