// Steps that a GradScaler lets the device skip.
#pragma once

#include <utility>
#include <vector>

#include <sinter/optim/optimizer.h>

namespace sinter::optim::detail {

/// The gradient divided by `scale`, f32 where it has 16 bits.
AnyTensor unscaled(const AnyTensor& gradient, const AnyTensor& scale, const Location& where);

/// () bool, on the device of the first one.
AnyTensor all_finite(const std::vector<const AnyTensor*>& gradients, const Location& where);

/// Whether a step is taken, as its parameters' devices know it.
class Skipping {
 public:
  /// Divides the gradients, unless that was done, and looks whether all are finite. There is one at least.
  Skipping(std::vector<Parameter>& parameters, Scaling& scaling, const Location& where);

  const AnyTensor& taken(const Device& device);
  /// How many steps were skipped after this one, of those that were before, which may be empty. Parameters
  /// with equal counts share one tensor.
  AnyTensor skipped(const AnyTensor& before, const Device& device);

 private:
  struct Count {
    AnyTensor before, after;
    Device device;
  };

  std::vector<AnyTensor> taken_;  // one for each device
  std::vector<Count> counts_;
  Location where_;
};

}  // namespace sinter::optim::detail
