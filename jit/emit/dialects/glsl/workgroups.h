// GLSL functions that combine the lanes of a workgroup; every lane gets the result. Arguments as
// Dialect::workgroup_function.
#pragma once

#include <string>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

/// Through subgroups of Target::subgroup lanes. `lanes`: fewer than a workgroup has where each point has no
/// more than a subgroup.
std::string glsl_exchange(const std::string& name, Op op, DType dtype, const std::string& combine,
                          const Target& target, int lanes);
std::string glsl_exchange_welford(const std::string& name, DType dtype, const Target& target, int lanes);

/// The rows of a workgroup's lanes, as Dialect::row_function.
std::string glsl_rows(const std::string& name, Op op, DType dtype, const std::string& combine,
                      const Target& target);

/// Through shared memory alone: independent of how subgroups lie in the workgroup.
std::string glsl_tree(const std::string& name, DType dtype, const std::string& combine, const Target& target);
std::string glsl_tree_welford(const std::string& name, DType dtype, const Target& target);

}  // namespace sinter::emit
