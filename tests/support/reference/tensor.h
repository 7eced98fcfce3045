// The oracle: a small tensor library that defines the public operations by plain loops over elements in
// double and int64, one operation after the other, independent of the engine. Each element carries a bound of
// the error that a device may make, so a comparison knows what must agree, how closely, and what rounding may
// decide either way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/any_tensor.h>

#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {

struct ReferenceTensor {
  Shape shape;
  DType dtype = DType::f32;
  std::vector<Value> values;  // row-major

  const Value& at(const Dims& coordinates) const;
};

/// Every operation of AnyTensor, with arguments of the same meaning. Arguments must be valid.
class Reference {
 public:
  explicit Reference(Precision precision = {}) : precision_(precision) {}

  // ---- creation
  ReferenceTensor from_bytes(std::span<const std::byte> data, const Shape& shape, DType dtype) const;
  ReferenceTensor full(const Shape& shape, Scalar value, DType dtype) const;
  ReferenceTensor arange(std::int64_t start, std::int64_t stop, std::int64_t step) const;
  /// Restarts the random numbers, like Device::seed.
  void seed(std::uint64_t seed) { seed_ = seed, stream_ = 0; }
  ReferenceTensor uniform(const Shape& shape, double low, double high);
  ReferenceTensor normal(const Shape& shape, double mean, double deviation);

  // ---- elementwise, by op of the table; a number among the operands is a tensor of rank 0 (`scalar`)
  ReferenceTensor scalar(Scalar value, DType dtype) const { return full({}, value, dtype); }
  ReferenceTensor unary(Op op, const ReferenceTensor& x) const;
  ReferenceTensor cast(const ReferenceTensor& x, DType dtype) const;
  ReferenceTensor binary(Op op, const ReferenceTensor& a, const ReferenceTensor& b) const;
  ReferenceTensor where(const ReferenceTensor& condition, const ReferenceTensor& a,
                        const ReferenceTensor& b) const;

  // ---- views
  ReferenceTensor reshape(const ReferenceTensor& x, const Dims& sizes) const;
  ReferenceTensor permute(const ReferenceTensor& x, const Dims& axes) const;
  ReferenceTensor expand(const ReferenceTensor& x, const Dims& sizes) const;
  ReferenceTensor slice(const ReferenceTensor& x, std::span<const Range> ranges) const;
  ReferenceTensor flip(const ReferenceTensor& x, const Dims& axes) const;
  ReferenceTensor windows(const ReferenceTensor& x, std::int64_t axis, std::int64_t size,
                          std::int64_t step) const;
  ReferenceTensor pad(const ReferenceTensor& x, const Dims& before, const Dims& after, Scalar value) const;
  ReferenceTensor place(const ReferenceTensor& x, const Shape& shape, const Dims& start, const Dims& step,
                        Scalar value) const;

  // ---- assembly from parts
  ReferenceTensor slice_assign(const ReferenceTensor& x, std::span<const Range> ranges,
                               const ReferenceTensor& value) const;
  ReferenceTensor cat(const std::vector<ReferenceTensor>& pieces, std::int64_t axis) const;
  ReferenceTensor stack(const std::vector<ReferenceTensor>& pieces, std::int64_t axis) const;
  ReferenceTensor repeat(const ReferenceTensor& x, const Dims& counts) const;
  ReferenceTensor roll(const ReferenceTensor& x, std::int64_t shift, std::int64_t axis) const;

  // ---- reductions: Sum, Prod, Max (any), Min (all)
  ReferenceTensor reduce(Op op, const ReferenceTensor& x, const Dims& axes) const;
  ReferenceTensor mean(const ReferenceTensor& x, const Dims& axes) const;
  ReferenceTensor arg_extreme(Op op, const ReferenceTensor& x, std::int64_t axis) const;

  // ---- indexed reads
  ReferenceTensor gather(const ReferenceTensor& x, std::int64_t axis, const ReferenceTensor& index) const;
  ReferenceTensor index_select(const ReferenceTensor& x, std::int64_t axis,
                               const ReferenceTensor& index) const;

  // ---- indexed sums
  ReferenceTensor index_add(const ReferenceTensor& x, std::int64_t axis, const ReferenceTensor& index,
                            const ReferenceTensor& source) const;
  ReferenceTensor scatter_add(const ReferenceTensor& x, std::int64_t axis, const ReferenceTensor& index,
                              const ReferenceTensor& source) const;

  // ---- scans, sorts, searches
  /// CumSum, CumProd, LogCumSumExp.
  ReferenceTensor scan(Op op, const ReferenceTensor& x, std::int64_t axis, bool reverse,
                       bool exclusive) const;
  /// CumMax, CumMin: the values, or where they stand.
  ReferenceTensor running_extreme(Op op, const ReferenceTensor& x, std::int64_t axis, bool reverse,
                                  bool positions) const;
  ReferenceTensor sort(const ReferenceTensor& x, std::int64_t axis, bool descending, bool positions) const;
  /// `sorted` has one dimension.
  ReferenceTensor search_sorted(const ReferenceTensor& sorted, const ReferenceTensor& values,
                                bool right) const;

  // ---- indexed writes
  ReferenceTensor scatter(const ReferenceTensor& x, std::int64_t axis, const ReferenceTensor& index,
                          const ReferenceTensor& source) const;
  /// Sum, Prod, Max, Min.
  ReferenceTensor scatter_reduce(Op op, const ReferenceTensor& x, std::int64_t axis,
                                 const ReferenceTensor& index, const ReferenceTensor& source,
                                 bool include_self) const;

  // ---- products
  ReferenceTensor matmul(const ReferenceTensor& a, const ReferenceTensor& b) const;
  /// Over two or three dims.
  template <std::size_t N>
  ReferenceTensor convolve(const ReferenceTensor& x, const ReferenceTensor& weight,
                           const ConvOptions<N>& options) const;
  ReferenceTensor conv_transpose2d(const ReferenceTensor& x, const ReferenceTensor& weight,
                                   const ConvTransposeOptions<2>& options) const;
  /// The largest element of each window, or the mean.
  ReferenceTensor pool2d(bool largest, const ReferenceTensor& x, const std::array<std::int64_t, 2>& kernel,
                         const std::array<std::int64_t, 2>& stride,
                         const std::array<std::int64_t, 2>& padding) const;

 private:
  ReferenceTensor add_up(const ReferenceTensor& x, const std::vector<std::vector<Value>>& terms) const;
  Value random(std::uint64_t element, std::uint64_t stream, bool normal) const;

  Precision precision_;
  std::uint64_t seed_ = 0, stream_ = 0;
};

/// The elements' bytes, as in device memory.
std::vector<std::byte> bytes_of(const ReferenceTensor& tensor);

/// Reads `got` and compares. Empty when both agree, else a sentence with the difference.
std::string difference(const AnyTensor& got, const ReferenceTensor& want);

/// "(2, 3) f32 [0, 1.5, ...]", for messages.
std::string describe(const ReferenceTensor& tensor, std::size_t most = 12);

/// Calls body(Dims) for every coordinate of a shape, row-major.
template <class Body>
void for_each_coordinate(const Shape& shape, const Body& body) {
  const std::int64_t count = shape.numel();
  Dims at = Dims::filled(shape.rank(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    body(static_cast<const Dims&>(at));
    for (std::size_t d = shape.rank(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

/// A tensor whose element at each coordinate is element(Dims).
template <class Element>
ReferenceTensor build(const Shape& shape, DType dtype, const Element& element) {
  ReferenceTensor result{shape, dtype, {}};
  result.values.reserve(static_cast<std::size_t>(shape.numel()));
  for_each_coordinate(shape, [&](const Dims& at) {
    Value value = element(at);
    value.dtype = dtype;
    result.values.push_back(value);
  });
  return result;
}

}  // namespace sinter::testing
