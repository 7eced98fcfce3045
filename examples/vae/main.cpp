// A variational autoencoder (D. Kingma, M. Welling, "Auto-encoding variational Bayes", 2013): learns to name
// an image by a few numbers, and to draw one from them. Without a file the images are discs made here, which
// three numbers describe.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Vae {
  sn::nn::Linear encode, mean, log_variance, decode, draw;

  // (n, pixels) -> (n, latent) twice
  std::pair<sn::Tensor<2>, sn::Tensor<2>> latent(const sn::Tensor<2>& x) const {
    const auto h = silu(encode.forward(x));
    return {mean.forward(h), log_variance.forward(h)};
  }
  // (n, latent) -> logits of pixels
  sn::Tensor<2> image(const sn::Tensor<2>& z) const { return draw.forward(silu(decode.forward(z))); }
};

// What an image costs on average, in nats: its pixels, given a name drawn from its distribution, and how far
// that distribution is from the standard normal one.
struct Loss {
  sn::Tensor<0> pixels, name;
};
Loss loss_of(const Vae& model, const sn::Tensor<2>& x) {
  const auto [mean, log_variance] = model.latent(x);
  const auto z = mean + exp(log_variance * 0.5) * mean.detach().randn_like();
  const auto logits = model.image(z);
  const auto pixels = sn::nn::binary_cross_entropy_with_logits<sn::nn::Reduction::batch_mean>(logits, x);
  const auto name = (square(mean) + exp(log_variance) - log_variance - 1.0).sum(1).mean() * 0.5;
  return {pixels, name};
}

// Discs with soft edges, (n, size * size).
sn::Tensor<2> discs(std::int64_t count, std::int64_t size, const sn::Device& device) {
  const auto at = sn::Tensor<1, sn::Int>::arange(0, size, device).to_float();
  const auto rows = at.reshape({1, size, 1}), columns = at.reshape({1, 1, size});
  const auto uniform = [&](double low, double high) {
    const double unit = static_cast<double>(size);
    return sn::Tensor<3>::uniform({count, 1, 1}, low * unit, high * unit, device);
  };
  const auto distance = sqrt(square(rows - uniform(0.3, 0.7)) + square(columns - uniform(0.3, 0.7)));
  return sigmoid((uniform(0.1, 0.3) - distance) * 3.0).reshape({count, size * size});
}

void show(const sn::Tensor<2>& images, std::int64_t width) {
  const std::int64_t count = images.shape()[0], height = images.shape()[1] / width;
  const auto values = images.reshape({count, height, width}).transpose(0, 1).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) + 1;
    std::putchar(" .:-=+*#%@"[static_cast<int>(values[i] * 9.99f)]);
    std::fputs(column % (count * width) == 0 ? "\n" : column % width == 0 ? " | " : "", stdout);
  }
}

void run(const std::string& file, std::int64_t steps, std::int64_t batch, std::int64_t latent) {
  const sn::Device device = sn::Device::best();
  device.seed(1);
  std::int64_t width = 16;
  sn::Tensor<2> images;
  if (file.empty()) {
    images = discs(4096, width, device);
  } else {
    const sn::data::IdxArray all = sn::data::read_idx(file);
    if (all.shape.rank() != 3) throw sn::DataError(file + " has no images, but " + to_string(all.shape));
    width = all.shape[2];
    const auto bytes =
        sn::Tensor<2, sn::Int>::from_data(std::vector<std::int32_t>(all.values.begin(), all.values.end()),
                                          {all.shape[0], all.shape[1] * width}, device);
    images = bytes.to_float() / 255.0;
  }
  const std::int64_t count = images.shape()[0], pixels = images.shape()[1];
  const auto layer = [&](std::int64_t d_in, std::int64_t d_out) {
    return sn::nn::LinearConfig{.d_in = d_in, .d_out = d_out}.init(device.autodiff());
  };
  Vae model{layer(pixels, 256), layer(256, latent), layer(256, latent), layer(latent, 256),
            layer(256, pixels)};
  auto adam = sn::optim::AdamConfig{}.init();
  const auto rate = sn::optim::schedule::cosine(2e-3, 2e-4, steps);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const auto at = (sn::Tensor<1>::rand({batch}, device) * static_cast<double>(count)).to_int() % count;
    const auto [shape, name] = loss_of(model, images.index_select(0, at).to_device(device.autodiff()));
    adam.step(rate(step - 1), model, (shape + name).backward());
    if (step == 1 || step % 100 == 0 || step == steps)
      std::printf("step %lld  loss %.2f: pixels %.2f, name %.2f\n", static_cast<long long>(step),
                  shape.item() + name.item(), shape.item(), name.item());
  }
  const Vae still = sn::nn::valid(model);
  const auto originals = images.narrow(0, 0, 4);
  std::printf("images, what is drawn after their names, and images that never were:\n");
  show(originals, width);
  show(sigmoid(still.image(still.latent(originals).first)), width);
  show(sigmoid(still.image(sn::Tensor<2>::randn({4, latent}, device))), width);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Learns to name images by a few numbers, and to draw them from those.", "vae");
  std::string file;
  std::int64_t steps = 1000, batch = 64, latent = 4;
  app.add_option("images", file, "an IDX file of bytes, such as MNIST's; without one images are made");
  app.add_option("--steps", steps)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--latent", latent, "numbers of a name")->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    run(file, steps, batch, latent);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vae: %s\n", error.what());
    return 1;
  }
}
