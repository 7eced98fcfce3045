// Counts or sorts indices, and adds the values of each segment in the order of their positions. Who adds what
// does not depend on the threads, and neither does a sum.
#include "src/runtime/host/passes/segments.h"

#include <algorithm>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/passes/join_terms.h"

namespace sinter::runtime::host {
namespace {

// Counting goes over all rows, sorting over the indices some twenty times.
constexpr std::int64_t kRowsWorthCounting = 20;

using library::SegmentReduction;

class SortIndicesProgram final : public HostExecutable {
 public:
  explicit SortIndicesProgram(const library::SortIndicesOp& op) : op_(op) {}
  std::string describe() const override {
    return op_.describe() + (counts() ? " by counting" : " by sorting");
  }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return counts() ? 0 : whole_units(static_cast<std::size_t>(op_.count) * sizeof(std::uint64_t));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* keys = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[0]));
    auto* first = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    std::int32_t* sorted = first + op_.rows;
    counts() ? count(keys, first, sorted) : sort(workers, keys, first, sorted);
  }

 private:
  bool counts() const { return op_.rows <= kRowsWorthCounting * op_.count; }

  /// An index out of range was told of before and stands for row 0 here.
  std::size_t row_of(std::int32_t key) const {
    return key >= 0 && key < op_.rows ? static_cast<std::size_t>(key) : 0;
  }

  void count(const std::int32_t* keys, std::int32_t* first, std::int32_t* sorted) const {
    std::int32_t* positions = sorted + op_.count;
    std::fill_n(first, op_.rows, 0);
    if (op_.rows == 0) return;
    for (std::int64_t i = 0; i < op_.count; ++i) ++first[row_of(keys[i])];
    std::int32_t before = 0;
    for (std::int64_t r = 0; r < op_.rows; ++r) before += std::exchange(first[r], before);
    for (std::int64_t i = 0; i < op_.count; ++i) {
      const std::size_t row = row_of(keys[i]);
      const std::int32_t place = first[row]++;  // ends where the next row's indices begin
      sorted[place] = static_cast<std::int32_t>(row);
      positions[place] = static_cast<std::int32_t>(i);
    }
    const auto none = static_cast<std::int32_t>(op_.count);
    for (std::int64_t r = op_.rows - 1, end = 0; r >= 0; --r) {
      end = first[r];
      const std::int32_t begin = r > 0 ? first[r - 1] : 0;
      first[r] = begin < end ? begin : none;
    }
  }

  void sort(Workers& workers, const std::int32_t* keys, std::int32_t* first, std::int32_t* sorted) const {
    const auto size = static_cast<std::size_t>(op_.count);
    auto* pairs = reinterpret_cast<std::uint64_t*>(workers.take(size * sizeof(std::uint64_t)));
    for (std::size_t i = 0; i < size; ++i) pairs[i] = std::uint64_t{row_of(keys[i])} << 32 | i;
    std::sort(pairs, pairs + size);
    std::fill_n(first, op_.rows, static_cast<std::int32_t>(op_.count));
    for (std::size_t i = size; i-- > 0;) {
      sorted[i] = static_cast<std::int32_t>(pairs[i] >> 32);
      sorted[size + i] = static_cast<std::int32_t>(pairs[i] & 0xffffffff);
      first[sorted[i]] = static_cast<std::int32_t>(i);
    }
  }

  library::SortIndicesOp op_;
};

template <class T, SegmentReduction kReduction>
class SegmentSumProgram final : public HostExecutable {
 public:
  explicit SegmentSumProgram(const library::SegmentSumOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* values = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const auto* first = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[1]));
    auto* sums = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    const Lists lists{first, first + op_.rows, first + op_.rows + op_.count};
    const std::int64_t ends = op_.results();
    if (ends == 0 || op_.columns == 0) return;
    // A few long segments are shared by their columns.
    const std::int64_t wide = (op_.columns + kColumns - 1) / kColumns;
    const std::int64_t rows = std::clamp<std::int64_t>(kElements / std::min(op_.columns, kColumns), 1,
                                                       std::max<std::int64_t>(ends / kPieces, 1));
    const std::int64_t tall = (ends + rows - 1) / rows;
    const auto piece = [&](std::size_t number, std::size_t) {
      const auto [down, across] = std::div(static_cast<std::int64_t>(number), wide);
      const std::int64_t column = across * kColumns, columns = std::min(kColumns, op_.columns - column);
      const std::int64_t end = std::min((down + 1) * rows, ends);
      for (std::int64_t row = down * rows; row < end; ++row)
        add_segment(values + column, lists, begin_of(lists, row), columns, sums + row * op_.columns + column);
    };
    const auto pieces = static_cast<std::size_t>(tall * wide);
    if ((op_.count + ends) * op_.columns < kElements)
      for (std::size_t i = 0; i < pieces; ++i) piece(i, 0);
    else
      workers.pool().run(pieces, piece);
  }

 private:
  static constexpr std::int64_t kColumns = kMostJoinedColumns;
  static constexpr std::int64_t kElements = 1 << 15;  // results of a piece, or what is too little to share
  static constexpr std::int64_t kPieces = 64;

  struct Lists {
    const std::int32_t *first, *keys, *positions;
  };

  /// The place in order where the indices of a result's row begin; `count`: it has none.
  std::int64_t begin_of(const Lists& lists, std::int64_t row) const {
    if (op_.dense) return lists.first[row];
    const bool begins = row < op_.count && (row == 0 || lists.keys[row] != lists.keys[row - 1]);
    return begins ? row : op_.count;
  }

  void add_segment(const T* values, const Lists& lists, std::int64_t begin, std::int64_t columns,
                   T* to) const {
    std::int64_t end = begin;
    if (begin < op_.count) {
      const std::int32_t key = lists.keys[begin];
      while (end < op_.count && lists.keys[end] == key) ++end;
    }
    join_terms<T, kReduction>(values, op_.columns, lists.positions, {begin, end, op_.count}, columns, to);
  }

  library::SegmentSumOp op_;
};

template <class T>
std::shared_ptr<HostExecutable> segment_sum_of(const library::SegmentSumOp& op) {
  switch (op.reduction) {
    case SegmentReduction::Sum: break;
    case SegmentReduction::Prod: return std::make_shared<SegmentSumProgram<T, SegmentReduction::Prod>>(op);
    case SegmentReduction::Max: return std::make_shared<SegmentSumProgram<T, SegmentReduction::Max>>(op);
    case SegmentReduction::Min: return std::make_shared<SegmentSumProgram<T, SegmentReduction::Min>>(op);
  }
  return std::make_shared<SegmentSumProgram<T, SegmentReduction::Sum>>(op);
}

}  // namespace

std::shared_ptr<HostExecutable> make_sort_indices(const library::SortIndicesOp& op) {
  return std::make_shared<SortIndicesProgram>(op);
}

std::shared_ptr<HostExecutable> make_segment_sum(const library::SegmentSumOp& op) {
  switch (op.dtype) {
    case DType::f32: return segment_sum_of<float>(op);
    case DType::f64: return segment_sum_of<double>(op);
    case DType::i32: return segment_sum_of<std::int32_t>(op);
    case DType::i64: return segment_sum_of<std::int64_t>(op);
    default: break;
  }
  throw DeviceError("[segment_sum] the host adds f32, f64, i32 and i64, not " +
                    std::string(name_of(op.dtype)));
}

}  // namespace sinter::runtime::host
