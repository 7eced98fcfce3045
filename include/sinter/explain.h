// What became of a stretch of program: launches with the source lines behind them, memory moved and used, and
// why neighbouring kernels stayed apart. As plain data, text, JSON or a picture.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/shape.h>

namespace sinter {

/// A line of the program, and the operations recorded there, in order.
struct ReportLine {
  std::string file;  // as the compiler was given it
  std::uint32_t line = 0;
  std::vector<std::string> ops;
};

/// What a launch does with one value in memory. Sizes in bytes; an element read many times by one launch
/// counts once.
struct ReportAccess {
  std::string
      label;       // "in0": there before; "out0": seen by somebody afterwards; "tmp0": of use in between only
  std::string op;  // the operation that computes it; empty for "in"
  Shape shape;
  DType dtype = DType::f32;
  bool written = false;  // by this launch; else only read
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::string over;  // written in place: label of the value whose memory it takes
  std::optional<std::size_t>
      written_by;  // read: number of the launch of this trace that wrote it; none for "in"
};

/// One kernel or library operation.
struct ReportLaunch {
  enum class Kind : std::uint8_t { Kernel, Library };
  Kind kind = Kind::Kernel;
  std::uint32_t kernel = 0;       // Kernel: launches with equal numbers run the same compiled kernel
  std::string how;                // how it runs and why so, where the device has a choice
  std::uint32_t members = 1;      // alike small kernels that share the launch, each on values of its own
  std::vector<std::string> ops;   // that it computes, in the order of the program
  std::vector<ReportLine> lines;  // where they were recorded
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t in_place_bytes = 0;  // of bytes_written: over a value that nobody could see any more
  std::int64_t least_bytes = 0;     // its part of ReportTrace::least_bytes
  std::vector<ReportAccess> accesses;
};

/// Why two kernels that follow each other are not one.
struct ReportCut {
  std::string producer, consumer;  // operations
  ReportLine producer_line, consumer_line;
  std::string reason;
  std::uint64_t count = 1;  // pairs with the same lines and reason
};

/// A trace: what was recorded between two flushes, and its plan.
struct ReportTrace {
  std::string device;
  std::size_t ops = 0;
  std::uint64_t times = 1;  // it ran this often
  std::uint64_t built = 0;  // of these: planned anew; the others found the plan
  bool fused = true;        // SINTER_FUSION
  std::vector<ReportLaunch> launches;
  std::vector<ReportCut> cuts;
  std::int64_t bytes_moved = 0;  // read and written by all launches
  /// What every plan of this trace has to move: each element of an input that is needed, read once; each
  /// result that somebody sees afterwards, written once. Elements picked by index (gather) count once for
  /// each pick, at most all.
  std::int64_t least_bytes = 0;
  std::int64_t input_bytes = 0;      // memory of the inputs, each buffer once
  std::int64_t output_bytes = 0;     // new memory for results; those written in place need none
  std::int64_t temporary_bytes = 0;  // of use in between only
  std::int64_t in_place_bytes = 0;
  std::int64_t peak_bytes = 0;  // inputs + outputs + temporaries, known before anything runs; without what a
                                // library takes as workspace and values that the trace does not touch
};

/// Everything that was handed to devices while `explain` watched, each different trace once.
class SINTER_API Report {
 public:
  std::vector<ReportTrace> traces;  // in the order in which they first came

  /// Kernels and library operations started, repetitions included.
  std::uint64_t launches() const;

  /// For people, in a terminal.
  std::string to_text() const;
  /// The same data as one JSON object; the names are those of the members above.
  std::string to_json() const;
  /// A picture: launches from top to bottom, arrows for values, a bar for the bytes each moves and the part
  /// of them that no plan can save. Plain SVG without script.
  std::string to_svg() const;
  /// Writes a file whose form follows from its name (.txt, .json, .svg), or with any other name a folder with
  /// plan.txt, plan.json and plan.svg. Throws Error where that cannot be written.
  void save(const std::filesystem::path& path) const;
};

namespace detail {
SINTER_API Report explain(const std::function<void()>& program);
}

/// Runs `program` and reports what it became. What was recorded before is flushed first and is not part of
/// the report; what `program` records is flushed at its end, on all devices. What it returns is kept until
/// then, so that it counts as seen by somebody: return what you would keep. Work of other threads in the
/// meantime is reported too. Exceptions of `program` pass through. On Device::null() everything is planned
/// and nothing runs, so sizes cost no memory.
///
///   std::cout << sinter::explain([&] { return softmax(x, 1); }).to_text();
template <std::invocable Program>
Report explain(Program&& program) {
  using Result = std::invoke_result_t<Program&>;
  if constexpr (std::is_void_v<Result>) {
    return detail::explain([&] { std::invoke(program); });
  } else {
    std::optional<std::remove_cvref_t<Result>> kept;
    return detail::explain([&] { kept.emplace(std::invoke(program)); });
  }
}

}  // namespace sinter
