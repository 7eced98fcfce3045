// What every optimizer does with a module: takes its parameters and gradients, puts new parameters in.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/module.h>

namespace sinter::optim {

/// A parameter in the middle of a step, on the device without autodiff. What the optimizer leaves in `value`
/// becomes the parameter.
struct Parameter {
  std::string path;
  AnyTensor value;
  AnyTensor gradient;
};

namespace detail {

struct Taken {
  std::string path;
  AnyTensor value;
};

/// Of the tensors taken out of a module: which of them are to be updated, and what they are on the way.
class SINTER_API Step {
 public:
  Step(std::vector<Taken> taken, Gradients gradients);
  /// Each parameter that has a gradient, once, however many paths lead to it.
  std::vector<Parameter>& parameters() { return parameters_; }
  /// The new tensors, in the order in which they were taken; flushes the device.
  std::vector<AnyTensor> finish(Location where);

 private:
  std::vector<Taken> taken_;
  std::vector<Parameter> parameters_;
  std::vector<std::optional<std::size_t>> updated_by_;  // for each taken tensor: its place in parameters_
};

/// Runs `update` over the parameters of `model`. The model's own handles are gone by then, so that what an
/// old parameter occupied can be written in place.
template <class M, class Update>
M step(M model, Gradients gradients, Location where, Update&& update) {
  std::vector<Taken> taken;
  visit_parameters(model, [&](const std::string& path, auto& tensor) {
    taken.push_back({path, tensor.any()});
  });
  visit_parameters(
      model, [](const std::string&, auto& tensor) { tensor = std::remove_cvref_t<decltype(tensor)>(); });
  Step step(std::move(taken), std::move(gradients));
  update(step.parameters());
  std::vector<AnyTensor> results = step.finish(where);
  std::size_t at = 0;
  visit_parameters(model, [&](const std::string&, auto& tensor) {
    tensor = std::remove_cvref_t<decltype(tensor)>(std::move(results[at++]));
  });
  return model;
}

}  // namespace detail
}  // namespace sinter::optim
