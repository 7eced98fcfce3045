// Layers of attention, and the cache of keys and values.
#include <array>
#include <string>

#include <sinter/nn/attention.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

/// (batch, length, heads d) -> (batch, heads, length, d)
A split_heads(const A& x, std::int64_t heads, const Location& where) {
  const Shape& shape = x.shape();
  if (shape[2] % heads != 0)
    throw ShapeError("[multi_head_attention] " + std::to_string(heads) + " heads do not divide vectors of " +
                         std::to_string(shape[2]) + " elements",
                     where);
  return x.reshape({shape[0], shape[1], heads, shape[2] / heads}, where).transpose(1, 2, where);
}

A join_heads(const A& x, const Location& where) {
  const Shape& shape = x.shape();
  return x.transpose(1, 2, where).reshape({shape[0], shape[2], shape[1] * shape[3]}, where);
}

}  // namespace

KeyValueCache::KeyValueCache(std::int64_t capacity, Location where) : capacity_(capacity) {
  detail::require_positive("key_value_cache", "the capacity", capacity, where);
}

void KeyValueCache::truncate(std::int64_t position, Location where) {
  if (position < 0 || position > position_)
    throw ShapeError("[key_value_cache] position " + std::to_string(position) + " is not one of the " +
                         std::to_string(position_) + " that there are",
                     where);
  position_ = position;
}

std::pair<Tensor<4>, Tensor<4>> KeyValueCache::append(const Tensor<4>& keys, const Tensor<4>& values,
                                                      Location where) {
  const std::int64_t length = keys.shape()[2];
  if (length > capacity_ - position_)
    throw ShapeError("[key_value_cache] there is no room for " + std::to_string(length) +
                         " more positions: " + std::to_string(position_) + " of " +
                         std::to_string(capacity_) + " are taken",
                     where);
  const auto room = [&](const Tensor<4>& like) {
    Shape shape = like.shape();
    shape[2] = capacity_;
    return AnyTensor::full(shape, 0.0, like.dtype(), like.device().inner(), where);
  };
  const auto put = [&](const Tensor<4>& all, const Tensor<4>& piece) {
    const AnyTensor old = all.defined() ? all.dynamic() : room(piece);
    Shape expected = old.shape();
    expected[2] = length;
    if (piece.shape() != expected)
      throw ShapeError("[key_value_cache] a piece of shape " + to_string(piece.shape()) +
                           " does not fit, expected " + to_string(expected),
                       where);
    const std::array<Range, 3> ranges{Range{}, Range{}, Range{position_, position_ + length}};
    return Tensor<4>(old.slice_assign(ranges, piece.dynamic().inner(), where));
  };
  // Both, or neither.
  Tensor<4> next_keys = put(keys_, keys), next_values = put(values_, values);
  keys_ = std::move(next_keys);
  values_ = std::move(next_values);
  position_ += length;
  return {keys_, values_};
}

Tensor<3> MultiHeadAttention::forward(const Tensor<3>& q, const Tensor<3>& k, const Tensor<3>& v,
                                      const MultiHeadAttentionOptions& options, Location where) const {
  detail::require_positive("multi_head_attention", "heads", heads, where);
  const std::int64_t batch = q.shape()[0], queries = q.shape()[1], keys = k.shape()[1];
  if (k.shape()[0] != batch || v.shape()[0] != batch || v.shape()[1] != keys)
    throw ShapeError("[multi_head_attention] queries " + to_string(q.shape()) + ", keys " +
                         to_string(k.shape()) + " and values " + to_string(v.shape()) +
                         " are not (batch, queries, ..), (batch, keys, ..) and (batch, keys, ..)",
                     where);
  A mask;
  if (options.mask) {
    const Shape& shape = options.mask->shape();
    if ((shape[0] != batch && shape[0] != 1) || shape[1] != queries || shape[2] != keys)
      throw ShapeError("[multi_head_attention] the mask " + to_string(shape) + " is not (" +
                           std::to_string(batch) + " or 1, " + std::to_string(queries) + ", " +
                           std::to_string(keys) + ")",
                       where);
    mask = options.mask->dynamic().unsqueeze(1, where);
  }
  if (options.keys) {
    if (options.keys->shape() != Shape{batch, keys})
      throw ShapeError("[multi_head_attention] the mask of keys " + to_string(options.keys->shape()) +
                           " is not " + to_string(Shape{batch, keys}),
                       where);
    const A seen = options.keys->dynamic().reshape({batch, 1, 1, keys}, where);
    mask = mask.defined() ? A::logical_and(mask, seen, where) : seen;
  }
  const A y = detail::attention(split_heads(query.forward(q, where).dynamic(), heads, where),
                                split_heads(key.forward(k, where).dynamic(), heads, where),
                                split_heads(value.forward(v, where).dynamic(), heads, where),
                                {.mask = mask.defined() ? &mask : nullptr,
                                 .causal = options.causal,
                                 .offset = options.offset,
                                 .dropout = &dropout},
                                where);
  return output.forward(Tensor<3>(join_heads(y, where)), where);
}

Tensor<3> MultiHeadAttention::forward(const Tensor<3>& x, KeyValueCache& cache, Location where) const {
  detail::require_positive("multi_head_attention", "heads", heads, where);
  const std::int64_t offset = cache.position();
  const A q = split_heads(query.forward(x, where).dynamic(), heads, where);
  const auto [k, v] =
      cache.append(Tensor<4>(split_heads(key.forward(x, where).dynamic(), heads, where)),
                   Tensor<4>(split_heads(value.forward(x, where).dynamic(), heads, where)), where);
  // What is not written yet is masked as what is to come.
  const A y = detail::attention(q, k.dynamic(), v.dynamic(),
                                {.causal = true, .offset = offset, .dropout = &dropout}, where);
  return output.forward(Tensor<3>(join_heads(y, where)), where);
}

MultiHeadAttention MultiHeadAttentionConfig::init(const Device& device, Location where) const {
  detail::require_positive("multi_head_attention", "d_model", d_model, where);
  detail::require_positive("multi_head_attention", "heads", heads, where);
  if (d_model % heads != 0)
    throw ShapeError("[multi_head_attention] " + std::to_string(heads) +
                         " heads do not divide a d_model of " + std::to_string(d_model),
                     where);
  const auto linear = [&](std::int64_t d_in) {
    Linear layer{.weight = init::xavier_uniform().parameter<2>({d_model, d_in}, device, where), .bias = {}};
    if (bias) layer.bias = Tensor<1>(detail::constant_parameter({d_model}, 0, device, where));
    return layer;
  };
  return {.query = linear(d_model),
          .key = linear(d_key.value_or(d_model)),
          .value = linear(d_value.value_or(d_model)),
          .output = linear(d_model),
          .heads = heads,
          .dropout = DropoutConfig{dropout}.init(device, where)};
}

}  // namespace sinter::nn
