// The parameters of a kernel's variants by their names: what stores, log lines and SINTER_TUNE_... write.
//
// A family is a kind of kernel whose variants have the same parameters. What a variant is stands in
// ir::Tiling; this file and its source are the only ones here that know its members. One more family has a
// name in `family_of`, its parameters in the table of the source, its candidates in plan::ranked_tilings, and
// its SINTER_TUNE_... in src/base/env.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::tune {

/// Of the kernels with such a tiling: "TENSOR_CORES", or "COMPUTED_FACTORS" where the device cannot copy a
/// factor. The environment's SINTER_TUNE_... ends in it.
std::string_view family_of(const ir::Tiling& tiling);

/// "rows=128,columns=256,slots=4,workgroups=1,turns=0,loaders=1", "rows=128,columns=256,slots=3,workgroups=1,
/// subgroup_rows=64", "rows=8,columns=16,slots=3,workgroups=1,sharers=16,near=0", or
/// "library=1,version=130101".
std::string describe(const ir::Tiling& tiling);

/// True iff this describes a vendor's library, or a pin asks for one.
bool names_library(std::string_view parameters);

/// What of a tiling is no parameter but follows from the kernel.
std::string layout_of(const ir::Tiling& tiling);

/// The candidate that is described so; null where there is none.
const ir::Tiling* find_described(std::span<const ir::Tiling> candidates, std::string_view description);

/// The first candidate that has the parameters of `pin`, "rows=128,slots=3": `slots` may be fewer than the
/// candidate's. Throws Error, with what is allowed, where there is none.
ir::Tiling pinned(std::span<const ir::Tiling> candidates, const std::string& pin);

}  // namespace sinter::tune
