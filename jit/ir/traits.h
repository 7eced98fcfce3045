// What a device can do, as plain data: the planner decides by these, a test can make them up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/dtype.h>

#include "jit/ir/products/matrix_layout.h"

namespace sinter::ir {

/// Matrices that the lanes of a subgroup multiply together: m x k by k x n, of one dtype, whose products are
/// added to m x n of another.
struct MatrixShape {
  std::uint16_t m = 0, n = 0, k = 0;
  DType multiplied = DType::f16, added = DType::f32;
};

/// The tensor cores of a device that takes kernels with a Tiling; none: compute_units is 0.
struct TensorCores {
  int compute_units = 0;
  std::size_t shared_bytes = 0;  // of a workgroup, and of all that a compute unit holds at once
  bool has_groups = true;  // groups of subgroups may multiply, and a copy engine brings factors; else each
                           // subgroup does by itself
  double products = 2048;  // of 16-bit floats, that a compute unit adds up in a cycle
  /// Where tensor cores are reached by cooperative matrices alone (Vulkan): those that there are. Elsewhere
  /// empty: subgroups, or groups of them, multiply by instructions of the device's own.
  std::vector<MatrixShape> matrices = {};
  MatrixLayout layout = {};  // of sums of 16 x 16, and of first factors; which lanes have what may be unknown
  int subgroup_lanes = 32;   // of those that multiply such matrices
  int most_lanes = 1024;     // of a workgroup that has such
  /// Not 0: ordinary lanes multiply f32 by tiles as well, whose products are not rounded: so many in a cycle.
  double exact_products = 0;
  double fewest_exact = 0x1p30;  // multiplications of a convolution from which on tiles of these pay
  int cluster = 1;  // workgroups that may share a tile of groups through each other's shared memory
  bool any() const { return compute_units > 0; }
  bool has_exact() const { return any() && exact_products > 0; }
  /// Scores of attention may stay in registers: it is known which lane has which of them.
  bool keeps_scores() const { return any() && matrices.empty(); }

  /// True iff there are matrices of this size.
  bool has_matrix(const MatrixShape& wanted) const {
    return std::any_of(matrices.begin(), matrices.end(), [&](const MatrixShape& shape) {
      return shape.m == wanted.m && shape.n == wanted.n && shape.k == wanted.k &&
             shape.multiplied == wanted.multiplied && shape.added == wanted.added;
    });
  }
  /// True iff cooperative matrices of this dtype multiply tiles of scores: of 16 x 16, by subgroups of the
  /// lanes that such a tile has.
  bool has_score_matrices(DType dtype) const {
    return any() && (subgroup_lanes == 32 || subgroup_lanes == 64) &&
           has_matrix({16, 16, 16, dtype, DType::f32});
  }

  /// True iff factors of `dtype` are multiplied, and added up in f32; floats of 8 bits, in fewer digits than
  /// f32 has (Tiling::short_sums), and i8 as integers.
  bool multiplies(DType dtype) const {
    if (is_f8(dtype) || dtype == DType::i8) return any() && has_groups && matrices.empty();
    return matrices.empty() || std::any_of(matrices.begin(), matrices.end(), [&](const MatrixShape& shape) {
             return shape.multiplied == dtype && shape.added == DType::f32;
           });
  }
};

struct DeviceTraits {
  std::string name;         // "host", "cuda:0", "vulkan:1", "null"
  std::string description;  // "NVIDIA H200", "llvmpipe (LLVM 15.0.6, 512 bits)"
  bool is_cpu = false;      // lanes are vector elements of a few cores: prefer few groups, avoid barriers
  bool has_f64 = true;
  bool has_halves = true;     // buffers of 16-bit elements
  bool runs = true;           // false for the null device
  std::int64_t lanes = 1024;  // results that keep the device busy when each is computed by one lane ...
  std::int64_t groups = 32;   // ... and by a group of lanes; reductions with fewer are split in two stages
  int row_lanes = 0;        // lanes of a group that may hold a row in their registers; 0: rows are read again
  int short_row_lanes = 0;  // most lanes of a group of which several are a workgroup: a subgroup's; 0: none
  int row_cluster = 1;      // groups that may hold a row together
  bool reciprocals = false;      // indices are divided by multiplying: Kernel::reciprocals
  bool fixed_windows = false;    // small inner loops may be part of the text: Kernel::inner_sizes
  bool flat_vectors = false;     // lanes may take vectors across the ends of rows: Kernel::flat_maps
  bool grid_reductions = false;  // kernels may be Kernel::split, and there is SquaredDeviations; else two
                                 // kernels share such work
  std::int64_t shared_elements =
      4096;  // with grid_reductions: of a result, from which on groups may share them
  std::size_t max_divisions = SIZE_MAX;  // of indices in one kernel: some compilers take 5 ms for each
  int max_buffers = 24;                  // bindings of one kernel
  std::size_t batch_bytes =
      0;  // arguments that one launch of several members may have; 0: there are no such launches
  bool split_members = false;    // those of Kernel::split may have several members, too
  std::size_t memory_bytes = 0;  // 0: unknown
  std::size_t most_buffer_bytes =
      0;  // of one buffer: temporaries are dealt out among several where they take more; 0: no limit
  /// Memory that a plan may take beyond what it needs, so that launches do not wait for memory that others
  /// still use. 0: launches run one after the other.
  std::size_t overlap_bytes = 0;
  TensorCores tensor_cores;
  /// True iff a vendor's library computes products there (Tiling::library). Opens it, so this is asked where
  /// it matters alone; null: there is none.
  bool (*has_product_library)() = nullptr;
  /// Products of one row are reductions like others, fused with what is around them, and attention of few
  /// queries goes along its keys once: Kernel::lone_rows.
  bool lone_rows = false;
  /// Not 0: attention goes along its scores by tiles on ordinary lanes (ir::Attention::By::Lanes), or by
  /// cooperative matrices, where tensor cores do not otherwise: bytes that a workgroup may share.
  std::size_t score_tile_bytes = 0;
  /// Not 0: attention goes along its scores by stripes (ir::Attention::By::Stripes) where they take so many
  /// bytes or more.
  std::size_t fewest_striped = 0;
  // Library products read i8 and 16-bit floats, and write the latter: library::ProductOp.
  bool narrow_products = false;
  bool long_fourier_lines = false;  // library::FourierOp has no longest length: library::has_fourier_lines
  // library::IndexedJoinOp: what an index sends to a row is joined there, without being sorted.
  enum class Joins : std::uint8_t {
    None,
    InOrder,      // of positions, along any axis
    Unordered,    // as it comes, of numbers of 32 bits
    UnorderedAll  // also of 64 bits, so that sums of f32 have the same bits each time
  };
  Joins joins = Joins::None;
  bool channels_last = false;  // library ops of f32 convolve images whose channels are last, and take them so

  // What the planner weighs choices by, measured (docs/benchmarks.md).
  double launch_bytes = 1 << 20;  // memory traffic that takes as long as one launch
  double work_per_byte = 8;       // additions that take as long as one byte of memory traffic
  double wait_bytes = 0;          // memory traffic that takes as long as a lane waits for one read of several

  /// True iff tensors of `dtype` can be here.
  bool supports(DType dtype) const {
    if (size_of(dtype) == 2) return has_halves;
    return has_f64 || dtype != DType::f64;
  }
};

}  // namespace sinter::ir
