// The argument table of a batched launch, which runs one kernel on several independent sets of arguments
// ("members").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/emit/emit.h"
#include "src/runtime/backend.h"

namespace sinter::runtime {

/// The arguments of member `m` alone.
LaunchArguments arguments_of(const ir::Kernel& kernel, const LaunchArguments& arguments, std::size_t m);

/// Appends the arguments of all members in the format of `layout`. `addresses` are those of all buffers.
void pack_members(const ir::Kernel& kernel, const emit::MemberLayout& layout,
                  const LaunchArguments& arguments, std::span<const std::uint64_t> addresses,
                  std::span<const emit::MemberPlace> places, std::vector<std::byte>& table);

}  // namespace sinter::runtime
