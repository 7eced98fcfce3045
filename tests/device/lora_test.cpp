// Low-rank matrices beside weights: which layers get them, what trains, merging, records. Copies of a model
// for another thread, and what describe() says of frozen parameters.
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autocast.h>
#include <sinter/describe.h>
#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/record.h>

#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return Device::best().autodiff(); }

struct Net {
  nn::Embedding table;
  nn::TransformerEncoder encoder;
  std::optional<nn::Linear> head;
  Tensor<3> forward(const Tensor<2, Int>& x) const {
    return head->forward(encoder.forward(table.forward(x)));
  }
};

Net make(const Device& device) {
  device.seed(5);
  return {.table = nn::EmbeddingConfig{.n_embedding = 7, .d_model = 8}.init(device),
          .encoder =
              nn::TransformerConfig{.d_model = 8, .d_feed_forward = 12, .heads = 2, .layers = 2, .dropout = 0}
                  .init_encoder(device),
          .head = nn::LinearConfig{.d_in = 8, .d_out = 3}.init(device)};
}

Tensor<2, Int> tokens() {
  return Tensor<2, Int>::from_data(std::vector<std::int64_t>{0, 1, 6, 3, 2, 5, 4, 1}, {2, 4}, Device::best());
}

const std::vector<std::string> kLayers{"table", "encoder.*.query", "*.value", "head"};

std::vector<std::string> trained(const Net& net) {
  std::vector<std::string> paths;
  visit_parameters(net, [&](const std::string& path, const auto& tensor) {
    if (tensor.requires_grad()) paths.push_back(path);
  });
  return paths;
}

Net train(Net net, int steps) {
  auto adam = optim::AdamConfig{}.init();
  for (int i = 0; i < steps; ++i)
    adam.step(0.02, net, (net.forward(tokens()) - 1.0).square().mean().backward());
  return net;
}

}  // namespace

TEST_CASE("low-rank matrices: which layers, what trains, what changes") {
  const Net plain = make(training());
  const Net net = nn::add_lora(plain, kLayers, {.rank = 2, .alpha = 3});
  const std::vector<std::string> expected{"table.lora.a",
                                          "table.lora.b",
                                          "encoder.layers.0.self_attention.query.lora.a",
                                          "encoder.layers.0.self_attention.query.lora.b",
                                          "encoder.layers.0.self_attention.value.lora.a",
                                          "encoder.layers.0.self_attention.value.lora.b",
                                          "encoder.layers.1.self_attention.query.lora.a",
                                          "encoder.layers.1.self_attention.query.lora.b",
                                          "encoder.layers.1.self_attention.value.lora.a",
                                          "encoder.layers.1.self_attention.value.lora.b",
                                          "head.lora.a",
                                          "head.lora.b"};
  CHECK(trained(net) == expected);
  CHECK(net.head->lora->a.shape() == Shape{2, 8});
  CHECK(net.head->lora->b.shape() == Shape{3, 2});
  CHECK(net.table.lora->a.shape() == Shape{2, 7});
  CHECK(net.table.lora->b.shape() == Shape{8, 2});
  CHECK(net.head->lora->scale == 1.5);
  const auto before = values_of(plain.forward(tokens()).inner().dynamic());
  CHECK(values_of(net.forward(tokens()).inner().dynamic()) == before);  // B is 0

  const Net learned = train(net, 8);
  CHECK(nn::equal(nn::remove_lora(learned), plain));
  CHECK(trained(nn::remove_lora(learned)).empty());
  for (const auto& path : expected) {
    CAPTURE(path);
    visit_parameters(learned, [&](const std::string& at, const auto& tensor) {
      if (at != path) return;
      visit_parameters(net, [&](const std::string& old, const auto& other) {
        if (old == path) CHECK(values_of(tensor.inner().dynamic()) != values_of(other.inner().dynamic()));
      });
    });
  }
  // As if the sum of weight and product were the weight.
  const auto& lora = *learned.head->lora;
  const auto x = Tensor<2>::randn({5, 8}, training());
  const nn::Linear sum{learned.head->weight + lora.b.matmul(lora.a) * 1.5, learned.head->bias};
  check_close(learned.head->forward(x).inner().dynamic(), values_of(sum.forward(x).inner().dynamic()), 1e-5);

  const Net merged = nn::merge_lora(learned);
  const auto unmerged = values_of(learned.forward(tokens()).inner().dynamic());
  check_close(merged.forward(tokens()).inner().dynamic(), unmerged, 1e-4);
  double moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    moved = std::max(moved, std::abs(double(before[i]) - unmerged[i]));
  CHECK(moved > 0.05);
  CHECK(trained(merged).empty());
  CHECK(num_parameters(merged) == num_parameters(plain));
  CHECK(record::to_record(merged).entries().size() == record::to_record(plain).entries().size());
  CHECK_FALSE(nn::equal(merged.table, plain.table));
  CHECK(trained(nn::merge_lora(nn::unfreeze(learned, "head.weight"))) ==
        std::vector<std::string>{"head.weight"});
}

TEST_CASE("low-rank matrices in records, alone and with the model") {
  const Net learned = train(nn::add_lora(make(training()), kLayers, {.rank = 2}), 4);
  const auto result = values_of(learned.forward(tokens()).inner().dynamic());
  const record::Record whole = record::to_record(learned);
  CHECK(whole.find("head.lora.a") != nullptr);
  const Net fresh = nn::add_lora(make(training()), kLayers, {.rank = 2});
  CHECK(values_of(record::from_record(fresh, whole).forward(tokens()).inner().dynamic()) == result);

  const record::Record alone = nn::lora_record(learned);
  CHECK(alone.entries().size() == 12);
  const Net back = nn::load_lora(fresh, record::Record::from_bytes(alone.to_bytes()));
  CHECK(values_of(back.forward(tokens()).inner().dynamic()) == result);
  CHECK(trained(back) == trained(fresh));
  const Net wider = nn::add_lora(make(training()), kLayers, {.rank = 3});
  CHECK_THROWS_WITH_AS(nn::load_lora(wider, alone), doctest::Contains("table.lora.a is f32 (2, 7)"),
                       DataError);
  const Net fewer = nn::add_lora(make(training()), {"head"}, {.rank = 2});
  CHECK_THROWS_WITH_AS(nn::load_lora(fewer, alone), doctest::Contains("unexpected: encoder.layers.0"),
                       DataError);
  CHECK_THROWS_AS(nn::lora_record(make(training())), Error);
}

TEST_CASE("low-rank matrices: 16 bits, dropout, mixed precision, several at once, and errors") {
  const Device device = training();
  device.seed(2);
  nn::Linear base = nn::to_dtype(nn::LinearConfig{.d_in = 6, .d_out = 4}.init(device), DType::bf16);
  nn::Linear half = nn::add_lora(base);
  CHECK(half.lora->a.dtype() == DType::bf16);
  half.lora->b = Tensor<2>::randn({4, 8}, device).cast(DType::bf16).require_grad();
  const auto x = Tensor<2>::randn({3, 6}, device).cast(DType::bf16);
  const nn::Linear once = nn::merge_lora(half);
  CHECK(once.weight.dtype() == DType::bf16);
  check_close(half.forward(x).inner().to_float().dynamic(),
              values_of(once.forward(x).inner().to_float().dynamic()), 6e-2);

  nn::Linear dropping =
      nn::add_lora(nn::LinearConfig{.d_in = 6, .d_out = 4}.init(device), {"*"}, {.dropout = 0.5});
  dropping.lora->b = Tensor<2>::ones({4, 8}, device).require_grad();
  const auto y = Tensor<2>::randn({3, 6}, device.inner());
  CHECK(values_of(dropping.forward(y).inner().dynamic()) != values_of(dropping.forward(y).inner().dynamic()));
  const nn::Linear still = nn::valid(dropping);
  check_close(still.forward(y).dynamic(), values_of(nn::merge_lora(still).forward(y).dynamic()), 1e-5);
  {
    const Autocast mixed;
    CHECK(still.forward(y).dtype() == nn::remove_lora(still).forward(y).dtype());
  }

  Net net = nn::add_lora(make(device), {"head"});
  net = nn::add_lora(net, {"table"}, {.rank = 1});
  CHECK(trained(net).size() == 4);
  CHECK_THROWS_WITH_AS(nn::add_lora(net, {"head"}),
                       doctest::Contains("the layer head has low-rank matrices already"), Error);
  CHECK_THROWS_WITH_AS(nn::add_lora(net, {"tail", "x.*"}), doctest::Contains("fits \"tail\", \"x.*\""),
                       Error);
  CHECK_THROWS_WITH_AS(nn::merge_lora(make(device)), doctest::Contains("no layer of the model has"), Error);
  for (const nn::LoraOptions& wrong :
       {nn::LoraOptions{.rank = 0}, nn::LoraOptions{.alpha = 0}, nn::LoraOptions{.dropout = 1}})
    CHECK_THROWS_AS(nn::add_lora(make(device), {"*"}, wrong), Error);
  // For inference alone.
  const Net plain = nn::add_lora(make(device.inner()), kLayers);
  CHECK(trained(plain).empty());
  CHECK(plain.forward(tokens()).shape() == Shape{2, 4, 3});
}

TEST_CASE("describe() says how many parameters are frozen") {
  const nn::Linear layer = nn::LinearConfig{.d_in = 4, .d_out = 2}.init(training());
  CHECK(describe(layer) == "Linear, weight (2, 4), bias (2), 10 parameters\ntotal: 10 parameters\n");
  CHECK(describe(nn::freeze(layer)) == describe(layer));  // none is trained: nothing to tell apart
  CHECK(describe(nn::freeze(layer, "weight")).ends_with("total: 10 parameters, 8 of them frozen\n"));
  const std::string text = describe(nn::add_lora(layer, {"*"}, {.rank = 2}));
  CHECK(text.find("  lora: LowRank, a (2, 4), b (2, 2), 12 parameters") != std::string::npos);
  CHECK(text.ends_with("total: 22 parameters, 10 of them frozen\n"));
}

TEST_CASE("a forked model is trained by another thread, and has nothing of the first") {
  struct Tied {
    Tensor<1> a, b;
    Tensor<1> fixed;
    Buffer<1> seen;
  };
  const Device device = training();
  const auto leaf = Tensor<1>::ones({4}, device).require_grad();
  Tied model{leaf, leaf, Tensor<1>::ones({4}, device), Buffer<1>(Tensor<1>::zeros({4}, device))};
  Tied other = nn::fork(model);
  CHECK(nn::equal(model, other));
  CHECK(other.a.dynamic().node().get() == other.b.dynamic().node().get());
  CHECK(other.a.dynamic().node().get() != model.a.dynamic().node().get());
  CHECK_FALSE(other.fixed.requires_grad());
  // The gradients of one mean nothing to the other.
  auto gradients = (model.a * 2.0).sum().backward();
  CHECK_FALSE(gradients.get(other.a).has_value());
  const auto run = [](Tied& of, double target) {
    auto sgd = optim::SgdConfig{}.init();
    for (int i = 0; i < 50; ++i) {
      of.seen.set(of.seen.value() + 1.0);
      sgd.step(0.1, of, (of.a - target).square().sum().backward());
    }
  };
  std::thread thread([&] { run(other, 5); });
  run(model, -5);
  thread.join();
  check_close(model.a.inner().dynamic(), std::vector<float>(4, -5), 1e-3);
  check_close(other.b.inner().dynamic(), std::vector<float>(4, 5), 1e-3);
  check_close(other.seen.value().dynamic(), std::vector<float>(4, 50));
}

TEST_CASE("a model with const members is frozen, forked, stepped and given low-rank matrices") {
  struct Block {
    const std::int64_t heads = 4;
    const std::string name = "block";
    nn::Linear layer;
    Tensor<2> forward(const Tensor<2>& x) const { return layer.forward(x); }
  };
  const Device device = training();
  Block block{.layer = nn::LinearConfig{2, 3}.init(device)};
  const auto x = Tensor<2>::ones({4, 2}, device);
  auto sgd = optim::SgdConfig{}.init();
  const auto before = values_of(block.layer.weight.dynamic());
  sgd.step(0.1, block, block.forward(x).sum().backward());
  CHECK(values_of(block.layer.weight.dynamic()) != before);
  record::load_record(block, record::to_record(block));
  CHECK(nn::equal(nn::fork(block), block));
  CHECK_FALSE(nn::freeze(block).layer.weight.requires_grad());
  CHECK_FALSE(nn::valid(block).layer.weight.dynamic().device().is_autodiff());
  const Block adapted = nn::add_lora(block, {"layer"}, {.rank = 1});
  CHECK(adapted.layer.lora);
  CHECK_FALSE(adapted.layer.weight.requires_grad());
  CHECK(describe(block).find("9 parameters") != std::string::npos);
}
