// Counts of whole numbers on the host.
#pragma once

#include <memory>

#include "jit/library/counting.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

std::shared_ptr<HostExecutable> make_count_indices(const library::CountIndicesOp& op);
std::shared_ptr<HostExecutable> make_last_positions(const library::LastPositionsOp& op);
std::shared_ptr<HostExecutable> make_count_steps(const library::CountStepsOp& op);

}  // namespace sinter::runtime::host
