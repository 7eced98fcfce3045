// The conformance suite: matrix products and convolutions.
#include <array>
#include <cmath>
#include <exception>
#include <optional>
#include <string>

#include "tests/conformance/backend_conformance.h"
#include "tests/conformance/conformance_runner.h"
#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

using Direction = library::Conv2dOp::Direction;

/// What operands and results are stored in.
using Stored = std::array<std::optional<DType>, 3>;

std::string stored_text(const library::ProductOp& op) {
  std::string text;
  for (const std::optional<DType>& dtype : op.stored)
    text += dtype ? " " + std::string(name_of(*dtype)) : " -";
  return op.is_stored_otherwise() ? text : "";
}

/// What rounding to a dtype of 16 bits may add to an error, for each unit of the result: half a step of what
/// is found, and half a step of what is wanted.
double rounding_of(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : dtype == DType::f16 ? 0x1p-10 : 0; }

std::string text_of(const library::MatMulOp& op) {
  const auto strides = [](std::int64_t batch, std::int64_t row, std::int64_t column) {
    return " (" + std::to_string(batch) + ", " + std::to_string(row) + ", " + std::to_string(column) + ")";
  };
  return "matmul " + std::string(name_of(op.dtype)) + stored_text(op) + " batch " + std::to_string(op.batch) +
         " m " + std::to_string(op.m) + " n " + std::to_string(op.n) + " k " + std::to_string(op.k) +
         strides(op.a_batch, op.a_row, op.a_column) + strides(op.b_batch, op.b_row, op.b_column);
}

std::string text_of(const library::Conv2dOp& op) {
  const char* names[] = {"conv2d", "conv2d backward input", "conv2d backward weight"};
  std::string text = names[static_cast<int>(op.direction)];
  const auto add = [&](const char* name, std::initializer_list<std::int64_t> values) {
    text += std::string(" ") + name;
    for (const std::int64_t v : values) text += " " + std::to_string(v);
  };
  text += " " + std::string(name_of(op.dtype)) + stored_text(op);
  add("x", {op.n, op.c_in, op.h, op.w});
  add("weight", {op.c_out, op.c_in / op.groups, op.kh, op.kw});
  add("y", {op.oh, op.ow});
  add("stride", {op.stride[0], op.stride[1]});
  add("padding", {op.padding[0], op.padding[1]});
  add("dilation", {op.dilation[0], op.dilation[1]});
  add("groups", {op.groups});
  return text;
}

class LibraryChecks {
 public:
  LibraryChecks(runtime::Backend& backend, const ConformanceOptions& options)
      : backend_(backend), options_(options) {}

  void matmuls(DType dtype, const Stored& stored = {}) {
    struct Sizes {
      std::int64_t batch, m, n, k;
    };
    const Sizes all[] = {{1, 1, 1, 1},      {1, 2, 3, 4},      {1, 64, 64, 64},   {1, 65, 63, 17},
                         {3, 5, 7, 11},     {1, 1, 128, 300},  {1, 300, 1, 128},  {1, 128, 128, 1},
                         {2, 33, 1, 1},     {1, 16, 16, 4096}, {1, 131, 140, 90}, {7, 32, 48, 16},
                         {1, 129, 257, 33}, {1, 10, 512, 64},  {2, 1, 1, 77},     {1, 0, 4, 3},
                         {1, 4, 0, 3},      {1, 4, 3, 0},      {0, 3, 3, 3},      {2, 5, 6, 0},
                         {1, 3, 200, 65},   {1, 24, 333, 517}, {5, 20, 20, 31},   {1, 300, 40, 261}};
    for (const Sizes& s : all)
      for (const bool a_transposed : {false, true})
        for (const bool b_transposed : {false, true})
          for (const std::int64_t gap : {0, 3}) {
            library::MatMulOp op;
            op.dtype = dtype;
            op.stored = stored;
            op.batch = s.batch, op.m = s.m, op.n = s.n, op.k = s.k;
            op.a_row = a_transposed ? 1 : s.k + gap;
            op.a_column = a_transposed ? s.m + gap : 1;
            op.b_row = b_transposed ? 1 : s.n + gap;
            op.b_column = b_transposed ? s.k + gap : 1;
            op.a_batch = (s.k + gap) * (s.m + gap);
            op.b_batch = (s.k + gap) * (s.n + gap);
            matmul(op);
            if (s.batch > 1 && gap == 0) {
              op.b_batch = 0;
              matmul(op);
            }
          }
  }

  void convolutions(DType dtype, const Stored& stored = {}) {
    struct Sizes {
      std::int64_t n, c_in, h, w, c_out, kh, kw, stride_y, stride_x, padding_y, padding_x, dilation_y,
          dilation_x, groups;
    };
    const Sizes all[] = {
        {1, 1, 3, 3, 1, 3, 3, 1, 1, 0, 0, 1, 1, 1},    {2, 1, 28, 28, 8, 3, 3, 1, 1, 0, 0, 1, 1, 1},
        {3, 8, 13, 12, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1}, {2, 3, 11, 9, 5, 3, 3, 2, 2, 1, 1, 1, 1, 1},
        {2, 4, 9, 17, 6, 1, 1, 1, 1, 0, 0, 1, 1, 1},   {1, 2, 10, 10, 3, 3, 2, 1, 2, 0, 1, 1, 1, 1},
        {2, 4, 12, 12, 4, 3, 3, 1, 1, 2, 2, 2, 2, 1},  {2, 6, 8, 8, 4, 3, 3, 1, 1, 1, 1, 1, 1, 2},
        {1, 5, 9, 9, 5, 3, 3, 2, 1, 1, 1, 1, 1, 5},    {2, 4, 7, 7, 8, 5, 5, 3, 3, 2, 2, 1, 1, 4},
        {1, 3, 20, 6, 7, 7, 1, 2, 1, 3, 0, 1, 3, 1},   {1, 2, 4, 4, 2, 4, 4, 1, 1, 3, 3, 1, 1, 1},
        {2, 2, 6, 6, 3, 1, 1, 2, 3, 0, 0, 1, 1, 1},    {0, 2, 5, 5, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1},
        {4, 16, 14, 14, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1}};
    for (const Sizes& s : all)
      for (const Direction direction :
           {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight}) {
        library::Conv2dOp op;
        op.direction = direction;
        op.dtype = dtype;
        op.stored = stored;
        op.n = s.n, op.c_in = s.c_in, op.h = s.h, op.w = s.w;
        op.c_out = s.c_out, op.kh = s.kh, op.kw = s.kw;
        op.stride = {s.stride_y, s.stride_x};
        op.padding = {s.padding_y, s.padding_x};
        op.dilation = {s.dilation_y, s.dilation_x};
        op.groups = s.groups;
        op.oh = (s.h + 2 * s.padding_y - s.dilation_y * (s.kh - 1) - 1) / s.stride_y + 1;
        op.ow = (s.w + 2 * s.padding_x - s.dilation_x * (s.kw - 1) - 1) / s.stride_x + 1;
        convolution(op);
      }
  }

  void report() const { failures_.report("library ops"); }

 private:
  void matmul(const library::MatMulOp& op) {
    const auto extent = [](std::int64_t n, std::int64_t stride) { return n > 0 ? (n - 1) * stride : 0; };
    const std::int64_t a =
        extent(op.batch, op.a_batch) + extent(op.m, op.a_row) + extent(op.k, op.a_column) + 1;
    const std::int64_t b =
        extent(op.batch, op.b_batch) + extent(op.k, op.b_row) + extent(op.n, op.b_column) + 1;
    check(op, text_of(op), a, b, [&](const auto& x, const auto& y) { return reference_matmul(op, x, y); });
  }

  void convolution(const library::Conv2dOp& op) {
    const std::int64_t first = op.direction == Direction::BackwardInput ? output_numel(op) : input_numel(op);
    const std::int64_t second =
        op.direction == Direction::BackwardWeight ? output_numel(op) : weight_numel(op);
    check(op, text_of(op), first, second,
          [&](const auto& x, const auto& y) { return reference_conv2d(op, x, y); });
  }

  template <class Reference>
  void check(const library::ProductOp& op, const std::string& name, std::int64_t first, std::int64_t second,
             const Reference& reference) {
    const DType of_x = op.dtype_of_operand(0), of_y = op.dtype_of_operand(1), dtype = op.dtype_of_result(0);
    const auto numbers = [&](DType stored, std::int64_t count) {
      const double most = stored == DType::i8 ? 128 : 3;
      return to_bytes(stored, data_.reals(static_cast<std::size_t>(count), -most, most));
    };
    const auto x = numbers(of_x, first), y = numbers(of_y, second);
    const LibraryResult want = reference(to_doubles(of_x, x), to_doubles(of_y, y));
    const double relative =
        op.dtype == DType::f32 ? options_.library_relative : options_.library_relative_f64;
    std::vector<double> errors;
    for (std::size_t i = 0; i < want.values.size(); ++i)
      errors.push_back(want.magnitudes[i] * relative * (1 + rounding_of(dtype)) +
                       std::abs(want.values[i]) * rounding_of(dtype));
    const std::vector<std::byte> unset(want.values.size() * size_of(dtype), std::byte{0xCD});
    try {
      const runtime::ExecutableRef executable = backend_.prepare(op);
      const auto run = [&] {
        const GuardedBuffers buffers(backend_, {x, y, unset});
        backend_.wait_until_ready(*executable, {}, 1);
        backend_.begin(nullptr, {executable->workspace_bytes({}, 1), 0});
        try {
          backend_.launch(*executable, {buffers.views(), {}, {}});
        } catch (...) {
          backend_.abandon();
          throw;
        }
        backend_.submit();
        return buffers.read()[2];
      };
      const auto got = run();
      const std::string d = difference(dtype, got, to_bytes(dtype, want.values), errors);
      if (!d.empty())
        failures_.add("[" + name + "] " + d);
      else if (run() != got)
        failures_.add("[" + name + "] gave other bits when it was run again");
    } catch (const std::exception& e) {
      failures_.add("[" + name + "] threw: " + e.what());
    }
  }

  runtime::Backend& backend_;
  const ConformanceOptions& options_;
  TestData data_{99};
  Failures failures_;
};

}  // namespace

void check_library_ops(runtime::Backend& backend, const ConformanceOptions& options) {
  LibraryChecks checks(backend, options);
  for (const DType dtype : {DType::f32, DType::f64}) {
    if (!backend.traits().supports(dtype)) continue;
    checks.matmuls(dtype);
    checks.convolutions(dtype);
  }
  if (backend.traits().narrow_products) {
    constexpr auto kBf16 = DType::bf16, kF16 = DType::f16;
    for (const Stored& stored :
         {Stored{kBf16, kBf16}, Stored{kBf16, kBf16, kBf16}, Stored{kF16, kF16}, Stored{kF16, kF16, kF16},
          Stored{kBf16, std::nullopt}, Stored{std::nullopt, kF16}, Stored{kBf16, kF16, kBf16}}) {
      checks.matmuls(DType::f32, stored);
      checks.convolutions(DType::f32, stored);
    }
    constexpr auto kI8 = DType::i8;
    for (const Stored& stored : {Stored{kI8, kI8}, Stored{kI8, kI8, kBf16}, Stored{kI8, std::nullopt},
                                 Stored{std::nullopt, kI8, kF16}, Stored{kBf16, kI8}})
      checks.matmuls(DType::f32, stored);
  }
  checks.report();
}

}  // namespace sinter::testing
