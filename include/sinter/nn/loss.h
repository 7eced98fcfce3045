// Loss functions. Each is a function of tensors that gives one number, the mean over all elements unless the
// first template argument says otherwise: nn::huber<nn::Reduction::none>(x, y) has the loss of each element.
// Formulas and defaults are PyTorch's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// What becomes of the losses of all elements: themselves, their mean (ShapeError when there are none), their
/// sum, or their sum divided by the size of the first axis.
enum class Reduction : std::uint8_t { none, mean, sum, batch_mean };

/// A tensor of rank `Rank`, or a number.
template <Reduction kReduction, std::size_t Rank>
using Reduced = Tensor<kReduction == Reduction::none ? Rank : 0>;

struct CrossEntropyOptions {
  /// A weight for each class.
  std::optional<Tensor<1>> weights = std::nullopt;
  /// Part of the target that is shared out over all classes: C. Szegedy et al., "Rethinking the inception
  /// architecture for computer vision", 2015.
  double label_smoothing = 0;
  /// Elements with this target count for nothing: padding.
  std::optional<std::int64_t> ignore_index = std::nullopt;
};

/// See binary_cross_entropy().
struct BinaryCrossEntropyOptions {
  /// Of each class, times the losses along the last axis: (classes), or (1) for all.
  std::optional<Tensor<1>> weights = std::nullopt;
  /// Targets y become y (1 - s) + s / 2.
  double label_smoothing = 0;
};

/// See binary_cross_entropy_with_logits().
struct BinaryLogitsOptions {
  /// As in BinaryCrossEntropyOptions.
  std::optional<Tensor<1>> weights = std::nullopt;
  /// Of each class, times the part of a loss that a target of 1 has: (classes), or (1) for all. The number of
  /// zeros divided by that of ones makes up for classes that are rare.
  std::optional<Tensor<1>> positive_weights = std::nullopt;
  double label_smoothing = 0;
};

/// See gaussian_nll().
struct GaussianNllOptions {
  bool full = false;
  double epsilon = 1e-6;
};

/// See poisson_nll().
struct PoissonNllOptions {
  bool log_input = true;
  bool full = false;
  double epsilon = 1e-8;
};

/// See triplet_margin().
struct TripletMarginOptions {
  double margin = 1;
  double p = 2;
  double epsilon = 1e-6;
  bool swap = false;
};

/// See multi_margin().
struct MultiMarginOptions {
  std::int64_t p = 1;
  double margin = 1;
  std::optional<Tensor<1>> weights = std::nullopt;
};

namespace detail {
SINTER_API AnyTensor cross_entropy(const AnyTensor& logits, const AnyTensor& targets,
                                   const CrossEntropyOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor soft_cross_entropy(const AnyTensor& logits, const AnyTensor& target,
                                        const CrossEntropyOptions& options, Reduction reduction,
                                        Location where);
SINTER_API AnyTensor nll(const AnyTensor& log_probabilities, const AnyTensor& targets,
                         const CrossEntropyOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor mse(const AnyTensor& prediction, const AnyTensor& target, Reduction reduction,
                         Location where);
SINTER_API AnyTensor l1(const AnyTensor& prediction, const AnyTensor& target, Reduction reduction,
                        Location where);
SINTER_API AnyTensor lp(const AnyTensor& prediction, const AnyTensor& target, double p, Reduction reduction,
                        Location where);
SINTER_API AnyTensor smooth_l1(const AnyTensor& prediction, const AnyTensor& target, double beta,
                               Reduction reduction, Location where);
SINTER_API AnyTensor huber(const AnyTensor& prediction, const AnyTensor& target, double delta,
                           Reduction reduction, Location where);
SINTER_API AnyTensor binary_cross_entropy(const AnyTensor& probability, const AnyTensor& target,
                                          const BinaryCrossEntropyOptions& options, Reduction reduction,
                                          Location where);
SINTER_API AnyTensor binary_cross_entropy_with_logits(const AnyTensor& logits, const AnyTensor& target,
                                                      double positive_weight,
                                                      const BinaryLogitsOptions& options, Reduction reduction,
                                                      Location where);
SINTER_API AnyTensor kl_divergence(const AnyTensor& log_probability, const AnyTensor& target, bool log_target,
                                   Reduction reduction, Location where);
SINTER_API AnyTensor gaussian_nll(const AnyTensor& mean, const AnyTensor& target, const AnyTensor& variance,
                                  const GaussianNllOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor poisson_nll(const AnyTensor& prediction, const AnyTensor& target,
                                 const PoissonNllOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor hinge_embedding(const AnyTensor& x, const AnyTensor& target, double margin,
                                     Reduction reduction, Location where);
SINTER_API AnyTensor soft_margin(const AnyTensor& x, const AnyTensor& target, Reduction reduction,
                                 Location where);
SINTER_API AnyTensor margin_ranking(const AnyTensor& a, const AnyTensor& b, const AnyTensor& target,
                                    double margin, Reduction reduction, Location where);
SINTER_API AnyTensor cosine_embedding(const AnyTensor& a, const AnyTensor& b, const AnyTensor& target,
                                      double margin, Reduction reduction, Location where);
SINTER_API AnyTensor triplet_margin(const AnyTensor& anchor, const AnyTensor& positive,
                                    const AnyTensor& negative, const TripletMarginOptions& options,
                                    Reduction reduction, Location where);
SINTER_API AnyTensor multi_margin(const AnyTensor& x, const AnyTensor& targets,
                                  const MultiMarginOptions& options, Reduction reduction, Location where);
SINTER_API AnyTensor multi_label_soft_margin(const AnyTensor& x, const AnyTensor& target,
                                             const std::optional<Tensor<1>>& weights, Reduction reduction,
                                             Location where);
}  // namespace detail

/// -w_t log softmax(x)_t for the target class t of each element; classes are axis 1: logits (n, classes, ..),
/// targets (n, ..) with values 0 to classes - 1. Any other target makes the loss NaN: checking it would have
/// to wait for the device. The mean is weighted: the sum divided by that of the weights w_t of the targets,
/// ignored ones left out (NaN where none is left). Throws ShapeError when the shapes do not fit or a size is
/// 0.
template <Reduction kReduction = Reduction::mean, std::size_t R>
requires(R >= 2) Reduced<kReduction, R - 1> cross_entropy(const Tensor<R>& logits,
                                                          const Tensor<R - 1, Int>& targets,
                                                          const CrossEntropyOptions& options = {},
                                                          Location where = Location::current()) {
  return Reduced<kReduction, R - 1>(
      detail::cross_entropy(logits.dynamic(), targets.dynamic(), options, kReduction, where));
}

/// -sum of p w log softmax(x) for targets p that are a probability of each class, (n, classes, ..) as the
/// logits; ignore_index has no meaning here and throws Error. The mean is that of the elements.
template <Reduction kReduction = Reduction::mean, std::size_t R>
requires(R >= 2) Reduced<kReduction, R - 1> cross_entropy(const Tensor<R>& logits, const Tensor<R>& target,
                                                          const CrossEntropyOptions& options = {},
                                                          Location where = Location::current()) {
  return Reduced<kReduction, R - 1>(
      detail::soft_cross_entropy(logits.dynamic(), target.dynamic(), options, kReduction, where));
}

/// cross_entropy of what is a logarithm of probabilities already; label_smoothing as there.
template <Reduction kReduction = Reduction::mean, std::size_t R>
requires(R >= 2) Reduced<kReduction, R - 1> nll(const Tensor<R>& log_probabilities,
                                                const Tensor<R - 1, Int>& targets,
                                                const CrossEntropyOptions& options = {},
                                                Location where = Location::current()) {
  return Reduced<kReduction, R - 1>(
      detail::nll(log_probabilities.dynamic(), targets.dynamic(), options, kReduction, where));
}

/// (x - y)^2. Throws ShapeError, as all of the losses below, when the shapes differ.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> mse(const Tensor<R>& prediction, const Tensor<R>& target,
                           Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::mse(prediction.dynamic(), target.dynamic(), kReduction, where));
}

/// |x - y|
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> l1(const Tensor<R>& prediction, const Tensor<R>& target,
                          Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::l1(prediction.dynamic(), target.dynamic(), kReduction, where));
}

/// |x - y|^p. Throws Error when p is not positive.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> lp(const Tensor<R>& prediction, const Tensor<R>& target, double p = 2,
                          Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::lp(prediction.dynamic(), target.dynamic(), p, kReduction, where));
}

/// (x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2: R. Girshick, "Fast R-CNN", 2015.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> smooth_l1(const Tensor<R>& prediction, const Tensor<R>& target, double beta = 1,
                                 Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::smooth_l1(prediction.dynamic(), target.dynamic(), beta, kReduction, where));
}

/// (x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2): P. Huber, "Robust estimation of a
/// location parameter", 1964.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> huber(const Tensor<R>& prediction, const Tensor<R>& target, double delta = 1,
                             Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::huber(prediction.dynamic(), target.dynamic(), delta, kReduction, where));
}

/// -(y log x + (1 - y) log(1 - x)) for probabilities x; logarithms are at least -100, as in PyTorch. Where
/// there are logits, use the function below, which loses no digits. The mean is that of the elements, also
/// where they have weights.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> binary_cross_entropy(const Tensor<R>& probability, const Tensor<R>& target,
                                            const BinaryCrossEntropyOptions& options = {},
                                            Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::binary_cross_entropy(probability.dynamic(), target.dynamic(), options, kReduction, where));
}

/// -(w y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))), without overflow; w is the positive weight.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> binary_cross_entropy_with_logits(const Tensor<R>& logits, const Tensor<R>& target,
                                                        const BinaryLogitsOptions& options = {},
                                                        Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::binary_cross_entropy_with_logits(logits.dynamic(), target.dynamic(),
                                                                         1, options, kReduction, where));
}
/// The same with one positive weight for all classes.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> binary_cross_entropy_with_logits(const Tensor<R>& logits, const Tensor<R>& target,
                                                        double positive_weight,
                                                        Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::binary_cross_entropy_with_logits(
      logits.dynamic(), target.dynamic(), positive_weight, {}, kReduction, where));
}

/// y (log y - x), where x is a logarithm of probabilities; 0 where y is 0. With `log_target` y is one too:
/// exp(y) (y - x). The divergence of distributions is its sum, or for several Reduction::batch_mean.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> kl_divergence(const Tensor<R>& log_probability, const Tensor<R>& target,
                                     bool log_target = false, Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::kl_divergence(log_probability.dynamic(), target.dynamic(), log_target, kReduction, where));
}

/// (log v + (x - y)^2 / v) / 2, and log(2 pi) / 2 with `full`, for v = max(variance, epsilon), whose gradient
/// the variance has also where it is less, as in PyTorch.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> gaussian_nll(const Tensor<R>& mean, const Tensor<R>& target, const Tensor<R>& variance,
                                    const GaussianNllOptions& options = {},
                                    Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::gaussian_nll(mean.dynamic(), target.dynamic(), variance.dynamic(), options, kReduction, where));
}

/// exp(x) - y x; with `log_input` false x - y log(x + epsilon). `full` adds Stirling's y log y - y +
/// log(2 pi y) / 2 where y > 1.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> poisson_nll(const Tensor<R>& prediction, const Tensor<R>& target,
                                   const PoissonNllOptions& options = {},
                                   Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::poisson_nll(prediction.dynamic(), target.dynamic(), options, kReduction, where));
}

/// x where y = 1, max(0, margin - x) where y = -1.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> hinge_embedding(const Tensor<R>& x, const Tensor<R>& target, double margin = 1,
                                       Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::hinge_embedding(x.dynamic(), target.dynamic(), margin, kReduction, where));
}

/// log(1 + exp(-y x)) for y = 1 or -1, without overflow.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> soft_margin(const Tensor<R>& x, const Tensor<R>& target,
                                   Location where = Location::current()) {
  return Reduced<kReduction, R>(detail::soft_margin(x.dynamic(), target.dynamic(), kReduction, where));
}

/// max(0, -y (a - b) + margin): for y = 1 a is to be the larger one.
template <Reduction kReduction = Reduction::mean, std::size_t R>
Reduced<kReduction, R> margin_ranking(const Tensor<R>& a, const Tensor<R>& b, const Tensor<R>& target,
                                      double margin = 0, Location where = Location::current()) {
  return Reduced<kReduction, R>(
      detail::margin_ranking(a.dynamic(), b.dynamic(), target.dynamic(), margin, kReduction, where));
}

/// 1 - cos(a, b) where y = 1, max(0, cos(a, b) - margin) where y = -1; a and b are (n, d), y is (n).
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> cosine_embedding(const Tensor<2>& a, const Tensor<2>& b, const Tensor<1>& target,
                                        double margin = 0, Location where = Location::current()) {
  return Reduced<kReduction, 1>(
      detail::cosine_embedding(a.dynamic(), b.dynamic(), target.dynamic(), margin, kReduction, where));
}

/// max(0, d(anchor, positive) - d(anchor, negative) + margin) for vectors along the last axis, with
/// d = (sum |a - b + epsilon|^p)^(1/p). `swap` takes the negative's distance to the positive where that is
/// less: V. Balntas et al., "Learning local feature descriptors with triplets", 2016.
template <Reduction kReduction = Reduction::mean, std::size_t R>
requires(R >= 1) Reduced<kReduction, R - 1> triplet_margin(const Tensor<R>& anchor, const Tensor<R>& positive,
                                                           const Tensor<R>& negative,
                                                           const TripletMarginOptions& options = {},
                                                           Location where = Location::current()) {
  return Reduced<kReduction, R - 1>(detail::triplet_margin(anchor.dynamic(), positive.dynamic(),
                                                           negative.dynamic(), options, kReduction, where));
}

/// The sum over classes j other than the target t of w_t max(0, margin - x_t + x_j)^p / classes; x is (n,
/// classes), targets are (n). p is 1 or 2. A target that is no class makes the loss NaN.
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> multi_margin(const Tensor<2>& x, const Tensor<1, Int>& targets,
                                    const MultiMarginOptions& options = {},
                                    Location where = Location::current()) {
  return Reduced<kReduction, 1>(
      detail::multi_margin(x.dynamic(), targets.dynamic(), options, kReduction, where));
}

/// -mean over classes of w (y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))); x and y are (n, classes), the
/// weights w, if any, (classes).
template <Reduction kReduction = Reduction::mean>
Reduced<kReduction, 1> multi_label_soft_margin(const Tensor<2>& x, const Tensor<2>& target,
                                               const std::optional<Tensor<1>>& weights = std::nullopt,
                                               Location where = Location::current()) {
  return Reduced<kReduction, 1>(
      detail::multi_label_soft_margin(x.dynamic(), target.dynamic(), weights, kReduction, where));
}

}  // namespace sinter::nn
