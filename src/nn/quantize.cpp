// Weights in few bits.
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sinter/nn/quantize.h>
#include <sinter/quantize.h>

namespace sinter {
namespace {

using A = AnyTensor;

constexpr const char* kName = "quantize";
/// Scales that share a scale: the block size of QLoRA's double quantization.
constexpr std::int64_t kScaleBlock = 256;

/// NF4: appendix E of QLoRA.
constexpr std::array<double, 16> kNormalFloat{
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
};

struct Rows {
  std::int64_t rows, columns;
};

Rows rows_of(const Shape& shape) {
  const std::int64_t rows = shape.rank() == 1 ? 1 : shape[0];
  return {rows, shape.numel() / rows};
}

std::int64_t parts_of(std::int64_t count, std::int64_t size) { return (count - 1) / size + 1; }

/// (rows, columns) -> (rows, parts, size), with zeros behind the last column.
A in_parts(const A& x, std::int64_t size, const Location& where) {
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1], parts = parts_of(columns, size);
  const A whole = parts * size == columns ? x : x.pad({0, 0}, {0, parts * size - columns}, 0, where);
  return whole.reshape({rows, parts, size}, where);
}

/// (rows, parts) -> (rows, columns): each number for `size` columns.
A spread(const A& x, std::int64_t columns, std::int64_t size, const Location& where) {
  const std::int64_t rows = x.shape()[0], parts = x.shape()[1];
  const A wide = x.reshape({rows, parts, 1}, where).expand({rows, parts, size}, where);
  return wide.reshape({rows, parts * size}, where).narrow(1, 0, columns, where);
}

/// x / scale, and 0 where the scale is: all of its numbers are 0 then.
A in_units(const A& x, const A& scale, const Location& where) {
  return A::div(x, A::where(A::equal(scale, 0.0, where), 1.0, scale, where), where);
}

A rounded(const A& x, double limit, const Location& where) {
  return A::minimum(A::maximum(x.round(where), -limit, where), limit, where);
}

/// The nearest number's index, i32: how many midpoints are below x.
A nearest_normal_float(const A& x, const Location& where) {
  A index;
  for (std::size_t i = 0; i + 1 < kNormalFloat.size(); ++i) {
    const A above = A::greater(x, (kNormalFloat[i] + kNormalFloat[i + 1]) / 2, where).cast(DType::i32, where);
    index = index.defined() ? A::add(index, above, where) : above;
  }
  return index;
}

/// The numbers that codes choose, one bit after the other: 15 selects in registers, where a table would be
/// read from memory.
A normal_float(const A& codes, const Location& where) {
  std::vector<A> rest;
  for (int bit = 1; bit < 16; bit *= 2) {
    const A is_set = A::not_equal(A::logical_and(codes, bit, where), 0, where);
    std::vector<A> chosen;
    for (std::size_t i = 0; i < 8 && bit == 1; ++i) {
      const A odd = A::full({}, kNormalFloat[2 * i + 1], DType::f32, codes.device(), where);
      chosen.push_back(A::where(is_set, odd, kNormalFloat[2 * i], where));
    }
    for (std::size_t i = 0; i < rest.size(); i += 2)
      chosen.push_back(A::where(is_set, rest[i + 1], rest[i], where));
    rest = std::move(chosen);
  }
  return rest.front();
}

/// Codes of 4 bits, i32 (rows, columns) -> u8 (rows, (columns + 1) / 2): the second half of a row in the
/// lower bits. Whoever unpacks it reads and writes numbers that lie side by side, with one shift for all of
/// them.
A packed(const A& codes, const Location& where) {
  const std::int64_t rows = codes.shape()[0], columns = codes.shape()[1], bytes = parts_of(columns, 2);
  const A halves = codes.pad({0, 0}, {0, 2 * bytes - columns}, 0, where).reshape({rows, 2, bytes}, where);
  const A upper = A::mul(halves.narrow(1, 0, 1, where), 16, where);
  const A both = A::add(upper, halves.narrow(1, 1, 1, where), where);
  return both.reshape({rows, bytes}, where).cast(DType::u8, where);
}

/// The codes, i32 (rows, 2, bytes / size, size).
A unpacked(const A& bytes, std::int64_t size, const Location& where) {
  const std::int64_t rows = bytes.shape()[0], parts = bytes.shape()[1] / size;
  const A all = bytes.cast(DType::i32, where).reshape({rows, 1, parts, size}, where);
  // By 4 for the first half, and by 0 for the second.
  const A shift = A::arange(4, -4, -4, bytes.device(), where).cast(DType::i32, where);
  const A shifted =
      A::shift_right(all.expand({rows, 2, parts, size}, where), shift.reshape({2, 1, 1}, where), where);
  return A::logical_and(shifted, 15, where);
}

QuantizedScales in_eight_bits(const A& scales, const Location& where) {
  const A row = scales.reshape({1, scales.numel()}, where);
  const A mean = row.mean({0, 1}, where);
  const A rest = A::sub(row, mean, where);
  const A step =
      A::mul(in_parts(rest.abs(where), kScaleBlock, where).max(2, where), 1.0 / 127, where).squeeze(2, where);
  const A codes = rounded(in_units(rest, spread(step, row.numel(), kScaleBlock, where), where), 127, where);
  return {.codes = Buffer<2, Int>(codes.cast(DType::i8, where).reshape(scales.shape(), where)),
          .scales = Buffer<1>(step.reshape({step.numel()}, where)),
          .mean = Buffer<0>(mean.reshape({}, where))};
}

/// f32 (rows, groups)
A scales_of(const QuantizedTensor& x, const Location& where) {
  if (!x.options.double_quantization) return x.scales.dynamic();
  const QuantizedScales& scales = x.quantized_scales;
  const A codes = scales.codes.dynamic(), step = scales.scales.dynamic();
  const std::int64_t count = codes.numel();
  const A row = codes.cast(DType::f32, where).reshape({1, count}, where);
  const A wide = spread(step.reshape({1, step.numel()}, where), count, kScaleBlock, where);
  const A all = A::add(A::mul(row, wide, where), scales.mean.dynamic(), where);
  return A::maximum(all, 0.0, where).reshape(codes.shape(), where);
}

void check(const A& x, const QuantOptions& options, const Location& where) {
  if (!x.defined())
    throw Error("[quantize] the tensor is empty: it was declared and never given a value", where);
  if (options.granularity == QuantGranularity::block &&
      (options.block < 16 || !std::has_single_bit(static_cast<std::uint64_t>(options.block))))
    throw Error(
        "[quantize] the block is " + std::to_string(options.block) + ", expected a power of two from 16 on",
        where);
  if (x.rank() == 0 || x.numel() == 0)
    throw ShapeError("[quantize] a tensor of shape " + to_string(x.shape()) +
                         " has no rows of numbers that could share a scale",
                     where);
  const A bad = x.inner().is_finite(where).logical_not(where).cast(DType::i64, where);
  const std::int64_t count = Tensor<0, Int>(bad.sum(bad.all_axes(), where).reshape({}, where)).item(where);
  if (count != 0)
    throw Error("[quantize] of the " + std::to_string(x.numel()) + " numbers " + std::to_string(count) +
                    " are NaN or infinite, which no code stands for",
                where);
}

}  // namespace

QuantizedTensor detail::quantize(const AnyTensor& x, const QuantOptions& options, Location where) {
  check(x, options, where);
  const auto [rows, columns] = rows_of(x.shape());
  const A numbers = x.inner().cast(DType::f32, where).reshape({rows, columns}, where);
  A largest = numbers.abs(where);
  switch (options.granularity) {
    case QuantGranularity::tensor: largest = largest.max({0, 1}, where); break;
    case QuantGranularity::channel: largest = largest.max(1, where); break;
    case QuantGranularity::block:
      largest = in_parts(largest, options.block, where).max(2, where).squeeze(2, where);
      break;
  }
  const double limit = options.scheme == QuantScheme::int8   ? 127
                       : options.scheme == QuantScheme::int4 ? 7
                       : options.scheme == QuantScheme::fp8  ? 448
                                                             : 1;
  const A scales = A::mul(largest, 1 / limit, where);
  const bool by_block = options.granularity == QuantGranularity::block;
  const A units = in_units(numbers, by_block ? spread(scales, columns, options.block, where) : scales, where);
  A codes, stored;
  switch (options.scheme) {
    case QuantScheme::int8: codes = rounded(units, limit, where).cast(DType::i8, where); break;
    case QuantScheme::int4:
      codes = packed(A::add(rounded(units, limit, where), 8.0, where).cast(DType::i32, where), where);
      break;
    case QuantScheme::nf4: codes = packed(nearest_normal_float(units, where), where); break;
    case QuantScheme::fp8: stored = units.cast(DType::f8_e4m3, where); break;
  }
  QuantizedTensor result{.shape = x.shape(),
                         .dtype = x.dtype(),
                         .options = options,
                         .codes = {},
                         .numbers = {},
                         .scales = {},
                         .quantized_scales = {}};
  if (stored.defined())
    result.numbers = Buffer<2>(stored);
  else
    result.codes = Buffer<2, Int>(codes);
  if (options.double_quantization)
    result.quantized_scales = in_eight_bits(scales, where);
  else
    result.scales = Buffer<2>(scales);
  return result;
}

AnyTensor dequantize(const QuantizedTensor& x, std::optional<DType> dtype, Location where) {
  const bool is_f8 = x.options.scheme == QuantScheme::fp8;
  if (is_f8 ? !x.numbers.defined() : !x.codes.defined())
    throw Error("[dequantize] the tensor is empty: it was declared and never given a value", where);
  const auto [rows, columns] = rows_of(x.shape);
  const A codes = is_f8 ? x.numbers.dynamic() : x.codes.dynamic(), scales = scales_of(x, where);
  const bool by_block = x.options.granularity == QuantGranularity::block;
  const std::int64_t bytes = codes.shape()[1], block = x.options.block;
  // Where blocks end with a row's halves, or with the row, the scale is the same along the last axis: kernels
  // then compute no index for it.
  const bool is_packed = x.options.scheme == QuantScheme::int4 || x.options.scheme == QuantScheme::nf4;
  const bool fits = by_block && columns % (is_packed ? 2 * block : block) == 0;
  const std::int64_t size = fits ? block : bytes;
  A numbers;
  switch (x.options.scheme) {
    case QuantScheme::int8:
    case QuantScheme::fp8: numbers = codes.cast(DType::f32, where); break;
    case QuantScheme::int4:
      // As a byte, which some devices make a float of in fewer steps.
      numbers =
          A::sub(unpacked(codes, size, where).cast(DType::u8, where).cast(DType::f32, where), 8.0, where);
      break;
    case QuantScheme::nf4: numbers = normal_float(unpacked(codes, size, where), where); break;
  }
  if (fits) {
    Shape shape = is_packed ? numbers.shape() : Shape{rows, columns / block, block};
    numbers = numbers.reshape(shape, where);
    shape[shape.rank() - 1] = 1;
    numbers = A::mul(numbers, scales.reshape(shape, where), where);
  } else {
    if (is_packed) numbers = numbers.reshape({rows, 2 * bytes}, where).narrow(1, 0, columns, where);
    numbers = A::mul(numbers, by_block ? spread(scales, columns, block, where) : scales, where);
  }
  return numbers.reshape(x.shape, where).cast(dtype.value_or(x.dtype), where);
}

void nn::detail::require_quantizable(bool found, const std::vector<std::string>& patterns, Location where) {
  if (found) return;
  if (patterns.empty()) throw Error("[dequantize] no layer of the model is quantized", where);
  std::string text;
  for (const std::string& pattern : patterns) text += (text.empty() ? "\"" : ", \"") + pattern + "\"";
  throw Error("[quantize] no Linear has a path that fits " + text, where);
}

}  // namespace sinter
