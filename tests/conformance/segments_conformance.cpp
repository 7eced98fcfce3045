// The conformance suite: indices brought into order, counts of them, and sums over segments.
#include <cmath>
#include <exception>
#include <string>
#include <type_traits>

#include "tests/conformance/backend_conformance.h"
#include "tests/conformance/conformance_runner.h"
#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

using Joins = ir::DeviceTraits::Joins;

class SegmentChecks {
 public:
  SegmentChecks(runtime::Backend& backend, const ConformanceOptions& options)
      : backend_(backend), options_(options) {}

  void run() {
    struct Sizes {
      std::int64_t count, rows, columns;
    };
    // Around runs of 1,024, merges of 8 of them and chunks of 64; more rows than indices and fewer.
    const Sizes all[] = {{0, 0, 3},       {0, 4, 3},       {1, 1, 1},     {1, 9, 5},       {2, 1, 4},
                         {5, 3, 0},       {7, 100, 33},    {63, 4, 2},    {64, 4, 2},      {65, 4, 257},
                         {65, 70, 2},     {129, 3, 1025},  {1023, 50, 3}, {1024, 3000, 1}, {1025, 1, 6},
                         {3000, 7, 1},    {8192, 9000, 2}, {8193, 40, 4}, {20000, 900, 1}, {200000, 5, 0},
                         {3000, 4096, 0}, {3000, 4097, 0}};
    for (const Sizes& s : all)
      for (const int spread : {0, 1, 2}) {  // all rows, few of them, the last one
        if (s.rows == 0 && s.count > 0) continue;
        std::vector<double> keys;
        for (std::int64_t i = 0; i < s.count; ++i)
          keys.push_back(static_cast<double>(
              spread == 2
                  ? s.rows - 1
                  : data_.integer(0, spread == 0 ? s.rows - 1 : std::min<std::int64_t>(s.rows - 1, 2))));
        for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64})
          for (const std::int64_t stretches : {1, 3})
            if (backend_.traits().supports(dtype) && backend_.computes(library::indexed_sum()) &&
                (dtype == DType::f32 || s.count <= 3000))
              sum_directly(s.count, s.rows, s.columns, stretches, dtype, keys);
        // As they come, no values go another way than others; and a kernel of theirs takes long to compile.
        const Joins joins = backend_.traits().joins;
        if (joins == Joins::InOrder || (joins != Joins::None && spread == 0))
          for (const std::int64_t outer : {1, 3})
            if (s.count <= (joins == Joins::InOrder ? 3000 : 65) || outer == 1)
              join(outer, s.count, s.rows, s.columns, keys);
        count(s.rows, keys);
        const std::vector<double> sorted = sort(s.count, s.rows, keys);
        for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64}) {
          if (!backend_.traits().supports(dtype) || (dtype != DType::f32 && s.count > 3000)) continue;
          for (const bool dense : {false, true}) sum(s.count, s.rows, s.columns, dtype, dense, sorted);
        }
      }
    if (backend_.traits().joins == Joins::InOrder) join_many();
  }

  void report() const { failures_.report("segments"); }

 private:
  std::vector<double> sort(std::int64_t count, std::int64_t rows, const std::vector<double>& keys) {
    library::SortIndicesOp op;
    op.dtype = DType::i32;
    op.count = count;
    op.rows = rows;
    const LibraryResult want = reference_sort_indices(op, keys);
    check(op, {to_bytes(DType::i32, keys)}, want, 0);
    return want.values;
  }

  /// How often each row occurs, where it stands last, and where a count of those that are in the lower half
  /// of the rows steps.
  void count(std::int64_t rows, const std::vector<double>& index) {
    std::vector<double> running;
    double before = 0;
    for (const double row : index) running.push_back(before += row * 2 < static_cast<double>(rows) ? 1 : 0);
    for (const library::Counting counting : library::kCountings) {
      const bool steps = counting == library::Counting::Steps;
      const std::vector<double>& x = steps ? running : index;
      library::CountingOp op;
      op.dtype = DType::i32;
      op.counting = counting;
      op.length = static_cast<std::int64_t>(x.size());
      op.results = steps ? static_cast<std::int64_t>(before) : rows;
      check(op, {to_bytes(DType::i32, x)}, reference_counting(op, x), 0);
    }
  }

  void sum(std::int64_t count, std::int64_t rows, std::int64_t columns, DType dtype, bool dense,
           const std::vector<double>& sorted) {
    library::SegmentSumOp op;
    op.count = count, op.rows = rows, op.columns = columns, op.dense = dense;
    check_sum(op, dtype, sorted, reference_segment_sum);
  }

  void sum_directly(std::int64_t count, std::int64_t rows, std::int64_t columns, std::int64_t stretches,
                    DType dtype, const std::vector<double>& row_of) {
    library::IndexedSumOp op;
    op.count = count, op.rows = rows, op.columns = columns, op.stretches = stretches;
    check_sum(op, dtype, row_of, reference_indexed_sum);
  }

  /// Values that threads share, and results that do not stay in a cache.
  void join_many() {
    struct Sizes {
      std::int64_t outer, count, rows, columns;
    };
    const Sizes all[] = {{1, 200000, 5, 2},   {1, 70000, 33000, 1}, {1, 40000, 50001, 3},
                         {1, 100, 200000, 1}, {1, 40000, 9000, 12}, {1, 1000, 70000, 600},
                         {3, 5000, 300, 1},   {2, 40000, 30000, 5}, {200, 9, 4, 1},
                         {1, 100000, 40, 30}};
    for (const Sizes& s : all) {
      std::vector<double> keys;
      for (std::int64_t i = 0; i < s.count; ++i)
        keys.push_back(static_cast<double>(data_.integer(0, i % 3 == 0 ? s.rows - 1 : s.rows / 7)));
      join(s.outer, s.count, s.rows, s.columns, keys);
    }
  }

  void join(std::int64_t outer, std::int64_t count, std::int64_t rows, std::int64_t columns,
            const std::vector<double>& row_of) {
    using library::SegmentReduction;
    for (const SegmentReduction reduction :
         {SegmentReduction::Sum, SegmentReduction::Prod, SegmentReduction::Max, SegmentReduction::Min})
      for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64}) {
        // A product of more does not stay within what f32 holds.
        if (reduction == SegmentReduction::Prod && count > 129) continue;
        if (!backend_.traits().supports(dtype) || !joins(reduction, dtype)) continue;
        // The greatest i64, which rows without any have, is no double.
        if (reduction == SegmentReduction::Min && dtype == DType::i64) continue;
        library::IndexedJoinOp op;
        op.outer = outer, op.count = count, op.rows = rows, op.columns = columns, op.reduction = reduction;
        const bool may_differ = !library::is_same_in_any_order(reduction, dtype);
        if (backend_.traits().joins == Joins::InOrder || !may_differ || sums_exactly(dtype))
          check_sum(op, dtype, row_of, reference_indexed_join);
        op.any_order = true;
        if (backend_.traits().joins != Joins::InOrder && may_differ)
          check_sum(op, dtype, row_of, reference_indexed_join);
      }
  }

  /// What the backend joins, as its traits say.
  bool joins(library::SegmentReduction reduction, DType dtype) const {
    const Joins joins = backend_.traits().joins;
    if (joins == Joins::InOrder) return true;
    return reduction != library::SegmentReduction::Prod &&
           (size_of(dtype) == 4 || joins == Joins::UnorderedAll);
  }

  bool sums_exactly(DType dtype) const {
    return dtype == DType::f32 && backend_.traits().joins == Joins::UnorderedAll;
  }

  static double factor(DType dtype, double value) {
    return is_float(dtype) ? std::copysign(std::exp2(std::fmod(value, 1) / 2), value) : value < 0 ? -1 : 1;
  }

  /// Of values that are drawn, with the indices in any form.
  template <class Op, class Reference>
  void check_sum(Op op, DType dtype, const std::vector<double>& indices, const Reference& reference) {
    op.dtype = dtype;
    std::vector<double> values = data_.reals(static_cast<std::size_t>(op.elements_read(0)));
    if (!is_float(dtype))
      for (double& value : values) value = static_cast<double>(static_cast<int>(value * 100));
    if constexpr (std::is_same_v<Op, library::IndexedJoinOp>)
      if (op.reduction == library::SegmentReduction::Prod)
        for (double& value : values) value = factor(dtype, value);
    const auto bytes = to_bytes(dtype, values);
    check(op, {bytes, to_bytes(DType::i32, indices)}, reference(op, to_doubles(dtype, bytes), indices),
          dtype == DType::f32   ? options_.library_relative
          : dtype == DType::f64 ? options_.library_relative_f64
                                : 0,
          is_repeatable(op));
  }

  template <class Op>
  bool is_repeatable(const Op& op) const {
    if constexpr (std::is_same_v<Op, library::IndexedJoinOp>) return !op.any_order;
    return true;
  }

  void check(const library::LibraryOp& op, std::vector<std::vector<std::byte>> contents,
             const LibraryResult& want, double relative, bool is_repeatable = true) {
    const std::string name = op.describe() + " " + std::string(name_of(op.dtype));
    std::vector<double> errors;
    for (const double magnitude : want.magnitudes) errors.push_back(magnitude * relative);
    contents.emplace_back(want.values.size() * size_of(op.dtype), std::byte{0xCD});
    try {
      const runtime::ExecutableRef executable = backend_.prepare(op);
      const auto run = [&] {
        const GuardedBuffers buffers(backend_, contents);
        backend_.wait_until_ready(*executable, {}, 1);
        backend_.begin(nullptr, {executable->workspace_bytes({}, 1), 0});
        try {
          backend_.launch(*executable, {buffers.views(), {}, {}});
        } catch (...) {
          backend_.abandon();
          throw;
        }
        backend_.submit();
        return buffers.read().back();
      };
      const auto got = run();
      const std::string d = difference(op.dtype, got, to_bytes(op.dtype, want.values), errors);
      if (!d.empty())
        failures_.add("[" + name + "] " + d);
      else if (is_repeatable && run() != got)
        failures_.add("[" + name + "] gave other bits when it was run again");
    } catch (const std::exception& e) {
      failures_.add("[" + name + "] threw: " + e.what());
    }
  }

  runtime::Backend& backend_;
  const ConformanceOptions& options_;
  TestData data_{17};
  Failures failures_;
};

}  // namespace

void check_segments(runtime::Backend& backend, const ConformanceOptions& options) {
  SegmentChecks checks(backend, options);
  checks.run();
  checks.report();
}

}  // namespace sinter::testing
