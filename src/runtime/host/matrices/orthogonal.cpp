#include "src/runtime/host/matrices/orthogonal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/runtime/host/matrices/decompose.h"

namespace sinter::runtime::host {
namespace {

// Of the largest number: from here on columns are scaled.
template <class T>
constexpr T kNearEnd = static_cast<T>(1e-6);

}  // namespace

double scale_for(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
}

template <class T>
Block<T>::Block(ThreadPool& pool, std::int64_t count, std::int64_t n, const T* v, std::int64_t v_row,
                const T* scales)
    : count_(count), n_(n), v_{v, v_row}, s_(static_cast<std::size_t>(count * count)) {
  std::vector<T> products(s_.size());
  multiply(pool, Combine::Assign, count, count, n, v_, v_.transposed(), products.data(), count);
  // Column j of S is -scale_j S times the products of v_j with the vectors before it.
  for (std::int64_t j = 0; j < count; ++j) {
    T* const column = s_.data() + j * count;
    for (std::int64_t p = 0; p < j; ++p) {
      const T factor = -scales[j] * products[static_cast<std::size_t>(j * count + p)];
      for (std::int64_t i = 0; i <= p; ++i) column[i] += factor * s_[static_cast<std::size_t>(p * count + i)];
    }
    column[j] = scales[j];
  }
}

template <class T>
void Block<T>::apply(ThreadPool& pool, bool transposed, std::int64_t columns, T* c,
                     std::int64_t c_row) const {
  Padded<T> products(2 * count_, columns);
  const std::int64_t row = products.stride();
  T *const first = products.data(), *const second = products.row(count_);
  multiply(pool, Combine::Assign, count_, columns, n_, v_, {c, c_row}, first, row);
  const Part<T> s{s_.data(), 1, count_};
  multiply(pool, Combine::Assign, count_, columns, count_, transposed ? s.transposed() : s, {first, row},
           second, row);
  multiply(pool, Combine::Subtract, n_, columns, count_, v_.transposed(), {second, row}, c, c_row);
}

template <class T>
Padded<T> product_of_reflections(ThreadPool& pool, std::int64_t m, std::int64_t columns, std::int64_t count,
                                 std::int64_t offset, const T* v, std::int64_t v_row, const T* scales) {
  Padded<T> product(m, columns);
  for (std::int64_t i = 0; i < std::min(m, columns); ++i) product.row(i)[i] = 1;
  // From the last block: rows and columns before the block's first are still those of the unit matrix.
  for (std::int64_t j = (count - 1) / kReflections * kReflections; j >= 0; j -= kReflections) {
    const std::int64_t first = j + offset;
    if (first >= std::min(m, columns)) continue;
    const Block<T> block(pool, std::min(kReflections, count - j), m - first, v + j * v_row + first, v_row,
                         scales + j);
    block.apply(pool, false, columns - first, product.row(first) + first, product.stride());
  }
  return product;
}

template <class T>
void qr(ThreadPool& pool, std::int64_t m, std::int64_t n, const T* a, T* q, T* r) {
  const std::int64_t k = std::min(m, n);
  Padded<T> rest(m, n), v(k, m);
  // Products of columns near the largest number would be none.
  const T largest = std::transform_reduce(
      a, a + m * n, T{0}, [](T x, T y) { return x < y ? y : x; }, [](T x) { return std::abs(x); });
  const T scale =
      largest > std::numeric_limits<T>::max() * kNearEnd<T> ? static_cast<T>(scale_for(largest)) : 1;
  for (std::int64_t i = 0; i < m; ++i)
    std::transform(a + i * n, a + (i + 1) * n, rest.row(i), [&](T x) { return x * scale; });
  std::vector<T> scales(static_cast<std::size_t>(k));
  for (std::int64_t j = 0; j < k; j += kReflections) {
    const std::int64_t count = std::min(kReflections, k - j), next = j + count;
    Padded<T> panel(m - j, kReflections);
    for (std::int64_t i = j; i < m; ++i) std::copy_n(rest.row(i) + j, count, panel.row(i - j));
    reflect_columns(m - j, count, panel.data(), scales.data() + j);
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t i = 0; i <= c; ++i) rest.row(j + i)[j + c] = panel.row(i)[c];
      T* const row = v.row(j + c) + j;
      row[c] = 1;
      for (std::int64_t i = c + 1; i < m - j; ++i) row[i] = panel.row(i)[c];
    }
    if (next < n)
      Block<T>(pool, count, m - j, v.row(j) + j, v.stride(), scales.data() + j)
          .apply(pool, true, n - next, rest.row(j) + next, rest.stride());
  }
  const Padded<T> product = product_of_reflections(pool, m, k, k, 0, v.data(), v.stride(), scales.data());
  for (std::int64_t i = 0; i < m; ++i) std::copy_n(product.row(i), k, q + i * k);
  for (std::int64_t i = 0; i < k; ++i) {
    std::fill_n(r + i * n, i, T{0});
    std::transform(rest.row(i) + i, rest.row(i) + n, r + i * n + i, [&](T x) { return x / scale; });
  }
}

template class Block<float>;
template class Block<double>;
template Padded<float> product_of_reflections(ThreadPool&, std::int64_t, std::int64_t, std::int64_t,
                                              std::int64_t, const float*, std::int64_t, const float*);
template Padded<double> product_of_reflections(ThreadPool&, std::int64_t, std::int64_t, std::int64_t,
                                               std::int64_t, const double*, std::int64_t, const double*);
template void qr(ThreadPool&, std::int64_t, std::int64_t, const float*, float*, float*);
template void qr(ThreadPool&, std::int64_t, std::int64_t, const double*, double*, double*);

}  // namespace sinter::runtime::host
