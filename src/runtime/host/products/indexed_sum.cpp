// Counts the indices of each stretch, brings its values' positions into the order of their rows, and adds up
// each row's. Who adds what does not depend on the threads, and neither does a sum.
#include "src/runtime/host/products/indexed_sum.h"

#include <algorithm>
#include <utility>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/products/join_terms.h"

namespace sinter::runtime::host {
namespace {

template <class T>
class IndexedSumProgram final : public HostExecutable {
 public:
  explicit IndexedSumProgram(const library::IndexedSumOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(words() * sizeof(std::int32_t));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* values = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const auto* row_of = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[1]));
    auto* sums = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    if (op_.rows == 0 || op_.columns == 0) return;
    auto* positions = reinterpret_cast<std::int32_t*>(workers.take(words() * sizeof(std::int32_t)));
    std::int32_t* ends = positions + op_.count;  // of each stretch's rows, among its positions
    const auto each = [&](std::int64_t pieces, const auto& work) {
      if ((op_.count + op_.rows) * op_.columns < kElements)
        for (std::int64_t i = 0; i < pieces; ++i) work(i);
      else
        workers.pool().run(static_cast<std::size_t>(pieces),
                           [&](std::size_t i, std::size_t) { work(static_cast<std::int64_t>(i)); });
    };
    each(op_.stretches, [&](std::int64_t s) { bring_into_order(row_of, s, positions, ends + s * op_.rows); });

    const std::int64_t wide = (op_.columns + kMostJoinedColumns - 1) / kMostJoinedColumns;
    const std::int64_t of_rows = std::clamp<std::int64_t>(kPieces / (wide * op_.stretches), 1, op_.rows);
    each(op_.stretches * of_rows * wide, [&](std::int64_t piece) {
      const std::int64_t s = piece / (of_rows * wide), part = piece / wide % of_rows;
      const std::int64_t column = piece % wide * kMostJoinedColumns;
      const std::int64_t columns = std::min(kMostJoinedColumns, op_.columns - column);
      const auto [begin, end] = stretch(s);
      const std::int32_t* own_ends = ends + s * op_.rows;
      for (std::int64_t row = part * op_.rows / of_rows; row < (part + 1) * op_.rows / of_rows; ++row) {
        const TermPlaces places{row > 0 ? own_ends[row - 1] : 0, own_ends[row], end - begin};
        join_terms<T, library::SegmentReduction::Sum>(values + column, op_.columns, positions + begin, places,
                                                      columns,
                                                      sums + (s * op_.rows + row) * op_.columns + column);
      }
    });
  }

 private:
  static constexpr std::int64_t kElements = 1 << 15;  // what is too little to share
  static constexpr std::int64_t kPieces = 64;

  std::size_t words() const { return static_cast<std::size_t>(op_.count + op_.stretches * op_.rows); }

  /// The first of the stretch's values, and the one after its last.
  std::pair<std::int64_t, std::int64_t> stretch(std::int64_t s) const {
    return {std::min(s * op_.stretch(), op_.count), std::min((s + 1) * op_.stretch(), op_.count)};
  }

  /// An index out of range was told of before and stands for row 0 here.
  std::size_t row_at(std::int32_t index) const {
    return index >= 0 && index < op_.rows ? static_cast<std::size_t>(index) : 0;
  }

  void bring_into_order(const std::int32_t* row_of, std::int64_t s, std::int32_t* positions,
                        std::int32_t* ends) const {
    const auto [begin, end] = stretch(s);
    std::fill_n(ends, op_.rows, 0);
    for (std::int64_t i = begin; i < end; ++i) ++ends[row_at(row_of[i])];
    std::int32_t before = 0;
    for (std::int64_t r = 0; r < op_.rows; ++r) before += std::exchange(ends[r], before);
    for (std::int64_t i = begin; i < end; ++i)
      positions[begin + ends[row_at(row_of[i])]++] = static_cast<std::int32_t>(i);
  }

  library::IndexedSumOp op_;
};

}  // namespace

std::shared_ptr<HostExecutable> make_indexed_sum(const library::IndexedSumOp& op) {
  switch (op.dtype) {
    case DType::f32: return std::make_shared<IndexedSumProgram<float>>(op);
    case DType::f64: return std::make_shared<IndexedSumProgram<double>>(op);
    case DType::i32: return std::make_shared<IndexedSumProgram<std::int32_t>>(op);
    case DType::i64: return std::make_shared<IndexedSumProgram<std::int64_t>>(op);
    default: break;
  }
  throw DeviceError("[indexed_sum] the host adds f32, f64, i32 and i64, not " +
                    std::string(name_of(op.dtype)));
}

}  // namespace sinter::runtime::host
