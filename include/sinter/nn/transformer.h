// Transformers: A. Vaswani et al., "Attention is all you need", 2017.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/attention.h>
#include <sinter/nn/dropout.h>
#include <sinter/nn/linear.h>
#include <sinter/nn/norm.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// What stands between the two linear layers of a feed-forward network.
enum class FeedForwardActivation : std::uint8_t { relu, gelu, silu };

/// linear_outer(dropout(activation(linear_inner(x)))), of each vector by itself.
struct SINTER_API PositionWiseFeedForward {
  Linear linear_inner, linear_outer;
  Dropout dropout;
  FeedForwardActivation activation = FeedForwardActivation::gelu;

  /// (batch, length, d_model) -> the same
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
};

struct SINTER_API PositionWiseFeedForwardConfig {
  std::int64_t d_model, d_feed_forward;
  double dropout = 0.1;
  FeedForwardActivation activation = FeedForwardActivation::gelu;

  PositionWiseFeedForward init(const Device& device, Location where = Location::current()) const;
};

/// Attention over the sequence and a feed-forward network, each with a residual connection and a layer norm:
/// norm(x + f(x)), or with `norm_first` x + f(norm(x)).
struct SINTER_API TransformerEncoderLayer {
  MultiHeadAttention self_attention;
  PositionWiseFeedForward feed_forward;
  LayerNorm norm1, norm2;
  Dropout dropout;
  bool norm_first = false;

  /// (batch, length, d_model) -> the same
  Tensor<3> forward(const Tensor<3>& x, const MultiHeadAttentionOptions& options = {},
                    Location where = Location::current()) const;
  /// The next piece of a sequence, with the keys and values of what was before.
  Tensor<3> forward(const Tensor<3>& x, KeyValueCache& cache, Location where = Location::current()) const;
};

/// As an encoder's, with attention over the encoder's result ("memory") in between.
struct SINTER_API TransformerDecoderLayer {
  MultiHeadAttention self_attention, cross_attention;
  PositionWiseFeedForward feed_forward;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout;
  bool norm_first = false;

  /// x (batch, length, d_model), memory (batch, memory length, d_model) -> as x. `self` is for the attention
  /// over x, causal unless told otherwise, `cross` for that over memory.
  Tensor<3> forward(const Tensor<3>& x, const Tensor<3>& memory,
                    const MultiHeadAttentionOptions& self = {.causal = true},
                    const MultiHeadAttentionOptions& cross = {}, Location where = Location::current()) const;
  Tensor<3> forward(const Tensor<3>& x, const Tensor<3>& memory, KeyValueCache& cache,
                    const MultiHeadAttentionOptions& cross = {}, Location where = Location::current()) const;
};

/// Layers one behind the other. With a cache for each layer, and causal attention, this is a decoder-only
/// language model.
struct SINTER_API TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

  Tensor<3> forward(Tensor<3> x, const MultiHeadAttentionOptions& options = {},
                    Location where = Location::current()) const;
  /// The next piece of a sequence; throws Error unless there is a cache for each layer.
  Tensor<3> forward(Tensor<3> x, std::vector<KeyValueCache>& caches,
                    Location where = Location::current()) const;
};

struct SINTER_API TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;

  Tensor<3> forward(Tensor<3> x, const Tensor<3>& memory,
                    const MultiHeadAttentionOptions& self = {.causal = true},
                    const MultiHeadAttentionOptions& cross = {}, Location where = Location::current()) const;
  Tensor<3> forward(Tensor<3> x, const Tensor<3>& memory, std::vector<KeyValueCache>& caches,
                    const MultiHeadAttentionOptions& cross = {}, Location where = Location::current()) const;
};

struct SINTER_API TransformerConfig {
  std::int64_t d_model, d_feed_forward, heads, layers;
  double dropout = 0.1;
  bool norm_first = false;
  /// A layer norm behind the last layer; usual with norm_first.
  bool final_norm = false;
  FeedForwardActivation activation = FeedForwardActivation::gelu;
  double epsilon = 1e-5;

  /// Throws ShapeError when a size is not positive or the heads do not divide d_model.
  TransformerEncoder init_encoder(const Device& device, Location where = Location::current()) const;
  TransformerDecoder init_decoder(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
