// Decompositions of one matrix, computed in its own dtype. Matrices are row-major, without gaps, and not
// empty; results do not overlap operands and do not depend on the number of threads. For float and double.
#pragma once

#include <cstdint>

#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// Why a matrix has no result, as the end of a sentence; null where it has one.
using Refusal = const char*;

// a [n, n], of which `cholesky` and `symmetric_eigen` read the lower triangle and `solve_triangular` one
// triangle; b and x [n, m].

template <class T>
Refusal cholesky(ThreadPool& pool, std::int64_t n, const T* a, T* l);
template <class T>
Refusal solve(ThreadPool& pool, std::int64_t n, std::int64_t m, const T* a, const T* b, T* x);
template <class T>
Refusal solve_triangular(ThreadPool& pool, bool upper, std::int64_t n, std::int64_t m, const T* a, const T* b,
                         T* x);
template <class T>
Refusal inverse(ThreadPool& pool, std::int64_t n, const T* a, T* x);
/// Sign, logarithm of the magnitude, and the determinant.
template <class T>
void determinant(ThreadPool& pool, std::int64_t n, const T* a, T* sign, T* logarithm, T* value);
/// A = P L U.
template <class T>
void lu(ThreadPool& pool, std::int64_t n, const T* a, T* p, T* l, T* u);
/// Eigenvalues [n], ascending, and their vectors as columns.
template <class T>
Refusal symmetric_eigen(ThreadPool& pool, std::int64_t n, const T* a, T* values, T* vectors);

// a [m, n], k = min(m, n).

/// q [m, k] and r [k, n].
template <class T>
void qr(ThreadPool& pool, std::int64_t m, std::int64_t n, const T* a, T* q, T* r);
/// u [m, k], s [k], descending, and vh [k, n].
template <class T>
Refusal svd(ThreadPool& pool, std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vh);

}  // namespace sinter::runtime::host
