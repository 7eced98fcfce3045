// One launch as a run of its own, which is no plan's.
#pragma once

#include <cstdint>

#include "src/runtime/backend.h"

namespace sinter::testing {

/// Compiles what still has to be and runs it. `faults`: the launch's fault words.
inline runtime::FaultReportRef run_alone(runtime::Backend& backend, runtime::Executable& executable,
                                         const runtime::LaunchArguments& arguments,
                                         std::uint32_t faults = 0) {
  backend.wait_until_ready(executable, arguments.ints, arguments.members);
  backend.begin(nullptr, {executable.workspace_bytes(arguments.ints, arguments.members), faults});
  try {
    backend.launch(executable, arguments);
    return backend.submit();
  } catch (...) {
    backend.abandon();
    throw;
  }
}

}  // namespace sinter::testing
