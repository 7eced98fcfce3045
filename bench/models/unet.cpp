// O. Ronneberger et al., "U-Net: convolutional networks for biomedical image segmentation", 2015, with
// padding and batch norms: the Unet of bench/peers_models.py.
#include <cstdint>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

#include "training.h"
#include "vision.h"

namespace bench {
namespace {

namespace sn = sinter;
using sn::Device;
using sn::Tensor;

constexpr std::int64_t kImages = 16, kPixels = 64, kWidest = 1024, kNarrowest = 64;

/// Two convolutions of 3 x 3, each with a norm behind it.
struct Pair {
  sn::nn::Conv2d conv1, conv2;
  sn::nn::BatchNorm norm1, norm2;

  Tensor<4> forward(const Tensor<4>& x) const {
    return sn::relu(norm2.forward(conv2.forward(sn::relu(norm1.forward(conv1.forward(x))))));
  }
};

Pair make_pair(std::int64_t in, std::int64_t out, const Device& device) {
  const auto conv = [&](std::int64_t from) {
    return sn::nn::Conv2dConfig{.channels = {from, out}, .kernel = {3, 3}, .padding = {1, 1}, .bias = false}
        .init(device);
  };
  const auto norm = [&] { return sn::nn::BatchNormConfig{.channels = out}.init(device); };
  return {conv(in), conv(out), norm(), norm()};
}

struct Up {
  sn::nn::ConvTranspose2d wider;
  Pair pair;

  Tensor<4> forward(const Tensor<4>& x, const Tensor<4>& skipped) const {
    return pair.forward(sn::cat({skipped, wider.forward(x)}, 1));
  }
};

struct Unet {
  std::vector<Pair> down;
  std::vector<Up> up;
  sn::nn::Conv2d out;

  Tensor<4> forward(const Tensor<4>& images) const {
    std::vector<Tensor<4>> levels{down[0].forward(images)};
    for (std::size_t i = 1; i < down.size(); ++i)
      levels.push_back(
          down[i].forward(sn::nn::MaxPool2d{.kernel = {2, 2}, .stride = {{2, 2}}}.forward(levels.back())));
    Tensor<4> x = levels.back();
    for (std::size_t i = 0; i < up.size(); ++i) x = up[i].forward(x, levels[levels.size() - 2 - i]);
    return out.forward(x);
  }
};

Unet make_unet(const Device& device) {
  Unet model{{make_pair(3, kNarrowest, device)},
             {},
             sn::nn::Conv2dConfig{.channels = {kNarrowest, 3}, .kernel = {1, 1}}.init(device)};
  for (std::int64_t width = kNarrowest; width < kWidest; width *= 2)
    model.down.push_back(make_pair(width, 2 * width, device));
  for (std::int64_t width = kWidest; width > kNarrowest; width /= 2)
    model.up.push_back(
        {sn::nn::ConvTranspose2dConfig{.channels = {width, width / 2}, .kernel = {2, 2}, .stride = {2, 2}}
             .init(device),
         make_pair(width, width / 2, device)});
  return model;
}

}  // namespace

std::function<void()> unet_step(const Device& plain, std::optional<sn::DType> autocast) {
  const Device device = plain.autodiff();
  const auto images = [&] { return Tensor<4>::randn({kImages, 3, kPixels, kPixels}, device); };
  const auto x = images(), y = images();
  x.sync(), y.sync();
  return training_step(make_unet(device), sn::optim::AdamWConfig{}.init(), 1e-3, autocast,
                       [=](const Unet& unet) { return sn::nn::mse(unet.forward(x), y); });
}

}  // namespace bench
