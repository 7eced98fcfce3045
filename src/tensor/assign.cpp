// Replaces a part of a tensor. Values never change: the result is another tensor, written over the old one's
// memory where nothing else holds that.
#include <algorithm>
#include <array>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace tensor {

AnyTensor assign_to(const AnyTensor& x, const AnyTensor& value, const Dims& start, const Dims& step,
                    bool unseen, const Location& where) {
  const DType dtype = x.value()->dtype;
  const Shape &shape = x.value()->shape, &sizes = value.value()->shape;
  const std::size_t rank = shape.rank();
  std::array<std::int64_t, 3 * kMaxRank + 1> ints;
  for (std::size_t i = 0; i < rank; ++i) {
    ints[i] = start[i];
    ints[rank + i] = step[i];
    ints[2 * rank + i] = sizes[i];
  }
  ints[3 * rank] = unseen;
  const AnyTensor::Operand operands[] = {x, value};
  return apply(Op::SliceAssign, operands, std::span(ints.data(), 3 * rank + 1), {}, shape, dtype, where);
}

}  // namespace tensor

namespace {

/// Assigns `value`, which has the part's shape.
AnyTensor assign(const AnyTensor& x, const AnyTensor& value, const tensor::Part& part,
                 const Location& where) {
  Dims start(part.start), step(part.step), backwards;
  for (std::size_t i = 0; i < start.rank(); ++i) {
    if (part.sizes[i] <= 1) step[i] = 1;
    if (step[i] > 0) continue;
    backwards.push_back(static_cast<std::int64_t>(i));  // the op itself has positive steps only
    start[i] += (part.sizes[i] - 1) * step[i];
    step[i] = -step[i];
  }
  const AnyTensor forward = backwards.empty() ? value : value.flip(Axes(backwards), where);
  if (part.sizes == x.shape()) return forward;  // replaces every element, in order
  return tensor::assign_to(x, forward, start, step, false, where);
}

}  // namespace

AnyTensor AnyTensor::slice_assign(std::span<const Range> ranges, const AnyTensor& value,
                                  Location where) const {
  const trace::Value& x = tensor::value_of("slice_assign", *this, where);
  const trace::Value& given = tensor::value_of("slice_assign", value, where);
  tensor::check_same_dtype("slice_assign", x.dtype, given.dtype, where);
  const tensor::Part part = tensor::part_of("slice_assign", ranges, x.shape, where);
  bool fits = given.shape.rank() <= part.sizes.rank();
  for (std::size_t i = 1; fits && i <= given.shape.rank(); ++i) {
    const std::int64_t size = given.shape[given.shape.rank() - i];
    fits = size == 1 || size == part.sizes[part.sizes.rank() - i];
  }
  if (!fits)
    throw ShapeError("[slice_assign] a value of shape " + to_string(given.shape) + " does not fit the part " +
                         to_string(part.sizes) + " of shape " + to_string(x.shape),
                     where);
  if (part.sizes.numel() == 0) return *this;
  return assign(*this, tensor::broadcast_to(value, part.sizes, where), part, where);
}

AnyTensor AnyTensor::slice_fill(std::span<const Range> ranges, Scalar number, Location where) const {
  const trace::Value& x = tensor::value_of("slice_fill", *this, where);
  const tensor::Part part = tensor::part_of("slice_fill", ranges, x.shape, where);
  const AnyTensor value =
      full(part.sizes, tensor::fit("slice_fill", number, x.dtype, where), x.dtype, device(), where);
  if (part.sizes.numel() == 0) return *this;
  return assign(*this, value, part, where);
}

AnyTensor AnyTensor::mask_where(const AnyTensor& mask, const AnyTensor& value, Location where) const {
  return AnyTensor::where(mask, value, *this, where);
}
AnyTensor AnyTensor::mask_fill(const AnyTensor& mask, Scalar number, Location where) const {
  return AnyTensor::where(mask, number, *this, where);
}

}  // namespace sinter
