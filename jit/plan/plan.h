// A plan: what a trace becomes. Launches in order, where each buffer lives, what is written in place. Knows
// no device: kernels are still IR.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/traits.h"
#include "jit/library/library_op.h"
#include "jit/plan/moving.h"
#include "jit/plan/origins.h"
#include "jit/plan/scalar_ref.h"
#include "src/trace/trace.h"

namespace sinter::plan {

/// Where a buffer argument comes from.
struct Binding {
  enum class Space : std::uint8_t {
    Input,      // buffer `index` of the trace
    Output,     // new memory number `index` that somebody sees afterwards
    Temporary,  // `byte_offset` into segment `index` of the plan's own arena
  };
  Space space = Space::Temporary;
  std::uint32_t index = 0;
  std::size_t byte_offset = 0;
  friend bool operator==(const Binding&, const Binding&) = default;
};

/// A value in memory that launches read or write.
struct StoredValue {
  std::uint32_t record = 0;  // the op of the trace that it comes from
  trace::ValueId value = 0;  // external: the trace's value
  bool external = false;     // in memory before the trace starts
  DType dtype = DType::f32;
};

/// That a launch reads or writes a value: one of a list of the launch, member after member, in the order of
/// the kernel's buffers before those that are written in place are joined.
struct ValueUse {
  std::uint32_t value = 0;   // place in LaunchStructure::values
  std::uint16_t buffer = 0;  // of the kernel; a library op's, by its order
  bool read = false, written = false;
};

/// A value that no launch writes: the parts lie in its memory, one behind the other, and may be joined values
/// themselves. Places in LaunchStructure::values.
struct JoinedValue {
  std::uint32_t whole = 0;
  std::vector<std::uint32_t> parts;
};

/// How a library op reads an operand: positions in a value in memory, in elements.
struct LibraryRead {
  Shape shape;
  ViewLayout layout;
};
using LibraryReads = std::shared_ptr<const std::vector<LibraryRead>>;  // of all operands

/// One kernel or library op with its arguments. A launch of several members has those of all of them, one
/// after the other. The lists are parts of the plan's (Plan::arguments, Plan::structure).
struct Launch {
  std::variant<std::uint32_t, library::LibraryOpRef> what;  // index in Plan::kernels, or the op
  std::uint32_t members = 1;
  std::uint32_t first_fault = 0;  // of the plan's fault words the launch's first
  std::uint32_t node = 0;         // a library op's, as `Plan::origins` numbers nodes
  std::span<const Binding> buffers;
  std::span<const std::int64_t> ints;
  std::span<const ScalarArgument> scalars;  // in the order of the kernel's
  std::span<const std::uint32_t> records;   // ops of the trace that it computes
  std::span<const ValueUse> uses;           // what it reads and writes
  std::vector<std::uint32_t> moving_ints;   // of `ints` those to which each run adds ...
  std::vector<MovingParts> moving_parts;    // ... these parts
  std::vector<MovingNumber> moving_bytes;   // likewise of the byte offsets of `buffers`
  std::int64_t in_place_bytes = 0;          // results written over a buffer that nobody else sees
  LibraryReads reads;                       // a library op's
};

/// The lists of all launches, one launch after the other: those that sizes change ...
struct LaunchArguments {
  std::vector<Binding> buffers;
  std::vector<std::int64_t> ints;
};
/// ... and those that are the same at all sizes, which plans share.
struct LaunchStructure {
  std::vector<ScalarArgument> scalars;
  std::vector<std::uint32_t> records;
  std::vector<ValueUse> uses;
  std::vector<StoredValue> values;
  std::vector<JoinedValue> joins;  // those of parts before those that they are parts of
};

/// A kernel of a plan, and its text, by which executables are found. Plans share them.
class PlanKernel {
 public:
  PlanKernel(ir::Kernel kernel, std::string text)
      : held_(std::make_shared<const Held>(Held{std::move(kernel), std::move(text)})) {}
  explicit PlanKernel(ir::Kernel kernel) : PlanKernel(kernel, ir::to_string(kernel)) {}

  const ir::Kernel& operator*() const { return held_->kernel; }
  const ir::Kernel* operator->() const { return &held_->kernel; }
  operator const ir::Kernel&() const { return held_->kernel; }
  const std::string& text() const { return held_->text; }
  /// Plans that have it.
  long owners() const { return held_.use_count(); }

 private:
  struct Held {
    ir::Kernel kernel;
    std::string text;
  };
  std::shared_ptr<const Held> held_;
};

/// Why two kernels are not one.
struct PlanCut {
  std::uint32_t producer = 0, consumer = 0;  // ops of the trace
  std::string reason;
  std::uint32_t count = 1;  // pairs on the same lines with the same reason
};

/// Where a value that somebody sees lies afterwards.
struct Placement {
  trace::ValueId value = 0;
  Binding memory;  // Input (the same or a donated buffer) or Output; offset 0
  ViewLayout layout;
};

/// What became of a value that somebody sees afterwards, and why.
struct HeldValue {
  trace::ValueId value = 0;
  std::uint32_t record = 0;  // the op of the trace that it comes from
  bool stored = true;        // else it is a recipe
  const char* reason = "";   // words that live as long as the program
};
inline constexpr const char* kAskedFor = "asked for";  // the usual reason

struct Plan {
  std::vector<PlanKernel> kernels;  // each distinct kernel once
  std::vector<Launch> launches;
  std::shared_ptr<const LaunchArguments> arguments = std::make_shared<const LaunchArguments>();
  std::shared_ptr<const LaunchStructure> structure = std::make_shared<const LaunchStructure>();
  std::vector<Shape> shapes;  // of structure->values
  std::vector<std::size_t> output_bytes;
  std::vector<Placement> placements;
  std::vector<HeldValue> held;            // in the order of the program
  std::vector<trace::Unstored> unstored;  // those of them that are recipes
  std::vector<Scalar> constants;          // numbers that passes wrote, the same in every run
  std::uint32_t faults = 0;               // fault words of all launches
  Origins origins;                        // what came of what
  /// Temporaries lie in segments, each a buffer of its own: one, or as many as a device takes whose buffers
  /// have a limit (DeviceTraits::most_buffer_bytes).
  std::vector<std::size_t> arena_bytes;
  std::size_t in_place_bytes = 0;
  std::vector<PlanCut> cuts;    // why neighbouring kernels stayed apart
  std::size_t input_bytes = 0;  // of the trace's inputs, each buffer once
  std::size_t peak_bytes = 0;   // inputs, results and temporaries: all memory in use while it runs,
                                // but for workspace that a library takes by itself

  /// Of all segments of the arena.
  std::size_t temporary_bytes() const;

  /// The number behind a scalar argument, in a run of `trace`.
  const Scalar& scalar(ScalarRef number, const trace::Trace& trace) const {
    return (number.table == ScalarRef::Table::Plan ? constants : trace.scalars)[number.index];
  }
};

struct PlanOptions {
  bool fusion = true;
  /// Held values of fewer bytes are stored, asked for or not; -1: as suits the device.
  std::int64_t recipe_bytes = -1;
};

/// Plans a trace for a device. The result depends on the trace's structure, the traits and the options only.
Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options);

/// The same with other passes over the graph than `passes()` (jit/plan/rewrite/passes.h).
struct Pass;
Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
               std::span<const Pass> passes);

/// The same, and all that became of the trace on the way, where `kept` is not null.
struct Planned;
Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
               std::span<const Pass> passes, Planned* kept);

/// One launch in a line: its ops and the first source line.
std::string describe(const Launch& launch, const trace::Trace& trace);

/// The plan as readable text: launches with their ops and source lines, memory, cuts.
std::string to_string(const Plan& plan, const trace::Trace& trace);

}  // namespace sinter::plan
