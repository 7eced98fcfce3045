// The oracle of the device tests: runs kernel IR and library ops one element at a time, in double and int64,
// and says how far a device's result may be from its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/library_op.h"
#include "src/runtime/backend.h"

namespace sinter::testing {

/// What a kernel is launched with; buffers hold their contents before the launch.
struct Bindings {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::int64_t> ints;
  std::vector<runtime::ScalarValue> scalars;
};

/// How exact a device is taken to be. Adding, subtracting, multiplying, rounding, comparing and casting are
/// always exact: a kernel of only these must give the oracle's bits when `round_f32` is on.
struct Precision {
  bool round_f32 = true;          // round each f32 value as a device does; else only where it is stored
  double division_ulps = 3;       // div, recip, sqrt, rsqrt
  double math_ulps = 8;           // exp, log and the like
  double pow_ulps = 16;           // plus 2 for each power of two in the result
  double wave_absolute = 1e-6;    // sin and cos of f32 beyond pi / 4, in addition
  double normal_absolute = 1e-5;  // of normal random numbers
  double sum_relative = 4e-6;     // of f32 sums, relative to the sum of |terms|
  double sum_relative_f64 = 1e-13;
  double math_relative_f64 = 1e-12;
  bool flushes_denormals = false;  // f32 numbers below 2^-126 may be taken for and turned into 0

  /// Absolute slack of inexact f32 operations.
  double smallest() const { return flushes_denormals ? 1.2e-38 : 1e-44; }
};

/// One value with a bound of its error: 0 means that a device must give the very same value, infinity that
/// rounding may turn the result over (a comparison of almost equal numbers) and nothing can be said.
struct Value {
  DType dtype = DType::f32;
  double real = 0;           // f32, f64
  std::int64_t integer = 0;  // other dtypes; a bool is 0 or 1
  double error = 0;
};

/// What a value of f32 becomes as bf16 or f16 when it is cast: the nearest.
Value cast_to_half(DType half, const Value& value);
/// The same where a device may round, or go on with what it has not stored.
Value kept_as_half(DType half, const Value& value);

/// Elementwise `op` with a result of `dtype`.
Value apply(Op op, DType dtype, std::span<const Value> args, const Precision& precision);

struct ReferenceResult {
  std::vector<std::vector<std::byte>> buffers;  // contents after the launch
  std::vector<std::vector<double>>
      errors;  // for each written buffer a bound per element; elements never stored have 0
  bool fault = false;
};

/// Runs a kernel. Throws std::logic_error when a load or store lies outside its buffer, or an index is not
/// certain.
ReferenceResult evaluate(const ir::Kernel& kernel, const Bindings& bindings, const Precision& precision = {});

/// Compares a buffer's bytes with the oracle's; empty when they agree, else a sentence about the first
/// element that does not.
std::string difference(DType dtype, std::span<const std::byte> got, std::span<const std::byte> want,
                       std::span<const double> errors);

/// The four words of Philox4x32-10.
struct PhiloxWords {
  std::uint32_t word[4];
};
PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1);

/// The library op's result, and for each element the sum of the |terms| it is made of.
struct LibraryResult {
  std::vector<double> values, magnitudes;
};
LibraryResult reference_matmul(const ir::MatMulOp& op, std::span<const double> a, std::span<const double> b);
/// Inputs in the order in which the op's comment names them.
LibraryResult reference_conv2d(const ir::Conv2dOp& op, std::span<const double> first,
                               std::span<const double> second);

/// Numbers of elements of the operands of a convolution.
std::int64_t input_numel(const ir::Conv2dOp& op);
std::int64_t weight_numel(const ir::Conv2dOp& op);
std::int64_t output_numel(const ir::Conv2dOp& op);

}  // namespace sinter::testing
