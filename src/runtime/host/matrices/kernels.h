// Loops over vectors that decompositions are made of, for each target. Rows are those of padded matrices:
// they begin on cache lines, and what lies behind them up to a whole unit is read and written too. For float
// and double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/host/matrices/padded.h"

namespace sinter::runtime::host {

/// Rows of a triangle that solve_few and factor_few take at once.
inline constexpr std::int64_t kFewRows = 16;

/// A triangle: element (i, j) is at data[i * row + j * column].
template <class T>
struct Triangle {
  const T* data;
  std::int64_t row, column;
  bool upper, unit;  // `unit`: its diagonal is not read, and stands for ones
};

/// Solves a system of at most kFewRows rows; b [n, columns] becomes the solution.
template <class T>
[[gnu::visibility("hidden")]] void solve_few(std::int64_t n, std::int64_t columns,
                                             const Triangle<T>& triangle, T* b, std::int64_t b_row);

/// The upper triangle of a [n, n] becomes U with A = U^T U; what is below it is written over. False where A
/// is not positive definite.
template <class T>
[[gnu::visibility("hidden")]] bool cholesky_few(std::int64_t n, T* a, std::int64_t a_row);

/// Gaussian elimination, with row exchanges, of a [m, n] with rows of kUnit elements: L and U in its place.
/// pivots[j] is the row that row j was exchanged with.
template <class T>
[[gnu::visibility("hidden")]] void factor_few(std::int64_t m, std::int64_t n, T* a, std::int64_t* pivots);

// A reflection is H = I - scale v v^T with v[0] = 1. One with a scale of 0 is the unit matrix.

/// Columns that reflect_columns takes at once.
inline constexpr std::int64_t kReflections = 32;

/// Reflections of the columns of a [m, n], with rows of kReflections elements: R in its upper triangle, the
/// rest of column j is v of reflection j behind its 1. j < min(m, n), and n <= kReflections.
template <class T>
[[gnu::visibility("hidden")]] void reflect_columns(std::int64_t m, std::int64_t n, T* a, T* scales);

/// The tridiagonal form of a symmetric matrix, whole in a [n, n]: its diagonal, what is beside it (n - 1),
/// and reflections: row j of a becomes v of reflection j, which begins at column j + 1, with zeros before it.
template <class T>
[[gnu::visibility("hidden")]] void tridiagonalise(std::int64_t n, T* a, std::int64_t a_row, double* diagonal,
                                                  double* beside, T* scales);

/// The upper bidiagonal form of a [n, n]. Rows of `left` [n, n] become the reflections of columns, which
/// begin at the diagonal; rows of a those of rows, which begin behind it.
template <class T>
[[gnu::visibility("hidden")]] void bidiagonalise(std::int64_t n, T* a, std::int64_t a_row, T* left,
                                                 double* diagonal, double* beside, T* left_scales,
                                                 T* right_scales);

/// Bytes of each column that rotate_columns takes at once.
inline constexpr std::int64_t kRotatedBytes = 128;

/// Rotations of neighbouring columns, one after the other: of first and first + step, then of first + step
/// and first + 2 step, and so on. x and y become cosine x + sine y and cosine y - sine x.
struct Sweep {
  std::int64_t first, step, count;
};

/// `columns` has kRotatedBytes of each column, one column after the other. `turns`: cosines and sines of all
/// rotations of all sweeps.
template <class T>
[[gnu::visibility("hidden")]] void rotate_columns(T* columns, const Sweep* sweeps, std::size_t count,
                                                  const T* turns);

}  // namespace sinter::runtime::host
