// Optimizers: a rule that says what becomes of one parameter, and what all optimizers share: groups of
// parameters, clipping, 16-bit parameters, state in records, and steps that are taken wholly or not at all.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/detail/shared.h>
#include <sinter/optim/step.h>
#include <sinter/path.h>
#include <sinter/record/record.h>

namespace sinter::optim {

/// Parameters that an optimizer treats alike: those whose paths fit a pattern (see path_matches). Of several
/// groups the first that fits counts.
struct Group {
  std::string pattern;
  /// Times the learning rate of the step.
  double learning_rate = 1;
  /// Instead of the optimizer's.
  std::optional<double> weight_decay = std::nullopt;
  /// Leave them, and their gradients, to another optimizer: the gradients stay in what was given to `step`.
  bool skip = false;
};

/// What each optimizer's config has as `options`.
struct StepOptions {
  std::vector<Group> groups = {};
  /// Gradients to [-clip_value, clip_value], element by element.
  std::optional<double> clip_value = std::nullopt;
  /// All gradients of the step together to a norm of at most this: times min(1, clip_norm / (norm + 1e-6)),
  /// as PyTorch does. R. Pascanu et al., "On the difficulty of training recurrent neural networks", 2012.
  std::optional<double> clip_norm = std::nullopt;
};

/// What is remembered of a parameter, by names without dots.
struct SINTER_API ParameterState {
  std::vector<std::pair<std::string, AnyTensor>> tensors;
  std::int64_t step = 0;
  /// How many of these steps a GradScaler skipped, () f32; empty where none could be.
  AnyTensor skipped;
};

namespace detail {

/// What a GradScaler and a step tell each other.
struct Scaling {
  AnyTensor scale;   // () f32, by which the gradients are divided; empty where they have been
  AnyTensor finite;  // () bool, of gradients that have been divided
  AnyTensor taken;   // () bool: what became of the step
};

class Skipping;

}  // namespace detail

/// A number that differs from step to step: known when the step is recorded, or, where a GradScaler lets the
/// device skip steps, a tensor ().
class StepNumber {
 public:
  StepNumber(double value) : value_(value) {}
  StepNumber(AnyTensor tensor) : tensor_(std::move(tensor)) {}
  operator AnyTensor::Operand() const {
    return tensor_.defined() ? AnyTensor::Operand(tensor_) : AnyTensor::Operand(value_);
  }

 private:
  double value_ = 0;
  AnyTensor tensor_;
};

/// One parameter in one step, as a rule sees it: on the device without autodiff, and in f32 where the
/// parameter has 16 or 8 bits. Everything that differs from step to step is a number, and reaches the kernels
/// as an argument: each step records the same trace.
class SINTER_API Update {
 public:
  const std::string& path() const { return parameter_.path; }
  const AnyTensor& parameter() const { return parameter_.value; }
  const AnyTensor& gradient() const { return parameter_.gradient; }
  /// Of the parameter's group.
  double learning_rate() const { return learning_rate_; }
  double weight_decay(double usual) const { return weight_decay_.value_or(usual); }
  /// f(step), with 1 in the parameter's first step; steps that a GradScaler skipped do not count. `f` takes a
  /// double, and also a tensor (), for what the device alone knows:
  ///   u.of_step([&](auto t) { return rate / (1.0 + t * decay); })
  template <class F>
  StepNumber of_step(F&& f) const {
    return state_.skipped.defined() ? StepNumber(f(steps_taken())) : StepNumber(f(double(state_.step + 1)));
  }
  /// `first` in the parameter's first step, `later()` in all others.
  template <class F>
  AnyTensor unless_first(const AnyTensor& first, F&& later) const {
    if (state_.step == 0) return first;
    return state_.skipped.defined() ? select_first(first, later()) : later();
  }
  const Location& where() const { return where_; }

  /// Whether there is a state of this name: not in the first step. It is zeros where all steps before were
  /// skipped.
  bool has(std::string_view name) const;
  /// The state of the step before; zeros, of the parameter's shape or of that given, when there is none.
  /// Throws ShapeError when it has another shape: the module is another one than before.
  AnyTensor state(std::string_view name) const { return state(name, parameter().shape()); }
  AnyTensor state(std::string_view name, const Shape& shape) const;
  /// The state from this step on, if the step succeeds.
  void set(std::string_view name, AnyTensor next);

 private:
  friend class Optimizer;
  Update(Step& step, Parameter& parameter, ParameterState& state, const char* rule, Location where)
      : step_(step), parameter_(parameter), state_(state), rule_(rule), where_(where) {}
  AnyTensor steps_taken() const;
  AnyTensor select_first(const AnyTensor& first, const AnyTensor& later) const;
  void assign(std::string_view name, AnyTensor next);

  Step& step_;
  Parameter& parameter_;
  ParameterState& state_;
  const char* rule_;
  Location where_;
  double learning_rate_ = 0;
  std::optional<double> weight_decay_;
  DType stored_ = DType::f32;  // of the parameter in its module
  AnyTensor taken_;            // () bool: whether the step is taken; empty where it is
};

/// What becomes of a parameter. To write an optimizer, derive from this:
///
///   struct SignDescent : sn::optim::Rule {
///     const char* name() const override { return "sign_descent"; }
///     sn::AnyTensor update(sn::optim::Update& u) const override {
///       return sn::AnyTensor::sub(u.parameter(), sn::AnyTensor::mul(u.gradient().sign(),
///       u.learning_rate()));
///     }
///   };
///   sn::optim::Optimizer optimizer(SignDescent{});
class SINTER_API Rule {
 public:
  virtual ~Rule();
  /// Of records and error messages.
  virtual const char* name() const = 0;
  /// The new parameter.
  virtual AnyTensor update(Update& update) const = 0;
  /// The new parameters of a step, in their order: each by itself, unless a rule has work that is better done
  /// for several at once.
  virtual std::vector<AnyTensor> update_all(std::span<Update> updates) const;
  /// Throws DataError where these states of a parameter, read from a record, cannot be what this rule has
  /// set. Here: nothing is known of them.
  virtual void check_states(const std::string& path, const ParameterState& state) const;
};

/// A rule with what it remembers of each parameter, under the parameter's path within the module.
class SINTER_API Optimizer {
 public:
  /// Throws Error when a number is out of range.
  template <std::derived_from<Rule> R>
  explicit Optimizer(R rule, StepOptions options = {})
      : Optimizer(sinter::detail::Shared<const Rule>::of(std::move(rule)), std::move(options)) {}

  /// adam.step(1e-3, model, loss.backward());
  /// Records the update and flushes what this thread has recorded, since a training step ends here.
  /// Parameters without a gradient, or that do not require one, stay as they are. New values are written over
  /// the old ones where no copy of the model is kept.
  ///
  /// A parameter of 16 or 8 bits has a copy of f32 in the state ("master"), which the rule sees and changes:
  /// steps that are less than the parameter's rounding add up. Where the parameter is no longer that copy
  /// rounded, since somebody has set it, the copy begins anew.
  ///
  /// Whatever it throws (a learning rate below 0, a parameter of another shape than before, a group that no
  /// parameter fits, gradients none of which is of this model, no memory left), model, gradients and the
  /// optimizer's state are what they were, and another step may follow. After a step that succeeded there are
  /// no gradients but those of groups that are skipped.
  template <class M>
  void step(double learning_rate, M& model, Gradients&& gradients, Location where = Location::current()) {
    take(learning_rate, Step::slots_of(model), gradients, where);
  }

  /// The optimizer's state: PATH.NAME of each parameter and state, and PATH.step.
  record::Record to_record() const;
  /// Throws DataError where the record is not a state of this optimizer, or states of a parameter are of
  /// another dtype than this optimizer's, or do not fit each other; then nothing has changed. Whether they
  /// fit the parameter, the next step sees, which throws ShapeError where they do not.
  void load_record(const record::Record& record, const Device& device);
  void save(const Path& file) const { to_record().write(file); }
  void load(const Path& file, const Device& device) { load_record(record::Record::read(file), device); }

 private:
  friend class GradScaler;
  Optimizer(sinter::detail::Shared<const Rule> rule, StepOptions options);
  void take(double learning_rate, std::vector<Step::Slot> slots, Gradients& gradients, Location where,
            detail::Scaling* scaling = nullptr);
  Update begin_update(Step& step, Parameter& parameter, double learning_rate, detail::Skipping* skipping,
                      const Location& where);
  void end_update(Update& update, AnyTensor next, detail::Skipping* skipping);
  const Group* group_of(const std::string& path) const;
  void check_groups(const std::vector<Step::Slot>& slots, const Location& where) const;
  void clip(std::vector<Parameter>& parameters, const Location& where) const;

  sinter::detail::Shared<const Rule> rule_;
  StepOptions options_;
  record::ByName<ParameterState> states_;
};

/// Clips all gradients, as StepOptions does, before they are looked at or added to others. The norm is what
/// it was before.
SINTER_API void clip_by_value(Gradients& gradients, double limit, Location where = Location::current());
SINTER_API Tensor<0> clip_by_norm(Gradients& gradients, double limit, Location where = Location::current());

/// Adds up the gradients of several batches for one step:
///   for (...) sum.add(loss.backward(), 1.0 / batches);
///   adam.step(1e-3, model, sum.take());
class SINTER_API GradientAccumulator {
 public:
  /// Adds `scale` times the gradients, and hands what is recorded to their devices: each batch is a trace of
  /// its own.
  void add(Gradients&& gradients, double scale = 1, Location where = Location::current());
  /// The sum, which begins anew.
  Gradients take();

 private:
  Gradients sum_;
};

}  // namespace sinter::optim

extern template class sinter::record::ByName<sinter::optim::ParameterState>;
