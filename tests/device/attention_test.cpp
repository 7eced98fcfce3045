// Attention and transformers against values and gradients of PyTorch, masks, and caches.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>

#include "tests/pytorch/attention_cases.h"

using namespace sinter;

namespace {

using Inputs = const std::vector<AnyTensor>&;

void check(const std::string& name, const reference::Function& function, double tolerance = 3e-5) {
  reference::check(reference::attention_cases, name, function, tolerance);
}

Tensor<1> v1(const AnyTensor& x) { return Tensor<1>(x); }
Tensor<2> v2(const AnyTensor& x) { return Tensor<2>(x); }
Tensor<3> v3(const AnyTensor& x) { return Tensor<3>(x); }

Device training() { return Device::best().autodiff(); }

/// PyTorch's in_proj_weight and in_proj_bias are those of query, key and value, one below the other.
nn::MultiHeadAttention attention_of(const AnyTensor& weight, const AnyTensor& bias,
                                    const AnyTensor& out_weight, const AnyTensor& out_bias) {
  const auto part = [&](std::int64_t i) {
    return nn::Linear{v2(weight.narrow(0, 4 * i, 4)), v1(bias.narrow(0, 4 * i, 4))};
  };
  return {.query = part(0),
          .key = part(1),
          .value = part(2),
          .output = {v2(out_weight), v1(out_bias)},
          .heads = 2,
          .dropout = {.probability = 0, .training = true}};
}

nn::MultiHeadAttention attention_of(Inputs x) {
  const auto linear = [&](std::size_t i) { return nn::Linear{v2(x[3 + i]), v1(x[7 + i])}; };
  return {.query = linear(0),
          .key = linear(1),
          .value = linear(2),
          .output = linear(3),
          .heads = 2,
          .dropout = {.probability = 0, .training = true}};
}

AnyTensor encode(Inputs x, bool norm_first) {
  const nn::TransformerEncoderLayer layer{
      .self_attention = attention_of(x[1], x[2], x[3], x[4]),
      .feed_forward = {{v2(x[5]), v1(x[6])}, {v2(x[7]), v1(x[8])}, {.probability = 0, .training = true}},
      .norm1 = {v1(x[9]), v1(x[10])},
      .norm2 = {v1(x[11]), v1(x[12])},
      .dropout = {.probability = 0, .training = true},
      .norm_first = norm_first};
  return layer.forward(v3(x[0]), {.causal = true}).dynamic();
}

float greatest_difference(const AnyTensor& a, const AnyTensor& b) {
  const auto difference = AnyTensor::sub(a.inner(), b.inner()).abs();
  return values_of(difference.max(difference.all_axes()))[0];
}

}  // namespace

TEST_CASE("attention") {
  check("attention",
        [](Inputs x) { return nn::scaled_dot_product_attention(v3(x[0]), v3(x[1]), v3(x[2])).dynamic(); });
  check("attention_causal", [](Inputs x) {
    return nn::scaled_dot_product_attention(v3(x[0]), v3(x[1]), v3(x[2]), {.causal = true, .offset = 2})
        .dynamic();
  });
  check("attention_options", [](Inputs x) {
    const Tensor<3, Bool> mask(AnyTensor::greater(x[3], 0).unsqueeze(0));
    return nn::scaled_dot_product_attention(
               v3(x[0]), v3(x[1]), v3(x[2]),
               {.mask = mask, .bias = v3(x[4].unsqueeze(0)), .scale = 0.7, .softcap = 2})
        .dynamic();
  });
}

TEST_CASE("a query that sees nothing gives 0, and no NaN in the gradient") {
  const Device device = training();
  const auto q = Tensor<2>::ones({2, 3}, device).require_grad(),
             k = Tensor<2>::ones({4, 3}, device).require_grad();
  const auto mask =
      Tensor<2, Bool>::from_data({{false, false, false, false}, {true, false, true, false}}, device);
  const auto y = nn::scaled_dot_product_attention(q, k, k, {.mask = mask});
  const auto gradients = y.sum().backward();
  check_close(y.dynamic(), {0, 0, 0, 1, 1, 1});
  for (const float x : values_of(gradients.get(k)->dynamic())) CHECK(std::isfinite(x));
  check_close(gradients.get(k)->dynamic(), {0.5, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0.5, 0, 0, 0});
}

TEST_CASE("a scale of 0 gives each key the same weight") {
  const Device device = training();
  const auto q = Tensor<2>::from_data({{1, 2}, {-3, 4}}, device);
  const auto k = Tensor<2>::from_data({{5, 1}, {-2, 2}}, device),
             v = Tensor<2>::from_data({{1, 3}, {5, 9}}, device);
  const auto y = nn::scaled_dot_product_attention(q, k, v, {.scale = 0.0});
  check_close(y.dynamic(), {3, 6, 3, 6});
  const auto usual = nn::scaled_dot_product_attention(q, k, v);
  const auto same = nn::scaled_dot_product_attention(q, k, v, {.scale = 1 / std::sqrt(2.0)});
  CHECK(values_of(usual.dynamic()) == values_of(same.dynamic()));
}

TEST_CASE("heads that do not divide the vectors are an error with their number") {
  const Device device = training();
  nn::MultiHeadAttention layer = nn::MultiHeadAttentionConfig{.d_model = 4, .heads = 2}.init(device);
  const auto x = Tensor<3>::ones({1, 2, 4}, device);
  for (const std::int64_t heads : {0, -2}) {
    layer.heads = heads;
    const std::string expected =
        "[multi_head_attention] heads is " + std::to_string(heads) + ", expected 1 or more";
    CHECK_THROWS_WITH_AS(layer.forward(x), doctest::Contains(expected.c_str()), ShapeError);
    nn::KeyValueCache cache(4);
    CHECK_THROWS_WITH_AS(layer.forward(x, cache), doctest::Contains(expected.c_str()), ShapeError);
    CHECK(cache.position() == 0);
  }
  layer.heads = 3;
  CHECK_THROWS_WITH_AS(layer.forward(x), doctest::Contains("3 heads do not divide vectors of 4 elements"),
                       ShapeError);
}

TEST_CASE("attention of several heads, over something else, with padding") {
  check("multi_head",
        [](Inputs x) { return attention_of(x).forward(v3(x[0]), v3(x[1]), v3(x[2])).dynamic(); });
  check("multi_head_padding", [](Inputs x) {
    const auto keys = Tensor<2, Bool>::from_data(
        {{true, true, true, true, false}, {true, true, true, false, false}}, x[0].device());
    return attention_of(x).forward(v3(x[0]), v3(x[1]), v3(x[2]), {.keys = keys}).dynamic();
  });
  const Device device = training();
  CHECK_THROWS_AS((nn::MultiHeadAttentionConfig{.d_model = 6, .heads = 4}.init(device)), ShapeError);
  const auto layer =
      nn::MultiHeadAttentionConfig{.d_model = 6, .heads = 2, .d_key = 3, .d_value = 5}.init(device);
  const auto x = Tensor<3>::ones({1, 2, 6}, device);
  CHECK(layer.forward(x, Tensor<3>::ones({1, 4, 3}, device), Tensor<3>::ones({1, 4, 5}, device)).shape() ==
        Shape{1, 2, 6});
  const auto mask = Tensor<3, Bool>::full({1, 2, 3}, true, device);
  CHECK_THROWS_WITH_AS(layer.forward(x, Tensor<3>::ones({1, 4, 3}, device),
                                     Tensor<3>::ones({1, 4, 5}, device), {.mask = mask}),
                       doctest::Contains("the mask (1, 2, 3) is not (1 or 1, 2, 4)"), ShapeError);
}

TEST_CASE("layers of transformers") {
  check("encoder_after", [](Inputs x) { return encode(x, false); });
  // Gradients of up to 50 here: PyTorch in f32 is off by 7e-5 of 1 itself.
  check(
      "encoder_before", [](Inputs x) { return encode(x, true); }, 2e-4);
  check("decoder", [](Inputs x) {
    const nn::TransformerDecoderLayer layer{.self_attention = attention_of(x[2], x[3], x[4], x[5]),
                                            .cross_attention = attention_of(x[6], x[7], x[8], x[9]),
                                            .feed_forward = {{v2(x[10]), v1(x[11])},
                                                             {v2(x[12]), v1(x[13])},
                                                             {.probability = 0, .training = true}},
                                            .norm1 = {v1(x[14]), v1(x[15])},
                                            .norm2 = {v1(x[16]), v1(x[17])},
                                            .norm3 = {v1(x[18]), v1(x[19])},
                                            .dropout = {.probability = 0, .training = true}};
    return layer.forward(v3(x[0]), v3(x[1])).dynamic();
  });
}

TEST_CASE("a sequence piece by piece is the sequence as a whole, and each piece is the same trace") {
  const Device device = training();
  device.seed(3);
  const nn::TransformerConfig config{
      .d_model = 8, .d_feed_forward = 12, .heads = 2, .layers = 2, .norm_first = true, .final_norm = true};
  const auto model = nn::valid(config.init_encoder(device));
  const auto decoder = nn::valid(config.init_decoder(device));
  const auto x = Tensor<3>::randn({1, 10, 8}, device.inner());
  const auto memory = Tensor<3>::randn({1, 3, 8}, device.inner());
  const auto whole = model.forward(x, {.causal = true});
  const auto decoded = decoder.forward(x, memory);
  std::vector<nn::KeyValueCache> caches(2, nn::KeyValueCache(10)), more(2, nn::KeyValueCache(12));
  std::vector<Tensor<3>> pieces{model.forward(x.narrow(1, 0, 3), caches)};
  pieces.front().sync();
  for (std::int64_t i = 3; i < 6; ++i) {
    pieces.push_back(model.forward(x.narrow(1, i, 1), caches));
    pieces.back().sync();
  }
  const Statistics before = device.statistics();
  for (std::int64_t i = 6; i < 10; ++i) {
    pieces.push_back(model.forward(x.narrow(1, i, 1), caches));
    pieces.back().sync();
  }
  CHECK(device.statistics().plans_built == before.plans_built);
  CHECK(greatest_difference(Tensor<3>::cat(pieces, 1).dynamic(), whole.dynamic()) < 2e-5f);
  const auto first = decoder.forward(x.narrow(1, 0, 6), memory, more);
  const auto second = decoder.forward(x.narrow(1, 6, 4), memory, more);
  CHECK(greatest_difference(Tensor<3>::cat({first, second}, 1).dynamic(), decoded.dynamic()) < 2e-5f);

  CHECK(caches[0].position() == 10);
  CHECK_THROWS_WITH_AS(model.forward(x.narrow(1, 0, 1), caches),
                       doctest::Contains("no room for 1 more positions: 10 of 10 are taken"), ShapeError);
  // Back to an earlier position.
  for (nn::KeyValueCache& cache : caches) cache.truncate(6);
  const auto again = model.forward(x.narrow(1, 6, 4), caches);
  CHECK(greatest_difference(again.dynamic(), whole.narrow(1, 6, 4).dynamic()) < 2e-5f);
  std::vector<nn::KeyValueCache> one(1, nn::KeyValueCache(10));
  CHECK_THROWS_AS(model.forward(x, one), Error);
}
