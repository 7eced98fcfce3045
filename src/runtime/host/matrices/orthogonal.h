// Products of reflections, by blocks: H_0 H_1 .. = I - V^T S V, where rows of V are the reflections' vectors
// and S is an upper triangle (Schreiber, Van Loan, "A storage-efficient WY representation for products of
// Householder transformations", 1989).
#pragma once

#include <cstdint>
#include <vector>

#include "src/runtime/host/matrices/kernels.h"
#include "src/runtime/host/matrices/padded.h"
#include "src/runtime/host/matrices/product.h"

namespace sinter::runtime::host {

/// The reflections of rows [first, first + count) of V [.., n], count <= kReflections.
template <class T>
class Block {
 public:
  Block(ThreadPool& pool, std::int64_t count, std::int64_t n, const T* v, std::int64_t v_row,
        const T* scales);

  /// c [n, columns] becomes (H_0 H_1 ..) c, or the transposed product times c.
  void apply(ThreadPool& pool, bool transposed, std::int64_t columns, T* c, std::int64_t c_row) const;

 private:
  std::int64_t count_, n_;
  Part<T> v_;
  std::vector<T> s_;  // S [count, count], column by column
};

/// The product of `count` reflections, its first `columns` columns; row j of v [.., m] is 0 before `offset` +
/// j.
template <class T>
Padded<T> product_of_reflections(ThreadPool& pool, std::int64_t m, std::int64_t columns, std::int64_t count,
                                 std::int64_t offset, const T* v, std::int64_t v_row, const T* scales);

/// What a matrix whose largest element is `largest` is multiplied by before it is decomposed, so that squares
/// neither overflow nor underflow: a power of two, with which nothing is rounded.
double scale_for(double largest);

}  // namespace sinter::runtime::host
