// Goes along the axis with some columns at a time. A few long rows are cut into chunks, by their sizes alone:
// chunks are joined first, then each begins with what is before it.
#include "src/runtime/host/products/scan.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "src/runtime/host/buffer.h"

namespace sinter::runtime::host {
namespace {

using library::ScanKind;

// 16 lines of f32 results side by side.
constexpr std::int64_t kColumns = 64;
constexpr std::int64_t kChunk = 1 << 15;     // elements along the axis
constexpr std::int64_t kPieces = 32;         // with as many, rows need not be cut
constexpr std::int64_t kElements = 1 << 14;  // what is too little to share

/// Sums and products of f32 are rounded once for each result.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
/// Integers wrap around, which only those without a sign may do.
template <class T>
using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<Wide<T>>>::type;

template <class T>
struct Sum {
  using State = Unsigned<T>;
  static State first(T x, std::int64_t) { return static_cast<State>(x); }
  static State join(State a, State b) { return a + b; }
  static T result(State state) { return static_cast<T>(state); }
};
template <class T>
struct Prod : Sum<T> {
  using State = Unsigned<T>;
  static State join(State a, State b) { return a * b; }
};
template <class T>
struct LogSumExp {
  using State = Wide<T>;
  static State first(T x, std::int64_t) { return x; }
  static State join(State a, State b) {
    const State high = a < b ? b : a, low = a < b ? a : b;
    return high + std::log1p(low == high ? State{1} : std::exp(low - high));
  }
  static T result(State state) { return static_cast<T>(state); }
};
/// The last of equal extremes; NaN is one.
template <class T, bool Max>
struct Extreme {
  struct State {
    T value;
    std::int32_t position;
  };
  static State first(T x, std::int64_t position) { return {x, static_cast<std::int32_t>(position)}; }
  static State join(State a, State b) {
    const bool takes =
        b.value != b.value || (a.value == a.value && (Max ? b.value >= a.value : b.value <= a.value));
    return takes ? b : a;
  }
  static std::int32_t result(State state) { return state.position; }
};

template <class T, class Result, class Join>
class ScanProgram final : public HostExecutable {
 public:
  explicit ScanProgram(const library::ScanOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return chunks() == 1 ? 0 : whole_units(static_cast<std::size_t>(chunks() * columns()) * sizeof(State));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.numel() == 0) return;
    const auto* x = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    auto* y = reinterpret_cast<Result*>(data_of(arguments.buffers[1]));
    const std::int64_t pieces = blocks() * chunks();
    const auto each = [&](std::int64_t count, const auto& work) {
      if (op_.numel() < kElements)
        for (std::int64_t i = 0; i < count; ++i) work(i);
      else
        workers.pool().run(static_cast<std::size_t>(count),
                           [&](std::size_t i, std::size_t) { work(static_cast<std::int64_t>(i)); });
    };
    if (chunks() == 1) return each(pieces, [&](std::int64_t i) { scan(x, y, i, 0, nullptr); });
    auto* totals = reinterpret_cast<State*>(
        workers.take(static_cast<std::size_t>(chunks() * columns()) * sizeof(State)));
    each(pieces, [&](std::int64_t i) { add_up(x, i / chunks(), i % chunks(), totals); });
    for (std::int64_t c = 1; c < chunks(); ++c)
      for (std::int64_t k = 0; k < columns(); ++k)
        totals[c * columns() + k] = Join::join(totals[(c - 1) * columns() + k], totals[c * columns() + k]);
    each(pieces, [&](std::int64_t i) { scan(x, y, i / chunks(), i % chunks(), totals); });
  }

 private:
  using State = typename Join::State;

  std::int64_t columns() const { return op_.outer * op_.inner; }
  std::int64_t wide() const { return (op_.inner + kColumns - 1) / kColumns; }
  std::int64_t blocks() const { return op_.outer * wide(); }
  std::int64_t chunks() const {
    return blocks() >= kPieces ? 1 : std::max<std::int64_t>((op_.length + kChunk - 1) / kChunk, 1);
  }

  struct Block {
    const T* x;
    std::int64_t column, width;  // among all columns
    std::int64_t slice;
  };
  Block block(const T* x, std::int64_t number) const {
    const std::int64_t slice = number / wide(), first = number % wide() * kColumns;
    return {x + slice * op_.x_outer + first * op_.x_inner, slice * op_.inner + first,
            std::min(kColumns, op_.inner - first), slice};
  }
  std::int64_t begin_of(std::int64_t chunk) const { return chunk * kChunk; }
  std::int64_t end_of(std::int64_t chunk) const {
    return chunks() == 1 ? op_.length : std::min(op_.length, (chunk + 1) * kChunk);
  }
  std::int64_t at(std::int64_t j) const { return op_.reverse ? op_.length - 1 - j : j; }
  State first(const Block& b, std::int64_t place, std::int64_t c) const {
    return Join::first(b.x[place * op_.x_step + c * op_.x_inner], place);
  }

  void add_up(const T* x, std::int64_t number, std::int64_t chunk, State* totals) const {
    const Block b = block(x, number);
    State* total = totals + chunk * columns() + b.column;
    for (std::int64_t j = begin_of(chunk); j < end_of(chunk); ++j)
      for (std::int64_t c = 0; c < b.width; ++c) {
        const State next = first(b, at(j), c);
        total[c] = j == begin_of(chunk) ? next : Join::join(total[c], next);
      }
  }

  void scan(const T* x, Result* y, std::int64_t number, std::int64_t chunk, const State* totals) const {
    const Block b = block(x, number);
    const State* before = chunk > 0 ? totals + (chunk - 1) * columns() + b.column : nullptr;
    State states[kColumns] = {};
    for (std::int64_t j = begin_of(chunk); j < end_of(chunk); ++j) {
      Result* to = y + (b.slice * op_.length + at(j)) * op_.inner + (b.column - b.slice * op_.inner);
      const bool begins = j == begin_of(chunk) && !before;
      for (std::int64_t c = 0; c < b.width; ++c) {
        const State next = first(b, at(j), c);
        if (j == begin_of(chunk) && before) states[c] = before[c];
        if (op_.exclusive) to[c] = begins ? Result{0} : Join::result(states[c]);
        states[c] = begins ? next : Join::join(states[c], next);
        if (!op_.exclusive) to[c] = Join::result(states[c]);
      }
    }
  }

  library::ScanOp op_;
};

template <class T>
std::shared_ptr<HostExecutable> scan_of(const library::ScanOp& op) {
  switch (op.scan) {
    case ScanKind::Sum: return std::make_shared<ScanProgram<T, T, Sum<T>>>(op);
    case ScanKind::Prod: return std::make_shared<ScanProgram<T, T, Prod<T>>>(op);
    case ScanKind::MaxPosition: return std::make_shared<ScanProgram<T, std::int32_t, Extreme<T, true>>>(op);
    case ScanKind::MinPosition: return std::make_shared<ScanProgram<T, std::int32_t, Extreme<T, false>>>(op);
    case ScanKind::LogSumExp: break;
  }
  if constexpr (std::is_floating_point_v<T>) return std::make_shared<ScanProgram<T, T, LogSumExp<T>>>(op);
  throw DeviceError("[scan] the host takes logarithms of f32 and f64, not " +
                    std::string(name_of(op.x_dtype)));
}

}  // namespace

std::shared_ptr<HostExecutable> make_scan(const library::ScanOp& op) {
  switch (op.x_dtype) {
    case DType::f32: return scan_of<float>(op);
    case DType::f64: return scan_of<double>(op);
    case DType::i32: return scan_of<std::int32_t>(op);
    case DType::i64: return scan_of<std::int64_t>(op);
    default: break;
  }
  throw DeviceError("[scan] the host scans f32, f64, i32 and i64, not " + std::string(name_of(op.x_dtype)));
}

}  // namespace sinter::runtime::host
