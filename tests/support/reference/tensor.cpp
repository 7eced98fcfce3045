// Creation, elementwise operations and views of the oracle, and comparison with a device.
#include "tests/support/reference/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace sinter::testing {
namespace {

Value number_of(Scalar scalar, DType dtype) {
  Value v;
  v.dtype = dtype;
  if (dtype == DType::f32)
    v.real = static_cast<double>(static_cast<float>(scalar.as_double()));
  else if (dtype == DType::f64)
    v.real = scalar.as_double();
  else if (is_stored_float(dtype)) {
    v.real = static_cast<double>(static_cast<float>(scalar.as_double()));
    v = kept_as_stored(dtype, v);
  } else if (dtype == DType::boolean)
    v.integer = scalar.as_double() != 0;
  else
    v.integer = scalar.as_int();
  return v;
}

std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape shape(Dims::filled(rank, 1));
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.rank() < rank ? 1 : a[i + a.rank() - rank];
    const std::int64_t y = i + b.rank() < rank ? 1 : b[i + b.rank() - rank];
    if (x != y && x != 1 && y != 1) throw std::logic_error("reference: shapes do not broadcast");
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

/// The element that a broadcast tensor has at `at`.
const Value& broadcast_at(const ReferenceTensor& x, const Dims& at) {
  Dims own = Dims::filled(x.shape.rank(), 0);
  for (std::size_t i = 0; i < own.rank(); ++i)
    if (x.shape[i] != 1) own[i] = at[i + at.rank() - own.rank()];
  return x.at(own);
}

}  // namespace

const Value& ReferenceTensor::at(const Dims& coordinates) const {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (coordinates[d] < 0 || coordinates[d] >= shape[d])
      throw std::logic_error("reference: " + to_string(coordinates) + " is outside of " + to_string(shape));
    position = position * shape[d] + coordinates[d];
  }
  return values[static_cast<std::size_t>(position)];
}

ReferenceTensor Reference::from_bytes(std::span<const std::byte> data, const Shape& shape,
                                      DType dtype) const {
  const std::byte* from = data.data();
  return build(shape, dtype, [&](const Dims&) {
    Value v = load_value(dtype, from);
    from += size_of(dtype);
    if ((dtype == DType::f32 || dtype == DType::bf16) && precision_.flushes_denormals &&
        std::abs(v.real) < 0x1p-126)
      v.error = std::abs(v.real);
    return v;
  });
}

ReferenceTensor Reference::full(const Shape& shape, Scalar value, DType dtype) const {
  const Value number = number_of(value, dtype);
  return build(shape, dtype, [&](const Dims&) { return number; });
}

ReferenceTensor Reference::arange(std::int64_t start, std::int64_t stop, std::int64_t step) const {
  ReferenceTensor result{{}, DType::i64, {}};
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step)
    result.values.push_back(number_of(i, DType::i64));
  result.shape = Shape{static_cast<std::int64_t>(result.values.size())};
  return result;
}

Value Reference::random(std::uint64_t element, std::uint64_t stream, bool normal) const {
  const std::uint64_t block = element >> (normal ? 1 : 2);
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const PhiloxWords words =
      philox({{low(block), high(block), low(stream), high(stream)}}, low(seed_), high(seed_));
  Value v;
  v.dtype = DType::f32;
  if (!normal) {
    v.real = std::ldexp(words.word[element & 3] >> 8, -24);
    return v;
  }
  const std::size_t pair = (element & 1) * 2;
  const double u1 = std::ldexp((words.word[pair] >> 8) + 1.0, -24),
               u2 = std::ldexp(words.word[pair + 1] >> 8, -24);
  v.real = std::sqrt(-2 * std::log(u1)) * std::cos(2 * M_PI * u2);
  v.error = precision_.normal_absolute;
  return v;
}

ReferenceTensor Reference::uniform(const Shape& shape, double low, double high) {
  const std::uint64_t stream = stream_++;
  std::uint64_t element = 0;
  return build(shape, DType::f32, [&](const Dims&) {
    Value v = random(element++, stream, false);
    v.real = low + v.real * (high - low);
    // Numbers in [0, 1) are exact; other ranges are scaled and shifted in f32.
    if (low != 0 || high != 1) v.error = 0x1p-22 * (std::abs(low) + std::abs(high));
    return v;
  });
}

ReferenceTensor Reference::normal(const Shape& shape, double mean, double deviation) {
  const std::uint64_t stream = stream_++;
  std::uint64_t element = 0;
  return build(shape, DType::f32, [&](const Dims&) {
    Value v = random(element++, stream, true);
    v.real = mean + v.real * deviation;
    v.error = v.error * deviation + 0x1p-22 * (std::abs(mean) + std::abs(v.real));
    return v;
  });
}

ReferenceTensor Reference::unary(Op op, const ReferenceTensor& x) const {
  const DType dtype = op == Op::IsNan ? DType::boolean : x.dtype;
  ReferenceTensor result{x.shape, dtype, {}};
  for (const Value& value : x.values) result.values.push_back(apply(op, dtype, {&value, 1}, precision_));
  return result;
}

ReferenceTensor Reference::cast(const ReferenceTensor& x, DType dtype) const {
  ReferenceTensor result{x.shape, dtype, {}};
  for (const Value& value : x.values)
    result.values.push_back(dtype == x.dtype ? value : apply(Op::Cast, dtype, {&value, 1}, precision_));
  return result;
}

ReferenceTensor Reference::binary(Op op, const ReferenceTensor& a, const ReferenceTensor& b) const {
  const DType dtype = info(op).rule == DTypeRule::Compare ? DType::boolean : a.dtype;
  return build(broadcast(a.shape, b.shape), dtype, [&](const Dims& at) {
    const Value operands[] = {broadcast_at(a, at), broadcast_at(b, at)};
    return apply(op, dtype, operands, precision_);
  });
}

ReferenceTensor Reference::where(const ReferenceTensor& condition, const ReferenceTensor& a,
                                 const ReferenceTensor& b) const {
  return build(broadcast(condition.shape, broadcast(a.shape, b.shape)), a.dtype, [&](const Dims& at) {
    const Value operands[] = {broadcast_at(condition, at), broadcast_at(a, at), broadcast_at(b, at)};
    return apply(Op::Where, a.dtype, operands, precision_);
  });
}

ReferenceTensor Reference::reshape(const ReferenceTensor& x, const Dims& sizes) const {
  Shape shape(sizes);
  std::int64_t known = 1;
  for (std::int64_t size : shape) known *= size == -1 ? 1 : size;
  for (std::int64_t& size : shape)
    if (size == -1) size = static_cast<std::int64_t>(x.values.size()) / known;
  return {shape, x.dtype, x.values};
}

ReferenceTensor Reference::permute(const ReferenceTensor& x, const Dims& axes) const {
  Shape shape(x.shape);
  for (std::size_t i = 0; i < axes.rank(); ++i) shape[i] = x.shape[axis_of(axes[i], axes.rank())];
  return build(shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    for (std::size_t i = 0; i < axes.rank(); ++i) from[axis_of(axes[i], axes.rank())] = at[i];
    return x.at(from);
  });
}

ReferenceTensor Reference::expand(const ReferenceTensor& x, const Dims& sizes) const {
  Shape shape(sizes);
  const std::size_t added = sizes.rank() - x.shape.rank();
  for (std::size_t i = 0; i < sizes.rank(); ++i)
    if (sizes[i] == -1) shape[i] = x.shape[i - added];
  return build(shape, x.dtype, [&](const Dims& at) { return broadcast_at(x, at); });
}

ReferenceTensor Reference::slice(const ReferenceTensor& x, std::span<const Range> ranges) const {
  std::vector<std::vector<std::int64_t>> picked(x.shape.rank());
  Shape shape(x.shape);
  for (std::size_t d = 0; d < x.shape.rank(); ++d) {
    const std::int64_t size = x.shape[d];
    const Range range = d < ranges.size() ? ranges[d] : Range{};
    const auto from_front = [&](std::int64_t i) { return i < 0 ? i + size : i; };
    if (range.step > 0) {
      const std::int64_t stop = range.stop ? from_front(*range.stop) : size;
      for (std::int64_t i = range.start ? from_front(*range.start) : 0; i < stop; i += range.step)
        picked[d].push_back(i);
    } else {
      const std::int64_t stop = range.stop ? from_front(*range.stop) : -1;
      std::int64_t start = range.start ? from_front(*range.start) : size - 1;
      for (std::int64_t i = std::min(start, size - 1); i > stop; i += range.step) picked[d].push_back(i);
    }
    shape[d] = static_cast<std::int64_t>(picked[d].size());
  }
  return build(shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    for (std::size_t d = 0; d < from.rank(); ++d) from[d] = picked[d][static_cast<std::size_t>(at[d])];
    return x.at(from);
  });
}

ReferenceTensor Reference::flip(const ReferenceTensor& x, const Dims& axes) const {
  return build(x.shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    for (std::int64_t axis : axes) {
      const std::int64_t d = axis_of(axis, x.shape.rank());
      from[d] = x.shape[d] - 1 - at[d];
    }
    return x.at(from);
  });
}

ReferenceTensor Reference::windows(const ReferenceTensor& x, std::int64_t axis, std::int64_t size,
                                   std::int64_t step) const {
  const std::int64_t d = axis_of(axis, x.shape.rank());
  Shape shape(x.shape);
  shape[d] = (x.shape[d] - size) / step + 1;
  shape.push_back(size);
  return build(shape, x.dtype, [&](const Dims& at) {
    Dims from = at;
    from[d] = at[d] * step + at.back();
    from.erase(from.rank() - 1);
    return x.at(from);
  });
}

ReferenceTensor Reference::pad(const ReferenceTensor& x, const Dims& before, const Dims& after,
                               Scalar value) const {
  Shape shape(x.shape);
  for (std::size_t d = 0; d < shape.rank(); ++d) shape[d] += before[d] + after[d];
  return place(x, shape, before, Dims::filled(shape.rank(), 1), value);
}

ReferenceTensor Reference::place(const ReferenceTensor& x, const Shape& shape, const Dims& start,
                                 const Dims& step, Scalar value) const {
  ReferenceTensor result = full(shape, value, x.dtype);
  std::size_t next = 0;
  for_each_coordinate(x.shape, [&](const Dims& at) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d)
      position = position * shape[d] + start[d] + at[d] * step[d];
    result.values[static_cast<std::size_t>(position)] = x.values[next++];
  });
  return result;
}

std::vector<std::byte> bytes_of(const ReferenceTensor& tensor) {
  std::vector<std::byte> bytes(tensor.values.size() * size_of(tensor.dtype));
  std::byte* to = bytes.data();
  for (const Value& v : tensor.values) {
    store_value(v, to);
    to += size_of(tensor.dtype);
  }
  return bytes;
}

std::string difference(const AnyTensor& got, const ReferenceTensor& want) {
  if (!(got.shape() == want.shape))
    return "shape is " + to_string(got.shape()) + ", not " + to_string(want.shape);
  if (got.dtype() != want.dtype)
    return "dtype is " + std::string(name_of(got.dtype())) + ", not " + std::string(name_of(want.dtype));
  const std::vector<std::byte> expected = bytes_of(want);
  std::vector<std::byte> bytes(expected.size());
  got.read_bytes(bytes);
  std::vector<double> errors;
  // Half a unit more where an inexact value is stored in f32.
  for (const Value& v : want.values)
    errors.push_back(v.error > 0 && v.dtype == DType::f32 && std::isfinite(v.real)
                         ? v.error + std::abs(v.real) * 0x1p-24
                         : v.error);
  return difference(want.dtype, bytes, expected, errors);
}

std::string describe(const ReferenceTensor& tensor, std::size_t most) {
  std::string text = to_string(tensor.shape) + " " + std::string(name_of(tensor.dtype)) + " [";
  for (std::size_t i = 0; i < tensor.values.size() && i < most; ++i) {
    const Value& v = tensor.values[i];
    char number[64];
    if (is_float(tensor.dtype))
      std::snprintf(number, sizeof number, "%.9g", v.real);
    else
      std::snprintf(number, sizeof number, "%lld", static_cast<long long>(v.integer));
    text += (i ? ", " : "") + std::string(number);
    if (v.error > 0) {
      std::snprintf(number, sizeof number, " +- %.2g", v.error);
      text += number;
    }
  }
  return text + (tensor.values.size() > most ? ", ...]" : "]");
}

}  // namespace sinter::testing
