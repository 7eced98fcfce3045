// What becomes of a Vulkan device when the process ends.
#pragma once

#include "src/base/exit_gate.h"

namespace sinter::runtime::vulkan {

class Commands;

/// Drivers work in threads of their own with libraries whose static objects end with the process: llvmpipe
/// compiles with LLVM what it has been given to run. So when the gate closes, every queue works off what it
/// has, and nothing is compiled or run afterwards. What was computed can still be read.
base::ExitGate& gate();

/// Throws DeviceError unless the entry is allowed. A thread that goes on while another one ends the process
/// usually ends with it: it is told only after some seconds.
void require(const base::ExitGate::Entry& entry);

/// From now on the queue is worked off before the process ends.
void finish_with_process(Commands& commands);
void forget(Commands& commands) noexcept;

}  // namespace sinter::runtime::vulkan
