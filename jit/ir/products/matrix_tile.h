// What follows from the sizes of a tile that is computed by cooperative matrices (Tiling::Matrices).
#pragma once

#include <algorithm>
#include <cstddef>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// A slot of shared memory has the factors of so many elements of the sum, in 16-byte pieces of eight
/// elements. A line of it is one piece longer than what it has, so that pieces below each other are in
/// different banks. When all is multiplied, each subgroup exchanges the sums of a row of its matrices through
/// the same memory.
struct MatrixTile {
  explicit MatrixTile(const Tiling& tiling) : t(tiling) {}

  static constexpr int kPiece = 8, kPieceBytes = 16, kFloats = 4;  // elements, and f32, of a piece

  static int depth_of(int matrix) { return std::max(32, matrix); }
  int depth() const { return depth_of(t.matrices.k); }
  int subgroups() const { return t.rows / t.subgroup_rows * (t.columns / t.matrices.columns); }
  int lanes() const { return subgroups() * t.matrices.lanes; }

  /// What lanes compute lies along the sum, as most factors do.
  bool lies_across(const TiledFactor& factor) const { return factor.across && !t.computes(factor); }
  int size_of(bool is_a) const { return is_a ? t.rows : t.columns; }
  /// Of a factor: pieces of a line that are filled, and to the next line; lines.
  int filled(bool is_a) const { return (lies_across(is_a ? t.a : t.b) ? size_of(is_a) : depth()) / kPiece; }
  int line(bool is_a) const { return filled(is_a) + 1; }
  int lines(bool is_a) const { return lies_across(is_a ? t.a : t.b) ? depth() : size_of(is_a); }
  int pieces(bool is_a) const { return line(is_a) * lines(is_a); }
  /// Pieces of the memory.
  int shared() const { return std::max(pieces(true) + pieces(false), subgroups() * exchange()); }
  std::size_t shared_bytes() const { return static_cast<std::size_t>(shared()) * kPieceBytes; }

  /// Of the sums of a subgroup's row of matrices: pieces from one line to the next, and of all lines.
  int exchange_line() const { return t.matrices.columns / kFloats + 1; }
  int exchange() const { return t.matrices.m * exchange_line(); }

  const Tiling& t;
};

}  // namespace sinter::ir
