// L-BFGS: steps by an approximation of the inverse Hessian, made of the last steps and changes of gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/function.h>
#include <sinter/module.h>
#include <sinter/optim/step.h>
#include <sinter/record.h>
#include <sinter/tensor.h>

namespace sinter::optim {

class Lbfgs;

/// D. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization", 1989, with the
/// defaults, the tolerances and the line search of PyTorch's torch.optim.LBFGS.
struct SINTER_API LbfgsConfig {
  /// Of one step.
  std::int64_t max_iterations = 20;
  /// Of the loss, in one step; a line search is not interrupted. Defaults to 5 / 4 of the iterations.
  std::optional<std::int64_t> max_evaluations = std::nullopt;
  /// A step ends where no element of the gradient is larger, or where neither a parameter nor the loss
  /// changes by more.
  double tolerance_gradient = 1e-7, tolerance_change = 1e-9;
  /// Pairs of a step and a change of the gradient that are remembered: 2 `history` times the parameters.
  std::int64_t history = 100;
  /// Each iteration looks for a step length that meets the strong Wolfe conditions (J. Nocedal, S. Wright,
  /// "Numerical optimization", 2006, algorithms 3.5 and 3.6) with c1 = 1e-4 and c2 = 0.9, by cubic
  /// interpolation; a loss that is NaN counts as infinite there. Without, the length is the learning rate.
  bool strong_wolfe = false;

  /// Throws Error when a value is out of range.
  Lbfgs init() const;
};

/// Not an Optimizer with a rule for one parameter: all parameters are one vector, whose step depends on the
/// loss at several points. All parameters that require a gradient are on one device, in f32 or f64. Products
/// of vectors are computed there, and the recursion over the history here, in f64, from their numbers
/// ("vector-free": W. Chen et al., "Large-scale L-BFGS using MapReduce", 2014). So an iteration is a few
/// kernels whatever the history, and waits twice beside once for each evaluation of the loss.
class SINTER_API Lbfgs {
 public:
  /// lbfgs.step(1, model, [&](const Net& net) { return nn::mse(net.forward(x), y); });
  /// `loss` gives one number, with a history; it is called again for each point that is looked at, and has to
  /// depend on the parameters alone. Returns the loss before the step. Buffers that the model's forward sets
  /// are those of the last call.
  ///
  /// Whatever it or `loss` throws, model and state are what they were. Throws Error where the learning rate
  /// is not positive or no parameter requires a gradient, DTypeError for parameters of fewer than 32 bits,
  /// ShapeError where the number of parameters is not that of the steps before.
  template <class M, class Loss>
  double step(double learning_rate, M& model, Loss&& loss, Location where = Location::current()) {
    const std::vector<Step::Slot> slots = Step::slots_of(model);
    const auto evaluate = [&]() -> AnyTensor { return Tensor<0>(loss(std::as_const(model))).dynamic(); };
    return take(learning_rate, slots, evaluate, where);
  }

  /// Iterations and evaluations of the loss, over all steps.
  std::int64_t iterations() const { return state_.iterations; }
  std::int64_t evaluations() const { return state_.evaluations; }

  record::Record to_record() const;
  /// Throws DataError where the record is not a state of L-BFGS, or has a longer history.
  void load_record(const record::Record& record, const Device& device);

  /// What is remembered from iteration to iteration.
  struct State {
    std::int64_t iterations = 0, evaluations = 0;
    AnyTensor direction, gradient;  // (n) of the last iteration
    double length = 0;              // of the step along the direction
    double scale = 1;               // of the first approximation of the inverse Hessian
    /// Row i: the i-th pair's step, and its change of the gradient, (rows, n). Rows grow by doubling up to
    /// the history, and then the oldest is replaced; those that have none are 0.
    AnyTensor steps, changes;
    std::int64_t pairs = 0;  // that came in
    /// step_i * change_j and change_i * change_j, by rows.
    std::vector<double> mixed, squares;
  };

 private:
  friend struct LbfgsConfig;
  explicit Lbfgs(const LbfgsConfig& config) : config_(config) {}
  double take(double learning_rate, const std::vector<Step::Slot>& slots, const Function<AnyTensor()>& loss,
              const Location& where);

  LbfgsConfig config_;
  State state_;
};

}  // namespace sinter::optim
