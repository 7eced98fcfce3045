// What tests of the emulated driver can see and set. Found with dlsym(driver, "sinter_emulation_control"); a
// real driver has no such symbol.
#pragma once

#include <cstdint>

namespace sinter_emulation {

struct Control {
  // The launch of a kernel that fails: 1 is the next one; 0: none.
  int fail_launch;
  // The next so many calls fail for want of memory.
  int fail_graph_instantiate, fail_graph_update, fail_graph_launch;
  // Launches do nothing; also where SINTER_EMULATION_IDLE=1. For measuring what the host does.
  bool idle;
  // Calls so far.
  std::uint64_t grids;  // kernels that were run, in graphs too
  std::uint64_t launches, graph_launches, graph_updates, graphs_instantiated;
  // Executable graphs that were not destroyed yet.
  std::uint64_t graphs_alive;
};

/// sinter_emulation_control.
using ControlFunction = Control* (*)();

}  // namespace sinter_emulation
