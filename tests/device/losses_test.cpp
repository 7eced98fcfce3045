// Losses against values and gradients of PyTorch, and at the edges.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/nn/loss.h>

#include "tests/pytorch/loss_cases.h"

using namespace sinter;

namespace {

using Inputs = const std::vector<AnyTensor>&;

void check(const std::string& name, const reference::Function& function) {
  reference::check(reference::loss_cases, name, function);
}

Tensor<2> m(const AnyTensor& x) { return Tensor<2>(x); }
Tensor<1> v(const AnyTensor& x) { return Tensor<1>(x); }
Tensor<1, Int> labels(const AnyTensor& x) { return Tensor<1, Int>(x.cast(DType::i64)); }

// All three reductions of a loss: `call` is a template of one.
#define CHECK_REDUCTIONS(name, ...)                                                 \
  {                                                                                 \
    const auto function = [&]<nn::Reduction kReduction>(Inputs x) -> AnyTensor {    \
      return (__VA_ARGS__).dynamic();                                               \
    };                                                                              \
    const auto with = [&]<nn::Reduction kReduction>() {                             \
      return [&](Inputs x) { return function.template operator()<kReduction>(x); }; \
    };                                                                              \
    check(name "_none", with.template operator()<nn::Reduction::none>());           \
    check(name "_mean", with.template operator()<nn::Reduction::mean>());           \
    check(name "_sum", with.template operator()<nn::Reduction::sum>());             \
  }

// One whose losses are all reduced in the same way.
#define CHECK_LOSSES(name, ...)                               \
  check(name "_none", [](Inputs x) -> AnyTensor {             \
    constexpr nn::Reduction kReduction = nn::Reduction::none; \
    return (__VA_ARGS__).dynamic();                           \
  })

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Tensor<2> matrix(std::vector<float> values, std::int64_t rows) {
  return Tensor<2>(
      tensor_of(values, {rows, static_cast<std::int64_t>(values.size()) / rows}, Device::best().autodiff()));
}

}  // namespace

TEST_CASE("losses of elements") {
  CHECK_REDUCTIONS("mse", nn::mse<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("l1", nn::l1<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("lp", nn::lp<kReduction>(m(x[0]), m(x[1]), 3));
  CHECK_LOSSES("smooth_l1", nn::smooth_l1<kReduction>(m(x[0]), m(x[1]), 0.5));
  CHECK_LOSSES("huber", nn::huber<kReduction>(m(x[0]), m(x[1]), 1.5));
  CHECK_LOSSES("hinge_embedding", nn::hinge_embedding<kReduction>(m(x[0]), m(x[1]), 1.3));
  CHECK_LOSSES("soft_margin", nn::soft_margin<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("margin_ranking", nn::margin_ranking<kReduction>(m(x[0]), m(x[1]), m(x[2]), 0.3));
}

TEST_CASE("losses of probabilities") {
  CHECK_LOSSES("binary_cross_entropy", nn::binary_cross_entropy<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("binary_cross_entropy_with_logits",
               nn::binary_cross_entropy_with_logits<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("binary_cross_entropy_weighted",
               nn::binary_cross_entropy_with_logits<kReduction>(m(x[0]), m(x[1]), 2.5));
  CHECK_REDUCTIONS(
      "binary_cross_entropy_classes",
      nn::binary_cross_entropy<kReduction>(m(x[0]), m(x[1]), {.weights = v(x[2]), .label_smoothing = 0.2}));
  CHECK_REDUCTIONS(
      "binary_cross_entropy_logits_classes",
      nn::binary_cross_entropy_with_logits<kReduction>(
          m(x[0]), m(x[1]), {.weights = v(x[2]), .positive_weights = v(x[3]), .label_smoothing = 0.3}));
  CHECK_LOSSES("kl", nn::kl_divergence<kReduction>(m(x[0]), m(x[1])));
  check("kl_batchmean",
        [](Inputs x) { return nn::kl_divergence<nn::Reduction::batch_mean>(m(x[0]), m(x[1])).dynamic(); });
  CHECK_LOSSES("kl_log", nn::kl_divergence<kReduction>(m(x[0]), m(x[1]), true));
  CHECK_LOSSES("gaussian_nll", nn::gaussian_nll<kReduction>(m(x[0]), m(x[1]), m(x[2])));
  CHECK_LOSSES("gaussian_nll_full", nn::gaussian_nll<kReduction>(m(x[0]), m(x[1]), m(x[2]), {.full = true}));
  CHECK_LOSSES("poisson_nll", nn::poisson_nll<kReduction>(m(x[0]), m(x[1])));
  CHECK_LOSSES("poisson_nll_full",
               nn::poisson_nll<kReduction>(m(x[0]), m(x[1]), {.log_input = false, .full = true}));
}

TEST_CASE("losses of vectors") {
  CHECK_LOSSES("cosine_embedding", nn::cosine_embedding<kReduction>(m(x[0]), m(x[1]), v(x[2]), -0.2));
  CHECK_LOSSES("triplet_margin", nn::triplet_margin<kReduction>(m(x[0]), m(x[1]), m(x[2])));
  CHECK_LOSSES("triplet_margin_swap", nn::triplet_margin<kReduction>(m(x[0]), m(x[1]), m(x[2]),
                                                                     {.margin = 3, .p = 3, .swap = true}));
  CHECK_REDUCTIONS("multi_margin", nn::multi_margin<kReduction>(m(x[0]), labels(x[1])));
  CHECK_REDUCTIONS(
      "multi_margin_weighted",
      nn::multi_margin<kReduction>(m(x[0]), labels(x[1]), {.p = 2, .margin = 0.7, .weights = v(x[2])}));
  CHECK_LOSSES("multi_label_soft_margin_weighted",
               nn::multi_label_soft_margin<kReduction>(m(x[0]), m(x[1]), v(x[2])));
  CHECK_REDUCTIONS("multi_label_soft_margin", nn::multi_label_soft_margin<kReduction>(m(x[0]), m(x[1])));
}

TEST_CASE("cross-entropy with weights, smoothing, padding, images and probabilities") {
  CHECK_REDUCTIONS("cross_entropy", nn::cross_entropy<kReduction>(m(x[0]), labels(x[1])));
  CHECK_REDUCTIONS(
      "cross_entropy_weighted",
      nn::cross_entropy<kReduction>(m(x[0]), labels(x[1]), {.weights = v(x[2]), .label_smoothing = 0.2}));
  CHECK_REDUCTIONS(
      "cross_entropy_ignored",
      nn::cross_entropy<kReduction>(m(x[0]), labels(x[1]), {.label_smoothing = 0.1, .ignore_index = 4}));
  CHECK_REDUCTIONS(
      "cross_entropy_ignored_weighted",
      nn::cross_entropy<kReduction>(m(x[0]), labels(x[1]), {.weights = v(x[2]), .ignore_index = -100}));
  CHECK_REDUCTIONS("cross_entropy_images",
                   nn::cross_entropy<kReduction>(Tensor<4>(x[0]), Tensor<3, Int>(x[1].cast(DType::i64))));
  CHECK_REDUCTIONS("cross_entropy_soft", nn::cross_entropy<kReduction>(
                                             m(x[0]), m(x[1]), {.weights = v(x[2]), .label_smoothing = 0.1}));
  CHECK_REDUCTIONS("nll", nn::nll<kReduction>(m(x[0]), labels(x[1])));
}

TEST_CASE("losses where a formula would overflow") {
  const Tensor<2> x = matrix({200, -200, 0, 1000}, 2).require_grad(), ones = matrix({1, 1, 1, 1}, 2);
  const auto loss = nn::binary_cross_entropy_with_logits<nn::Reduction::none>(x, ones);
  const auto gradient = loss.sum().backward().get(x);
  check_close(loss.dynamic(), {0, 200, 0.693147181f, 0});
  check_close(gradient->dynamic(), {0, -1, -0.5f, 0});
  check_close(nn::soft_margin<nn::Reduction::none>(x, ones).dynamic(), {0, 200, 0.693147181f, 0});
  // As in PyTorch, logarithms of 0 are -100.
  check_close(nn::binary_cross_entropy<nn::Reduction::none>(matrix({0, 1}, 1), matrix({1, 1}, 1)).dynamic(),
              {100, 0});
  // And gradients are finite there, of the probability, and of the logit that it came from.
  const Tensor<2> edge = matrix({0, 1, 0, 1}, 2).require_grad(),
                  hit = matrix({0, 1, 1, 0.25}, 2).require_grad();
  const auto slopes = nn::binary_cross_entropy<nn::Reduction::sum>(edge, hit).backward();
  check_close(slopes.get(edge)->dynamic(), {0, 0, -1e12f, 0.75e12f});
  check_close(slopes.get(hit)->dynamic(), {100, -100, 100, -100});
  const Tensor<2> far = matrix({200, -200, 20, 0}, 2).require_grad();
  const auto of_logits =
      nn::binary_cross_entropy<nn::Reduction::sum>(sigmoid(far), matrix({0.5, 0.5, 1, 1}, 2)).backward();
  check_close(of_logits.get(far)->dynamic(), {0, 0, 0, -0.5f});
  // A variance of less than epsilon has the gradient of epsilon.
  const Tensor<2> small = matrix({0, 1e-7f, 0.5}, 1).require_grad(), one = matrix({1, 1, 1}, 1);
  const auto nll = nn::gaussian_nll<nn::Reduction::none>(one, one, small);
  check_close(nll.dynamic(), {-6.9077554f, -6.9077554f, -0.34657359f});
  check_close(nll.sum().backward().get(small)->dynamic(), {5e5f, 5e5f, 1});
  // -log x: -1 / x, and 1 / x^2.
  const Tensor<2> half = matrix({0.5}, 1).require_grad();
  const auto first =
      sinter::gradient(nn::binary_cross_entropy<nn::Reduction::sum>(half, matrix({1}, 1)), half);
  check_close(first.dynamic(), {-2});
  check_close(sinter::gradient(first.sum(), half).dynamic(), {4});
  // 0 log 0 is 0, and its gradient is no NaN.
  const Tensor<2> p = matrix({0, 0.5}, 1).require_grad();
  const auto kl = nn::kl_divergence<nn::Reduction::sum>(matrix({-1, -1}, 1), p);
  const auto grad = kl.backward().get(p);
  check_close(kl.dynamic(), {0.5f * std::log(0.5f) + 0.5f});
  CHECK(std::isfinite(values_of(grad->dynamic())[0]));
}

TEST_CASE("arguments of losses that do not fit") {
  const Tensor<2> a = matrix({1, 2, 3, 4}, 2), b = matrix({1, 2, 3, 4}, 1),
                  none = matrix({}, 1).narrow(0, 0, 0);
  CHECK(
      contains(error_of([&] { nn::huber(a, b); }), "[huber] inputs (2, 2) and (1, 4) are not of one shape"));
  CHECK(contains(error_of([&] { nn::huber(a, a, 0); }), "[huber] delta, expected more than 0, is 0"));
  CHECK(contains(error_of([&] { nn::mse(none, none); }), "[mse] there is no mean over the shape (0, 0)"));
  const Tensor<1, Int> t = Tensor<1, Int>::from_data({0, 1}, a.device());
  CHECK(contains(error_of([&] { nn::cross_entropy(a, t, {.weights = b.flatten()}); }),
                 "[cross_entropy] there are 4 weights for the 2 classes"));
  CHECK(contains(error_of([&] { nn::cross_entropy(a, t, {.label_smoothing = 2}); }), "label smoothing"));
  CHECK(contains(error_of([&] { nn::cross_entropy(a, a, {.ignore_index = 1}); }), "no index to ignore"));
  CHECK(contains(error_of([&] { nn::multi_margin(a, t, {.p = 3}); }),
                 "[multi_margin] p, expected 1 or 2, is 3"));
  CHECK(contains(
      error_of([&] { nn::binary_cross_entropy_with_logits(a, a, {.positive_weights = b.flatten()}); }),
      "[binary_cross_entropy_with_logits] there are 4 positive weights for the 2 classes of (2, 2)"));
  CHECK(contains(error_of([&] { nn::binary_cross_entropy(a, a, {.label_smoothing = -0.5}); }),
                 "[binary_cross_entropy] the label smoothing, expected 0 to 1, is -0.5"));
  CHECK(contains(error_of([&] { nn::multi_label_soft_margin(a, a, b.flatten()); }),
                 "[multi_label_soft_margin] there are 4 weights for the 2 classes"));
  // Nothing is left of the mean.
  CHECK(std::isnan(nn::cross_entropy(a, t * 0, {.ignore_index = 0}).item()));
}
