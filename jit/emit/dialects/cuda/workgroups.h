// CUDA functions that combine the lanes of a block, by exchange within each warp of Target::subgroup lanes;
// every lane gets the result. Arguments as Dialect::workgroup_function.
#pragma once

#include <map>
#include <string>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

std::string cuda_exchange(const std::string& name, DType dtype, const std::string& combine,
                          const Target& target, int lanes);
/// As Dialect::workgroup_function_of_several.
std::string cuda_exchange_several(const std::string& name, DType dtype,
                                  const std::vector<std::string>& combines, const Target& target, int lanes);
std::string cuda_exchange_welford(const std::string& name, DType dtype, const Target& target, int lanes);

/// As Dialect::cluster_function, and what such functions call. Blocks write into each other's shared memory
/// (compute capability 9.0).
std::string cuda_cluster(const std::string& name, DType dtype, std::size_t values, const std::string& join,
                         int cluster);
void cuda_cluster_functions(std::map<std::string, std::string>& functions);

/// As Dialect::row_function.
std::string cuda_rows(const std::string& name, Op op, DType dtype, const std::string& combine,
                      const Target& target);

/// What orders the lanes of one outer point: a warp of its own, or the block.
std::string cuda_barrier(const Target& target);

/// Of the largest block there is. One warp can combine the results of so many.
int cuda_most_warps(const Target& target);

}  // namespace sinter::emit
