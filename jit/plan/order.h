// Passes `order` and `batch`: kernels and library ops as steps, producers first, and small alike kernels in
// one launch.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/traits.h"
#include "jit/plan/place.h"

namespace sinter::plan {

/// A step for each kernel and library op, in the order of the program as far as producers allow.
std::vector<Step> make_steps(const Grouping& grouping);

/// How many steps the longest chain has that ends with each step, of those that read what the one before
/// wrote.
std::vector<std::uint32_t> depths_of(const std::vector<Step>& steps);

/// Steps that run the same kernel and do not depend on each other become one step of several members, as many
/// as the device's arguments allow. Where launches may run at the same time, chains get no longer by that.
void batch(const Graph& graph, const Grouping& grouping, const ir::DeviceTraits& traits,
           std::vector<Step>& steps);

/// Steps whose results nobody here reads come behind those that read an input which a result could be written
/// over: parameters that an optimizer changes keep their memory.
void put_updates_last(const Graph& graph, std::vector<Step>& steps);

/// How many members one launch of a kernel may have.
std::size_t most_members(const ir::Kernel& kernel, const ir::DeviceTraits& traits);

/// The size of the table of arguments for so many members: few sizes, as each is a kernel of its own.
std::size_t table_size(std::size_t members);

}  // namespace sinter::plan
