// Positional encodings: angles are computed where they are used.
#include <array>
#include <cmath>
#include <string>

#include <sinter/nn/position.h>

#include "src/base/number_text.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

/// position * base^(-2i / d), (length, d / 2), in the dtype that `dtype` is computed in. The offset is a
/// scalar argument, so that a sequence that grows has one trace.
AnyTensor angles(const char* layer, const AnyTensor& x, double base, std::int64_t offset,
                 const Location& where) {
  const std::int64_t d = x.shape().back(), length = x.shape()[x.rank() - 2];
  if (d % 2 != 0)
    throw ShapeError("[" + std::string(layer) + "] the last axis of the input " + to_string(x.shape()) +
                         " is odd, and is taken in pairs",
                     where);
  if (!(base > 0) || !std::isfinite(base))
    throw Error("[" + std::string(layer) + "] the base of the frequencies is " + text_of(base) +
                    ", expected a positive number",
                where);
  const Device device = x.device().inner();
  const DType dtype = arithmetic_of(x.dtype());
  const A position = A::add(A::arange(0, length, 1, device, where), offset, where).cast(dtype, where);
  const A i = A::arange(0, d / 2, 1, device, where).cast(dtype, where);
  const A rate = A::mul(i, d == 0 ? 0 : -2 * std::log(base) / static_cast<double>(d), where).exp(where);
  return A::mul(position.reshape({length, 1}, where), rate.reshape({1, d / 2}, where), where);
}

}  // namespace

AnyTensor detail::add_sinusoids(const AnyTensor& x, double max_timescale, std::int64_t offset,
                                Location where) {
  const std::int64_t d = x.shape().back(), length = x.shape()[x.rank() - 2];
  const A angle = angles("positional_encoding", x, max_timescale, offset, where);
  const std::array<A, 2> both{angle.sin(where), angle.cos(where)};
  const A table = A::stack(both, 2, where).reshape({length, d}, where);
  return A::add(x, table.cast(x.dtype(), where), where);
}

AnyTensor detail::rotate(const AnyTensor& x, double theta, bool interleaved, std::int64_t offset,
                         Location where) {
  const A angle = angles("rotary_encoding", x, theta, offset, where);
  const std::int64_t half = x.shape().back() / 2, length = x.shape()[x.rank() - 2];
  // The axis of a pair is the last one or the one before it.
  Dims sizes = x.shape(), table{length, half, 1};
  sizes[sizes.rank() - 1] = half;
  sizes.push_back(2);
  if (!interleaved) {
    std::swap(sizes[sizes.rank() - 1], sizes[sizes.rank() - 2]);
    std::swap(table[1], table[2]);
  }
  const auto axis = static_cast<std::int64_t>(x.rank()) - (interleaved ? 0 : 1);
  const A pairs = x.reshape(sizes, where);
  const A a = pairs.narrow(axis, 0, 1, where), b = pairs.narrow(axis, 1, 1, where);
  const A cos = angle.cos(where).reshape(table, where).cast(x.dtype(), where);
  const A sin = angle.sin(where).reshape(table, where).cast(x.dtype(), where);
  const std::array<A, 2> turned{A::sub(A::mul(a, cos, where), A::mul(b, sin, where), where),
                                A::add(A::mul(a, sin, where), A::mul(b, cos, where), where)};
  return A::cat(turned, axis, where).reshape(x.shape(), where);
}

}  // namespace sinter::nn
