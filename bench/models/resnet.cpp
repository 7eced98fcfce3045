// ResNets of He et al. 2015, written like a user would: plain modules, batch norm by ops. In two forms: that
// for small images, whose first convolution has 3 x 3 and no pooling behind it, and that of torchvision,
// which leaves a sixteenth of the pixels.
#include <array>
#include <cstdint>
#include <optional>
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

struct Layer {
  sn::nn::Conv2d conv;
  BatchNorm norm;

  Tensor<4> forward(const Tensor<4>& x) const { return norm.forward(conv.forward(x)); }
};

Layer layer(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
            const Device& device) {
  return {sn::nn::Conv2dConfig{.channels = {in, out},
                               .kernel = {kernel, kernel},
                               .stride = {stride, stride},
                               .padding = {kernel / 2, kernel / 2},
                               .bias = false}
              .init(device),
          BatchNorm(out, device)};
}

/// Convolutions one behind the other, each with a norm behind it; what comes in is added to their result.
struct Block {
  std::vector<Layer> layers;
  std::optional<Layer> shortcut;

  Tensor<4> forward(const Tensor<4>& x) const {
    Tensor<4> y = x;
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) y = sn::relu(layers[i].forward(y));
    return sn::relu(layers.back().forward(y) + (shortcut ? shortcut->forward(x) : x));
  }
};

struct ResNet {
  Layer first;
  std::vector<Block> blocks;
  sn::nn::Linear out;
  bool pools = false;

  Tensor<2> forward(const Tensor<4>& images) const {
    Tensor<4> x = sn::relu(first.forward(images));
    if (pools) x = sn::nn::MaxPool2d{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}}.forward(x);
    for (const Block& block : blocks) x = block.forward(x);
    return out.forward(x.mean({2, 3}).flatten<2>());
  }
};

/// `blocks` of each of four widths. Blocks have two convolutions of 3 x 3, or `bottleneck`: one of 3 x 3
/// between two of 1 x 1, of which the last has four times the channels.
ResNet make_resnet(const Device& device, const std::array<int, 4>& blocks, bool bottleneck, bool strided,
                   std::int64_t classes) {
  const std::int64_t last = bottleneck ? 4 * 512 : 512;
  ResNet model{strided ? layer(3, 64, 7, 2, device) : layer(3, 64, 3, 1, device),
               {},
               sn::nn::LinearConfig{.d_in = last, .d_out = classes}.init(device),
               strided};
  std::int64_t in = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (int number = 0; number < blocks[stage]; ++number) {
      const std::int64_t width = 64 << stage, out = bottleneck ? 4 * width : width;
      const std::int64_t stride = number == 0 && stage > 0 ? 2 : 1;
      Block block;
      if (bottleneck)
        block.layers = {layer(in, width, 1, 1, device), layer(width, width, 3, stride, device),
                        layer(width, out, 1, 1, device)};
      else
        block.layers = {layer(in, width, 3, stride, device), layer(width, width, 3, 1, device)};
      if (stride != 1 || in != out) block.shortcut = layer(in, out, 1, stride, device);
      model.blocks.push_back(std::move(block));
      in = out;
    }
  return model;
}

std::function<void()> step_of(ResNet model, std::int64_t images, std::int64_t pixels, std::int64_t classes,
                              std::optional<sn::DType> autocast, const Device& device) {
  const auto x = Tensor<4>::randn({images, 3, pixels, pixels}, device);
  const auto y = (Tensor<1>::rand({images}, device) * static_cast<double>(classes)).floor().to_int();
  x.sync(), y.sync();
  return training_step(std::move(model), sn::optim::SgdConfig{.momentum = 0.9}.init(), 0.1, autocast,
                       [=](const ResNet& net) { return sn::nn::cross_entropy(net.forward(x), y); });
}

}  // namespace

std::function<void()> resnet18_step(const Device& plain, std::optional<sn::DType> autocast, bool strided) {
  const Device device = plain.autodiff();
  return step_of(make_resnet(device, {2, 2, 2, 2}, false, strided, 10), plain.name() == "host" ? 16 : 256, 32,
                 10, autocast, device);
}

std::function<void()> resnet50_step(const Device& plain, std::optional<sn::DType> autocast) {
  const Device device = plain.autodiff();
  return step_of(make_resnet(device, {3, 4, 6, 3}, true, true, 1000), 64, 224, 1000, autocast, device);
}

}  // namespace bench
