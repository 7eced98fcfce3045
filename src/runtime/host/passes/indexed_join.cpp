// Joins values by the rows that an index sends them to, in one of three ways that follow from the sizes:
// small results are held as they are, long results of few columns go by ranges of rows, and of many columns
// the positions are brought into order first. Who joins what does not depend on the threads, and neither does
// a result.
#include "src/runtime/host/passes/indexed_join.h"

#include <algorithm>
#include <type_traits>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/passes/join_terms.h"
#include "src/runtime/host/passes/row_buckets.h"

namespace sinter::runtime::host {
namespace {

using library::IndexedJoinOp;
using library::SegmentReduction;

constexpr std::int64_t kElements = 1 << 15;     // what is too little to share
constexpr std::int64_t kHeldBytes = 256 << 10;  // of results that stay in the cache
constexpr std::int64_t kMostNarrow = 8;  // columns for which finding the next row takes longer than joining
constexpr std::int64_t kManyTerms = 16;  // of a row, so that values are better read in their order
constexpr std::int64_t kPieces = 64;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What has been joined of some rows. Sums of f32 are added up in f64.
template <class T, SegmentReduction kReduction>
struct Held {
  using Number =
      std::conditional_t<kReduction == SegmentReduction::Sum && std::is_same_v<T, float>, double, T>;

  Number* numbers;

  /// A number that changes none that it is joined with.
  static T none() { return library::none_of<T>(kReduction); }

  void begin(std::int64_t rows, std::int64_t columns) const { std::fill_n(numbers, rows * columns, none()); }
  void join(std::int64_t row, std::int64_t columns, const T* values) const {
    Number* to = numbers + row * columns;
    for (std::int64_t c = 0; c < columns; ++c)
      to[c] = joined_terms<Number, kReduction>(to[c], static_cast<Number>(values[c]));
  }
  void join(std::int64_t rows, std::int64_t columns, const Held& other) const {
    for (std::int64_t i = 0; i < rows * columns; ++i)
      numbers[i] = joined_terms<Number, kReduction>(numbers[i], other.numbers[i]);
  }
  void store(std::int64_t rows, std::int64_t columns, T* to) const {
    for (std::int64_t i = 0; i < rows * columns; ++i) to[i] = static_cast<T>(numbers[i]);
  }
};

template <class T, SegmentReduction kReduction>
class IndexedJoinProgram final : public HostExecutable {
 public:
  explicit IndexedJoinProgram(const IndexedJoinOp& op)
      : op_(op),
        buckets_(op.count, op.rows, kHeldBytes / std::max<std::int64_t>(kBytes * op.columns, 1)),
        order_(op.count, op.rows) {}

  std::string describe() const override {
    const char* names[] = {"whole", "by ranges of rows", "in order"};
    return op_.describe() + " by a kernel of the host, " + names[static_cast<std::size_t>(way())];
  }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    const auto count = static_cast<std::size_t>(op_.count);
    switch (way()) {
      case Way::Whole: return whole_units(static_cast<std::size_t>(stretches()) * bytes_of(op_.rows));
      case Way::Ranges:
        return whole_units(count * bytes_of_entry()) + whole_units(buckets_.words() * sizeof(std::int32_t)) +
               threads(buckets_.buckets()) * whole_units(bytes_of(buckets_.rows_each()));
      case Way::Order: break;
    }
    return whole_units((count + static_cast<std::size_t>(op_.rows) + order_.words()) * sizeof(std::int32_t));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* values = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const auto* row_of = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[1]));
    auto* to = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    if (op_.outer * op_.rows * op_.columns == 0) return;
    switch (way()) {
      case Way::Whole: return join_whole(workers, values, row_of, to);
      case Way::Ranges:
        return op_.columns == 1 ? join_ranges<Carried>(
                                      workers, row_of, to,
                                      [&](std::int32_t row, std::int32_t i) {
                                        return Carried{row, values[i]};
                                      },
                                      [](const Carried& entry) { return &entry.value; })
                                : join_ranges<Position>(
                                      workers, row_of, to,
                                      [](std::int32_t row, std::int32_t i) {
                                        return Position{row, i};
                                      },
                                      [&](const Position& entry) {
                                        return values + std::int64_t{entry.position} * op_.columns;
                                      });
      case Way::Order: return join_in_order(workers, values, row_of, to);
    }
  }

 private:
  using Rows = Held<T, kReduction>;
  static constexpr std::int64_t kBytes = sizeof(typename Rows::Number);
  enum class Way : std::uint8_t { Whole, Ranges, Order };

  /// Single values go along with their rows, so that they are read in their order.
  struct Carried {
    std::int32_t row;
    T value;
  };
  struct Position {
    std::int32_t row, position;
  };

  Way way() const {
    if (op_.outer > 1) return Way::Order;
    const bool narrow = op_.columns <= kMostNarrow;
    if (static_cast<std::int64_t>(bytes_of(op_.rows)) <= kHeldBytes &&
        (narrow || op_.count >= kManyTerms * op_.rows))
      return Way::Whole;
    return narrow ? Way::Ranges : Way::Order;
  }
  std::size_t bytes_of(std::int64_t rows) const {
    return whole_units(static_cast<std::size_t>(rows * op_.columns * kBytes));
  }
  static Rows rows_in(std::byte* memory) { return {reinterpret_cast<typename Rows::Number*>(memory)}; }
  bool is_shared() const { return op_.outer * (op_.count + op_.rows) * op_.columns >= kElements; }

  /// Of values, each with a result of its own: as many as have more to join than there is to join of these.
  std::int64_t stretches() const {
    constexpr std::int64_t kMost = 32;
    return std::clamp<std::int64_t>(op_.count * op_.columns / std::max(kElements, 4 * op_.rows * op_.columns),
                                    1, kMost);
  }

  void join_whole(Workers& workers, const T* values, const std::int32_t* row_of, T* to) const {
    const std::int64_t all = stretches();
    std::byte* memory = workers.take(static_cast<std::size_t>(all) * bytes_of(op_.rows));
    const auto own = [&](std::int64_t s) {
      return rows_in(memory + static_cast<std::size_t>(s) * bytes_of(op_.rows));
    };
    for_each_piece(workers.pool(), true, all, [&](std::int64_t s) {
      const Rows held = own(s);
      held.begin(op_.rows, op_.columns);
      for (std::int64_t i = s * op_.count / all; i < (s + 1) * op_.count / all; ++i)
        held.join(row_at(row_of[i], op_.rows), op_.columns, values + i * op_.columns);
    });
    for (std::int64_t s = 1; s < all; ++s) own(0).join(op_.rows, op_.columns, own(s));
    own(0).store(op_.rows, op_.columns, to);
  }

  std::size_t bytes_of_entry() const { return op_.columns == 1 ? sizeof(Carried) : sizeof(Position); }

  template <class Entry, class Make, class Values>
  void join_ranges(Workers& workers, const std::int32_t* row_of, T* to, const Make& make,
                   const Values& values) const {
    auto* entries =
        reinterpret_cast<Entry*>(workers.take(static_cast<std::size_t>(op_.count) * sizeof(Entry)));
    auto* begins = reinterpret_cast<std::int32_t*>(workers.take(buckets_.words() * sizeof(std::int32_t)));
    const auto memory = workers.take_each(threads(buckets_.buckets()), bytes_of(buckets_.rows_each()));
    buckets_.fill(workers.pool(), row_of, entries, begins, make);
    workers.pool().run(static_cast<std::size_t>(buckets_.buckets()), [&](std::size_t b, std::size_t thread) {
      const auto bucket = static_cast<std::int64_t>(b);
      const std::int64_t first = buckets_.first_row(bucket), rows = buckets_.first_row(bucket + 1) - first;
      // The sizes that most have are known to the compiler.
      const auto join_rows = [&](std::int64_t columns) {
        const Rows held = rows_in(memory.of(thread));
        held.begin(rows, columns);
        for (std::int64_t i = begins[b]; i < begins[b + 1]; ++i)
          held.join(entries[i].row - first, columns, values(entries[i]));
        held.store(rows, columns, to + first * columns);
      };
      if constexpr (std::is_same_v<Entry, Carried>)
        join_rows(1);
      else
        join_rows(op_.columns);
    });
  }

  void join_in_order(Workers& workers, const T* values, const std::int32_t* row_of, T* to) const {
    auto* positions = reinterpret_cast<std::int32_t*>(workers.take(
        (static_cast<std::size_t>(op_.count + op_.rows) + order_.words()) * sizeof(std::int32_t)));
    std::int32_t *ends = positions + op_.count, *memory = ends + op_.rows;
    order_.find(workers.pool(), row_of, positions, ends, memory);
    // A piece has some columns of some rows, or several whole results.
    const std::int64_t wide = divide_up(op_.columns, kMostJoinedColumns);
    const std::int64_t of_rows = std::clamp<std::int64_t>(kPieces / (wide * op_.outer), 1, op_.rows);
    const std::int64_t each = std::max<std::int64_t>(op_.outer / kPieces, 1);
    const std::int64_t pieces = divide_up(op_.outer, each) * of_rows * wide;
    for_each_piece(workers.pool(), is_shared(), pieces, [&](std::int64_t piece) {
      const std::int64_t part = piece / wide % of_rows, column = piece % wide * kMostJoinedColumns;
      const std::int64_t first = part * op_.rows / of_rows, last = (part + 1) * op_.rows / of_rows;
      const std::int64_t begin = piece / (wide * of_rows) * each;
      for (std::int64_t o = begin; o < std::min(begin + each, op_.outer); ++o) {
        const T* from = values + o * op_.count * op_.columns;
        T* own = to + o * op_.rows * op_.columns;
        if (op_.columns == 1)
          join_single(from, positions, ends, first, last, own);
        else
          join_rows(from + column, positions, ends, first, last,
                    std::min(kMostJoinedColumns, op_.columns - column), own + column);
      }
    });
  }

  void join_rows(const T* values, const std::int32_t* positions, const std::int32_t* ends, std::int64_t first,
                 std::int64_t last, std::int64_t columns, T* to) const {
    for (std::int64_t row = first; row < last; ++row) {
      const TermPlaces places{row > 0 ? ends[row - 1] : 0, ends[row], op_.count};
      T* own = to + row * op_.columns;
      if (places.begin == places.end)
        std::fill_n(own, columns, Rows::none());
      else
        join_terms<T, kReduction>(values, op_.columns, positions, places, columns, own);
    }
  }

  void join_single(const T* values, const std::int32_t* positions, const std::int32_t* ends,
                   std::int64_t first, std::int64_t last, T* to) const {
    using Number = typename Rows::Number;
    std::int32_t place = first > 0 ? ends[first - 1] : 0;
    for (std::int64_t row = first; row < last; ++row) {
      if (place == ends[row]) {
        to[row] = Rows::none();
        continue;
      }
      auto number = static_cast<Number>(values[positions[place++]]);
      for (; place < ends[row]; ++place)
        number = joined_terms<Number, kReduction>(number, static_cast<Number>(values[positions[place]]));
      to[row] = static_cast<T>(number);
    }
  }

  const IndexedJoinOp op_;
  const RowBuckets buckets_;
  const RowOrder order_;
};

template <class T>
std::shared_ptr<HostExecutable> program_of(const IndexedJoinOp& op) {
  switch (op.reduction) {
    case SegmentReduction::Sum: break;
    case SegmentReduction::Prod: return std::make_shared<IndexedJoinProgram<T, SegmentReduction::Prod>>(op);
    case SegmentReduction::Max: return std::make_shared<IndexedJoinProgram<T, SegmentReduction::Max>>(op);
    case SegmentReduction::Min: return std::make_shared<IndexedJoinProgram<T, SegmentReduction::Min>>(op);
  }
  return std::make_shared<IndexedJoinProgram<T, SegmentReduction::Sum>>(op);
}

}  // namespace

std::shared_ptr<HostExecutable> make_indexed_join(const IndexedJoinOp& op) {
  switch (op.dtype) {
    case DType::f32: return program_of<float>(op);
    case DType::f64: return program_of<double>(op);
    case DType::i32: return program_of<std::int32_t>(op);
    case DType::i64: return program_of<std::int64_t>(op);
    default: break;
  }
  throw DeviceError("[indexed_join] the host joins f32, f64, i32 and i64, not " +
                    std::string(name_of(op.dtype)));
}

}  // namespace sinter::runtime::host
