// Kernels with an Attention: as CUDA C++ for tensor cores, of compute capability 9.0 by groups of warps, else
// of 8.0 and later by each warp for itself; as GLSL for cooperative matrices; for ordinary lanes in every
// language that has workgroups.
//
// The loops for tensor cores are kernels/tensor_cores/attention_sm90.cu and attention_sm80.cu; what is
// written for each kernel is how rows are brought, and what is computed of a tile of scores, by the walker.
// Beyond the arguments of other kernels (emit.h) the text for groups takes, after the scalars, a tensor map
// by value for each Row, in their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/emit.h"

namespace sinter::emit {

/// True iff the kernel is run by tiles of scores on the target.
bool has_attention(const ir::Kernel& kernel, const Target& target);

/// Of a workgroup.
int attention_lanes(const ir::Kernel& kernel);

/// Beside what the text declares: a launch has to ask for it.
std::size_t attention_shared_bytes(const ir::Kernel& kernel);

/// The kernel's Rows.
std::vector<ir::ExprId> rows_of(const ir::Kernel& kernel);

Source emit_attention(const ir::Kernel& kernel, const Target& target);

/// Throws DeviceError where there are more tiles than a launch can count.
Geometry attention_geometry(const ir::Kernel& kernel, const Target& target,
                            std::span<const std::int64_t> ints);

/// Rounds that a lane of a launch may go at most, where ordinary lanes multiply, with those of loops that a
/// compiler may have unrolled.
std::int64_t attention_rounds(const ir::Kernel& kernel, const Geometry& shape,
                              std::span<const std::int64_t> ints);

/// Empty but where groups of subgroups multiply.
std::vector<TensorMap> attention_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

}  // namespace sinter::emit
