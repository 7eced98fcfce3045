// Scaling of losses: values of PyTorch's scaler, steps that are skipped as though they had not been asked
// for, a training in f16 that needs it, and nothing that waits.
#include "tests/pytorch/grad_scaler.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autocast.h>
#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/record.h>

#include "tests/support/temporary_folder.h"
#include "tests/support/values.h"

using namespace sinter;

namespace {

Device training() { return Device::best().autodiff(); }

struct Model {
  Tensor<1> p;
};

Model model_of(const std::vector<float>& values, DType dtype = DType::f32) {
  return {Tensor<1>::from_data(values, {static_cast<std::int64_t>(values.size())}, training())
              .cast(dtype)
              .require_grad()};
}

std::vector<float> numbers_of(const Model& model) {
  return values_of(model.p.inner().cast(DType::f32).dynamic());
}

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Of a loss whose gradient is `factor` everywhere plus the parameter itself.
Tensor<0> loss_of(const Model& model, float factor) {
  const auto p = model.p.cast(DType::f32);
  return (p.square() * 0.5 + p * static_cast<double>(factor)).sum();
}

}  // namespace

TEST_CASE("scale, counts and parameters are those of PyTorch's scaler with Adam") {
  namespace ref = reference::grad_scaler;
  const Device device = training();
  const auto factor =
      Tensor<1>::from_data(std::vector<float>(ref::factor.begin(), ref::factor.end()), {7}, device.inner());
  Model model = model_of({ref::start.begin(), ref::start.end()});
  auto adam = optim::AdamConfig{.weight_decay = 0.1}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = std::pow(2.0, 127), .growth_interval = 4}.init(device);
  for (std::size_t step = 0; step < ref::scales.size(); ++step) {
    CAPTURE(step);
    const auto loss =
        (model.p * factor).square().sum() * 0.5 + model.p.sum() * (4 * std::cos(static_cast<double>(step)));
    scaler.step(adam, 0.02, model, scaler.scale(loss).backward());
    scaler.update();
    CHECK(scaler.current_scale().item() == static_cast<float>(ref::scales[step]));
    CHECK(scaler.growth_tracker().item() == ref::trackers[step]);
    CHECK(scaler.skipped().item() == ref::skipped[step]);
    const auto at = ref::parameters.begin() + static_cast<std::ptrdiff_t>(7 * step);
    check_close(model.p.dynamic(), std::vector<float>(at, at + 7), 3e-6);
  }
  const auto record = adam.to_record();
  std::int64_t steps = 0;
  std::memcpy(&steps, record.find("p.step")->bytes.data(), sizeof steps);
  CHECK(steps == static_cast<std::int64_t>(ref::scales.size()) - ref::skipped.back());
}

TEST_CASE("a skipped step is as though it had not been asked for") {
  using namespace optim;
  const std::vector<std::pair<std::string, std::function<Optimizer()>>> optimizers{
      {"sgd", [] { return SgdConfig{.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.05}.init(); }},
      {"adam", [] { return AdamConfig{.beta1 = 0, .weight_decay = 0.1}.init(); }},
      {"adamw", [] { return AdamWConfig{.options = {.clip_norm = 0.5}}.init(); }},
      {"amsgrad", [] { return AdamConfig{.amsgrad = true}.init(); }},
      {"radam", [] { return RAdamConfig{.beta2 = 0.9}.init(); }},
      {"adadelta", [] { return AdaDeltaConfig{.weight_decay = 0.1}.init(); }},
      {"adamax", [] { return AdaMaxConfig{}.init(); }},
      {"adan", [] { return AdanConfig{.weight_decay = 0.1}.init(); }},
      {"rmsprop", [] { return RmsPropConfig{.momentum = 0.7, .centered = true}.init(); }},
      {"adagrad", [] { return AdaGradConfig{.decay = 0.1, .initial = 0.2}.init(); }},
      {"adafactor", [] { return AdafactorConfig{}.init(); }},
      {"lion", [] { return LionConfig{}.init(); }},
  };
  const std::vector<float> factors{kInf, kInf, 1, -2, kInf, 0.5f, kInf, 3, 0.25f, kInf};
  for (const auto& [name, make] : optimizers)
    for (const DType dtype : {DType::f32, DType::f16}) {
      CAPTURE(name);
      CAPTURE(name_of(dtype));
      Model scaled = model_of({1, -0.5f, 0.25f}, dtype), plain = scaled;
      auto of_scaled = make(), of_plain = make();
      auto scaler = GradScalerConfig{.init_scale = 1024}.init(training());
      for (const float factor : factors) {
        const auto before = numbers_of(scaled);
        scaler.step(of_scaled, 0.05, scaled, scaler.scale(loss_of(scaled, factor)).backward());
        scaler.update();
        if (std::isinf(factor))
          CHECK(numbers_of(scaled) == before);
        else
          of_plain.step(0.05, plain, loss_of(plain, factor).backward());
        check_close(numbers_of(scaled), numbers_of(plain), dtype == DType::f32 ? 1e-6 : 1e-3);
      }
      CHECK(scaler.skipped().item() == 5);
      CHECK(scaler.current_scale().item() == 32);
      // What it remembers is what the other remembers: both go on alike from the record.
      const auto left = of_scaled.to_record(), right = of_plain.to_record();
      REQUIRE(left.entries().size() == right.entries().size());
      CHECK(left.find("p.step")->bytes == right.find("p.step")->bytes);
      for (const auto& [path, entry] : right.entries())
        if (entry.dtype == DType::f32) {
          CAPTURE(path);
          // Clipping rounds a gradient of f16 once more, but for one that was divided in f32.
          check_close(left.tensor(path, Device::best()), values_of(right.tensor(path, Device::best())),
                      dtype == DType::f32 ? 1e-5 : 1e-3);
        }
      of_scaled.load_record(left, training());
      of_scaled.step(0.05, scaled, loss_of(scaled, 1).backward());
      of_plain.step(0.05, plain, loss_of(plain, 1).backward());
      check_close(numbers_of(scaled), numbers_of(plain), dtype == DType::f32 ? 1e-6 : 1e-3);
    }
}

TEST_CASE("a gradient that is NaN, or the scale's inverse makes infinite, skips the step, too") {
  auto sgd = optim::SgdConfig{.momentum = 0.5}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = 1e-3}.init(training());
  Model model = model_of({1, 2});
  for (const float factor : {std::numeric_limits<float>::quiet_NaN(), 1e37f, -kInf}) {
    const auto loss = (model.p * static_cast<double>(factor)).sum();
    // The gradients are not scaled, so that the second one is finite before it is divided.
    scaler.step(sgd, 0.1, model, loss.backward());
    scaler.update();
  }
  CHECK(numbers_of(model) == std::vector<float>{1, 2});
  CHECK(scaler.skipped().item() == 3);
  CHECK(sgd.to_record().entries().empty());
}

TEST_CASE("the scale does not grow to infinity") {
  auto sgd = optim::SgdConfig{}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = 1e38, .growth_interval = 1}.init(training());
  Model model = model_of({1});
  for (int i = 0; i < 4; ++i) {
    scaler.step(sgd, 0.1, model, scaler.scale((model.p * 0.0).sum()).backward());
    scaler.update();
  }
  CHECK(scaler.current_scale().item() == 2e38f);
  CHECK(scaler.growth_tracker().item() == 0);
}

namespace {

struct Net {
  nn::Linear hidden, out;
  Tensor<2> forward(const Tensor<2>& x) const { return out.forward(relu(hidden.forward(x))); }
};

/// The quotient of the losses after and before, of a regression with small targets and many elements, so that
/// gradients of a mean are below 2^-25, where f16 rounds to 0.
double trained(DType dtype, bool enabled) {
  const Device device = training();
  device.seed(3);
  Net net{nn::LinearConfig{.d_in = 4, .d_out = 16}.init(device),
          nn::LinearConfig{.d_in = 16, .d_out = 64}.init(device)};
  const auto x = Tensor<2>::randn({64, 4}, device.inner());
  const auto y = x.matmul(Tensor<2>::randn({4, 64}, device.inner())) * 1e-3;
  auto adam = optim::AdamConfig{.epsilon = 1e-12}.init();
  auto scaler = optim::GradScalerConfig{.enabled = enabled}.init(device);
  const auto loss_of = [&] {
    const Autocast mixed(dtype);
    return nn::mse(net.forward(x) * 1e-3, y);
  };
  const double before = loss_of().item();
  for (int step = 0; step < 60; ++step) {
    scaler.step(adam, 1e-2, net, scaler.scale(loss_of()).backward());
    scaler.update();
  }
  return loss_of().item() / before;
}

}  // namespace

TEST_CASE("a training in f16 learns with a scaler, and without one its gradients are zero") {
  CHECK(trained(DType::f16, true) < 0.3);
  CHECK(trained(DType::bf16, false) < 0.3);  // not for want of a model
  CHECK(trained(DType::f16, false) > 0.9);
}

TEST_CASE("gradients of f16 are divided in f32") {
  Model model = model_of({0, 0}, DType::f16);
  auto sgd = optim::SgdConfig{}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = 32768}.init(training());
  // 1e-9 is 0 in f16, 32768 times that is not.
  scaler.step(sgd, 1e6, model, scaler.scale((model.p * 1e-9).sum()).backward());
  check_close(numbers_of(model), {-1e-3f, -1e-3f}, 1e-5);
  CHECK(numbers_of(model)[0] != 0);
}

TEST_CASE("gradients that are unscaled before the step") {
  const Device device = training();
  Model model = model_of({3, 4});
  auto sgd = optim::SgdConfig{}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = 8}.init(device);
  Gradients gradients = scaler.scale(loss_of(model, 0)).backward();
  scaler.unscale(gradients);
  check_close(gradients.get(model.p)->dynamic(), {3, 4});
  CHECK_THROWS_WITH_AS(scaler.unscale(gradients), doctest::Contains("unscaled a second time"), Error);
  check_close(optim::clip_by_norm(gradients, 1).dynamic(), {5});
  scaler.step(sgd, 1, model, std::move(gradients));
  scaler.update();
  check_close(model.p.dynamic(), {2.4f, 3.2f});
  CHECK_THROWS_WITH_AS(scaler.update(), doctest::Contains("update() without a step"), Error);

  gradients = scaler.scale(loss_of(model, kInf)).backward();
  scaler.unscale(gradients);
  scaler.step(sgd, 1, model, std::move(gradients));
  scaler.update();
  check_close(model.p.dynamic(), {2.4f, 3.2f});
  CHECK(scaler.current_scale().item() == 4);

  struct Two {
    Tensor<1> a, b;
  };
  Two two{Tensor<1>::ones({1}, device).require_grad(), Tensor<1>::ones({1}, device).require_grad()};
  gradients = two.a.sum().backward();
  scaler.unscale(gradients);
  gradients.set(two.b, Tensor<1>::ones({1}, device.inner()));
  CHECK_THROWS_WITH_AS(scaler.step(sgd, 1, two, std::move(gradients)),
                       doctest::Contains("of 2 gradients 1 were unscaled"), Error);
  CHECK(gradients.size() == 2);
}

TEST_CASE("two optimizers and one scaler: each skips for its own gradients") {
  struct Two {
    Tensor<1> a, b;
  };
  const Device device = training();
  Two two{Tensor<1>::ones({2}, device).require_grad(), Tensor<1>::ones({2}, device).require_grad()};
  auto left = optim::SgdConfig{.options = {.groups = {{.pattern = "b", .skip = true}}}}.init();
  auto right = optim::SgdConfig{.options = {.groups = {{.pattern = "a", .skip = true}}}}.init();
  auto scaler = optim::GradScalerConfig{.init_scale = 4, .growth_interval = 1}.init(device);
  Gradients gradients = scaler.scale(two.a.sum() * static_cast<double>(kInf) + two.b.sum() * 0.5).backward();
  scaler.step(left, 1, two, std::move(gradients));
  CHECK(gradients.size() == 1);
  scaler.step(right, 1, two, std::move(gradients));
  scaler.update();
  check_close(two.a.dynamic(), {1, 1});
  check_close(two.b.dynamic(), {0.5f, 0.5f});
  CHECK(scaler.current_scale().item() == 2);
  CHECK(scaler.skipped().item() == 1);
}

TEST_CASE("a scaler that is not enabled, one that comes from a checkpoint, and numbers out of range") {
  const Device device = training();
  Model model = model_of({1});
  auto sgd = optim::SgdConfig{}.init();
  auto off = optim::GradScalerConfig{.enabled = false}.init(device);
  CHECK(off.scale(model.p).inner().item() == 1);
  Gradients gradients = off.scale(loss_of(model, 1)).backward();
  off.unscale(gradients);
  off.step(sgd, 0.25, model, std::move(gradients));
  off.update();
  check_close(model.p.dynamic(), {0.5f});
  CHECK(off.current_scale().item() == 1);

  const auto step = [&](optim::GradScaler& scaler, Model& at, float factor) {
    scaler.step(sgd, 0.1, at, scaler.scale(loss_of(at, factor)).backward());
    scaler.update();
  };
  const optim::GradScalerConfig config{.init_scale = 16, .growth_interval = 3};
  auto scaler = config.init(device);
  for (const float factor : {1.0f, kInf, 1.0f, 1.0f}) step(scaler, model, factor);
  TemporaryFolder folder;
  const auto file = folder.path() / "scaler.safetensors";
  record::Checkpoint saved;
  saved.state("scaler", scaler, device);
  saved.save(file);
  auto other = config.init(device);
  record::Checkpoint loaded;
  loaded.state("scaler", other, device);
  loaded.load(file);
  CHECK(other.current_scale().item() == 8);
  CHECK(other.growth_tracker().item() == 2);
  CHECK(other.skipped().item() == 1);
  step(other, model, 1);
  CHECK(other.current_scale().item() == 16);
  off.load_record(other.to_record(), device);
  CHECK(off.current_scale().item() == 1);
  CHECK_THROWS_WITH_AS(other.load_record(off.to_record(), device),
                       doctest::Contains("no f32 number \"scale\""), DataError);
  record::Checkpoint without;
  without.state("scaler", off, device);
  without.save(file);
  without.load(file);
  CHECK_THROWS_AS(other.load_record(sgd.to_record(), device), DataError);
  CHECK_THROWS_AS(other.load_record(record::Record(), device), DataError);
  record::Record wrong;
  wrong.set_text("optimizer", "grad_scaler");
  wrong.add("scale", Tensor<1>::ones({2}, device.inner()).dynamic());
  CHECK_THROWS_AS(other.load_record(wrong, device), DataError);
  CHECK(other.current_scale().item() == 16);

  for (const optim::GradScalerConfig& bad :
       {optim::GradScalerConfig{.init_scale = 0}, optim::GradScalerConfig{.init_scale = 1e39},
        optim::GradScalerConfig{.init_scale = NAN}, optim::GradScalerConfig{.growth_factor = 1},
        optim::GradScalerConfig{.backoff_factor = 1}, optim::GradScalerConfig{.backoff_factor = 0},
        optim::GradScalerConfig{.growth_interval = 0}})
    CHECK_THROWS_AS(bad.init(device), Error);
}

TEST_CASE("steps under a scaler wait for nothing, and compile nothing after the first ones") {
  const auto run = [](const Device& device, int steps, auto&& after) {
    Net net{nn::LinearConfig{.d_in = 4, .d_out = 8}.init(device),
            nn::LinearConfig{.d_in = 8, .d_out = 2}.init(device)};
    auto adam = optim::AdamWConfig{.options = {.clip_norm = 1}}.init();
    auto scaler = optim::GradScalerConfig{.growth_interval = 2}.init(device);
    for (int step = 0; step < steps; ++step) {
      const auto x = Tensor<2>::randn({4, 4}, device.inner());
      Tensor<0> loss;
      {
        const Autocast mixed(DType::f16);
        loss = net.forward(x).square().mean();
      }
      scaler.step(adam, 1e-3, net, scaler.scale(loss).backward());
      scaler.update();
      after(step);
    }
  };
  // Nothing can be read there.
  run(Device::null().autodiff(), 4, [](int) {});
  const Device device = training();
  Statistics before;
  run(device, 8, [&](int step) {
    if (step == 3) before = device.statistics();
  });
  CHECK(device.statistics().plans_built == before.plans_built);
  CHECK(device.statistics().kernels_compiled == before.kernels_compiled);
}
