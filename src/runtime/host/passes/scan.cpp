// Goes along one sequence after the other, by vectors, where its elements are neighbours, else along the axis
// with some columns at a time. A few long sequences are cut into chunks, by their sizes alone: chunks are
// joined first, then each begins with what is before it.
#include "src/runtime/host/passes/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/passes/row_buckets.h"
#include "src/runtime/host/passes/scan_lines.h"

namespace sinter::runtime::host {
namespace {

using library::ScanKind;

// 16 lines of f32 results side by side.
constexpr std::int64_t kColumns = 64;
constexpr std::int64_t kChunk = 1 << 15;     // elements along the axis
constexpr std::int64_t kPieces = 32;         // with as many, rows need not be cut
constexpr std::int64_t kElements = 1 << 14;  // what is too little to share

template <class T>
struct Sum {
  using State = ScanNumber<T>;
  static State none() { return 0; }
  static State first(T x, std::int64_t) { return static_cast<State>(x); }
  static State join(State a, State b) { return a + b; }
  static T result(State state) { return static_cast<T>(state); }
  static State go_along(const T* x, std::int64_t n, std::int64_t, State before, T* y) {
    return scan_sums(x, n, before, y);
  }
};
template <class T>
struct Prod : Sum<T> {
  using State = ScanNumber<T>;
  static State none() { return 1; }
  static State join(State a, State b) { return a * b; }
  static State go_along(const T* x, std::int64_t n, std::int64_t, State before, T* y) {
    return scan_products(x, n, before, y);
  }
};
/// The greatest element, and the sum of what all are beside it: between 1 and their number.
template <class T>
struct LogSumExp {
  using Wide = ScanNumber<T>;
  struct State {
    Wide most, sum;
  };
  static State none() { return {-std::numeric_limits<Wide>::infinity(), 0}; }
  static State first(T x, std::int64_t) { return {x, 1}; }
  static State join(State a, State b) {
    if (a.most < b.most) std::swap(a, b);
    // Infinities have no difference.
    return {a.most, a.sum + b.sum * (b.most == a.most ? Wide{1} : std::exp(b.most - a.most))};
  }
  static T result(State state) { return static_cast<T>(state.most + std::log(state.sum)); }
  static State go_along(const T* x, std::int64_t n, std::int64_t, State before, T* y) {
    for (std::int64_t i = 0; i < n; ++i) {
      before = join(before, first(x[i], 0));
      if (y) y[i] = result(before);
    }
    return before;
  }
};
/// The last of equal extremes; NaN is one.
template <class T, bool kMax>
struct Extreme {
  using State = ExtremeState<T>;
  static State none() { return {std::numeric_limits<ExtremeKey<T>>::lowest(), -1}; }
  static State first(T x, std::int64_t position) {
    return {extreme_key<kMax>(x), static_cast<std::int32_t>(position)};
  }
  static State join(State a, State b) { return b.key >= a.key ? b : a; }
  static std::int32_t result(State state) { return state.position; }
  static State go_along(const T* x, std::int64_t n, std::int64_t position, State before, std::int32_t* y) {
    const auto first = static_cast<std::int32_t>(position);
    return kMax ? scan_greatest(x, n, first, before, y) : scan_least(x, n, first, before, y);
  }
};

/// Sequences one by one: their elements lie side by side, or are brought so.
template <class T, class Result, class Join>
class LineScanProgram final : public HostExecutable {
 public:
  explicit LineScanProgram(const library::ScanOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host, by lines"; }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return chunks() == 1 ? 0 : whole_units(static_cast<std::size_t>(chunks() * op_.outer) * sizeof(State));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.numel() == 0) return;
    const auto* x = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    auto* y = reinterpret_cast<Result*>(data_of(arguments.buffers[1]));
    const bool shared = op_.numel() >= kElements;
    if (chunks() == 1) {
      const std::int64_t each = std::max<std::int64_t>(kElements / op_.length, 1);
      return for_each_piece(workers.pool(), shared, (op_.outer + each - 1) / each, [&](std::int64_t i) {
        for (std::int64_t row = i * each; row < std::min((i + 1) * each, op_.outer); ++row)
          scan(x, y, row, 0, op_.length, Join::none());
      });
    }
    auto* totals = reinterpret_cast<State*>(
        workers.take(static_cast<std::size_t>(chunks() * op_.outer) * sizeof(State)));
    const auto each_chunk = [&](const auto& work) {
      for_each_piece(workers.pool(), shared, op_.outer * chunks(), [&](std::int64_t i) {
        const std::int64_t begin = i % chunks() * kChunk;
        work(i, i / chunks(), begin, std::min(begin + kChunk, op_.length));
      });
    };
    each_chunk([&](std::int64_t i, std::int64_t row, std::int64_t begin, std::int64_t end) {
      totals[i] = scan(x, nullptr, row, begin, end, Join::none());
    });
    for (std::int64_t i = 0; i < op_.outer * chunks(); ++i)
      if (i % chunks() > 0) totals[i] = Join::join(totals[i - 1], totals[i]);
    each_chunk([&](std::int64_t i, std::int64_t row, std::int64_t begin, std::int64_t end) {
      scan(x, y, row, begin, end, begin > 0 ? totals[i - 1] : Join::none());
    });
  }

 private:
  using State = typename Join::State;
  static constexpr std::int64_t kBlock = 1024;

  std::int64_t chunks() const { return op_.outer >= kPieces ? 1 : (op_.length + kChunk - 1) / kChunk; }

  /// The elements from `begin` to `end` in the order of the scan; without y what they come to.
  State scan(const T* x, Result* y, std::int64_t row, std::int64_t begin, std::int64_t end,
             State state) const {
    x += row * op_.x_outer;
    if (y) y += row * op_.length;
    if (op_.x_step == 1 && !op_.reverse && !op_.exclusive)
      return Join::go_along(x + begin, end - begin, begin, state, y ? y + begin : nullptr);
    T from[kBlock];
    Result to[kBlock];
    for (; begin < end; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, end - begin);
      const auto at = [&](std::int64_t i) { return op_.reverse ? op_.length - 1 - begin - i : begin + i; };
      for (std::int64_t i = 0; i < n; ++i) from[i] = x[at(i) * op_.x_step];
      const Result before = Join::result(state);
      state = Join::go_along(from, n, begin, state, y ? to : nullptr);
      if (!y) continue;
      for (std::int64_t i = 0; i < n; ++i) {
        Result result = op_.exclusive ? (i > 0 ? to[i - 1] : before) : to[i];
        if constexpr (kPositions)
          if (op_.reverse) result = static_cast<Result>(op_.length - 1) - result;
        y[at(i)] = result;
      }
    }
    return state;
  }
  static constexpr bool kPositions =
      std::is_same_v<Join, Extreme<T, true>> || std::is_same_v<Join, Extreme<T, false>>;

  const library::ScanOp op_;
};

/// Some columns at a time, beside each other.
template <class T, class Result, class Join>
class ColumnScanProgram final : public HostExecutable {
 public:
  explicit ColumnScanProgram(const library::ScanOp& op) : op_(op) {}
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

template <class T, class Result, class Join>
std::shared_ptr<HostExecutable> program_of(const library::ScanOp& op) {
  if (op.inner == 1) return std::make_shared<LineScanProgram<T, Result, Join>>(op);
  return std::make_shared<ColumnScanProgram<T, Result, Join>>(op);
}

template <class T>
std::shared_ptr<HostExecutable> scan_of(const library::ScanOp& op) {
  switch (op.scan) {
    case ScanKind::Sum: return program_of<T, T, Sum<T>>(op);
    case ScanKind::Prod: return program_of<T, T, Prod<T>>(op);
    case ScanKind::MaxPosition: return program_of<T, std::int32_t, Extreme<T, true>>(op);
    case ScanKind::MinPosition: return program_of<T, std::int32_t, Extreme<T, false>>(op);
    case ScanKind::LogSumExp: break;
  }
  if constexpr (std::is_floating_point_v<T>) return program_of<T, T, LogSumExp<T>>(op);
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
