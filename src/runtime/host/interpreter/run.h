// Runs a kernel's code on all threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/backend.h"
#include "src/runtime/host/interpreter/code.h"
#include "src/runtime/host/threads/workers.h"

namespace sinter::runtime::host {

/// Runs the code with the given arguments. An index out of range sets its word of `faults` to 1.
void run_code(const Code& code, Workers workers, const LaunchArguments& arguments, std::uint32_t* faults);

/// The working memory of `run_code` with at most so many threads.
std::size_t working_bytes(const Code& code, std::size_t threads);

}  // namespace sinter::runtime::host
