// Bounds the loop iterations of a kernel: llvmpipe ends loops early after too many.
#pragma once

#include <cstdint>
#include <span>

#include "jit/emit/emit.h"
#include "jit/ir/kernel.h"

namespace sinter::runtime::vulkan {

/// llvmpipe (Mesa's software device, at least up to 22.3) lets one invocation run 65,535 loop iterations in
/// all and then silently leaves its loops. The margin covers what the bound below does not count.
inline constexpr std::int64_t kMostRounds = 60000;

/// An upper bound of one lane's iterations over all loops of the text that jit/emit makes.
std::int64_t rounds_of_lane(const ir::Kernel& kernel, const emit::Target& target,
                            const emit::Geometry& geometry, std::span<const std::int64_t> ints);

}  // namespace sinter::runtime::vulkan
