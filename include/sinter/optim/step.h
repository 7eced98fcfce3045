// The part of a step that all optimizers share: either everything becomes new, or everything stays as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/module.h>
#include <sinter/tensor.h>

namespace sinter::optim {

/// A parameter during a step, on the device without autodiff. The optimizer assigns the new parameter to
/// `value`.
struct Parameter {
  std::string path;
  AnyTensor value;
  AnyTensor gradient;
};

/// One step over the parameters of a module. An optimizer records its update, assigning the new parameters
/// and the new state; `run` computes them. What they replace is kept until then, but owned by nobody while
/// they are computed, so that the device can write over it; where that fails, all of it is put back.
class SINTER_API Step {
 public:
  struct Slot {
    std::string path;
    AnyTensor* tensor;
  };
  /// Those of all parameters of a module.
  template <class M>
  static std::vector<Slot> slots_of(M& model) {
    std::vector<Slot> slots;
    visit_parameters(model, [&](const std::string& path, auto& tensor) {
      constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(tensor)>>;
      static_assert(!is_const, "an optimizer cannot step a module that is const or has const tensors");
      if constexpr (!is_const) slots.push_back({path, &sinter::detail::handle_of(tensor)});
    });
    return slots;
  }
  /// Gradients of parameters that are not among the slots stay where they are iff `keep_others`.
  Step(std::vector<Slot> slots, Gradients& gradients, bool keep_others = false);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Each parameter that has a gradient, once, however many paths lead to it.
  std::vector<Parameter>& parameters();

  /// State of the optimizer: where the step succeeds, `slot` becomes `next`. It stays where it is until then.
  void assign(AnyTensor& slot, AnyTensor next);
  void assign(std::int64_t& slot, std::int64_t next);

  /// Computes the new tensors and puts them in place; the gradients are gone then. Throws what went wrong,
  /// with nothing changed.
  void run(Location where);

 private:
  struct State;
  State* state_;
};

}  // namespace sinter::optim
