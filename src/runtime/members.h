// The table of arguments of a launch that runs one kernel for several members.
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

/// Appends all members' arguments, laid out as `layout` says. `addresses`: of all buffers; `firsts`: the
/// first group of each member.
void pack_members(const ir::Kernel& kernel, const emit::MemberLayout& layout,
                  const LaunchArguments& arguments, std::span<const std::uint64_t> addresses,
                  std::span<const std::uint32_t> firsts, std::vector<std::byte>& table);

}  // namespace sinter::runtime
