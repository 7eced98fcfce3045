#include "src/runtime/host/matrices/product.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "src/runtime/host/matrices/share.h"
#include "src/runtime/host/products/gemm.h"

namespace sinter::runtime::host {
namespace {

// Terms that are added up before they go to memory: a panel of B with so many is in the first cache. Rows of
// a piece, whose part of A is in the second one. Panels of B of a piece.
constexpr std::int64_t kTerms = 256, kRows = 96, kPanels = 16;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// In blocks of a fixed size, of which compilers make vectors.
template <class T>
void negate(std::int64_t n, T* x) {
  constexpr std::int64_t kBlock = 16;
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock)
    for (std::int64_t j = 0; j < kBlock; ++j) x[i + j] = -x[i + j];
  for (; i < n; ++i) x[i] = -x[i];
}

}  // namespace

template <class T>
void multiply(ThreadPool& pool, Combine how, std::int64_t m, std::int64_t n, std::int64_t k, Part<T> a,
              Part<T> b, T* c, std::int64_t c_row, bool upper) {
  if (m == 0 || n == 0) return;
  const std::int64_t width = panel_columns<T>(), panels = divide_up(n, width);
  const auto packed_b = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(panels * width * k));
  share(pool, n * k, panels, [&](std::int64_t panel) {
    T* const packed = packed_b.get() + panel * width * k;
    pack_panel(packed, b.data + panel * width * b.column, b.column, b.row, std::min(width, n - panel * width),
               width, k);
    if (how == Combine::Subtract) negate(width * k, packed);
  });

  const std::int64_t groups = divide_up(panels, kPanels);
  share(pool, m * n * k, divide_up(m, kRows) * groups, [&](std::int64_t piece) {
    const std::int64_t first = piece / groups * kRows, rows = std::min(kRows, m - first);
    const std::int64_t from = piece % groups * kPanels, to = std::min(panels, from + kPanels);
    if (upper && to * width <= first) return;
    const auto packed_a = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows * kTerms));
    const std::vector<std::int64_t> row_counts = row_panels(rows);
    for (std::int64_t p = 0; p == 0 || p < k; p += kTerms) {
      const std::int64_t terms = std::min(kTerms, k - p);
      T* packed = packed_a.get();
      std::int64_t i = first;
      for (const std::int64_t count : row_counts) {
        pack_panel(packed, a.data + i * a.row + p * a.column, a.row, a.column, count, count, terms);
        packed += count * terms;
        i += count;
      }
      for (std::int64_t panel = from; panel < to; ++panel) {
        const std::int64_t column = panel * width, columns = std::min(width, n - column);
        packed = packed_a.get();
        i = first;
        for (const std::int64_t count : row_counts) {
          if (!upper || column + columns > i)
            multiply_panel(count, columns, terms, packed, packed_b.get() + panel * width * k + p * width,
                           width, c + i * c_row + column, c_row, how != Combine::Assign || p > 0);
          packed += count * terms;
          i += count;
        }
      }
    }
  });
}

template void multiply(ThreadPool&, Combine, std::int64_t, std::int64_t, std::int64_t, Part<float>,
                       Part<float>, float*, std::int64_t, bool);
template void multiply(ThreadPool&, Combine, std::int64_t, std::int64_t, std::int64_t, Part<double>,
                       Part<double>, double*, std::int64_t, bool);

}  // namespace sinter::runtime::host
