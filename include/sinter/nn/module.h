// Functions on any module, that is on any struct that holds tensors.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <sinter/module.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// The same model on the device without autodiff: no history is recorded, and dropout is off. Values are
/// shared, not copied.
template <class M>
M valid(M model) {
  visit_parameters(model, [](const std::string&, auto& parameter) {
    parameter = std::remove_cvref_t<decltype(parameter)>(parameter.any().inner());
  });
  return model;
}

}  // namespace sinter::nn
