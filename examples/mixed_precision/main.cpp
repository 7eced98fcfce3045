// A training in f16 whose gradients are too small for f16, and what a scaler of the loss does about it.
// docs/mixed-precision.md walks through it.
#include <iostream>
#include <limits>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Net {
  sn::nn::Linear hidden, out;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const { return out.forward(sn::relu(hidden.forward(x))); }
};

Net make_net(const sn::Device& device) {
  device.seed(3);
  return {.hidden = sn::nn::LinearConfig{.d_in = 4, .d_out = 16}.init(device),
          .out = sn::nn::LinearConfig{.d_in = 16, .d_out = 64}.init(device)};
}

}  // namespace

void train(const sn::Device& device, bool scaled) {
  Net net = make_net(device);
  const auto x = sn::Tensor<2>::randn({64, 4}, device.inner());
  const auto y = x.matmul(sn::Tensor<2>::randn({4, 64}, device.inner())) * 1e-3;
  auto adam = sn::optim::AdamConfig{.epsilon = 1e-12}.init();
  auto scaler = sn::optim::GradScalerConfig{.enabled = scaled}.init(device);
  const auto loss_of = [&] {
    const sn::Autocast mixed(sn::DType::f16);
    return sn::nn::mse(net.forward(x) * 1e-3, y);
  };
  const double before = loss_of().item();
  for (int step = 0; step < 60; ++step) {
    auto gradients = scaler.scale(loss_of()).backward();
    scaler.step(adam, 1e-2, net, std::move(gradients));
    scaler.update();
  }
  std::cout << (scaled ? "with a scaler: " : "without: ")
            << (loss_of().item() < 0.3 * before ? "the loss falls\n" : "the loss stays\n");
}

void skip(const sn::Device& device) {
  Net net = make_net(device);
  const Net start = net;
  auto sgd = sn::optim::SgdConfig{}.init();
  auto scaler = sn::optim::GradScalerConfig{}.init(device);
  const auto x = sn::Tensor<2>::full({1, 4}, std::numeric_limits<float>::infinity(), device.inner());
  scaler.step(sgd, 1e-2, net, scaler.scale(net.forward(x).mean()).backward());
  scaler.update();
  std::cout << "skipped " << scaler.skipped().item() << ", scale " << scaler.current_scale().item()
            << ", the net is " << (sn::nn::equal(net, start) ? "the same" : "another") << "\n";
}

int main() {
  const auto device = sn::Device::best().autodiff();
  train(device, false);
  train(device, true);
  skip(device);
}
