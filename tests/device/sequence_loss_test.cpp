// CTC against PyTorch, RNN-T against the sum over all paths, and both at the edges.
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/nn/sequence_loss.h>

#include "tests/pytorch/sequence_cases.h"

using namespace sinter;

namespace {

using Inputs = const std::vector<AnyTensor>&;

Tensor<1, Int> lengths(const AnyTensor& x) { return Tensor<1, Int>(x.cast(DType::i64)); }
Tensor<2, Int> rows(const AnyTensor& x) { return Tensor<2, Int>(x.cast(DType::i64)); }
Tensor<3> normal(const AnyTensor& x) { return log_softmax(Tensor<3>(x), 2); }

template <nn::Reduction kReduction>
AnyTensor ctc(Inputs x, const nn::CtcOptions& options = {}) {
  return nn::ctc<kReduction>(normal(x[0]), rows(x[1]), lengths(x[2]), lengths(x[3]), options).dynamic();
}
template <nn::Reduction kReduction>
AnyTensor joined(Inputs x) {
  return nn::ctc<kReduction>(normal(x[0]), lengths(x[1]), lengths(x[2]), lengths(x[3])).dynamic();
}
template <nn::Reduction kReduction>
AnyTensor rnnt(Inputs x, const nn::RnntOptions& options = {}) {
  return nn::rnnt<kReduction>(Tensor<4>(x[0]), rows(x[1]), lengths(x[2]), lengths(x[3]), options).dynamic();
}

void check(const std::string& name, const reference::Function& function, double tolerance = 3e-5) {
  reference::check(reference::sequence_cases, name, function, tolerance);
}

Tensor<1, Int> ints(const std::vector<std::int64_t>& values) {
  return Tensor<1, Int>::from_data(values, {static_cast<std::int64_t>(values.size())}, Device::best());
}

}  // namespace

TEST_CASE("CTC: values and gradients") {
  check("ctc_none", [](Inputs x) { return ctc<nn::Reduction::none>(x); });
  check("ctc_mean", [](Inputs x) { return ctc<nn::Reduction::mean>(x); });
  check("ctc_sum", [](Inputs x) { return ctc<nn::Reduction::sum>(x); });
  check("ctc_joined", [](Inputs x) { return joined<nn::Reduction::none>(x); });
  check("ctc_joined_mean", [](Inputs x) { return joined<nn::Reduction::mean>(x); });
  check("ctc_blank", [](Inputs x) { return ctc<nn::Reduction::none>(x, {.blank = 4}); });
  check("ctc_zero_infinity", [](Inputs x) { return ctc<nn::Reduction::none>(x, {.zero_infinity = true}); });
  check("ctc_long", [](Inputs x) { return ctc<nn::Reduction::mean>(x); });
}

TEST_CASE("RNN-T: values and gradients") {
  check("rnnt_none", [](Inputs x) { return rnnt<nn::Reduction::none>(x); });
  check("rnnt_mean", [](Inputs x) { return rnnt<nn::Reduction::mean>(x); });
  check("rnnt_sum", [](Inputs x) { return rnnt<nn::Reduction::sum>(x); });
  check("rnnt_blank", [](Inputs x) { return rnnt<nn::Reduction::none>(x, {.blank = 1}); });
  check("rnnt_blank", [](Inputs x) {
    const std::vector<AnyTensor> logarithms{log_softmax(x[0], 3), x[1], x[2], x[3]};
    return rnnt<nn::Reduction::none>(logarithms, {.blank = 1, .fused_log_softmax = false});
  });
}

TEST_CASE("CTC where no alignment is possible, or none has a probability") {
  const Device device = Device::best().autodiff();
  // Three equal labels need five frames; the second sequence has them.
  const auto x = Tensor<3>::zeros({5, 2, 3}, device).require_grad();
  const auto targets = Tensor<2, Int>::full({2, 3}, 1, device.inner());
  const auto losses = nn::ctc<nn::Reduction::none>(log_softmax(x, 2), targets, ints({4, 5}), ints({3, 3}));
  const auto found = losses.inner().to_vector<float>();
  CHECK(std::isinf(found[0]));
  CHECK(found[0] > 0);
  CHECK(found[1] == doctest::Approx(5 * std::log(3.0)));
  const auto gradient = losses.sum().backward().get(x)->inner();
  for (const float g : gradient.narrow(1, 0, 1).to_vector<float>()) CHECK(g == 0);
  float sum = 0;
  for (const float g : gradient.narrow(1, 1, 1).to_vector<float>()) {
    CHECK(std::isfinite(g));
    sum += std::abs(g);
  }
  CHECK(sum > 1);

  // Logarithms of 0 among the inputs: where another path is left, it counts, and gradients are numbers.
  std::vector<float> values(2 * 3, -INFINITY);
  values[0] = values[3 + 1] = 0;  // a blank, then label 1
  const auto sure = Tensor<3>::from_data(values, {2, 1, 3}, device).require_grad();
  const auto one = nn::ctc<nn::Reduction::none>(sure, Tensor<2, Int>::full({1, 1}, 1, device.inner()),
                                                ints({2}), ints({1}));
  CHECK(one.inner().to_vector<float>()[0] == doctest::Approx(0));
  const auto slopes = one.sum().backward().get(sure)->inner().to_vector<float>();
  check_close(slopes, {-1, 0, 0, 0, -1, 0});
  const auto other = nn::ctc<nn::Reduction::none>(sure, Tensor<2, Int>::full({1, 1}, 2, device.inner()),
                                                  ints({2}), ints({1}));
  CHECK(std::isinf(other.inner().to_vector<float>()[0]));
}

TEST_CASE("where probabilities are 0 at many frames, gradients are 0 at the others") {
  const Device device = Device::best().autodiff();
  for (std::int64_t time = 3; time < 24; ++time) {
    CAPTURE(time);
    std::vector<float> values;
    for (std::int64_t t = 0; t < time; ++t) values.push_back(t % 3 == 1 ? -1.0f : -INFINITY);
    const auto frames = Tensor<3>::from_data(values, {time, 1, 1}, device.inner());
    const auto x = (frames + Tensor<3>::zeros({time, 1, 3}, device.inner())).to_device(device).require_grad();
    const auto target = Tensor<2, Int>::ones({1, 2}, device.inner());
    const auto loss = nn::ctc<nn::Reduction::none>(x, target, ints({time}), ints({2}));
    CHECK(std::isinf(loss.inner().to_vector<float>()[0]));
    for (const float g : loss.sum().backward().get(x)->inner().to_vector<float>()) CHECK(g == 0);
    const auto y = (frames.reshape({1, time, 1, 1}) + Tensor<4>::zeros({1, time, 3, 3}, device.inner()))
                       .to_device(device)
                       .require_grad();
    const auto other =
        nn::rnnt<nn::Reduction::none>(y, target, ints({time}), ints({2}), {.fused_log_softmax = false});
    CHECK(std::isinf(other.inner().to_vector<float>()[0]));
    for (const float g : other.sum().backward().get(y)->inner().to_vector<float>()) CHECK(g == 0);
  }
}

TEST_CASE("CTC of nothing: no labels, no frames, no sequences; lengths out of range") {
  const Device device = Device::best().autodiff();
  const auto x = log_softmax(Tensor<3>::zeros({4, 3, 2}, device), 2);
  const auto none = Tensor<2, Int>::zeros({3, 0}, device.inner());
  const auto blanks =
      nn::ctc<nn::Reduction::none>(x, none, ints({4, 0, 1}), ints({0, 0, 0})).inner().to_vector<float>();
  CHECK(blanks[0] == doctest::Approx(4 * std::log(2.0)));
  CHECK(blanks[1] == 0);
  CHECK(blanks[2] == doctest::Approx(std::log(2.0)));
  const auto labels = Tensor<2, Int>::ones({3, 1}, device.inner());
  const auto found =
      nn::ctc<nn::Reduction::none>(x, labels, ints({0, 5, 4}), ints({1, 1, 2})).inner().to_vector<float>();
  CHECK(std::isinf(found[0]));
  CHECK(std::isnan(found[1]));
  CHECK(std::isnan(found[2]));
  CHECK(std::isnan(nn::ctc(x, labels, ints({4, -1, 4}), ints({1, 1, 1})).item()));

  const auto empty = Tensor<3>::zeros({4, 0, 2}, device);
  const auto no_targets = Tensor<2, Int>::zeros({0, 1}, device.inner());
  CHECK(nn::ctc<nn::Reduction::none>(empty, no_targets, ints({}), ints({})).shape() == Shape{0});
  CHECK_THROWS_WITH_AS(nn::ctc(empty, no_targets, ints({}), ints({})),
                       doctest::Contains("[ctc] there is no mean over a batch of 0"), ShapeError);
}

TEST_CASE("arguments of losses of sequences that do not fit") {
  const Device device = Device::best();
  const auto x = Tensor<3>::zeros({4, 2, 3}, device);
  const auto targets = Tensor<2, Int>::ones({2, 2}, device);
  const auto two = ints({2, 2});
  CHECK_THROWS_WITH_AS(nn::ctc(x, targets, ints({2}), two),
                       doctest::Contains("inputs (4, 2, 3), targets (2, 2) and lengths (1) and (2) are not"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(nn::ctc(x, targets, two, two, {.blank = 3}),
                       doctest::Contains("the blank is 3, and there are 3 classes"), Error);
  CHECK_THROWS_WITH_AS(nn::ctc(x, ints({1, 2, 1}), two, two),
                       doctest::Contains("add up to 4, but there are 3"), ShapeError);
  CHECK_THROWS_WITH_AS(nn::ctc(x, ints({1, 2}), two, ints({3, -1})),
                       doctest::Contains("a target has length -1"), ShapeError);
  // A label that is no class is found when the loss is read.
  CHECK_THROWS_AS(nn::ctc(x, targets + 5, ints({4, 4}), two).item(), ShapeError);
  const auto logits = Tensor<4>::zeros({2, 4, 3, 3}, device);
  CHECK_THROWS_AS(nn::rnnt(logits, Tensor<2, Int>::ones({2, 3}, device), two, two), ShapeError);
  CHECK_THROWS_AS(nn::rnnt(logits, targets, two, two, {.blank = -2}), Error);
  CHECK(std::isnan(nn::rnnt(logits, targets, ints({0, 4}), two).item()));
  CHECK(std::isnan(nn::rnnt(logits, targets, ints({2, 4}), ints({2, 3})).item()));
}

TEST_CASE("gradients of RNN-T are clamped, and 16 bits are computed in f32") {
  const Device device = Device::best().autodiff();
  const auto run = [&](const nn::RnntOptions& options) {
    const auto x = Tensor<4>::zeros({1, 2, 2, 2}, device).require_grad();
    const auto loss =
        nn::rnnt(x, Tensor<2, Int>::zeros({1, 1}, device.inner()), ints({2}), ints({1}), options);
    return loss.backward().get(x)->inner().to_vector<float>();
  };
  const auto free = run({}), held = run({.clamp = 0.2});
  bool any = false;
  for (std::size_t i = 0; i < free.size(); ++i) {
    any = any || std::abs(free[i]) > 0.2f;
    CHECK(held[i] == doctest::Approx(std::min(0.2f, std::max(-0.2f, free[i]))));
  }
  CHECK(any);
  const auto half = Tensor<3>::full({300, 1, 4}, std::log(0.25), device).cast(DType::bf16);
  const auto target = Tensor<2, Int>::ones({1, 0}, device.inner());
  const auto loss = nn::ctc<nn::Reduction::none>(half, target, ints({300}), ints({0}));
  CHECK(loss.dtype() == DType::f32);
  CHECK(loss.inner().to_vector<float>()[0] == doctest::Approx(300 * -static_cast<double>(-1.3828125)));
}

TEST_CASE("sequences of other lengths plan next to nothing, and neither do more of their frames") {
  const Device device = Device::best().autodiff();
  const auto plans_of = [&](std::int64_t time, std::int64_t labels) {
    const auto before = device.statistics().plans_built;
    const auto x = Tensor<3>::zeros({time, 2, 5}, device).require_grad();
    const auto targets = Tensor<2, Int>::ones({2, labels}, device.inner());
    const auto counts = Tensor<1, Int>::full({2}, labels, device.inner());
    const auto frames = Tensor<1, Int>::full({2}, time, device.inner());
    const auto loss = nn::ctc(log_softmax(x, 2), targets, frames, counts);
    loss.backward().get(x)->sync();
    const auto logits = Tensor<4>::zeros({2, time, labels + 1, 5}, device).require_grad();
    const auto other = nn::rnnt(logits, targets, frames, counts);
    other.backward().get(logits)->sync();
    return device.statistics().plans_built - before;
  };
  for (int i = 0; i < 3; ++i) plans_of(30, 4);
  CHECK(plans_of(30, 4) == 0);
  const std::uint64_t longer = plans_of(60, 4);
  CAPTURE(longer);
  CHECK(longer < 30);
}

TEST_CASE("CTC is differentiated twice") {
  const Device device = Device::best().autodiff();
  const auto x = Tensor<3>::from_data(std::vector<float>{0.5f, -1, 0.25f, 1, 0, -0.5f}, {3, 1, 2}, device)
                     .require_grad();
  const auto loss_at = [&](const Tensor<3>& at) {
    return nn::ctc(log_softmax(at, 2), Tensor<2, Int>::ones({1, 1}, device.inner()), ints({3}), ints({1}));
  };
  const auto slope = gradient(loss_at(x), x);
  const auto second = gradient(slope.square().sum(), x).inner().to_vector<float>();
  // By differences of first gradients along each element: sum of 2 g_j dg_j/dx_i.
  for (std::size_t i = 0; i < 6; ++i) {
    const auto squares = [&](double by) {
      std::vector<float> values{0.5f, -1, 0.25f, 1, 0, -0.5f};
      values[i] += static_cast<float>(by);
      const auto at = Tensor<3>::from_data(values, {3, 1, 2}, device).require_grad();
      return gradient(loss_at(at), at).square().sum().item();
    };
    CHECK(second[i] == doctest::Approx((squares(0.01) - squares(-0.01)) / 0.02).epsilon(0.01));
  }
}
