// Losses, composed of plain operations, which fuse with their operands.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/nn/loss.h>
#include <sinter/nn/similarity.h>

#include "src/base/number_text.h"
#include "src/tensor/autocast.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

A reduced(const char* loss, const A& x, Reduction reduction, const Location& where) {
  if (reduction == Reduction::none) return x;
  if (reduction == Reduction::sum) return x.sum(x.all_axes(), where).reshape({}, where);
  if (x.numel() == 0)
    throw ShapeError("[" + std::string(loss) + "] there is no mean over the shape " + to_string(x.shape()),
                     where);
  if (reduction == Reduction::mean) return x.mean(x.all_axes(), where).reshape({}, where);
  if (x.rank() == 0) throw ShapeError("[" + std::string(loss) + "] a number has no batch", where);
  const double batch = static_cast<double>(x.shape()[0]);
  const A sum = tensor::widened(x, where).sum(x.all_axes(), where).reshape({}, where);
  return A::mul(sum, 1 / batch, where).cast(tensor::autocast_wide(x.dtype()), where);
}

/// Of a probability and of that of the contrary, -100 at least.
std::pair<A, A> bounded_logarithms(const A& probability, const Location& where) {
  constexpr double kLeast = -100;
  return {A::maximum(probability.log(where), kLeast, where),
          A::maximum(probability.neg(where).log1p(where), kLeast, where)};
}

void require_one_shape(const char* loss, const A& first, std::initializer_list<const A*> others,
                       const Location& where) {
  for (const A* other : others)
    if (other->shape() != first.shape())
      throw ShapeError("[" + std::string(loss) + "] inputs " + to_string(first.shape()) + " and " +
                           to_string(other->shape()) + " are not of one shape",
                       where);
}

void require(bool holds, const char* loss, const char* what, double value, const Location& where) {
  if (!holds) throw Error("[" + std::string(loss) + "] " + what + " is " + text_of(value), where);
}

/// A weight for each class, along axis 1 of logits.
A class_weights(const char* loss, const Tensor<1>& weights, const Shape& logits, const Location& where) {
  if (weights.shape()[0] != logits[1])
    throw ShapeError("[" + std::string(loss) + "] there are " + std::to_string(weights.shape()[0]) +
                         " weights for the " + std::to_string(logits[1]) + " classes of the logits " +
                         to_string(logits),
                     where);
  Dims sizes = Dims::filled(logits.rank() - 1, 1);
  sizes[0] = logits[1];
  return weights.dynamic().reshape(sizes, where);
}

/// A weight for each class, along the last axis of x.
A weights_of_last_axis(const char* loss, const char* what, const Tensor<1>& weights, const A& x,
                       const Location& where) {
  const std::int64_t count = weights.shape()[0], classes = x.rank() == 0 ? 1 : x.shape()[-1];
  if (count != 1 && count != classes)
    throw ShapeError("[" + std::string(loss) + "] there are " + std::to_string(count) + " " + what +
                         " for the " + std::to_string(classes) + " classes of " + to_string(x.shape()),
                     where);
  Dims sizes = Dims::filled(x.rank(), 1);
  if (x.rank() > 0) sizes[x.rank() - 1] = count;
  return weights.dynamic().reshape(sizes, where);
}

void require_smoothing(const char* loss, double smoothing, const Location& where) {
  require(smoothing >= 0 && smoothing <= 1, loss, "the label smoothing, expected 0 to 1,", smoothing, where);
}

/// Targets of two classes, of which smoothing makes s / 2 and 1 - s / 2.
A smoothed_binary(const char* loss, const A& target, double smoothing, const Location& where) {
  require_smoothing(loss, smoothing, where);
  return smoothing == 0 ? target : A::add(A::mul(target, 1 - smoothing, where), smoothing / 2, where);
}

/// True of the targets that are the number of a class.
A are_classes(const A& target, std::int64_t classes, const Location& where) {
  return A::logical_and(A::greater_equal(target, 0, where), A::less(target, classes, where), where);
}

/// Which classes targets (n, 1, ..) are: (n, classes, ..); `is_class` are those that are one. Selecting by
/// comparison instead of a gather is elementwise, so it fuses with the softmax forward and backward.
A chosen_class(const A& target, const A& is_class, std::int64_t classes, const Location& where) {
  Dims sizes = Dims::filled(target.rank(), 1);
  sizes[1] = classes;
  // Each class is compared, by half of the instructions where it has 32 bits.
  const DType dtype = classes <= std::numeric_limits<std::int32_t>::max() ? DType::i32 : DType::i64;
  const A index = A::arange(0, classes, 1, dtype, target.device().inner(), where).reshape(sizes, where);
  return A::equal(index, A::where(is_class, target, -1, where).cast(dtype, where), where);
}

/// Of a loss that is computed in f32 where logits have fewer bits: its sums leave the range of f16.
DType loss_dtype(const A& logits, const CrossEntropyOptions& options) {
  const DType dtype = tensor::autocast_wide(logits.dtype());
  return options.weights ? promote(dtype, options.weights->dtype()).value_or(dtype) : dtype;
}

/// Logarithms of probabilities (n, classes, ..): `values` less what is subtracted of all values of a row.
struct LogProbabilities {
  A values;
  A of_row;  // (n, 1, ..); not defined: nothing

  A all(const Location& where) const { return of_row.defined() ? A::sub(values, of_row, where) : values; }
  /// Of one class of each row. What comes of a row comes once: in the gradient its sum needs no round over
  /// the classes.
  A picked(const A& value, const Location& where) const {
    return of_row.defined() ? A::sub(value, of_row, where) : value;
  }
};

LogProbabilities log_probabilities_of(const A& logits, const Location& where) {
  const A x = tensor::widened(logits, where);
  const A shifted = A::sub(x, x.detach().max(1, where), where);
  return {shifted, shifted.exp(where).sum(1, where).log(where)};
}

A nll_of(const char* loss, const LogProbabilities& log_probabilities, const A& targets,
         const CrossEntropyOptions& options, Reduction reduction, const Location& where) {
  const Shape& shape = log_probabilities.values.shape();
  const std::int64_t classes = shape[1];
  Dims rows = shape, expected = shape;
  rows[1] = 1;
  expected.erase(1);
  if (targets.shape() != expected || log_probabilities.values.numel() == 0)
    throw ShapeError("[" + std::string(loss) + "] logits " + to_string(shape) + " and targets " +
                         to_string(targets.shape()) +
                         " are not (n, classes) and (n) with n and classes 1 or more",
                     where);
  require_smoothing(loss, options.label_smoothing, where);
  const A target = targets.cast(DType::i64, where).reshape(rows, where);
  const A is_class = are_classes(target, classes, where);
  const A is_chosen = chosen_class(target, is_class, classes, where);
  const auto pick = [&](const A& values) { return A::where(is_chosen, values, 0.0, where).sum(1, where); };

  A chosen = log_probabilities.picked(pick(log_probabilities.values), where), weight, weights;
  if (options.weights) {
    weights = class_weights(loss, *options.weights, shape, where);
    weight = pick(weights);
    chosen = A::mul(chosen, weight, where);
  }
  if (options.label_smoothing != 0) {
    A all = log_probabilities.all(where);
    if (weights.defined()) all = A::mul(all, weights, where);
    const double part = options.label_smoothing / static_cast<double>(classes);
    chosen = A::add(A::mul(chosen, 1 - options.label_smoothing, where),
                    A::mul(all.sum(1, where), part, where), where);
  }
  A row = A::where(is_class, chosen, kNaN, where);
  A counts;  // of the mean: bool or weights
  if (options.ignore_index) {
    const A counted = A::not_equal(target, *options.ignore_index, where);
    row = A::where(counted, row, 0.0, where);
    counts = weight.defined() ? A::where(counted, weight, 0.0, where) : counted.cast(chosen.dtype(), where);
  } else {
    counts = weight;
  }
  if (reduction == Reduction::none) return row.neg(where).reshape(expected, where);
  const A sum = row.sum(row.all_axes(), where).reshape({}, where);
  if (reduction == Reduction::sum) return sum.neg(where);
  if (reduction == Reduction::mean && counts.defined())
    return A::div(sum.neg(where), counts.sum(counts.all_axes(), where).reshape({}, where), where);
  const std::int64_t count = reduction == Reduction::mean ? row.numel() : shape[0];
  return A::mul(sum, -1.0 / static_cast<double>(count), where);
}

}  // namespace

AnyTensor detail::cross_entropy(const AnyTensor& logits, const AnyTensor& targets,
                                const CrossEntropyOptions& options, Reduction reduction, Location where) {
  return nll_of("cross_entropy", log_probabilities_of(logits, where), targets, options, reduction, where)
      .cast(loss_dtype(logits, options), where);
}

AnyTensor detail::nll(const AnyTensor& log_probabilities, const AnyTensor& targets,
                      const CrossEntropyOptions& options, Reduction reduction, Location where) {
  return nll_of("nll", {tensor::widened(log_probabilities, where), {}}, targets, options, reduction, where)
      .cast(loss_dtype(log_probabilities, options), where);
}

AnyTensor detail::soft_cross_entropy(const AnyTensor& logits, const AnyTensor& target,
                                     const CrossEntropyOptions& options, Reduction reduction,
                                     Location where) {
  constexpr const char* kName = "cross_entropy";
  require_one_shape(kName, logits, {&target}, where);
  require_smoothing(kName, options.label_smoothing, where);
  if (options.ignore_index)
    throw Error("[cross_entropy] targets that are probabilities have no index to ignore, such as " +
                    std::to_string(*options.ignore_index),
                where);
  const std::int64_t classes = logits.shape()[1];
  A probability = target;
  if (options.label_smoothing != 0)
    probability = A::add(A::mul(target, 1 - options.label_smoothing, where),
                         options.label_smoothing / static_cast<double>(classes), where);
  A products = A::mul(log_softmax(logits, 1, where), probability, where);
  if (options.weights)
    products = A::mul(products, class_weights(kName, *options.weights, logits.shape(), where), where);
  return reduced(kName, products.sum(1, where).neg(where).squeeze(1, where), reduction, where);
}

AnyTensor detail::mse(const AnyTensor& prediction, const AnyTensor& target, Reduction reduction,
                      Location where) {
  require_one_shape("mse", prediction, {&target}, where);
  return reduced("mse", A::sub(prediction, target, where).square(where), reduction, where);
}

AnyTensor detail::l1(const AnyTensor& prediction, const AnyTensor& target, Reduction reduction,
                     Location where) {
  require_one_shape("l1", prediction, {&target}, where);
  return reduced("l1", A::sub(prediction, target, where).abs(where), reduction, where);
}

AnyTensor detail::lp(const AnyTensor& prediction, const AnyTensor& target, double p, Reduction reduction,
                     Location where) {
  require_one_shape("lp", prediction, {&target}, where);
  require(p > 0, "lp", "p, expected more than 0,", p, where);
  const A difference = A::sub(prediction, target, where);
  // |x|^p as plain products where it is one: pow's gradient at 0 is a limit.
  const A loss = p == 2   ? difference.square(where)
                 : p == 1 ? difference.abs(where)
                          : A::pow(difference.abs(where), p, where);
  return reduced("lp", loss, reduction, where);
}

AnyTensor detail::smooth_l1(const AnyTensor& prediction, const AnyTensor& target, double beta,
                            Reduction reduction, Location where) {
  require(beta >= 0, "smooth_l1", "beta, expected 0 or more,", beta, where);
  if (beta == 0) return l1(prediction, target, reduction, where);
  require_one_shape("smooth_l1", prediction, {&target}, where);
  const A x = A::sub(prediction, target, where), size = x.abs(where);
  const A loss = A::where(A::less(size, beta, where), A::mul(x.square(where), 0.5 / beta, where),
                          A::sub(size, 0.5 * beta, where), where);
  return reduced("smooth_l1", loss, reduction, where);
}

AnyTensor detail::huber(const AnyTensor& prediction, const AnyTensor& target, double delta,
                        Reduction reduction, Location where) {
  require_one_shape("huber", prediction, {&target}, where);
  require(delta > 0, "huber", "delta, expected more than 0,", delta, where);
  const A x = A::sub(prediction, target, where), size = x.abs(where);
  const A loss = A::where(A::less(size, delta, where), A::mul(x.square(where), 0.5, where),
                          A::mul(A::sub(size, 0.5 * delta, where), delta, where), where);
  return reduced("huber", loss, reduction, where);
}

AnyTensor detail::binary_cross_entropy(const AnyTensor& probability, const AnyTensor& target,
                                       const BinaryCrossEntropyOptions& options, Reduction reduction,
                                       Location where) {
  constexpr const char* kName = "binary_cross_entropy";
  require_one_shape(kName, probability, {&target}, where);
  const A truth = smoothed_binary(kName, target, options.label_smoothing, where);
  // The derivative of a logarithm is infinite at 0, where its bound makes the loss flat: so the gradient is
  // PyTorch's formula, which has neither.
  sinter::detail::FunctionParts parts{kName, where, {}, {}};
  parts.forward = [&](Saved& saved) {
    saved.keep(probability, truth);
    const auto [one, zero] = bounded_logarithms(probability, where);
    return sinter::detail::Tensors{
        A::add(A::mul(truth, one, where), A::mul(A::sub(1, truth, where), zero, where), where).neg(where)};
  };
  parts.backward = [where](const Saved& saved, const sinter::detail::Tensors& gradients) {
    const A &x = saved[0], &y = saved[1], &gradient = gradients[0];
    const A p = x.cast(arithmetic_of(x.dtype()), where);
    const A variance = A::maximum(A::mul(p, A::sub(1, p, where), where), 1e-12, where);
    const A slope = A::div(A::sub(p, y.cast(p.dtype(), where), where), variance, where);
    const auto [one, zero] = bounded_logarithms(x, where);
    return sinter::detail::Tensors{
        A::mul(gradient.cast(p.dtype(), where), slope, where).cast(x.dtype(), where),
        A::mul(gradient, A::sub(zero, one, where), where)};
  };
  A loss = sinter::detail::call(std::move(parts), {probability, truth})[0];
  if (options.weights)
    loss = A::mul(loss, weights_of_last_axis(kName, "weights", *options.weights, loss, where), where);
  return reduced(kName, loss, reduction, where);
}

AnyTensor detail::binary_cross_entropy_with_logits(const AnyTensor& logits, const AnyTensor& target,
                                                   double positive_weight, const BinaryLogitsOptions& options,
                                                   Reduction reduction, Location where) {
  constexpr const char* kName = "binary_cross_entropy_with_logits";
  require_one_shape(kName, logits, {&target}, where);
  require(positive_weight >= 0, kName, "the weight, expected 0 or more,", positive_weight, where);
  const A truth = smoothed_binary(kName, target, options.label_smoothing, where);
  // -log sigmoid(x) = softplus(-x), and -log(1 - sigmoid(x)) = x + softplus(-x).
  A weighted = softplus(logits.neg(where), 1, where);
  const auto weigh = [&](A::Operand weight_less_one) {
    weighted = A::mul(weighted, A::add(A::mul(truth, weight_less_one, where), 1, where), where);
  };
  if (positive_weight != 1) weigh(positive_weight - 1);
  if (options.positive_weights)
    weigh(A::sub(weights_of_last_axis(kName, "positive weights", *options.positive_weights, logits, where), 1,
                 where));
  A loss = A::add(A::mul(A::sub(1, truth, where), logits, where), weighted, where);
  if (options.weights)
    loss = A::mul(loss, weights_of_last_axis(kName, "weights", *options.weights, loss, where), where);
  return reduced(kName, loss, reduction, where);
}

AnyTensor detail::kl_divergence(const AnyTensor& log_probability, const AnyTensor& target, bool log_target,
                                Reduction reduction, Location where) {
  require_one_shape("kl_divergence", log_probability, {&target}, where);
  A loss;
  if (log_target) {
    loss = A::mul(target.exp(where), A::sub(target, log_probability, where), where);
  } else {
    // 0 log 0 = 0; the logarithm is taken of 1 there, so that the gradient is no NaN.
    const A positive = A::greater(target, 0, where);
    const A logarithm = A::where(positive, target, 1.0, where).log(where);
    loss = A::mul(target, A::sub(logarithm, log_probability, where), where);
    loss = A::where(positive, loss, 0.0, where);
  }
  return reduced("kl_divergence", loss, reduction, where);
}

AnyTensor detail::gaussian_nll(const AnyTensor& mean, const AnyTensor& target, const AnyTensor& variance,
                               const GaussianNllOptions& options, Reduction reduction, Location where) {
  require_one_shape("gaussian_nll", mean, {&target, &variance}, where);
  require(options.epsilon > 0, "gaussian_nll", "epsilon, expected more than 0,", options.epsilon, where);
  // A variance that is too small counts as epsilon, and has the gradient of one: it could never grow
  // otherwise.
  const A least = A::add(A::sub(variance, variance.detach(), where), options.epsilon, where);
  const A v = A::where(A::less(variance, options.epsilon, where), least, variance, where);
  const A square = A::sub(mean, target, where).square(where);
  A loss = A::mul(A::add(v.log(where), A::div(square, v, where), where), 0.5, where);
  if (options.full) loss = A::add(loss, 0.5 * std::log(2 * std::numbers::pi), where);
  return reduced("gaussian_nll", loss, reduction, where);
}

AnyTensor detail::poisson_nll(const AnyTensor& prediction, const AnyTensor& target,
                              const PoissonNllOptions& options, Reduction reduction, Location where) {
  require_one_shape("poisson_nll", prediction, {&target}, where);
  const A& x = prediction;
  A loss = options.log_input
               ? A::sub(x.exp(where), A::mul(target, x, where), where)
               : A::sub(x, A::mul(target, A::add(x, options.epsilon, where).log(where), where), where);
  if (options.full) {
    const A large = A::greater(target, 1, where);
    const A y = A::where(large, target, 1.0, where);
    const A half = A::mul(A::mul(y, 2 * std::numbers::pi, where).log(where), 0.5, where);
    const A stirling = A::add(A::sub(A::mul(y, y.log(where), where), y, where), half, where);
    loss = A::add(loss, A::where(large, stirling, 0.0, where), where);
  }
  return reduced("poisson_nll", loss, reduction, where);
}

AnyTensor detail::hinge_embedding(const AnyTensor& x, const AnyTensor& target, double margin,
                                  Reduction reduction, Location where) {
  require_one_shape("hinge_embedding", x, {&target}, where);
  const A apart = A::sub(margin, x, where).clamp_min(0, where);
  return reduced("hinge_embedding", A::where(A::equal(target, 1, where), x, apart, where), reduction, where);
}

AnyTensor detail::soft_margin(const AnyTensor& x, const AnyTensor& target, Reduction reduction,
                              Location where) {
  require_one_shape("soft_margin", x, {&target}, where);
  return reduced("soft_margin", softplus(A::mul(x, target, where).neg(where), 1, where), reduction, where);
}

AnyTensor detail::margin_ranking(const AnyTensor& a, const AnyTensor& b, const AnyTensor& target,
                                 double margin, Reduction reduction, Location where) {
  require_one_shape("margin_ranking", a, {&b, &target}, where);
  const A loss = A::add(A::mul(A::sub(b, a, where), target, where), margin, where);
  return reduced("margin_ranking", loss.clamp_min(0, where), reduction, where);
}

AnyTensor detail::cosine_embedding(const AnyTensor& a, const AnyTensor& b, const AnyTensor& target,
                                   double margin, Reduction reduction, Location where) {
  require_one_shape("cosine_embedding", a, {&b}, where);
  if (target.shape()[0] != a.shape()[0])
    throw ShapeError("[cosine_embedding] inputs " + to_string(a.shape()) + " and targets " +
                         to_string(target.shape()) + " are not (n, d) and (n)",
                     where);
  // PyTorch adds this to both squares.
  constexpr double kEpsilon = 1e-12;
  const A x = tensor::widened(a, where), y = tensor::widened(b, where);
  const A product = A::mul(x, y, where).sum(1, where);
  const A squares = A::mul(A::add(x.square(where).sum(1, where), kEpsilon, where),
                           A::add(y.square(where).sum(1, where), kEpsilon, where), where);
  const DType dtype = promote(a.dtype(), b.dtype()).value_or(a.dtype());
  const A cosine = A::mul(product, squares.rsqrt(where), where)
                       .squeeze(1, where)
                       .cast(tensor::autocast_wide(dtype), where);
  const A loss = A::where(A::equal(target, 1, where), A::sub(1, cosine, where),
                          A::sub(cosine, margin, where).clamp_min(0, where), where);
  return reduced("cosine_embedding", loss, reduction, where);
}

AnyTensor detail::triplet_margin(const AnyTensor& anchor, const AnyTensor& positive,
                                 const AnyTensor& negative, const TripletMarginOptions& options,
                                 Reduction reduction, Location where) {
  require_one_shape("triplet_margin", anchor, {&positive, &negative}, where);
  const auto distance = [&](const A& a, const A& b) {
    return pairwise_distance(a, b, options.p, options.epsilon, where);
  };
  A away = distance(anchor, negative);
  if (options.swap) away = A::minimum(away, distance(positive, negative), where);
  const A loss = A::add(A::sub(distance(anchor, positive), away, where), options.margin, where);
  return reduced("triplet_margin", loss.clamp_min(0, where), reduction, where);
}

AnyTensor detail::multi_margin(const AnyTensor& x, const AnyTensor& targets,
                               const MultiMarginOptions& options, Reduction reduction, Location where) {
  constexpr const char* kName = "multi_margin";
  const Shape& shape = x.shape();
  const std::int64_t n = shape[0], classes = shape[1];
  if (targets.shape()[0] != n || x.numel() == 0)
    throw ShapeError("[multi_margin] inputs " + to_string(shape) + " and targets " +
                         to_string(targets.shape()) +
                         " are not (n, classes) and (n) with n and classes 1 or more",
                     where);
  require(options.p == 1 || options.p == 2, kName, "p, expected 1 or 2,", static_cast<double>(options.p),
          where);
  const A target = targets.cast(DType::i64, where).reshape({n, 1}, where);
  const A is_class = are_classes(target, classes, where);
  const A is_chosen = chosen_class(target, is_class, classes, where);
  const A chosen = A::where(is_chosen, x, 0.0, where).sum(1, where);
  A loss = A::add(A::sub(x, chosen, where), options.margin, where).relu(where);
  if (options.p == 2) loss = loss.square(where);
  loss = A::where(is_chosen, 0.0, loss, where);
  if (options.weights) {
    const A weights = class_weights(kName, *options.weights, shape, where);
    loss = A::mul(loss, A::where(is_chosen, weights, 0.0, where).sum(1, where), where);
  }
  const A row = loss.mean(1, where);
  return reduced(kName, A::where(is_class, row, kNaN, where).squeeze(1, where), reduction, where);
}

AnyTensor detail::multi_label_soft_margin(const AnyTensor& x, const AnyTensor& target,
                                          const std::optional<Tensor<1>>& weights, Reduction reduction,
                                          Location where) {
  constexpr const char* kName = "multi_label_soft_margin";
  A loss = binary_cross_entropy_with_logits(x, target, 1, {}, Reduction::none, where);
  if (weights) loss = A::mul(loss, class_weights(kName, *weights, x.shape(), where), where);
  return reduced(kName, loss.mean(1, where).squeeze(1, where), reduction, where);
}

}  // namespace sinter::nn
