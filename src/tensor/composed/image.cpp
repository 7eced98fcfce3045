// Interpolation: indexed reads of neighbours, weighted and added up. Weights and positions are
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

}  // namespace sinter
