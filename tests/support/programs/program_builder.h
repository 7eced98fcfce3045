// Programs written by hand, one call for each step, for the tests of single operations.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program.h"
#include "tests/support/test_device.h"

namespace sinter::testing {

/// A value is identified by the number that its creating call returned.
class ProgramBuilder {
 public:
  // ---- creation
  int input(const Shape& shape, DType dtype, std::int64_t range = 0) {
    Step s(StepKind::Input);
    s.shape = shape;
    s.dtype = dtype;
    s.range = range;
    s.seed = program_.steps.size() * 7 + 1;
    return add(std::move(s));
  }
  int numbers(const Shape& shape, DType dtype, std::vector<double> numbers) {
    Step s(StepKind::Input);
    s.shape = shape;
    s.dtype = dtype;
    s.numbers = std::move(numbers);
    return add(std::move(s));
  }
  int full(const Shape& shape, Scalar value, DType dtype) {
    Step s(StepKind::Full);
    s.shape = shape;
    s.fill = value;
    s.dtype = dtype;
    return add(std::move(s));
  }
  int arange(std::int64_t start, std::int64_t stop, std::int64_t step) {
    Step s(StepKind::Arange);
    s.axis = start;
    s.size = stop;
    s.step = step;
    return add(std::move(s));
  }
  int random(StepKind kind, const Shape& shape, double a, double b) {
    Step s(kind);
    s.shape = shape;
    s.low = a;
    s.high = b;
    return add(std::move(s));
  }

  // ---- elementwise
  int unary(Op op, int x) { return with_op(StepKind::Unary, op, {{x}}); }
  int binary(Op op, Argument a, Argument b) { return with_op(StepKind::Binary, op, {a, b}); }
  int where(int condition, Argument a, Argument b) {
    return with_op(StepKind::Where, Op::Where, {{condition}, a, b});
  }
  int cast(int x, DType dtype) {
    Step s = of(StepKind::Cast, x);
    s.dtype = dtype;
    return add(std::move(s));
  }

  // ---- views
  int dims(StepKind kind, int x, const Dims& dims) {  // reshape, permute, expand, flip; mean
    Step s = of(kind, x);
    s.dims = dims;
    return add(std::move(s));
  }
  int reshape(int x, const Dims& sizes) { return dims(StepKind::Reshape, x, sizes); }
  int permute(int x, const Dims& axes) { return dims(StepKind::Permute, x, axes); }
  int expand(int x, const Dims& sizes) { return dims(StepKind::Expand, x, sizes); }
  int flip(int x, const Dims& axes) { return dims(StepKind::Flip, x, axes); }
  int slice(int x, std::vector<Range> ranges) {
    Step s = of(StepKind::Slice, x);
    s.ranges = std::move(ranges);
    return add(std::move(s));
  }
  int windows(int x, std::int64_t axis, std::int64_t size, std::int64_t step) {
    Step s = of(StepKind::Windows, x);
    s.axis = axis;
    s.size = size;
    s.step = step;
    return add(std::move(s));
  }
  int pad(int x, const Dims& before, const Dims& after, Scalar fill) {
    Step s = of(StepKind::Pad, x);
    s.dims = before;
    s.more = after;
    s.fill = fill;
    return add(std::move(s));
  }
  int place(int x, const Shape& shape, const Dims& start, const Dims& step, Scalar fill) {
    Step s = of(StepKind::Place, x);
    s.shape = shape;
    s.dims = start;
    s.more = step;
    s.fill = fill;
    return add(std::move(s));
  }

  // ---- assembly from parts
  int slice_assign(int x, std::vector<Range> ranges, int value) {
    Step s = of(StepKind::SliceAssign, x);
    s.ranges = std::move(ranges);
    s.args.push_back({value});
    return add(std::move(s));
  }
  int slice_fill(int x, std::vector<Range> ranges, Scalar number) {
    Step s = of(StepKind::SliceFill, x);
    s.ranges = std::move(ranges);
    s.fill = number;
    return add(std::move(s));
  }
  int join(StepKind kind, const std::vector<int>& pieces, std::int64_t axis) {  // cat, stack
    Step s(kind);
    for (int piece : pieces) s.args.push_back({piece});
    s.axis = axis;
    return add(std::move(s));
  }
  int cat(const std::vector<int>& pieces, std::int64_t axis) { return join(StepKind::Cat, pieces, axis); }
  int repeat(int x, const Dims& counts) { return dims(StepKind::Repeat, x, counts); }
  int roll(int x, std::int64_t shift, std::int64_t axis) {
    Step s = of(StepKind::Roll, x);
    s.step = shift;
    s.axis = axis;
    return add(std::move(s));
  }

  // ---- reductions, indexed reads, products
  int reduce(Op op, int x, const Dims& axes) {
    Step s = of(StepKind::Reduce, x);
    s.op = op;
    s.dims = axes;
    return add(std::move(s));
  }
  int mean(int x, const Dims& axes) { return dims(StepKind::Mean, x, axes); }
  int arg(StepKind kind, int x, std::int64_t axis) {
    Step s = of(kind, x);
    s.axis = axis;
    return add(std::move(s));
  }
  int indexed(StepKind kind, int x, std::int64_t axis, int index) {
    Step s = of(kind, x);
    s.axis = axis;
    s.args.push_back({index});
    return add(std::move(s));
  }
  /// IndexAdd, ScatterAdd.
  int added(StepKind kind, int x, std::int64_t axis, int index, int source) {
    Step s = of(kind, x);
    s.axis = axis;
    s.args.push_back({index});
    s.args.push_back({source});
    return add(std::move(s));
  }
  int matmul(int a, int b) { return with_op(StepKind::MatMul, Op::MatMul, {{a}, {b}}); }
  int conv2d(int x, int weight, const Conv2dOptions& options) {
    Step s = of(StepKind::Conv2d, x);
    s.args.push_back({weight});
    s.options = options;
    return add(std::move(s));
  }

  // ---- handles
  void drop(int x) { add(of(StepKind::Drop, x)); }
  void read(int x) { add(of(StepKind::Read, x)); }
  void flush() { add(Step(StepKind::Flush)); }

  /// One doctest check that the program runs correctly on the device; a failure prints the shrunk program.
  void expect(const Device& device, const std::string& what) {
    const std::string wrong = check(program_, device);
    if (wrong.empty()) {
      CHECK(wrong.empty());
      return;
    }
    const Program smaller = shrink(
        program_, [&](const Program& p) { return !check(p, device).empty(); },
        compiles_slowly(device) ? 30 : 300);
    const std::string now = check(smaller, device);
    FAIL_CHECK(what << ": " << wrong << "\nsmaller:\n"
                    << to_text(smaller, evaluate(smaller, Reference(precision_of(device))))
                    << "which gives: " << now);
  }

 private:
  static Step of(StepKind kind, int x) {
    Step s(kind);
    s.args = {{x}};
    return s;
  }
  int with_op(StepKind kind, Op op, std::vector<Argument> args) {
    Step s(kind);
    s.op = op;
    s.args = std::move(args);
    return add(std::move(s));
  }
  int add(Step step) {
    program_.steps.push_back(std::move(step));
    return static_cast<int>(program_.steps.size()) - 1;
  }

  Program program_;
};

/// The dtypes that a device computes with.
inline std::vector<DType> computed_dtypes(const Device& device) {
  std::vector<DType> dtypes = {DType::f32, DType::i32, DType::i64, DType::boolean, DType::i8,
                               DType::i16, DType::u8,  DType::u16, DType::u32,     DType::u64};
  if (has_dtype(device, DType::f64)) dtypes.push_back(DType::f64);
  if (has_dtype(device, DType::bf16)) dtypes.insert(dtypes.end(), {DType::bf16, DType::f16});
  dtypes.insert(dtypes.end(), {DType::f8_e4m3, DType::f8_e5m2});
  return dtypes;
}

}  // namespace sinter::testing
