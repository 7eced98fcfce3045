// The part of an optimizer's step that does not depend on the optimizer.
#include <map>

#include <sinter/optim/step.h>

namespace sinter::optim::detail {

Step::Step(std::vector<Taken> taken, Gradients gradients) : taken_(std::move(taken)) {
  updated_by_.resize(taken_.size());
  // Two paths may lead to one parameter (tied weights): it has one gradient, is updated once and stays tied.
  std::map<const void*, std::optional<std::size_t>> known;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const AnyTensor& value = taken_[i].value;
    if (!value.defined() || !value.requires_grad()) continue;
    auto [at, is_new] = known.try_emplace(value.node().get());
    if (is_new) {
      if (std::optional<AnyTensor> gradient = gradients.remove(value)) {
        at->second = parameters_.size();
        parameters_.push_back({taken_[i].path, value.inner(), gradient->inner()});
      }
    }
    updated_by_[i] = at->second;
  }
  // Releases the old handles only here: the code above identifies parameters by their nodes.
  for (std::size_t i = 0; i < taken_.size(); ++i)
    if (updated_by_[i]) taken_[i].value = AnyTensor();
}

std::vector<AnyTensor> Step::finish(Location where) {
  std::vector<AnyTensor> leaves, results;
  for (Parameter& parameter : parameters_) {
    parameter.gradient = AnyTensor();
    AnyTensor leaf(parameter.value.value(), nullptr, true);
    leaves.push_back(leaf.require_grad(where));
    parameter.value = AnyTensor();
  }
  for (std::size_t i = 0; i < taken_.size(); ++i)
    results.push_back(updated_by_[i] ? leaves[*updated_by_[i]] : std::move(taken_[i].value));
  if (!leaves.empty()) {
    Device device = leaves.front().device();
    leaves.clear();
    device.flush();
  }
  return results;
}

}  // namespace sinter::optim::detail
