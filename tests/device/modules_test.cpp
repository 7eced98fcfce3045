// What modules remember: parameters, frozen ones, tied ones, buffers, and whether they are in training.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/describe.h>
#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/record.h>

#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return Device::best().autodiff(); }

struct Counted {
  Tensor<1> weight;
  Buffer<1> seen;
  nn::Dropout dropout;
  Tensor<1> forward(const Tensor<1>& x) const {
    if (dropout.training) seen.set(seen.value() + x.inner());
    return dropout.forward(x * weight);
  }
};

Counted make_counted(const Device& device) {
  return {.weight = Tensor<1>::ones({64}, device).require_grad(),
          .seen = Buffer<1>(Tensor<1>::zeros({64}, device)),
          .dropout = nn::DropoutConfig{}.init(device)};
}

}  // namespace

TEST_CASE("a model that is valid drops nothing, whatever device its input is on") {
  const Device device = training();
  const Counted model = make_counted(device);
  const Tensor<1> x = Tensor<1>::ones({64}, device);
  CHECK(values_of(model.forward(x).dynamic()) != values_of(x.dynamic()));
  CHECK(values_of(model.forward(x.inner()).dynamic()) != values_of(x.dynamic()));
  const Counted still = nn::valid(model);
  CHECK(values_of(still.forward(x.require_grad()).dynamic()) == values_of(x.dynamic()));
  CHECK(values_of(still.forward(x.inner()).dynamic()) == values_of(x.dynamic()));
  const Counted again = nn::set_training(still, true);
  CHECK(values_of(again.forward(x.inner()).dynamic()) != values_of(x.dynamic()));
  CHECK_FALSE(nn::DropoutConfig{}.init(device.inner()).training);
}

TEST_CASE("buffers change in forward, are saved, and belong to one model") {
  const Device device = training();
  Counted model = make_counted(device);
  const Counted before = model;
  const Tensor<1> x = Tensor<1>::full({64}, 2, device);
  auto sgd = optim::SgdConfig{}.init();
  for (int i = 0; i < 3; ++i) sgd.step(0.1, model, model.forward(x).sum().backward());
  check_close(model.seen.dynamic(), std::vector<float>(64, 6));
  check_close(before.seen.dynamic(), std::vector<float>(64, 0));
  CHECK_FALSE(model.seen.dynamic().device().is_autodiff());
  CHECK(num_parameters(model) == 64);
  CHECK(describe(model).find("weight (64), buffer seen (64), 64 parameters") != std::string::npos);

  const record::Record record = record::to_record(model);
  CHECK(record.entries().size() == 2);
  const Counted back = record::from_record(make_counted(device), record);
  CHECK(nn::equal(back, model));
  CHECK_FALSE(nn::equal(back, before));
  const Counted still = nn::valid(model);
  still.forward(x);
  check_close(still.seen.dynamic(), std::vector<float>(64, 6));
}

TEST_CASE("several threads set a buffer") {
  const Device device = training();
  const Counted model = nn::set_training(nn::valid(make_counted(device)), true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) model.forward(Tensor<1>::ones({64}, device.inner())).sync();
    });
  for (std::thread& thread : threads) thread.join();
  // Updates may be lost, values are whole ones.
  const float seen = values_of(model.seen.dynamic())[0];
  CHECK(seen >= 1);
  CHECK(seen <= 60);
}

TEST_CASE("frozen parameters") {
  struct Net {
    nn::Linear first, second;
  };
  const Device device = training();
  Net net{nn::LinearConfig{2, 3}.init(device), nn::LinearConfig{3, 1}.init(device)};
  net = nn::freeze(std::move(net), "first.*");
  CHECK_FALSE(net.first.weight.requires_grad());
  CHECK_FALSE(net.first.bias->requires_grad());
  CHECK(net.second.weight.requires_grad());
  const Net before = net;
  const auto x = Tensor<2>::ones({4, 2}, device);
  auto sgd = optim::SgdConfig{}.init();
  sgd.step(0.1, net, net.second.forward(net.first.forward(x)).sum().backward());
  CHECK(nn::equal(net.first, before.first));
  CHECK_FALSE(nn::equal(net.second, before.second));
  net = nn::unfreeze(std::move(net), "*.weight");
  CHECK(net.first.weight.requires_grad());
  CHECK_FALSE(net.first.bias->requires_grad());
  CHECK_THROWS_WITH_AS(nn::freeze(net, "third.*"),
                       doctest::Contains("no parameter's path fits the pattern \"third.*\""), Error);
}

TEST_CASE("tied parameters are saved once, and stay tied") {
  struct Tied {
    Tensor<1> a, b;
    Tensor<1> other;
  };
  const Device device = training();
  const auto make = [&](double value) {
    const Tensor<1> shared = Tensor<1>::full({3}, value, device).require_grad();
    return Tied{shared, shared, Tensor<1>::zeros({3}, device).require_grad()};
  };
  const Tied model = make(2);
  CHECK(num_parameters(model) == 6);
  CHECK(describe(model) == "Tied, a (3), b (3) tied, other (3), 6 parameters\ntotal: 6 parameters\n");
  CHECK(num_parameters(nn::fork(model)) == 6);
  CHECK(num_parameters(std::vector<Tied>{model, make(2)}) == 12);
  const record::Record record = record::Record::from_bytes(record::to_bytes(model));
  CHECK(record.entries().size() == 2);
  CHECK(record.find("a"));
  CHECK_FALSE(record.find("b"));
  const Tied back = record::from_record(make(1), record);
  CHECK(nn::equal(back, model));
  CHECK(back.a.dynamic().node().get() == back.b.dynamic().node().get());
  // Into a model that is not tied.
  Tied apart = make(1);
  apart.b = Tensor<1>::zeros({3}, device).require_grad();
  CHECK(nn::equal(record::from_record(apart, record), model));

  const Tied half = nn::to_dtype(model, DType::bf16);
  CHECK(half.a.dtype() == DType::bf16);
  CHECK(half.a.dynamic().node().get() == half.b.dynamic().node().get());
  CHECK(half.a.requires_grad());
  CHECK_THROWS_AS(nn::to_dtype(model, DType::i32), DTypeError);
  const Tied moved = nn::to_device(model, device.inner());
  CHECK_FALSE(moved.a.dynamic().device().is_autodiff());
  CHECK(moved.a.dynamic().value().get() == moved.b.dynamic().value().get());
}

TEST_CASE("the parameters of a model are mapped") {
  struct Net {
    nn::Linear first;
    nn::BatchNorm norm;
    Tensor<2> head;  // tied to the first one's weight
    Tensor<1, Int> count;
  };
  const Device device = training();
  Net net{nn::LinearConfig{2, 3}.init(device),
          nn::BatchNormConfig{.channels = 3}.init(device),
          {},
          Tensor<1, Int>::from_data({4}, device)};
  net.head = net.first.weight;
  std::vector<std::string> paths;
  const Net mapped = nn::map(net, [&](const std::string& path, const AnyTensor& x) {
    paths.push_back(path);
    CHECK_FALSE(x.device().is_autodiff());
    return path_matches("*.bias", path) ? x : AnyTensor::mul(x, 0);
  });
  CHECK(paths == std::vector<std::string>{"first.weight", "first.bias", "norm.weight", "norm.bias", "count"});
  check_close(mapped.head.dynamic(), {0, 0, 0, 0, 0, 0});
  CHECK(mapped.head.dynamic().node().get() == mapped.first.weight.dynamic().node().get());
  CHECK(mapped.first.weight.requires_grad());
  CHECK(nn::equal(*mapped.first.bias, *net.first.bias));
  check_close(mapped.norm.running_var.dynamic(), {1, 1, 1});
  CHECK(mapped.count.to_vector<std::int64_t>() == std::vector<std::int64_t>{0});
  CHECK(values_of(net.head.dynamic())[0] != 0);
  CHECK_THROWS_WITH_AS(nn::map(net, [](const std::string&, const AnyTensor&) { return AnyTensor(); }),
                       doctest::Contains("of the parameter first.weight the function made nothing"), Error);
  CHECK_THROWS_AS(nn::map(net, [](const std::string&, const AnyTensor& x) { return x.unsqueeze(0); }),
                  ShapeError);
}

TEST_CASE("what was never given a value stays so, and is not saved") {
  struct Net {
    Tensor<1> weight, later;
    Buffer<1> seen;  // set by the first forward pass
  };
  const Device device = training();
  const Net net{Tensor<1>::ones({3}, device).require_grad(), {}, {}};
  CHECK(num_parameters(net) == 3);
  auto average = optim::EmaConfig{}.init();
  average.update(net);
  for (const Net& same :
       {nn::valid(net), nn::fork(net), nn::freeze(net), nn::to_device(net, device.inner()),
        nn::map(net, [](const std::string&, const AnyTensor& x) { return x; }), average.model(net)}) {
    CHECK(same.weight.defined());
    CHECK_FALSE(same.later.defined());
    CHECK_FALSE(same.seen.defined());
  }
  Net stepped = net;
  optim::SgdConfig{}.init().step(0.5, stepped, stepped.weight.sum().backward());
  check_close(stepped.weight.dynamic(), {0.5f, 0.5f, 0.5f});
  CHECK_THROWS_WITH_AS(record::to_record(net), doctest::Contains("later of the module is empty"), DataError);
}

namespace {

struct SharedParts {
  std::shared_ptr<nn::Linear> encoder, again;
  std::vector<std::shared_ptr<nn::Dropout>> dropouts;
  std::shared_ptr<int> count;
};

SharedParts make_shared_parts(const Device& device) {
  const auto encoder = std::make_shared<nn::Linear>(nn::LinearConfig{.d_in = 2, .d_out = 2}.init(device));
  return {.encoder = encoder,
          .again = encoder,
          .dropouts = {std::make_shared<nn::Dropout>(nn::DropoutConfig{}.init(device))},
          .count = std::make_shared<int>(3)};
}

/// What a function that is given a model must leave alone.
void check_untouched(const SharedParts& model, const nn::Linear* encoder) {
  CHECK(model.encoder.get() == encoder);
  CHECK(model.again.get() == encoder);
  CHECK(model.encoder->weight.device().is_autodiff());
  CHECK(model.encoder->weight.requires_grad());
  CHECK(model.encoder->weight.dtype() == DType::f32);
  CHECK(model.dropouts[0]->training);
}

/// A layer behind a base class, which lists what every such layer has.
struct AnyLayer {
  explicit AnyLayer(Tensor<1> weight) : weight(std::move(weight)) {}
  AnyLayer(const AnyLayer&) = default;
  virtual ~AnyLayer() = default;
  virtual std::string name() const { return "any"; }
  Tensor<1> weight;
  SINTER_FIELDS(weight)
};
struct NamedLayer final : AnyLayer {
  using AnyLayer::AnyLayer;
  std::string name() const override { return "named"; }
};
struct Cloned {
  explicit Cloned(Tensor<1> weight) : weight(std::move(weight)) {}
  Cloned(const Cloned&) = default;
  virtual ~Cloned() = default;
  virtual std::unique_ptr<Cloned> clone() const = 0;
  Tensor<1> weight;
  SINTER_FIELDS(weight)
};
struct ClonedLayer final : Cloned {
  using Cloned::Cloned;
  std::unique_ptr<Cloned> clone() const override { return std::make_unique<ClonedLayer>(*this); }
};

}  // namespace

TEST_CASE("functions that give a model leave the shared parts of the one that they are given alone") {
  const Device device = training();
  const SharedParts model = make_shared_parts(device);
  const nn::Linear* const encoder = model.encoder.get();

  const SharedParts still = nn::valid(model);
  check_untouched(model, encoder);
  CHECK_FALSE(still.encoder->weight.device().is_autodiff());
  CHECK_FALSE(still.dropouts[0]->training);
  CHECK(still.encoder != model.encoder);
  CHECK(still.encoder == still.again);
  CHECK(still.count == model.count);  // holds nothing that such functions change

  CHECK_FALSE(nn::freeze(model, "*").encoder->weight.requires_grad());
  check_untouched(model, encoder);
  CHECK(nn::to_dtype(model, DType::bf16).again->weight.dtype() == DType::bf16);
  check_untouched(model, encoder);
  CHECK_FALSE(nn::set_training(model, false).dropouts[0]->training);
  check_untouched(model, encoder);
  CHECK(nn::add_lora(model, {"encoder"}).encoder->lora);
  check_untouched(model, encoder);
  CHECK_FALSE(model.encoder->lora);
  CHECK(nn::quantize(model, {"encoder"}).encoder->quantized);
  check_untouched(model, encoder);
  CHECK_FALSE(model.encoder->quantized);
  // A layer with two paths is changed once, whichever of them fits, and stays one.
  for (const char* pattern : {"*", "encoder", "again"}) {
    CAPTURE(pattern);
    const SharedParts few = nn::quantize(model, {pattern}), low = nn::add_lora(few, {pattern});
    CHECK(few.encoder == few.again);
    CHECK(low.encoder == low.again);
    CHECK(low.encoder->quantized);
    REQUIRE(low.again->lora);
    CHECK(low.again->lora->a.requires_grad());
    const SharedParts merged = nn::merge_lora(low);
    CHECK(merged.encoder == merged.again);
    CHECK_FALSE(merged.again->lora);
    CHECK(nn::load_lora(low, nn::lora_record(low)).encoder->lora);
    CHECK_THROWS_AS(nn::add_lora(low, {pattern}), Error);
  }

  const auto values = values_of(model.encoder->weight.dynamic());
  const auto twice = [](const std::string&, const AnyTensor& x) { return AnyTensor::mul(x, 2.0); };
  const record::Record other = record::to_record(nn::map(model, twice));
  check_untouched(model, encoder);
  CHECK(values_of(record::from_record(model, other).encoder->weight.dynamic()) != values);
  auto average = optim::EmaConfig{.decay = 0.5}.init();
  average.update(nn::map(model, twice));
  CHECK(values_of(average.model(model).encoder->weight.dynamic()) != values);
  check_untouched(model, encoder);
  CHECK(values_of(model.encoder->weight.dynamic()) == values);
}

TEST_CASE("a fork of a model with shared parts trains by itself, and a step changes what is shared") {
  const Device device = training();
  SharedParts model = make_shared_parts(device);
  const auto values = [](const SharedParts& of) { return values_of(of.encoder->weight.dynamic()); };
  const auto before = values(model);
  SharedParts fork = nn::fork(model), alias = model;
  auto sgd = optim::SgdConfig{}.init();
  sgd.step(0.1, fork, fork.again->weight.sum().backward());
  CHECK(values(model) == before);
  CHECK(values(fork) != before);
  auto other = optim::SgdConfig{}.init();
  other.step(0.1, model, model.encoder->weight.sum().backward());
  CHECK(values(alias) == values(model));
  CHECK(values(alias) == values(fork));
}

TEST_CASE("parts that the model alone holds are changed where they are, also those that cannot be copied") {
  const Device device = training();
  struct Whole {
    std::unique_ptr<nn::Linear> own;
    std::shared_ptr<nn::Linear> shared;
  };
  Whole model{.own = std::make_unique<nn::Linear>(nn::LinearConfig{.d_in = 2, .d_out = 2}.init(device)),
              .shared = std::make_shared<nn::Linear>(nn::LinearConfig{.d_in = 2, .d_out = 2}.init(device))};
  const nn::Linear *own = model.own.get(), *shared = model.shared.get();
  model = nn::freeze(std::move(model), "*.weight");
  CHECK(model.own.get() == own);
  CHECK(model.shared.get() == shared);
  CHECK_FALSE(own->weight.requires_grad());
  CHECK_FALSE(shared->weight.requires_grad());
  CHECK(shared->bias->requires_grad());
}

TEST_CASE("a shared part that cannot be copied is an error with its path, one with clone() is cloned") {
  const Device device = training();
  const Tensor<1> weight = Tensor<1>::ones({2}, device).require_grad();
  struct Layers {
    std::vector<std::shared_ptr<AnyLayer>> layers;
  };
  const Layers same{{std::make_shared<AnyLayer>(weight)}}, derived{{std::make_shared<NamedLayer>(weight)}};
  CHECK_FALSE(nn::freeze(same, "*").layers[0]->weight.requires_grad());
  CHECK_THROWS_WITH_AS(
      nn::freeze(derived, "*"),
      "[module] \"layers.0\" is a shared pointer to an object that other pointers lead to as well, which "
      "cannot be copied: give its class a copy constructor, or clone() const where other "
      "classes derive from it",
      Error);
  CHECK(derived.layers[0]->weight.requires_grad());

  const std::shared_ptr<Cloned> layer = std::make_shared<ClonedLayer>(weight);
  const std::shared_ptr<Cloned> still = nn::valid(layer);
  CHECK(dynamic_cast<const ClonedLayer*>(still.get()));
  CHECK_FALSE(still->weight.requires_grad());
  CHECK(layer->weight.requires_grad());
}
