// A training step of any model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <sinter/autocast.h>
#include <sinter/dtype.h>

namespace bench {

/// Forward, backward and a step of the optimizer. `loss` takes the model; it runs under Autocast where there
/// is such a dtype.
template <class Model, class Optimizer, class Loss>
std::function<void()> training_step(Model initial, Optimizer optimizer, double rate,
                                    std::optional<sinter::DType> autocast, Loss loss) {
  const auto model = std::make_shared<Model>(std::move(initial));
  const auto shared = std::make_shared<Optimizer>(std::move(optimizer));
  return [=] {
    const auto value = [&] {
      const sinter::Autocast mixed(autocast);
      return loss(*model);
    };
    auto gradients = value().backward();
    shared->step(rate, *model, std::move(gradients));
  };
}

}  // namespace bench
