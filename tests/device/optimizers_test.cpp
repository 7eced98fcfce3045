// Optimizers over ten steps in f64, groups, clipping, 16-bit parameters, rules of a user, averages,
// schedules.
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/config.h>
#include <sinter/nn.h>
#include <sinter/optim.h>

#include "tests/pytorch/optimizer_steps.h"
#include "tests/support/values.h"

using namespace sinter;
namespace ten = reference::ten_steps;

namespace {

Device training() { return Device::best().autodiff(); }

template <std::size_t R>
struct Holder {
  Tensor<R> weight;
};

Tensor<2> matrix(const std::vector<double>& values, const Device& device, std::int64_t rows = 3) {
  return Tensor<2>::from_data(values, {rows, 12 / rows}, device);
}

/// Of sum((p scale)^2) / 2 + cos(step) sum(p), as the reference has them.
Gradients gradients_of(const Tensor<2>& p, const Tensor<2>& scale, int step) {
  return ((p * scale).square().sum() * 0.5 + p.sum() * std::cos(step)).backward();
}

void check_ten_steps(optim::Optimizer optimizer, double learning_rate, const std::vector<double>& expected,
                     bool transposed = false) {
  const Device device = training();
  auto start = matrix(ten::start, device), scale = matrix(ten::scale, device);
  Holder<2> model{(transposed ? start.t() : start).require_grad()};
  for (int step = 0; step < 10; ++step)
    optimizer.step(learning_rate, model, gradients_of(model.weight, transposed ? scale.t() : scale, step));
  const auto found = (transposed ? model.weight.t() : model.weight).inner().to_vector<double>();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CAPTURE(found[i]);
    CAPTURE(expected[i]);
    CHECK(std::abs(found[i] - expected[i]) <= 1e-9 * std::max(1.0, std::abs(expected[i])));
  }
}

bool has_f64() {
  try {
    return Tensor<1>::full({1}, 2, training(), DType::f64).sqrt().item() > 1;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("ten steps of each optimizer in f64") {
  if (!has_f64()) return;
  using namespace optim;
  check_ten_steps(SgdConfig{.momentum = 0.9, .dampening = 0.1, .weight_decay = 0.05}.init(), 0.05, ten::sgd);
  check_ten_steps(SgdConfig{.momentum = 0.9, .nesterov = true}.init(), 0.05, ten::sgd_nesterov);
  check_ten_steps(AdamConfig{0.8, 0.95, 1e-3, 0.1}.init(), 0.02, ten::adam);
  check_ten_steps(AdamWConfig{.epsilon = 1e-3, .weight_decay = 0.1}.init(), 0.02, ten::adamw);
  check_ten_steps(
      AdamConfig{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.1, .amsgrad = true}.init(),
      0.02, ten::adam_amsgrad);
  check_ten_steps(
      AdamWConfig{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.1, .amsgrad = true}.init(),
      0.02, ten::adamw_amsgrad);
  check_ten_steps(AdaMaxConfig{0.8, 0.95, 1e-3, 0.1}.init(), 0.02, ten::adamax);
  check_ten_steps(RAdamConfig{0.8, 0.95, 1e-3, 0.1}.init(), 0.02, ten::radam);
  check_ten_steps(AdaDeltaConfig{0.8, 1e-3, 0.1}.init(), 0.9, ten::adadelta);
  check_ten_steps(RmsPropConfig{.alpha = 0.9, .epsilon = 1e-3, .weight_decay = 0.1}.init(), 0.02,
                  ten::rmsprop);
  check_ten_steps(RmsPropConfig{.alpha = 0.9, .epsilon = 1e-3, .momentum = 0.7, .centered = true}.init(),
                  0.02, ten::rmsprop_centered);
  check_ten_steps(AdaGradConfig{.epsilon = 1e-3, .decay = 0.1, .initial = 0.2, .weight_decay = 0.1}.init(),
                  0.1, ten::adagrad);
  check_ten_steps(LionConfig{0.8, 0.95, 0.1}.init(), 0.02, ten::lion);
  check_ten_steps(AdanConfig{0.9, 0.8, 0.95, 1e-3, 0.1}.init(), 0.02, ten::adan);
  check_ten_steps(
      AdafactorConfig{.epsilon1 = 1e-3, .epsilon2 = 1e-3, .threshold = 0.7, .weight_decay = 0.1}.init(), 0.02,
      ten::adafactor);
  check_ten_steps(MuonConfig{.momentum = 0.9}.init(), 0.02, ten::muon);
  check_ten_steps(MuonConfig{.momentum = 0.9}.init(), 0.02, ten::muon_tall, true);
}

TEST_CASE("numbers of optimizers that are out of range, and shapes that do not suit") {
  using namespace optim;
  CHECK_THROWS_AS(RmsPropConfig{.alpha = 1}.init(), Error);
  CHECK_THROWS_AS(AdanConfig{.beta3 = -1}.init(), Error);
  CHECK_THROWS_AS(LionConfig{.weight_decay = NAN}.init(), Error);
  CHECK_THROWS_AS(AdafactorConfig{.decay = 0}.init(), Error);
  CHECK_THROWS_AS(MuonConfig{.iterations = 0}.init(), Error);
  CHECK_THROWS_AS((SgdConfig{.options = {.clip_norm = -1}}.init()), Error);
  const Device device = training();
  Holder<1> vector{Tensor<1>::ones({3}, device).require_grad()};
  auto muon = MuonConfig{}.init();
  auto gradients = vector.weight.sum().backward();
  CHECK_THROWS_WITH_AS(muon.step(0.1, vector, std::move(gradients)),
                       doctest::Contains("parameter weight has shape (3), expected a matrix"), ShapeError);
  CHECK(gradients.size() == 1);
  CHECK(muon.to_record().entries().empty());
}

TEST_CASE("a bf16 weight of 1 moves under 300 steps of 1e-3") {
  const Device device = training();
  for (const DType half : {DType::bf16, DType::f16}) {
    Holder<1> model{Tensor<1>::ones({4}, device).cast(half).require_grad()};
    auto adam = optim::AdamConfig{}.init();
    for (int i = 0; i < 300; ++i) adam.step(1e-3, model, model.weight.sum().backward());
    CHECK(model.weight.dtype() == half);
    check_close(model.weight.inner().to_float().dynamic(), std::vector<float>(4, 0.7f), 4e-3);
    const auto record = adam.to_record();
    CHECK(record.find("weight.master")->dtype == DType::f32);
    CHECK(record.find("weight.exp_avg_sq")->dtype == DType::f32);
    // Whoever sets the parameter begins anew from there.
    model.weight = (model.weight.inner() * 0.0 + 2.0).to_device(device).require_grad();
    adam.step(1e-3, model, model.weight.sum().backward());
    check_close(model.weight.inner().to_float().dynamic(), std::vector<float>(4, 2), 2e-3);
  }
}

TEST_CASE("groups of parameters") {
  const Device device = training();
  struct Net {
    nn::Linear a, b;
  };
  const auto make = [&] {
    const auto layer = [&] {
      return nn::Linear{Tensor<2>::ones({1, 2}, device).require_grad(),
                        Tensor<1>::ones({1}, device).require_grad()};
    };
    return Net{layer(), layer()};
  };
  const auto gradients = [](const Net& net) {
    return (net.a.weight.sum() + net.a.bias->sum() + net.b.weight.sum() + net.b.bias->sum()).backward();
  };
  Net net = make();
  auto sgd = optim::SgdConfig{.weight_decay = 0.5,
                              .options = {.groups = {{.pattern = "*.bias", .weight_decay = 0},
                                                     {.pattern = "b.*", .learning_rate = 0.1}}}}
                 .init();
  sgd.step(0.1, net, gradients(net));
  check_close(net.a.weight.dynamic(), {0.85f, 0.85f});    // 1 - 0.1 (1 + 0.5)
  check_close(net.a.bias->dynamic(), {0.9f});             // no decay
  check_close(net.b.weight.dynamic(), {0.985f, 0.985f});  // a tenth of the rate
  check_close(net.b.bias->dynamic(), {0.9f});             // the first group that fits

  // Two optimizers on one model.
  net = make();
  auto muon = optim::MuonConfig{.options = {.groups = {{.pattern = "*.bias", .skip = true}}}}.init();
  auto rest = optim::SgdConfig{.options = {.groups = {{.pattern = "*.weight", .skip = true}}}}.init();
  Gradients both = gradients(net);
  muon.step(0.1, net, std::move(both));
  CHECK(both.size() == 2);
  check_close(net.a.bias->dynamic(), {1});
  CHECK(values_of(net.a.weight.dynamic())[0] < 1);
  rest.step(0.1, net, std::move(both));
  CHECK(both.size() == 0);
  check_close(net.b.bias->dynamic(), {0.9f});

  auto wrong = optim::SgdConfig{.options = {.groups = {{.pattern = "c.*"}}}}.init();
  CHECK_THROWS_WITH_AS(wrong.step(0.1, net, gradients(net)),
                       doctest::Contains("no parameter's path fits the group \"c.*\""), Error);
}

TEST_CASE("muon takes matrices of one shape together, each as if it were alone") {
  const Device device = training();
  const auto weight = [&](double seed, std::int64_t rows) {
    std::vector<float> values;
    for (int i = 0; i < 15; ++i) values.push_back(static_cast<float>(std::sin(i * (0.3 + seed) + seed)));
    return Tensor<2>::from_data(values, {rows, 15 / rows}, device).require_grad();
  };
  const std::vector<std::int64_t> rows{3, 5, 3, 15, 3, 5};  // of matrices, wide and tall
  struct Stack {
    std::vector<Tensor<2>> layers;
  };
  const auto loss_of = [](const Tensor<2>& x) { return (x * x).sum() + (x * 2.0).cos().sum(); };
  Stack stack;
  std::vector<Holder<2>> alone;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    stack.layers.push_back(weight(static_cast<double>(i), rows[i]));
    alone.push_back(Holder<2>{weight(static_cast<double>(i), rows[i])});
  }
  auto together = optim::MuonConfig{}.init();
  std::vector<optim::Optimizer> each;
  for (std::size_t i = 0; i < alone.size(); ++i) each.push_back(optim::MuonConfig{}.init());
  for (int step = 0; step < 3; ++step) {
    auto loss = Tensor<0>::full({}, 0.0, device);
    for (const auto& layer : stack.layers) loss = loss + loss_of(layer);
    together.step(0.02, stack, loss.backward());
    for (std::size_t i = 0; i < alone.size(); ++i)
      each[i].step(0.02, alone[i], loss_of(alone[i].weight).backward());
  }
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CAPTURE(i);
    check_close(stack.layers[i].dynamic(), values_of(alone[i].weight.dynamic()), 1e-5);
  }
}

TEST_CASE("a rule of several parameters at once has to make each of them") {
  struct Forgetful : optim::Rule {
    const char* name() const override { return "forgetful"; }
    AnyTensor update(optim::Update& u) const override { return u.parameter(); }
    std::vector<AnyTensor> update_all(std::span<optim::Update> updates) const override {
      std::vector<AnyTensor> next = Rule::update_all(updates);
      next.pop_back();
      return next;
    }
  };
  Holder<1> model{Tensor<1>::ones({2}, training()).require_grad()};
  optim::Optimizer optimizer(Forgetful{});
  Gradients gradients = model.weight.sum().backward();
  CHECK_THROWS_WITH_AS(optimizer.step(0.1, model, std::move(gradients)),
                       doctest::Contains("[forgetful] of 1 parameters the rule made 0"), Error);
  CHECK(gradients.size() == 1);
  check_close(model.weight.dynamic(), {1, 1});
}

TEST_CASE("clipping, and gradients of several batches") {
  const Device device = training();
  struct Two {
    Tensor<1> a, b;
  };
  const auto make = [&] {
    return Two{Tensor<1>::zeros({1}, device).require_grad(), Tensor<1>::zeros({2}, device).require_grad()};
  };
  const auto gradients = [](const Two& two) { return (two.a.sum() * 3.0 + two.b.sum() * -4.0).backward(); };
  Two model = make();
  auto by_value = optim::SgdConfig{.options = {.clip_value = 3.5}}.init();
  by_value.step(1, model, gradients(model));
  check_close(model.a.dynamic(), {-3});
  check_close(model.b.dynamic(), {3.5f, 3.5f});
  const float norm = std::sqrt(9.0f + 16 + 16);
  model = make();
  auto by_norm = optim::SgdConfig{.options = {.clip_norm = 1}}.init();
  by_norm.step(1, model, gradients(model));
  check_close(model.a.dynamic(), {-3 / norm});
  check_close(model.b.dynamic(), {4 / norm, 4 / norm});
  model = make();
  Gradients free = gradients(model);
  check_close(optim::clip_by_norm(free, 100).dynamic(), {norm});
  check_close(free.get(model.a)->dynamic(), {3});
  optim::clip_by_norm(free, 1);
  check_close(free.get(model.b)->dynamic(), {-4 / norm, -4 / norm});
  optim::clip_by_value(free, 0.5);
  check_close(free.get(model.b)->dynamic(), {-0.5f, -0.5f});

  optim::GradientAccumulator sum;
  for (int batch = 0; batch < 4; ++batch) sum.add(gradients(model), 0.25);
  sum.add((model.a.sum() * 5.0).backward());
  const Gradients total = sum.take();
  check_close(total.get(model.a)->dynamic(), {8});
  check_close(total.get(model.b)->dynamic(), {-4, -4});
  CHECK(sum.take().size() == 0);
}

namespace {

struct SignDescent : optim::Rule {
  explicit SignDescent(const bool& fails) : fails(fails) {}
  const char* name() const override { return "sign_descent"; }
  AnyTensor update(optim::Update& u) const override {
    const AnyTensor total = AnyTensor::add(u.state("total"), u.gradient().sign());
    u.set("total", total);
    if (fails) throw Error("[sign_descent] fails");
    return AnyTensor::sub(u.parameter(), AnyTensor::mul(total, u.learning_rate()));
  }
  const bool& fails;
};

}  // namespace

TEST_CASE("an optimizer that a user writes") {
  const Device device = training();
  Holder<1> model{Tensor<1>::full({2}, 1, device).require_grad()};
  bool fails = false;
  optim::Optimizer optimizer{SignDescent(fails)};
  for (int i = 0; i < 2; ++i) optimizer.step(0.5, model, (model.weight.sum() * 3.0).backward());
  check_close(model.weight.dynamic(), {-0.5f, -0.5f});
  // A step that fails changes nothing, and can be taken again.
  Gradients gradients = (model.weight.sum() * 3.0).backward();
  fails = true;
  CHECK_THROWS_AS(optimizer.step(0.5, model, std::move(gradients)), Error);
  check_close(model.weight.dynamic(), {-0.5f, -0.5f});
  CHECK(gradients.size() == 1);
  fails = false;
  optimizer.step(0.5, model, std::move(gradients));
  check_close(model.weight.dynamic(), {-2, -2});
  const auto record = optimizer.to_record();
  CHECK(record.find("weight.total"));
  optim::Optimizer other{SignDescent(fails)};
  other.load_record(record, device);
  other.step(0.5, model, (model.weight.sum() * 3.0).backward());
  check_close(model.weight.dynamic(), {-4, -4});
  CHECK_THROWS_AS(optim::AdamConfig{}.init().load_record(record, device), DataError);
}

TEST_CASE("a rule that makes nothing, and parameters of one path") {
  const Device device = training();
  struct Nothing : optim::Rule {
    const char* name() const override { return "nothing"; }
    AnyTensor update(optim::Update&) const override { return {}; }
  };
  Holder<1> model{Tensor<1>::ones({2}, device).require_grad()};
  Gradients gradients = model.weight.sum().backward();
  CHECK_THROWS_WITH_AS(optim::Optimizer(Nothing{}).step(0.5, model, std::move(gradients)),
                       doctest::Contains("of parameter weight the rule made nothing"), Error);
  CHECK(gradients.size() == 1);

  // States and averages are found by their paths: two parameters would share them.
  struct Keyed {
    std::map<std::string, std::map<std::string, Tensor<1>>> parts;
  } keyed;
  keyed.parts["a"]["b.c"] = Tensor<1>::ones({2}, device).require_grad();
  keyed.parts["a.b"]["c"] = Tensor<1>::ones({2}, device).require_grad();
  gradients = (keyed.parts["a"]["b.c"] + keyed.parts["a.b"]["c"]).sum().backward();
  auto sgd = optim::SgdConfig{.momentum = 0.9}.init();
  CHECK_THROWS_WITH_AS(sgd.step(0.5, keyed, std::move(gradients)),
                       doctest::Contains("two parameters have the path parts.a.b.c"), Error);
  CHECK(gradients.size() == 2);
  CHECK_THROWS_WITH_AS(optim::EmaConfig{}.init().update(keyed),
                       doctest::Contains("two parameters have the path parts.a.b.c"), Error);
  keyed.parts["a.b"]["c"] = keyed.parts["a"]["b.c"];  // tied
  sgd.step(0.5, keyed, keyed.parts["a"]["b.c"].sum().backward());
  check_close(keyed.parts["a.b"]["c"].dynamic(), {0.5f, 0.5f});
}

TEST_CASE("averages of weights") {
  const Device device = training();
  auto ema = optim::EmaConfig{.decay = 0.75}.init();
  auto swa = optim::SwaConfig{}.init();
  Holder<1> model{Tensor<1>::zeros({2}, device).require_grad()};
  for (const double value : {4.0, 8.0, 0.0}) {
    model.weight = Tensor<1>::full({2}, value, device).require_grad();
    ema.update(model);
    swa.update(model);
  }
  check_close(ema.model(model).weight.dynamic(), {3.75f, 3.75f});
  check_close(swa.model(model).weight.dynamic(), {4, 4});
  CHECK(ema.model(model).weight.requires_grad());
  auto back = optim::SwaConfig{}.init();
  back.load_record(swa.to_record(), device);
  back.update(model);
  CHECK(back.count() == 4);
  check_close(back.model(nn::valid(model)).weight.dynamic(), {3, 3});
  CHECK_THROWS_AS(optim::SwaConfig{}.init().model(model), Error);
  for (const double decay : {0.0, 1.0, -0.5, std::nan("")})
    CHECK_THROWS_WITH_AS(optim::EmaConfig{.decay = decay}.init(),
                         doctest::Contains("expected more than 0 and less than 1"), Error);
}

TEST_CASE("averages of tied weights are tied, and those of a checkpoint too") {
  const Device device = training();
  struct Tied {
    Tensor<1> a, b, other;
  };
  const auto make = [&](double value) {
    const auto shared = Tensor<1>::full({2}, value, device).require_grad();
    return Tied{shared, shared, Tensor<1>::full({2}, value, device).require_grad()};
  };
  auto ema = optim::EmaConfig{.decay = 0.5}.init();
  ema.update(make(2));
  auto loaded = optim::EmaConfig{.decay = 0.5}.init();
  loaded.load_record(ema.to_record(), device);
  for (optim::WeightAverage* average : {&ema, &loaded}) {
    average->update(make(4));
    const Tied averaged = average->model(make(0));
    CHECK(averaged.a.dynamic().node().get() == averaged.b.dynamic().node().get());
    CHECK(averaged.a.dynamic().node().get() != averaged.other.dynamic().node().get());
    for (const auto* x : {&averaged.a, &averaged.b, &averaged.other}) check_close(x->dynamic(), {3, 3});
  }
  // Of a model whose weights are tied no longer.
  Tied apart = make(6);
  apart.b = Tensor<1>::full({2}, 1, device).require_grad();
  ema.update(apart);
  const Tied averaged = ema.model(apart);
  check_close(averaged.a.dynamic(), {4.5f, 4.5f});
  check_close(averaged.b.dynamic(), {2, 2});
}

namespace {

void check_rates(const optim::Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(schedule(static_cast<std::int64_t>(i)) == doctest::Approx(expected[i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("schedules") {
  namespace s = optim::schedule;
  check_rates(s::constant(0.1), {0.1, 0.1, 0.1});
  check_rates(s::linear(0.02, 0.1, 8), ten::rates_linear);
  check_rates(s::cosine(0.1, 0.01, 11), ten::rates_cosine);
  check_rates(s::warm_restarts(0.1, 0.01, 3, 2), ten::rates_restarts);
  check_rates(s::exponential(0.1, 0.8), ten::rates_exponential);
  check_rates(s::steps(0.1, 0.5, 3), ten::rates_steps);
  check_rates(s::milestones(0.1, 0.5, {2, 5, 6}), ten::rates_milestones);
  check_rates(s::one_cycle(0.1, 12), ten::rates_one_cycle);
  check_rates(s::noam(2, 512, 4), ten::rates_noam);
  check_rates(s::sequential({{4, s::linear(0.025, 0.1, 4)}, {100, s::exponential(0.1, 0.9)}}),
              ten::rates_sequential);
  check_rates(s::product({s::linear(0, 1, 4), s::constant(0.2)}), {0, 0.05, 0.1, 0.15, 0.2, 0.2});
  CHECK(s::cosine(0.1, 0.01, 11)(1'000'000'000'000) == doctest::Approx(0.01));
  CHECK(s::warm_restarts(1, 0, 7)(7'000'000'000'000'000) == 1);
  CHECK_THROWS_AS(s::cosine(0.1, 0, 0), Error);
  CHECK_THROWS_AS(s::constant(-1), Error);
  CHECK_THROWS_AS(s::sequential({}), Error);

  optim::ReduceOnPlateau plateau{.rate = 0.1, .factor = 0.5, .patience = 1, .cooldown = 1, .least = 0.01};
  for (std::size_t i = 0; i < ten::metrics.size(); ++i) {
    CAPTURE(i);
    CHECK(plateau.next(ten::metrics[i]) == doctest::Approx(ten::rates_plateau[i]));
  }
  CHECK_THROWS_AS(plateau.next(NAN), Error);
}

TEST_CASE("a schedule of a configuration") {
  namespace s = optim::schedule;
  using optim::ScheduleConfig;
  using Kind = ScheduleConfig::Kind;
  const auto same = [](const ScheduleConfig& config, const optim::Schedule& expected) {
    const optim::Schedule found = config::from_json<ScheduleConfig>(config::to_json(config)).init();
    for (const std::int64_t step : {0, 1, 2, 3, 5, 8, 13, 100}) CHECK(found(step) == expected(step));
  };
  same({.rate = 0.1}, s::constant(0.1));
  same({.kind = Kind::linear, .rate = 0.1, .last = 0.02, .steps = 8}, s::linear(0.1, 0.02, 8));
  same({.kind = Kind::cosine, .rate = 0.1, .last = 0.01, .steps = 11}, s::cosine(0.1, 0.01, 11));
  same({.kind = Kind::warm_restarts, .rate = 0.1, .last = 0.01, .steps = 3, .growth = 2},
       s::warm_restarts(0.1, 0.01, 3, 2));
  same({.kind = Kind::exponential, .rate = 0.1, .gamma = 0.8}, s::exponential(0.1, 0.8));
  same({.kind = Kind::steps, .rate = 0.1, .steps = 3, .gamma = 0.5}, s::steps(0.1, 0.5, 3));
  same({.kind = Kind::milestones, .rate = 0.1, .gamma = 0.5, .milestones = {2, 5}},
       s::milestones(0.1, 0.5, {2, 5}));
  same({.kind = Kind::noam, .rate = 2, .d_model = 64, .warmup = 4}, s::noam(2, 64, 4));
  same({.kind = Kind::one_cycle, .rate = 0.1, .steps = 12}, s::one_cycle(0.1, 12));
  check_rates(ScheduleConfig{.rate = 0.4, .warmup = 4}.init(), {0.1, 0.2, 0.3, 0.4, 0.4});
  check_rates(ScheduleConfig{.kind = Kind::linear, .rate = 1, .steps = 4, .warmup = 2}.init(),
              {0.5, 0.75, 0.5, 0.25, 0});

  struct Settings {
    ScheduleConfig schedule;
  } settings;
  const char* arguments[] = {"program", "--schedule.kind=cosine", "--schedule.steps=10",
                             "--schedule.warmup=2"};
  config::parse_arguments(settings, 4, arguments);
  CHECK(settings.schedule.init()(0) == doctest::Approx(0.5e-3));
  CHECK_THROWS_WITH_AS(ScheduleConfig{.steps = 3}.init(), doctest::Contains("the kind constant has no steps"),
                       Error);
  CHECK_THROWS_WITH_AS((ScheduleConfig{.kind = Kind::noam, .last = 1, .warmup = 1}.init()),
                       doctest::Contains("the kind noam has no last rate"), Error);
  CHECK_THROWS_WITH_AS(ScheduleConfig{.kind = Kind::cosine}.init(),
                       doctest::Contains("the number of steps is 0"), Error);
  CHECK_THROWS_WITH_AS(ScheduleConfig{.warmup = -1}.init(), doctest::Contains("the warmup is -1"), Error);
}

TEST_CASE("a schedule as text") {
  namespace s = optim::schedule;
  CHECK(s::plot(s::linear(0, 0.5, 8), 9, 9, 2) ==
        "0.5 |     ▂▄▆█\n"
        "  0 | ▂▄▆█████\n"
        "     0       8\n");
  CHECK(s::plot(s::constant(1e-3), 1000, 12, 1) == "0.001 |████████████\n       0        999\n");
  CHECK(s::plot(s::constant(0), 2, 10, 2) == "0 |\n0 |\n   0 1\n");
  CHECK(s::plot(s::constant(2), 1).starts_with("2 |█\n"));
  CHECK_THROWS_WITH_AS(s::plot(s::constant(1), 0), doctest::Contains("the number of steps is 0"), Error);
  CHECK_THROWS_AS(s::plot(s::constant(1), 5, 0), Error);
  CHECK_THROWS_AS(s::plot(s::constant(1), 5, 5, -1), Error);
  const optim::Schedule broken([](std::int64_t step) { return step == 3 ? NAN : 1.0; });
  CHECK_THROWS_WITH_AS(s::plot(broken, 5), doctest::Contains("the rate of step 3 is nan"), Error);
  CHECK_THROWS_AS(s::plot(optim::Schedule(), 5), Error);
}
