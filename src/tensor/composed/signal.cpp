// Windows of signals: sums of cosines.
#include <array>
#include <numbers>
#include <string>

#include <sinter/functions/signal.h>

#include "src/tensor/apply.h"

namespace sinter {

namespace {

using A = AnyTensor;

/// The sum of weights[k] * cos(k * angle).
Tensor<1> cosine_window(std::string_view name, std::int64_t size, std::array<double, 3> weights,
                        const Device& device, bool periodic, const Location& where) {
  if (size < 0)
    throw ShapeError("[" + std::string(name) + "] a size is zero or more, not " + std::to_string(size),
                     where);
  const std::int64_t period = periodic ? size : size - 1;
  if (size <= 1) return Tensor<1>(A::full({size}, 1, DType::f32, device, where));
  // The angle is counted in whole steps from the nearer end: the window's halves mirror each other exactly.
  const A index = tensor::iota_along(0, 1, size, device, where);
  const A step = A::minimum(index, A::sub(period, index, where), where).cast(DType::f32, where);
  const A angle = A::mul(step, 2 * std::numbers::pi / static_cast<double>(period), where);
  A sum = A::add(A::mul(angle.cos(where), weights[1], where), weights[0], where);
  if (weights[2] != 0) {
    const A twice = A::mul(angle, 2, where).cos(where);
    sum = A::add(sum, A::mul(twice, weights[2], where), where);
  }
  return Tensor<1>(sum);
}

}  // namespace

Tensor<1> hann_window(std::int64_t size, const Device& device, bool periodic, Location where) {
  return cosine_window("hann_window", size, {0.5, -0.5, 0}, device, periodic, where);
}
Tensor<1> hamming_window(std::int64_t size, const Device& device, bool periodic, Location where) {
  return cosine_window("hamming_window", size, {0.54, -0.46, 0}, device, periodic, where);
}
Tensor<1> blackman_window(std::int64_t size, const Device& device, bool periodic, Location where) {
  return cosine_window("blackman_window", size, {0.42, -0.5, 0.08}, device, periodic, where);
}

}  // namespace sinter
