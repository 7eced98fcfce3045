// GPT-2's network for one new position, the Decoder of bench/peers_models.py, as a user would write it.
#include "decode.h"

#include <memory>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace bench {

namespace sn = sinter;
using sn::Tensor;

namespace {

struct Block {
  sn::nn::LayerNorm before_attention, before_mlp;
  sn::nn::Linear qkv, out, up, down;

  // x (batch, width)
  Tensor<2> forward(const Tensor<2>& x, std::int64_t heads, sn::nn::KeyValueCache& cache) const {
    const auto [batch, width] = x.dims();
    const auto all_heads = qkv.forward(before_attention.forward(x)).reshape({batch, 3, heads, 1, -1});
    const auto part = [&](std::int64_t k) { return Tensor<4>(all_heads(sn::all, k)); };
    const std::int64_t position = cache.position();
    const auto [keys, values] = cache.append(part(1), part(2));
    const auto y =
        sn::nn::scaled_dot_product_attention(part(0), keys, values, {.causal = true, .offset = position});
    const auto z = x + out.forward(y.reshape({batch, width}));
    return z + down.forward(sn::gelu_tanh(up.forward(before_mlp.forward(z))));
  }
};

struct Decoder {
  sn::nn::Embedding tokens, positions;
  std::vector<Block> blocks;
  sn::nn::LayerNorm last;

  // (batch), the tokens at the caches' position -> logits (batch, tokens) of the next ones. The output layer
  // is the table of tokens.
  Tensor<2> forward(const Tensor<1, sn::Int>& token, std::int64_t heads,
                    std::vector<sn::nn::KeyValueCache>& caches) const {
    const std::int64_t position = caches[0].position();
    Tensor<2> x = Tensor<2>(tokens.weight(token)) + positions.weight.narrow(0, position, 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i].forward(x, heads, caches[i]);
    return last.forward(x).matmul(tokens.weight.t());
  }
};

Decoder make_decoder(const sn::Device& device, const GptSize& size) {
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return sn::nn::LinearConfig{.d_in = in, .d_out = out}.init(device);
  };
  const auto norm = [&] { return sn::nn::LayerNormConfig{.d_model = size.width}.init(device); };
  const auto table = [&](std::int64_t rows) {
    return sn::nn::EmbeddingConfig{.n_embedding = rows, .d_model = size.width}.init(device);
  };
  Decoder decoder{table(size.tokens), table(size.length), {}, norm()};
  for (std::int64_t i = 0; i < size.layers; ++i)
    decoder.blocks.push_back({norm(), norm(), linear(size.width, 3 * size.width),
                              linear(size.width, size.width), linear(size.width, 4 * size.width),
                              linear(4 * size.width, size.width)});
  return decoder;
}

struct State {
  Decoder decoder;
  std::vector<sn::nn::KeyValueCache> caches;
  Tensor<1, sn::Int> token;
};

}  // namespace

std::function<void()> decode_tokens(const sn::Device& device, const GptSize& size, sn::DType dtype,
                                    std::int64_t first) {
  auto state = std::make_shared<State>();
  state->decoder = make_decoder(device, size);
  sn::visit_parameters(state->decoder, [&](std::string_view, auto& parameter) {
    parameter = parameter.inner().cast(dtype);
    parameter.sync();
  });
  state->caches.assign(static_cast<std::size_t>(size.layers), sn::nn::KeyValueCache(size.length));
  const std::int64_t d = size.width / size.heads;
  for (sn::nn::KeyValueCache& cache : state->caches) {  // positions that a prompt has had
    const auto earlier = [&] {
      return Tensor<4>::randn({size.batch, size.heads, std::max<std::int64_t>(first, 1), d}, device)
          .cast(dtype);
    };
    const auto [keys, values] = cache.append(earlier(), earlier());
    keys.sync();
    values.sync();
    cache.truncate(first);
  }
  state->token = Tensor<1, sn::Int>::zeros({size.batch}, device);
  state->token.sync();
  return [=] {
    State& s = *state;
    if (s.caches[0].position() == size.length)
      for (sn::nn::KeyValueCache& cache : s.caches) cache.truncate(first);
    s.token = s.decoder.forward(s.token, size.heads, s.caches).argmax(1, sn::drop);
    s.token.sync();
  };
}

}  // namespace bench
