// Interpolation and sampling: indexed reads of neighbours, weighted and added up. Weights and positions are
// computed from the sizes on the device, so that a new size is no new structure.
#include <numbers>
#include <string>

#include <sinter/functions/image.h>
#include <sinter/functions/maths.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

struct Along {
  const A& x;
  std::int64_t axis, from, to;
  bool align_corners;
  const Location& where;

  /// The positions of the result's elements on the axis of x, not limited to it.
  A positions(DType dtype) const {
    const A index = tensor::iota_along(0, 1, to, x.device().inner(), where).cast(dtype, where);
    const auto in = static_cast<double>(from), out = static_cast<double>(to);
    if (align_corners) return A::mul(index, to > 1 ? (in - 1) / (out - 1) : 0.0, where);
    return A::sub(A::mul(A::add(index, 0.5, where), in / out, where), 0.5, where);
  }
  /// x at `index`, limited to the axis.
  A at(const A& index) const { return x.index_select(axis, clamp(index, 0, from - 1, where), where); }
  /// One weight for each element of the axis.
  A spread(const A& weight) const {
    Shape shape(Dims::filled(x.rank(), 1));
    shape[static_cast<std::size_t>(axis)] = to;
    return weight.reshape(shape, where);
  }
};

DType position_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

AnyTensor nearest(const Along& along) {
  if (along.to % along.from == 0 && along.x.rank() < kMaxRank) {  // each element so many times, as a view
    Dims apart(along.x.shape()), times, result(along.x.shape());
    apart.insert(static_cast<std::size_t>(along.axis) + 1, 1);
    times = apart;
    times[static_cast<std::size_t>(along.axis) + 1] = along.to / along.from;
    result[static_cast<std::size_t>(along.axis)] = along.to;
    return along.x.reshape(apart, along.where).expand(times, along.where).reshape(result, along.where);
  }
  // Whole numbers: no rounding moves an element.
  const A index = tensor::iota_along(0, 1, along.to, along.x.device().inner(), along.where);
  return along.at(A::div(A::mul(index, along.from, along.where), along.to, along.where));
}

/// Keys' kernel at a distance from 0 to 1, and from 1 to 2.
AnyTensor cubic_near(const A& t, const Location& where) {
  constexpr double a = -0.75;
  const A inner = A::sub(A::mul(t, a + 2, where), a + 3, where);
  return A::add(A::mul(A::mul(inner, t, where), t, where), 1, where);
}
AnyTensor cubic_far(const A& t, const Location& where) {
  constexpr double a = -0.75;
  const A inner = A::sub(A::mul(t, a, where), 5 * a, where);
  return A::sub(A::mul(A::add(A::mul(inner, t, where), 8 * a, where), t, where), 4 * a, where);
}

/// The weight of the element `tap` places from the one at or before the position, whose fraction is t.
AnyTensor weight_of(Interpolation mode, int tap, const A& t, const Location& where) {
  const A distance = A::sub(t, tap, where).abs(where);
  if (mode == Interpolation::Linear) return A::sub(1, distance, where);
  if (mode == Interpolation::Cubic)
    return tap == 0 || tap == 1 ? cubic_near(distance, where) : cubic_far(distance, where);
  const A value = A::mul(sinc(distance, where), sinc(A::mul(distance, 1.0 / 3, where), where), where);
  return A::where(A::less(distance, 3, where), value, 0, where);
}

AnyTensor interpolate_along(const Along& along, Interpolation mode) {
  const Location& where = along.where;
  if (mode == Interpolation::Nearest) return nearest(along);
  const DType dtype = along.x.dtype();
  A position = along.positions(position_dtype(dtype));
  if (mode == Interpolation::Linear) position = A::maximum(position, 0, where);
  const A floor = position.floor(where);
  const A fraction = A::sub(position, floor, where);
  const A index = floor.cast(DType::i64, where);
  const int first = mode == Interpolation::Linear ? 0 : mode == Interpolation::Cubic ? -1 : -2;
  A sum, total;
  for (int tap = first; tap <= 1 - first; ++tap) {
    const A weight = weight_of(mode, tap, fraction, where);
    const A taken =
        A::mul(along.at(A::add(index, tap, where)), along.spread(weight.cast(dtype, where)), where);
    sum = sum.defined() ? A::add(sum, taken, where) : taken;
    total = total.defined() ? A::add(total, weight, where) : weight;
  }
  if (mode != Interpolation::Lanczos) return sum;
  return A::div(sum, along.spread(total.cast(dtype, where)), where);
}

/// Mirrors positions at the two ends, of which twice the places are given.
AnyTensor reflected(const A& position, double twice_low, double twice_high, const Location& where) {
  if (twice_low == twice_high) return A::mul(position, 0, where);
  const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
  const A inside = A::remainder(A::sub(position, low, where).abs(where), 2 * span, where);
  return A::add(A::where(A::less_equal(inside, span, where), inside, A::sub(2 * span, inside, where), where),
                low, where);
}

/// Points from -1 to 1 as positions on an axis of `size` elements, moved inside as `outside` says.
AnyTensor place_points(const A& points, std::int64_t size, OutsideImage outside, bool align_corners,
                       const Location& where) {
  const auto count = static_cast<double>(size);
  const double scale = align_corners ? (count - 1) / 2 : count / 2;
  A position = A::add(A::mul(points, scale, where), (count - 1) / 2, where);
  if (outside == OutsideImage::Zeros) return position;
  if (outside == OutsideImage::Reflection)
    position = align_corners ? reflected(position, 0, 2 * (count - 1), where)
                             : reflected(position, -1, 2 * count - 1, where);
  return clamp(position, 0.0, count - 1, where);
}

/// A batch of images read at points of whole numbers, zero outside of them.
class Reader {
 public:
  Reader(const A& x, const Shape& points, const Location& where)
      : shape_(x.shape()),
        points_(points),
        where_(where),
        flat_(x.reshape({shape_[0], shape_[1], shape_[2] * shape_[3]}, where)) {}

  A operator()(const A& row, const A& column) const {
    const A y = clamp(row, 0.0, static_cast<double>(shape_[2] - 1), where_).cast(DType::i64, where_);
    const A x = clamp(column, 0.0, static_cast<double>(shape_[3] - 1), where_).cast(DType::i64, where_);
    const std::int64_t count = points_[1] * points_[2];
    const A index = A::add(A::mul(y, shape_[3], where_), x, where_).reshape({points_[0], 1, count}, where_);
    const A read = flat_.gather(2, index.expand({shape_[0], shape_[1], count}, where_), where_);
    const A values = read.reshape({shape_[0], shape_[1], points_[1], points_[2]}, where_);
    const A inside = A::logical_and(within(row, shape_[2]), within(column, shape_[3]), where_);
    return A::where(inside.unsqueeze(1, where_), values, 0, where_);
  }

 private:
  A within(const A& position, std::int64_t size) const {
    return A::logical_and(A::greater_equal(position, 0, where_),
                          A::less(position, static_cast<double>(size), where_), where_);
  }

  Shape shape_, points_;
  const Location& where_;
  A flat_;
};

void check_shape(std::string_view name, const A& x, std::size_t rank, const char* what,
                 const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  tensor::check_float(name, value.dtype, where);
  if (value.shape.rank() != rank)
    throw ShapeError("[" + std::string(name) + "] " + what + ", not shape " + to_string(value.shape), where);
}

}  // namespace

AnyTensor interpolate(const AnyTensor& x, const Dims& to, Interpolation mode, bool align_corners,
                      Location where) {
  const trace::Value& value = tensor::value_of("interpolate", x, where);
  tensor::check_float("interpolate", value.dtype, where);
  const Shape shape = value.shape;
  bool fits = shape.rank() == to.rank() + 2 && to.rank() > 0;
  for (std::size_t i = 0; fits && i < to.rank(); ++i) fits = to[i] > 0 && shape[i + 2] > 0;
  if (!fits)
    throw ShapeError("[interpolate] shape " + to_string(shape) + " has a batch, channels and sizes, which " +
                         to_string(to) + " cannot replace",
                     where);
  AnyTensor result = x;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    if (to[i] == shape[i + 2]) continue;  // every position is an element's own
    result = interpolate_along(
        {result, static_cast<std::int64_t>(i) + 2, shape[i + 2], to[i], align_corners, where}, mode);
  }
  return result;
}

AnyTensor grid_sample_2d(const AnyTensor& x, const AnyTensor& grid, Interpolation mode, OutsideImage outside,
                         bool align_corners, Location where) {
  check_shape("grid_sample_2d", x, 4, "the input is (n, c, h, w)", where);
  check_shape("grid_sample_2d", grid, 4, "the grid is (n, h, w, 2)", where);
  tensor::check_same_dtype("grid_sample_2d", x.dtype(), grid.dtype(), where);
  const Shape &image = x.shape(), &points = grid.shape();
  if (points[0] != image[0] || points[3] != 2 || image[2] == 0 || image[3] == 0)
    throw ShapeError("[grid_sample_2d] a grid of shape " + to_string(points) +
                         " does not fit images of shape " + to_string(image),
                     where);
  if (mode != Interpolation::Nearest && mode != Interpolation::Linear)
    throw Error("[grid_sample_2d] interpolates to the nearest element or linearly", where);
  // A NaN is a point outside.
  const A column =
      place_points(grid.narrow(3, 0, 1, where).squeeze(3, where), image[3], outside, align_corners, where);
  const A row =
      place_points(grid.narrow(3, 1, 1, where).squeeze(3, where), image[2], outside, align_corners, where);
  const Reader read(x, points, where);
  if (mode == Interpolation::Nearest) return read(row.detach().round(where), column.detach().round(where));
  const A top = row.detach().floor(where), left = column.detach().floor(where);
  const A down = A::sub(row, top, where), right = A::sub(column, left, where);
  A sum;
  for (const int i : {0, 1})
    for (const int j : {0, 1}) {
      const A by_row = i ? down : A::sub(1, down, where), by_column = j ? right : A::sub(1, right, where);
      const A weight = A::mul(by_row, by_column, where).unsqueeze(1, where);
      const A value = read(A::add(top, i, where), A::add(left, j, where));
      const A part = A::mul(value, weight, where);
      sum = sum.defined() ? A::add(sum, part, where) : part;
    }
  return sum;
}

AnyTensor affine_grid_2d(const AnyTensor& theta, const std::array<std::int64_t, 2>& sizes, bool align_corners,
                         Location where) {
  check_shape("affine_grid_2d", theta, 3, "the maps are (n, 2, 3)", where);
  if (theta.shape()[1] != 2 || theta.shape()[2] != 3 || sizes[0] < 1 || sizes[1] < 1)
    throw ShapeError("[affine_grid_2d] maps of shape " + to_string(theta.shape()) + " and sizes of " +
                         std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " give no grid",
                     where);
  // Along the axes of the result, (n, h, w, 2).
  const auto centres = [&](std::size_t axis) {
    const std::int64_t size = sizes[axis - 1];
    const auto count = static_cast<double>(size);
    const A index =
        tensor::iota_along(axis, 4, size, theta.device().inner(), where).cast(theta.dtype(), where);
    const double step = align_corners ? (size > 1 ? 2 / (count - 1) : 0.0) : 2 / count;
    const double start = align_corners ? (size > 1 ? -1.0 : 0.0) : 1 / count - 1;
    return A::add(A::mul(index, step, where), start, where);
  };
  const auto column = [&](std::int64_t k) {
    return theta.narrow(2, k, 1, where).reshape({theta.shape()[0], 1, 1, 2}, where);
  };
  const A by_column = A::mul(centres(2), column(0), where), by_row = A::mul(centres(1), column(1), where);
  return A::add(A::add(by_column, by_row, where), column(2), where);
}

}  // namespace sinter
