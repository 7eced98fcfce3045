// The oracle's concatenation, assignment, repetition and rotation, element by element.
#include "tests/support/reference/tensor.h"

namespace sinter::testing {
namespace {

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace

ReferenceTensor Reference::slice_assign(const ReferenceTensor& x, std::span<const Range> ranges,
                                        const ReferenceTensor& value) const {
  // The indices of the elements in the slice are the positions to write.
  ReferenceTensor numbers{x.shape, DType::i64, {}};
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    Value number;
    number.dtype = DType::i64;
    number.integer = static_cast<std::int64_t>(i);
    numbers.values.push_back(number);
  }
  const ReferenceTensor places = slice(numbers, ranges), wide = expand(value, places.shape);
  ReferenceTensor result = x;
  for (std::size_t i = 0; i < places.values.size(); ++i)
    result.values[static_cast<std::size_t>(places.values[i].integer)] = wide.values[i];
  return result;
}

ReferenceTensor Reference::cat(const std::vector<ReferenceTensor>& pieces, std::int64_t axis) const {
  Shape shape(pieces[0].shape);
  const std::size_t d = axis_of(axis, shape.rank());
  shape[d] = 0;
  for (const ReferenceTensor& piece : pieces) shape[d] += piece.shape[d];
  return build(shape, pieces[0].dtype, [&](const Dims& at) {
    Dims from = at;
    for (const ReferenceTensor& piece : pieces) {
      if (from[d] < piece.shape[d]) return piece.at(from);
      from[d] -= piece.shape[d];
    }
    return Value{};
  });
}

ReferenceTensor Reference::stack(const std::vector<ReferenceTensor>& pieces, std::int64_t axis) const {
  const std::size_t d = axis_of(axis, pieces[0].shape.rank() + 1);
  Shape one(pieces[0].shape);
  one.insert(d, 1);
  std::vector<ReferenceTensor> slices;
  for (const ReferenceTensor& piece : pieces) slices.push_back(reshape(piece, one));
  return cat(slices, static_cast<std::int64_t>(d));
}

ReferenceTensor Reference::repeat(const ReferenceTensor& x, const Dims& counts) const {
  Shape shape(x.shape);
  for (std::size_t d = 0; d < shape.rank(); ++d) shape[d] *= counts[d];
  return build(shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    for (std::size_t d = 0; d < from.rank(); ++d) from[d] %= x.shape[d];
    return x.at(from);
  });
}

ReferenceTensor Reference::roll(const ReferenceTensor& x, std::int64_t shift, std::int64_t axis) const {
  const std::size_t d = axis_of(axis, x.shape.rank());
  return build(x.shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    from[d] = ((at[d] - shift) % x.shape[d] + x.shape[d]) % x.shape[d];
    return x.at(from);
  });
}

}  // namespace sinter::testing
