// Scaling of losses: gradients in f16 that would be rounded to zero are computed times a large number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/optim/optimizer.h>
#include <sinter/record/record.h>
#include <sinter/tensor.h>

namespace sinter::optim {

class GradScaler;

/// The names and defaults of PyTorch's torch.amp.GradScaler; P. Micikevicius et al., "Mixed precision
/// training", ICLR 2018.
struct SINTER_API GradScalerConfig {
  double init_scale = 65536;
  /// The scale is multiplied by this after `growth_interval` steps in a row that were taken, but never to
  /// infinity, and by `backoff_factor` after each that was skipped.
  double growth_factor = 2, backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
  /// If not, nothing is scaled and no step is skipped: one program for f16 and for what needs no scale.
  bool enabled = true;

  /// Throws Error where the scale is not positive and finite, the growth factor is not above 1, the backoff
  /// factor is not between 0 and 1, or the interval is not positive.
  GradScaler init(const Device& device) const;
};

/// A scale for the loss that finds its size by itself:
///
///   auto gradients = scaler.scale(loss).backward();
///   scaler.step(adam, 1e-3, model, std::move(gradients));
///   scaler.update();
///
/// A step divides its gradients by the scale, in f32 where they have 16 bits, and is skipped where one of
/// them is not finite: parameters, the optimizer's state and its count of steps keep their values. The device
/// decides that, and changes the scale: nothing waits, and all steps record the same trace. Only parameters
/// on several devices wait for each other.
class SINTER_API GradScaler {
 public:
  /// The loss times the scale, f32 for a loss of 16 bits.
  template <std::size_t Rank>
  Tensor<Rank> scale(const Tensor<Rank>& loss, Location where = Location::current()) const {
    return Tensor<Rank>(scaled(loss.dynamic(), where));
  }

  /// Divides gradients by the scale before the step, for whoever looks at them or clips them; `step` does not
  /// divide these again, and is skipped where one of them was not finite. The options of optimizers, clipping
  /// among them, need no such call: they see gradients that have been divided. Throws Error for gradients
  /// that this was called for already since the last update().
  void unscale(Gradients& gradients, Location where = Location::current());

  /// optimizer.step(learning_rate, model, std::move(gradients)) where all gradients that the step uses are
  /// finite. Whatever it throws, everything is what it was.
  template <class M>
  void step(Optimizer& optimizer, double learning_rate, M& model, Gradients&& gradients,
            Location where = Location::current()) {
    take(optimizer, learning_rate, Step::slots_of(model), gradients, where);
  }

  /// Makes the scale that of the next steps, once after all optimizers' steps. Throws Error where there was
  /// no step with a gradient since the last call.
  void update(Location where = Location::current());

  // To read them waits.
  /// f32; 1 where the scaler is not enabled.
  Tensor<0> current_scale() const { return Tensor<0>(scale_); }
  /// Steps in a row that were taken since the scale changed, i32.
  Tensor<0, Int> growth_tracker() const { return Tensor<0, Int>(growth_tracker_); }
  /// Updates before which a step was skipped, i32.
  Tensor<0, Int> skipped() const { return Tensor<0, Int>(skipped_); }

  /// Scale and counts; the config is the program's. A scaler that is not enabled has none, and loads none.
  record::Record to_record() const;
  /// Throws DataError where the record is not a state of this class, or of one that was not enabled.
  void load_record(const record::Record& record, const Device& device);

 private:
  friend struct GradScalerConfig;
  GradScaler(const GradScalerConfig& config, const Device& device);
  AnyTensor scaled(const AnyTensor& loss, Location where) const;
  void take(Optimizer& optimizer, double learning_rate, std::vector<Step::Slot> slots, Gradients& gradients,
            Location where);
  AnyTensor finite_of_unscaled(Gradients& gradients, const Location& where) const;

  GradScalerConfig config_;
  AnyTensor scale_, growth_tracker_, skipped_;
  std::vector<AnyTensor> taken_;          // of the steps since the last update, () bool
  std::vector<Gradients::Entry> finite_;  // of the gradients that unscale() has divided, by leaf
};

}  // namespace sinter::optim
