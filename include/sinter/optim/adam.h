// Adam and AdamW.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/optim/step.h>
#include <sinter/record.h>

namespace sinter::optim {

class Adam;

/// D. Kingma, J. Ba, "Adam: a method for stochastic optimization", 2014. Weight decay, if any, is added to
/// the gradient.
struct SINTER_API AdamConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;

  /// Throws Error when a value is out of range.
  Adam init() const;
};

/// I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", 2017: the decay shrinks the parameters
/// themselves.
struct SINTER_API AdamWConfig {
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;

  Adam init() const;
};

/// For each parameter x with gradient g, at its step t, as PyTorch does:
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
///   x = x - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
/// The state of a parameter is stored under its path within the module.
class SINTER_API Adam {
 public:
  /// adam.step(1e-3, model, loss.backward());
  /// Records the update and flushes what this thread has recorded, since a training step ends here.
  /// Parameters without a gradient, or that do not require one, stay as they are. New values are written over
  /// the old ones where no copy of the model is kept.
  ///
  /// Whatever it throws (a learning rate below 0, a parameter of another shape than before, no memory left),
  /// model, gradients and the optimizer's state are what they were, and another step may follow. Gradients
  /// are empty after a step that succeeded.
  template <class M>
  void step(double learning_rate, M& model, Gradients&& gradients, Location where = Location::current()) {
    detail::step(model, gradients, where, [&](Step& step) { update(learning_rate, step, where); });
  }

  /// The optimizer's state: PATH.exp_avg, PATH.exp_avg_sq and PATH.step of each parameter.
  record::Record to_record() const;
  /// Throws DataError where the record is not a state of this optimizer.
  void load_record(const record::Record& record, const Device& device);
  void save(const std::filesystem::path& file) const { to_record().write(file); }
  void load(const std::filesystem::path& file, const Device& device) {
    load_record(record::Record::read(file), device);
  }

 private:
  friend struct AdamConfig;
  friend struct AdamWConfig;
  Adam(const AdamConfig& config, bool decoupled);

  struct Moments {
    AnyTensor first, second;
    std::int64_t step = 0;
  };
  void update(double learning_rate, Step& step, Location where);

  AdamConfig config_;
  bool decoupled_;
  std::map<std::string, Moments> moments_;
};

}  // namespace sinter::optim
