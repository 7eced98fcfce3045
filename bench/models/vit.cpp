// A. Dosovitskiy et al., "An image is worth 16x16 words", 2020: the Vit of bench/peers_models.py.
#include <cstdint>
#include <utility>

#include <sinter/sinter.h>

#include "training.h"
#include "vision.h"

namespace bench {
namespace {

namespace sn = sinter;
using sn::Tensor;

constexpr std::int64_t kImages = 64, kPixels = 224, kPatch = 16, kWidth = 384, kClasses = 1000;
constexpr std::int64_t kPatches = (kPixels / kPatch) * (kPixels / kPatch);

struct Vit {
  sn::nn::Conv2d patches;
  Tensor<3> first, positions;  // (1, 1, width), (1, patches + 1, width)
  sn::nn::TransformerEncoder blocks;
  sn::nn::Linear head;

  Tensor<2> forward(const Tensor<4>& images) const {
    const std::int64_t batch = images.shape()[0];
    const Tensor<3> words = patches.forward(images).reshape({batch, kWidth, kPatches}).transpose(1, 2);
    const Tensor<3> x = sn::cat({first.expand({batch, 1, kWidth}), words}, 1) + positions;
    return head.forward(blocks.forward(x).narrow(1, 0, 1).reshape({batch, kWidth}));
  }
};

}  // namespace

std::function<void()> vit_step(const sn::Device& plain, std::optional<sn::DType> autocast) {
  const sn::Device device = plain.autodiff();
  const auto parameter = [&](std::int64_t rows) {
    return (Tensor<3>::randn({1, rows, kWidth}, device) * 0.02).detach().require_grad();
  };
  Vit model{
      sn::nn::Conv2dConfig{.channels = {3, kWidth}, .kernel = {kPatch, kPatch}, .stride = {kPatch, kPatch}}
          .init(device),
      parameter(1), parameter(kPatches + 1),
      sn::nn::TransformerConfig{.d_model = kWidth,
                                .d_feed_forward = 4 * kWidth,
                                .heads = 6,
                                .layers = 12,
                                .dropout = 0,
                                .norm_first = true,
                                .final_norm = true}
          .init_encoder(device),
      sn::nn::LinearConfig{.d_in = kWidth, .d_out = kClasses}.init(device)};
  const auto x = Tensor<4>::randn({kImages, 3, kPixels, kPixels}, device);
  const auto y = (Tensor<1>::rand({kImages}, device) * static_cast<double>(kClasses)).floor().to_int();
  x.sync(), y.sync();
  return training_step(std::move(model), sn::optim::AdamWConfig{}.init(), 1e-3, autocast,
                       [=](const Vit& vit) { return sn::nn::cross_entropy(vit.forward(x), y); });
}

}  // namespace bench
