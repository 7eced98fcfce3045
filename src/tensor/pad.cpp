// Places elements in a larger tensor: padding, and the inverse of a strided slice.
#include <algorithm>
#include <array>

#include "src/base/size_arithmetic.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

AnyTensor put(const AnyTensor& x, const Shape& shape, const Dims& start, const Dims& step, Scalar value,
              const Location& where) {
  const std::size_t rank = shape.rank();
  std::array<std::int64_t, 2 * kMaxRank> ints;
  for (std::size_t i = 0; i < rank; ++i) {
    ints[i] = start[i];
    ints[rank + i] = step[i];
  }
  const Scalar fill = tensor::fit("pad", value, x.value()->dtype, where);
  const AnyTensor::Operand operands[] = {x};
  return tensor::apply(Op::Pad, operands, std::span(ints.data(), 2 * rank), {&fill, 1}, shape,
                       x.value()->dtype, where);
}

}  // namespace

AnyTensor AnyTensor::pad(const Dims& before, const Dims& after, Scalar value, Location where) const {
  const trace::Value& x = tensor::value_of("pad", *this, where);
  Shape shape(x.shape);
  const base::SizeArithmetic sizes("pad", where);
  bool fits = before.rank() == shape.rank() && after.rank() == shape.rank();
  for (std::size_t i = 0; fits && i < shape.rank(); ++i) {
    fits = before[i] >= 0 && after[i] >= 0;
    if (fits) shape[i] = sizes.sum(sizes.sum(shape[i], before[i]), after[i]);
  }
  if (!fits)
    throw ShapeError("[pad] " + to_string(before) + " before and " + to_string(after) +
                         " after do not pad shape " + to_string(x.shape) +
                         ": one number, zero or more, for each axis",
                     where);
  if (shape == x.shape) return *this;
  return put(*this, shape, before, Dims::filled(shape.rank(), 1), value, where);
}

AnyTensor AnyTensor::place(const Shape& shape, const Dims& start, const Dims& step, Scalar value,
                           Location where) const {
  const trace::Value& x = tensor::value_of("place", *this, where);
  const std::size_t rank = x.shape.rank();
  if (shape.rank() != rank || start.rank() != rank || step.rank() != rank)
    throw ShapeError("[place] shape " + to_string(x.shape) + " wants " + std::to_string(rank) +
                         " sizes, starts and steps; "
                         "given " +
                         to_string(shape) + ", " + to_string(start) + ", " + to_string(step),
                     where);
  const base::SizeArithmetic sizes("place", where);
  Dims first(start), stride(step), backwards;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t count = x.shape[i];
    if (count <= 1) stride[i] = 1;
    if (count == 0) {
      first[i] = 0;
      continue;
    }
    const std::int64_t last = sizes.sum(first[i], sizes.product(count - 1, stride[i]));
    if (stride[i] == 0 || std::min(first[i], last) < 0 || std::max(first[i], last) >= shape[i])
      throw ShapeError("[place] axis " + std::to_string(i) + " of shape " + to_string(x.shape) +
                           ", started at " + std::to_string(start[i]) + " with step " +
                           std::to_string(step[i]) + ", is outside of shape " + to_string(shape),
                       where);
    if (stride[i] < 0) {  // the op itself has positive steps only
      backwards.push_back(static_cast<std::int64_t>(i));
      first[i] = last;
      stride[i] = -stride[i];
    }
  }
  const AnyTensor forward = backwards.empty() ? *this : flip(Axes(backwards), where);
  if (shape == x.shape) return forward;  // covers every element, in order
  return put(forward, shape, first, stride, value, where);
}

}  // namespace sinter
