// Controls and counters of the emulated driver for tests. Found with dlsym(driver,
// "sinter_emulation_control"); a real driver has no such symbol.
#pragma once

#include <cstdint>

namespace sinter_emulation {

struct Control {
  // Counts down to a kernel launch that fails: 1 is the next one; 0: none.
  int fail_launch;
  // Count down to a call that fails: 1 is the next one; 0: none. Allocations (out of memory): device memory,
  // page-locked memory, streams, events. Starts (with `start_error`): kernel launches and calls that make,
  // change or launch graphs.
  int fail_allocation, fail_start, start_error;
  // After `fail_allocation` has come to its end, all others fail, too.
  bool no_more_memory;
  // The number of next calls that fail: two with out of memory, a launch in general.
  int fail_graph_instantiate, fail_graph_update, fail_graph_launch;
  // Of the emulated cuBLASLt: it suggests no algorithms; the number of next products that fail.
  bool library_finds_nothing;
  int fail_library;
  // Launches do nothing; also with SINTER_EMULATION_IDLE=1. For measuring host time.
  bool idle;
  // Calls so far.
  std::uint64_t grids;  // kernels run, including those in graphs
  std::uint64_t launches, graph_launches, graph_updates, graphs_instantiated;
  std::uint64_t early_edges;  // of programmatic dependent launch, in graphs
  // Of cuBLASLt: products put on a stream, captured ones included; handles and descriptors that were not
  // destroyed yet.
  std::uint64_t library_calls, library_objects;
  // Executable graphs that were not destroyed yet.
  std::uint64_t graphs_alive;
};

/// sinter_emulation_control.
using ControlFunction = Control* (*)();

}  // namespace sinter_emulation
