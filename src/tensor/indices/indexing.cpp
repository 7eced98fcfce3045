// x(s(1, 3), all, -1): indices become one slice, at most one indexed read, and a reshape.
#include <algorithm>
#include <string>
#include <vector>

#include <sinter/functions/scatter.h>
#include <sinter/functions/sort.h>
#include <sinter/indexing.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

/// What the indices say of a tensor's axes.
struct Parsed {
  /// An axis of the result: one of the tensor's, a new one, or those of the positions.
  struct Given {
    Index::What what;
    std::size_t axis;
  };
  std::vector<Range> ranges;  // one for each axis of the tensor; of one element where the axis goes
  std::vector<Given> given;
  const AnyTensor* positions = nullptr;
  std::size_t positions_axis = 0;
};

Range at_position(std::string_view op, std::int64_t position, std::size_t axis, const Shape& shape,
                  const Location& where) {
  const std::int64_t size = shape[axis];
  if (position < -size || position >= size)
    throw ShapeError("[" + std::string(op) + "] position " + std::to_string(position) +
                         " is outside of axis " + std::to_string(axis) + " of shape " + to_string(shape),
                     where);
  const std::int64_t start = position < 0 ? position + size : position;
  return {start, start + 1};
}

Parsed parse(std::string_view op, const Shape& shape, std::span<const Index> indices, const Location& where) {
  const std::size_t rank = shape.rank();
  std::size_t taken = 0, open = 0;
  for (const Index& index : indices) {
    taken +=
        index.what != Index::What::None && index.what != Index::What::New && index.what != Index::What::Rest;
    open += index.what == Index::What::Rest;
  }
  const std::string name = "[" + std::string(op) + "] ";
  if (taken > rank)
    throw ShapeError(name + std::to_string(taken) + " indices for shape " + to_string(shape), where);
  if (open > 1) throw ShapeError(name + "there is more than one ellipsis", where);
  Parsed parsed;
  const auto whole = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      parsed.given.push_back({Index::What::Part, parsed.ranges.size()});
      parsed.ranges.push_back(all);
    }
  };
  for (const Index& index : indices) {
    const std::size_t axis = parsed.ranges.size();
    switch (index.what) {
      case Index::What::Position:
        parsed.ranges.push_back(at_position(op, index.position, axis, shape, where));
        break;
      case Index::What::Part:
        parsed.given.push_back({index.what, axis});
        parsed.ranges.push_back(index.range);
        break;
      case Index::What::None: break;
      case Index::What::New: parsed.given.push_back({index.what, axis}); break;
      case Index::What::Rest: whole(rank - taken); break;
      case Index::What::Positions:
        if (parsed.positions)
          throw ShapeError(name + "at most one index is a tensor; read one axis after the other", where);
        if (tensor::value_of(op, *index.positions, where).dtype == DType::boolean)
          throw DTypeError(name + "a mask is an index by itself, and has the shape of what it selects from",
                           where);
        parsed.positions = index.positions;
        parsed.positions_axis = axis;
        parsed.given.push_back({index.what, axis});
        parsed.ranges.push_back(all);
        break;
    }
  }
  whole(rank - parsed.ranges.size());
  return parsed;
}

/// The positions as a vector that counts from the front.
AnyTensor from_front(const AnyTensor& positions, std::int64_t size, const Location& where) {
  const AnyTensor row = positions.reshape({-1}, where);
  return AnyTensor::where(AnyTensor::less(row, 0, where), AnyTensor::add(row, size, where), row, where);
}

/// The shape of the result, when the slice and the indexed read gave `part`.
Shape result_shape(const Parsed& parsed, const Shape& part) {
  Shape shape;
  for (const Parsed::Given& given : parsed.given) {
    if (given.what == Index::What::New) {
      shape.push_back(1);
    } else if (given.what == Index::What::Part) {
      shape.push_back(part[given.axis]);
    } else {
      for (const std::int64_t size : parsed.positions->shape()) shape.push_back(size);
    }
  }
  return shape;
}

/// A value that is assigned to a part of that shape.
AnyTensor fitted(const AnyTensor& value, const Shape& part, const Shape& of, const Location& where) {
  const Shape& given = tensor::value_of("index", value, where).shape;
  bool fits = given.rank() <= part.rank();
  for (std::size_t i = 1; fits && i <= given.rank(); ++i) {
    const std::int64_t size = given[given.rank() - i];
    fits = size == 1 || size == part[part.rank() - i];
  }
  if (!fits)
    throw ShapeError("[index] a value of shape " + to_string(given) + " does not fit the part " +
                         to_string(part) + " of shape " + to_string(of),
                     where);
  return value.expand(part, where);
}

AnyTensor assign_at_positions(const AnyTensor& x, const Parsed& parsed, const AnyTensor::Operand& value,
                              const Location& where) {
  const auto axis = static_cast<std::int64_t>(parsed.positions_axis);
  const AnyTensor part = x.slice(parsed.ranges, where);
  const AnyTensor at = from_front(*parsed.positions, x.shape()[parsed.positions_axis], where);
  if (!value.tensor)
    return x.slice_assign(parsed.ranges, index_fill(part, axis, at, value.scalar, where), where);
  Shape slices = part.shape();
  const AnyTensor whole = fitted(*value.tensor, result_shape(parsed, slices), x.shape(), where);
  slices[parsed.positions_axis] = at.shape()[0];
  return x.slice_assign(parsed.ranges, index_copy(part, axis, at, whole.reshape(slices, where), where),
                        where);
}

/// The mask, where the only index is one.
const AnyTensor* only_mask(std::span<const Index> indices) {
  const AnyTensor* mask = nullptr;
  for (const Index& index : indices) {
    if (index.what == Index::What::None) continue;
    if (mask || index.what != Index::What::Positions || !index.positions->defined() ||
        index.positions->dtype() != DType::boolean)
      return nullptr;
    mask = index.positions;
  }
  return mask;
}

}  // namespace

AnyTensor detail::masked(const AnyTensor& x, const AnyTensor& mask, const Location& where) {
  return mask_select(x, mask, where);
}

AnyTensor detail::index_by(const AnyTensor& x, const Index* indices, std::size_t count,
                           const Location& where) {
  return index(x, {indices, count}, where);
}

AnyTensor detail::index_assign_by(const AnyTensor& x, const Index* indices, std::size_t count,
                                  AnyTensor::Operand value, const Location& where) {
  return index_assign(x, {indices, count}, value, where);
}

AnyPart::AnyPart(AnyTensor& whole, const Indices& indices, const Location& where)
    : AnyTensor(index(whole, indices, where)), whole_(whole), indices_(indices), where_(where) {}

void AnyPart::assign(Operand value) { whole_ = index_assign(whole_, indices_, value, where_); }

AnyTensor AnyTensor::operator()(const Index& a, const Index& b, const Index& c, const Index& d,
                                const Index& e, const Index& f, const Index& g, const Index& h,
                                Location where) const& {
  return index(*this, AnyPart::Indices{a, b, c, d, e, f, g, h}, where);
}

AnyPart AnyTensor::operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                              const Index& f, const Index& g, const Index& h, Location where) & {
  return AnyPart(*this, AnyPart::Indices{a, b, c, d, e, f, g, h}, where);
}

AnyTensor index(const AnyTensor& x, std::span<const Index> indices, Location where) {
  const Shape& shape = tensor::value_of("index", x, where).shape;
  if (const AnyTensor* mask = only_mask(indices)) return mask_select(x, *mask, where);
  const Parsed parsed = parse("index", shape, indices, where);
  AnyTensor part = x.slice(parsed.ranges, where);
  if (parsed.positions) {
    tensor::value_of("index", *parsed.positions, where);
    const auto axis = static_cast<std::int64_t>(parsed.positions_axis);
    part = tensor::select_slices("index", part, axis,
                                 from_front(*parsed.positions, shape[parsed.positions_axis], where), where);
  }
  return part.reshape(result_shape(parsed, part.shape()), where);
}

AnyTensor index_assign(const AnyTensor& x, std::span<const Index> indices, AnyTensor::Operand value,
                       Location where) {
  const Shape& shape = tensor::value_of("index_assign", x, where).shape;
  if (const AnyTensor* mask = only_mask(indices)) return AnyTensor::where(*mask, value, x, where);
  const Parsed parsed = parse("index_assign", shape, indices, where);
  if (parsed.positions) return assign_at_positions(x, parsed, value, where);
  if (!value.tensor) return x.slice_fill(parsed.ranges, value.scalar, where);
  const tensor::Part part = tensor::part_of("index_assign", parsed.ranges, shape, where);
  const Shape wanted = result_shape(parsed, part.sizes);
  const AnyTensor whole = fitted(*value.tensor, wanted, shape, where);
  return x.slice_assign(parsed.ranges, whole.reshape(part.sizes, where), where);
}

}  // namespace sinter
