// Scans: checked, promoted, recorded.
#include "src/tensor/indices/scan.h"

#include <string>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/sort.h"

namespace sinter {

namespace tensor {

using library::ScanKind;

AnyTensor scan_along(ScanKind kind, const AnyTensor& x, std::size_t axis, ScanOptions options,
                     const Location& where) {
  const Operand operands[] = {x};
  const std::int64_t ints[] = {static_cast<std::int64_t>(axis), options.reverse, options.exclusive};
  return apply_library(library::scan(kind), operands, ints, where);
}

AnyTensor picked(const AnyTensor& x, std::size_t axis, const AnyTensor& index, const Location& where) {
  return x.gather(static_cast<std::int64_t>(axis), index, where);
}

namespace {

void check_options(ScanKind kind, ScanOptions options, const Location& where) {
  if (options.exclusive && kind != ScanKind::Sum)
    throw Error("[" + library::scan(kind).name() + "] only sums can be exclusive", where);
}

AnyTensor scanned(ScanKind kind, const AnyTensor& given, std::int64_t axis, ScanOptions options,
                  const Location& where) {
  const std::string& name = library::scan(kind).name();
  const DType dtype = value_of(name, given, where).dtype;
  check_options(kind, options, where);
  if (kind == ScanKind::LogSumExp) check_float(name, dtype, where);
  const AnyTensor x = given.cast(sum_dtype(dtype), where);
  if (given.rank() == 0) return scanned(kind, x.reshape({1}, where), axis, options, where).reshape({}, where);
  const std::size_t dim = axis_of(name, axis, x.shape(), where);
  return x.shape().numel() == 0 ? x : scan_along(kind, x, dim, options, where);
}

AnyIndexed extremes(ScanKind kind, const AnyTensor& x, std::int64_t axis, ScanOptions options,
                    const Location& where) {
  const std::string& name = library::scan(kind).name();
  check_numeric(name, value_of(name, x, where).dtype, where);
  check_options(kind, options, where);
  if (x.rank() == 0) {
    const AnyIndexed one = extremes(kind, x.reshape({1}, where), axis, options, where);
    return {one.values.reshape({}, where), one.indices.reshape({}, where)};
  }
  const std::size_t dim = axis_of(name, axis, x.shape(), where);
  if (x.shape().numel() == 0) return {x, AnyTensor::full(x.shape(), 0, DType::i64, x.device(), where)};
  const AnyTensor index = scan_along(kind, comparable(x, where), dim, options, where);
  return {picked(x, dim, index, where), index.cast(DType::i64, where)};
}

}  // namespace
}  // namespace tensor

using library::ScanKind;

AnyTensor cumsum(const AnyTensor& x, std::int64_t axis, ScanOptions options, Location where) {
  return tensor::scanned(ScanKind::Sum, x, axis, options, where);
}
AnyTensor cumprod(const AnyTensor& x, std::int64_t axis, ScanOptions options, Location where) {
  return tensor::scanned(ScanKind::Prod, x, axis, options, where);
}
AnyTensor logcumsumexp(const AnyTensor& x, std::int64_t axis, ScanOptions options, Location where) {
  return tensor::scanned(ScanKind::LogSumExp, x, axis, options, where);
}
AnyTensor diff(const AnyTensor& x, std::int64_t times, std::int64_t axis, Location where) {
  const trace::Value& value = tensor::value_of("diff", x, where);
  tensor::check_numeric("diff", value.dtype, where);
  const std::size_t dim = tensor::axis_of("diff", axis, value.shape, where);
  if (times < 0)
    throw ShapeError("[diff] differences are taken 0 times or more, not " + std::to_string(times), where);
  const auto along = static_cast<std::int64_t>(dim);
  AnyTensor result = x;
  for (std::int64_t left = value.shape[dim]; times > 0 && left > 0; --times, --left)
    result = AnyTensor::sub(result.narrow(along, 1, left - 1, where),
                            result.narrow(along, 0, left - 1, where), where);
  return result;
}
AnyIndexed cummax(const AnyTensor& x, std::int64_t axis, ScanOptions options, Location where) {
  return tensor::extremes(ScanKind::MaxPosition, x, axis, options, where);
}
AnyIndexed cummin(const AnyTensor& x, std::int64_t axis, ScanOptions options, Location where) {
  return tensor::extremes(ScanKind::MinPosition, x, axis, options, where);
}

}  // namespace sinter
