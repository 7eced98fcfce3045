// Stochastic gradient descent, with momentum.
#pragma once

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

class Sgd;

struct SINTER_API SgdConfig {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;

  /// Throws Error when a value is out of range, or nesterov is set without momentum or with dampening.
  Sgd init() const;
};

/// For each parameter x with gradient g, as PyTorch does: g = g + weight_decay x; the velocity v is g in the
/// first step, then momentum v + (1 - dampening) g; x = x - lr v, or with Nesterov x = x - lr (g + momentum
/// v).
class SINTER_API Sgd {
 public:
  /// As Adam::step.
  template <class M>
  void step(double learning_rate, M& model, Gradients&& gradients, Location where = Location::current()) {
    detail::step(model, gradients, where, [&](Step& step) { update(learning_rate, step, where); });
  }

  /// The optimizer's state: PATH.momentum_buffer of each parameter, where there is momentum.
  record::Record to_record() const;
  /// Throws DataError where the record is not a state of this optimizer.
  void load_record(const record::Record& record, const Device& device);
  void save(const std::filesystem::path& file) const { to_record().write(file); }
  void load(const std::filesystem::path& file, const Device& device) {
    load_record(record::Record::read(file), device);
  }

 private:
  friend struct SgdConfig;
  explicit Sgd(const SgdConfig& config);
  void update(double learning_rate, Step& step, Location where);

  SgdConfig config_;
  std::map<std::string, AnyTensor> velocities_;
};

}  // namespace sinter::optim
