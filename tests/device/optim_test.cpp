// Optimizers against values of PyTorch, their state in records, and parameters that a step must not change.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/record.h>

#include "tests/pytorch/optimizers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return Device::best().autodiff(); }

struct Model {
  Tensor<1> p;
};

Model start() { return {Tensor<1>(tensor_of(reference::optim_start, {7}, training()).require_grad())}; }

// Gradients of the loss sum((p * scale)^2) / 2.
Gradients gradients_of(const Tensor<1>& p) {
  AnyTensor scaled = AnyTensor::mul(p.dynamic(), tensor_of(reference::optim_scale, {7}, training()));
  return AnyTensor::mul(scaled.square().sum(0), 0.5).reshape({}).backward();
}

template <class Optimizer>
void check_three_steps(Optimizer optimizer, double learning_rate, const std::vector<float>& first,
                       const std::vector<float>& second, const std::vector<float>& third) {
  Model model = start();
  for (const std::vector<float>* expected : {&first, &second, &third}) {
    Gradients gradients = gradients_of(model.p);
    optimizer.step(learning_rate, model, std::move(gradients));
    CHECK(model.p.dynamic().requires_grad());
    check_close(model.p.dynamic(), *expected, 2e-6);
  }
}

template <class Config>
void check_state(const Config& config) {
  auto run = [](auto& optimizer, Model model, int steps) {
    for (int i = 0; i < steps; ++i) {
      Gradients gradients = gradients_of(model.p);
      optimizer.step(0.05, model, std::move(gradients));
    }
    return model;
  };
  auto whole = config.init();
  std::vector<float> expected = values_of(run(whole, start(), 5).p.dynamic());

  TemporaryFolder folder;
  auto file = folder.path() / "optimizer.safetensors";
  auto before = config.init();
  Model half = run(before, start(), 3);
  before.save(file);
  auto after = config.init();
  after.load(file, training());
  CHECK(values_of(run(after, std::move(half), 2).p.dynamic()) == expected);
}

}  // namespace

TEST_CASE("Adam") {
  using namespace reference;
  check_three_steps(optim::AdamConfig{}.init(), 0.01, adam_1, adam_2, adam_3);
  check_three_steps(
      optim::AdamConfig{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1}.init(), 0.02,
      adam_decay_1, adam_decay_2, adam_decay_3);
}

namespace {

/// Adam of one number, in double: the algorithm of its paper (Kingma and Ba, 2015, algorithm 1).
class ReferenceAdam {
 public:
  explicit ReferenceAdam(double epsilon) : epsilon_(epsilon) {}
  double step(double learning_rate, double gradient) {
    ++steps_;
    first_ = 0.9 * first_ + 0.1 * gradient;
    second_ = 0.999 * second_ + 0.001 * gradient * gradient;
    const double mean = first_ / (1 - std::pow(0.9, steps_));
    const double square = second_ / (1 - std::pow(0.999, steps_));
    return -learning_rate * mean / (std::sqrt(square) + epsilon_);
  }

 private:
  double epsilon_, first_ = 0, second_ = 0;
  int steps_ = 0;
};

}  // namespace

TEST_CASE("Adam's epsilon counts where gradients are as small as it is") {
  const std::vector<float> sizes{1e-9f, -3e-9f, 1e-8f, 1e-7f, -1e-6f, 1e-4f, 1, 0};
  for (const double epsilon : {1e-8, 1e-6}) {
    auto adam = optim::AdamConfig{.epsilon = epsilon}.init();
    std::vector<ReferenceAdam> reference(sizes.size(), ReferenceAdam(epsilon));
    std::vector<double> expected(sizes.size(), 0);
    Model model{Tensor<1>(AnyTensor::full({8}, 0.0f, DType::f32, training()).require_grad())};
    for (const float factor : {1.0f, 3.0f, -0.5f}) {
      std::vector<float> gradient;
      for (const float size : sizes) gradient.push_back(factor * size);
      AnyTensor loss = AnyTensor::mul(model.p.dynamic(), tensor_of(gradient, {8}, training())).sum(0);
      adam.step(0.01, model, loss.reshape({}).backward());
      const std::vector<float> found = values_of(model.p.dynamic());
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        expected[i] += reference[i].step(0.01, gradient[i]);
        CAPTURE(epsilon);
        CAPTURE(sizes[i]);
        CAPTURE(found[i]);
        // Relative, also to a step of a millionth: the values above are compared to 2e-6 of 1.
        CHECK(std::abs(found[i] - expected[i]) <= 1e-5 * std::abs(expected[i]));
      }
    }
  }
}

TEST_CASE("AdamW") {
  using namespace reference;
  check_three_steps(optim::AdamWConfig{.weight_decay = 0.1}.init(), 0.01, adamw_1, adamw_2, adamw_3);
}

TEST_CASE("SGD") {
  using namespace reference;
  check_three_steps(optim::SgdConfig{}.init(), 0.1, sgd_1, sgd_2, sgd_3);
  check_three_steps(optim::SgdConfig{.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.05}.init(), 0.1,
                    sgd_momentum_1, sgd_momentum_2, sgd_momentum_3);
  check_three_steps(optim::SgdConfig{.momentum = 0.9, .nesterov = true}.init(), 0.1, sgd_nesterov_1,
                    sgd_nesterov_2, sgd_nesterov_3);
}

TEST_CASE("numbers out of range") {
  CHECK_THROWS_AS(optim::AdamConfig{.beta1 = 1}.init(), Error);
  CHECK_THROWS_AS(optim::AdamConfig{.epsilon = -1}.init(), Error);
  CHECK_THROWS_AS(optim::SgdConfig{.nesterov = true}.init(), Error);
  Model model = start();
  Gradients gradients = gradients_of(model.p);
  auto sgd = optim::SgdConfig{}.init();
  CHECK_THROWS_WITH_AS(sgd.step(-1, model, std::move(gradients)),
                       doctest::Contains("the learning rate is -1"), Error);
}

TEST_CASE("an optimizer goes on where it was saved") {
  check_state(optim::AdamConfig{});
  check_state(optim::AdamWConfig{});
  check_state(optim::SgdConfig{.momentum = 0.9});
}

TEST_CASE("the state of another optimizer, or of another model") {
  auto adam = optim::AdamConfig{}.init();
  auto sgd = optim::SgdConfig{.momentum = 0.9}.init();
  CHECK_THROWS_WITH_AS(adam.load_record(sgd.to_record(), training()),
                       doctest::Contains("a state of the optimizer sgd, expected one of adam"), DataError);
  CHECK_THROWS_AS(adam.load_record(record::Record(), training()), DataError);
  Model model = start();
  adam.step(0.1, model, gradients_of(model.p));
  record::Record record = adam.to_record();
  CHECK(record.find("p.exp_avg"));
  Model other{Tensor<1>(AnyTensor::full({1}, 1.0f, DType::f32, training()).require_grad())};
  Gradients gradients = AnyTensor::mul(other.p.dynamic(), 2.0).reshape({}).backward();
  CHECK_THROWS_AS(adam.step(0.1, other, std::move(gradients)), ShapeError);
}

TEST_CASE("a record whose states cannot be this optimizer's changes nothing") {
  auto adam = optim::AdamConfig{}.init();
  Model model = start();
  adam.step(0.1, model, gradients_of(model.p));
  const record::Record good = adam.to_record();
  const Shape shape = good.find("p.exp_avg")->shape;
  const auto zeros = [](DType dtype, const Shape& of) {
    return record::Record::Entry{
        dtype, of, std::vector<std::byte>(static_cast<std::size_t>(of.numel()) * size_of(dtype))};
  };
  const auto count = [](std::int64_t value) {
    return record::Record::Entry{DType::i64, Shape(), std::as_bytes(std::span(&value, 1))};
  };
  const auto error_with = [&](const char* name, record::Record::Entry entry) {
    record::Record bad = good;
    bad.erase(name);
    bad.add(name, std::move(entry));
    std::string message;
    try {
      adam.load_record(bad, training());
    } catch (const DataError& error) {
      message = error.what();
    }
    return message;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  Shape other = shape;
  other[0] += 1;
  CHECK(has(error_with("p.exp_avg", zeros(DType::i32, shape)), "p.exp_avg is i32"));
  CHECK(has(error_with("p.exp_avg", zeros(DType::bf16, shape)), "expected f32 or f64"));
  CHECK(has(error_with("p.exp_avg", zeros(DType::f64, shape)), "expected one dtype and one shape"));
  CHECK(has(error_with("p.exp_avg_sq", zeros(DType::f32, other)), "expected one dtype and one shape"));
  CHECK(
      has(error_with("p.step", count(-1)), "\"p.step\" is -1, expected a count from 0 to 9007199254740992"));
  CHECK(has(error_with("p.step", count(INT64_MAX)), "\"p.step\" is 9223372036854775807"));
  CHECK(has(error_with("p.step", count(0)), "there is no count"));
  record::Record master = good;
  master.add("p.master", zeros(DType::f64, shape));
  CHECK_THROWS_AS(adam.load_record(master, training()), DataError);
  CHECK(adam.to_record().to_bytes() == good.to_bytes());
  adam.load_record(good, training());

  auto ema = optim::EmaConfig{}.init();
  ema.update(model);
  record::Record average = ema.to_record();
  average.erase("average.p");
  average.add("average.p", zeros(DType::i64, shape));
  CHECK_THROWS_WITH_AS(ema.load_record(average, training()), doctest::Contains("average.p is i64"),
                       DataError);
  CHECK(ema.count() == 1);
}

TEST_CASE("a step leaves alone what has no gradient") {
  struct Three {
    Tensor<1> used, unused, frozen;
  };
  auto make = [](bool is_leaf) {
    AnyTensor tensor = tensor_of({1, 2}, {2}, training());
    return Tensor<1>(is_leaf ? tensor.require_grad() : tensor);
  };
  Three model{make(true), make(true), make(false)};
  AnyTensor product = AnyTensor::mul(model.used.dynamic(), model.frozen.dynamic());
  Gradients gradients = product.sum(0).reshape({}).backward();
  optim::SgdConfig{}.init().step(1, model, std::move(gradients));
  check_close(model.used.dynamic(), {0, 0});
  check_close(model.unused.dynamic(), {1, 2});
  check_close(model.frozen.dynamic(), {1, 2});
  CHECK(model.unused.dynamic().requires_grad());
  CHECK_FALSE(model.frozen.dynamic().requires_grad());
}

TEST_CASE("a step without a gradient for any parameter is a mistake") {
  Model model = start();
  auto sgd = optim::SgdConfig{}.init();
  CHECK_THROWS_WITH_AS(sgd.step(1, model, Gradients()), doctest::Contains("[sgd] there are no gradients"),
                       Error);
  // Of a model that is another one: forked, or moved to a device since.
  Model other = nn::fork(model);
  Gradients gradients = gradients_of(other.p);
  CHECK_THROWS_WITH_AS(sgd.step(1, model, std::move(gradients)),
                       doctest::Contains("none of the 1 gradients is of a parameter of this model"), Error);
  CHECK(gradients.size() == 1);
  sgd.step(1, other, std::move(gradients));
  // A second optimizer comes too late unless the first leaves it something.
  CHECK_THROWS_AS(sgd.step(1, other, std::move(gradients)), Error);
}

TEST_CASE("tied weights are updated once and stay tied") {
  struct Tied {
    Tensor<1> a, b;
    std::shared_ptr<Model> left, right;
  };
  Tensor<1> weight(tensor_of({1, 2}, {2}, training()).require_grad());
  auto shared = std::make_shared<Model>(Model{Tensor<1>(tensor_of({3, 4}, {2}, training()).require_grad())});
  Tied model{weight, weight, shared, shared};
  weight = {};
  AnyTensor sum =
      AnyTensor::add(AnyTensor::add(model.a.dynamic(), model.b.dynamic()), model.left->p.dynamic());
  Gradients gradients = sum.sum(0).reshape({}).backward();
  optim::SgdConfig{}.init().step(0.5, model, std::move(gradients));
  check_close(model.a.dynamic(), {0, 1});
  check_close(model.b.dynamic(), {0, 1});
  check_close(model.right->p.dynamic(), {2.5, 3.5});
  CHECK(model.a.dynamic().node().get() == model.b.dynamic().node().get());
}

TEST_CASE("a model goes through a file") {
  struct Net {
    nn::Conv2d conv;
    std::vector<nn::Linear> layers;
  };
  auto make = [](const Device& device) {
    Net net{nn::Conv2dConfig{.channels = {1, 2}, .kernel = {3, 3}}.init(device), {}};
    net.layers.push_back(nn::LinearConfig{.d_in = 3, .d_out = 4}.init(device));
    net.layers.push_back(nn::LinearConfig{.d_in = 4, .d_out = 2, .bias = false}.init(device));
    return net;
  };
  TemporaryFolder folder;
  auto file = folder.path() / "net.safetensors";
  Net net = make(training());
  record::save(net, file);
  record::Record record = record::Record::read(file);
  CHECK(record.entries().size() == 5);
  CHECK(record.find("layers.0.bias"));

  Net back = record::load(make(training()), file);
  CHECK(values_of(back.conv.weight.dynamic()) == values_of(net.conv.weight.dynamic()));
  CHECK(values_of(back.layers[1].weight.dynamic()) == values_of(net.layers[1].weight.dynamic()));
  CHECK(back.conv.weight.dynamic().requires_grad());
  Net plain = record::from_bytes(make(Device::best()), record::to_bytes(net));
  CHECK_FALSE(plain.conv.weight.dynamic().requires_grad());
  CHECK(values_of(plain.conv.weight.dynamic()) == values_of(net.conv.weight.dynamic()));

  Net other = make(Device::best());
  other.layers[0] = nn::LinearConfig{.d_in = 5, .d_out = 4, .bias = false}.init(Device::best());
  other.layers[1] = nn::LinearConfig{.d_in = 4, .d_out = 2}.init(Device::best());
  std::string message;
  try {
    record::load(other, file);
  } catch (const DataError& error) {
    message = error.what();
  }
  CHECK(message.find("net.safetensors") != std::string::npos);
  CHECK(message.find("missing: layers.1.bias f32 (2)") != std::string::npos);
  CHECK(message.find("unexpected: layers.0.bias") != std::string::npos);
  CHECK(message.find("different: layers.0.weight is f32 (4, 3) but the module has f32 (4, 5)") !=
        std::string::npos);
}

TEST_CASE("once a training step is known, the next ones compile nothing and write in place") {
  Device device = training();
  nn::Linear model = nn::LinearConfig{.d_in = 8, .d_out = 4}.init(device);
  auto adam = optim::AdamConfig{}.init();
  auto step = [&](double learning_rate) {
    std::vector<float> numbers(16, static_cast<float>(learning_rate));
    Tensor<2> x(tensor_of(numbers, {2, 8}, device.inner()));
    AnyTensor y = model.forward(x).dynamic();
    Gradients gradients = y.square().sum({0, 1}).reshape({}).backward();
    adam.step(learning_rate, model, std::move(gradients));
  };
  step(0.1);
  step(0.2);
  device.sync();
  ForbidCompilation guard;
  Statistics before = device.statistics();
  for (int i = 0; i < 5; ++i) step(0.01 * (i + 1));
  device.sync();
  Statistics after = device.statistics();
  CHECK(after.plans_built == before.plans_built);
  CHECK(after.plans_found == before.plans_found + 5);
  // Weight, bias, and two moments of each.
  const char* fusion = std::getenv("SINTER_FUSION");
  if (!fusion || fusion != std::string("0"))
    CHECK(after.bytes_in_place - before.bytes_in_place >= 5 * 3 * (8 * 4 + 4) * sizeof(float));
}
