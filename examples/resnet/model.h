// ResNet-18 for small images: K. He et al., "Deep residual learning for image recognition", CVPR 2016, with
// the first layer of its section 4.2, which leaves an image of some 30 pixels its size. Fields have
// torchvision's names, so that files have its paths: "layer1.0.conv1.weight", "layer2.0.downsample.0.weight".
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <sinter/sinter.h>

namespace resnet {

namespace sn = sinter;

struct Config {
  std::int64_t channels = 1, classes = 10, width = 64;
};

inline sn::nn::Conv2d make_conv(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                                const sn::Device& device) {
  const std::int64_t padding = kernel / 2;
  return sn::nn::Conv2dConfig{.channels = {in, out},
                              .kernel = {kernel, kernel},
                              .stride = {stride, stride},
                              .padding = {padding, padding},
                              .bias = false,
                              .initializer = sn::nn::init::kaiming_normal(std::sqrt(2.0), sn::nn::Fan::out)}
      .init(device);
}

inline sn::nn::BatchNorm make_norm(std::int64_t channels, const sn::Device& device) {
  return sn::nn::BatchNormConfig{.channels = channels}.init(device);
}

struct Block {
  sn::nn::Conv2d conv1;
  sn::nn::BatchNorm bn1;
  sn::nn::Conv2d conv2;
  sn::nn::BatchNorm bn2;
  // Where the result has another shape than the input.
  std::optional<std::tuple<sn::nn::Conv2d, sn::nn::BatchNorm>> downsample;

  sn::Tensor<4> forward(const sn::Tensor<4>& x) const {
    const auto y = bn2.forward(conv2.forward(relu(bn1.forward(conv1.forward(x)))));
    if (!downsample) return relu(y + x);
    const auto& [conv, norm] = *downsample;
    return relu(y + norm.forward(conv.forward(x)));
  }
};

inline Block make_block(std::int64_t in, std::int64_t out, std::int64_t stride, const sn::Device& device) {
  Block block{.conv1 = make_conv(in, out, 3, stride, device),
              .bn1 = make_norm(out, device),
              .conv2 = make_conv(out, out, 3, 1, device),
              .bn2 = make_norm(out, device),
              .downsample = std::nullopt};
  if (stride != 1 || in != out)
    block.downsample.emplace(make_conv(in, out, 1, stride, device), make_norm(out, device));
  return block;
}

struct Resnet {
  sn::nn::Conv2d conv1;
  sn::nn::BatchNorm bn1;
  std::vector<Block> layer1, layer2, layer3, layer4;
  sn::nn::Linear fc;

  // (n, channels, height, width) -> (n, classes)
  sn::Tensor<2> forward(const sn::Tensor<4>& images) const {
    auto x = relu(bn1.forward(conv1.forward(images)));
    for (const auto* layer : {&layer1, &layer2, &layer3, &layer4})
      for (const Block& block : *layer) x = block.forward(x);
    return fc.forward(x.mean({2, 3}).squeeze({2, 3}));
  }
};

inline Resnet make(const Config& config, const sn::Device& device) {
  const std::int64_t w = config.width;
  const auto layer = [&](std::int64_t in, std::int64_t out, std::int64_t stride) {
    return std::vector<Block>{make_block(in, out, stride, device), make_block(out, out, 1, device)};
  };
  return {.conv1 = make_conv(config.channels, w, 3, 1, device),
          .bn1 = make_norm(w, device),
          .layer1 = layer(w, w, 1),
          .layer2 = layer(w, 2 * w, 2),
          .layer3 = layer(2 * w, 4 * w, 2),
          .layer4 = layer(4 * w, 8 * w, 2),
          .fc = sn::nn::LinearConfig{.d_in = 8 * w, .d_out = config.classes}.init(device)};
}

}  // namespace resnet
