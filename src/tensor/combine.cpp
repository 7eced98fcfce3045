// Joins several tensors, splits one, or repeats it.
#include <algorithm>

#include <sinter/functions/basic.h>

#include "src/base/size_arithmetic.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

void check_pieces(std::string_view op, std::span<const AnyTensor> pieces, std::size_t axis,
                  const Location& where) {
  const trace::Value& first = *pieces[0].value();
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const trace::Value& piece = tensor::value_of(op, pieces[k], where);
    bool fits = piece.shape.rank() == first.shape.rank();
    for (std::size_t i = 0; fits && i < first.shape.rank(); ++i)
      fits = i == axis || piece.shape[i] == first.shape[i];
    if (!fits)
      throw ShapeError("[" + std::string(op) + "] shapes differ in more than axis " + std::to_string(axis) +
                           ": " + to_string(first.shape) + " and " + to_string(piece.shape) +
                           ", the one at position " + std::to_string(k),
                       where);
  }
}

/// Joins pieces of matching shapes, none of them empty. Each piece is assigned to its own part of the result,
/// where the earlier pieces left only padding.
AnyTensor join(std::span<const AnyTensor> pieces, std::size_t axis, const Location& where) {
  if (pieces.size() == 1) return pieces[0];
  Shape shape(pieces[0].shape());
  shape[axis] = 0;
  for (const AnyTensor& piece : pieces) shape[axis] += piece.shape()[axis];
  Dims start = Dims::filled(shape.rank(), 0);
  const Dims step = Dims::filled(shape.rank(), 1);
  AnyTensor result = pieces[0].place(shape, start, step, 0, where);
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    start[axis] += pieces[k - 1].shape()[axis];
    result = tensor::assign_to(result, pieces[k], start, step, true, where);
  }
  return result;
}

/// The pieces in the dtype in which all meet.
std::vector<AnyTensor> of_one_dtype(std::string_view op, std::span<const AnyTensor> pieces,
                                    const Location& where) {
  std::vector<AnyTensor> alike(pieces.begin(), pieces.end());
  if (pieces.empty()) return alike;
  DType common = tensor::value_of(op, pieces[0], where).dtype;
  for (const AnyTensor& piece : pieces)
    common = tensor::promoted_dtype(op, common, tensor::value_of(op, piece, where).dtype, where);
  for (AnyTensor& piece : alike) piece = piece.cast(common, where);
  return alike;
}

AnyTensor cat_pieces(std::string_view op, std::span<const AnyTensor> pieces, std::int64_t axis,
                     const Location& where) {
  if (pieces.empty()) throw ShapeError("[" + std::string(op) + "] there is nothing to join", where);
  const trace::Value& first = tensor::value_of(op, pieces[0], where);
  const std::size_t dim = tensor::axis_of(op, axis, first.shape, where);
  check_pieces(op, pieces, dim, where);
  std::vector<AnyTensor> filled;
  std::int64_t size = 0;
  for (const AnyTensor& piece : pieces) {
    size = base::SizeArithmetic(op, where).sum(size, piece.shape()[dim]);
    if (piece.numel() > 0) filled.push_back(piece);
  }
  if (filled.empty()) {
    Shape shape(first.shape);
    shape[dim] = size;
    return AnyTensor::full(shape, 0, first.dtype, pieces[0].device(), where);
  }
  return join(filled, dim, where);
}

}  // namespace

AnyTensor AnyTensor::cat(std::span<const AnyTensor> pieces, std::int64_t axis, Location where) {
  return cat_pieces("cat", of_one_dtype("cat", pieces, where), axis, where);
}

AnyTensor cat(std::initializer_list<AnyTensor> pieces, std::int64_t axis, Location where) {
  return AnyTensor::cat({pieces.begin(), pieces.size()}, axis, where);
}
AnyTensor cat(const std::vector<AnyTensor>& pieces, std::int64_t axis, Location where) {
  return AnyTensor::cat(pieces, axis, where);
}
AnyTensor stack(std::initializer_list<AnyTensor> pieces, std::int64_t axis, Location where) {
  return AnyTensor::stack({pieces.begin(), pieces.size()}, axis, where);
}
AnyTensor stack(const std::vector<AnyTensor>& pieces, std::int64_t axis, Location where) {
  return AnyTensor::stack(pieces, axis, where);
}

AnyTensor AnyTensor::stack(std::span<const AnyTensor> pieces, std::int64_t axis, Location where) {
  if (pieces.empty()) throw ShapeError("[stack] there is nothing to stack", where);
  const Shape& first = tensor::value_of("stack", pieces[0], where).shape;
  tensor::check_room("stack", first, where);
  const auto places = static_cast<std::int64_t>(first.rank()) + 1;
  std::vector<AnyTensor> slices;
  for (const AnyTensor& piece : pieces) {
    const Shape& shape = tensor::value_of("stack", piece, where).shape;
    if (shape != first)
      throw ShapeError("[stack] shapes differ: " + to_string(first) + " and " + to_string(shape) +
                           ", the one at position " + std::to_string(slices.size()),
                       where);
    slices.push_back(piece.unsqueeze(axis, where));
  }
  return cat_pieces("stack", slices, axis < 0 ? axis + places : axis, where);
}

AnyTensor AnyTensor::slice(std::initializer_list<Range> ranges, Location where) const {
  return slice(std::span(ranges.begin(), ranges.size()), where);
}
AnyTensor AnyTensor::slice_assign(std::initializer_list<Range> ranges, const AnyTensor& value,
                                  Location where) const {
  return slice_assign(std::span(ranges.begin(), ranges.size()), value, where);
}
AnyTensor AnyTensor::slice_fill(std::initializer_list<Range> ranges, Scalar number, Location where) const {
  return slice_fill(std::span(ranges.begin(), ranges.size()), number, where);
}
std::vector<AnyTensor> AnyTensor::split(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                                        Location where) const {
  return split(std::span(sizes.begin(), sizes.size()), axis, where);
}

std::vector<AnyTensor> AnyTensor::unbind(std::int64_t axis, Location where) const {
  const Shape& shape = tensor::value_of("unbind", *this, where).shape;
  const std::int64_t size = shape[tensor::axis_of("unbind", axis, shape, where)];
  std::vector<AnyTensor> parts;
  for (std::int64_t i = 0; i < size; ++i) parts.push_back(select(axis, i, where));
  return parts;
}

std::vector<AnyTensor> AnyTensor::split(std::span<const std::int64_t> sizes, std::int64_t axis,
                                        Location where) const {
  const Shape& shape = tensor::value_of("split", *this, where).shape;
  const std::size_t dim = tensor::axis_of("split", axis, shape, where);
  const base::SizeArithmetic total("split", where);
  std::int64_t start = 0;
  bool fits = true;
  for (std::int64_t size : sizes) {
    fits = fits && size >= 0;
    start = total.sum(start, size);
  }
  if (!fits || start != shape[dim])
    throw ShapeError("[split] sizes that sum to " + std::to_string(start) + " do not divide axis " +
                         std::to_string(dim) + " of shape " + to_string(shape),
                     where);
  std::vector<AnyTensor> pieces;
  start = 0;
  for (std::int64_t size : sizes) {
    pieces.push_back(narrow(static_cast<std::int64_t>(dim), start, size, where));
    start += size;
  }
  return pieces;
}

std::vector<AnyTensor> AnyTensor::split(std::int64_t size, std::int64_t axis, Location where) const {
  const Shape& shape = tensor::value_of("split", *this, where).shape;
  const std::size_t dim = tensor::axis_of("split", axis, shape, where);
  if (size < 1)
    throw ShapeError(
        "[split] shape " + to_string(shape) + " is not divided into pieces of " + std::to_string(size),
        where);
  size = std::min(size, std::max<std::int64_t>(shape[dim], 1));
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < shape[dim]; start += size)
    sizes.push_back(std::min(size, shape[dim] - start));
  if (sizes.empty()) sizes.push_back(0);
  return split(sizes, static_cast<std::int64_t>(dim), where);
}

std::vector<AnyTensor> AnyTensor::chunk(std::int64_t count, std::int64_t axis, Location where) const {
  const Shape& shape = tensor::value_of("chunk", *this, where).shape;
  const std::size_t dim = tensor::axis_of("chunk", axis, shape, where);
  if (count < 1)
    throw ShapeError(
        "[chunk] shape " + to_string(shape) + " is not divided into " + std::to_string(count) + " pieces",
        where);
  return split(std::max<std::int64_t>(1, shape[dim] / count + (shape[dim] % count != 0)),
               static_cast<std::int64_t>(dim), where);
}

AnyTensor AnyTensor::repeat(const Dims& counts, Location where) const {
  const Shape& from = tensor::value_of("repeat", *this, where).shape;
  bool fits = counts.rank() == from.rank();
  for (std::int64_t count : counts) fits = fits && count >= 0;
  if (!fits)
    throw ShapeError("[repeat] " + to_string(counts) + " does not repeat shape " + to_string(from) +
                         ": one count, zero or more, for each axis",
                     where);
  const base::SizeArithmetic sizes("repeat", where);
  AnyTensor result = *this;
  for (std::size_t d = 0; d < from.rank(); ++d) {
    if (counts[d] == 1) continue;
    // Repeats the axis with all dimensions after it, as one block.
    Shape shape(result.shape());
    std::int64_t before = 1, rest = 1;
    for (std::size_t i = 0; i < shape.rank(); ++i) (i < d ? before : rest) *= shape[i];
    shape[d] = sizes.product(shape[d], counts[d]);
    sizes.bytes(shape, dtype());
    result = result.reshape({before, 1, rest}, where)
                 .expand({before, counts[d], rest}, where)
                 .reshape(shape, where);
  }
  return result;
}

AnyTensor repeat_interleave(const AnyTensor& x, std::int64_t count, std::int64_t axis, Location where) {
  Shape shape(tensor::value_of("repeat_interleave", x, where).shape);
  const std::size_t dim = tensor::axis_of("repeat_interleave", axis, shape, where);
  if (count < 0)
    throw ShapeError("[repeat_interleave] parts are repeated 0 times or more, not " + std::to_string(count),
                     where);
  const base::SizeArithmetic sizes("repeat_interleave", where);
  std::int64_t rest = 1;
  for (std::size_t d = dim + 1; d < shape.rank(); ++d) rest *= shape[d];
  std::int64_t parts = 1;
  for (std::size_t d = 0; d <= dim; ++d) parts *= shape[d];
  shape[dim] = sizes.product(shape[dim], count);
  sizes.bytes(shape, x.dtype());
  return x.reshape({parts, 1, rest}, where).expand({parts, count, rest}, where).reshape(shape, where);
}

AnyTensor AnyTensor::roll(std::int64_t shift, std::int64_t axis, Location where) const {
  const Shape& shape = tensor::value_of("roll", *this, where).shape;
  const std::size_t dim = tensor::axis_of("roll", axis, shape, where);
  const std::int64_t size = shape[dim], by = size ? (shift % size + size) % size : 0;
  if (by == 0) return *this;
  const auto along = static_cast<std::int64_t>(dim);
  const AnyTensor pieces[] = {narrow(along, size - by, by, where), narrow(along, 0, size - by, where)};
  return cat_pieces("roll", pieces, along, where);
}

AnyTensor AnyTensor::movedim(std::int64_t from, std::int64_t to, Location where) const {
  const Shape& shape = tensor::value_of("movedim", *this, where).shape;
  const std::size_t source = tensor::axis_of("movedim", from, shape, where);
  const std::size_t target = tensor::axis_of("movedim", to, shape, where);
  Dims order;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != source) order.push_back(static_cast<std::int64_t>(i));
  order.insert(target, static_cast<std::int64_t>(source));
  return permute(Axes(order), where);
}

}  // namespace sinter
