// Histories that are kept, used up and released; scopes; anomalies; what functions, checkpoints and slices of
// sequences cost.
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/traffic.h"
#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "src/trace/value.h"
#include "tests/support/messages.h"

using namespace sinter;
using testing::contains;
using testing::message_of;

// Programs name the reduction of losses like this: there is one of that name.
using nn::Reduction;
static_assert(std::is_same_v<Reduction, nn::Reduction>);

namespace {

const Device& device() {
  static const Device host = Device::host().autodiff();
  return host;
}

std::uint32_t owners(const AnyTensor& tensor) { return tensor.value()->owners(); }
template <std::size_t Rank>
std::uint32_t owners(const Tensor<Rank>& tensor) {
  return owners(tensor.dynamic());
}

Tensor<1> leaf(std::initializer_list<double> values) {
  const std::vector<float> floats(values.begin(), values.end());
  return Tensor<1>(AnyTensor::from_bytes(std::as_bytes(std::span(floats)),
                                         {static_cast<std::int64_t>(floats.size())}, DType::f32, device()))
      .require_grad();
}

std::vector<float> read(const AnyTensor& x) { return Tensor<1>(x).to_vector<float>(); }

/// Adds up what the plans of all traces move and hold.
class Plans : public runtime::TraceObserver {
 public:
  Plans() { add_observer(*this); }
  ~Plans() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    bytes += static_cast<double>(traffic_of(run.plan, run.trace).bytes_moved());
    peak = std::max(peak, static_cast<std::int64_t>(run.plan.peak_bytes));
    ops += run.trace.ops.size();
  }
  double bytes = 0;
  std::int64_t peak = 0;
  std::size_t ops = 0;
};

}  // namespace

TEST_CASE("backward uses up what it used, unless the history is to be kept") {
  const auto x = leaf({1, 2});
  const auto trunk = x.exp();
  const auto first = (trunk * trunk).sum(), second = trunk.sin().sum();
  CHECK(owners(trunk) == 5);  // the handle, exp's result, both operands of the product, the sine's operand
  CHECK_NOTHROW(first.backward({.keep_history = true}));
  CHECK(owners(trunk) == 5);
  CHECK_NOTHROW(first.backward());
  CHECK(owners(trunk) == 2);  // the sine is no part of the first loss
  const std::string error = message_of([&] { second.backward(); });
  CHECK(contains(error,
                 "was used up by an earlier backward(): call that one as backward({.keep_history = true})"));
  CHECK(contains(error, "history_test.cpp"));
  CHECK(owners(trunk) == 2);  // a call that is refused changes nothing
  // Only what lies between y and the tensors asked for is needed.
  CHECK(read(gradient(second, trunk).dynamic())[0] == doctest::Approx(std::cos(std::exp(1.0))));
  CHECK(contains(message_of([&] { gradient(second, {x, trunk}); }), "was used up"));
}

TEST_CASE("gradient() keeps the history; without, only what it used is gone") {
  const auto x = leaf({1, 2}), w = leaf({3, 4});
  const auto y = x.exp(), z = w.exp();
  const auto loss = (y * z).sum();
  CHECK(owners(y) == 3);
  CHECK(owners(z) == 3);
  (void)gradient(loss, x);
  CHECK(owners(y) == 3);
  (void)gradient(loss, x, {.keep_history = false, .differentiable = false});
  CHECK(owners(y) == 1);  // the product's node, and that of exp(x)
  CHECK(owners(z) == 2);  // that of exp(w) was not used
}

TEST_CASE("a kept history lives as long as its handles") {
  const auto x = leaf({1, 2});
  const auto middle = x.exp();
  {
    const auto loss = (middle * middle).sum();
    const auto slope = gradient(loss, x);
    CHECK(owners(middle) > 4);
    CHECK(slope.requires_grad());
  }
  CHECK(owners(middle) == 2);
}

TEST_CASE("gradients with and without a history") {
  const auto x = leaf({1, 2});
  const auto cube = (x * x * x).sum();
  CHECK_FALSE(cube.backward({.keep_history = true}).get(x)->requires_grad());
  CHECK_FALSE(gradient(cube, x, {.differentiable = false}).requires_grad());
  CHECK_FALSE(gradient(cube, x, {.differentiable = false}).device().is_autodiff());
  const Tensor<1> slope = *cube.backward({.differentiable = true}).get(x);
  CHECK(slope.device().is_autodiff());
  CHECK(slope.sum().backward().get(x)->to_vector<float>() == std::vector<float>{6, 12});
}

TEST_CASE("what gradient() refuses") {
  const auto x = leaf({1, 2}), other = leaf({1});
  const auto y = x * x;
  const auto says = [&](const std::function<void()>& call, const std::string& text) {
    CHECK(contains(message_of(call), text));
  };
  says([&] { gradient(y, x); }, "[gradient] gradients are taken of one number, not of shape (2)");
  says([&] { gradient(y, x, {.seed = other}); },
       "[gradient] a seed of shape (1) is given for a result of shape (2)");
  says([&] { gradient(y, x, {.seed = x.cast(DType::f64)}); },
       "[gradient] a seed of dtype f64 is given for a result of dtype f32");
  says([&] { gradient(y.sum(), x.detach()); }, "[gradient] input 0, of shape (2), has no history");
  says([&] { gradient(y.detach().sum(), x); }, "[gradient] the tensor has no history");
  says([&] { gradient(y.sum().dynamic(), AnyTensor()); }, "[gradient]");
  says([&] { y.backward({.seed = other}); },
       "[backward] a seed of shape (1) is given for a result of shape (2)");
  says(
      [&] {
        vjp([](const Tensor<1>& x) { return x; }, x, Tensor<2>::ones({1, 1}, device()));
      },
      "[vjp] a seed of shape (1, 1) is given for a result of shape (2)");
  says([&] { hvp([](const Tensor<1>& x) { return x; }, x, x); },
       "[hvp] gradients are taken of one number, not of shape (2)");
}

TEST_CASE("under NoGrad nothing is remembered") {
  const auto x = leaf({1, 2});
  const auto row = Tensor<1, Int>::from_data({0}, device());
  {
    const NoGrad outer;
    { const NoGrad inner; }
    const auto y = (x * x).index_select(0, row).index_add(0, row, x.narrow(0, 0, 1));
    CHECK_FALSE(y.requires_grad());
    CHECK(y.device().is_autodiff());
    CHECK(owners(x) == 1);
    std::thread([&] { CHECK((x * x).requires_grad()); }).join();  // a matter of the thread
  }
  const auto y = (x * x).sum();
  CHECK(y.requires_grad());
  const NoGrad none;
  CHECK(read(gradient(y, x).dynamic()) == std::vector<float>{2, 4});
  CHECK_FALSE(gradient(y, x).requires_grad());
}

TEST_CASE("two threads differentiate one trunk") {
  const auto x = leaf({1, 2, 3});
  for (int round = 0; round < 50; ++round) {
    auto trunk = x;
    for (int i = 0; i < 30; ++i) trunk = trunk * 1.0 + 0.0;
    const auto first = (trunk * trunk).sum(), second = (trunk * trunk * trunk).sum();
    trunk = x;
    std::atomic<int> done{0};
    std::vector<std::vector<float>> got(2);
    const auto work = [&](int which) {
      ++done;
      while (done < 2) std::this_thread::yield();
      got[static_cast<std::size_t>(which)] =
          read(which ? gradient(second, x).dynamic() : gradient(first, x).dynamic());
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    CHECK(got[0] == std::vector<float>{2, 4, 6});
    CHECK(got[1] == std::vector<float>{3, 12, 27});
  }
}

TEST_CASE("a walk that keeps the history outlives one that uses it up") {
  const auto x = leaf({2});
  for (int round = 0; round < 50; ++round) {
    auto y = x;
    for (int i = 0; i < 30; ++i) y = y.sigmoid() * 4.0;
    const auto loss = y.sum();
    const float expected = read(gradient(loss, x).dynamic())[0];
    std::atomic<int> ready{0};
    std::vector<float> kept;
    std::thread other([&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      try {
        kept = read(gradient(loss, x).dynamic());
      } catch (const AutodiffError&) {  // the other one was first
      }
    });
    ++ready;
    while (ready < 2) std::this_thread::yield();
    CHECK(loss.backward().get(x)->to_vector<float>()[0] == doctest::Approx(expected));
    other.join();
    if (!kept.empty()) CHECK(kept[0] == doctest::Approx(expected));
  }
}

TEST_CASE("a function lets go of what it kept, with its last handle or with backward") {
  const CustomFunction twice(
      "twice",
      [](Saved& saved, const Tensor<1>& x) {
        saved.keep(x);
        return x * 2.0;
      },
      [](const Saved&, const Tensor<1>& g) { return g * 2.0; });
  const auto x = leaf({1, 2});
  const auto y = x * 1.0;
  {
    const auto z = twice(y);
    CHECK(owners(y) == 2);
  }
  CHECK(owners(y) == 1);
  const auto loss = twice(y).sum();
  CHECK(read(loss.backward().get(x)->dynamic()) == std::vector<float>{2, 2});
  CHECK(owners(y) == 1);
  CHECK_FALSE(twice(x.detach()).requires_grad());
  CHECK_FALSE(twice(x.inner()).device().is_autodiff());
  // The last handle of a long chain of them.
  auto chain = twice(x);
  for (int i = 0; i < 20000; ++i) chain = twice(chain);
  CHECK_NOTHROW(chain = x);
}

TEST_CASE("what a function must give") {
  const auto x = leaf({1, 2});
  const auto error = [&](const auto& backward) {
    const CustomFunction f(
        "mine", [](Saved&, const AnyTensor& x) { return AnyTensor::mul(x, 1); }, backward);
    return message_of([&] { f(x.dynamic()).sum(0).reshape({}).backward(); });
  };
  CHECK(contains(
      error([](const Saved&, const AnyTensor& g) { return g.narrow(0, 0, 1); }),
      "[mine] its backward function gave for input 0 a gradient of shape (1), and the input has (2)"));
  CHECK(contains(
      error([](const Saved&, const AnyTensor& g) { return g.cast(DType::f64); }),
      "[mine] its backward function gave for input 0 a gradient of dtype f64, and the input has f32"));
  CHECK(contains(error([](const Saved&, const AnyTensor& g) {
                   return std::vector{g, g};
                 }),
                 "[mine] its backward function gave 2 gradients for 1 inputs"));
  const CustomFunction none(
      "none", [](Saved&, const Tensor<1>& x) { return x * 1.0; },
      [](const Saved&, const Tensor<1>&) { return Tensor<1>(); });
  CHECK(read(none(x).sum().backward().get(x)->dynamic()) == std::vector<float>{0, 0});
}

TEST_CASE("a checkpoint keeps its inputs alone, and its function has to do the same each time") {
  const auto x = leaf({1, 2}), w = leaf({3, 4}), other = leaf({5, 6});
  const auto y = x * 1.0;
  AnyTensor inner;
  const auto z = checkpoint(
      [&inner, w](const Tensor<1>& y) {
        const auto e = (y * w).exp();
        inner = e.dynamic();
        return e * e;
      },
      y);
  CHECK(owners(inner) == 1);
  CHECK(owners(y) == 2);
  CHECK(z.requires_grad());
  const AnyTensor first = inner;
  const Gradients gradients = z.log().sum().backward();
  CHECK(read(gradients.get(w)->dynamic())[0] == doctest::Approx(2));
  CHECK(read(gradients.get(x)->dynamic())[1] == doctest::Approx(8));
  CHECK(owners(y) == 1);
  CHECK(inner.value().get() != first.value().get());  // it ran again

  int runs = 0;
  const auto fickle = checkpoint([&](const Tensor<1>& x) { return ++runs == 1 ? x * w : x * other; }, x);
  CHECK(contains(
      message_of([&] { fickle.sum().backward(); }),
      "[checkpoint] when the function ran again it read a tensor with a history that it had not read"));
  const auto draws = checkpoint(
      [&](const Tensor<1>& x) {
        return x * (++runs < 4 ? x : Tensor<1>::rand({2}, device()) + Tensor<1>::rand({2}, device()));
      },
      x);
  CHECK(runs == 3);
  CHECK(contains(message_of([&] { draws.sum().backward(); }),
                 "[checkpoint] when the function ran again it "
                 "drew other random numbers"));
  const NoGrad none;
  CHECK_FALSE(checkpoint([](const Tensor<1>& x) { return x * x; }, x).requires_grad());
}

TEST_CASE("checkpoints lower the peak of a deep network") {
  const Device null = Device::null().autodiff();
  const auto peak = [&](bool checks) {
    auto w = Tensor<2>::zeros({256, 256}, null).require_grad();
    const auto x = Tensor<2>::zeros({2048, 256}, null);
    null.sync();
    Plans plans;
    const auto block = [&](const Tensor<2>& x) {
      auto y = x;
      for (int i = 0; i < 4; ++i) y = y.matmul(w).tanh();
      return y;
    };
    auto y = x.matmul(w);
    for (int i = 0; i < 6; ++i) y = checks ? checkpoint(block, y) : block(y);
    const auto loss = y.square().sum();
    y = {};
    Gradients gradients = loss.backward();
    null.sync();
    return plans.peak;
  };
  const std::int64_t plain = peak(false), checked = peak(true);
  CAPTURE(plain);
  CAPTURE(checked);
  CHECK(checked * 2 < plain);
}

TEST_CASE("slices of a sequence cost linear time backward") {
  const Device null = Device::null().autodiff();
  struct Cost {
    double bytes;
    std::size_t ops;
  };
  const auto cost = [&](std::int64_t n, bool overlap) {
    const auto x = Tensor<2>::zeros({n + 3, 64}, null).require_grad();
    null.sync();
    Plans plans;
    const auto sequence = x.sin();
    auto state = Tensor<2>::zeros({1, 64}, null);
    for (std::int64_t i = 0; i < n; ++i)
      state = (state + sequence.narrow(0, i, overlap ? 4 : 1).sum(0)).tanh();
    Gradients gradients = state.sum().backward();
    state = {};
    null.sync();
    return Cost{plans.bytes, plans.ops};
  };
  for (const bool overlap : {false, true}) {
    CAPTURE(overlap);
    const Cost few = cost(64, overlap), many = cost(512, overlap);
    CAPTURE(few.bytes);
    CAPTURE(many.bytes);
    CHECK(static_cast<double>(many.ops) < 8.5 * static_cast<double>(few.ops));
    CHECK(many.bytes < 16 * few.bytes);  // squares would be 64 times as much
  }
}

TEST_CASE("an anomaly names the operation, its line and the operand") {
  const auto x = leaf({-1, 0, 4}), w = leaf({1, 2, 3});
  {
    const int line = __LINE__ + 1;
    const auto y = ((x + 1.0).sqrt() * w).sum();
    CHECK(std::isinf(read(gradient(y, x).dynamic())[0]));
    const DetectAnomaly detect;
    const std::string error = message_of([&] { y.backward(); });
    CHECK(contains(error,
                   "[anomaly] the gradient of the first operand of sqrt is the first that is not finite: "
                   "NaN in 0 of 3 elements, infinite in 1"));
    CHECK(contains(error, "history_test.cpp:" + std::to_string(line)));
    CHECK(contains(message_of([&] { (x * 2.0).log(); }),
                   "[anomaly] the result of log is NaN in 1 of 3 elements"));
    CHECK_NOTHROW(x.detach().log());  // no history, nothing to look at
    std::thread([&] { CHECK_NOTHROW(x.log()); }).join();
  }
  CHECK_NOTHROW(x.log());
  base::mutable_environment().anomaly = true;
  CHECK(contains(message_of([&] { x.log(); }), "[anomaly] the result of log is NaN"));
  base::mutable_environment().anomaly = false;
}
