// Operators that reduce, scan, sort or multiply.
#include "tests/onnx/operators.h"

namespace sinter::testing::onnx {
namespace {

using A = AnyTensor;

/// Axes of an attribute or, in later versions, of an operand; none: all, or with "noop_with_empty_axes" none.
template <class F>
Operator reduction(F reduce) {
  return [=](const Call& c) -> Results {
    const A& x = c.in(0);
    std::vector<std::int64_t> axes = c.has(1) ? c.list(1) : c.integers("axes");
    if (axes.empty() && c.flag("noop_with_empty_axes")) return {x};
    const Axes along = axes.empty() ? x.all_axes() : Axes(dims_of(axes));
    const A result = reduce(x, along);
    return {c.flag("keepdims", true) ? result : result.squeeze(along)};
  };
}

Operator extreme(bool largest) {
  return [=](const Call& c) -> Results {
    const std::int64_t axis = c.integer("axis", 0);
    A x = c.in(0);
    const bool last = c.flag("select_last_index");
    const auto size = x.shape()[axis_from_start(axis, x.rank())];
    if (last) x = x.flip(axis);
    A at = largest ? x.argmax(axis) : x.argmin(axis);
    if (last) at = size - 1 - at;
    return {c.flag("keepdims", true) ? at : at.squeeze(axis)};
  };
}

Results gemm(const Call& c) {
  const A a = c.flag("transA") ? c.in(0).t() : c.in(0), b = c.flag("transB") ? c.in(1).t() : c.in(1);
  const A product = a.matmul(b) * c.number("alpha", 1);
  return {c.has(2) ? product + c.in(2) * c.number("beta", 1) : product};
}

/// Vectors are matrices of one row, or of one column.
Results matmul(const Call& c) {
  A a = c.in(0), b = c.in(1);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a = a.unsqueeze(0);
  if (column) b = b.unsqueeze(1);
  A product = a.matmul(b);
  if (column) product = product.squeeze(-1);
  if (row) product = product.squeeze(column ? -1 : -2);
  return {product};
}

Results cumsum(const Call& c) {
  return {c.in(0).cumsum(c.integer_of(1), {.reverse = c.flag("reverse"), .exclusive = c.flag("exclusive")})};
}

Results topk(const Call& c) {
  if (!c.flag("sorted", true)) throw Unmapped("an order that is free cannot be compared");
  const AnyIndexed top = c.in(0).topk(c.integer_of(1), c.integer("axis", -1), c.flag("largest", true));
  return {top.values, top.indices};
}

Results hardmax(const Call& c) {
  const std::int64_t axis = c.integer("axis", -1);
  const A& x = c.in(0);
  const auto size = x.shape()[axis_from_start(axis, x.rank())];
  const A hot = x.argmax(axis).squeeze(axis).one_hot(size);
  return {hot.movedim(-1, axis).cast(x.dtype())};
}

}  // namespace

void add_reductions(Operators& table) {
  table["ReduceSum"] = reduction([](const A& x, const Axes& axes) { return x.sum(axes).cast(x.dtype()); });
  table["ReduceProd"] = reduction([](const A& x, const Axes& axes) { return x.prod(axes).cast(x.dtype()); });
  table["ReduceMean"] = reduction([](const A& x, const Axes& axes) { return x.mean(axes); });
  table["ReduceMax"] = reduction([](const A& x, const Axes& axes) { return x.max(axes); });
  table["ReduceMin"] = reduction([](const A& x, const Axes& axes) { return x.min(axes); });
  table["ReduceL1"] = reduction([](const A& x, const Axes& axes) { return x.norm(1, axes); });
  table["ReduceL2"] = reduction([](const A& x, const Axes& axes) { return x.norm(2, axes); });
  table["ReduceLogSum"] = reduction([](const A& x, const Axes& axes) { return x.sum(axes).log(); });
  table["ReduceLogSumExp"] = reduction([](const A& x, const Axes& axes) { return x.logsumexp(axes); });
  table["ReduceSumSquare"] = reduction([](const A& x, const Axes& axes) { return x.square().sum(axes); });
  table["ArgMax"] = extreme(true);
  table["ArgMin"] = extreme(false);
  table["Softmax"] = [](const Call& c) -> Results { return {c.in(0).softmax(c.integer("axis", -1))}; };
  table["LogSoftmax"] = [](const Call& c) -> Results { return {c.in(0).log_softmax(c.integer("axis", -1))}; };
  table["Hardmax"] = hardmax;
  table["CumSum"] = cumsum;
  table["TopK"] = topk;
  table["Gemm"] = gemm;
  table["MatMul"] = matmul;
  table["Det"] = [](const Call& c) -> Results { return {linalg::det(c.in(0))}; };
  table["Einsum"] = [](const Call& c) -> Results { return {einsum(c.text("equation", ""), c.all())}; };
}

}  // namespace sinter::testing::onnx
