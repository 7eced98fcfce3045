// The core of the host's own matrix products: packing, and products of packed panels. For float and double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sinter/half.h>

namespace sinter::runtime::host {

/// The most rows of A that one call multiplies. Packed A is a sequence of panels of 1 to kPanelRows rows; in
/// a panel of r rows, element (i, p) is at p * r + i.
inline constexpr std::int64_t kPanelRows = 12;

/// The row counts of the panels of m rows, in order. Depends on m alone.
std::vector<std::int64_t> row_panels(std::int64_t m);

// Hidden in so many words: g++ shows specializations whatever -fvisibility says.

/// Columns of a panel of B; narrower panels are padded.
template <class T>
[[gnu::visibility("hidden")]] std::int64_t panel_columns();

/// to[p * width + j] = from[j * lane_stride + p * k_stride] for j < lanes, p < k; 0 for lanes <= j < width.
/// From is T, or bfloat16, float16 or int8_t beside float.
template <class T, class From>
[[gnu::visibility("hidden")]] void pack_panel(T* to, const From* from, std::int64_t lane_stride,
                                              std::int64_t k_stride, std::int64_t lanes, std::int64_t width,
                                              std::int64_t k);

/// c[i * c_row + j] (+)= sum over p < k of a[p * rows + i] * b[p * b_row + j], for i < rows, j < columns.
/// `rows` is one of row_panels(); rows of b have panel_columns() readable elements even where columns is
/// less.
template <class T>
[[gnu::visibility("hidden")]] void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t k,
                                                  const T* a, const T* b, std::int64_t b_row, T* c,
                                                  std::int64_t c_row, bool accumulate);

/// The same for unpacked rows of A: element (i, p) at a[i * a_row + p * a_column].
template <class T>
[[gnu::visibility("hidden")]] void multiply_strided(std::int64_t rows, std::int64_t columns, std::int64_t k,
                                                    const T* a, std::int64_t a_row, std::int64_t a_column,
                                                    const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                                                    bool accumulate);

}  // namespace sinter::runtime::host
