// Products of vectors and matrices, composed of products, views and sums.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <sinter/functions/linalg.h>

#include "src/base/size_arithmetic.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

const Shape& shape_of(std::string_view name, const AnyTensor& x, std::size_t least_rank,
                      const Location& where) {
  const Shape& shape = tensor::value_of(name, x, where).shape;
  if (shape.rank() < least_rank)
    throw ShapeError("[" + std::string(name) + "] takes a tensor of rank " + std::to_string(least_rank) +
                         " or more, not shape " + to_string(shape),
                     where);
  return shape;
}

}  // namespace

AnyTensor dot(const AnyTensor& a, const AnyTensor& b, Location where) {
  const Shape &first = shape_of("dot", a, 1, where), &second = shape_of("dot", b, 1, where);
  if (first.rank() != 1 || first != second)
    throw ShapeError("[dot] takes two vectors of equal length, not shapes " + to_string(first) + " and " +
                         to_string(second),
                     where);
  return A::mul(a, b, where).sum(0, where).cast(a.dtype(), where).reshape({}, where);
}

AnyTensor outer(const AnyTensor& a, const AnyTensor& b, Location where) {
  tensor::check_room("outer", shape_of("outer", a, 1, where), where);
  shape_of("outer", b, 1, where);
  return A::mul(a.unsqueeze(-1, where), b.unsqueeze(-2, where), where);
}

AnyTensor matvec(const AnyTensor& matrix, const AnyTensor& vector, Location where) {
  const Shape &m = shape_of("matvec", matrix, 2, where), &v = shape_of("matvec", vector, 1, where);
  if (m.back() != v.back())
    throw ShapeError("[matvec] inner dimensions differ: " + to_string(m) + " x " + to_string(v), where);
  return matrix.matmul(vector.unsqueeze(-1, where), where).squeeze(-1, where);
}

AnyTensor diagonal(const AnyTensor& x, std::int64_t diagonal, Location where) {
  const Shape& shape = shape_of("diagonal", x, 2, where);
  const std::size_t rank = shape.rank();
  const std::int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  // Beyond the corners there is nothing, and the sums below would not fit.
  const std::int64_t right = std::clamp(diagonal, -rows, columns);
  const std::int64_t count = std::max<std::int64_t>(
      0, right >= 0 ? std::min(rows, columns - right) : std::min(rows + right, columns));
  // In row-major order the elements of a diagonal are one row and one column apart.
  Dims flat;
  for (std::size_t i = 0; i + 2 < rank; ++i) flat.push_back(shape[i]);
  flat.push_back(rows * columns);
  std::vector<Range> ranges(rank - 1, all);
  const std::int64_t start = right >= 0 ? right : -right * columns;
  ranges.back() = {start, start + (count > 0 ? (count - 1) * (columns + 1) + 1 : 0), columns + 1};
  return x.reshape(flat, where).slice(ranges, where);
}

AnyTensor diag_embed(const AnyTensor& x, std::int64_t diagonal, Location where) {
  const Shape& shape = shape_of("diag_embed", x, 1, where);
  tensor::check_room("diag_embed", shape, where);
  const std::size_t rank = shape.rank();
  const base::SizeArithmetic sizes("diag_embed", where);
  if (diagonal == std::numeric_limits<std::int64_t>::min())
    throw ShapeError("[diag_embed] there is no diagonal " + std::to_string(diagonal), where);
  const std::int64_t side = sizes.sum(shape.back(), std::abs(diagonal));
  Shape flat(shape), square(shape);
  flat[rank - 1] = sizes.product(side, side);
  square[rank - 1] = side;
  square.push_back(side);
  Dims start = Dims::filled(rank, 0), step = Dims::filled(rank, 1);
  start[rank - 1] = diagonal >= 0 ? diagonal : -diagonal * side;
  step[rank - 1] = side + 1;
  return x.place(flat, start, step, x.dtype() == DType::boolean ? Scalar(false) : Scalar(0), where)
      .reshape(square, where);
}

AnyTensor linalg::trace(const AnyTensor& x, Location where) {
  shape_of("trace", x, 2, where);
  return diagonal(x, 0, where).sum(-1, where).squeeze(-1, where);
}

AnyTensor cross(const AnyTensor& a, const AnyTensor& b, std::int64_t axis, Location where) {
  const Shape &first = shape_of("cross", a, 1, where), &second = shape_of("cross", b, 1, where);
  const Shape shape = tensor::broadcast("cross", first, second, where);
  const auto along = static_cast<std::int64_t>(tensor::axis_of("cross", axis, shape, where));
  const std::size_t dim = static_cast<std::size_t>(along);
  if (shape[dim] != 3)
    throw ShapeError(
        "[cross] axis " + std::to_string(along) + " of shape " + to_string(shape) + " is not of size 3",
        where);
  const A x = a.expand(shape, where), y = b.expand(shape, where);
  const auto turned = [&](const A& v, std::int64_t by) { return v.roll(by, along, where); };
  // Component i is x[i + 1] y[i + 2] - x[i + 2] y[i + 1], counted modulo 3.
  return A::sub(A::mul(turned(x, -1), turned(y, -2), where), A::mul(turned(x, -2), turned(y, -1), where),
                where);
}

AnyTensor kron(const AnyTensor& a, const AnyTensor& b, Location where) {
  const Shape &m = shape_of("kron", a, 2, where), &n = shape_of("kron", b, 2, where);
  if (m.rank() != 2 || n.rank() != 2)
    throw ShapeError("[kron] takes two matrices, not shapes " + to_string(m) + " and " + to_string(n), where);
  const base::SizeArithmetic sizes("kron", where);
  const A left = a.reshape({m[0], 1, m[1], 1}, where), right = b.reshape({1, n[0], 1, n[1]}, where);
  return A::mul(left, right, where).reshape({sizes.product(m[0], n[0]), sizes.product(m[1], n[1])}, where);
}

AnyTensor cosine_similarity(const AnyTensor& a, const AnyTensor& b, std::int64_t axis, double epsilon,
                            Location where) {
  tensor::axis_of("cosine_similarity", axis, shape_of("cosine_similarity", a, 1, where), where);
  shape_of("cosine_similarity", b, 1, where);
  const DType dtype = tensor::promoted_dtype("cosine_similarity", a.dtype(), b.dtype(), where);
  const A x = tensor::widened(a, where), y = tensor::widened(b, where);
  const auto length = [&](const A& v) {
    const A sum = v.square(where).sum(axis, where);
    return A::maximum(sum, epsilon * epsilon, where).sqrt(where);
  };
  const A product = A::mul(x, y, where).sum(axis, where);
  return A::div(product, A::mul(length(x), length(y), where), where)
      .squeeze(axis, where)
      .cast(tensor::autocast_wide(dtype), where);
}

}  // namespace sinter
