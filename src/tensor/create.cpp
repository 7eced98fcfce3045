// New tensors: from host memory, constant, ranges, random.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/element_type.h"
#include "src/base/size_arithmetic.h"
#include "src/runtime/device_core.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

void check_sizes(std::string_view op, const Shape& shape, const Location& where) {
  for (std::int64_t size : shape)
    if (size < 0)
      throw ShapeError("[" + std::string(op) + "] sizes are zero or more, not " + to_string(shape), where);
}

/// The greatest number of a 16- or 8-bit dtype below `high`.
double greatest_below(double high, DType dtype) {
  return base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (is_stored_float(dtype_of<T>)) {
      using Bits = decltype(T().bits());
      constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
      T rounded(static_cast<float>(high));
      // Down by units in the last place: of the sign and magnitude that the bits are.
      while (!(static_cast<double>(static_cast<float>(rounded)) < high)) {
        const Bits bits = rounded.bits();
        if ((bits & ~kSign) == 0)
          rounded = T::from_bits(kSign + 1);
        else
          rounded = T::from_bits(static_cast<Bits>(bits & kSign ? bits + 1 : bits - 1));
      }
      return static_cast<double>(static_cast<float>(rounded));
    } else {
      return high;
    }
  });
}

std::array<Scalar, 2> random_key(const Device& device) {
  const auto [seed, stream] = device.core().next_random();
  return {Scalar(seed), Scalar(stream)};
}

}  // namespace

AnyTensor AnyTensor::from_bytes(std::span<const std::byte> data, const Shape& shape, DType dtype,
                                const Device& device, Location where) {
  check_sizes("from_data", shape, where);
  tensor::check_supported("from_data", dtype, device, where);
  const auto given = data.size() / size_of(dtype);
  if (data.size() != static_cast<std::size_t>(base::SizeArithmetic("from_data", where).bytes(shape, dtype)))
    throw ShapeError("[from_data] shape " + to_string(shape) + " holds " + std::to_string(shape.numel()) +
                         " elements, the data " + std::to_string(given),
                     where);
  if (dtype == DType::boolean) {
    const auto bad = std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad != data.end())
      throw DTypeError("[from_data] a bool is the byte 0 or 1, element " +
                           std::to_string(bad - data.begin()) + " is " +
                           std::to_string(std::to_integer<int>(*bad)),
                       where);
  }
  return AnyTensor(device.core().upload(data, shape, dtype), nullptr, device.is_autodiff());
}

AnyTensor AnyTensor::full(const Shape& shape, Scalar value, DType dtype, const Device& device,
                          Location where) {
  check_sizes("full", shape, where);
  const Scalar fitted = tensor::fit("full", value, dtype, where);
  return tensor::apply_source(Op::Full, {&fitted, 1}, shape, dtype, device, where);
}

AnyTensor AnyTensor::arange(std::int64_t start, std::int64_t stop, std::int64_t step, const Device& device,
                            Location where) {
  if (step == 0)
    throw ShapeError(
        "[arange] the step from " + std::to_string(start) + " to " + std::to_string(stop) + " is 0", where);
  // Without sign: the distance of two i64 may take 64 bits.
  const auto bits = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  const bool empty = step > 0 ? start >= stop : start <= stop;
  const std::uint64_t distance = step > 0 ? bits(stop) - bits(start) : bits(start) - bits(stop);
  const std::uint64_t stride = step > 0 ? bits(step) : 0 - bits(step);
  const std::uint64_t count = empty ? 0 : (distance - 1) / stride + 1;
  if (count > bits(std::numeric_limits<std::int64_t>::max()))
    throw ShapeError("[arange] from " + std::to_string(start) + " to " + std::to_string(stop) +
                         " there are 2^63 numbers or more",
                     where);
  const Shape shape{static_cast<std::int64_t>(count)};
  // A factor of 1 and a start of 0 would be arithmetic of 64 bits for each element that compares positions,
  // as masks do.
  AnyTensor index = tensor::apply_source(Op::Iota, {}, shape, DType::i64, device, where);
  if (step != 1) index = mul(index, step, where);
  return start == 0 ? index : add(index, start, where);
}

AnyTensor AnyTensor::arange(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype,
                            const Device& device, Location where) {
  tensor::check_supported("arange", dtype, device, where);
  const AnyTensor numbers = arange(start, stop, step, device, where);
  if (const std::int64_t count = numbers.numel(); count > 0 && is_int(dtype)) {
    tensor::fit("arange", start, dtype, where);
    // The last one is before `stop` and fits 64 bits; its distance from `start` may not.
    const std::uint64_t way = static_cast<std::uint64_t>(count - 1) * static_cast<std::uint64_t>(step);
    tensor::fit("arange", static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + way), dtype, where);
  }
  return numbers.cast(dtype, where);
}

AnyTensor AnyTensor::uniform(const Shape& shape, double low, double high, const Device& device,
                             Location where) {
  check_sizes("uniform", shape, where);
  if (!(low < high))
    throw Error(
        "[uniform] the range from " + std::to_string(low) + " to " + std::to_string(high) + " is empty",
        where);
  constexpr double kGreatest = std::numeric_limits<float>::max();
  if (low < -kGreatest || high > kGreatest)
    throw Error("[uniform] the range from " + std::to_string(low) + " to " + std::to_string(high) +
                    " is beyond the numbers of f32, in which it is drawn",
                where);
  AnyTensor unit = tensor::apply_source(Op::Random, random_key(device), shape, DType::f32, device, where);
  if (low == 0 && high == 1) return unit;
  // Clamps: rounding may produce `high` itself, which is outside of the range.
  const float below = std::nextafter(static_cast<float>(high), -std::numeric_limits<float>::infinity());
  // The width of a range within f32 may lie beyond it.
  const AnyTensor drawn = high - low > kGreatest
                              ? add(mul(unit, high, where), mul(sub(1, unit, where), low, where), where)
                              : add(mul(unit, high - low, where), low, where);
  return minimum(drawn, std::max(below, static_cast<float>(low)), where);
}

AnyTensor AnyTensor::normal(const Shape& shape, double mean, double deviation, const Device& device,
                            Location where) {
  check_sizes("normal", shape, where);
  if (!(deviation >= 0))
    throw Error("[normal] a standard deviation is zero or more, not " + std::to_string(deviation), where);
  AnyTensor standard =
      tensor::apply_source(Op::RandomNormal, random_key(device), shape, DType::f32, device, where);
  return add(mul(standard, deviation, where), mean, where);
}

AnyTensor AnyTensor::uniform(const Shape& shape, double low, double high, DType dtype, const Device& device,
                             Location where) {
  tensor::check_float("uniform", dtype, where);
  tensor::check_supported("uniform", dtype, device, where);
  const AnyTensor numbers = uniform(shape, low, high, device, where);
  if (!is_stored_float(dtype)) return numbers.cast(dtype, where);
  // 16 or 8 bits have far fewer numbers below `high`, and rounding would go up to it.
  return minimum(numbers, std::max(greatest_below(high, dtype), low), where).cast(dtype, where);
}

AnyTensor AnyTensor::normal(const Shape& shape, double mean, double deviation, DType dtype,
                            const Device& device, Location where) {
  tensor::check_float("normal", dtype, where);
  tensor::check_supported("normal", dtype, device, where);
  return normal(shape, mean, deviation, device, where).cast(dtype, where);
}

AnyTensor AnyTensor::randint(const Shape& shape, std::int64_t low, std::int64_t high, DType dtype,
                             const Device& device, Location where) {
  check_sizes("randint", shape, where);
  if (!is_int(dtype))
    throw DTypeError("[randint] integers are drawn, not " + std::string(name_of(dtype)), where);
  tensor::check_supported("randint", dtype, device, where);
  const std::string range = "the range from " + std::to_string(low) + " to " + std::to_string(high);
  if (low >= high) throw Error("[randint] " + range + " is empty", where);
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error("[randint] " + range + " has 2^63 numbers or more", where);
  tensor::fit("randint", low, dtype, where);
  tensor::fit("randint", high - 1, dtype, where);
  // The random bits of a draw, 24 of them, as an integer below 2^bits.
  const auto bits = [&](int bits) {
    const AnyTensor unit =
        tensor::apply_source(Op::Random, random_key(device), shape, DType::f32, device, where);
    return mul(unit, static_cast<double>(std::int64_t{1} << bits), where).cast(DType::i64, where);
  };
  const AnyTensor high_bits = bits(24), low_bits = bits(24);
  const auto factor = static_cast<std::int64_t>(count);
  AnyTensor number;
  if (count <= std::uint64_t{1} << 32) {
    // 48 bits as a part of 1, times `count`, without what is behind the point: nothing is divided.
    const AnyTensor carried = shift_right(mul(low_bits, factor, where), 24, where);
    number = shift_right(add(mul(high_bits, factor, where), carried, where), 24, where);
  } else {
    number = add(shift_left(high_bits, 24, where), low_bits, where);
    number = remainder(add(shift_left(number, 15, where), bits(15), where), factor, where);
  }
  return add(number, low, where).cast(dtype, where);
}

namespace tensor {

AnyTensor iota_along(std::size_t axis, std::size_t rank, std::int64_t size, const Device& device,
                     const Location& where) {
  Shape shape(Dims::filled(rank, 1));
  shape[axis] = size;
  return apply_source(Op::Iota, {}, shape, DType::i64, device, where);
}

}  // namespace tensor

}  // namespace sinter
