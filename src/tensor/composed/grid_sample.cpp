// Sampling of images by grids of points: indexed reads of the neighbours of each point, weighted and added
// up.
#include <array>
#include <string>
#include <vector>

#include <sinter/autodiff.h>
#include <sinter/functions/basic.h>
#include <sinter/functions/image.h>
#include <sinter/functions/maths.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/rows.h"

namespace sinter {

namespace {

using A = AnyTensor;

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

/// A batch of images (n, c, height, width) read at points (n, h, w) of whole numbers, zero outside of them.
class Reader {
 public:
  Reader(const A& x, const Shape& points, const Location& where)
      : shape_(x.shape()),
        points_(points),
        where_(where),
        flat_(x.reshape({shape_[0], shape_[1], shape_[2] * shape_[3]}, where)) {}

  A operator()(const A& row, const A& column) const {
    const std::int64_t count = points_[1] * points_[2];
    const A index = place(row, column).reshape({points_[0], 1, count}, where_);
    const A read = flat_.gather(2, index.expand({shape_[0], shape_[1], count}, where_), where_);
    const A values = read.reshape({shape_[0], shape_[1], points_[1], points_[2]}, where_);
    return A::where(inside(row, column).unsqueeze(1, where_), values, 0, where_);
  }

  /// The number of the element of its image that is nearest to each point: i64 (n, h, w).
  A place(const A& row, const A& column) const {
    const auto whole = [&](const A& position, std::int64_t size) {
      return clamp(position, 0.0, static_cast<double>(size - 1), where_).cast(DType::i64, where_);
    };
    return A::add(A::mul(whole(row, shape_[2]), shape_[3], where_), whole(column, shape_[3]), where_);
  }

  A inside(const A& row, const A& column) const {
    return A::logical_and(within(row, shape_[2]), within(column, shape_[3]), where_);
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

/// The four elements around each of the points (row, column), all (n, h, w). Weights have the history of the
/// points, places have none.
struct Corners {
  A top, left, down, right;  // where they begin, and how far beyond that the points are

  Corners(const A& row, const A& column, const Location& where)
      : top(row.detach().floor(where)),
        left(column.detach().floor(where)),
        down(A::sub(row, top, where)),
        right(A::sub(column, left, where)) {}

  A row(int i, const Location& where) const { return i ? A::add(top, 1, where) : top; }
  A column(int j, const Location& where) const { return j ? A::add(left, 1, where) : left; }
  A by_row(int i, const Location& where) const { return i ? down : A::sub(1, down, where); }
  A by_column(int j, const Location& where) const { return j ? right : A::sub(1, right, where); }
};

/// Visits the four corners.
template <class F>
void each_corner(F visit) {
  for (const int i : {0, 1})
    for (const int j : {0, 1}) visit(i, j);
}

A sampled(const A& x, const A& row, const A& column, const Location& where) {
  const Corners corners(row, column, where);
  const Reader read(x, row.shape(), where);
  A sum;
  each_corner([&](int i, int j) {
    const A weight = A::mul(corners.by_row(i, where), corners.by_column(j, where), where);
    const A value = read(corners.row(i, where), corners.column(j, where));
    const A part = A::mul(value, weight.unsqueeze(1, where), where);
    sum = sum.defined() ? A::add(sum, part, where) : part;
  });
  return sum;
}

/// The gradient of the images: what the elements of all four corners get is added up at once, all channels of
/// an element together, so that each index is looked at for all of them.
A gradient_of_images(const A& g, const A& x, const A& row, const A& column, const Location& where) {
  const Shape &image = x.shape(), &points = row.shape();
  const std::int64_t count = points[1] * points[2], size = image[2] * image[3];
  const Corners corners(row, column, where);
  const Reader read(x, points, where);
  const A own = A::mul(tensor::iota_along(0, 3, points[0], x.device().inner(), where), size, where);
  std::vector<A> terms, places;
  each_corner([&](int i, int j) {
    const A its_row = corners.row(i, where), its_column = corners.column(j, where);
    const A weight = A::mul(corners.by_row(i, where), corners.by_column(j, where), where);
    // Outside nothing comes back, be it infinite.
    const A inside = read.inside(its_row, its_column).unsqueeze(1, where);
    terms.push_back(A::where(inside, A::mul(g, weight.unsqueeze(1, where), where), 0, where)
                        .movedim(1, 3, where)
                        .reshape({points[0] * count, image[1]}, where));
    places.push_back(A::add(read.place(its_row, its_column), own, where)
                         .reshape({points[0] * count}, where)
                         .cast(DType::i32, where));
  });
  return tensor::sum_rows(cat(terms, 0, where), cat(places, 0, where), points[0] * size, where)
      .reshape({image[0], image[2], image[3], image[1]}, where)
      .movedim(3, 1, where);
}

/// The gradients of the rows and columns of the points: by how much the sum changes between the corners.
std::array<A, 2> gradients_of_points(const A& g, const A& x, const A& row, const A& column,
                                     const Location& where) {
  const Corners corners(row, column, where);
  const Reader read(x, row.shape(), where);
  std::array<A, 2> sums;
  each_corner([&](int i, int j) {
    const A read_there = read(corners.row(i, where), corners.column(j, where));
    const A value = A::mul(g, read_there, where).sum(1, where).squeeze(1, where);
    const auto add = [&](A& sum, const A& weight, bool more) {
      const A part = A::mul(value, weight, where);
      sum = !sum.defined() ? (more ? part : part.neg(where))
            : more         ? A::add(sum, part, where)
                           : A::sub(sum, part, where);
    };
    add(sums[0], corners.by_column(j, where), i == 1);
    add(sums[1], corners.by_row(i, where), j == 1);
  });
  return sums;
}

A sample_linearly(const A& x, const A& row, const A& column, const Location& where) {
  const Shape &image = x.shape(), &points = row.shape();
  // Sums by an index are counted in 32 bits.
  const double most = static_cast<double>(library::kMostSegmentRows);
  const auto batch = static_cast<double>(points[0]);
  const bool fits = batch * static_cast<double>(image[2] * image[3]) <= most &&
                    4 * batch * static_cast<double>(points[1] * points[2]) <= most;
  if (!fits || x.numel() == 0 || row.numel() == 0) return sampled(x, row, column, where);
  sinter::detail::FunctionParts parts{"grid_sample_2d", where, {}, {}};
  parts.forward = [&](Saved& saved) {
    saved.keep(x, row, column);
    return sinter::detail::Tensors{sampled(x, row, column, where)};
  };
  parts.backward = [where](const Saved& saved, const sinter::detail::Tensors& g) {
    const A &x = saved[0], &row = saved[1], &column = saved[2];
    const auto [of_row, of_column] = gradients_of_points(g[0], x, row, column, where);
    return sinter::detail::Tensors{gradient_of_images(g[0], x, row, column, where), of_row, of_column};
  };
  return sinter::detail::call(std::move(parts), {x, row, column})[0];
}

void check_shape(std::string_view name, const A& x, std::size_t rank, const char* what,
                 const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  tensor::check_float(name, value.dtype, where);
  if (value.shape.rank() != rank)
    throw ShapeError("[" + std::string(name) + "] " + what + ", not shape " + to_string(value.shape), where);
}

}  // namespace

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
  if (mode == Interpolation::Nearest)
    return Reader(x, row.shape(), where)(row.detach().round(where), column.detach().round(where));
  return sample_linearly(x, row, column, where);
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
