// Layers of images, of sequences with states and lengths, and of attention with masks and a cache.
// docs/layers.md walks through it.
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Images {
  sn::nn::Conv2d conv;
  sn::nn::BatchNorm norm;
  sn::nn::MaxPool2d pool;
  sn::nn::Linear head;

  sn::Tensor<2> forward(const sn::Tensor<4>& x) const {
    const auto y = pool.forward(sn::relu(norm.forward(conv.forward(x))));
    return head.forward(y.flatten<2>());
  }
};

const char* said(bool yes) { return yes ? "yes" : "no"; }

template <std::size_t R>
bool alike(const sn::Tensor<R>& a, const sn::Tensor<R>& b) {
  return (a.inner() - b.inner()).abs().max().item() < 1e-5;
}

}  // namespace

void images(const sn::Device& device) {
  const Images net{.conv = sn::nn::Conv2dConfig{.channels = {3, 8},
                                                .kernel = {3, 3},
                                                .padding = sn::nn::same_padding<2>({3, 3}),
                                                .initializer = sn::nn::init::kaiming_normal()}
                               .init(device),
                   .norm = sn::nn::BatchNormConfig{.channels = 8}.init(device),
                   .pool = {.kernel = {2, 2}},
                   .head = sn::nn::LinearConfig{.d_in = 8 * 4 * 4, .d_out = 10}.init(device)};
  const auto x = sn::Tensor<4>::randn({16, 3, 8, 8}, device.inner());
  std::cout << "images " << to_string(x.shape()) << " become " << to_string(net.forward(x).shape()) << "\n";
  // The forward pass was one of training: it moved the statistics, with which inference computes.
  std::cout << "statistics moved: " << said(net.norm.running_mean.value().abs().max().item() > 0) << "\n";
  const Images still = sn::nn::valid(net);
  std::cout << "inference gives the same each time: " << said(alike(still.forward(x), still.forward(x)))
            << "\n";
}

void sequences(const sn::Device& device) {
  const auto lstm = sn::nn::LstmConfig{.d_in = 3, .d_hidden = 4, .layers = 2}.init(device);
  const auto x = sn::Tensor<3>::randn({2, 6, 3}, device.inner());
  const auto whole = lstm.forward(x);
  std::cout << "output " << to_string(whole.output.shape()) << ", state "
            << to_string(whole.state.hidden.shape()) << "\n";
  // In two pieces: the second begins with the state that the first ended with.
  const auto first = lstm.forward(x.narrow(1, 0, 4));
  const auto second = lstm.forward(x.narrow(1, 4, 2), first.state);
  std::cout << "two pieces give the same: " << said(alike(second.state.hidden, whole.state.hidden)) << "\n";
  // Sequences of 6 and of 3, side by side. What stands behind the end of the second counts for nothing.
  const auto lengths = sn::Tensor<1, sn::Int>::from_data({6, 3}, device.inner());
  const auto packed = lstm.forward(x, lengths);
  const auto alone = lstm.forward(x.narrow(0, 1, 1).narrow(1, 0, 3));
  std::cout << "the shorter one is as it is alone: "
            << said(alike(packed.state.hidden.narrow(1, 1, 1), alone.state.hidden)) << "\n";
}

void attention(const sn::Device& device) {
  const sn::nn::TransformerConfig config{
      .d_model = 8, .d_feed_forward = 16, .heads = 2, .layers = 2, .norm_first = true, .final_norm = true};
  const auto decoder = sn::nn::valid(config.init_decoder(device));
  const auto x = sn::nn::PositionalEncoding{}.forward(sn::Tensor<3>::randn({1, 5, 8}, device.inner()));
  // Over three vectors of an encoder, of which the last is padding.
  const auto memory = sn::Tensor<3>::randn({1, 3, 8}, device.inner());
  const sn::nn::MultiHeadAttentionOptions cross{
      .keys = sn::Tensor<2, sn::Bool>::from_data({{true, true, false}}, device.inner())};
  const auto whole = decoder.forward(x, memory, {.causal = true}, cross);
  // One position after the other, with the keys and values of those before.
  std::vector<sn::nn::KeyValueCache> caches(2, sn::nn::KeyValueCache(8));
  std::vector<sn::Tensor<3>> pieces;
  for (std::int64_t i = 0; i < 5; ++i)
    pieces.push_back(decoder.forward(x.narrow(1, i, 1), memory, caches, cross));
  std::cout << "piece by piece it is the same: " << said(alike(sn::Tensor<3>::cat(pieces, 1), whole)) << "\n";
}

int main() {
  const auto device = sn::Device::best().autodiff();
  device.seed(1);
  images(device);
  sequences(device);
  attention(device);
}
