// A model of 32 layers, as a user writes it, with its training step.
#include <sinter/sinter.h>
namespace sn = sinter;

struct Block {
  sn::nn::LayerNorm norm;
  sn::nn::Linear up, down;
  sn::nn::Gelu act;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const {
    return x + down.forward(act.forward(up.forward(norm.forward(x))));
  }
};

struct Model {
  sn::nn::Linear in, out;
  std::array<Block, 8> blocks;  // of 4 layers
  sn::Tensor<2> forward(sn::Tensor<2> x) const {
    x = in.forward(x);
    for (const Block& block : blocks) x = block.forward(x);
    return out.forward(x);
  }
};

Block block_of(std::int64_t width, const sn::Device& device) {
  return {.norm = sn::nn::LayerNormConfig{.d_model = width}.init(device),
          .up = sn::nn::LinearConfig{.d_in = width, .d_out = 4 * width}.init(device),
          .down = sn::nn::LinearConfig{.d_in = 4 * width, .d_out = width}.init(device),
          .act = {}};
}

int main() {
  const sn::Device device = sn::Device::best().autodiff();
  Model model{
      .in = sn::nn::LinearConfig{.d_in = 28 * 28, .d_out = 64}.init(device),
      .out = sn::nn::LinearConfig{.d_in = 64, .d_out = 10}.init(device),
      .blocks = {block_of(64, device), block_of(64, device), block_of(64, device), block_of(64, device),
                 block_of(64, device), block_of(64, device), block_of(64, device), block_of(64, device)}};
  auto adam = sn::optim::AdamConfig{}.init();
  for (int step = 0; step < 10; ++step) {
    const auto x = sn::Tensor<2>::randn({32, 28 * 28}, device);
    const auto y = sn::Tensor<1, sn::Int>::randint({32}, 0, 10, device);
    const auto loss = sn::nn::cross_entropy(model.forward(x), y);
    adam.step(1e-3, model, loss.backward());
  }
}
