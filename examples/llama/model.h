// The network of Llama 2 (Touvron et al., "Llama 2: open foundation and fine-tuned chat models", 2023), in
// plain operations, for one sequence that grows token by token.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <sinter/nn.h>
#include <sinter/sinter.h>

namespace llama {

namespace sn = sinter;

struct Config {
  std::int64_t width = 0, hidden = 0, layers = 0, heads = 0, kv_heads = 0, vocabulary = 0, context = 0;
};

// Row i of a weight makes output i.
inline sn::Tensor<2> apply(const sn::Tensor<2>& weight, const sn::Tensor<2>& x) {
  return x.matmul(weight.t());
}

inline sn::Tensor<2> rms_norm(const sn::Tensor<1>& weight, const sn::Tensor<2>& x) {
  return x * rsqrt(x.square().mean(1) + 1e-5) * weight.unsqueeze(0);
}

// The keys and values of the positions so far: (kv_heads, context, width / heads).
struct Cache {
  sn::Tensor<3> keys, values;
};

struct Attention {
  sn::Tensor<2> q, k, v, out;

  // x (1, width) stands at `position`. Several heads of q share one of k and v.
  sn::Tensor<2> operator()(const sn::Tensor<2>& x, Cache& cache, std::int64_t position) const {
    const std::int64_t kv_heads = cache.keys.shape()[0], context = cache.keys.shape()[1],
                       size = cache.keys.shape()[2];
    const std::int64_t shared = q.shape()[0] / (kv_heads * size);
    const sn::nn::RotaryEncoding rotary;
    const auto heads = [&](const sn::Tensor<2>& y, std::int64_t each) {
      return y.reshape({kv_heads, each, size});
    };
    cache.keys(sn::all, sn::s(position, position + 1)) = rotary.forward(heads(apply(k, x), 1), position);
    cache.values(sn::all, sn::s(position, position + 1)) = heads(apply(v, x), 1);
    // One more axis, as the heads that share a key all stand at one position.
    const auto queries = rotary.forward(apply(q, x).reshape({kv_heads * shared, 1, size}), position)
                             .reshape({kv_heads, shared, size});
    const auto past = sn::Tensor<1, sn::Int>::arange(0, context, x.device()) <= position;
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    const auto scores =
        sn::where(past.reshape({1, 1, context}), queries.matmul(cache.keys.t()) * scale, -1e9);
    return apply(out, softmax(scores, 2).matmul(cache.values).reshape({1, -1}));
  }
};

struct Block {
  sn::Tensor<1> before_attention, before_mlp;
  Attention attention;
  sn::Tensor<2> gate, down, up;

  sn::Tensor<2> operator()(sn::Tensor<2> x, Cache& cache, std::int64_t position) const {
    x = x + attention(rms_norm(before_attention, x), cache, position);
    const auto y = rms_norm(before_mlp, x);
    return x + apply(down, silu(apply(gate, y)) * apply(up, y));
  }
};

struct Llama {
  Config config;
  sn::Tensor<2> tokens;  // (vocabulary, width)
  std::vector<Block> blocks;
  sn::Tensor<1> last;
  sn::Tensor<2> out;  // (vocabulary, width); often the same as `tokens`

  // The token at `position` -> logits (1, vocabulary) of the next one.
  sn::Tensor<2> forward(const sn::Tensor<1, sn::Int>& token, std::vector<Cache>& caches,
                        std::int64_t position) const {
    sn::Tensor<2> x = tokens(token);
    for (std::size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, caches[i], position);
    return apply(out, rms_norm(last, x));
  }

  std::vector<Cache> empty_caches() const {
    const auto nothing =
        sn::Tensor<3>::zeros({config.kv_heads, config.context, config.width / config.heads}, tokens.device());
    return std::vector<Cache>(blocks.size(), {nothing, nothing});
  }
};

}  // namespace llama
