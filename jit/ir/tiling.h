// How tensor cores compute a kernel that multiplies: its tiles, and how its factors are brought.
#pragma once

#include <cstdint>
#include <vector>

#include <sinter/dtype.h>

namespace sinter::ir {

/// An expression of a kernel (kernel.h).
using ExprId = std::uint32_t;
inline constexpr ExprId kNone = 0xffffffff;

/// A factor of the products that a Tiling is about. Shared memory gets 128 bytes of the inner loops of it at
/// a time (of cooperative matrices 64). Where groups of subgroups multiply, that is in one of three ways:
///
///   copied    by the copy engine. The factor is a load without a predicate, by a map of one step, under
///             which its own loops lie as if they were one, and so do the inner loops; its neighbours lie
///             along the last inner loop or `across`, along the last of its own, and all other strides are
///             multiples of 16 bytes.
///   windows   by the copy engine too. The factor is a load over the windows of an image (windows.h), without
///             a predicate or with one InBounds, by maps of one step. Its own loops are over the positions,
///             the inner ones over the elements of a window, or, `across`, the other way round; channels are
///             a multiple of 128 bytes. A loop of the batch may be over groups of channels.
///   computed  by lanes, from any expressions but those that may set a fault word.
///
/// Where each subgroup multiplies by itself, lanes copy what has `lane_bytes`, and compute the rest.
struct TiledFactor {
  ExprId value = kNone;
  bool across = false;       // neighbours in memory lie along its own loops, not along the inner ones
  bool computed = false;     // not copied
  bool pieces = false;       // computed: 16 bytes' worth of neighbours are within the last inner loop
  std::uint8_t windows = 0;  // not 0: copied by windows, which step along so many dims (Windows::dims)
  /// Computed: so many neighbours in memory are loaded at a time; 0: each by itself. Of a value that is no
  /// load, that is true of each load that it is made of and that depends on the last inner loop.
  std::uint8_t vector = 0;
  /// Not 0: the factor lies as one that the copy engine copies, but for its strides and where it begins,
  /// which are multiples of so many bytes: 16, 8 or 4.
  std::uint8_t lane_bytes = 0;
  friend bool operator==(const TiledFactor&, const TiledFactor&) = default;
};

/// How tensor cores compute a kernel whose only reduction is a sum of products, or whose reductions are sums
/// of products that are added up or have a factor in common: by tiles of rows and columns.
/// Of the outer loops some are rows, which one factor, `a`, depends on and the other does not, some are
/// columns, with `b` likewise, among them the last outer loop; some may repeat the results, each time with
/// something else, and neither factor depends on them; the rest are the batch. Several loops of rows
/// (columns, repeats) are counted as one, row-major.
struct Tiling {
  /// Where tensor cores are reached by cooperative matrices: which ones. A subgroup of `lanes` multiplies m x
  /// k by k x n of a tile's elements at a time, and has subgroup_rows x `columns` of the tile.
  struct Matrices {
    std::uint8_t m = 0, n = 0, k = 0;  // 0: by other instructions
    std::uint8_t columns = 0, lanes = 0;
    bool any() const { return m > 0; }
    friend bool operator==(const Matrices&, const Matrices&) = default;
  };

  std::uint16_t rows = 0, columns = 0;  // of a tile; 0: the kernel has no tiling
  std::uint8_t slots = 0;               // of shared memory
  std::uint8_t workgroups = 1;          // that a compute unit holds at once
  std::uint8_t loaders = 1;             // groups of subgroups that bring the factors, one slot each in turn
  /// Not 0: each subgroup multiplies by itself, so many rows and 64 columns of a tile (Matrices::columns
  /// where there are such), and all of them bring the factors. 0: groups of four subgroups multiply (compute
  /// capability 9.0).
  std::uint8_t subgroup_rows = 0;
  Matrices matrices;  // with subgroup_rows
  /// Not 0: the product has few rows, so that each element of `b` is needed once or so, and goes from memory
  /// to registers. So many subgroups have all `columns` of a tile, and share the sum; `slots` are of a lane,
  /// 64 bytes of the sum each. The rest of these numbers is as it is at first.
  std::uint8_t sharers = 0;
  bool near_rows = false;  // with sharers: rows come through the first-level cache, for the next tile's sake
  /// Not 0: so many groups of subgroups have a tile each and multiply in turns, each while the others finish
  /// theirs.
  std::uint8_t turns = 0;
  /// With groups that take no turns: so many workgroups have a tile together, each with a stretch of the sum.
  /// They read each other's sums through shared memory, and each finishes a part of the tile.
  std::uint8_t cluster = 1;
  bool vectors = false;  // what is loaded and stored along the columns lies in whole vectors
  /// What the factors are when they are multiplied: bf16, f16, a float of 8 bits, i8, whose products are
  /// added up as integers, or f32, which is rounded to the 11 bits of tf32. Their values have this dtype; of
  /// floats of 8 bits `b` may have the other one.
  DType multiplied = DType::bf16;
  /// Of f32, which is not rounded: ordinary lanes multiply, and no tensor cores.
  bool exact = false;
  /// Of floats of 8 bits, whose products tensor cores add up with some 14 bits: each slot's sum starts from
  /// zero, and is added in f32 to those before it.
  bool short_sums = false;
  /// So many groups, of which each has factors and results of its own, stand side by side: along the sum in
  /// each `depth` elements of it, and in each `columns` of the results. What `b` has for the elements of one
  /// group and the columns of another is 0 and no factor: a sum that is not finite is added up again without
  /// it.
  struct Blocks {
    std::uint32_t count = 1, depth = 0, columns = 0;
    bool any() const { return count > 1; }
    friend bool operator==(const Blocks&, const Blocks&) = default;
  };
  Blocks blocks;
  std::uint32_t row_loops = 0, column_loops = 0;  // sets of outer loops, by bits
  std::uint32_t repeat_loops = 0;                 // likewise, of groups alone
  ExprId sum = kNone;                             // the Reduce
  TiledFactor a, b;
  /// Further sums of products of `a`, each by a factor of its own: a load that lies as `b` does, by strides
  /// of its own. A tile has the same columns of all sums, side by side in each kPart of its own.
  struct OtherSum {
    ExprId sum = kNone, b = kNone;
    friend bool operator==(const OtherSum&, const OtherSum&) = default;
  };
  std::vector<OtherSum> others;
  /// Without others: further sums of products along the same loops, of which results need no more than what
  /// `sum` and all of them add up to (terms.h): they go on in its registers. Their factors are loads that lie
  /// as `a` and `b` do, by strides of their own, and are copied as these are.
  struct Term {
    ExprId sum = kNone, a = kNone, b = kNone;
    friend bool operator==(const Term&, const Term&) = default;
  };
  std::vector<Term> terms;
  static constexpr int kPart = 64, kMostSums = 4;
  /// Not 0: a vendor's library computes the kernel, or its sums (plain_product.h), in the so many-th of the
  /// ways that it suggests itself; tiles are not looked at. `library_version`: the library's, as ways are
  /// numbered anew in each.
  std::uint8_t library = 0;
  std::uint32_t library_version = 0;
  bool any() const { return rows > 0; }
  /// Into so many shares a tile's columns are cut, one for each sum: a power of two.
  int shares() const { return others.empty() ? 1 : others.size() == 1 ? 2 : kMostSums; }
  /// What a tile has of the columns of each sum.
  int own_columns() const { return columns / shares(); }
  bool is_sum(ExprId id) const {
    bool is_so = id == sum;
    for (const OtherSum& other : others) is_so |= id == other.sum;
    for (const Term& term : terms) is_so |= id == term.sum;
    return is_so;
  }
  /// True iff groups of four subgroups multiply, and the copy engine brings what it can.
  bool has_groups() const { return subgroup_rows == 0 && sharers == 0; }
  /// True iff lanes compute the factor, one of these.
  bool computes(const TiledFactor& factor) const {
    if (has_groups()) return factor.computed;
    // Registers have the rows of a product of few rows along the sum.
    return factor.lane_bytes == 0 || (sharers > 0 && factor.across && factor.value == a.value);
  }
  bool has_computed() const { return computes(a) || computes(b); }
  /// True iff lanes hold in registers what they compute `b` of, such as codes and their scales.
  bool unpacks() const { return sharers > 0 && computes(b) && lies_in_pieces(b) && !b.across; }
  /// True iff whole pieces of 16 bytes of a factor that is computed lie in vectors.
  bool lies_in_pieces(const TiledFactor& factor) const { return factor.vector * size_of(multiplied) == 16; }
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

}  // namespace sinter::ir
