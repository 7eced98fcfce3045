// A Wasserstein GAN with gradient penalty (I. Gulrajani et al., "Improved training of Wasserstein GANs",
// 2017) that learns a mixture of eight normal distributions on a circle. The critic's loss has a gradient of
// the critic in it, which is differentiated once more.
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <vector>

#include <CLI/CLI.hpp>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

constexpr int kModes = 8;
constexpr double kRadius = 2, kDeviation = 0.1;
constexpr double kPenalty = 1;  // what a slope other than 1 costs

struct Mlp {
  sn::nn::Linear first, second, last;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    return last.forward(leaky_relu(second.forward(leaky_relu(first.forward(x), 0.2)), 0.2));
  }
};

Mlp make(std::int64_t d_in, std::int64_t width, std::int64_t d_out, const sn::Device& device) {
  const auto layer = [&](std::int64_t in, std::int64_t out) {
    return sn::nn::LinearConfig{.d_in = in, .d_out = out, .initializer = sn::nn::init::kaiming_normal()}.init(
        device);
  };
  return {layer(d_in, width), layer(width, width), layer(width, d_out)};
}

// The centres, (modes, 2).
sn::Tensor<2> centres(const sn::Device& device) {
  std::vector<float> values;
  for (int i = 0; i < kModes; ++i) {
    const double angle = 2 * std::numbers::pi * i / kModes;
    values.push_back(static_cast<float>(kRadius * std::cos(angle)));
    values.push_back(static_cast<float>(kRadius * std::sin(angle)));
  }
  return sn::Tensor<2>::from_data(values, {kModes, 2}, device);
}

sn::Tensor<2> real(std::int64_t count, const sn::Device& device) {
  const auto mode = (sn::Tensor<1>::rand({count}, device) * kModes).to_int() % kModes;
  return centres(device).index_select(0, mode) + sn::Tensor<2>::randn({count, 2}, device) * kDeviation;
}

// How far the critic's slope is from 1, at points between real and false ones.
sn::Tensor<0> gradient_penalty(const Mlp& critic, const sn::Tensor<2>& a, const sn::Tensor<2>& b,
                               const sn::Device& device) {
  const auto part = sn::Tensor<2>::rand({a.shape()[0], 1}, device.inner());
  const auto between = (a * part + b * (1.0 - part)).to_device(device).require_grad();
  const auto slope = sn::gradient(critic.forward(between).sum(), between);  // has a history of its own
  return square(sqrt(square(slope).sum(1) + 1e-12) - 1.0).mean();
}

// How many of the modes have their share of points nearby, at least a quarter of it, and the part of the
// points that are near any.
void judge(const sn::Tensor<2>& points) {
  const auto difference = points.unsqueeze(1) - centres(points.device()).unsqueeze(0);
  const auto near = sqrt(square(difference).sum(2, sn::drop)) < 4 * kDeviation;  // (points, modes)
  const auto shares = near.to_float().mean(0);
  const auto found = (shares > 0.25 / kModes).to_int().sum();
  std::printf("modes %lld of %d, near one: %.2f\n", static_cast<long long>(found.item()), kModes,
              shares.sum().item());
}

void run(std::int64_t steps, std::int64_t batch, std::int64_t width) {
  const sn::Device plain = sn::Device::best(), device = plain.autodiff();
  plain.seed(1);
  Mlp generator = make(8, width, 2, device), critic = make(2, width, 1, device);
  auto adam_g = sn::optim::AdamConfig{.beta1 = 0.5, .beta2 = 0.9}.init();
  auto adam_c = sn::optim::AdamConfig{.beta1 = 0.5, .beta2 = 0.9}.init();
  const auto rate = sn::optim::schedule::linear(2e-3, 2e-4, steps);
  const auto noise = [&](std::int64_t count) { return sn::Tensor<2>::randn({count, 8}, plain); };
  for (std::int64_t step = 0; step < steps; ++step) {
    sn::Tensor<0> distance;
    for (int i = 0; i < 5; ++i) {
      const auto a = real(batch, plain), b = generator.forward(noise(batch)).inner();
      const auto gap = critic.forward(a).mean() - critic.forward(b).mean();
      const auto loss = gradient_penalty(critic, a, b, device) * kPenalty - gap;
      adam_c.step(rate(step), critic, loss.backward());
      distance = gap.inner();
    }
    const auto loss = -critic.forward(generator.forward(noise(batch))).mean();
    adam_g.step(rate(step), generator, loss.backward());
    if (step == 0 || (step + 1) % 100 == 0 || step + 1 == steps) {
      std::printf("step %lld  distance %.3f  ", static_cast<long long>(step + 1), distance.item());
      judge(generator.forward(noise(1000)).inner());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A Wasserstein GAN that learns a mixture of eight normal distributions.", "wgan");
  std::int64_t steps = 1000, batch = 256, width = 128;
  app.add_option("--steps", steps, "of the generator; the critic makes five as many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--width", width)->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    run(steps, batch, width);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wgan: %s\n", error.what());
    return 1;
  }
}
