// backward() and gradient(): their arguments, checked; leaves.
#include <algorithm>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include <sinter/autodiff.h>

#include "src/autodiff/engine.h"
#include "src/runtime/device_core.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using autodiff::Node;
using autodiff::Term;

void check_differentiable(std::string_view op, const AnyTensor& result, const Location& where) {
  const trace::Value& value = tensor::value_of(op, result, where);
  const std::string name = "[" + std::string(op) + "] ";
  if (!result.on_autodiff())
    throw AutodiffError(name + "device " + result.device().name() +
                            " was used without autodiff, so nothing remembers where this value came from; "
                            "make the parameters "
                            "on device.autodiff()",
                        where);
  if (!is_float(value.dtype))
    throw AutodiffError(name + "gradients are taken of floats, not " + std::string(name_of(value.dtype)),
                        where);
}

void check_has_history(std::string_view op, const AnyTensor& result, const Location& where) {
  if (!result.requires_grad())
    throw AutodiffError(
        "[" + std::string(op) +
            "] the tensor has no history: nothing that it was computed from has require_grad(), "
            "or it was computed under NoGrad",
        where);
}

}  // namespace

Term autodiff::seed_of(std::string_view op, const AnyTensor& result, const AnyTensor& seed,
                       bool differentiable, const Location& where) {
  const Device device = differentiable ? result.device().autodiff() : result.device().inner();
  const std::string name = "[" + std::string(op) + "] ";
  if (!seed.defined()) {
    if (result.numel() != 1)
      throw AutodiffError(name + "gradients are taken of one number, not of shape " +
                              to_string(result.shape()) +
                              "; reduce it first, as in loss.mean().backward(), or give a seed of that shape",
                          where);
    return Term::ones(AnyTensor::full(result.shape(), 1, result.dtype(), device, where), where);
  }
  if (seed.shape() != result.shape())
    throw ShapeError(name + "a seed of shape " + to_string(seed.shape()) +
                         " is given for a result of shape " + to_string(result.shape()),
                     where);
  if (seed.dtype() != result.dtype())
    throw DTypeError(name + "a seed of dtype " + std::string(name_of(seed.dtype())) +
                         " is given for a result of dtype " + std::string(name_of(result.dtype())),
                     where);
  if (seed.value()->device != result.value()->device)
    throw DeviceError(name + "a seed on " + seed.device().name() + " is given for a result on " +
                          result.device().name() + "; move one with to_device",
                      where);
  return {differentiable ? AnyTensor(seed.value(), seed.node(), true) : seed.inner(), where};
}

Gradients AnyTensor::backward(Location where) const { return backward(BackwardOptions(), where); }

Gradients AnyTensor::backward(const BackwardOptions& options, Location where) const {
  check_differentiable("backward", *this, where);
  autodiff::Request request;
  request.differentiable = options.differentiable;
  request.keeps_history = options.keep_history || options.differentiable;
  Term seed = autodiff::seed_of("backward", *this, options.seed.tensor, options.differentiable, where);
  check_has_history("backward", *this, where);
  request.results.emplace_back(node_, std::move(seed));
  Gradients gradients;
  for (autodiff::Reached& reached : autodiff::differentiate(request, where))
    gradients.entries().push_back({reached.node->id, std::move(reached.gradient)});
  return gradients;
}

AnyTensor detail::gradient_of(const AnyTensor& y, const AnyTensor& x, const GradientOptions& options,
                              const Location& where) {
  return std::move(gradient(y, {&x, 1}, options, where)[0]);
}

std::vector<AnyTensor> detail::gradients_of(const AnyTensor& y, const std::vector<AnyTensor>& xs,
                                            const GradientOptions& options, const Location& where) {
  return gradient(y, std::span(xs), options, where);
}

std::vector<AnyTensor> gradient(const AnyTensor& y, std::span<const AnyTensor> xs,
                                const GradientOptions& options, Location where) {
  check_differentiable("gradient", y, where);
  Term seed = autodiff::seed_of("gradient", y, options.seed.tensor, options.differentiable, where);
  check_has_history("gradient", y, where);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    tensor::value_of("gradient", xs[i], where);
    if (!xs[i].requires_grad())
      throw AutodiffError(
          "[gradient] input " + std::to_string(i) + ", of shape " + to_string(xs[i].shape()) +
              ", has no history: call require_grad() on it before the result is computed from it",
          where);
  }
  return autodiff::gradients_of({&y, 1}, {std::move(seed)}, xs, options.differentiable,
                                options.keep_history || options.differentiable, where);
}

std::vector<AnyTensor> autodiff::gradients_of(std::span<const AnyTensor> results, std::vector<Term> seeds,
                                              std::span<const AnyTensor> inputs, bool differentiable,
                                              bool keeps_history, const Location& where) {
  Request request;
  request.op = "gradient";
  request.differentiable = differentiable;
  request.keeps_history = keeps_history;
  for (std::size_t k = 0; k < results.size(); ++k)
    request.results.emplace_back(results[k].node(), std::move(seeds[k]));
  request.wanted.emplace();
  for (const AnyTensor& input : inputs)
    if (input.requires_grad()) request.wanted->push_back(input.node());
  absl::flat_hash_map<const Node*, AnyTensor> found;
  for (Reached& reached : differentiate(request, where))
    found.emplace(reached.node.get(), std::move(reached.gradient));
  std::vector<AnyTensor> gradients;
  for (const AnyTensor& input : inputs) {
    const auto at = found.find(input.node().get());
    const Device device = differentiable ? input.device().autodiff() : input.device().inner();
    gradients.push_back(at != found.end() ? at->second
                                          : AnyTensor::full(input.shape(), 0, input.dtype(), device, where));
  }
  return gradients;
}

AnyTensor AnyTensor::require_grad(Location where) const {
  const trace::Value& value = tensor::value_of("require_grad", *this, where);
  if (!autodiff_)
    throw AutodiffError("[require_grad] device " + device().name() +
                            " was used without autodiff; make the tensor on device.autodiff()",
                        where);
  if (!is_float(value.dtype))
    throw AutodiffError(
        "[require_grad] gradients exist for floats, not for " + std::string(name_of(value.dtype)), where);
  auto node = NodeRef::adopt(new Node);
  node->where = where;
  node->shape = value.shape;
  node->dtype = value.dtype;
  node->device = value.device;
  return AnyTensor(value_, std::move(node), true);
}

AnyTensor AnyTensor::detach() const { return AnyTensor(value_, nullptr, autodiff_); }
AnyTensor AnyTensor::inner() const { return AnyTensor(value_, nullptr, false); }

}  // namespace sinter
