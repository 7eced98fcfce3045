// Losses: how they are reduced, weights, smoothing, padding, and logits that would overflow.
// docs/losses.md walks through it.
#include <cstddef>
#include <iostream>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

/// To two digits behind the point, so that all devices print the same.
template <std::size_t R>
sn::Tensor<R> rounded(const sn::Tensor<R>& x) {
  return (x * 100.0).round() / 100.0 + 0.0;
}

}  // namespace

void reductions(const sn::Device& device) {
  const auto x = sn::Tensor<2>::from_data({{1, 2}, {3, 8}}, device);
  const auto y = sn::Tensor<2>::from_data({{1, 1}, {1, 1}}, device);
  std::cout << "mean " << sn::nn::mse(x, y).item() << "\n";
  std::cout << "sum " << sn::nn::mse<sn::nn::Reduction::sum>(x, y).item() << "\n";
  std::cout << "for each of the batch " << sn::nn::mse<sn::nn::Reduction::batch_mean>(x, y).item() << "\n";
  std::cout << "none\n" << sn::nn::mse<sn::nn::Reduction::none>(x, y) << "\n";
  // A loss is a number like any other: a mask, or a weight for each sample, is a product.
  const auto sample = sn::Tensor<2>::from_data({{1}, {0}}, device);
  std::cout << "of the first sample " << (sn::nn::mse<sn::nn::Reduction::none>(x, y) * sample).sum().item()
            << "\n";
}

void classes(const sn::Device& device) {
  const auto logits = sn::Tensor<2>::from_data({{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, device);
  // The last one is padding.
  const auto labels = sn::Tensor<1, sn::Int>::from_data({0, 2, -100}, device);
  const auto each = [&](const sn::nn::CrossEntropyOptions& options) {
    return rounded(sn::nn::cross_entropy<sn::nn::Reduction::none>(logits, labels, options));
  };
  std::cout << "padded    " << each({.ignore_index = -100}) << "\n";
  std::cout << "smoothed  " << each({.label_smoothing = 0.1, .ignore_index = -100}) << "\n";
  // Class 2 counts twice, also in the mean, which is divided by the sum of the weights.
  const auto weights = sn::Tensor<1>::from_data({1, 1, 2}, device);
  std::cout << "weighted  " << each({.weights = weights, .ignore_index = -100}) << "\n";
  const auto mean = sn::nn::cross_entropy(logits, labels, {.weights = weights, .ignore_index = -100});
  std::cout << "mean      " << rounded(mean).item() << "\n";
}

void labels(const sn::Device& device) {
  // Several labels for each sample, of which the second is rare.
  const auto logits = sn::Tensor<2>::from_data({{200, -1}, {-200, 0}}, device);
  const auto truth = sn::Tensor<2>::from_data({{1, 1}, {1, 0}}, device);
  const auto rare = sn::Tensor<1>::from_data({1, 3}, device);
  const auto each = [&](const sn::nn::BinaryLogitsOptions& options) {
    return rounded(sn::nn::binary_cross_entropy_with_logits<sn::nn::Reduction::none>(logits, truth, options));
  };
  std::cout << each({}) << "\n" << each({.positive_weights = rare}) << "\n";
}

int main() {
  sn::set_print_options({.facts = false});  // values alone
  const auto device = sn::Device::best();
  reductions(device);
  classes(device);
  labels(device);
}
