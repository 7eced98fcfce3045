// The GPT of bench/peers_models.py, as a user of the library's layers would write it.
#include "transformer.h"

#include <cstdint>
#include <utility>

#include <sinter/sinter.h>

#include "training.h"

namespace bench {

namespace sn = sinter;
using sn::Tensor;

namespace {

struct Gpt {
  sn::nn::Embedding tokens, positions;
  sn::nn::TransformerEncoder blocks;
  sn::nn::Linear head;

  /// (batch, length) to the logits of all positions, one below the other.
  Tensor<2> forward(const Tensor<2, sn::Int>& x, const Tensor<1, sn::Int>& places) const {
    const auto [batch, length] = x.dims();
    const auto embedded = tokens.forward(x) + positions.forward(places).unsqueeze(0);
    return head.forward(blocks.forward(embedded, {.causal = true}).reshape({batch * length, -1}));
  }
};

}  // namespace

std::function<void()> transformer_step(const sn::Device& plain, const GptSize& size,
                                       std::optional<sn::DType> autocast) {
  const sn::Device device = plain.autodiff();
  Gpt model{sn::nn::EmbeddingConfig{.n_embedding = size.tokens, .d_model = size.width}.init(device),
            sn::nn::EmbeddingConfig{.n_embedding = size.length, .d_model = size.width}.init(device),
            sn::nn::TransformerConfig{.d_model = size.width,
                                      .d_feed_forward = 4 * size.width,
                                      .heads = size.heads,
                                      .layers = size.layers,
                                      .dropout = 0,
                                      .norm_first = true,
                                      .final_norm = true}
                .init_encoder(device),
            sn::nn::LinearConfig{.d_in = size.width, .d_out = size.tokens, .bias = false}.init(device)};
  const std::int64_t positions = size.batch * size.length;
  const auto draw = [&] {
    const auto tokens =
        (Tensor<1>::rand({positions}, device) * static_cast<double>(size.tokens)).floor().to_int();
    tokens.sync();
    return tokens;
  };
  const auto x = draw().reshape({size.batch, size.length});
  const auto y = draw(), places = Tensor<1, sn::Int>::arange(0, size.length, device);
  return training_step(std::move(model), sn::optim::AdamWConfig{}.init(), 1e-3, autocast,
                       [=](const Gpt& gpt) { return sn::nn::cross_entropy(gpt.forward(x, places), y); });
}

}  // namespace bench
