// Joins by an index, scans and sorts of the host: results agree with the oracle's in double precision, and
// their bits do not depend on the number of threads.
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/one_run.h"
#include "tests/support/reference/ir_reference.h"
#include "tests/support/test_data.h"

using namespace sinter;
using library::SegmentReduction;
using testing::LibraryResult;
using testing::to_bytes;

namespace {

constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64};

using Bytes = std::vector<std::byte>;

/// The result of `op` on a host with this many threads.
Bytes run(const library::LibraryOp& op, const std::vector<Bytes>& operands, std::int64_t threads) {
  const base::Environment before = base::environment();
  base::mutable_environment().host_threads = threads;
  const auto host = runtime::make_host_backend();
  base::mutable_environment() = before;
  Bytes result(static_cast<std::size_t>(op.elements_written(0)) * size_of(op.dtype), std::byte{0xCD});
  std::vector<Bytes> all = operands;
  all.push_back(result);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const Bytes& bytes : all) {
    buffers.push_back(host->allocate(bytes.size()));
    views.push_back({buffers.back().get(), 0});
    host->upload(views.back(), bytes);
  }
  testing::run_alone(*host, *host->prepare(op), {views, {}, {}});
  host->download(views.back(), result);
  return result;
}

/// `relative`: of the magnitudes; 0 for what is exact.
void check(const library::LibraryOp& op, const std::vector<Bytes>& operands, const LibraryResult& want,
           double relative) {
  CAPTURE(op.describe());
  CAPTURE(name_of(op.dtype));
  const Bytes one = run(op, operands, 1);
  CHECK((run(op, operands, 2) == one));
  CHECK((run(op, operands, 5) == one));
  std::vector<double> errors;
  for (const double magnitude : want.magnitudes) errors.push_back(magnitude * relative);
  CHECK(testing::difference(op.dtype, one, to_bytes(op.dtype, want.values), errors) == "");
}

double rounding(DType dtype) { return dtype == DType::f32 ? 1e-7 : dtype == DType::f64 ? 1e-14 : 0; }

std::vector<double> drawn(testing::TestData& data, DType dtype, std::int64_t count) {
  std::vector<double> values = data.reals(static_cast<std::size_t>(count));
  if (!is_float(dtype))
    for (double& value : values) value = static_cast<double>(static_cast<int>(value * 10));
  return testing::to_doubles(dtype, to_bytes(dtype, values));
}

/// Of sums, parts of up to 64 terms may be added up in f32.
void check_join(testing::TestData& data, library::IndexedJoinOp op, std::int64_t spread) {
  std::vector<double> rows;
  for (std::int64_t i = 0; i < op.count; ++i)
    rows.push_back(static_cast<double>(data.integer(0, std::min(spread, op.rows) - 1)));
  for (const DType dtype : kDTypes)
    for (const SegmentReduction reduction :
         {SegmentReduction::Sum, SegmentReduction::Max, SegmentReduction::Min}) {
      // The greatest i64, which rows without any have, is no double.
      if (dtype == DType::i64 && reduction == SegmentReduction::Min) continue;
      op.dtype = dtype, op.reduction = reduction;
      const std::vector<double> values = drawn(data, dtype, op.elements_read(0));
      check(op, {to_bytes(dtype, values), to_bytes(DType::i32, rows)},
            testing::reference_indexed_join(op, values, rows),
            reduction == SegmentReduction::Sum ? 40 * rounding(dtype) : 0);
    }
}

library::IndexedJoinOp join_of(std::int64_t outer, std::int64_t count, std::int64_t rows,
                               std::int64_t columns) {
  library::IndexedJoinOp op;
  op.outer = outer, op.count = count, op.rows = rows, op.columns = columns;
  return op;
}

}  // namespace

TEST_CASE("joins by an index are as exact with any number of threads") {
  testing::TestData data(3);
  // Whole, by ranges of rows, in order, along another axis; many rows, few of them, one.
  for (const std::int64_t spread : {std::int64_t{1} << 40, std::int64_t{9}, std::int64_t{1}})
    for (const library::IndexedJoinOp& op :
         {join_of(1, 120'000, 6, 1), join_of(1, 90'000, 17, 9), join_of(1, 150'000, 200'000, 1),
          join_of(1, 50'000, 70'000, 3), join_of(1, 40'000, 5'000, 11), join_of(6, 40'000, 1'000, 1),
          join_of(70, 300, 40, 3), join_of(1, 0, 40'000, 2), join_of(1, 9, 0, 2), join_of(1, 50, 7, 0)})
      if (op.rows > 0 || op.count == 0) check_join(data, op, spread);
}

TEST_CASE("a row with millions of values is rounded once") {
  // 1 and many numbers that an f32 of that size would not see.
  const std::int64_t count = 3'000'000;
  std::vector<double> values(static_cast<std::size_t>(count), 0x1p-26), rows(values.size(), 1);
  values[0] = 1;
  for (const std::int64_t size : {std::int64_t{2}, std::int64_t{200'000}}) {  // whole, and by ranges of rows
    library::IndexedJoinOp op = join_of(1, count, size, 1);
    op.dtype = DType::f32;
    const Bytes sums = run(op, {to_bytes(DType::f32, values), to_bytes(DType::i32, rows)}, 2);
    float sum = 0;
    std::memcpy(&sum, sums.data() + sizeof(float), sizeof sum);
    CHECK(sum == static_cast<float>(1 + static_cast<double>(count - 1) * 0x1p-26));
  }
}

TEST_CASE("an index out of range stands for the first row") {
  for (const std::int64_t rows : {std::int64_t{3}, std::int64_t{200'000}}) {
    library::IndexedJoinOp op = join_of(1, 3, rows, 1);
    op.dtype = DType::i32;
    const Bytes sums = run(op,
                           {to_bytes(DType::i32, std::vector<double>{1, 2, 4}),
                            to_bytes(DType::i32, std::vector<double>{-1, 1, static_cast<double>(rows)})},
                           1);
    CHECK(testing::to_doubles(DType::i32, sums)[0] == 5);
    CHECK(testing::to_doubles(DType::i32, sums)[1] == 2);
  }
}

TEST_CASE("scans along lines are as exact with any number of threads") {
  testing::TestData data(4);
  struct Sizes {
    std::int64_t outer, length, step;
  };
  for (const Sizes& s : {Sizes{1, 1, 1}, Sizes{3, 7, 1}, Sizes{5, 33, 1}, Sizes{1, 100'001, 1},
                         Sizes{2, 70'000, 3}, Sizes{700, 100, 1}, Sizes{40, 2'049, 2}})
    for (std::size_t kind = 0; kind < library::kScanKinds; ++kind)
      for (const DType dtype : kDTypes)
        for (const auto& [reverse, exclusive] : {std::pair(false, false), {true, false}, {true, true}}) {
          library::ScanOp op;
          op.scan = static_cast<library::ScanKind>(kind);
          const bool sums = op.scan == library::ScanKind::Sum;
          if (op.scan == library::ScanKind::LogSumExp && !is_float(dtype)) continue;
          if (exclusive && !sums) continue;
          op.outer = s.outer, op.length = s.length, op.x_step = s.step, op.x_outer = s.length * s.step;
          op.reverse = reverse, op.exclusive = exclusive, op.x_dtype = dtype;
          op.dtype = library::gives_positions(op.scan) ? DType::i32 : dtype;
          std::vector<double> x = drawn(data, dtype, op.x_span());
          // Products neither vanish nor grow; of equal extremes there are some, and of NaN.
          if (op.scan == library::ScanKind::Prod)
            for (double& value : x) value = value < 0 ? -1 : 1;
          if (library::gives_positions(op.scan)) {
            for (double& value : x) value = static_cast<double>(static_cast<int>(value));
            if (is_float(dtype) && x.size() > 40) {
              x[x.size() / 2] = std::nan("");
              x[x.size() / 2 + 5] = -std::nan("");
            }
          }
          const bool exact = !sums && op.scan != library::ScanKind::LogSumExp;
          check(op, {to_bytes(dtype, x)}, testing::reference_scan(op, x), exact ? 0 : 4 * rounding(dtype));
        }
}

TEST_CASE("sorts are stable with any number of threads") {
  testing::TestData data(5);
  struct Sizes {
    std::int64_t outer, length, inner;
  };
  for (const Sizes& s : {Sizes{4, 16, 1}, Sizes{3, 17, 2}, Sizes{9, 300, 1}, Sizes{3, 5'000, 1},
                         Sizes{1, 100'000, 1}, Sizes{2, 70'000, 2}})
    for (const DType dtype : kDTypes)
      for (const double scale : {1e-3, 1.0, 1e5})  // nearly all alike, some, few
        for (const bool descending : {false, true}) {
          library::SortOp op;
          op.dtype = DType::i32, op.x_dtype = dtype, op.descending = descending;
          op.outer = s.outer, op.length = op.keep = s.length, op.inner = s.inner;
          op.x_outer = s.length * s.inner, op.x_step = s.inner, op.x_inner = 1;
          std::vector<double> x = data.reals(static_cast<std::size_t>(op.numel()));
          for (double& value : x) value = static_cast<double>(static_cast<int>(value * scale));
          if (is_float(dtype)) x[x.size() / 2] = std::nan("");
          check(op, {to_bytes(dtype, x)}, testing::reference_sort(op, x), 0);
        }
}
