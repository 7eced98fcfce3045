// Reports of how a piece of program was planned: launches with the source lines they compute, memory moved
// and used, and why neighbouring kernels did not fuse. As plain data, text, JSON or a picture.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/function.h>
#include <sinter/path.h>
#include <sinter/shape.h>

namespace sinter {

/// A source line of the program, and the operations recorded there, in order.
struct ReportLine {
  std::string file;  // path as passed to the compiler
  std::uint32_t line = 0;
  std::vector<std::string> ops;
};

/// How a launch accesses one value in memory. Sizes in bytes; an element that one launch reads many times
/// counts once.
struct ReportAccess {
  std::string label;  // "in0": input of the trace; "out0": result that is still held; "tmp0": temporary
  std::string op;     // the operation that computes it; empty for "in"
  Shape shape;
  DType dtype = DType::f32;
  bool written = false;  // by this launch; false: only read
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::string over;  // written in place: label of the value whose memory it overwrites
  std::optional<std::size_t>
      written_by;  // read: index of the launch in this trace that wrote it; none for "in"
};

/// One kernel or library operation.
struct ReportLaunch {
  enum class Kind : std::uint8_t { Kernel, Library };
  Kind kind = Kind::Kernel;
  std::uint32_t kernel = 0;       // index of the compiled kernel; several launches may share one
  std::string how;                // how it runs and why, where the device has a choice
  std::uint32_t members = 1;      // sets of arguments in this launch (a batch of small, equal kernels)
  std::vector<std::string> ops;   // operations it computes, in program order
  std::vector<ReportLine> lines;  // where they were recorded
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t in_place_bytes = 0;  // part of bytes_written that overwrites dead values
  std::int64_t least_bytes = 0;     // its part of ReportTrace::least_bytes
  std::vector<ReportAccess> accesses;
};

/// The reason why two consecutive kernels did not fuse.
struct ReportCut {
  std::string producer, consumer;  // operations
  ReportLine producer_line, consumer_line;
  std::string reason;
  std::uint64_t count = 1;  // pairs of kernels with the same lines and reason
};

/// Values that somebody still holds after a trace, and what became of them.
struct ReportHeld {
  std::string op;
  ReportLine line;
  Shape shape;
  DType dtype = DType::f32;
  bool stored = true;       // else nothing was written: it is computed when it is asked for
  std::string reason;       // "asked for", "small", ...
  std::uint64_t count = 1;  // values of the same line, type and reason
};

/// A trace (the operations recorded between two flushes) and its plan.
struct ReportTrace {
  std::string device;
  std::size_t ops = 0;
  std::uint64_t times = 1;  // how often it ran
  std::uint64_t built = 0;  // runs that had to build the plan; the others found it cached
  bool fused = true;        // SINTER_FUSION
  std::vector<ReportLaunch> launches;
  std::vector<ReportCut> cuts;
  std::vector<ReportHeld> held;  // in the order of the program
  std::int64_t bytes_moved = 0;  // read and written by all launches
  /// Bytes that any plan of this trace has to move: each needed element of an input, read once; each result
  /// that is still held, written once. Elements read by index (gather) count once per read, but at most the
  /// whole input.
  std::int64_t least_bytes = 0;
  std::int64_t input_bytes = 0;      // memory of the inputs, each buffer once
  std::int64_t output_bytes = 0;     // new memory for results, without those written in place
  std::int64_t temporary_bytes = 0;  // memory of values that only this trace uses
  std::int64_t in_place_bytes = 0;
  std::int64_t peak_bytes = 0;  // inputs + outputs + temporaries, known before anything runs; without the
                                // workspace of libraries and values that the trace does not use
};

/// Everything that devices ran during `explain`; equal traces appear once.
class SINTER_API Report {
 public:
  std::vector<ReportTrace> traces;  // in the order of their first run

  /// Number of launched kernels and library operations, repetitions included.
  std::uint64_t launches() const;

  /// For people, in a terminal.
  std::string to_text() const;
  /// The same data as one JSON object; the names are those of the members above.
  std::string to_json() const;
  /// A picture: launches from top to bottom, arrows for values, for each launch a bar of the bytes it moves
  /// and the part of them that no plan can save. Plain SVG without script.
  std::string to_svg() const;
  /// Writes one file in the format of its extension (.txt, .json, .svg). Any other name makes a folder with
  /// plan.txt, plan.json and plan.svg. Throws Error where that cannot be written.
  void save(const Path& path) const;
};

namespace detail {
SINTER_API Report explain(const Function<void()>& program);
}

/// Runs `program` and reports how it was planned. Operations recorded before are flushed first and are not
/// part of the report; at the end of `program` all devices are flushed. The report counts what `program`
/// returns as still held: return the values that the real program would hold. Work that other threads submit
/// meanwhile is reported too. Exceptions of `program` pass through. On Device::null() everything is planned
/// and nothing runs, so large sizes cost no memory.
///
///   std::cout << sinter::explain([&] { return softmax(x, 1); }).to_text();
template <std::invocable Program>
Report explain(Program&& program) {
  using Result = std::invoke_result_t<Program&>;
  if constexpr (std::is_void_v<Result>) {
    return detail::explain([&] { program(); });
  } else {
    std::optional<std::remove_cvref_t<Result>> kept;
    return detail::explain([&] { kept.emplace(program()); });
  }
}

}  // namespace sinter
