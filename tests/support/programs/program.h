// A program over tensors as plain data: it can be printed, run on a device, run on the oracle, and shrunk
// while it still fails.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sinter/any_tensor.h>

#include "tests/support/reference/tensor.h"

namespace sinter::testing {

enum class StepKind : std::uint8_t {
  // make a value: step number k makes the value vk and a handle to it
  Input,
  Full,
  Arange,
  Uniform,
  Normal,
  Unary,
  Cast,
  Binary,
  Where,
  Reshape,
  Permute,
  Expand,
  Slice,
  Flip,
  Windows,
  Pad,
  Place,
  SliceAssign,
  SliceFill,
  Cat,
  Stack,
  Repeat,
  Roll,
  Reduce,
  Mean,
  ArgMax,
  ArgMin,
  Gather,
  IndexSelect,
  IndexAdd,
  ScatterAdd,
  MatMul,
  Conv2d,
  Conv3d,
  ConvTranspose2d,
  MaxPool,
  AvgPool,
  Scan,
  Sort,
  TopK,
  SearchSorted,
  Scatter,
  ScatterReduce,
  IndexCopy,
  Alias,  // a second handle
  // act on handles
  Drop,
  Read,
  Sync,
  Flush,
};

struct Argument {
  int step = -1;  // the step whose handle it is; -1: a scalar
  Scalar number = 0;
};

/// One step. Each kind uses some of the fields, with the meaning they have in the operation of that name.
struct Step {
  StepKind kind = StepKind::Input;
  Op op = Op::Add;  // Unary, Binary, Reduce, Scan, ScatterReduce
  std::vector<Argument> args;
  DType dtype = DType::f32;  // Input, Full, Cast
  Shape shape;               // creation, Place
  Dims dims, more;           // sizes or axes; before and after; start and step
  std::vector<Range> ranges;
  std::int64_t axis = 0, size = 0, step = 1;  // Windows, Gather, Cat, Roll (step); Arange: start, stop, step
  double low = 0, high = 1;                   // Uniform; Normal: mean, deviation
  Scalar fill = 0;                            // Full, Pad, Place, SliceFill
  std::uint64_t seed = 0;                     // Input: of its data
  std::int64_t range = 0;                     // Input: integers in [0, range) if positive
  std::vector<double> numbers;                // Input: the data itself, if any
  Conv2dOptions options;                      // convolutions and, with `kernel`, pools
  ConvOptions<3> of_volumes;                  // Conv3d
  std::array<std::int64_t, 2> kernel{1, 1};
  bool reverse = false;    // Scan; Sort: descending; TopK: the smallest; SearchSorted: right
  bool exclusive = false;  // Scan; ScatterReduce: without the element itself
  bool positions = false;  // Scan, Sort, TopK: where the values stand instead of the values

  Step(StepKind k = StepKind::Input) : kind(k) {}
  bool makes_value() const { return kind < StepKind::Drop; }
};

struct Program {
  std::vector<Step> steps;
};

/// The data of an Input step.
std::vector<std::byte> input_bytes(const Step& step);

/// The value of a step on the oracle; `values` holds those of all earlier steps.
ReferenceTensor evaluate(const Step& step, const std::vector<ReferenceTensor>& values, Reference& reference);
std::vector<ReferenceTensor> evaluate(const Program& program, Reference reference);

/// One line for each step, with shape and dtype where `values` has them.
std::string to_text(const Program& program, const std::vector<ReferenceTensor>& values = {});

/// The value of a step on a device; `handles` holds those of all earlier steps.
AnyTensor execute(const Step& step, const std::vector<AnyTensor>& handles, const Device& device);

/// Runs the program on a device with fresh handles, from seed 0. Compares values that the program reads and,
/// at the end, every live handle. Returns an empty string, or the error and its step. `bits` receives all
/// bytes that were read.
std::string run(const Program& program, const std::vector<ReferenceTensor>& values, const Device& device,
                std::vector<std::byte>& bits);

/// Runs the program twice. The second run must find all plans and give the same bits, and no memory may leak.
std::string check(const Program& program, const Device& device);

/// A smaller program that still fails; tries at most `attempts` programs.
Program shrink(Program program, const std::function<bool(const Program&)>& fails, int attempts);

}  // namespace sinter::testing
