// He et al. 2015, in two forms: that for small images, whose first convolution has 3 x 3 and no pooling
// behind it, and that of torchvision, which leaves a sixteenth of the pixels.
#include "resnet.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace bench {
namespace {

namespace sn = sinter;
using sn::Device;
using sn::Tensor;

/// Normalises each channel by the batch at hand, as in training.
struct BatchNorm {
  Tensor<1> weight, bias;

  BatchNorm(std::int64_t channels, const Device& device)
      : weight(Tensor<1>::ones({channels}, device).require_grad()),
        bias(Tensor<1>::zeros({channels}, device).require_grad()) {}
  Tensor<4> forward(const Tensor<4>& x) const {
    const std::int64_t channels = weight.shape()[0];
    const Tensor<4> scaled = (x - x.mean({0, 2, 3})) * (x.var({0, 2, 3}, 0) + 1e-5).rsqrt();
    return scaled * weight.reshape({1, channels, 1, 1}) + bias.reshape({1, channels, 1, 1});
  }
  template <class F>
  void visit_fields(F&& f) {
    f("weight", weight), f("bias", bias);
  }
  template <class F>
  void visit_fields(F&& f) const {
    f("weight", weight), f("bias", bias);
  }
};

sn::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                           const Device& device) {
  return sn::nn::Conv2dConfig{.channels = {in, out},
                              .kernel = {kernel, kernel},
                              .stride = {stride, stride},
                              .padding = {kernel / 2, kernel / 2},
                              .bias = false}
      .init(device);
}

struct Block {
  sn::nn::Conv2d conv1, conv2;
  BatchNorm norm1, norm2;
  std::optional<std::pair<sn::nn::Conv2d, BatchNorm>> shortcut;

  Tensor<4> forward(const Tensor<4>& x) const {
    const Tensor<4> y = norm2.forward(conv2.forward(sn::relu(norm1.forward(conv1.forward(x)))));
    return sn::relu(y + (shortcut ? shortcut->second.forward(shortcut->first.forward(x)) : x));
  }
};

Block make_block(std::int64_t in, std::int64_t out, std::int64_t stride, const Device& device) {
  Block block{convolution(in, out, 3, stride, device), convolution(out, out, 3, 1, device),
              BatchNorm(out, device), BatchNorm(out, device), std::nullopt};
  if (stride != 1 || in != out)
    block.shortcut.emplace(convolution(in, out, 1, stride, device), BatchNorm(out, device));
  return block;
}

struct ResNet18 {
  sn::nn::Conv2d conv;
  BatchNorm norm;
  std::vector<Block> blocks;
  sn::nn::Linear out;
  bool pools = false;

  Tensor<2> forward(const Tensor<4>& images) const {
    Tensor<4> x = sn::relu(norm.forward(conv.forward(images)));
    if (pools) x = sn::nn::MaxPool2d{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}}.forward(x);
    for (const Block& block : blocks) x = block.forward(x);
    return out.forward(x.mean({2, 3}).flatten<2>());
  }
};

ResNet18 make_resnet18(const Device& device, bool strided) {
  ResNet18 model{strided ? convolution(3, 64, 7, 2, device) : convolution(3, 64, 3, 1, device),
                 BatchNorm(64, device),
                 {},
                 sn::nn::LinearConfig{.d_in = 512, .d_out = 10}.init(device),
                 strided};
  std::int64_t channels = 64;
  for (const std::int64_t wider : {64, 128, 256, 512})
    for (int number = 0; number < 2; ++number) {
      model.blocks.push_back(make_block(channels, wider, number == 0 && wider != 64 ? 2 : 1, device));
      channels = wider;
    }
  return model;
}

}  // namespace

std::function<void()> resnet18_step(const Device& plain, std::optional<sn::DType> autocast, bool strided) {
  const Device device = plain.autodiff();
  const std::int64_t images = plain.name() == "host" ? 16 : 256;
  const auto model = std::make_shared<ResNet18>(make_resnet18(device, strided));
  const auto sgd = std::make_shared<sn::optim::Sgd>(sn::optim::SgdConfig{.momentum = 0.9}.init());
  const auto x = Tensor<4>::randn({images, 3, 32, 32}, device);
  const auto y = (Tensor<1>::rand({images}, device) * 10.0).floor().to_int();
  x.sync(), y.sync();
  return [=] {
    const auto loss = [&] {
      const sn::Autocast mixed(autocast);
      return sn::nn::cross_entropy(model->forward(x), y);
    };
    auto gradients = loss().backward();
    sgd->step(0.1, *model, std::move(gradients));
  };
}

}  // namespace bench
