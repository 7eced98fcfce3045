// A plan: what a trace becomes. Launches in order, where each buffer lives, what is written in place. Knows no device:
// kernels are still IR.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/library_op.h"
#include "jit/ir/traits.h"
#include "src/trace/trace.h"

namespace sinter::plan {

/// Where a buffer argument comes from.
struct Binding {
  enum class Space : std::uint8_t {
    Input,      // buffer `index` of the trace
    Output,     // new memory number `index` that somebody sees afterwards
    Temporary,  // `byte_offset` into the plan's own arena
  };
  Space space = Space::Temporary;
  std::uint32_t index = 0;
  std::size_t byte_offset = 0;
  friend bool operator==(const Binding&, const Binding&) = default;
};

/// One kernel or library op with its arguments. A launch of several members has those of all of them, one after the other.
struct Launch {
  std::variant<std::uint32_t, ir::LibraryOp> what;   // index in Plan::kernels, or the op
  std::uint32_t members = 1;
  std::vector<Binding> buffers;
  std::vector<std::int64_t> ints;
  std::vector<std::pair<std::uint32_t, DType>> scalars;  // index in the trace's table, dtype wanted
  std::vector<std::uint32_t> records;                // ops of the trace that it computes
  std::int64_t in_place_bytes = 0;                   // results written over a buffer that nobody else sees
};

/// Where a value that somebody sees lies afterwards.
struct Placement {
  trace::ValueId value = 0;
  Binding memory;                                    // Input (the same or a donated buffer) or Output; offset 0
  trace::Layout layout;
};

struct Plan {
  std::vector<ir::Kernel> kernels;                   // each distinct kernel once
  std::vector<Launch> launches;
  std::vector<std::size_t> output_bytes;
  std::vector<Placement> placements;
  std::size_t arena_bytes = 0;                       // temporaries
  std::size_t in_place_bytes = 0;
  std::vector<std::string> cuts;                     // why neighbouring kernels stayed apart
};

struct PlanOptions {
  bool fusion = true;
};

/// Plans a trace for a device. The result depends on the trace's structure, the traits and the options only.
Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options);

/// One launch in a line: its ops and the first source line.
std::string describe(const Launch& launch, const trace::Trace& trace);

/// The plan as readable text: launches with their ops and source lines, memory, cuts.
std::string to_string(const Plan& plan, const trace::Trace& trace);

}  // namespace sinter::plan
