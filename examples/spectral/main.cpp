// A layer of one's own with a state: a linear layer whose weight is divided by its greatest singular value
// (T. Miyato et al., "Spectral normalization for generative adversarial networks", 2018). The vector of the
// power method lives in a Buffer, which forward() sets, and which is saved with the module. A network of such
// layers never changes faster than its input, so that the greatest mean difference that it can see between
// two clouds of points is at most their Wasserstein distance, which here is how far one was moved.
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include <CLI/CLI.hpp>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct SpectralLinear {
  sn::nn::Linear linear;
  sn::Buffer<2> u;        // (d_out, 1): nearly the left singular vector, of length 1
  sn::Training training;  // whether forward() makes a step of the power method

  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    const auto w = linear.weight.inner();
    const auto unit = [](const sn::Tensor<2>& vector) { return vector / sqrt(square(vector).sum() + 1e-12); };
    const auto v = unit(w.t().matmul(u.value()));
    const auto next = training ? unit(w.matmul(v)) : u.value();
    if (training) u.set(next);
    // u and v are constants to the gradient: at the singular vectors sigma does not depend on them.
    const auto sigma = (linear.weight.matmul(v) * next).sum();
    return sn::nn::Linear{linear.weight / sigma, linear.bias}.forward(x);
  }
};

struct SpectralLinearConfig {
  std::int64_t d_in, d_out;
  SpectralLinear init(const sn::Device& device) const {
    const auto u = sn::Tensor<2>::randn({d_out, 1}, device.inner());
    return {.linear = sn::nn::LinearConfig{.d_in = d_in, .d_out = d_out}.init(device),
            .u = sn::Buffer<2>(u / sqrt(square(u).sum())),
            .training = sn::Training(device)};
  }
};

struct Critic {
  SpectralLinear first, second, last;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    return last.forward(sn::leaky_relu(second.forward(sn::leaky_relu(first.forward(x), 0.2)), 0.2));
  }
};

Critic make(const sn::Device& device) {
  return {SpectralLinearConfig{2, 32}.init(device), SpectralLinearConfig{32, 32}.init(device),
          SpectralLinearConfig{32, 1}.init(device)};
}

void run(std::int64_t steps, double shift) {
  const sn::Device device = sn::Device::best().autodiff(), plain = device.inner();
  device.seed(1);
  Critic critic = make(device);
  auto adam = sn::optim::AdamConfig{}.init();
  const auto difference = [&](const Critic& of) {
    const auto a = sn::Tensor<2>::randn({256, 2}, plain), b = sn::Tensor<2>::randn({256, 2}, plain);
    return of.forward(a + shift / std::sqrt(2)).mean() - of.forward(b).mean();
  };
  for (std::int64_t step = 0; step < steps; ++step) adam.step(5e-3, critic, (-difference(critic)).backward());

  // The state is saved with the rest, and does not move any more.
  const Critic still = sn::nn::valid(critic);
  const Critic back = sn::record::from_bytes(sn::nn::valid(make(device)), sn::record::to_bytes(still));
  double seen = 0;
  for (int i = 0; i < 20; ++i) seen += difference(back).item() / 20;
  std::printf("%s", sn::describe(back).c_str());
  std::printf("seen %.3f of a distance of %.3f; %s\n", seen, shift,
              sn::nn::equal(still, back) ? "the state came back" : "the state is another one");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The distance between two clouds of points, by a network of normalised layers.", "spectral");
  std::int64_t steps = 300;
  double shift = 3;
  app.add_option("--steps", steps)->capture_default_str()->check(CLI::NonNegativeNumber);
  app.add_option("--shift", shift, "how far one cloud is moved")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(steps, shift);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spectral: %s\n", error.what());
    return 1;
  }
}
