// Random choices, composed of random numbers, scans and sorts.
#include <string>

#include <sinter/functions/sampling.h>

#include "jit/library/scan.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/scan.h"
#include "src/tensor/indices/sort.h"

namespace sinter {

namespace {

/// Exponentially distributed numbers above 0. Two draws make the small ones, which decide, as fine as the
/// others.
AnyTensor exponential(const Shape& shape, const Device& device, const Location& where) {
  const AnyTensor coarse = AnyTensor::uniform(shape, 0, 1, device, where),
                  fine = AnyTensor::uniform(shape, 0, 1, device, where);
  const AnyTensor both = AnyTensor::add(coarse, AnyTensor::mul(fine, 0x1p-24, where), where);
  return AnyTensor::minimum(AnyTensor::maximum(both, 0x1p-50, where), 1 - 0x1p-24, where)
      .neg(where)
      .log1p(where)
      .neg(where);
}

/// Random integers of `bits` bits (up to 24), as i64.
AnyTensor random_bits(const Shape& shape, int bits, const Device& device, const Location& where) {
  const auto range = static_cast<double>(std::int64_t{1} << bits);
  return AnyTensor::mul(AnyTensor::uniform(shape, 0, 1, device, where), range, where).cast(DType::i64, where);
}

/// Without replacement: the smallest of exponential times, whose rates are the weights.
AnyTensor without_replacement(const AnyTensor& weights, std::int64_t count, const Location& where) {
  const AnyTensor chance =
      AnyTensor::div(weights, exponential(weights.shape(), weights.device(), where), where);
  return tensor::order_along(chance, 1, count, true, where);
}

/// With it: shares as integers, whose running sums are exact, and a random integer below their sum.
AnyTensor with_replacement(const AnyTensor& weights, std::int64_t count, const Location& where) {
  const Device device = weights.device();
  const std::int64_t rows = weights.shape()[0], n = weights.shape()[1];
  const AnyTensor shares =
      AnyTensor::mul(AnyTensor::div(weights, weights.sum(1, where), where), 0x1p30, where)
          .cast(DType::i32, where);  // rounding does not double their sum
  const AnyTensor running = tensor::scan_along(library::ScanKind::Sum, shares, 1, {}, where);
  const AnyTensor total = running.narrow(1, n - 1, 1, where).cast(DType::i64, where);
  const Shape shape{rows, count};
  const AnyTensor high = random_bits(shape, 16, device, where), low = random_bits(shape, 16, device, where);
  // Of 32 bits, times a sum of at most 2^30 and a rounding for each element.
  const AnyTensor number = AnyTensor::add(AnyTensor::shift_left(high, 16, where), low, where);
  const AnyTensor target =
      AnyTensor::shift_right(AnyTensor::mul(number, total, where), 32, where).cast(DType::i32, where);
  const AnyTensor places = tensor::places_in(running, target, true, where);
  return AnyTensor::minimum(places, n - 1, where);
}

}  // namespace

AnyTensor categorical(const AnyTensor& logits, std::int64_t axis, Location where) {
  const DType dtype = tensor::value_of("categorical", logits, where).dtype;
  tensor::check_float("categorical", dtype, where);
  tensor::axis_of("categorical", axis, logits.shape(), where);
  const AnyTensor plain = logits.detach();
  const AnyTensor numbers = is_stored_float(dtype) ? plain.cast(DType::f32, where) : plain;
  AnyTensor times = exponential(logits.shape(), logits.device(), where).log(where);
  if (numbers.dtype() != DType::f32) times = times.cast(numbers.dtype(), where);
  if (logits.numel() == 0) return AnyTensor::sub(numbers, times, where).argmax(axis, where);
  // Beside a large constant that all logits share, the times would be rounded away.
  const AnyTensor largest = numbers.max(axis, where);
  const AnyTensor shift = AnyTensor::where(largest.is_finite(where), largest, 0, where);
  return AnyTensor::sub(AnyTensor::sub(numbers, shift, where), times, where).argmax(axis, where);
}

AnyTensor multinomial(const AnyTensor& weights, std::int64_t count, bool replacement, Location where) {
  const trace::Value& value = tensor::value_of("multinomial", weights, where);
  tensor::check_float("multinomial", value.dtype, where);
  const std::size_t rank = value.shape.rank();
  if (rank != 1 && rank != 2)
    throw ShapeError("[multinomial] weights have one or two axes, not shape " + to_string(value.shape),
                     where);
  const std::int64_t n = value.shape.back();
  if (count < 0 || (count > n && !replacement) || (count > 0 && n == 0))
    throw ShapeError("[multinomial] " + std::to_string(count) + " of " + std::to_string(n) +
                         " cannot be drawn" + (replacement ? "" : " without replacement"),
                     where);
  if (rank == 1) {
    const AnyTensor row = multinomial(weights.reshape({1, n}, where), count, replacement, where);
    return row.reshape({count}, where);
  }
  if (count == 0 || value.shape[0] == 0)
    return AnyTensor::full({value.shape[0], count}, 0, DType::i64, weights.device(), where);
  const AnyTensor plain = weights.detach().cast(DType::f32, where);
  return (replacement ? with_replacement(plain, count, where) : without_replacement(plain, count, where))
      .cast(DType::i64, where);
}

AnyTensor randperm(std::int64_t n, const Device& device, Location where) {
  if (n < 0) throw ShapeError("[randperm] a size is zero or more, not " + std::to_string(n), where);
  if (n == 0) return AnyTensor::full({0}, 0, DType::i64, device, where);
  // Of 46 bits, so that equal ones, which would stay in order, hardly happen.
  const AnyTensor keys = AnyTensor::add(AnyTensor::shift_left(random_bits({n}, 23, device, where), 23, where),
                                        random_bits({n}, 23, device, where), where);
  return tensor::order_along(keys, 0, n, false, where).cast(DType::i64, where);
}

AnyTensor shuffle(const AnyTensor& x, std::int64_t axis, Location where) {
  const Shape& shape = tensor::value_of("shuffle", x, where).shape;
  const std::size_t dim = tensor::axis_of("shuffle", axis, shape, where);
  return x.index_select(axis, randperm(shape[dim], x.device(), where), where);
}

AnyTensor categorical(const AnyTensor& logits, std::int64_t axis, Generator& generator, Location where) {
  const DrawFrom draws(generator);
  return categorical(logits, axis, where);
}

AnyTensor multinomial(const AnyTensor& weights, std::int64_t count, bool replacement, Generator& generator,
                      Location where) {
  const DrawFrom draws(generator);
  return multinomial(weights, count, replacement, where);
}

AnyTensor randperm(std::int64_t n, const Device& device, Generator& generator, Location where) {
  const DrawFrom draws(generator);
  return randperm(n, device, where);
}

AnyTensor shuffle(const AnyTensor& x, std::int64_t axis, Generator& generator, Location where) {
  const DrawFrom draws(generator);
  return shuffle(x, axis, where);
}

}  // namespace sinter
