// Products of parts of matrices, within a decomposition.
#pragma once

#include <cstdint>

#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// Element (i, j) is at data[i * row + j * column].
template <class T>
struct Part {
  const T* data;
  std::int64_t row, column = 1;

  Part transposed() const { return {data, column, row}; }
};

enum class Combine : std::uint8_t { Assign, Add, Subtract };

/// C [m, n] becomes, or gets more or less by, A [m, k] times B [k, n]. `upper`: elements of C below its
/// diagonal need not be computed. C overlaps neither. The sums do not depend on the number of threads.
template <class T>
void multiply(ThreadPool& pool, Combine how, std::int64_t m, std::int64_t n, std::int64_t k, Part<T> a,
              Part<T> b, T* c, std::int64_t c_row, bool upper = false);

}  // namespace sinter::runtime::host
