// Cases computed with PyTorch: inputs, an output, and the gradients of sum(output * weights).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/any_tensor.h>

#include "tests/support/values.h"

namespace reference {

struct Input {
  sinter::Shape shape;
  std::vector<float> values;
  std::vector<float> gradient;  // empty: none is wanted
};
struct Case {
  std::vector<Input> inputs;
  sinter::Shape shape;
  std::vector<float> out, weights;
};
using Cases = std::map<std::string, Case>;
using Function = std::function<sinter::AnyTensor(const std::vector<sinter::AnyTensor>&)>;

/// Checks shape and values of function(inputs), and the gradients.
inline void check(const Cases& cases, const std::string& name, const Function& function,
                  double tolerance = 2e-5) {
  using sinter::AnyTensor;
  CAPTURE(name);
  REQUIRE(cases.count(name) == 1);
  const Case& one = cases.at(name);
  const sinter::Device device = sinter::Device::best().autodiff();
  std::vector<AnyTensor> inputs;
  for (const Input& input : one.inputs) {
    AnyTensor tensor = tensor_of(input.values, input.shape, device);
    inputs.push_back(input.gradient.empty() ? tensor.inner() : tensor.require_grad());
  }
  const AnyTensor out = function(inputs);
  REQUIRE(out.shape() == one.shape);
  AnyTensor sum = AnyTensor::mul(out, tensor_of(one.weights, out.shape(), device));
  sum = sum.sum(sum.all_axes()).reshape({});
  const bool differentiable = out.requires_grad();
  sinter::Gradients gradients;
  if (differentiable) gradients = sum.backward();
  check_close(out, one.out, tolerance);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (one.inputs[i].gradient.empty()) continue;
    CAPTURE(i);
    const auto gradient = gradients.get(inputs[i]);
    REQUIRE(gradient.has_value());
    CHECK(gradient->shape() == inputs[i].shape());
    check_close(*gradient, one.inputs[i].gradient, tolerance);
  }
}

}  // namespace reference
