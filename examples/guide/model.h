// The network: two convolutions and two fully connected layers.
#pragma once

#include <cstdint>

#include <sinter/nn.h>
#include <sinter/tensor.h>

namespace guide {

namespace sn = sinter;

// A plain struct is a module: optimizers and saving find all tensors in it, at any depth.
struct Cnn {
  sn::nn::Conv2d conv1, conv2;
  sn::nn::AdaptiveAvgPool2d pool;
  sn::nn::Dropout dropout;
  sn::nn::Linear linear1, linear2;
  sn::nn::Relu activation;

  // Images (n, 1, h, w), at least 12 pixels each way -> logits (n, classes).
  sn::Tensor<2> forward(const sn::Tensor<4>& images) const {
    auto x = dropout.forward(conv1.forward(images));            // (n, 8, h - 2, w - 2)
    x = activation.forward(dropout.forward(conv2.forward(x)));  // (n, 16, h - 4, w - 4)
    x = pool.forward(x);                                        // (n, 16, 8, 8)
    auto y = dropout.forward(linear1.forward(x.flatten<2>()));  // (n, hidden)
    return linear2.forward(activation.forward(y));
  }
};

struct CnnConfig {
  std::int64_t classes = 10, hidden = 512;
  double dropout = 0.5;

  Cnn init(const sn::Device& device) const {
    return {.conv1 = sn::nn::Conv2dConfig{.channels = {1, 8}, .kernel = {3, 3}}.init(device),
            .conv2 = sn::nn::Conv2dConfig{.channels = {8, 16}, .kernel = {3, 3}}.init(device),
            .pool = {.output = {8, 8}},
            .dropout = sn::nn::DropoutConfig{.probability = dropout}.init(device),
            .linear1 = sn::nn::LinearConfig{.d_in = 16 * 8 * 8, .d_out = hidden}.init(device),
            .linear2 = sn::nn::LinearConfig{.d_in = hidden, .d_out = classes}.init(device),
            .activation = {}};
  }
};

}  // namespace guide
