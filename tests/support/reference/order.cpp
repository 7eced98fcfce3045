// Scans, sorts, searches, indexed writes, transposed convolutions and pools of the oracle. What rounding may
// decide either way (the order of two numbers that are closer than their errors) is uncertain.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/support/reference/tensor.h"

namespace sinter::testing {
namespace {

constexpr double kUncertain = std::numeric_limits<double>::infinity();

std::size_t dim_of(std::int64_t axis, const Shape& shape) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis);
}

/// Calls body with the positions of the elements of each line along a dimension.
template <class Body>
void for_each_line(const Shape& shape, std::size_t dim, const Body& body) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d)
    (d < dim ? outer : inner) *= static_cast<std::size_t>(shape[d]);
  const auto length = static_cast<std::size_t>(shape[dim]);
  if (inner == 0 || outer == 0) return;
  inner /= length;
  std::vector<std::size_t> line(length);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t k = 0; k < length; ++k) line[k] = (o * length + k) * inner + i;
      body(line);
    }
}

/// Whether a stands before b: NaN is the largest number, the zeros are equal.
bool before(const Value& a, const Value& b) {
  if (is_float(a.dtype)) return std::isnan(b.real) ? !std::isnan(a.real) : a.real < b.real;
  if (a.dtype == DType::u64)
    return static_cast<std::uint64_t>(a.integer) < static_cast<std::uint64_t>(b.integer);
  return a.integer < b.integer;
}

/// Whether a device may see another order of the two than the oracle.
bool contested(const Value& a, const Value& b) {
  const double error = a.error + b.error;
  if (error == 0) return false;
  if (!is_float(a.dtype)) return true;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(error) || std::isinf(error);
  return !(std::abs(a.real - b.real) > error);
}

Value position_value(std::size_t position, bool certain) {
  Value v;
  v.dtype = DType::i64;
  v.integer = static_cast<std::int64_t>(position);
  v.error = certain ? 0 : kUncertain;
  return v;
}

Value log_sum_exp(const std::vector<Value>& terms, DType dtype, const Precision& p) {
  double largest = -kUncertain, error = 0, sum = 0;
  for (const Value& t : terms) {
    largest = std::isnan(t.real) || t.real > largest ? t.real : largest;
    if (std::isnan(largest)) break;
  }
  for (const Value& t : terms) {
    error = std::max(error, t.error);
    sum += std::exp(t.real - largest);
  }
  Value v;
  v.dtype = dtype;
  v.real = std::isfinite(largest) ? largest + std::log(sum) : largest;
  const double relative = dtype == DType::f64 ? p.math_relative_f64 : p.sum_relative;
  v.error = std::isfinite(v.real) ? error + relative * (2 + std::abs(largest)) : error;
  if (terms.size() == 1) v = terms[0];
  return is_stored_float(dtype) ? kept_as_stored(dtype, v) : v;
}

}  // namespace

ReferenceTensor Reference::scan(Op op, const ReferenceTensor& given, std::int64_t axis, bool reverse,
                                bool exclusive) const {
  const bool widens = !is_float(given.dtype) && given.dtype != DType::u64;
  const ReferenceTensor x = widens ? cast(given, DType::i64) : given;
  ReferenceTensor result = x;
  for_each_line(x.shape, dim_of(axis, x.shape), [&](const std::vector<std::size_t>& line) {
    std::vector<Value> terms;
    for (std::size_t k = 0; k < line.size(); ++k) {
      const std::size_t at = line[reverse ? line.size() - 1 - k : k];
      if (!exclusive) terms.push_back(x.values[at]);
      const ReferenceTensor so_far{{static_cast<std::int64_t>(terms.size())}, x.dtype, terms};
      result.values[at] = op == Op::LogCumSumExp
                              ? log_sum_exp(terms, x.dtype, precision_)
                              : reduce(op == Op::CumSum ? Op::Sum : Op::Prod, so_far, {0}).values[0];
      if (exclusive) terms.push_back(x.values[at]);
    }
  });
  return result;
}

ReferenceTensor Reference::running_extreme(Op op, const ReferenceTensor& x, std::int64_t axis, bool reverse,
                                           bool positions) const {
  ReferenceTensor result{x.shape, positions ? DType::i64 : x.dtype, x.values};
  for_each_line(x.shape, dim_of(axis, x.shape), [&](const std::vector<std::size_t>& line) {
    std::size_t best = 0;
    for (std::size_t k = 0; k < line.size(); ++k) {
      const auto at = [&](std::size_t i) { return line[reverse ? line.size() - 1 - i : i]; };
      const Value &mine = x.values[at(k)], &other = x.values[at(best)];
      const bool is_nan = is_float(x.dtype) && std::isnan(mine.real);
      const bool stays_nan = is_float(x.dtype) && std::isnan(other.real) && !is_nan;
      const bool loses = op == Op::CumMax ? before(mine, other) : before(other, mine);
      if (is_nan || (!stays_nan && !loses)) best = k;
      Value picked = x.values[at(best)];
      bool certain = true;
      for (std::size_t j = 0; j <= k; ++j) {
        if (j == best || !contested(x.values[at(j)], x.values[at(best)])) continue;
        certain = false;
        picked.error = std::max(picked.error, x.values[at(j)].error);
      }
      result.values[at(k)] =
          positions ? position_value(reverse ? line.size() - 1 - best : best, certain) : picked;
    }
  });
  return result;
}

ReferenceTensor Reference::sort(const ReferenceTensor& x, std::int64_t axis, bool descending,
                                bool positions) const {
  ReferenceTensor result{x.shape, positions ? DType::i64 : x.dtype, x.values};
  for_each_line(x.shape, dim_of(axis, x.shape), [&](const std::vector<std::size_t>& line) {
    std::vector<std::size_t> order(line.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto element = [&](std::size_t k) -> const Value& { return x.values[line[k]]; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descending ? before(element(b), element(a)) : before(element(a), element(b));
    });
    // The k-th of numbers that are off by so much is off by no more.
    double error = 0;
    for (std::size_t k = 0; k < line.size(); ++k) error = std::max(error, element(k).error);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Value& mine = element(order[k]);
      bool certain = true;
      for (std::size_t other = 0; other < line.size() && error > 0; ++other)
        certain = certain && (other == order[k] || !contested(mine, element(other)));
      Value v = mine;
      v.error = certain ? mine.error : error;
      result.values[line[k]] = positions ? position_value(order[k], certain) : v;
    }
  });
  return result;
}

ReferenceTensor Reference::search_sorted(const ReferenceTensor& sorted, const ReferenceTensor& values,
                                         bool right) const {
  ReferenceTensor result{values.shape, DType::i64, {}};
  for (const Value& value : values.values) {
    std::size_t count = 0;
    bool certain = true;
    for (const Value& element : sorted.values) {
      if (right ? !before(value, element) : before(element, value)) ++count;
      certain = certain && !contested(element, value);
    }
    result.values.push_back(position_value(count, certain));
  }
  return result;
}

ReferenceTensor Reference::scatter(const ReferenceTensor& x, std::int64_t axis, const ReferenceTensor& index,
                                   const ReferenceTensor& source) const {
  ReferenceTensor result = x;
  const std::size_t dim = dim_of(axis, x.shape);
  bool certain = true;
  std::size_t next = 0;
  for_each_coordinate(index.shape, [&](const Dims& at) {
    const Value& to = index.values[next++];
    certain = certain && to.error == 0;
    std::size_t place = 0;
    for (std::size_t d = 0; d < x.shape.rank(); ++d)
      place = place * static_cast<std::size_t>(x.shape[d]) +
              static_cast<std::size_t>(d == dim ? to.integer : at[d]);
    result.values[place] = source.at(at);
  });
  if (!certain)
    for (Value& v : result.values) v.error = kUncertain;
  return result;
}

ReferenceTensor Reference::scatter_reduce(Op op, const ReferenceTensor& x, std::int64_t axis,
                                          const ReferenceTensor& index, const ReferenceTensor& source,
                                          bool include_self) const {
  const std::size_t dim = dim_of(axis, x.shape);
  std::vector<std::vector<Value>> terms(x.values.size());
  bool certain = true;
  std::size_t next = 0;
  for_each_coordinate(index.shape, [&](const Dims& at) {
    const Value& to = index.values[next++];
    certain = certain && to.error == 0;
    std::size_t place = 0;
    for (std::size_t d = 0; d < x.shape.rank(); ++d)
      place = place * static_cast<std::size_t>(x.shape[d]) +
              static_cast<std::size_t>(d == dim ? to.integer : at[d]);
    terms[place].push_back(source.at(at));
  });
  ReferenceTensor result = x;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].empty()) continue;
    if (include_self) terms[i].insert(terms[i].begin(), x.values[i]);
    const ReferenceTensor together{{static_cast<std::int64_t>(terms[i].size())}, x.dtype, terms[i]};
    result.values[i] = cast(reduce(op, together, {0}), x.dtype).values[0];
  }
  if (!certain)
    for (Value& v : result.values) v.error = kUncertain;
  return result;
}

ReferenceTensor Reference::conv_transpose2d(const ReferenceTensor& x, const ReferenceTensor& weight,
                                            const ConvTransposeOptions<2>& o) const {
  // A convolution of the image with its elements `stride` apart by the flipped weights.
  Shape apart = x.shape;
  Dims before = Dims::filled(4, 0), after = before, step = Dims::filled(4, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    apart[2 + i] = (x.shape[2 + i] - 1) * o.stride[i] + 1;
    step[2 + i] = o.stride[i];
    const std::int64_t around = o.dilation[i] * (weight.shape[2 + i] - 1) - o.padding[i];
    if (around < 0)
      throw std::logic_error("reference: a transposed convolution with more padding than kernel");
    before[2 + i] = around;
    after[2 + i] = around + o.output_padding[i];
  }
  const ReferenceTensor wide = pad(place(x, apart, Dims::filled(4, 0), step, 0.0), before, after, 0.0);
  const std::int64_t in = weight.shape[0] / o.groups, out = weight.shape[1], h = weight.shape[2],
                     w = weight.shape[3];
  const ReferenceTensor swapped = permute(reshape(weight, {o.groups, in, out, h, w}), {0, 2, 1, 3, 4});
  return convolve<2>(wide, flip(reshape(swapped, {o.groups * out, in, h, w}), {2, 3}),
                     {.dilation = o.dilation, .groups = o.groups});
}

ReferenceTensor Reference::pool2d(bool largest, const ReferenceTensor& x,
                                  const std::array<std::int64_t, 2>& kernel,
                                  const std::array<std::int64_t, 2>& stride,
                                  const std::array<std::int64_t, 2>& padding) const {
  const Dims around{0, 0, padding[0], padding[1]};
  const bool pads = padding[0] > 0 || padding[1] > 0;
  const ReferenceTensor wide = pads ? pad(x, around, around, largest ? -kUncertain : 0.0) : x;
  const ReferenceTensor parts =
      windows(windows(wide, 2, kernel[0], stride[0]), 3, kernel[1], stride[1]);  // (n, c, oh, ow, kh, kw)
  const ReferenceTensor result = largest ? reduce(Op::Max, parts, {4, 5}) : mean(parts, {4, 5});
  return reshape(result, {result.shape[0], result.shape[1], result.shape[2], result.shape[3]});
}

}  // namespace sinter::testing
