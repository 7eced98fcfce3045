// One long line as a matrix: transforms of its columns, factors, transforms of its rows (Bailey, "FFTs in
// external or hierarchical memory", 1990). Columns and rows that lie beside each other go through the lanes
// of vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/runtime/host/fourier/passes.h"

namespace sinter::runtime::host::fourier {

/// Number j1 * second + j2 of a line becomes number k1 + first * k2 of the result.
template <class T>
class Matrix {
 public:
  /// Of a length that is no prime. Results are multiplied by `factor`.
  Matrix(std::int64_t length, double factor);

  std::int64_t length() const { return columns_.length() * rows_.length(); }
  std::int64_t first() const { return columns_.length(); }
  std::int64_t second() const { return rows_.length(); }
  /// Of the first index's numbers, along which columns are transformed, and of the second index's.
  const Passes<T>& columns() const { return columns_; }
  const Passes<T>& rows() const { return rows_; }
  /// Pieces of work: as many columns or rows as a vector has lanes.
  std::int64_t column_blocks() const { return blocks(second()); }
  std::int64_t row_blocks() const { return blocks(first()); }

  // Between columns and rows: [j2][real parts by k1, imaginary parts by k1].
  std::int64_t part() const { return rounded_up(first(), lanes<T>()); }
  std::int64_t step() const {
    return 2 * part() + lanes<T>();
  }  // not a power of two, which shares cache sets
  std::int64_t between() const { return column_blocks() * lanes<T>() * step(); }
  std::int64_t buffer_rows() const { return std::max(first(), second()); }

  /// exp(-2 pi i j2 k1 / n) is a product of two: of k1 % fine() and of the rest, which is missing below
  /// fine(). Both are vectors over j2: [block of columns][..][part][lane].
  std::int64_t fine() const { return fine_count_; }
  const T* fine_turns(std::int64_t block) const {
    return fine_.data() + block * fine_count_ * 2 * lanes<T>();
  }
  const T* coarse_turns(std::int64_t block) const {
    return coarse_.data() + block * coarse_count_ * 2 * lanes<T>();
  }

  std::size_t held_bytes() const {
    return columns_.held_bytes() + rows_.held_bytes() + (fine_.capacity() + coarse_.capacity()) * sizeof(T);
  }

 private:
  static std::int64_t blocks(std::int64_t count) { return (count + lanes<T>() - 1) / lanes<T>(); }
  std::vector<T> turns(std::int64_t count, std::int64_t apart, double factor) const;

  Passes<T> columns_, rows_;
  std::int64_t fine_count_, coarse_count_;
  std::vector<T> fine_, coarse_;
};

/// A line in memory without gaps: two parts (`im` may be missing where it is read: 0), or pairs in one.
template <class T>
struct Line {
  T* re = nullptr;
  T* im = nullptr;
  bool in_pairs = false;  // real and imaginary parts take turns at `re`
  /// Parts change places, before and after: the inverse.
  bool exchanged = false;
};

template <class T>
void columns_of_line(const Matrix<T>& matrix, const Line<const T>& from, std::int64_t block, T* between,
                     const RowBuffers<T>& buffers);
template <class T>
void rows_of_line(const Matrix<T>& matrix, const T* between, std::int64_t block, const Line<T>& to,
                  const RowBuffers<T>& buffers);

/// As part_mirrored and join_mirrored of lanes.h, along a line. exp(-2 pi i k / 2h) is the product of that of
/// the block of lanes in which k is, and of that of the lane.
template <class T>
class Mirror {
 public:
  explicit Mirror(std::int64_t h);
  std::int64_t h() const { return h_; }
  std::int64_t blocks() const { return h_ / 2 / lanes<T>() + 1; }
  const T* of_block(std::int64_t block) const { return turns_.data() + 2 * block; }
  const T* of_lanes() const { return turns_.data() + 2 * blocks(); }  // both parts as vectors
  std::size_t held_bytes() const { return turns_.capacity() * sizeof(T); }
  /// Elements before and behind what is read, which must exist.
  static std::int64_t around() { return 2 * lanes<T>(); }

 private:
  std::int64_t h_;
  std::vector<T> turns_;
};

/// Some of the mirror's blocks.
struct Blocks {
  std::int64_t begin, end;
};
/// Reads z[0] to z[h], where the last is a copy of z[0].
template <class T>
void part_mirrored(const Mirror<T>& mirror, const Line<const T>& z, const Line<T>& to, Blocks blocks);
/// Reads results 0 to h; of z, writes 0 to h as well.
template <class T>
void join_mirrored(const Mirror<T>& mirror, const Line<const T>& results, const Line<T>& z, Blocks blocks);

}  // namespace sinter::runtime::host::fourier
