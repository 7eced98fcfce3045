// Kernels in the forms that the planner gives them for devices of some kinds, whatever their sizes.
#pragma once

#include <vector>

#include "jit/ir/traits.h"
#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {

/// The kernels whose inner points several workgroups may share, marked as split.
std::vector<KernelCase> split_kernels(const std::vector<KernelCase>& cases);

/// The kernels with several passes over their rows, with rows held in registers: of a workgroup, of few
/// lanes, of a cluster of workgroups, as `traits` has them; by vectors and by elements.
std::vector<KernelCase> row_kernels(const std::vector<KernelCase>& cases, const ir::DeviceTraits& traits);

/// The elementwise kernels with loads that lie along some loop but the last, marked as tiled along it.
std::vector<KernelCase> tile_kernels(const std::vector<KernelCase>& cases);

/// Transposed operands beside others, of all dtypes and of sizes around those of a tile.
std::vector<KernelCase> transposing_kernels(const ir::DeviceTraits& traits);

/// The kernels with multiplications for the divisions of their indices.
std::vector<KernelCase> reciprocal_kernels(const std::vector<KernelCase>& cases);

/// The elementwise kernels whose results are row-major, with vectors across the ends of rows.
std::vector<KernelCase> flat_kernels(const std::vector<KernelCase>& cases);

/// The kernels whose lanes have outer points of their own with few inner ones, which their texts name.
std::vector<KernelCase> window_kernels(const std::vector<KernelCase>& cases);

/// Row-major operands beside others, of all dtypes, with rows that are no whole vectors.
std::vector<KernelCase> ragged_elementwise_kernels(const ir::DeviceTraits& traits);

/// Squared deviations of rows and of columns, next to sums, with means far from zero; split and not.
std::vector<KernelCase> variance_kernels(bool with_f64);

}  // namespace sinter::testing
