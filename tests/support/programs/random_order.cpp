// Random scans, sorts, searches, indexed writes, pools and transposed convolutions.
#include "tests/support/programs/random_order.h"

#include "tests/support/programs/drawn_ops.h"

namespace sinter::testing {

using Kind = StepKind;

/// A tensor with an axis, none of them longer than that: the oracle takes the square of it; -1: there is
/// none.
int RandomOrder::with_axis(std::int64_t longest, bool with_bools) {
  const int x =
      with_bools
          ? pick([](const ReferenceTensor& t) { return t.shape.rank() > 0; })
          : pick([](const ReferenceTensor& t) { return t.dtype != DType::boolean && t.shape.rank() > 0; });
  if (x < 0) return -1;
  for (std::int64_t size : shape(x))
    if (size > longest) return -1;
  if (!options_.i64 && value(x).dtype == DType::u64) return -1;
  return x;
}

void RandomOrder::order_step() {
  switch (data_.integer(0, 4)) {
    case 0:
    case 1: return scan();
    case 2:
    case 3: return sort();
    default: return search();
  }
}

void RandomOrder::scan() {
  const int x = with_axis(200, false);
  if (x < 0) return;
  Step step{Kind::Scan};
  step.op = data_.pick(drawn_scans(value(x).dtype));
  if (!options_.i64 && step.op == Op::CumProd && !is_float(value(x).dtype)) return;
  step.args = {{x}};
  step.axis = random_axis(shape(x));
  step.reverse = data_.chance(0.3);
  step.exclusive = step.op == Op::CumSum && data_.chance(0.3);
  step.positions = (step.op == Op::CumMax || step.op == Op::CumMin) && data_.chance(0.4);
  const int made = add(std::move(step));
  if (made >= 0 && data_.chance(0.4)) drop(x);
}

void RandomOrder::sort() {
  const int x = with_axis(200, true);
  if (x < 0) return;
  Step step{data_.chance(0.6) ? Kind::Sort : Kind::TopK};
  step.args = {{x}};
  step.axis = random_axis(shape(x));
  step.reverse = data_.chance(0.5);
  step.positions = data_.chance(0.4);
  step.size = data_.integer(0, shape(x)[static_cast<std::size_t>(step.axis)]);
  const int made = add(std::move(step));
  if (made >= 0 && data_.chance(0.4)) drop(x);
}

void RandomOrder::search() {
  const int x = with_axis(200, false);
  if (x < 0) return;
  const int row = input(Shape{data_.integer(1, 30)}, value(x).dtype);
  if (row < 0) return;
  Step step{Kind::Sort};
  step.args = {{row}};
  const int sorted = add(std::move(step));
  drop(row);
  if (sorted < 0) return;
  Step search{Kind::SearchSorted};
  search.args = {{sorted}, {x}};
  search.reverse = data_.chance(0.5);
  add(std::move(search));
  if (data_.chance(0.7)) drop(sorted);
}

void RandomOrder::write_by_index() {
  const int x = with_axis(200, true);
  if (x < 0) return;
  static const std::vector<Op> reductions = {Op::Sum, Op::Prod, Op::Max, Op::Min};
  Step step{data_.pick(std::vector<Kind>{Kind::Scatter, Kind::ScatterReduce, Kind::IndexCopy})};
  if (value(x).dtype == DType::boolean && step.kind == Kind::ScatterReduce) return;
  if (!options_.i64 && !is_float(value(x).dtype) && step.kind == Kind::ScatterReduce) return;
  step.op = data_.pick(reductions);
  step.exclusive = data_.chance(0.4);
  step.axis = random_axis(shape(x));
  const auto dim = static_cast<std::size_t>(step.axis);
  const std::int64_t size = shape(x)[dim];
  if (size == 0) return;
  Shape of(shape(x));
  of[dim] = data_.integer(0, 9);
  Shape indices{of[dim]};
  if (step.kind != Kind::IndexCopy) {
    for (std::int64_t& n : of)
      if (data_.chance(0.2) && n > 1) n = data_.integer(1, n);
    indices = of;
    for (std::int64_t& n : of)
      if (data_.chance(0.2)) n += data_.integer(0, 2);
  }
  const int index = index_of(indices, size);
  if (index < 0) return;
  const int source = of_shape(of, value(x).dtype);
  if (source < 0) return;
  step.args = {{x}, {index}, {source}};
  const int made = add(std::move(step));
  if (data_.chance(0.7)) drop(index);
  if (made >= 0 && data_.chance(0.4)) drop(x);
}

void RandomOrder::transposed_convolution() {
  const DType dtype = options_.smooth ? DType::f64 : data_.chance(0.3) ? float_ : DType::f32;
  const std::int64_t groups = data_.integer(1, 2);
  const int given = input(
      {data_.integer(1, 2), groups * data_.integer(1, 2), data_.integer(1, 5), data_.integer(1, 5)}, dtype);
  if (given < 0) return;
  const int x = data_.chance(0.5) ? unary(Op::Sin, given) : given;
  if (x < 0) return;
  const int w = input({shape(x)[1], data_.integer(1, 3), data_.integer(1, 3), data_.integer(1, 3)}, dtype);
  if (w < 0) return;
  Step step{Kind::ConvTranspose2d};
  step.options.stride = {data_.integer(1, 3), data_.integer(1, 3)};
  step.options.dilation = {data_.integer(1, 2), data_.integer(1, 2)};
  step.options.groups = groups;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t around = step.options.dilation[i] * (shape(w)[2 + i] - 1);
    const std::int64_t widest = ((shape(x)[2 + i] - 1) * step.options.stride[i] + around) / 2;
    step.options.padding[i] = data_.integer(0, std::min<std::int64_t>({2, around, widest}));
  }
  step.args = {{x}, {w}};
  add(std::move(step));
  if (data_.chance(0.5)) drop(w);
}

void RandomOrder::pool() {
  const int x = pick([](const ReferenceTensor& t) {
    return is_float(t.dtype) && t.shape.rank() == 4 && t.shape[2] > 0 && t.shape[3] > 0;
  });
  if (x < 0) return;
  Step step{data_.chance(0.5) ? Kind::MaxPool : Kind::AvgPool};
  for (std::size_t i = 0; i < 2; ++i) {
    step.kernel[i] = data_.integer(1, std::min<std::int64_t>(3, shape(x)[2 + i]));
    step.options.stride[i] = data_.integer(1, 3);
    step.options.padding[i] = data_.integer(0, step.kernel[i] / 2);
  }
  step.args = {{x}};
  const int made = add(std::move(step));
  if (made >= 0 && data_.chance(0.4)) drop(x);
}

}  // namespace sinter::testing
