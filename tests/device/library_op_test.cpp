// An operation of another kind, from outside: the k-th smallest number of each row and where it stands. All
// that Sinter knows of it stands in this file: a kind, its sizes, a row in the host's table. It is recorded,
// fused around, planned and explained like any other; devices without a row say so.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>
#include <sinter/explain.h>

#include "jit/library/kinds.h"
#include "src/base/env.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/products/library.h"
#include "src/runtime/null/null_backend.h"
#include "src/tensor/apply.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

// ---- the operation

const library::Kind& kth_value_kind();

struct KthValueOp final : library::LibraryOp {
  std::int64_t rows = 0, columns = 0, row_stride = 0, k = 0;

  const library::Kind& kind() const override { return kth_value_kind(); }
  std::string key() const override { return library::joined({rows, columns, row_stride, k}); }
  std::string describe() const override {
    return "kth_value " + std::to_string(k) + " of " + library::joined({rows, columns}, "x");
  }
  std::int64_t elements_read(std::size_t) const override { return rows * columns; }
  std::int64_t elements_written(std::size_t) const override { return rows; }
};

/// x [rows, columns] -> values [rows], indices [rows] (i64). Attribute: k, from 0 on. Rows may be apart,
/// their elements may not.
class KthValue final : public library::Kind {
 public:
  KthValue() : Kind("kth_value", 2) {}

  void infer(std::span<const library::TensorType> operands, std::span<const std::int64_t> ints,
             std::span<library::TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    if (!is_float(dtype) || dtype == DType::f64)
      throw DTypeError("[kth_value] takes f32, bf16 or f16, not " + std::string(name_of(dtype)), where);
    if (shape.rank() != 2 || ints[0] < 0 || ints[0] >= shape[1])
      throw ShapeError(
          "[kth_value] " + to_string(shape) + " has no element " + std::to_string(ints[0]) + " in each row",
          where);
    results[0] = {Shape{shape[0]}, dtype};
    results[1] = {Shape{shape[0]}, DType::i64};
  }

  bool reads_in_place(const library::Signature&, std::size_t, const library::Layout& layout) const override {
    return layout.strides[1] == 1;
  }

  library::LibraryOpRef make(const library::Request& request) const override {
    auto op = std::make_shared<KthValueOp>();
    op->dtype = request.operands[0].dtype;
    op->rows = request.operands[0].shape[0];
    op->columns = request.operands[0].shape[1];
    op->row_stride = request.layouts[0].strides[0];
    op->k = request.ints[0];
    return op;
  }
};

class KthValueProgram final : public runtime::host::HostExecutable {
 public:
  explicit KthValueProgram(const KthValueOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe(); }
  void run(runtime::host::Workers&, const runtime::LaunchArguments& arguments, std::uint32_t*) override {
    using runtime::host::data_of;
    const auto* x = reinterpret_cast<const float*>(data_of(arguments.buffers[0]));
    auto* values = reinterpret_cast<float*>(data_of(arguments.buffers[1]));
    auto* indices = reinterpret_cast<std::int64_t*>(data_of(arguments.buffers[2]));
    std::vector<std::int64_t> order(static_cast<std::size_t>(op_.columns));
    for (std::int64_t r = 0; r < op_.rows; ++r) {
      const float* row = x + r * op_.row_stride;
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] < row[b]; });
      indices[r] = order[static_cast<std::size_t>(op_.k)];
      values[r] = row[indices[r]];
    }
  }

 private:
  KthValueOp op_;
};

const library::Kind& kth_value_kind() {
  static const library::Kind* kind = [] {
    auto* made = new KthValue;
    library::add_kind(*made);
    runtime::host::library_table().add(*made, [](const library::LibraryOp& op) {
      return std::make_shared<KthValueProgram>(library::as<KthValueOp>(op));
    });
    return made;
  }();
  return *kind;
}

struct Found {
  AnyTensor values, indices;
};
Found kth_value(const AnyTensor& x, std::int64_t k, Location where = Location::current()) {
  AnyTensor results[2];
  const tensor::Operand operands[] = {x};
  tensor::apply_library(kth_value_kind(), operands, {{k}}, results, where);
  return {results[0], results[1]};
}

// ---- and what is expected of it

/// Opened by the first case that uses it: `main` skips all where the device is missing.
const Device& device() {
  static const Device opened = test_device();
  return opened;
}
/// Known before the device is opened: cases are registered before `main` looks whether it is there.
const bool has_row = [] {
  const char* name = std::getenv("SINTER_DEVICE");
  return (!name || std::string(name) == "host") && !std::getenv("SINTER_TEST_ORACLE");
}();
const bool fused = base::environment().fusion;

constexpr std::int64_t kRows = 7, kColumns = 5;

std::vector<float> numbers(std::int64_t count = kRows * kColumns) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 101) / 8 - 5;
  return values;
}
AnyTensor table() { return tensor_of(numbers(), {kRows, kColumns}, device()); }

struct Expected {
  std::vector<float> values;
  std::vector<std::int64_t> indices;
};
Expected expected(const std::vector<float>& x, std::size_t columns, std::size_t k) {
  Expected result;
  for (std::size_t begin = 0; begin < x.size(); begin += columns) {
    std::vector<std::pair<float, std::int64_t>> row;
    for (std::size_t c = 0; c < columns; ++c) row.emplace_back(x[begin + c], static_cast<std::int64_t>(c));
    std::sort(row.begin(), row.end());
    result.values.push_back(row[k].first);
    result.indices.push_back(row[k].second);
  }
  return result;
}

std::uint64_t launches_of(const std::function<void()>& program) {
  device().sync();
  const std::uint64_t before = device().statistics().launches;
  program();
  device().sync();
  return device().statistics().launches - before;
}

std::string error_of(const std::function<void()>& program) {
  try {
    program();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("between elementwise work, both results used" * doctest::skip(!has_row)) {
  for (std::int64_t k : {0, 1, 4}) {  // equal structure but for the attribute
    CAPTURE(k);
    AnyTensor a, b;
    const std::uint64_t launches = launches_of([&] {
      const Found found = kth_value(AnyTensor::sub(1.0, AnyTensor::mul(table(), 2.0)), k);
      a = AnyTensor::add(AnyTensor::mul(found.values, 3.0), found.indices.cast(DType::f32));
      b = AnyTensor::add(found.indices, 10);
    });
    if (fused) CHECK(launches == 3);  // before, the op, after: both results go into one kernel
    std::vector<float> x = numbers();
    for (float& value : x) value = 1 - 2 * value;
    Expected want = expected(x, kColumns, static_cast<std::size_t>(k));
    for (std::size_t r = 0; r < want.values.size(); ++r)
      want.values[r] = want.values[r] * 3 + static_cast<float>(want.indices[r]);
    for (std::int64_t& index : want.indices) index += 10;
    check_close(a, want.values);
    CHECK(values_of<std::int64_t>(b) == want.indices);
  }
}

TEST_CASE("results that nobody uses, or only one of them" * doctest::skip(!has_row)) {
  const Expected want = expected(numbers(), kColumns, 2);
  check_close(kth_value(table(), 2).values, want.values);
  CHECK(values_of<std::int64_t>(kth_value(table(), 2).indices) == want.indices);
  // The one that goes on is read by work, so nobody holds a result.
  check_close(AnyTensor::mul(kth_value(table(), 2).values, 2.0).neg(), [&] {
    std::vector<float> twice = want.values;
    for (float& value : twice) value *= -2;
    return twice;
  }());
  const AnyTensor x = table();
  CHECK(launches_of([&] { kth_value(x, 2); }) == 0);  // work for nobody
}

TEST_CASE("a result that is dropped and one that is held across flushes" * doctest::skip(!has_row)) {
  const Expected want = expected(numbers(), kColumns, 1);
  for (int round = 0; round < 3; ++round) {  // planned, known
    const AnyTensor x = table();
    Found found = kth_value(x, 1);
    found.values = AnyTensor();
    device().sync();
    CHECK(values_of<std::int64_t>(AnyTensor::add(found.indices, 0)) == want.indices);
    CHECK(values_of<std::int64_t>(found.indices) == want.indices);
    Found other = kth_value(x, 1);
    const AnyTensor half = AnyTensor::mul(other.values, 0.5);
    other.indices = AnyTensor();
    device().sync();
    check_close(other.values, want.values);
    check_close(AnyTensor::mul(half, 2.0), want.values);
  }
}

TEST_CASE("both results held, and written over by what comes later" * doctest::skip(!has_row)) {
  const Expected want = expected(numbers(), kColumns, 3);
  Found found = kth_value(table(), 3);
  device().sync();
  found.values = AnyTensor::add(found.values, 1.0);  // may go over the old values, not over the indices
  found.indices = AnyTensor::add(found.indices, 1);
  device().sync();
  for (std::size_t r = 0; r < want.values.size(); ++r) {
    CHECK(values_of(found.values)[r] == want.values[r] + 1);
    CHECK(values_of<std::int64_t>(found.indices)[r] == want.indices[r] + 1);
  }
}

TEST_CASE("equal ops are one, ops of other attributes are not" * doctest::skip(!has_row || !fused)) {
  const AnyTensor x = table();
  Found a, b;
  CHECK(launches_of([&] { a = kth_value(x, 1), b = kth_value(x, 1); }) == 1);
  CHECK(values_of<std::int64_t>(a.indices) == values_of<std::int64_t>(b.indices));
  CHECK(launches_of([&] { a = kth_value(x, 0), b = kth_value(x, 1); }) == 2);
}

TEST_CASE("views are read in place where the kind says so, else copied" * doctest::skip(!has_row || !fused)) {
  const AnyTensor x = table();
  Found found;
  CHECK(launches_of([&] { found = kth_value(x.narrow(1, 1, 3), 0); }) == 1);
  std::vector<float> part;
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 1; c < 4; ++c)
      part.push_back(numbers()[static_cast<std::size_t>(r * kColumns + c)]);
  check_close(found.values, expected(part, 3, 0).values);
  CHECK(launches_of([&] { found = kth_value(x.transpose(0, 1), 0); }) == 2);
  std::vector<float> transposed;
  for (std::int64_t c = 0; c < kColumns; ++c)
    for (std::int64_t r = 0; r < kRows; ++r)
      transposed.push_back(numbers()[static_cast<std::size_t>(r * kColumns + c)]);
  CHECK(values_of<std::int64_t>(found.indices) == expected(transposed, kRows, 0).indices);
}

TEST_CASE("one reads what the other gave" * doctest::skip(!has_row)) {
  // Several launches whose order only the op's further result decides.
  const AnyTensor x = table();
  const Found first = kth_value(x, 0);
  const AnyTensor wide = AnyTensor::add(first.indices.cast(DType::f32).unsqueeze(1), AnyTensor::mul(x, -1.0));
  const Found second = kth_value(wide, 0);
  const AnyTensor both = AnyTensor::add(second.values, first.values);
  const Expected a = expected(numbers(), kColumns, 0);
  std::vector<float> moved = numbers();
  for (std::size_t i = 0; i < moved.size(); ++i)
    moved[i] = static_cast<float>(a.indices[i / kColumns]) - moved[i];
  Expected b = expected(moved, kColumns, 0);
  for (std::size_t r = 0; r < b.values.size(); ++r) b.values[r] += a.values[r];
  check_close(both, b.values);
}

TEST_CASE("work before and after an op that only its further result connects" * doctest::skip(!has_row)) {
  // One kernel for both would have to run before the op and after it.
  const AnyTensor twice = AnyTensor::mul(table(), 2.0);
  const AnyTensor moved = AnyTensor::add(twice, kth_value(twice, 1).indices.cast(DType::f32).unsqueeze(1));
  const std::vector<std::int64_t> indices = expected(numbers(), kColumns, 1).indices;
  std::vector<float> want = numbers();
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] = want[i] * 2 + static_cast<float>(indices[i / kColumns]);
  check_close(moved, want);
}

TEST_CASE("16-bit operands are cast around it" * doctest::skip(!has_row)) {
  const Found found = kth_value(table().cast(DType::bf16), 2);
  CHECK(found.values.dtype() == DType::bf16);
  const std::vector<float> rounded = values_of(table().cast(DType::bf16).cast(DType::f32));
  const Expected want = expected(rounded, kColumns, 2);
  check_close(found.values.cast(DType::f32), want.values);
  CHECK(values_of<std::int64_t>(found.indices) == want.indices);
}

TEST_CASE("results wait in another thread's recorder" * doctest::skip(!has_row)) {
  Found found;
  std::thread([&] { found = kth_value(table(), 1); }).join();
  const Expected want = expected(numbers(), kColumns, 1);
  check_close(AnyTensor::mul(found.values, 1.0), want.values);
  CHECK(values_of<std::int64_t>(found.indices) == want.indices);
}

TEST_CASE("results of a trace that failed are there once it can run" * doctest::skip(!has_row)) {
  const AnyTensor x = table();
  Found found = kth_value(AnyTensor::add(x, 0.125), 1), dropped = kth_value(AnyTensor::add(x, 0.25), 1);
  dropped.values = AnyTensor();
  {
    const ForbidCompilation guard;
    CHECK_THROWS_AS(device().sync(), Error);
    for (const AnyTensor& result : {found.values, found.indices, dropped.indices})
      CHECK(contains(error_of([&] { result.sync(); }), "compilation is forbidden"));
    check_close(x, numbers());  // what was there before is unharmed
  }
  const Expected want = expected(numbers(), kColumns, 1);  // the same number more everywhere: the same order
  check_close(AnyTensor::sub(found.values, 0.125), want.values);
  CHECK(values_of<std::int64_t>(found.indices) == want.indices);
  CHECK(values_of<std::int64_t>(dropped.indices) == want.indices);
  check_close(kth_value(x, 1).values, expected(numbers(), kColumns, 1).values);
}

TEST_CASE("shapes, dtypes and attributes are checked on the caller's line" * doctest::skip(!has_row)) {
  const AnyTensor x = table();
  const std::string shape = error_of([&] { kth_value(x, kColumns); });
  CHECK(contains(shape, "[kth_value] (7, 5) has no element 5 in each row"));
  CHECK(contains(shape, "library_op_test.cpp"));
  CHECK_THROWS_AS(kth_value(x.cast(DType::i32), 0), DTypeError);
  CHECK_THROWS_AS(kth_value(AnyTensor(), 0), Error);
  const std::vector<tensor::Operand> operands(17, tensor::Operand(x));
  AnyTensor results[2];
  CHECK(contains(error_of([&] {
                   tensor::apply_library(kth_value_kind(), operands, {{0}}, results, Location::current());
                 }),
                 "1 to 16 operands"));
  KthValue second;
  CHECK(contains(error_of([&] { library::add_kind(second); }), "of the name kth_value already"));
}

TEST_CASE("an operation without a gradient rule says so" * doctest::skip(!has_row)) {
  const AnyTensor x = tensor_of(numbers(), {kRows, kColumns}, device().autodiff()).require_grad();
  const AnyTensor loss = kth_value(x, 1).values.sum(0).reshape({});
  const std::string error = error_of([&] { loss.backward(); });
  CHECK(contains(error, "[kth_value] has no gradient rule"));
  CHECK(contains(error, "library_op_test.cpp"));
  CHECK_NOTHROW(kth_value(x.detach(), 1));
}

TEST_CASE("reports name it" * doctest::skip(!has_row || !fused)) {
  const AnyTensor x = table();
  const Report report = explain([&] { return kth_value(x, 4).indices; });
  const ReportLaunch& launch = report.traces.at(0).launches.at(0);
  CHECK(launch.kind == ReportLaunch::Kind::Library);
  CHECK(launch.ops == std::vector<std::string>{"kth_value"});
  CHECK(launch.how == "kth_value 4 of 7x5");
  CHECK(launch.accesses.size() == 3);
  CHECK(launch.bytes_read == kRows * kColumns * 4);
  CHECK(launch.bytes_written == kRows * 4 + kRows * 8);
  CHECK(contains(report.to_text(), "kth_value"));
}

TEST_CASE("a device that plans and never runs has no need of a row") {
  const Device null = Device::null();
  const AnyTensor x = AnyTensor::full({kRows, kColumns}, 1.0, DType::f32, null);
  null.sync();
  const std::uint64_t before = null.statistics().launches;
  const AnyTensor y = AnyTensor::mul(kth_value(AnyTensor::add(x, 1.0), 1).values, 2.0);
  null.sync();
  CHECK(null.statistics().launches - before == 3);
}

TEST_CASE("a device without a row says so when the operation is recorded, and nothing else is lost") {
  const Device other = has_row ? device_over(make_oracle_backend()) : device();
  const AnyTensor x = tensor_of(numbers(), {kRows, kColumns}, other);
  const AnyTensor before = AnyTensor::mul(x, 2.0);
  const std::string error = error_of([&] { kth_value(x, 0); });
  CHECK(contains(error, "[kth_value] this device (" + other.name() + ") cannot compute it"));
  CHECK(contains(error, "library_op_test.cpp"));
  std::vector<float> twice = numbers();
  for (float& value : twice) value *= 2;
  check_close(before, twice);
  // The backend itself refuses it too.
  KthValueOp op;
  op.rows = op.columns = 1;
  CHECK_THROWS_AS(make_oracle_backend()->prepare(op), DeviceError);
}
