// Transforms are linear: the gradient of one is the transform in the other direction, with the same factor,
// of the result's gradient, both parts of which are taken as one complex number.
#include "src/tensor/composed/fourier_lines.h"

#include <utility>
#include <vector>

#include <sinter/autodiff.h>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/trace/value.h"

namespace sinter::tensor {

namespace {

using A = AnyTensor;
using library::Fourier;
using library::FourierScale;
using Tensors = std::vector<AnyTensor>;

Tensors call(Fourier transform, const Tensors& operands, std::int64_t axis, FourierScale scale,
             std::int64_t length, const Location& where) {
  const library::Kind& kind = library::fourier(transform);
  const std::vector<Operand> given(operands.begin(), operands.end());
  const std::int64_t ints[] = {axis, static_cast<std::int64_t>(scale), length};
  Tensors results(kind.result_count());
  apply_library(kind, given, ints, results, where);
  return results;
}

/// So many lines of a vector's width fit into the caches of a processor core.
constexpr std::int64_t kLongestBeside = 4096;

bool takes_lines(const runtime::DeviceCore& device, std::int64_t length, std::int64_t inner) {
  if (!device.traits().long_fourier_lines) return library::has_fourier_lines(length, inner);
  return library::has_fourier_factors(length) && (inner == 1 || length <= kLongestBeside);
}

/// Calls f with the axis where the op takes it: where it stands, or at the end.
template <class F>
Tensors at_best_axis(Tensors operands, std::int64_t axis, std::int64_t length, const F& f,
                     const Location& where) {
  const Shape& shape = operands[0].shape();
  const auto last = static_cast<std::int64_t>(shape.rank()) - 1;
  std::int64_t inner = 1;
  for (std::int64_t d = axis + 1; d <= last; ++d) inner *= shape[static_cast<std::size_t>(d)];
  if (takes_lines(*operands[0].value()->device, length, inner)) return f(operands, axis);
  for (A& operand : operands) operand = operand.movedim(axis, last, where);
  Tensors results = f(operands, last);
  for (A& result : results) result = result.movedim(last, axis, where);
  return results;
}

/// 1 for what is its own mirror image along the axis, else `others`.
A weights(const A& like, std::int64_t axis, std::int64_t length, double others, const Location& where) {
  const Shape& shape = like.shape();
  const auto dim = static_cast<std::size_t>(axis);
  const A index = iota_along(dim, shape.rank(), shape[dim], like.device().inner(), where);
  A alone = A::equal(index, 0, where);
  if (length % 2 == 0) alone = A::logical_or(alone, A::equal(index, length / 2, where), where);
  const A one = A::full(alone.shape(), 1, like.dtype(), like.device().inner(), where);
  return A::where(alone, one, A::mul(one, others, where), where);
}

}  // namespace

bool has_fourier_lines(const AnyTensor& x, std::int64_t length) {
  const runtime::DeviceCore& device = *x.value()->device;
  // GPUs count lines in 32 bits.
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  return (x.numel() <= kMost || device.traits().long_fourier_lines) && takes_lines(device, length, 1) &&
         device.computes(library::fourier(Fourier::Complex));
}

AnyComplex transform_lines(const AnyComplex& x, std::int64_t axis, bool inverse, FourierScale scale,
                           const Location& where) {
  const bool has_imaginary = x.imag.defined();
  const std::int64_t length = x.real.shape()[static_cast<std::size_t>(axis)];
  // Exchanged parts of what is transformed and of the result: the inverse.
  const auto transformed = [=](Tensors parts) -> Tensors {
    if (inverse && has_imaginary) std::swap(parts[0], parts[1]);
    Tensors results = at_best_axis(
        std::move(parts), axis, length,
        [&](const Tensors& given, std::int64_t along) {
          return call(Fourier::Complex, given, along, scale, length, where);
        },
        where);
    if (inverse && has_imaginary) std::swap(results[0], results[1]);
    if (inverse && !has_imaginary) results[1] = results[1].neg(where);
    return results;
  };
  Tensors parts{x.real};
  if (has_imaginary) parts.push_back(x.imag);
  sinter::detail::FunctionParts function{"fourier", where, {}, {}};
  function.forward = [&](Saved&) {
    Tensors given;
    for (const A& part : parts) given.push_back(part.inner());
    return transformed(given);
  };
  function.backward = [=](const Saved&, const Tensors& g) -> Tensors {
    const AnyComplex back = transform_lines({g[0], g[1]}, axis, !inverse, scale, where);
    return has_imaginary ? Tensors{back.real, back.imag} : Tensors{back.real};
  };
  const Tensors results = sinter::detail::call(std::move(function), parts);
  return {results[0], results[1]};
}

AnyComplex transform_real_lines(const AnyTensor& x, std::int64_t axis, FourierScale scale,
                                const Location& where) {
  const std::int64_t length = x.shape()[static_cast<std::size_t>(axis)];
  sinter::detail::FunctionParts function{"fourier", where, {}, {}};
  function.forward = [&](Saved&) {
    return at_best_axis(
        {x.inner()}, axis, length,
        [&](const Tensors& given, std::int64_t along) {
          return call(Fourier::FromReal, given, along, scale, length, where);
        },
        where);
  };
  // The way back takes each number together with its mirror image, which has no gradient of its own.
  function.backward = [=](const Saved&, const Tensors& g) -> Tensors {
    const A half = weights(g[0], axis, length, 0.5, where);
    return {invert_to_real_lines({A::mul(g[0], half, where), A::mul(g[1], half, where)}, axis, length, scale,
                                 where)};
  };
  const Tensors results = sinter::detail::call(std::move(function), {x});
  return {results[0], results[1]};
}

AnyTensor invert_to_real_lines(const AnyComplex& x, std::int64_t axis, std::int64_t length,
                               FourierScale scale, const Location& where) {
  sinter::detail::FunctionParts function{"fourier", where, {}, {}};
  function.forward = [&](Saved&) {
    return at_best_axis(
        {x.real.inner(), x.imag.inner()}, axis, length,
        [&](const Tensors& given, std::int64_t along) {
          return call(Fourier::ToReal, given, along, scale, length, where);
        },
        where);
  };
  function.backward = [=](const Saved&, const Tensors& g) -> Tensors {
    const AnyComplex back = transform_real_lines(g[0], axis, scale, where);
    const A twice = weights(back.real, axis, length, 2, where);
    return {A::mul(back.real, twice, where), A::mul(back.imag, twice, where)};
  };
  return sinter::detail::call(std::move(function), {x.real, x.imag})[0];
}

}  // namespace sinter::tensor
