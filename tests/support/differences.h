// Gradients, and gradients of gradients, against central differences in f64 on the host.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>

namespace sinter::testing {

using A = AnyTensor;

struct Input {
  Shape shape;
  std::vector<double> data;
};
using Inputs = std::vector<Input>;
using TensorFunction = std::function<A(const std::vector<A>&)>;

inline const Device& device() {
  static const Device host = Device::host().autodiff();
  return host;
}

/// Numbers of mixed sign, distinct in magnitude from each other and from 0 and 1, where some ops have kinks.
inline Input numbers(const Shape& shape, double scale = 1, double shift = 0) {
  Input input{shape, {}};
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    const double x = std::sin(1.7 * static_cast<double>(i) + 0.6) * 1.3;
    input.data.push_back(scale * (x + (x < 0 ? -0.15 : 0.15)) + shift);
  }
  return input;
}
inline Input positive(const Shape& shape) {
  Input input = numbers(shape);
  for (double& x : input.data) x = std::abs(x) + 0.3;
  return input;
}

inline A constant(const Input& input) {
  return A::from_bytes(std::as_bytes(std::span(input.data)), input.shape, DType::f64, device());
}

inline std::vector<double> read(const A& x) {
  std::vector<double> out(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(out)));
  return out;
}

/// A scalar that depends on each element of `y` differently.
inline A loss_of(const A& y, double frequency = 2.3) {
  Input weights{y.shape(), {}};
  for (std::int64_t i = 0; i < y.numel(); ++i)
    weights.data.push_back(std::cos(frequency * static_cast<double>(i)) + 0.2);
  return A::mul(y, constant(weights)).sum(y.all_axes()).reshape({});
}

inline double loss_at(const TensorFunction& f, const Inputs& inputs) {
  std::vector<A> constants;
  for (const Input& input : inputs) constants.push_back(constant(input));
  return read(loss_of(f(constants)))[0];
}

inline std::vector<A> leaves_of(const Inputs& inputs) {
  std::vector<A> leaves;
  for (const Input& input : inputs) leaves.push_back(constant(input).require_grad());
  return leaves;
}

/// Compares gradients with the differences of `value_at`.
inline void check_differences(const Inputs& inputs, const std::vector<A>& gradients,
                              const std::function<double(const Inputs&)>& value_at) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    REQUIRE(gradients[i].shape() == inputs[i].shape);
    REQUIRE(gradients[i].dtype() == DType::f64);
    const std::vector<double> got = read(gradients[i]);
    for (std::size_t j = 0; j < got.size(); ++j) {
      CAPTURE(j);
      const double h = 0x1p-17;  // exact in f32 too
      Inputs moved = inputs;
      moved[i].data[j] += h;
      const double above = value_at(moved);
      moved[i].data[j] -= 2 * h;
      const double expected = (above - value_at(moved)) / (2 * h);
      REQUIRE(got[j] == doctest::Approx(expected).epsilon(1e-6).scale(10));
    }
  }
}

inline void check_gradients(const Inputs& inputs, const TensorFunction& f) {
  const std::vector<A> leaves = leaves_of(inputs);
  const Gradients gradients = loss_of(f(leaves)).backward();
  std::vector<A> found;
  for (const A& leaf : leaves) {
    REQUIRE(gradients.get(leaf).has_value());
    found.push_back(*gradients.get(leaf));
  }
  check_differences(inputs, found, [&](const Inputs& at) { return loss_at(f, at); });
}

/// A scalar that depends on each element of each gradient.
inline A gradients_of(const TensorFunction& f, const std::vector<A>& leaves, bool differentiable) {
  const std::vector<A> gradients =
      gradient(loss_of(f(leaves)), std::span<const A>(leaves), {.differentiable = differentiable});
  A total;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const A part = loss_of(gradients[i], 1.1 + 0.4 * static_cast<double>(i));
    total = total.defined() ? A::add(total, part) : part;
  }
  return total;
}

/// Differentiates the gradients once more, and compares with differences of gradients that nothing remembers,
/// so that those with and without a history are compared as well.
inline void check_second_gradients(const Inputs& inputs, const TensorFunction& f) {
  const std::vector<A> leaves = leaves_of(inputs);
  const A total = gradients_of(f, leaves, true);
  std::vector<A> second;
  if (total.requires_grad())
    second = gradient(total, std::span<const A>(leaves));
  else  // linear in all inputs
    for (const A& leaf : leaves) second.push_back(A::full(leaf.shape(), 0, DType::f64, device()));
  check_differences(inputs, second,
                    [&](const Inputs& at) { return read(gradients_of(f, leaves_of(at), false))[0]; });
}

inline A long_index(std::vector<std::int64_t> values, const Shape& shape) {
  return A::from_bytes(std::as_bytes(std::span(values)), shape, DType::i64, device());
}

}  // namespace sinter::testing
