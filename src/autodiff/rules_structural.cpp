// Gradient rules of ops that move, combine or look up elements, and of library ops.
#include <algorithm>

#include "jit/library/kinds.h"
#include "jit/library/segments.h"
#include "src/autodiff/rule.h"
#include "src/tensor/apply.h"
#include "src/tensor/indices/rows.h"
#include "src/tensor/indices/scatter.h"

namespace sinter::autodiff {

namespace {

// ---- views

Term permute(const Step& s) {
  const std::size_t rank = s.shape().rank();
  Dims inverse = Dims::filled(rank, 0);
  for (std::size_t i = 0; i < rank; ++i)
    inverse[static_cast<std::size_t>(s.integer(i))] = static_cast<std::int64_t>(i);
  return s.gradient().with(
      [&](const AnyTensor& g, const Location& w) { return g.permute(Axes(inverse), w); });
}

Term expand_back(const Step& s) {
  Dims axes;
  for (std::size_t i = 0; i < s.shape().rank(); ++i)
    if (s.shape_of(0)[i] != s.shape()[i]) axes.push_back(static_cast<std::int64_t>(i));
  return sum(s.gradient(), Axes(axes));
}

Term slice(const Step& s) {
  const std::size_t rank = s.shape().rank();
  const std::span<const std::int64_t> starts = s.integers(0, rank), steps = s.integers(rank, rank);
  if (s.shape().numel() == 0) return Term::zero();
  if (std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step == 1; }))
    return Term::part(s.gradient().tensor(), starts, s.where());
  const Dims start(starts), step(steps);
  return s.gradient().with(
      [&](const AnyTensor& g, const Location& w) { return g.place(s.shape_of(0), start, step, 0, w); });
}

Term pad(const Step& s) {
  const std::size_t rank = s.shape().rank();
  const Dims start(s.integers(0, rank)), step(s.integers(rank, rank));
  return s.gradient().with([&](const AnyTensor& g, const Location& w) {
    return tensor::slice_to(g, start, step, s.shape_of(0), w);
  });
}

/// The replaced part of x has no effect on the result, so its gradient is 0. In a concatenation nothing reads
/// that part of the gradient, and g passes unchanged.
Term assign_around(const Step& s) {
  const std::size_t rank = s.shape().rank();
  if (s.integer(3 * rank) != 0) return s.gradient();
  const Dims start(s.integers(0, rank)), step(s.integers(rank, rank));
  return s.gradient().with([&](const AnyTensor& g, const Location& w) {
    const AnyTensor zero = AnyTensor::full(Shape(s.integers(2 * rank, rank)), 0, g.dtype(), g.device(), w);
    return tensor::assign_to(g, zero, start, step, false, w);
  });
}

Term assign_value(const Step& s) {
  const std::size_t rank = s.shape().rank();
  const Dims start(s.integers(0, rank)), step(s.integers(rank, rank));
  const Shape sizes(s.integers(2 * rank, rank));
  return s.gradient().with(
      [&](const AnyTensor& g, const Location& w) { return tensor::slice_to(g, start, step, sizes, w); });
}

/// Windows that do not overlap: each element is in at most one window, so its gradient is an element of g,
/// moved.
AnyTensor disjoint_windows(const AnyTensor& gradient, const Shape& shape, std::size_t axis, std::int64_t step,
                           const Location& w) {
  const std::size_t rank = shape.rank();
  const std::int64_t count = gradient.shape()[axis], size = gradient.shape()[rank];
  Dims order, none = Dims::filled(rank, 0), after = none;
  for (std::size_t i = 0; i < rank; ++i) {
    order.push_back(static_cast<std::int64_t>(i));
    if (i == axis) order.push_back(static_cast<std::int64_t>(rank));
  }
  AnyTensor g = gradient.permute(Axes(order), w);
  if (step > size) {
    Dims gap = Dims::filled(rank + 1, 0);
    gap[axis + 1] = step - size;
    g = g.pad(Dims::filled(rank + 1, 0), gap, 0, w);
  }
  Shape flat(shape);
  flat[axis] = count * step;
  g = g.reshape(flat, w);
  if (flat[axis] > shape[axis]) return g.narrow(static_cast<std::int64_t>(axis), 0, shape[axis], w);
  after[axis] = shape[axis] - flat[axis];
  return g.pad(none, after, 0, w);
}

Term windows(const Step& s) {
  const Shape& shape = s.shape_of(0);
  const auto axis = static_cast<std::size_t>(s.integer(0));
  const std::int64_t step = s.integer(1), size = s.shape().back();
  const Location& w = s.where();
  const AnyTensor g = s.gradient().tensor();
  if (step >= size) return {disjoint_windows(g, shape, axis, step, w), w};
  // One term for each offset in the window.
  Dims start = Dims::filled(shape.rank(), 0), steps = Dims::filled(shape.rank(), 1);
  steps[axis] = step;
  AnyTensor total;
  for (std::int64_t offset = 0; offset < size; ++offset) {
    start[axis] = offset;
    AnyTensor part = g.narrow(-1, offset, 1, w).squeeze(-1, w).place(shape, start, steps, 0, w);
    total = total.defined() ? AnyTensor::add(total, part, w) : std::move(part);
  }
  return {std::move(total), w};
}

// ---- reductions

Axes reduced_axes(const Step& s) {
  Dims axes;
  for (std::size_t i = 0; i < s.shape().rank(); ++i)
    if (s.integer(0) >> i & 1) axes.push_back(static_cast<std::int64_t>(i));
  return Axes(axes);
}

/// Elements equal to the extreme share the gradient.
Term extreme(const Step& s) {
  const Term found = equal(s.operand(0), s.result());
  const Term count =
      sum(found.with([&](const AnyTensor& t, const Location& w) { return t.cast(s.dtype_of(0), w); }),
          reduced_axes(s));
  return choose(found, s.gradient() / count, 0.0);
}

/// The product of the elements before each one of the last axis, times that of those behind it: by plain
/// products alone, so that zeros are nothing special to its own gradients either. A logarithmic number of
/// steps, each of which takes the product of twice as many elements.
AnyTensor product_of_others(const AnyTensor& x, const Location& w) {
  const std::int64_t size = x.shape().back();
  const auto moved = [&](const AnyTensor& t, std::int64_t by) {
    Dims before = Dims::filled(x.rank(), 0), after = before;
    (by > 0 ? before : after)[x.rank() - 1] = std::abs(by);
    return t.narrow(-1, by > 0 ? 0 : -by, size - std::abs(by), w).pad(before, after, 1, w);
  };
  AnyTensor left = moved(x, 1), right = moved(x, -1);
  for (std::int64_t done = 1; done < size - 1; done *= 2) {
    left = AnyTensor::mul(left, moved(left, done), w);
    right = AnyTensor::mul(right, moved(right, -done), w);
  }
  return AnyTensor::mul(left, right, w);
}

/// The same over several axes.
Term differentiable_product(const Step& s) {
  const Shape& shape = s.shape_of(0);
  Dims order, reduced, inverse = Dims::filled(shape.rank(), 0);
  Shape flat;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    (s.integer(0) >> i & 1 ? reduced : order).push_back(static_cast<std::int64_t>(i));
  std::int64_t size = 1;
  for (std::int64_t axis : order) flat.push_back(shape[static_cast<std::size_t>(axis)]);
  for (std::int64_t axis : reduced) size *= shape[static_cast<std::size_t>(axis)];
  for (std::int64_t axis : reduced) order.push_back(axis);
  for (std::size_t i = 0; i < order.rank(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  flat.push_back(size);
  const Term others = s.operand(0).with([&](const AnyTensor& x, const Location& w) {
    const AnyTensor moved = x.permute(Axes(order), w);
    return product_of_others(moved.reshape(flat, w), w).reshape(moved.shape(), w).permute(Axes(inverse), w);
  });
  return s.gradient() * others;
}

/// The product of the other elements: y / x, except where x or another element is zero.
Term product(const Step& s) {
  if (s.differentiable()) return s.shape_of(0).numel() == 0 ? Term::zero() : differentiable_product(s);
  const Term x = s.operand(0), zero = equal(x, 0.0);
  const Axes axes = reduced_axes(s);
  const Term zeros =
      sum(zero.with([&](const AnyTensor& t, const Location& w) { return t.cast(s.dtype_of(0), w); }), axes);
  const Term rest =
      choose(zero, 1.0, x).with([&](const AnyTensor& t, const Location& w) { return t.prod(axes, w); });
  return s.gradient() *
         choose(zero, choose(equal(zeros, 1.0), rest, 0.0), choose(equal(zeros, 0.0), rest, 0.0) / x);
}

// ---- indexed reads

/// Sums g over all positions whose index selects an element, by comparing indices with 0, 1, ..: one fused
/// kernel without atomic operations, so that results do not depend on the order of threads.
AnyTensor scatter_sum(const AnyTensor& gradient, const AnyTensor& index, std::size_t axis, const Shape& shape,
                      const Location& w) {
  const std::size_t rank = shape.rank();
  if (rank == kMaxRank) {
    // The rank is at its maximum: merges two other axes. Gradient and index have equal shapes.
    const std::size_t first = axis >= 2 ? 0 : rank - 2;
    const auto merged = [&](const Shape& sizes) {
      Shape result(sizes);
      result[first] *= result[first + 1];
      result.erase(first + 1);
      return result;
    };
    Shape cut(gradient.shape());  // only the indexed axis may differ where others are merged
    cut[axis] = shape[axis];
    AnyTensor sums =
        scatter_sum(gradient.reshape(merged(gradient.shape()), w), index.reshape(merged(index.shape()), w),
                    first < axis ? axis - 1 : axis, merged(cut), w)
            .reshape(cut, w);
    return sums.place(shape, Dims::filled(rank, 0), Dims::filled(rank, 1), 0, w);
  }
  const auto dim = static_cast<std::int64_t>(axis);
  AnyTensor places = tensor::iota_along(axis, rank + 1, shape[axis], gradient.device(), w);
  if (index.dtype() != DType::i64) places = places.cast(index.dtype(), w);
  const AnyTensor here = AnyTensor::equal(index.unsqueeze(dim, w), places, w);
  const AnyTensor sums =
      AnyTensor::where(here, gradient.unsqueeze(dim, w), 0, w).sum(dim + 1, w).squeeze(dim + 1, w);
  return sums.place(shape, Dims::filled(rank, 0), Dims::filled(rank, 1), 0, w);
}

/// Comparing each index with each row goes over the result once for each index that an element may come of,
/// but it is one kernel, which fuses with whatever is around it: for few indices, as where each row picks one
/// of its elements, and where there is little to compare.
bool compares(std::int64_t length, std::int64_t size) {
  constexpr std::int64_t kFewIndices = 4, kFewComparisons = 4096;
  return length <= kFewIndices || size <= kFewComparisons / length;
}

/// The index is that of index_select (rank 1), or has an element for each of the result.
Term gather(const Step& s) {
  const AnyTensor g = s.gradient().tensor(), index = s.operand(1).tensor();
  const auto axis = static_cast<std::size_t>(s.integer(0));
  const Location& w = s.where();
  const Shape& shape = s.shape_of(0);
  const std::int64_t length = g.shape()[axis], size = shape[axis];
  const bool slices = index.shape().rank() == 1;
  if (g.shape().numel() > 0 && size > 0 && !compares(length, size)) {
    if (slices && std::max(length, size) <= library::kMostSegmentRows)
      return {tensor::add_slices("gather", index, g, axis, size, w), w};
    const auto most = static_cast<double>(library::kMostSegmentRows);
    const auto elements = static_cast<double>(g.shape().numel());
    if (!slices &&
        std::max(elements, elements / static_cast<double>(length) * static_cast<double>(size)) <= most)
      return {tensor::add_elements("gather", index, g, axis, size, w)
                  .place(shape, Dims::filled(shape.rank(), 0), Dims::filled(shape.rank(), 1), 0, w),
              w};
  }
  if (!slices) return {scatter_sum(g, index, axis, shape, w), w};
  Shape aligned(Dims::filled(shape.rank(), 1));
  aligned[axis] = length;
  // An index out of range equals no place, but whoever reads the gradient is to be told, as of larger tables.
  const bool reads = g.shape().numel() > 0 && size > 0 && std::max(length, size) <= library::kMostSegmentRows;
  const AnyTensor checked = reads ? tensor::Rows::of_slices("gather", index, shape, axis, w).row_of() : index;
  return {scatter_sum(g, checked.reshape(aligned, w).expand(g.shape(), w), axis, shape, w), w};
}

/// Each term has the gradient of the row that it was added to. Rows stand before columns.
Term segment_sum(const Step& s) {
  return s.gradient().with(
      [&](const AnyTensor& g, const Location& w) { return g.index_select(-2, s.operand(1).tensor(), w); });
}

// ---- library ops

Term matmul(const Term& a, const Term& b) { return {a.tensor().matmul(b.tensor(), a.where()), a.where()}; }
Term transposed(const Term& x) {
  return x.with([](const AnyTensor& t, const Location& w) { return t.transpose(-2, -1, w); });
}

Term convolve(Op op, const Step& s, const Term& a, const Term& b, const Shape& shape) {
  const std::size_t count =
      3 * (shape.rank() - 2) + 1;  // stride, padding and dilation along each dim, groups
  return {tensor::convolve(op, a.tensor(), b.tensor(), s.integers(0, count), shape, s.where()), s.where()};
}

// A convolution and its two gradients are each other's gradients, since each is linear in both operands.
template <Op kBackwardInput, Op kBackwardWeight>
constexpr std::array<OperandRule, 3> kOfConvolution{
    {{[](const Step& s) { return convolve(kBackwardInput, s, s.gradient(), s.operand(1), s.shape_of(0)); },
      kSecond},
     {[](const Step& s) { return convolve(kBackwardWeight, s, s.operand(0), s.gradient(), s.shape_of(1)); },
      kFirst}}};
template <Op kForward, Op kBackwardWeight>
constexpr std::array<OperandRule, 3> kOfInputGradient{
    {{[](const Step& s) { return convolve(kForward, s, s.gradient(), s.operand(1), s.shape_of(0)); },
      kSecond},
     {[](const Step& s) { return convolve(kBackwardWeight, s, s.gradient(), s.operand(0), s.shape_of(1)); },
      kFirst}}};
template <Op kForward, Op kBackwardInput>
constexpr std::array<OperandRule, 3> kOfWeightGradient{
    {{[](const Step& s) { return convolve(kBackwardInput, s, s.operand(1), s.gradient(), s.shape_of(0)); },
      kSecond},
     {[](const Step& s) { return convolve(kForward, s, s.operand(0), s.gradient(), s.shape_of(1)); },
      kFirst}}};

/// Gradients that silently stop would be wrong, so backward() says where it cannot go on.
Term no_rule(const Step& s) {
  const std::string& name = library::kind_of(Op::Extension, s.integers(0, 1)).name();
  throw AutodiffError("[" + name + "] has no gradient rule; detach() its operands or its results", s.where());
}

constexpr Rule kTable[] = {
    {Op::Full, {}},
    {Op::Iota, {}},
    {Op::Random, {}},
    {Op::RandomNormal, {}},

    {Op::Reshape, {{{[](const Step& s) { return reshape(s.gradient(), s.shape_of(0)); }}}}},
    {Op::Permute, {{{permute}}}},
    {Op::Expand, {{{expand_back}}}},
    {Op::Slice, {{{slice}}}},
    {Op::Windows, {{{windows}}}},
    {Op::Pad, {{{pad}}}},
    {Op::SliceAssign, {{{assign_around}, {assign_value}}}},
    {Op::Concat, {}},  // only the planner makes it
    {Op::Join, {}},    // likewise

    {Op::Sum, {{{[](const Step& s) { return expand(s.gradient(), s.shape_of(0)); }}}}},
    {Op::Prod, {{{product, kFirst}}}},
    {Op::Max, {{{extreme, kFirst | kResult}}}},
    {Op::Min, {{{extreme, kFirst | kResult}}}},
    {Op::SquaredDeviations, {}},  // likewise
    {Op::Contract, {}},           // likewise
    {Op::Dot, {}},                // likewise
    {Op::Combine, {}},            // likewise
    {Op::PartialSum, {}},         // likewise

    {Op::Gather, {{{gather, kSecond}}}},

    {Op::MatMul,
     {{{[](const Step& s) { return matmul(s.gradient(), transposed(s.operand(1))); }, kSecond},
       {[](const Step& s) { return matmul(transposed(s.operand(0)), s.gradient()); }, kFirst}}}},

    {Op::Conv2d, kOfConvolution<Op::Conv2dBackwardInput, Op::Conv2dBackwardWeight>},
    {Op::Conv2dBackwardInput, kOfInputGradient<Op::Conv2d, Op::Conv2dBackwardWeight>},
    {Op::Conv2dBackwardWeight, kOfWeightGradient<Op::Conv2d, Op::Conv2dBackwardInput>},
    {Op::Conv3d, kOfConvolution<Op::Conv3dBackwardInput, Op::Conv3dBackwardWeight>},
    {Op::Conv3dBackwardInput, kOfInputGradient<Op::Conv3d, Op::Conv3dBackwardWeight>},
    {Op::Conv3dBackwardWeight, kOfWeightGradient<Op::Conv3d, Op::Conv3dBackwardInput>},
    {Op::SortIndices, {}},
    {Op::SegmentSum, {{{segment_sum, kSecond}}}},  // operands: values, and the row of each (tensor::sum_rows)
    {Op::IndexedSum, {}},                          // of values without a history, as SegmentSum's
    {Op::IndexedJoin, {}},
    {Op::CountIndices, {}},
    {Op::LastPositions, {}},
    {Op::CountSteps, {}},
    {Op::Extension, {{{no_rule}, {no_rule}, {no_rule}}}},
    {Op::Result, {}},  // never recorded
};

}  // namespace

const std::span<const Rule> kStructuralRules = kTable;

}  // namespace sinter::autodiff
