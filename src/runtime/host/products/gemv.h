// A matrix times one vector: the core of products with few rows or columns, whose time is that of reading the
// matrix. For float and double; the matrix may be of 16-bit floats or i8 beside vectors of float.
#pragma once

#include <cstdint>

#include <sinter/half.h>

namespace sinter::runtime::host {

/// Elements of the result that are computed side by side where they lie in a row, of a matrix of M; stretches
/// begin at multiples. Fewer than four cache lines of a row are slow to read, as rows are pages apart.
template <class M>
inline constexpr std::int64_t kGemvBlock = sizeof(M) == 1   ? 256
                                           : sizeof(M) == 2 ? 128
                                                            : 64;

/// y[j * y_step] = sum over p < k of matrix[j * item + p * step] * x[p], for j < items. One of `item` and
/// `step` is 1.
template <class T, class M>
[[gnu::visibility("hidden")]] void multiply_vector(std::int64_t items, std::int64_t k, const M* matrix,
                                                   std::int64_t item, std::int64_t step, const T* x, T* y,
                                                   std::int64_t y_step);

}  // namespace sinter::runtime::host
