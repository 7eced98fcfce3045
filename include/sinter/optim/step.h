// The part of a step that all optimizers share: moves parameters out of a module and the updated ones back
// in.
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

/// A parameter during a step, on the device without autodiff. The optimizer assigns the new parameter to
/// `value`.
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

/// The tensors moved out of a module during a step: which of them the optimizer updates, and their new
/// values.
class SINTER_API Step {
 public:
  Step(std::vector<Taken> taken, Gradients gradients);
  /// Each parameter that has a gradient, once, however many paths lead to it.
  std::vector<Parameter>& parameters() { return parameters_; }
  /// Flushes the device and returns the new tensors, in the order of the old ones.
  std::vector<AnyTensor> finish(Location where);

 private:
  std::vector<Taken> taken_;
  std::vector<Parameter> parameters_;
  std::vector<std::optional<std::size_t>> updated_by_;  // for each tensor of taken_: its index in parameters_
};

/// Runs `update` over the parameters of `model`. The model's own handles are released before, so that the
/// planner can write new parameters over old ones.
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
