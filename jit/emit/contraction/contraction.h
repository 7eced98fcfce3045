// Kernels with a Tiling as CUDA C++ for the tensor cores of compute capability 9.0.
//
// The main loop is kernels/contraction_sm90.cu; what is written for each kernel is how its factors are loaded
// and what becomes of a finished tile, by the walker. Beyond the arguments of other kernels (emit.h) the text
// takes, after the scalars:
//
//   cut         int: the first tiles whose sums several workgroups share (Geometry::cut)
//   partials    scratch_bytes of memory, for these
//   counters    32 bits for each, all zero, which the kernel leaves so
//   t_a, t_b    tensor maps of the factors that are copied, by value, after the fault words
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/emit/emit.h"

namespace sinter::emit {

/// True iff the kernel is run by its tiling on the target.
bool has_tiles(const ir::Kernel& kernel, const Target& target);

/// Of a workgroup.
int contraction_lanes(const ir::Kernel& kernel);

/// Beside what the text declares: a launch has to ask for it.
std::size_t contraction_shared_bytes(const ir::Kernel& kernel);

Source emit_contraction(const ir::Kernel& kernel, const Target& target);

/// Throws DeviceError where there are more tiles than a launch can count.
Geometry contraction_geometry(const ir::Kernel& kernel, const Target& target,
                              std::span<const std::int64_t> ints);

std::size_t contraction_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape);

/// What the copy engine is told of a factor that it copies: a tensor of `sizes`, the innermost dim first,
/// whose neighbours along dim d lie strides[d - 1] bytes apart, of which a box is copied at a time.
struct TensorMap {
  std::uint16_t buffer = 0;
  std::int64_t offset_bytes = 0;
  DType dtype = DType::bf16;
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box;
};
std::vector<TensorMap> tensor_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

}  // namespace sinter::emit
