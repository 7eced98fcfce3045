// The oracle of the device tests: evaluates kernel IR and library ops one element at a time, in double and
// int64, and bounds how far a device's result may be from its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/library/conv2d.h"
#include "jit/library/counting.h"
#include "jit/library/indexed_join.h"
#include "jit/library/indexed_sum.h"
#include "jit/library/matmul.h"
#include "jit/library/scan.h"
#include "jit/library/segments.h"
#include "jit/library/sort.h"
#include "src/runtime/backend.h"
#include "src/runtime/library_table.h"
#include "tests/support/reference/precision.h"

namespace sinter::testing {

/// The arguments of a launch; buffers hold their contents before it.
struct Bindings {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::int64_t> ints;
  std::vector<runtime::ScalarValue> scalars;
};

/// A value with an error bound. 0: a device must give the same value. Infinity: rounding may change the
/// result completely (a comparison of almost equal numbers), so any value is accepted.
struct Value {
  DType dtype = DType::f32;
  double real = 0;           // f32, f64
  std::int64_t integer = 0;  // other dtypes; a bool is 0 or 1
  double error = 0;
};

/// The value of an f32 cast to a float of 16 or 8 bits: the nearest.
Value cast_to_stored(DType stored, const Value& value);
/// The same where a device may either round or continue with the unrounded value.
Value kept_as_stored(DType stored, const Value& value);

/// An element in memory.
Value load_value(DType dtype, const std::byte* from);
void store_value(const Value& v, std::byte* to);

/// Elementwise `op` with a result of `dtype`.
Value apply(Op op, DType dtype, std::span<const Value> args, const Precision& precision);

struct ReferenceResult {
  std::vector<std::vector<std::byte>> buffers;  // contents after the launch
  std::vector<std::vector<double>>
      errors;  // for each written buffer, an error bound per element; 0 for elements never stored
  std::vector<std::uint32_t> faults;  // the words of the kernel's LoadAt: 1 where an index was out of range
};

/// Evaluates a kernel. Throws std::logic_error when a load or store is outside its buffer, or an index is not
/// certain.
ReferenceResult evaluate(const ir::Kernel& kernel, const Bindings& bindings, const Precision& precision = {});

/// Compares a buffer's bytes with the oracle's. Empty when they agree, else a sentence about the first
/// element that does not.
std::string difference(DType dtype, std::span<const std::byte> got, std::span<const std::byte> want,
                       std::span<const double> errors);

/// The four 32-bit words of Philox4x32-10.
struct PhiloxWords {
  std::uint32_t word[4];
};
PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1);

/// The library op's result, and for each element the sum of the |terms| added into it.
struct LibraryResult {
  std::vector<double> values, magnitudes;
  std::vector<double> second;  // of an op with two results, exact
  DType second_dtype = DType::f32;
};
LibraryResult reference_matmul(const library::MatMulOp& op, std::span<const double> a,
                               std::span<const double> b);
/// Inputs in the order of the op's comment.
LibraryResult reference_conv2d(const library::Conv2dOp& op, std::span<const double> first,
                               std::span<const double> second);

LibraryResult reference_sort_indices(const library::SortIndicesOp& op, std::span<const double> index);
LibraryResult reference_segment_sum(const library::SegmentSumOp& op, std::span<const double> values,
                                    std::span<const double> sorted);
LibraryResult reference_indexed_sum(const library::IndexedSumOp& op, std::span<const double> values,
                                    std::span<const double> row_of);

LibraryResult reference_indexed_join(const library::IndexedJoinOp& op, std::span<const double> values,
                                     std::span<const double> row_of);

LibraryResult reference_counting(const library::CountingOp& op, std::span<const double> x);

LibraryResult reference_sort(const library::SortOp& op, std::span<const double> x);
LibraryResult reference_search_sorted(const library::SearchSortedOp& op, std::span<const double> sorted,
                                      std::span<const double> values);
LibraryResult reference_scan(const library::ScanOp& op, std::span<const double> x);

/// A library op as the oracle computes it: all operands in, the one result out.
using Evaluate = std::function<LibraryResult(std::span<const std::span<const double>> operands)>;
runtime::LibraryTable<Evaluate(const library::LibraryOp&)>& reference_table();

/// Element counts of a convolution's operands.
std::int64_t input_numel(const library::Conv2dOp& op);
std::int64_t weight_numel(const library::Conv2dOp& op);
std::int64_t output_numel(const library::Conv2dOp& op);

}  // namespace sinter::testing
