// Kernels with LoneRows as CUDA C++: attention of few queries, each row of scores by itself.
//
// A group of lanes has a column at a time, a lane 16 bytes of each Row. Beyond the arguments of other kernels
// (emit.h) the text takes those of a split one: the workgroups that share a row leave what they have found in
// memory, and the last to come joins it in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "jit/emit/emit.h"

namespace sinter::emit {

/// True iff the kernel is run row by row on the target.
bool has_lone_rows(const ir::Kernel& kernel, const Target& target);

/// Of a workgroup.
int lone_rows_lanes();

Source emit_lone_rows(const ir::Kernel& kernel, const Target& target);

/// Throws DeviceError where there are more rows than a launch can count.
Geometry lone_rows_geometry(const ir::Kernel& kernel, const Target& target,
                            std::span<const std::int64_t> ints);

/// Memory for what workgroups leave for the last one.
std::size_t lone_rows_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape);

}  // namespace sinter::emit
