// How often the loops of a kernel go round: llvmpipe ends them too early when it is too often.
#pragma once

#include <cstdint>
#include <span>

#include "jit/emit/emit.h"
#include "jit/ir/kernel.h"

namespace sinter::runtime::vulkan {

/// llvmpipe (Mesa's device in software, at least up to 22.3) lets one invocation go round its loops 65,535
/// times in all and then leaves them without a word. Some room is kept for what the count below does not
/// know.
inline constexpr std::int64_t kMostRounds = 60000;

/// An upper bound of the rounds of one lane in all loops of the text that jit/emit makes, in 63 bits at most.
std::int64_t rounds_of_lane(const ir::Kernel& kernel, const emit::Target& target,
                            const emit::Geometry& geometry, std::span<const std::int64_t> ints);

}  // namespace sinter::runtime::vulkan
