// Results whose size the data decides: one number is read, then the rest has a shape. Histograms stand beside
// them: they count in the same way.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <sinter/detail/typed.h>
#include <sinter/functions/sort.h>

#include "jit/library/counting.h"
#include "jit/library/scan.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/scan.h"
#include "src/tensor/indices/scatter.h"
#include "src/tensor/indices/sort.h"

namespace sinter {

namespace tensor {

namespace {

void check_count(std::string_view op, std::int64_t count, const Location& where) {
  if (count > library::kMostScanned)
    throw ShapeError("[" + std::string(op) + "] goes over up to " + std::to_string(library::kMostScanned) +
                         " elements, not " + std::to_string(count),
                     where);
}

/// A mask as a running count, and its end, which is read.
struct Counted {
  AnyTensor running;
  std::int64_t count;
};
Counted count_up(const AnyTensor& mask, const Location& where) {
  const AnyTensor running = scan_along(library::ScanKind::Sum, mask.cast(DType::i32, where), 0, {}, where);
  const AnyTensor last = running.narrow(0, mask.numel() - 1, 1, where);
  return {running, detail::item(last, where).as_int()};
}

/// Where a running count gets to 1, 2, ..
AnyTensor steps_of(const Counted& counted, const Location& where) {
  const Operand operands[] = {counted.running};
  return apply_library(library::counting(library::Counting::Steps), operands, {{counted.count}}, where);
}

/// How often each of `rows` occurs in index [n], whose numbers are checked: in `dtype`.
AnyTensor counts_of(std::string_view op, const AnyTensor& index, std::int64_t rows, DType dtype,
                    const Location& where) {
  if (index.numel() == 0 || rows == 0) return AnyTensor::full({rows}, 0, dtype, index.device(), where);
  return count_rows(op, index, rows, where).cast(dtype, where);
}

/// Coordinate d of the elements at `positions` of a tensor of `shape`.
AnyTensor coordinate(const AnyTensor& positions, const Shape& shape, std::size_t d, const Location& where) {
  const std::int64_t stride = contiguous_strides(shape)[d];
  const AnyTensor passed = AnyTensor::div(positions, stride, where);
  return d == 0 ? passed : AnyTensor::remainder(passed, shape[d], where);
}

void check_bins(std::string_view op, std::int64_t bins, double low, double high, const Location& where) {
  if (bins < 1)
    throw ShapeError("[" + std::string(op) + "] the number of bins is 1 or more, not " + std::to_string(bins),
                     where);
  if (!(low < high) || !(high - low < std::numeric_limits<double>::infinity()))
    throw Error("[" + std::string(op) + "] the range from " + std::to_string(low) + " to " +
                    std::to_string(high) + " is empty or endless",
                where);
}

}  // namespace

AnyTensor positions_where(std::string_view op, const AnyTensor& mask, const Location& where) {
  check_count(op, mask.numel(), where);
  const auto none = [&] { return AnyTensor::full({0}, 0, DType::i64, mask.device(), where); };
  if (mask.numel() == 0) return none();
  const Counted counted = count_up(mask, where);
  return counted.count == 0 ? none() : steps_of(counted, where).cast(DType::i64, where);
}

}  // namespace tensor

AnyTensor nonzero(const AnyTensor& x, Location where) {
  const Shape shape = tensor::value_of("nonzero", x, where).shape;
  const AnyTensor flat = x.detach().reshape({x.numel()}, where);
  const AnyTensor positions = tensor::positions_where("nonzero", flat.cast(DType::boolean, where), where);
  const std::int64_t count = positions.numel();
  if (count == 0 || shape.rank() == 0)
    return AnyTensor::full({count, static_cast<std::int64_t>(shape.rank())}, 0, DType::i64, x.device(),
                           where);
  std::vector<AnyTensor> coordinates;
  for (std::size_t d = 0; d < shape.rank(); ++d)
    coordinates.push_back(tensor::coordinate(positions, shape, d, where));
  return AnyTensor::stack(coordinates, 1, where);
}

AnyTensor argwhere(const AnyTensor& x, Location where) {
  tensor::value_of("argwhere", x, where);
  return nonzero(x, where);
}

AnyTensor mask_select(const AnyTensor& x, const AnyTensor& mask, Location where) {
  const Shape& shape = tensor::value_of("mask_select", x, where).shape;
  if (tensor::value_of("mask_select", mask, where).dtype != DType::boolean)
    throw DTypeError("[mask_select] the mask is bool, not " + std::string(name_of(mask.dtype())), where);
  if (tensor::broadcast("mask_select", mask.shape(), shape, where) != shape)
    throw ShapeError("[mask_select] a mask of shape " + to_string(mask.shape()) +
                         " does not broadcast to shape " + to_string(shape),
                     where);
  const std::int64_t count = shape.numel();
  const AnyTensor flat = tensor::broadcast_to(mask, shape, where).reshape({count}, where);
  return x.reshape({count}, where)
      .index_select(0, tensor::positions_where("mask_select", flat, where), where);
}

AnyUnique unique(const AnyTensor& x, Location where) {
  const Shape shape = tensor::value_of("unique", x, where).shape;
  const std::int64_t total = shape.numel();
  const Device device = x.device();
  tensor::check_count("unique", total, where);
  const AnyTensor flat = x.detach().reshape({total}, where);
  if (total == 0)
    return {flat, AnyTensor::full(shape, 0, DType::i64, device, where),
            AnyTensor::full({0}, 0, DType::i64, device, where)};
  const AnyTensor order = tensor::order_along(flat, 0, total, false, where);
  const AnyTensor sorted = flat.index_select(0, order, where);
  // Where another element begins; the first one always does.
  AnyTensor begins = AnyTensor::full({1}, true, DType::boolean, device, where);
  if (total > 1) {
    const AnyTensor pieces[] = {begins, AnyTensor::not_equal(sorted.narrow(0, 1, total - 1, where),
                                                             sorted.narrow(0, 0, total - 1, where), where)};
    begins = AnyTensor::cat(pieces, 0, where);
  }
  const tensor::Counted counted = tensor::count_up(begins, where);
  const AnyTensor first = tensor::steps_of(counted, where);
  // Each sorted element's number goes back to where the element stood: the order of positions says where that
  // is in order.
  const AnyTensor places = tensor::order_along(order, 0, total, false, where);
  const AnyTensor inverse = AnyTensor::sub(counted.running.index_select(0, places, where), 1, where);
  const AnyTensor ends[] = {first.narrow(0, 1, counted.count - 1, where),
                            AnyTensor::full({1}, total, DType::i32, device, where)};
  const AnyTensor counts = AnyTensor::sub(AnyTensor::cat(ends, 0, where), first, where);
  return {sorted.index_select(0, first, where), inverse.reshape(shape, where).cast(DType::i64, where),
          counts.cast(DType::i64, where)};
}

namespace {

/// The number of rows that bincount gives: reads the smallest and the largest number.
std::int64_t rows_of(const AnyTensor& x, std::int64_t least, const Location& where) {
  const trace::Value& value = tensor::value_of("bincount", x, where);
  if (value.dtype != DType::i32 && value.dtype != DType::i64)
    throw DTypeError("[bincount] counts i32 or i64, not " + std::string(name_of(value.dtype)), where);
  if (value.shape.rank() != 1)
    throw ShapeError("[bincount] takes one axis, not shape " + to_string(value.shape), where);
  if (least < 0)
    throw ShapeError("[bincount] the least size is 0 or more, not " + std::to_string(least), where);
  if (x.numel() == 0) return least;
  const AnyTensor both[] = {x.min(0, where), x.max(0, where)};
  const AnyTensor ends = AnyTensor::cat(both, 0, where).cast(DType::i64, where);
  std::int64_t range[2];
  ends.read_bytes(std::as_writable_bytes(std::span(range)), where);
  if (range[0] < 0)
    throw ShapeError("[bincount] counts numbers that are 0 or more, not " + std::to_string(range[0]), where);
  tensor::check_count("bincount",
                      range[1] == std::numeric_limits<std::int64_t>::max() ? range[1] : range[1] + 1, where);
  return std::max(least, range[1] + 1);
}

}  // namespace

AnyTensor bincount(const AnyTensor& x, std::int64_t least, Location where) {
  const std::int64_t rows = rows_of(x, least, where);
  return tensor::counts_of("index_add", x, rows, DType::i64, where);
}

AnyTensor bincount(const AnyTensor& x, const AnyTensor& weights, std::int64_t least, Location where) {
  tensor::check_numeric("bincount", tensor::value_of("bincount", weights, where).dtype, where);
  if (weights.shape() != tensor::value_of("bincount", x, where).shape)
    throw ShapeError("[bincount] weights of shape " + to_string(weights.shape()) +
                         " do not fit numbers of shape " + to_string(x.shape()),
                     where);
  const std::int64_t rows = rows_of(x, least, where);
  if (x.numel() == 0) return AnyTensor::full({rows}, 0, weights.dtype(), weights.device(), where);
  return tensor::add_slices("index_add", x, weights, 0, rows, where);
}

AnyTensor histc(const AnyTensor& x, std::int64_t bins, double low, double high, Location where) {
  const DType dtype = tensor::value_of("histc", x, where).dtype;
  tensor::check_numeric("histc", dtype, where);
  tensor::check_bins("histc", bins, low, high, where);
  const AnyTensor flat = x.detach().reshape({x.numel()}, where);
  const AnyTensor numbers = dtype == DType::f64 ? flat : flat.cast(DType::f32, where);
  const AnyTensor scaled =
      AnyTensor::div(AnyTensor::mul(AnyTensor::sub(numbers, low, where), static_cast<double>(bins), where),
                     high - low, where);
  const AnyTensor inside = AnyTensor::logical_and(AnyTensor::less_equal(low, numbers, where),
                                                  AnyTensor::less_equal(numbers, high, where), where);
  const AnyTensor bin =
      AnyTensor::minimum(AnyTensor::where(inside, scaled, 0, where).cast(DType::i32, where), bins - 1, where);
  // What is outside goes to one more row.
  return tensor::counts_of("index_add", AnyTensor::where(inside, bin, bins, where), bins + 1, dtype, where)
      .narrow(0, 0, bins, where);
}

AnyHistogram histogram(const AnyTensor& x, std::int64_t bins, double low, double high, Location where) {
  const DType dtype = tensor::value_of("histogram", x, where).dtype;
  tensor::check_float("histogram", dtype, where);
  tensor::check_bins("histogram", bins, low, high, where);
  const DType real = arithmetic_of(dtype);
  const AnyTensor steps = AnyTensor::arange(0, bins + 1, 1, x.device(), where);
  const AnyTensor edges = AnyTensor::where(
      AnyTensor::equal(steps, bins, where),
      AnyTensor::full({1}, high, real, x.device(), where).expand({bins + 1}, where),
      AnyTensor::add(AnyTensor::mul(steps.cast(real, where), (high - low) / static_cast<double>(bins), where),
                     low, where),
      where);
  const AnyTensor flat = x.detach().reshape({1, x.numel()}, where).cast(real, where);
  if (x.numel() == 0) return {AnyTensor::full({bins}, 0, dtype, x.device(), where), edges.cast(dtype, where)};
  // The place behind all edges that are not greater, less one; the last edge belongs to the last bin.
  const AnyTensor place = AnyTensor::sub(tensor::places_in(edges, flat, true, where), 1, where);
  const AnyTensor last = AnyTensor::full({1}, high, real, x.device(), where);
  const AnyTensor bin = AnyTensor::where(AnyTensor::equal(flat, last, where), bins - 1, place, where);
  const AnyTensor counted = AnyTensor::where(AnyTensor::logical_and(AnyTensor::less_equal(0, bin, where),
                                                                    AnyTensor::less(bin, bins, where), where),
                                             bin, bins, where)
                                .reshape({x.numel()}, where);
  return {tensor::counts_of("index_add", counted, bins + 1, dtype, where).narrow(0, 0, bins, where),
          edges.cast(dtype, where)};
}

}  // namespace sinter
