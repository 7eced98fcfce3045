// Random assignments, concatenations, indexed reads and sums.
#include "tests/support/programs/random_assembly.h"

namespace sinter::testing {

using Kind = StepKind;

Range RandomAssembly::random_range(std::int64_t size) {
  Range range;
  if (data_.chance(0.4)) return range;
  range.step = data_.chance(0.6) ? 1 : data_.integer(1, 3);
  if (data_.chance(0.3)) range.step = -range.step;
  if (size > 0) {
    const std::int64_t a = data_.integer(0, size), b = data_.integer(0, size);
    if (data_.chance(0.7)) range.start = range.step > 0 ? std::min(a, b) : std::max(a, b);
    if (data_.chance(0.7) && std::max(a, b) < size)
      range.stop = range.step > 0 ? std::max(a, b) : std::min(a, b);
    if (range.start && *range.start > 0 && data_.chance(0.3)) *range.start -= size;
    if (range.start && *range.start == 0 && data_.chance(0.1)) *range.start = -size;
  }
  return range;
}

int RandomAssembly::of_shape(const Shape& wanted, DType dtype) {
  std::vector<int> fitting;
  for (int id : live_)
    if (value(id).dtype == dtype && shape(id) == wanted) fitting.push_back(id);
  if (!fitting.empty() && data_.chance(0.8)) return data_.pick(fitting);
  const int made = input(wanted, dtype);
  // Pieces computed in the kernel that concatenates them.
  if (made < 0 || !is_float(dtype) || data_.chance(0.5)) return made;
  const int computed = binary(Op::Mul, {made}, {-1, data_.real(-1, 1)});
  if (computed < 0) return made;
  drop(made);
  return computed;
}

void RandomAssembly::assign(int x) {
  Step step{data_.chance(0.75) ? Kind::SliceAssign : Kind::SliceFill};
  step.args = {{x}};
  step.fill = random_number(value(x).dtype);
  for (std::size_t d = 0; d < shape(x).rank(); ++d) step.ranges.push_back(random_range(shape(x)[d]));
  if (step.kind == Kind::SliceAssign) {
    Shape part = reference_.slice(value(x), step.ranges).shape;
    for (std::int64_t& size : part)
      if (data_.chance(0.1)) size = 1;  // broadcasts
    const int y = of_shape(part, value(x).dtype);
    if (y < 0) return;
    step.args.push_back({y});
  }
  const int made = add(std::move(step));
  if (made >= 0 && data_.chance(0.5)) drop(x);  // x = x.slice_assign(..)
}

void RandomAssembly::join(int x) {
  Step step{data_.chance(0.75) ? Kind::Cat : Kind::Stack};
  if (step.kind == Kind::Cat && shape(x).rank() == 0) return;
  if (step.kind == Kind::Stack && shape(x).rank() >= 5) return;
  const auto rank = static_cast<std::int64_t>(shape(x).rank());
  step.axis = data_.integer(0, step.kind == Kind::Cat ? rank - 1 : rank);
  const std::int64_t count = data_.chance(0.05) ? 30 : data_.integer(1, 5);
  std::vector<int> pieces{x};
  for (std::int64_t k = 1; k < count; ++k) {
    Shape of(shape(x));
    if (step.kind == Kind::Cat) of[static_cast<std::size_t>(step.axis)] = data_.integer(0, 4);
    const int piece = of_shape(of, value(x).dtype);
    if (piece < 0) return;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(data_.integer(0, k)), piece);
  }
  for (int piece : pieces) step.args.push_back({piece});
  if (data_.chance(0.2)) step.axis -= step.kind == Kind::Cat ? rank : rank + 1;
  if (add(std::move(step)) < 0) return;
  std::sort(pieces.begin(), pieces.end());
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
  for (int piece : pieces)
    if (data_.chance(0.5)) drop(piece);
}

void RandomAssembly::repeat(int x) {
  Step step{Kind::Repeat};
  step.args = {{x}};
  for (std::size_t d = 0; d < shape(x).rank(); ++d)
    step.dims.push_back(data_.chance(0.5) ? 1 : data_.integer(0, 3));
  add(std::move(step));
}

void RandomAssembly::roll(int x) {
  if (shape(x).rank() == 0) return;
  Step step{Kind::Roll};
  step.args = {{x}};
  step.axis = random_axis(shape(x));
  step.step = data_.integer(-5, 5);
  add(std::move(step));
}

void RandomAssembly::assemble() {
  const int x = pick_any();
  if (x < 0) return;
  switch (data_.integer(0, 5)) {
    case 0:
    case 1: return assign(x);
    case 2:
    case 3: return join(x);
    case 4: return repeat(x);
    default: return roll(x);
  }
}

void RandomAssembly::by_index() {
  if (data_.chance(0.4)) return add_by_index();
  const int x = pick([](const ReferenceTensor& t) { return t.shape.rank() > 0; });
  if (x < 0) return;
  Step step{data_.chance(0.5) ? Kind::Gather : Kind::IndexSelect};
  step.axis = random_axis(shape(x));
  const std::int64_t size = shape(x)[step.axis];
  if (size == 0) return;
  Shape of(shape(x));
  for (std::int64_t& n : of)
    if (data_.chance(0.2) && n > 1) n = data_.integer(1, n);
  of[step.axis] = data_.integer(0, 6);
  if (step.kind == Kind::IndexSelect) of = Shape{data_.integer(1, 6)};
  const int index = index_of(of, size);
  if (index < 0) return;
  step.args = {{x}, {index}};
  add(std::move(step));
  if (data_.chance(0.7)) drop(index);
}

/// An input of integers, or the remainders of one that is used for more.
int RandomAssembly::index_of(const Shape& of, std::int64_t size) {
  const DType dtype = data_.chance(0.5) ? DType::i64 : DType::i32;
  const bool as_it_is = data_.chance(0.5);
  const int index = input(of, dtype, as_it_is ? size : 50);
  if (index < 0 || as_it_is) return index;
  const int computed = binary(Op::Remainder, {index}, {-1, size});
  drop(index);
  return computed;
}

void RandomAssembly::add_by_index() {
  const int x =
      pick([](const ReferenceTensor& t) { return t.dtype != DType::boolean && t.shape.rank() > 0; });
  if (x < 0) return;
  Step step{data_.chance(0.5) ? Kind::ScatterAdd : Kind::IndexAdd};
  step.axis = random_axis(shape(x));
  const std::int64_t size = shape(x)[step.axis];
  if (size == 0) return;
  Shape of(shape(x));
  of[step.axis] = data_.integer(0, 9);
  Shape indices{of[step.axis]};
  if (step.kind == Kind::ScatterAdd) {
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
  add(std::move(step));
  if (data_.chance(0.7)) drop(index);
}

}  // namespace sinter::testing
