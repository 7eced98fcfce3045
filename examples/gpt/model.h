// The network of GPT-2 (Radford et al., "Language models are unsupervised multitask learners", 2019), in
// plain operations: structs of tensors, which optimizers and files find by themselves.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <sinter/nn.h>
#include <sinter/sinter.h>

namespace gpt {

namespace sn = sinter;

struct Config {
  std::int64_t vocabulary = 256, context = 64, layers = 4, heads = 4, width = 128;
};

struct LayerNorm {
  sn::Tensor<1> weight, bias;

  sn::Tensor<3> operator()(const sn::Tensor<3>& x) const {
    const auto centred = x - x.mean(-1);
    const auto y = centred * rsqrt(centred.square().mean(-1) + 1e-5);
    return y * weight.reshape({1, 1, -1}) + bias.reshape({1, 1, -1});
  }
};

struct Dense {
  sn::Tensor<2> weight;  // (in, out)
  sn::Tensor<1> bias;

  sn::Tensor<3> operator()(const sn::Tensor<3>& x) const {
    return x.matmul(weight) + bias.reshape({1, 1, -1});
  }
};

// The keys and values of the positions so far: (batch, heads, context, width / heads).
struct Cache {
  sn::Tensor<4> keys, values;
};

struct Attention {
  Dense qkv, out;

  // x (batch, time, width). With a cache, time is 1 and `position` says where x stands.
  sn::Tensor<3> operator()(const sn::Tensor<3>& x, std::int64_t heads, Cache* cache,
                           std::int64_t position) const {
    const auto [batch, time, width] = sizes(x);
    const std::int64_t size = width / heads;
    const auto all_heads = qkv(x).reshape({batch, time, 3, heads, size}).permute({2, 0, 3, 1, 4});
    const sn::Tensor<4> q = all_heads(0), k = all_heads(1), v = all_heads(2);
    if (cache == nullptr) {
      const auto past = sn::Tensor<2, sn::Bool>::tril_mask({time, time}, x.device().inner());
      return out(joined(attend(q, k, v, past.reshape({1, 1, time, time}))));
    }
    cache->keys(sn::all, sn::all, sn::s(position, position + 1)) = k;
    cache->values(sn::all, sn::all, sn::s(position, position + 1)) = v;
    const std::int64_t context = cache->keys.shape()[2];
    const auto past = sn::Tensor<1, sn::Int>::arange(0, context, x.device().inner()) <= position;
    return out(joined(attend(q, cache->keys, cache->values, past.reshape({1, 1, 1, context}))));
  }

 private:
  struct Sizes {
    std::int64_t batch, time, width;
  };
  static Sizes sizes(const sn::Tensor<3>& x) { return {x.shape()[0], x.shape()[1], x.shape()[2]}; }

  static sn::Tensor<4> attend(const sn::Tensor<4>& q, const sn::Tensor<4>& k, const sn::Tensor<4>& v,
                              const sn::Tensor<4, sn::Bool>& seen) {
    const double scale = 1 / std::sqrt(static_cast<double>(q.shape()[3]));
    const auto scores = sn::where(seen, q.matmul(k.t()) * scale, -1e9);
    return softmax(scores, 3).matmul(v);
  }
  // (batch, heads, time, size) -> (batch, time, width)
  static sn::Tensor<3> joined(const sn::Tensor<4>& y) {
    const sn::Shape& s = y.shape();
    return y.transpose(1, 2).reshape({s[0], s[2], s[1] * s[3]});
  }
};

struct Block {
  LayerNorm before_attention, before_mlp;
  Attention attention;
  Dense up, down;

  sn::Tensor<3> operator()(sn::Tensor<3> x, std::int64_t heads, Cache* cache, std::int64_t position) const {
    x = x + attention(before_attention(x), heads, cache, position);
    return x + down(gelu_tanh(up(before_mlp(x))));
  }
};

struct Gpt {
  sn::Tensor<2> tokens, positions;  // (vocabulary, width), (context, width)
  std::vector<Block> blocks;
  LayerNorm last;
  std::int64_t heads = 1;

  // (batch, time) -> logits (batch, time, vocabulary); the output layer is the table of tokens.
  sn::Tensor<3> forward(const sn::Tensor<2, sn::Int>& input, std::vector<Cache>* caches = nullptr,
                        std::int64_t position = 0) const {
    const std::int64_t time = input.shape()[1];
    sn::Tensor<3> x = tokens(input) + positions.narrow(0, position, time).unsqueeze(0);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      x = blocks[i](x, heads, caches != nullptr ? &(*caches)[i] : nullptr, position);
    return last(x).matmul(tokens.t().unsqueeze(0));
  }

  std::vector<Cache> empty_caches(std::int64_t batch) const {
    const std::int64_t size = tokens.shape()[1] / heads;
    const auto nothing =
        sn::Tensor<4>::zeros({batch, heads, positions.shape()[0], size}, tokens.device().inner());
    return std::vector<Cache>(blocks.size(), {nothing, nothing});
  }
};

// Weights are normal with deviation 0.02, of the layers that add to the residual stream less, as in GPT-2.
inline Gpt make(const Config& config, const sn::Device& device) {
  const auto normal = [&](std::int64_t rows, std::int64_t columns, double deviation) {
    return sn::Tensor<2>::normal({rows, columns}, 0, deviation, device).require_grad();
  };
  const auto constant = [&](std::int64_t size, double value) {
    return sn::Tensor<1>::full({size}, value, device).require_grad();
  };
  const auto dense = [&](std::int64_t in, std::int64_t out, double deviation = 0.02) -> Dense {
    return {normal(in, out, deviation), constant(out, 0)};
  };
  const auto norm = [&]() -> LayerNorm { return {constant(config.width, 1), constant(config.width, 0)}; };
  const std::int64_t width = config.width;
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(config.layers));
  Gpt model{.tokens = normal(config.vocabulary, width, 0.02),
            .positions = normal(config.context, width, 0.02),
            .blocks = {},
            .last = norm(),
            .heads = config.heads};
  for (std::int64_t i = 0; i < config.layers; ++i)
    model.blocks.push_back(
        {.before_attention = norm(),
         .before_mlp = norm(),
         .attention = {.qkv = dense(width, 3 * width), .out = dense(width, width, residual)},
         .up = dense(width, 4 * width),
         .down = dense(4 * width, width, residual)});
  return model;
}

}  // namespace gpt
