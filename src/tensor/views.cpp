// Views: the same elements in another shape or order. A view that changes nothing records nothing.
#include <algorithm>
#include <array>

#include "src/base/size_arithmetic.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using tensor::apply_view;
using tensor::axis_of;
using tensor::value_of;

std::string at_axis(std::size_t axis, const Shape& shape) {
  return " of axis " + std::to_string(axis) + " of shape " + to_string(shape);
}

/// The part of one dimension that `range` selects.
struct DimPart {
  std::int64_t start, step, count;
};
DimPart part_of_dim(std::string_view op, const Range& range, std::size_t axis, const Shape& shape,
                    const Location& where) {
  const std::int64_t size = shape[axis];
  if (range.step == 0)
    throw ShapeError("[" + std::string(op) + "] the step" + at_axis(axis, shape) + " is 0", where);
  // A longer step than this takes the same one element.
  const std::int64_t step =
      std::clamp(range.step, -std::max<std::int64_t>(size, 1), std::max<std::int64_t>(size, 1));
  // What lies beyond an end is cut, as in Python.
  const auto between = [&](std::int64_t position, std::int64_t low, std::int64_t high) {
    return std::clamp(position < 0 ? std::max(position, -size - 1) + size : position, low, high);
  };
  if (step > 0) {
    const std::int64_t start = range.start ? between(*range.start, 0, size) : 0;
    const std::int64_t stop = range.stop ? between(*range.stop, 0, size) : size;
    const std::int64_t count = stop > start ? (stop - start - 1) / step + 1 : 0;
    return {count ? start : 0, step, count};
  }
  const std::int64_t start = range.start ? between(*range.start, -1, size - 1) : size - 1;
  const std::int64_t stop = range.stop ? between(*range.stop, -1, size - 1) : -1;
  const std::int64_t count = start > stop ? (start - stop - 1) / -step + 1 : 0;
  return {count ? start : 0, step, count};
}

}  // namespace

namespace tensor {

Part part_of(std::string_view op, std::span<const Range> ranges, const Shape& shape, const Location& where) {
  if (ranges.size() > shape.rank())
    throw ShapeError("[" + std::string(op) + "] " + std::to_string(ranges.size()) + " ranges for shape " +
                         to_string(shape),
                     where);
  Part part{Dims::filled(shape.rank(), 0), Dims::filled(shape.rank(), 1), shape};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (!range.start && !range.stop && range.step == 1) continue;  // the whole of it
    const DimPart in_dim = part_of_dim(op, range, i, shape, where);
    part.start[i] = in_dim.start;
    part.step[i] = in_dim.step;
    part.sizes[i] = in_dim.count;
  }
  return part;
}

AnyTensor slice_to(const AnyTensor& x, const Dims& start, const Dims& step, const Shape& sizes,
                   const Location& where) {
  const Shape& shape = x.value()->shape;
  const std::size_t rank = shape.rank();
  std::array<std::int64_t, 2 * kMaxRank> ints;
  bool whole = sizes == shape;
  for (std::size_t i = 0; i < rank; ++i) {
    // Normal form: the step of at most one element is 1.
    ints[i] = sizes[i] == 0 ? 0 : start[i];
    ints[rank + i] = sizes[i] <= 1 ? 1 : step[i];
    whole = whole && ints[rank + i] == 1;
  }
  if (whole) return x;
  return apply_view(Op::Slice, x, std::span(ints.data(), 2 * rank), sizes, where);
}

}  // namespace tensor

AnyTensor AnyTensor::reshape(const Dims& sizes, Location where) const {
  const Shape& from = value_of("reshape", *this, where).shape;
  const base::SizeArithmetic sizes_of("reshape", where);
  Shape shape(sizes);
  std::int64_t known = 1;
  std::size_t open = kMaxRank;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == -1 && open == kMaxRank)
      open = i;
    else if (shape[i] < 0)
      throw ShapeError("[reshape] sizes are zero or more, and one of them may be -1; not " + to_string(sizes),
                       where);
    else
      known = sizes_of.product(known, shape[i]);
  }
  const std::int64_t count = from.numel();
  if (open != kMaxRank) {
    if (known == 0 || count % known != 0)
      throw ShapeError("[reshape] no size makes " + to_string(sizes) + " hold the " + std::to_string(count) +
                           " elements of shape " + to_string(from),
                       where);
    shape[open] = count / known;
  } else if (known != count) {
    throw ShapeError("[reshape] " + to_string(from) + " has " + std::to_string(count) + " elements, " +
                         to_string(sizes) + " holds " + std::to_string(known),
                     where);
  }
  if (shape == from) return *this;
  return apply_view(Op::Reshape, *this, {}, shape, where);
}

AnyTensor AnyTensor::permute(const Axes& axes, Location where) const {
  const Shape& from = value_of("permute", *this, where).shape;
  if (axes.rank() != from.rank())
    throw ShapeError("[permute] shape " + to_string(from) + " has " + std::to_string(from.rank()) +
                         " axes, " + to_string(axes) + " names " + std::to_string(axes.rank()),
                     where);
  tensor::axes_of("permute", axes, from, where);
  Shape shape(from);
  Dims order(axes);
  bool identity = true;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    const std::size_t axis = axis_of("permute", axes[i], from, where);
    order[i] = static_cast<std::int64_t>(axis);
    shape[i] = from[axis];
    identity = identity && axis == i;
  }
  if (identity) return *this;
  return apply_view(Op::Permute, *this, std::span(order.begin(), order.rank()), shape, where);
}

AnyTensor AnyTensor::transpose(std::int64_t a, std::int64_t b, Location where) const {
  const Shape& from = value_of("transpose", *this, where).shape;
  const std::size_t x = axis_of("transpose", a, from, where), y = axis_of("transpose", b, from, where);
  if (x == y) return *this;
  Dims order;
  for (std::size_t i = 0; i < from.rank(); ++i)
    order.push_back(static_cast<std::int64_t>(i == x ? y : i == y ? x : i));
  Shape shape(from);
  std::swap(shape[x], shape[y]);
  return apply_view(Op::Permute, *this, std::span(order.begin(), order.rank()), shape, where);
}

AnyTensor AnyTensor::expand(const Dims& sizes, Location where) const {
  const Shape& from = value_of("expand", *this, where).shape;
  Shape shape(sizes);
  bool fits = sizes.rank() >= from.rank();
  const std::size_t added = fits ? sizes.rank() - from.rank() : 0;
  for (std::size_t i = 0; fits && i < sizes.rank(); ++i) {
    if (i < added) {
      fits = sizes[i] >= 0;
    } else {
      const std::int64_t size = from[i - added];
      if (sizes[i] == -1) shape[i] = size;
      fits = shape[i] >= 0 && (size == 1 || size == shape[i]);
    }
  }
  if (!fits)
    throw ShapeError("[expand] " + to_string(from) + " does not expand to " + to_string(sizes), where);
  return tensor::broadcast_to(*this, shape, where);
}

AnyTensor AnyTensor::squeeze(const Axes& axes, Location where) const {
  const Shape& from = value_of("squeeze", *this, where).shape;
  const std::uint64_t bits = tensor::axes_of("squeeze", axes, from, where);
  Shape shape;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (!(bits >> i & 1))
      shape.push_back(from[i]);
    else if (from[i] != 1)
      throw ShapeError(
          "[squeeze] axis " + std::to_string(i) + " of shape " + to_string(from) + " is not of size 1",
          where);
  }
  if (shape == from) return *this;
  return apply_view(Op::Reshape, *this, {}, shape, where);
}

AnyTensor AnyTensor::unsqueeze(std::int64_t axis, Location where) const {
  Shape shape = value_of("unsqueeze", *this, where).shape;
  const auto places = static_cast<std::int64_t>(shape.rank()) + 1;
  if (axis < -places || axis >= places)
    throw ShapeError(
        "[unsqueeze] a new axis in shape " + to_string(shape) + " cannot be number " + std::to_string(axis),
        where);
  tensor::check_room("unsqueeze", shape, where);
  shape.insert(static_cast<std::size_t>(axis < 0 ? axis + places : axis), 1);
  return apply_view(Op::Reshape, *this, {}, shape, where);
}

AnyTensor AnyTensor::slice(std::span<const Range> ranges, Location where) const {
  const tensor::Part part = tensor::part_of("slice", ranges, value_of("slice", *this, where).shape, where);
  return tensor::slice_to(*this, part.start, part.step, part.sizes, where);
}

AnyTensor AnyTensor::narrow(std::int64_t axis, std::int64_t start, std::int64_t length,
                            Location where) const {
  const Shape& from = value_of("narrow", *this, where).shape;
  const std::size_t dim = axis_of("narrow", axis, from, where);
  if (start < 0 || length < 0 || start > from[dim] - length)
    throw ShapeError("[narrow] " + std::to_string(length) + " elements from " + std::to_string(start) +
                         " on are outside" + at_axis(dim, from),
                     where);
  Dims starts = Dims::filled(from.rank(), 0);
  starts[dim] = start;
  Shape shape(from);
  shape[dim] = length;
  return tensor::slice_to(*this, starts, Dims::filled(from.rank(), 1), shape, where);
}

AnyTensor AnyTensor::flip(const Axes& axes, Location where) const {
  const Shape& from = value_of("flip", *this, where).shape;
  const std::uint64_t bits = tensor::axes_of("flip", axes, from, where);
  Dims start = Dims::filled(from.rank(), 0), step = Dims::filled(from.rank(), 1);
  for (std::size_t i = 0; i < from.rank(); ++i)
    if (bits >> i & 1 && from[i] > 1) {
      start[i] = from[i] - 1;
      step[i] = -1;
    }
  return tensor::slice_to(*this, start, step, from, where);
}

AnyTensor AnyTensor::windows(std::int64_t axis, std::int64_t size, std::int64_t step, Location where) const {
  Shape shape = value_of("windows", *this, where).shape;
  const std::size_t dim = axis_of("windows", axis, shape, where);
  if (size < 1 || step < 1 || size > shape[dim])
    throw ShapeError("[windows] no windows of size " + std::to_string(size) + " and step " +
                         std::to_string(step) + " fit into axis " + std::to_string(dim) + " of shape " +
                         to_string(shape),
                     where);
  tensor::check_room("windows", shape, where);
  shape[dim] = (shape[dim] - size) / step + 1;
  shape.push_back(size);
  const std::int64_t ints[] = {static_cast<std::int64_t>(dim), step};
  return apply_view(Op::Windows, *this, ints, shape, where);
}

}  // namespace sinter
