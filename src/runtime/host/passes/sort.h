// Sorts and searches on the host.
#pragma once

#include <memory>

#include "jit/library/sort.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_sort(const library::SortOp& op);
std::shared_ptr<HostExecutable> make_search_sorted(const library::SearchSortedOp& op);

}  // namespace sinter::runtime::host
