// Attention: of queries over keys and values, of several heads, and with a cache of earlier positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/dropout.h>
#include <sinter/nn/linear.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
struct AttentionArguments {
  const AnyTensor* mask = nullptr;
  const AnyTensor* bias = nullptr;
  bool causal = false;
  std::int64_t offset = 0;
  std::optional<double> scale = std::nullopt;  // 1 / sqrt(d)
  double softcap = 0;
  const Dropout* dropout = nullptr;
};
SINTER_API AnyTensor attention(const AnyTensor& q, const AnyTensor& k, const AnyTensor& v,
                               const AttentionArguments& arguments, Location where);
}  // namespace detail

template <std::size_t R>
struct AttentionOptions {
  /// Where true, a query sees a key; broadcasts to (.., queries, keys). A query that sees no key gives 0.
  std::optional<Tensor<R, Bool>> mask = std::nullopt;
  /// Added to the scaled products; broadcasts to (.., queries, keys).
  std::optional<Tensor<R>> bias = std::nullopt;
  /// Query i sees the keys 0 to i + offset: the queries stand at the positions offset, offset + 1, ...
  bool causal = false;
  std::int64_t offset = 0;
  /// Defaults to 1 / sqrt(d). With 0 all keys that a query sees count alike.
  std::optional<double> scale = std::nullopt;
  /// c tanh(x / c) instead of the scaled products x, where this c is not 0 (Gemma 2, 2024).
  double softcap = 0;
  /// Of the probabilities.
  std::optional<Dropout> dropout = std::nullopt;
};

/// softmax(q k^T scale + bias) v over the keys that each query sees: A. Vaswani et al., "Attention is all you
/// need", 2017. q (.., queries, d), k (.., keys, d), v (.., keys, d_v) -> (.., queries, d_v); leading
/// dimensions broadcast. Throws ShapeError when the shapes do not fit, or there are no keys.
template <std::size_t R>
requires(R >= 2) Tensor<R> scaled_dot_product_attention(const Tensor<R>& q, const Tensor<R>& k,
                                                        const Tensor<R>& v,
                                                        const AttentionOptions<R>& options = {},
                                                        Location where = Location::current()) {
  return Tensor<R>(detail::attention(q.dynamic(), k.dynamic(), v.dynamic(),
                                     {.mask = options.mask ? &options.mask->dynamic() : nullptr,
                                      .bias = options.bias ? &options.bias->dynamic() : nullptr,
                                      .causal = options.causal,
                                      .offset = options.offset,
                                      .scale = options.scale,
                                      .softcap = options.softcap,
                                      .dropout = options.dropout ? &*options.dropout : nullptr},
                                     where));
}

/// Keys and values of the positions that a sequence has had, for generating it piece by piece: room for a
/// fixed number of them. Each piece is written at the next position, which moves as an argument of the
/// kernels: every step of a generation records the same trace.
class SINTER_API KeyValueCache {
 public:
  using not_a_module = void;

  /// Room for `capacity` positions. Takes batch, heads, dtype and device from the first piece.
  explicit KeyValueCache(std::int64_t capacity, Location where = Location::current());
  std::int64_t capacity() const { return capacity_; }
  /// How many positions there are: where the next piece begins.
  std::int64_t position() const { return position_; }
  /// Forgets what comes after; throws ShapeError for a position that is not there.
  void truncate(std::int64_t position, Location where = Location::current());

  /// Appends (batch, heads, length, d) and gives all keys and values, (batch, heads, capacity, d), of which
  /// the first position() count: mask the others. Throws ShapeError where there is no room, or where shapes
  /// differ from those before.
  std::pair<Tensor<4>, Tensor<4>> append(const Tensor<4>& keys, const Tensor<4>& values,
                                         Location where = Location::current());

 private:
  std::int64_t capacity_, position_ = 0;
  Tensor<4> keys_, values_;
};

struct MultiHeadAttentionOptions {
  /// (batch or 1, queries, keys): where true, the query sees the key.
  std::optional<Tensor<3, Bool>> mask = std::nullopt;
  /// (batch, keys): true where a key is one, false where it is padding.
  std::optional<Tensor<2, Bool>> keys = std::nullopt;
  bool causal = false;
  /// The position of the first query, for `causal`.
  std::int64_t offset = 0;
};

/// Several attentions side by side, each of a part of the vectors, between linear layers.
struct SINTER_API MultiHeadAttention {
  Linear query, key, value, output;
  std::int64_t heads;
  Dropout dropout;  // of the probabilities

  /// query (batch, queries, d_model), key (batch, keys, d_key), value (batch, keys, d_value) -> (batch,
  /// queries, d_model). Throws ShapeError when the shapes do not fit, or `heads` does not divide what the
  /// linear layers give.
  Tensor<3> forward(const Tensor<3>& query, const Tensor<3>& key, const Tensor<3>& value,
                    const MultiHeadAttentionOptions& options = {},
                    Location where = Location::current()) const;
  /// Of a sequence over itself.
  Tensor<3> forward(const Tensor<3>& x, const MultiHeadAttentionOptions& options = {},
                    Location where = Location::current()) const {
    return forward(x, x, x, options, where);
  }
  /// Of the next piece of a sequence over all of it so far: causal, and keys and values come from the cache.
  /// Throws ShapeError when the cache has no room, Error when there is a mask.
  Tensor<3> forward(const Tensor<3>& x, KeyValueCache& cache, Location where = Location::current()) const;
};

struct SINTER_API MultiHeadAttentionConfig {
  std::int64_t d_model, heads;
  /// Sizes of keys and values, for attention over something else; default d_model.
  std::optional<std::int64_t> d_key = std::nullopt, d_value = std::nullopt;
  double dropout = 0;
  bool bias = true;

  /// Weights by Xavier's uniform distribution, biases 0. Throws ShapeError when the heads do not divide
  /// d_model.
  MultiHeadAttention init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
