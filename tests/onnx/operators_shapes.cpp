// Operators that make, move, join, read or write elements.
#include <algorithm>
#include <limits>

#include "tests/onnx/operators.h"

namespace sinter::testing::onnx {
namespace {

using A = AnyTensor;

/// Indices from the front: negative ones count from the end.
A from_front(const A& index, std::int64_t size) { return where(index < 0, index + size, index); }

Results reshape(const Call& c) {
  std::vector<std::int64_t> sizes = c.list(1);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 0 && !c.flag("allowzero")) sizes[i] = c.in(0).shape()[i];
  return {c.in(0).reshape(dims_of(sizes))};
}

Results expand(const Call& c) {
  Dims sizes = dims_of(c.list(1));
  const Shape& own = c.in(0).shape();
  while (sizes.rank() < own.rank()) sizes.insert(0, 1);
  for (std::size_t i = 1; i <= own.rank(); ++i)
    if (sizes[sizes.rank() - i] == 1) sizes[sizes.rank() - i] = own[own.rank() - i];
  return {c.in(0).expand(sizes)};
}

Results transpose(const Call& c) {
  std::vector<std::int64_t> axes = c.integers("perm");
  if (axes.empty())
    for (std::size_t i = c.in(0).rank(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  return {c.in(0).permute(Axes(dims_of(axes)))};
}

std::vector<std::int64_t> axes_of(const Call& c) { return c.has(1) ? c.list(1) : c.integers("axes"); }

Results squeeze(const Call& c) {
  std::vector<std::int64_t> axes = axes_of(c);
  if (axes.empty())
    for (std::size_t i = 0; i < c.in(0).rank(); ++i)
      if (c.in(0).shape()[i] == 1) axes.push_back(static_cast<std::int64_t>(i));
  return {c.in(0).squeeze(Axes(dims_of(axes)))};
}

Results unsqueeze(const Call& c) {
  std::vector<std::int64_t> axes = axes_of(c);
  A x = c.in(0);
  for (std::int64_t& axis : axes)
    axis = static_cast<std::int64_t>(axis_from_start(axis, x.rank() + axes.size()));
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) x = x.unsqueeze(axis);
  return {x};
}

Results flatten(const Call& c) {
  const A& x = c.in(0);
  const std::size_t axis = axis_from_start(c.integer("axis", 1), x.rank());
  std::int64_t rows = 1, columns = 1;
  for (std::size_t i = 0; i < x.rank(); ++i) (i < axis ? rows : columns) *= x.shape()[i];
  return {x.reshape({rows, columns})};
}

Results slice(const Call& c) {
  const A& x = c.in(0);
  const std::vector<std::int64_t> starts = c.list(1), ends = c.list(2);
  std::vector<Range> ranges(x.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t step = c.has(4) ? c.list(4)[i] : 1;
    const std::size_t axis = c.has(3) ? axis_from_start(c.list(3)[i], x.rank()) : i;
    const std::int64_t size = x.shape()[axis];
    // Backwards, an end before the first element takes that, too.
    const bool to_end = step < 0 && ends[i] < -size;
    ranges[axis] = {starts[i], to_end ? std::nullopt : std::optional(ends[i]), step};
  }
  return {x.slice(ranges)};
}

Results split(const Call& c) {
  const A& x = c.in(0);
  const std::int64_t axis = c.integer("axis", 0);
  const std::vector<std::int64_t> sizes = c.has(1) ? c.list(1) : c.integers("split");
  if (!sizes.empty()) return x.split(std::span<const std::int64_t>(sizes), axis);
  const auto count = static_cast<std::int64_t>(c.results());
  return x.chunk(count, axis);
}

Results pad(const Call& c) {
  const std::vector<std::int64_t> pads = c.has(1) ? c.list(1) : c.integers("pads");
  const std::size_t rank = c.in(0).rank();
  const Dims before = dims_of({pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)});
  const Dims after = dims_of({pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end()});
  const std::string mode = c.text("mode", "constant");
  if (mode == "edge") return {c.in(0).pad(before, after, PadMode::Replicate)};
  if (mode == "reflect") return {c.in(0).pad(before, after, PadMode::Reflect)};
  return {c.in(0).pad(before, after, c.has(2) ? c.in(2).to_data().item() : Scalar(0))};
}

Results depth_to_space(const Call& c) {
  const A& x = c.in(0);
  const std::int64_t by = c.integer("blocksize", 1);
  if (c.text("mode", "DCR") == "CRD") return {x.pixel_shuffle(by)};
  const Shape& s = x.shape();
  const A parts = x.reshape({s[0], by, by, s[1] / (by * by), s[2], s[3]}).permute({0, 3, 4, 1, 5, 2});
  return {parts.reshape({s[0], s[1] / (by * by), s[2] * by, s[3] * by})};
}

Results space_to_depth(const Call& c) {
  const A& x = c.in(0);
  const Shape& s = x.shape();
  const std::int64_t by = c.integer("blocksize", 1);
  const A parts = x.reshape({s[0], s[1], s[2] / by, by, s[3] / by, by}).permute({0, 3, 5, 1, 2, 4});
  return {parts.reshape({s[0], s[1] * by * by, s[2] / by, s[3] / by})};
}

Results gather(const Call& c) {
  const A &x = c.in(0), &index = c.in(1);
  const std::size_t axis = axis_from_start(c.integer("axis", 0), x.rank());
  const auto at = static_cast<std::int64_t>(axis);
  const A rows = x.index_select(at, from_front(index, x.shape()[axis]).flatten());
  Dims sizes;
  for (std::size_t i = 0; i < axis; ++i) sizes.push_back(x.shape()[i]);
  for (const std::int64_t size : index.shape()) sizes.push_back(size);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) sizes.push_back(x.shape()[i]);
  return {rows.reshape(sizes)};
}

A wrapped(const Call& c, std::int64_t axis) {
  return from_front(c.in(1), c.in(0).shape()[axis_from_start(axis, c.in(0).rank())]);
}

Results scatter_elements(const Call& c) {
  const std::int64_t axis = c.integer("axis", 0);
  const A index = wrapped(c, axis);
  const std::string how = c.text("reduction", "none");
  if (how == "none") return {c.in(0).scatter(axis, index, c.in(2))};
  return {c.in(0).scatter_reduce(axis, index, c.in(2),
                                 how == "add" ? ScatterReduction::Sum : ScatterReduction::Prod)};
}

Results scatter_nd(const Call& c) {
  const std::string how = c.text("reduction", "none");
  if (how == "none") return {c.in(0).scatter_nd(c.in(1), c.in(2))};
  if (how == "add") return {c.in(0).scatter_nd_add(c.in(1), c.in(2))};
  throw Unmapped("products of slices at coordinates are no function");
}

Results gather_nd(const Call& c) {
  if (c.integer("batch_dims", 0) != 0) throw Unmapped("gather_nd has no batch");
  const A& x = c.in(0);
  std::vector<std::int64_t> sizes;
  const std::int64_t count = c.in(1).shape().back();
  for (std::int64_t i = 0; i < count; ++i) sizes.push_back(x.shape()[static_cast<std::size_t>(i)]);
  const A bounds = Tensor<1, Int>::from_data(sizes, {count}, c.device()).dynamic();
  return {x.gather_nd(where(c.in(1) < 0, c.in(1) + bounds, c.in(1)))};
}

Results one_hot(const Call& c) {
  const auto depth = static_cast<std::int64_t>(c.number_of(1));
  const A hot = from_front(c.in(0).cast(DType::i64), depth).one_hot(depth) == 1;
  const A chosen = where(hot, c.in(2).narrow(0, 1, 1), c.in(2).narrow(0, 0, 1));
  return {chosen.movedim(-1, c.integer("axis", -1))};
}

Results compress(const Call& c) {
  const A x = c.is_given("axis") ? c.in(0) : c.in(0).flatten();
  const std::int64_t axis = c.integer("axis", 0);
  return {x.index_select(axis, c.in(1).nonzero().flatten())};
}

Results shape_of(const Call& c) {
  const Shape& shape = c.in(0).shape();
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = bound(c.integer("start", 0)); i < bound(c.integer("end", rank)); ++i)
    sizes.push_back(shape[static_cast<std::size_t>(i)]);
  const auto count = static_cast<std::int64_t>(sizes.size());
  return {Tensor<1, Int>::from_data(sizes, {count}, c.device()).dynamic()};
}

Results constant(const Call& c) {
  if (c.is_given("value")) return {tensor_of(c.attribute("value").tensor, c.device())};
  if (c.is_given("value_int")) return {A::full({}, c.integer("value_int", 0), DType::i64, c.device())};
  if (c.is_given("value_float")) return {A::full({}, c.number("value_float", 0), DType::f32, c.device())};
  if (c.is_given("value_ints")) {
    const std::vector<std::int64_t> list = c.integers("value_ints");
    return {Tensor<1, Int>::from_data(list, {static_cast<std::int64_t>(list.size())}, c.device()).dynamic()};
  }
  throw Unmapped("a constant that is no tensor");
}

Results constant_of_shape(const Call& c) {
  const Shape shape(dims_of(c.list(0)));
  if (!c.is_given("value")) return {A::full(shape, 0, DType::f32, c.device())};
  return {tensor_of(c.attribute("value").tensor, c.device()).reshape({}).expand(shape)};
}

Results range(const Call& c) {
  const DType dtype = c.in(0).dtype();
  return {arange(c.number_of(0), c.number_of(1), c.number_of(2), dtype, c.device())};
}

Results eye_like(const Call& c) {
  const Shape& shape = c.in(0).shape();
  const DType dtype = c.is_given("dtype") ? dtype_of_number(c.integer("dtype", 1)).value() : c.in(0).dtype();
  return {diag_mask(shape[0], shape[1], c.integer("k", 0), c.device()).cast(dtype)};
}

}  // namespace

void add_shapes(Operators& table) {
  table["Reshape"] = reshape;
  table["Expand"] = expand;
  table["Transpose"] = transpose;
  table["Squeeze"] = squeeze;
  table["Unsqueeze"] = unsqueeze;
  table["Flatten"] = flatten;
  table["Slice"] = slice;
  table["Split"] = split;
  table["Pad"] = pad;
  table["DepthToSpace"] = depth_to_space;
  table["SpaceToDepth"] = space_to_depth;
  table["Gather"] = gather;
  table["GatherElements"] = [](const Call& c) -> Results {
    const std::int64_t axis = c.integer("axis", 0);
    return {c.in(0).gather(axis, wrapped(c, axis))};
  };
  table["GatherND"] = gather_nd;
  table["ScatterElements"] = scatter_elements;
  table["Scatter"] = scatter_elements;
  table["ScatterND"] = scatter_nd;
  table["OneHot"] = one_hot;
  table["Compress"] = compress;
  table["NonZero"] = [](const Call& c) -> Results { return {c.in(0).nonzero().t()}; };
  table["Concat"] = [](const Call& c) -> Results { return {A::cat(c.all(), c.integer("axis", 0))}; };
  table["Tile"] = [](const Call& c) -> Results { return {c.in(0).repeat(dims_of(c.list(1)))}; };
  table["Trilu"] = [](const Call& c) -> Results {
    const std::int64_t diagonal = c.has(1) ? c.integer_of(1) : 0;
    return {c.flag("upper", true) ? c.in(0).triu(diagonal) : c.in(0).tril(diagonal)};
  };
  table["Shape"] = shape_of;
  table["Size"] = [](const Call& c) -> Results {
    return {A::full({}, c.in(0).numel(), DType::i64, c.device())};
  };
  table["Constant"] = constant;
  table["ConstantOfShape"] = constant_of_shape;
  table["Range"] = range;
  table["EyeLike"] = eye_like;
}

}  // namespace sinter::testing::onnx
