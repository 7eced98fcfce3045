// Reductions, indexed reads and products of the oracle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "src/base/element_type.h"
#include "tests/support/reference/tensor.h"

namespace sinter::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value identity(Op op, DType dtype) {
  Value v;
  v.dtype = dtype;
  std::int64_t lowest = 0, highest = 1;
  base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!std::is_integral_v<T>) return;
    if (dtype == DType::boolean) return;
    lowest = static_cast<std::int64_t>(std::numeric_limits<T>::min());
    highest = static_cast<std::int64_t>(std::numeric_limits<T>::max());
  });
  switch (op) {
    case Op::Sum: break;
    case Op::Prod: v.real = 1, v.integer = 1; break;
    case Op::Max: v.real = -kInfinity, v.integer = lowest; break;
    case Op::Min: v.real = kInfinity, v.integer = highest; break;
    default: throw std::logic_error("reference: not a reduction");
  }
  return v;
}

double epsilon_of(DType dtype, const Precision& p) {
  return dtype == DType::f32 ? p.sum_relative : p.sum_relative_f64;
}

double largest_of(DType dtype) {
  return dtype == DType::f32 ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
}

double rounded(double x, DType dtype) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(x)) : x;
}

/// The sum of terms in any order; each term has an error of its own.
struct Sum {
  long double value = 0;
  double error = 0, magnitude = 0;
  std::int64_t count = 0;
  void add(double term, double term_error) {
    value += term;
    error += term_error;
    if (std::isfinite(term)) magnitude += std::abs(term);
    ++count;
  }
  Value finish(DType dtype, const Precision& p, bool rounds_terms) const {
    Value v;
    v.dtype = dtype;
    v.real = rounded(static_cast<double>(value), dtype);
    v.error = error;
    double epsilon = epsilon_of(dtype, p);
    // f32 sums must be computed in a way that limits errors. Other dtypes may be summed sequentially, and
    // matrix products over long ranges.
    if (dtype == DType::f64)
      epsilon += 0x1p-53 * static_cast<double>(count);
    else if (rounds_terms)
      epsilon += 0x1p-28 * static_cast<double>(count);
    if (count > 1 || rounds_terms) v.error += epsilon * magnitude + (rounds_terms ? p.smallest() : 0);
    if (magnitude > largest_of(dtype) || std::isnan(v.error)) v.error = kInfinity;
    return v;
  }
};

/// The value and error bound of a sum of products.
Value finished(const Sum& sum, DType dtype, const Precision& p) {
  const Value v = sum.finish(arithmetic_of(dtype), p, true);
  return is_stored_float(dtype) ? kept_as_stored(dtype, v) : v;
}

Value product_of(const std::vector<Value>& terms, DType dtype, const Precision& p) {
  double value = 1, upper = 1, most = 1, least = 1;
  for (const Value& t : terms) {
    value *= t.real;
    upper *= std::abs(t.real) + t.error;
    if (std::isfinite(t.real)) most *= std::max(1.0, std::abs(t.real) + t.error);
    if (t.real != 0) least *= std::min(1.0, std::abs(t.real));
  }
  Value v;
  v.dtype = dtype;
  v.real = rounded(value, dtype);
  if (terms.size() == 1) v.error = terms[0].error;
  if (terms.size() > 1) {
    v.error = std::max(0.0, upper - std::abs(value)) + epsilon_of(dtype, p) * std::abs(value);
    // Partial products may overflow or underflow in one order and not in another.
    const double smallest = dtype == DType::f32 ? 0x1p-126 : 0x1p-1022;
    if (least < smallest || most > largest_of(dtype) || std::isnan(v.error)) v.error = kInfinity;
  }
  return v;
}

Value reduced(Op op, const std::vector<Value>& terms, DType dtype, const Precision& p) {
  if (is_stored_float(dtype) && !terms.empty())
    return kept_as_stored(dtype, reduced(op, terms, DType::f32, p));
  if (terms.empty()) return identity(op, dtype);
  if (is_float(dtype) && op == Op::Sum) {
    Sum sum;
    for (const Value& t : terms) sum.add(t.real, t.error);
    return sum.finish(dtype, p, false);
  }
  if (is_float(dtype) && op == Op::Prod) return product_of(terms, dtype, p);
  const Op pairwise = op == Op::Sum    ? Op::Add
                      : op == Op::Prod ? Op::Mul
                      : op == Op::Max  ? Op::Maximum
                                       : Op::Minimum;
  Value v = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const Value both[] = {v, terms[i]};
    v = apply(pairwise, dtype, both, p);
  }
  // One certain element can decide an "any" or "all" whatever the others are.
  if (dtype == DType::boolean) {
    const std::int64_t decides = op == Op::Max ? 1 : 0;
    for (const Value& t : terms)
      if (t.error == 0 && t.integer == decides) v = t;
  }
  return v;
}

std::vector<bool> reduced_dims(const Shape& shape, const Dims& axes) {
  std::vector<bool> reduced(shape.rank(), false);
  for (std::int64_t axis : axes)
    reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis)] =
        true;
  return reduced;
}

/// The elements reduced into each element of the result, in row-major order.
std::pair<Shape, std::vector<std::vector<Value>>> collect(const ReferenceTensor& x, const Dims& axes) {
  const std::vector<bool> gone = reduced_dims(x.shape, axes);
  Shape shape(x.shape);
  for (std::size_t d = 0; d < shape.rank(); ++d)
    if (gone[d]) shape[d] = 1;
  std::vector<std::vector<Value>> terms(static_cast<std::size_t>(shape.numel()));
  std::size_t next = 0;
  for_each_coordinate(x.shape, [&](const Dims& at) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) position = position * shape[d] + (gone[d] ? 0 : at[d]);
    terms[static_cast<std::size_t>(position)].push_back(x.values[next++]);
  });
  return {shape, std::move(terms)};
}

}  // namespace

ReferenceTensor Reference::reduce(Op op, const ReferenceTensor& x, const Dims& axes) const {
  const bool accumulates = op == Op::Sum || op == Op::Prod;
  if (accumulates && is_int(x.dtype) && size_of(x.dtype) < 8) return reduce(op, cast(x, DType::i64), axes);
  auto [shape, terms] = collect(x, axes);
  ReferenceTensor result{shape, x.dtype, {}};
  // Dims of size 1 are not reduced: a single element is itself, also if it is -0.
  for (const auto& group : terms)
    result.values.push_back(group.size() == 1 ? group[0] : reduced(op, group, x.dtype, precision_));
  return result;
}

ReferenceTensor Reference::mean(const ReferenceTensor& x, const Dims& axes) const {
  auto [shape, terms] = collect(x, axes);
  ReferenceTensor result{shape, x.dtype, {}};
  for (const auto& group : terms) {
    const Value sum = reduced(Op::Sum, group, x.dtype, precision_);
    const double count = static_cast<double>(group.size());
    Value v = sum;
    v.real = sum.real / count;
    v.error = sum.error / count + std::abs(v.real) * (x.dtype != DType::f64 ? 0x1p-22 : 0x1p-51);
    if (is_stored_float(x.dtype)) v = kept_as_stored(x.dtype, v);
    if (std::isnan(v.real)) v.error = 0;
    if (std::isnan(v.error)) v.error = kInfinity;
    if (group.size() == 1) v = sum;
    result.values.push_back(v);
  }
  return result;
}

ReferenceTensor Reference::arg_extreme(Op op, const ReferenceTensor& x, std::int64_t axis) const {
  auto [shape, terms] = collect(x, {axis});
  ReferenceTensor result{shape, DType::i64, {}};
  const double direction = op == Op::Max ? 1 : -1;
  for (const auto& group : terms) {
    const auto key = [&](const Value& t) {
      return is_float(x.dtype) ? (std::isnan(t.real) ? kInfinity : direction * t.real) : 0.0;
    };
    const auto better = [&](const Value& a, const Value& b) {
      if (x.dtype == DType::u64) {
        const auto p = static_cast<std::uint64_t>(a.integer), q = static_cast<std::uint64_t>(b.integer);
        return op == Op::Max ? p > q : p < q;
      }
      if (!is_float(x.dtype)) return op == Op::Max ? a.integer > b.integer : a.integer < b.integer;
      if (std::isnan(b.real)) return false;
      return std::isnan(a.real) || key(a) > key(b);
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < group.size(); ++i)
      if (better(group[i], group[best])) best = i;
    Value v;
    v.integer = static_cast<std::int64_t>(best);
    v.dtype = DType::i64;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const double error = group[i].error + group[best].error;
      if (i == best || error == 0) continue;
      if (!(key(group[best]) - key(group[i]) > error)) v.error = kInfinity;
    }
    result.values.push_back(v);
  }
  return result;
}

ReferenceTensor Reference::gather(const ReferenceTensor& x, std::int64_t axis,
                                  const ReferenceTensor& index) const {
  const std::int64_t dim = axis < 0 ? axis + static_cast<std::int64_t>(x.shape.rank()) : axis;
  std::size_t next = 0;
  return build(index.shape, x.dtype, [&](const Dims& at) {
    const Value& i = index.values[next++];
    Dims from = at;
    from[static_cast<std::size_t>(dim)] = i.integer;
    Value v = x.at(from);
    if (i.error > 0) v.error = kInfinity;
    return v;
  });
}

ReferenceTensor Reference::index_select(const ReferenceTensor& x, std::int64_t axis,
                                        const ReferenceTensor& index) const {
  const auto dim =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.shape.rank()) : axis);
  Shape shape(x.shape);
  shape[dim] = index.shape[0];
  return build(shape, x.dtype, [&](const Dims& at) {
    const Value& i = index.values[static_cast<std::size_t>(at[dim])];
    Dims from = at;
    from[dim] = i.integer;
    Value v = x.at(from);
    if (i.error > 0) v.error = kInfinity;
    return v;
  });
}

/// x with the sum of the terms of each element, of which most may have none.
ReferenceTensor Reference::add_up(const ReferenceTensor& x,
                                  const std::vector<std::vector<Value>>& terms) const {
  ReferenceTensor sums{x.shape, x.dtype, {}};
  for (const std::vector<Value>& own : terms) {
    sums.values.push_back(own.empty() ? identity(Op::Sum, x.dtype)
                                      : reduced(Op::Sum, own, x.dtype, precision_));
    sums.values.back().dtype = x.dtype;
  }
  return binary(Op::Add, x, sums);
}

ReferenceTensor Reference::index_add(const ReferenceTensor& x, std::int64_t axis,
                                     const ReferenceTensor& index, const ReferenceTensor& source) const {
  ReferenceTensor wide{source.shape, index.dtype, {}};
  const auto dim =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.shape.rank()) : axis);
  for_each_coordinate(source.shape, [&](const Dims& at) {
    wide.values.push_back(index.values[static_cast<std::size_t>(at[dim])]);
  });
  return scatter_add(x, axis, wide, source);
}

ReferenceTensor Reference::scatter_add(const ReferenceTensor& x, std::int64_t axis,
                                       const ReferenceTensor& index, const ReferenceTensor& source) const {
  const auto dim =
      static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.shape.rank()) : axis);
  std::vector<std::vector<Value>> terms(x.values.size());
  std::size_t next = 0;
  for_each_coordinate(index.shape, [&](const Dims& at) {
    Dims to = at;
    to[dim] = index.values[next++].integer;
    std::size_t place = 0;
    for (std::size_t d = 0; d < x.shape.rank(); ++d)
      place = place * static_cast<std::size_t>(x.shape[d]) + static_cast<std::size_t>(to[d]);
    terms[place].push_back(source.at(at));
  });
  ReferenceTensor result = add_up(x, terms);
  for (const Value& i : index.values)
    if (i.error > 0)  // it may as well have been added elsewhere
      for (Value& v : result.values) v.error = kInfinity;
  return result;
}

ReferenceTensor Reference::matmul(const ReferenceTensor& a, const ReferenceTensor& b) const {
  const std::size_t rank = std::max(a.shape.rank(), b.shape.rank());
  const std::int64_t inner = a.shape.back();
  Shape shape(Dims::filled(rank, 1));
  const auto size_at = [&](const ReferenceTensor& x, std::size_t d) {
    return d + x.shape.rank() < rank ? std::int64_t{1} : x.shape[d + x.shape.rank() - rank];
  };
  for (std::size_t d = 0; d + 2 < rank; ++d) shape[d] = size_at(a, d) == 1 ? size_at(b, d) : size_at(a, d);
  shape[rank - 2] = a.shape[a.shape.rank() - 2];
  shape[rank - 1] = b.shape.back();
  const auto element = [&](const ReferenceTensor& x, const Dims& at, std::int64_t row,
                           std::int64_t column) -> const Value& {
    Dims own = Dims::filled(x.shape.rank(), 0);
    for (std::size_t d = 0; d + 2 < own.rank(); ++d)
      if (x.shape[d] != 1) own[d] = at[d + rank - own.rank()];
    own[own.rank() - 2] = row;
    own[own.rank() - 1] = column;
    return x.at(own);
  };
  return build(shape, a.dtype, [&](const Dims& at) {
    Sum sum;
    for (std::int64_t k = 0; k < inner; ++k) {
      const Value &x = element(a, at, at[rank - 2], k), &y = element(b, at, k, at[rank - 1]);
      const double error = x.error || y.error
                               ? std::abs(x.real) * y.error + std::abs(y.real) * x.error + x.error * y.error
                               : 0;
      sum.add(x.real * y.real, error);
    }
    return finished(sum, a.dtype, precision_);
  });
}

template <std::size_t N>
ReferenceTensor Reference::convolve(const ReferenceTensor& x, const ReferenceTensor& weight,
                                    const ConvOptions<N>& o) const {
  Shape shape{x.shape[0], weight.shape[0]};
  std::int64_t taps = 1;
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t kernel = weight.shape[2 + i];
    taps *= kernel;
    shape.push_back((x.shape[2 + i] + 2 * o.padding[i] - o.dilation[i] * (kernel - 1) - 1) / o.stride[i] + 1);
  }
  const std::int64_t in = weight.shape[1], out = weight.shape[0] / o.groups;
  return build(shape, x.dtype, [&](const Dims& at) {
    Sum sum;
    const std::int64_t group = at[1] / out;
    Dims pixel = at, tap = at;
    for (std::int64_t c = 0; c < in; ++c)
      for (std::int64_t t = 0; t < taps; ++t) {
        pixel[1] = group * in + c;
        tap[0] = at[1];
        tap[1] = c;
        bool is_inside = true;
        std::int64_t rest = t;
        for (std::size_t i = N; i-- > 0; rest /= weight.shape[2 + i]) {
          tap[2 + i] = rest % weight.shape[2 + i];
          pixel[2 + i] = at[2 + i] * o.stride[i] - o.padding[i] + tap[2 + i] * o.dilation[i];
          is_inside = is_inside && pixel[2 + i] >= 0 && pixel[2 + i] < x.shape[2 + i];
        }
        if (!is_inside) continue;
        const Value &u = x.at(pixel), &w = weight.at(tap);
        const double error = u.error || w.error
                                 ? std::abs(u.real) * w.error + std::abs(w.real) * u.error + u.error * w.error
                                 : 0;
        sum.add(u.real * w.real, error);
      }
    return finished(sum, x.dtype, precision_);
  });
}
template ReferenceTensor Reference::convolve(const ReferenceTensor& x, const ReferenceTensor& weight,
                                             const ConvOptions<2>& options) const;
template ReferenceTensor Reference::convolve(const ReferenceTensor& x, const ReferenceTensor& weight,
                                             const ConvOptions<3>& options) const;

}  // namespace sinter::testing
