#include "src/runtime/host/matrices/iterations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/runtime/host/matrices/share.h"

namespace sinter::runtime::host {
namespace {

// Rotations that are done together: so many are in the second cache while rows pass by.
constexpr std::size_t kNoted = std::size_t{1} << 15;
// Sweeps for each value; two are usual.
constexpr std::int64_t kMostSweeps = 40;

/// The rotation that makes of (x, y) the length and 0.
struct Turn {
  double cosine = 1, sine = 0, length;

  Turn(double x, double y) : length(x) {
    if (y == 0) return;
    const double squares = x * x + y * y;
    // A square root and a division that do not wait for each other.
    double reciprocal = 1 / squares;
    length = std::sqrt(squares);
    reciprocal *= length;
    if (!(squares > 1e-280)) {
      length = std::hypot(x, y);
      reciprocal = 1 / length;
    }
    cosine = x * reciprocal;
    sine = y * reciprocal;
  }
};

double largest_of(std::int64_t n, const double* diagonal, const double* beside) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(diagonal[i]));
  for (std::int64_t i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(beside[i]));
  return largest;
}

/// The first place of the block that ends with `last`: what is beside it counts as 0, and is made so.
std::int64_t begin_of_block(std::int64_t last, double* beside, double zero) {
  std::int64_t first = last;
  while (first > 0 && std::abs(beside[first - 1]) > zero) --first;
  if (first > 0) beside[first - 1] = 0;
  return first;
}

/// The eigenvalue of [a, b; b, c] that is nearer to c (Wilkinson's shift).
double shift_of(double a, double b, double c) {
  const double half = (a - c) / 2, length = std::hypot(half, b);
  return length == 0 ? c : c - b * (b / (half + std::copysign(length, half)));
}

/// The smaller singular value of [f, g; 0, h] (LAPACK's dlas2).
double smaller_singular_value(double f, double g, double h) {
  const double small = std::min(std::abs(f), std::abs(h)), large = std::max(std::abs(f), std::abs(h));
  const double beside = std::abs(g);
  if (small == 0) return 0;
  const double sum = 1 + small / large, difference = (large - small) / large;
  if (beside < large) {
    const double square = (beside / large) * (beside / large);
    return small * (2 / (std::sqrt(sum * sum + square) + std::sqrt(difference * difference + square)));
  }
  const double part = large / beside;
  if (part == 0) return small * large / beside;
  const double x = sum * part, y = difference * part;
  return 2 * (small * (1 / (std::sqrt(1 + x * x) + std::sqrt(1 + y * y)))) * part;
}

/// Diagonals of a block, from its first or from its last place on: the transposed block, read backwards, is
/// bidiagonal again, and has its left and right vectors exchanged.
struct Diagonals {
  double *diagonal, *beside;
  std::int64_t step;

  double& d(std::int64_t i) const { return diagonal[i * step]; }
  double& e(std::int64_t i) const { return beside[i * step]; }
};

/// One sweep over n values by the implicit QR algorithm (Golub, Reinsch, "Singular value decomposition and
/// least squares solutions", 1970).
template <class T>
void sweep_shifted(std::int64_t n, const Diagonals& b, double shift, RotatedColumns<T>& left,
                   RotatedColumns<T>& right) {
  double f = (std::abs(b.d(0)) - shift) * (std::copysign(1.0, b.d(0)) + shift / b.d(0)), g = b.e(0);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const Turn columns(f, g);
    if (i > 0) b.e(i - 1) = columns.length;
    f = columns.cosine * b.d(i) + columns.sine * b.e(i);
    b.e(i) = columns.cosine * b.e(i) - columns.sine * b.d(i);
    g = columns.sine * b.d(i + 1);
    b.d(i + 1) *= columns.cosine;
    const Turn rows(f, g);
    b.d(i) = rows.length;
    f = rows.cosine * b.e(i) + rows.sine * b.d(i + 1);
    b.d(i + 1) = rows.cosine * b.d(i + 1) - rows.sine * b.e(i);
    if (i + 2 < n) {
      g = rows.sine * b.e(i + 1);
      b.e(i + 1) *= rows.cosine;
    }
    right.rotate(columns.cosine, columns.sine);
    left.rotate(rows.cosine, rows.sine);
  }
  b.e(n - 2) = f;
}

/// The same with a shift of 0, which also finds values of 0 (Demmel, Kahan, "Accurate singular values of
/// bidiagonal matrices", 1990).
template <class T>
void sweep_unshifted(std::int64_t n, const Diagonals& b, RotatedColumns<T>& left, RotatedColumns<T>& right) {
  double cosine = 1, left_cosine = 1, left_sine = 0;
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    const Turn columns(b.d(i) * cosine, b.e(i));
    if (i > 0) b.e(i - 1) = left_sine * columns.length;
    const Turn rows(left_cosine * columns.length, b.d(i + 1) * columns.sine);
    b.d(i) = rows.length;
    cosine = columns.cosine;
    left_cosine = rows.cosine;
    left_sine = rows.sine;
    right.rotate(columns.cosine, columns.sine);
    left.rotate(rows.cosine, rows.sine);
  }
  const double last = b.d(n - 1) * cosine;
  b.d(n - 1) = last * left_cosine;
  b.e(n - 2) = last * left_sine;
}

}  // namespace

template <class T>
RotatedColumns<T>::RotatedColumns(ThreadPool& pool, std::int64_t rows, std::int64_t columns,
                                  const Padded<T>& matrix)
    : pool_(pool), rows_(rows), columns_(columns), elements_(1, pieces() * kRows * columns) {
  share(pool, rows * columns * 4, pieces(), [&](std::int64_t piece) {
    T* const to = elements(piece);
    for (std::int64_t i = piece * kRows; i < std::min(rows, (piece + 1) * kRows); ++i)
      for (std::int64_t j = 0; j < columns; ++j) to[j * kRows + i % kRows] = matrix.row(i)[j];
  });
}

template <class T>
void RotatedColumns<T>::begin(std::int64_t first, std::int64_t step) {
  if (turns_.size() / 2 >= kNoted) finish();
  sweeps_.push_back({first, step, 0});
}

template <class T>
void RotatedColumns<T>::finish() {
  const std::int64_t rotations = static_cast<std::int64_t>(turns_.size()) / 2;
  share(pool_, rotations * rows_, pieces(), [&](std::int64_t piece) {
    rotate_columns(elements(piece), sweeps_.data(), sweeps_.size(), turns_.data());
  });
  sweeps_.clear();
  turns_.clear();
}

template <class T>
bool diagonalise_symmetric(std::int64_t n, double* diagonal, double* beside, double precision,
                           RotatedColumns<T>& vectors) {
  const double zero = precision * largest_of(n, diagonal, beside);
  std::int64_t left = kMostSweeps * n;
  for (std::int64_t last = n - 1; last > 0;) {
    const std::int64_t first = begin_of_block(last, beside, zero);
    if (first == last) {
      --last;
      continue;
    }
    if (left-- == 0) return false;
    vectors.begin(first, 1);
    double x = diagonal[first] - shift_of(diagonal[last - 1], beside[last - 1], diagonal[last]);
    double y = beside[first];
    for (std::int64_t i = first; i < last; ++i) {
      const Turn turn(x, y);
      if (i > first) beside[i - 1] = turn.length;
      const double part = turn.sine * (diagonal[i + 1] - diagonal[i]) + 2 * turn.cosine * beside[i];
      diagonal[i] += turn.sine * part;
      diagonal[i + 1] -= turn.sine * part;
      beside[i] = x = turn.cosine * part - beside[i];
      if (i + 1 < last) {
        y = turn.sine * beside[i + 1];
        beside[i + 1] *= turn.cosine;
      }
      vectors.rotate(turn.cosine, turn.sine);
    }
  }
  vectors.finish();
  return true;
}

template <class T>
bool diagonalise_bidiagonal(std::int64_t n, double* diagonal, double* beside, double precision,
                            RotatedColumns<T>& left, RotatedColumns<T>& right) {
  constexpr double kPrecision = std::numeric_limits<double>::epsilon();
  const double zero = precision * largest_of(n, diagonal, beside);
  std::int64_t sweeps = kMostSweeps * n, previous_first = -1, previous_last = -1;
  bool down = true;
  for (std::int64_t last = n - 1; last > 0;) {
    const std::int64_t first = begin_of_block(last, beside, zero);
    if (first == last) {
      --last;
      continue;
    }
    if (sweeps-- == 0) return false;
    // From the larger end, towards which the smaller values go; as long as the block does not move on.
    if (first > previous_last || last < previous_first || previous_last < 0)
      down = std::abs(diagonal[first]) >= std::abs(diagonal[last]);
    previous_first = first;
    previous_last = last;
    const std::int64_t count = last - first + 1;
    const Diagonals b = down ? Diagonals{diagonal + first, beside + first, 1}
                             : Diagonals{diagonal + last, beside + last - 1, -1};
    // An estimate of the smallest singular value, and the largest one but for a factor.
    double size = std::abs(b.d(0)), smallest = size, largest = size;
    for (std::int64_t i = 0; i + 1 < count; ++i) {
      const double next = std::abs(b.d(i + 1)), e = std::abs(b.e(i));
      size = size == 0 ? 0 : next * (size / (size + e));
      smallest = std::min(smallest, size);
      largest = std::max({largest, next, e});
    }
    double shift = 0;
    if (smallest > kPrecision * largest) {
      shift = smaller_singular_value(b.d(count - 2), b.e(count - 2), b.d(count - 1));
      const double part = shift / std::abs(b.d(0));
      if (part * part < kPrecision) shift = 0;
    }
    RotatedColumns<T>&of_rows = down ? left : right, &of_columns = down ? right : left;
    for (RotatedColumns<T>* side : {&of_rows, &of_columns}) side->begin(down ? first : last, down ? 1 : -1);
    if (shift == 0)
      sweep_unshifted(count, b, of_rows, of_columns);
    else
      sweep_shifted(count, b, shift, of_rows, of_columns);
  }
  left.finish();
  right.finish();
  return true;
}

template class RotatedColumns<float>;
template class RotatedColumns<double>;
template bool diagonalise_symmetric(std::int64_t, double*, double*, double, RotatedColumns<float>&);
template bool diagonalise_symmetric(std::int64_t, double*, double*, double, RotatedColumns<double>&);
template bool diagonalise_bidiagonal(std::int64_t, double*, double*, double, RotatedColumns<float>&,
                                     RotatedColumns<float>&);
template bool diagonalise_bidiagonal(std::int64_t, double*, double*, double, RotatedColumns<double>&,
                                     RotatedColumns<double>&);

}  // namespace sinter::runtime::host
