// An MLP as modules and as plain operations.
#include "modules.h"

#include <chrono>
#include <memory>
#include <vector>

#include <sinter/sinter.h>

namespace bench {

namespace sn = sinter;
using sn::Tensor;

namespace {

constexpr std::int64_t kWidth = 64;
constexpr int kLayers = 50;

struct Layer {
  sn::nn::Linear linear;
  sn::nn::Gelu act;
  sn::nn::LayerNorm norm;

  Tensor<2> forward(const Tensor<2>& x) const { return norm.forward(act.forward(linear.forward(x))); }
};

Tensor<2> by_modules(const std::vector<Layer>& layers, Tensor<2> x) {
  for (const Layer& layer : layers) x = layer.forward(x);
  return x;
}

Tensor<2> by_operations(const std::vector<Layer>& layers, Tensor<2> x) {
  for (const Layer& layer : layers) {
    x = sn::gelu(x.matmul(layer.linear.weight.transpose(0, 1)) + layer.linear.bias->unsqueeze(0));
    const Tensor<2> centred = x - x.mean(1);
    x = centred * (centred.square().mean(1) + layer.norm.epsilon).rsqrt();
    x = x * layer.norm.weight->unsqueeze(0) + layer.norm.bias->unsqueeze(0);
  }
  return x;
}

using Clock = std::chrono::steady_clock;

}  // namespace

std::function<double()> module_overhead(const sn::Device& device) {
  auto layers = std::make_shared<std::vector<Layer>>();
  for (int k = 0; k < kLayers; ++k)
    layers->push_back({sn::nn::LinearConfig{.d_in = kWidth, .d_out = kWidth}.init(device),
                       {},
                       sn::nn::LayerNormConfig{.d_model = kWidth}.init(device)});
  const auto x = Tensor<2>::zeros({16, kWidth}, device);
  device.sync();
  return [=] {
    const auto seconds = [&](auto forward) {
      const auto start = Clock::now();
      const Tensor<2> y = forward(*layers, x);
      const double time = std::chrono::duration<double>(Clock::now() - start).count();
      y.sync();
      return time;
    };
    const double modules = seconds(by_modules), operations = seconds(by_operations);
    return modules / operations;
  };
}

}  // namespace bench
