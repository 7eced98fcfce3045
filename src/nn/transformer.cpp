// Transformers: attention and feed-forward networks with residual connections.
#include <string>
#include <utility>

#include <sinter/functions/activation.h>
#include <sinter/nn/transformer.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

template <class Sublayer>
Tensor<3> residual(const Tensor<3>& x, const LayerNorm& norm, const Dropout& dropout, bool norm_first,
                   const Location& where, Sublayer&& sublayer) {
  const Tensor<3> input = norm_first ? norm.forward(x, where) : x;
  const Tensor<3> y = dropout.forward(sublayer(input), where);
  const Tensor<3> sum = x.add({y, where});
  return norm_first ? sum : norm.forward(sum, where);
}

void require_caches(std::size_t caches, std::size_t layers, const Location& where) {
  if (caches != layers)
    throw Error("[transformer] there are " + std::to_string(caches) + " caches for " +
                    std::to_string(layers) + " layers",
                where);
}

template <class Attention>
Tensor<3> encode(const TransformerEncoderLayer& layer, const Tensor<3>& x, const Location& where,
                 Attention&& attention) {
  const Tensor<3> y = residual(x, layer.norm1, layer.dropout, layer.norm_first, where, attention);
  return residual(y, layer.norm2, layer.dropout, layer.norm_first, where,
                  [&](const Tensor<3>& input) { return layer.feed_forward.forward(input, where); });
}

template <class Attention>
Tensor<3> decode(const TransformerDecoderLayer& layer, const Tensor<3>& x, const Tensor<3>& memory,
                 const MultiHeadAttentionOptions& cross, const Location& where, Attention&& attention) {
  Tensor<3> y = residual(x, layer.norm1, layer.dropout, layer.norm_first, where, attention);
  y = residual(y, layer.norm2, layer.dropout, layer.norm_first, where, [&](const Tensor<3>& input) {
    return layer.cross_attention.forward(input, memory, memory, cross, where);
  });
  return residual(y, layer.norm3, layer.dropout, layer.norm_first, where,
                  [&](const Tensor<3>& input) { return layer.feed_forward.forward(input, where); });
}

}  // namespace

Tensor<3> PositionWiseFeedForward::forward(const Tensor<3>& x, Location where) const {
  Tensor<3> y = linear_inner.forward(x, where);
  switch (activation) {
    case FeedForwardActivation::relu: y = relu(y, where); break;
    case FeedForwardActivation::gelu: y = gelu(y, where); break;
    case FeedForwardActivation::silu: y = silu(y, where); break;
  }
  return linear_outer.forward(dropout.forward(y, where), where);
}

PositionWiseFeedForward PositionWiseFeedForwardConfig::init(const Device& device, Location where) const {
  return {.linear_inner = LinearConfig{.d_in = d_model, .d_out = d_feed_forward}.init(device, where),
          .linear_outer = LinearConfig{.d_in = d_feed_forward, .d_out = d_model}.init(device, where),
          .dropout = DropoutConfig{dropout}.init(device, where),
          .activation = activation};
}

Tensor<3> TransformerEncoderLayer::forward(const Tensor<3>& x, const MultiHeadAttentionOptions& options,
                                           Location where) const {
  return encode(*this, x, where,
                [&](const Tensor<3>& input) { return self_attention.forward(input, options, where); });
}

Tensor<3> TransformerEncoderLayer::forward(const Tensor<3>& x, KeyValueCache& cache, Location where) const {
  return encode(*this, x, where,
                [&](const Tensor<3>& input) { return self_attention.forward(input, cache, where); });
}

Tensor<3> TransformerDecoderLayer::forward(const Tensor<3>& x, const Tensor<3>& memory,
                                           const MultiHeadAttentionOptions& self,
                                           const MultiHeadAttentionOptions& cross, Location where) const {
  return decode(*this, x, memory, cross, where,
                [&](const Tensor<3>& input) { return self_attention.forward(input, self, where); });
}

Tensor<3> TransformerDecoderLayer::forward(const Tensor<3>& x, const Tensor<3>& memory, KeyValueCache& cache,
                                           const MultiHeadAttentionOptions& cross, Location where) const {
  return decode(*this, x, memory, cross, where,
                [&](const Tensor<3>& input) { return self_attention.forward(input, cache, where); });
}

Tensor<3> TransformerEncoder::forward(Tensor<3> x, const MultiHeadAttentionOptions& options,
                                      Location where) const {
  for (const TransformerEncoderLayer& layer : layers) x = layer.forward(x, options, where);
  return norm ? norm->forward(x, where) : x;
}

Tensor<3> TransformerEncoder::forward(Tensor<3> x, std::vector<KeyValueCache>& caches, Location where) const {
  require_caches(caches.size(), layers.size(), where);
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].forward(x, caches[i], where);
  return norm ? norm->forward(x, where) : x;
}

Tensor<3> TransformerDecoder::forward(Tensor<3> x, const Tensor<3>& memory,
                                      const MultiHeadAttentionOptions& self,
                                      const MultiHeadAttentionOptions& cross, Location where) const {
  for (const TransformerDecoderLayer& layer : layers) x = layer.forward(x, memory, self, cross, where);
  return norm ? norm->forward(x, where) : x;
}

Tensor<3> TransformerDecoder::forward(Tensor<3> x, const Tensor<3>& memory,
                                      std::vector<KeyValueCache>& caches,
                                      const MultiHeadAttentionOptions& cross, Location where) const {
  require_caches(caches.size(), layers.size(), where);
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].forward(x, memory, caches[i], cross, where);
  return norm ? norm->forward(x, where) : x;
}

TransformerEncoder TransformerConfig::init_encoder(const Device& device, Location where) const {
  detail::require_positive("transformer", "the number of layers", layers, where);
  const MultiHeadAttentionConfig attention{.d_model = d_model, .heads = heads, .dropout = dropout};
  const PositionWiseFeedForwardConfig network{d_model, d_feed_forward, dropout, activation};
  const LayerNormConfig norm{.d_model = d_model, .epsilon = epsilon};
  TransformerEncoder encoder;
  for (std::int64_t i = 0; i < layers; ++i)
    encoder.layers.push_back({.self_attention = attention.init(device, where),
                              .feed_forward = network.init(device, where),
                              .norm1 = norm.init(device, where),
                              .norm2 = norm.init(device, where),
                              .dropout = DropoutConfig{dropout}.init(device, where),
                              .norm_first = norm_first});
  if (final_norm) encoder.norm = norm.init(device, where);
  return encoder;
}

TransformerDecoder TransformerConfig::init_decoder(const Device& device, Location where) const {
  detail::require_positive("transformer", "the number of layers", layers, where);
  const MultiHeadAttentionConfig attention{.d_model = d_model, .heads = heads, .dropout = dropout};
  const PositionWiseFeedForwardConfig network{d_model, d_feed_forward, dropout, activation};
  const LayerNormConfig norm{.d_model = d_model, .epsilon = epsilon};
  TransformerDecoder decoder;
  for (std::int64_t i = 0; i < layers; ++i)
    decoder.layers.push_back({.self_attention = attention.init(device, where),
                              .cross_attention = attention.init(device, where),
                              .feed_forward = network.init(device, where),
                              .norm1 = norm.init(device, where),
                              .norm2 = norm.init(device, where),
                              .norm3 = norm.init(device, where),
                              .dropout = DropoutConfig{dropout}.init(device, where),
                              .norm_first = norm_first});
  if (final_norm) decoder.norm = norm.init(device, where);
  return decoder;
}

}  // namespace sinter::nn
