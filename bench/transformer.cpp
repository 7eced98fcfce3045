// The GPT of bench/peers_models.py, as a user of the library's layers would write it.
#include "transformer.h"

#include <cstdint>
#include <memory>

#include <sinter/sinter.h>

namespace bench {

namespace sn = sinter;
using sn::Tensor;

namespace {

constexpr std::int64_t kWidth = 256, kTokens = 256, kBatch = 8, kLength = 128;

struct Gpt {
  sn::nn::Embedding tokens, positions;
  sn::nn::TransformerEncoder blocks;
  sn::nn::Linear head;

  Tensor<2> forward(const Tensor<2, sn::Int>& x, const Tensor<1, sn::Int>& places) const {
    const auto embedded = tokens.forward(x) + positions.forward(places).unsqueeze(0);
    return head.forward(blocks.forward(embedded, {.causal = true})).reshape({kBatch * kLength, kTokens});
  }
};

}  // namespace

std::function<void()> transformer_step(const sn::Device& plain) {
  const sn::Device device = plain.autodiff();
  auto model = std::make_shared<Gpt>(
      Gpt{sn::nn::EmbeddingConfig{.n_embedding = kTokens, .d_model = kWidth}.init(device),
          sn::nn::EmbeddingConfig{.n_embedding = kLength, .d_model = kWidth}.init(device),
          sn::nn::TransformerConfig{.d_model = kWidth,
                                    .d_feed_forward = 4 * kWidth,
                                    .heads = 4,
                                    .layers = 4,
                                    .dropout = 0,
                                    .norm_first = true,
                                    .final_norm = true}
              .init_encoder(device),
          sn::nn::LinearConfig{.d_in = kWidth, .d_out = kTokens}.init(device)});
  auto adam = std::make_shared<sn::optim::Adam>(sn::optim::AdamWConfig{}.init());
  const auto draw = [&] {
    const auto tokens = (Tensor<1>::rand({kBatch * kLength}, device) * double{kTokens}).floor().to_int();
    tokens.sync();
    return tokens;
  };
  const auto x = draw().reshape({kBatch, kLength});
  const auto y = draw(), places = Tensor<1, sn::Int>::arange(0, kLength, device);
  return [=] {
    auto gradients = sn::nn::cross_entropy(model->forward(x, places), y).backward();
    adam->step(1e-3, *model, std::move(gradients));
  };
}

}  // namespace bench
