// Kernels with a Tiling as CUDA C++ for tensor cores.
//
// The main loop is kernels/tensor_cores/contraction_sm90.cu, where groups of subgroups multiply (compute
// capability 9.0), kernels/tensor_cores/contraction_sm80.cu, where each subgroup does by itself (8.0 and
// later), or kernels/tensor_cores/contraction_few_rows.cu, where subgroups share each sum; what is written
// for each kernel is how its factors are loaded and what becomes of a finished tile, by the walker. Beyond
// the arguments of other kernels (emit.h) the text takes, after the scalars:
//
//   cut         int: the first tiles whose sums several workgroups share (Geometry::cut)
//   partials    scratch_bytes of memory, for these
//   counters    32 bits for each, all zero, which the kernel leaves so
//   t_a, t_b    tensor maps of the factors that the copy engine brings, by value, after the fault words, and
//               those of further sums (names_of_tensor_maps)
//   w_a, w_b    WindowNumbers of those that are copied by windows, by value
//
// Several products of the same sizes may share a launch: they are like one of a batch, whose matrices lie
// apart. Their table stands first (MemberLayout), with tensor maps of each; then the number of members, cut,
// partials, counters, and w_a and w_b, which are the same for all.
#pragma once

#include <cstdint>
#include <optional>
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

/// `ints`: of the first of so many members. Throws DeviceError where there are more tiles than a launch can
/// count.
Geometry contraction_geometry(const ir::Kernel& kernel, const Target& target,
                              std::span<const std::int64_t> ints, std::size_t members = 1);

std::size_t contraction_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape);

/// A divisor with its reciprocal (ir::reciprocal_of), which 1 has not.
struct Divisor {
  std::int32_t by = 1, multiplier = 0, shift = 0;
};

/// By what a kernel finds the coordinates of a window, and of an element within windows, from their numbers:
/// the struct Windows of kernels/tensor_cores/contraction_sm90.cu. Numbers are along the lines of the image,
/// along its columns and from plane to plane.
struct WindowNumbers {
  Divisor channels;     // of a group
  Divisor elements[2];  // of a window
  Divisor positions[3];
  std::int32_t first[3] = {}, step[3] = {}, spread[3] = {};
};

/// What the copy engine is told of a factor that it copies: a tensor of `sizes`, the innermost dim first,
/// whose neighbours along dim d lie strides[d - 1] bytes apart, of which a box is copied at a time.
struct TensorMap {
  std::uint16_t buffer = 0;
  std::int64_t offset_bytes = 0;
  DType dtype = DType::bf16;
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box;  // windows: so many channels of so many positions

  /// Of a factor that is copied by windows, whose tensor is (c, w, h, n) or (c, w, h, d, n). First elements
  /// of windows are between the corners, which are relative to the image's first and last pixel, `steps`
  /// apart.
  struct Box {
    std::int32_t lower[3], upper[3];
    std::uint32_t steps[5];
    WindowNumbers numbers;
  };
  std::optional<Box> windows;
};
std::vector<TensorMap> tensor_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints);
/// What these are called in the text, in the same order.
std::vector<std::string> names_of_tensor_maps(const ir::Tiling& tiling);

}  // namespace sinter::emit
