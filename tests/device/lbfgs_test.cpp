// L-BFGS over ten steps in f64 against PyTorch's, its state in records, and what it leaves when something
// throws.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/optim.h>

#include "tests/pytorch/optimizer_steps.h"
#include "tests/support/values.h"

using namespace sinter;
namespace ten = reference::ten_steps;

namespace {

Device training() { return Device::best().autodiff(); }

/// The parameters as several tensors of several shapes, one of them tied and one frozen.
struct Parts {
  Tensor<2> first;  // (2, 4)
  Tensor<1> frozen, second, tied;
};

Parts make_parts(const Device& device, DType dtype = DType::f64) {
  const auto all = Tensor<1>::from_data(ten::start, {12}, device).cast(dtype);
  const auto second = all.narrow(0, 8, 4).require_grad();
  return {all.narrow(0, 0, 8).reshape({2, 4}).require_grad(), Tensor<1>::ones({3}, device), second, second};
}

Tensor<1> whole(const Parts& parts) { return cat({parts.first.flatten(), parts.tied}, 0); }

Tensor<0> bumps(const Tensor<1>& p) {
  const auto scale = Tensor<1>::from_data(ten::scale, {12}, p.device().inner()).cast(p.dtype());
  return (p * scale).square().sum() * 0.5 + (p * 3.0).sin().sum() * 0.4;
}

Tensor<0> rosenbrock(const Tensor<1>& p) {
  const auto a = p.narrow(0, 0, 11), b = p.narrow(0, 1, 11);
  return ((b - a.square()).square() * 100.0 + (1.0 - a).square()).sum();
}

void check_all(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CAPTURE(found[i]);
    CAPTURE(expected[i]);
    CHECK(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i])));
  }
}

using Function = Tensor<0> (*)(const Tensor<1>&);

void check_ten_steps(const optim::LbfgsConfig& config, double learning_rate, Function function,
                     const std::vector<double>& expected, const std::vector<double>& losses,
                     const std::vector<double>& counts, double tolerance = 1e-9) {
  Parts parts = make_parts(training());
  auto lbfgs = config.init();
  std::vector<double> found;
  const auto loss = [&](const Parts& at) { return function(whole(at)); };
  for (int step = 0; step < 10; ++step) found.push_back(lbfgs.step(learning_rate, parts, loss));
  found.push_back(loss(parts).item());
  check_all(found, losses, tolerance);
  check_all(whole(parts).inner().to_vector<double>(), expected, tolerance);
  CHECK(lbfgs.iterations() == counts[0]);
  CHECK(lbfgs.evaluations() == counts[1]);
  CHECK(parts.second.inner().to_vector<double>() == parts.tied.inner().to_vector<double>());
  CHECK(parts.frozen.inner().to_vector<float>() == std::vector<float>(3, 1));
}

bool has_f64() {
  try {
    return Tensor<1>::full({1}, 2, training(), DType::f64).sqrt().item() > 1;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("ten steps of L-BFGS in f64") {
  if (!has_f64()) return;
  check_ten_steps({.max_iterations = 4, .history = 3}, 0.3, bumps, ten::lbfgs, ten::lbfgs_losses,
                  ten::lbfgs_counts);
  check_ten_steps({.max_iterations = 1, .history = 3, .strong_wolfe = true}, 1, bumps, ten::lbfgs_wolfe,
                  ten::lbfgs_wolfe_losses, ten::lbfgs_wolfe_counts);
  // A first length that is much too large: the search has to come back.
  check_ten_steps({.max_iterations = 2, .strong_wolfe = true}, 3000, bumps, ten::lbfgs_far,
                  ten::lbfgs_far_losses, ten::lbfgs_far_counts, 1e-8);
  check_ten_steps({.max_iterations = 3, .max_evaluations = 6, .strong_wolfe = true}, 1, rosenbrock,
                  ten::lbfgs_rosenbrock, ten::lbfgs_rosenbrock_losses, ten::lbfgs_rosenbrock_counts, 1e-7);
}

TEST_CASE("L-BFGS finds a minimum in f32, and stops there") {
  struct Point {
    Tensor<1> x;
  };
  Point point{Tensor<1>::full({12}, -1, training()).require_grad()};
  auto lbfgs = optim::LbfgsConfig{.max_iterations = 200, .max_evaluations = 400, .strong_wolfe = true}.init();
  const auto loss = [](const Point& at) { return rosenbrock(at.x); };
  CHECK(lbfgs.step(1, point, loss) == doctest::Approx(11 * 404));
  check_close(point.x.inner().dynamic(), std::vector<float>(12, 1), 2e-2);
  const std::int64_t evaluations = lbfgs.evaluations();
  CHECK(evaluations > 20);
  CHECK(evaluations < 400);
  lbfgs.step(1, point, loss);
  CHECK(lbfgs.evaluations() < evaluations + 60);

  // Where the gradient is 0 nothing happens.
  Point at_minimum{Tensor<1>::ones({12}, training()).require_grad()};
  auto other = optim::LbfgsConfig{}.init();
  CHECK(other.step(1, at_minimum, loss) == 0);
  CHECK(other.evaluations() == 1);
  CHECK(other.iterations() == 0);
  check_close(at_minimum.x.inner().dynamic(), std::vector<float>(12, 1), 0);
}

TEST_CASE("L-BFGS plans nothing more once its history is full") {
  Parts parts = make_parts(training(), DType::f32);
  auto lbfgs = optim::LbfgsConfig{.max_iterations = 3,
                                  .max_evaluations = 9,
                                  .tolerance_gradient = 0,
                                  .tolerance_change = 0,
                                  .history = 4}
                   .init();
  const auto loss = [](const Parts& at) { return bumps(whole(at)); };
  for (int step = 0; step < 8; ++step) lbfgs.step(1e-3, parts, loss);
  const auto before = training().statistics();
  for (int step = 0; step < 8; ++step) lbfgs.step(1e-3, parts, loss);
  const auto after = training().statistics();
  CHECK(lbfgs.iterations() == 48);
  CHECK(after.plans_built == before.plans_built);
  CHECK(after.plans_found > before.plans_found);
}

TEST_CASE("L-BFGS resumed from a record goes on with the same bits") {
  const auto loss = [](const Parts& at) { return bumps(whole(at)); };
  const auto config = optim::LbfgsConfig{.max_iterations = 2, .history = 3, .strong_wolfe = true};
  const auto run = [&](int resume_at) {
    Parts parts = make_parts(training(), DType::f32);
    auto lbfgs = config.init();
    for (int step = 0; step < 7; ++step) {
      if (step == resume_at) {
        const auto bytes = lbfgs.to_record().to_bytes();
        lbfgs = config.init();
        lbfgs.load_record(record::Record::from_bytes(bytes), training());
      }
      lbfgs.step(1, parts, loss);
    }
    return values_of(whole(parts).inner().dynamic());
  };
  const auto straight = run(-1);
  for (const int at : {0, 1, 2, 6}) CHECK(run(at) == straight);

  Parts parts = make_parts(training(), DType::f32);
  auto lbfgs = config.init();
  for (int step = 0; step < 7; ++step) lbfgs.step(1, parts, loss);
  const record::Record record = lbfgs.to_record();
  auto shorter = optim::LbfgsConfig{.history = 2}.init();
  CHECK_THROWS_WITH_AS(shorter.load_record(record, training()), doctest::Contains("cannot go on as one of 2"),
                       DataError);
  CHECK_THROWS_AS(shorter.load_record(optim::EmaConfig{}.init().to_record(), training()), DataError);
  for (const char* name :
       {"direction", "gradient", "steps", "changes", "mixed", "squares", "line", "pairs"}) {
    record::Record damaged;
    damaged.set_text("optimizer", "lbfgs");
    for (const auto& [entry, value] : record.entries())
      if (entry != name) damaged.add(entry, value);
    CAPTURE(name);
    CHECK_THROWS_AS(lbfgs.load_record(damaged, training()), DataError);
  }
}

TEST_CASE("the line search comes back from where the loss is no number") {
  struct Point {
    Tensor<1> x;
  };
  const auto loss = [](const Point& at) { return (at.x - at.x.log()).sum(); };
  Point point{Tensor<1>::full({3}, 0.2, training()).require_grad()};
  auto lbfgs = optim::LbfgsConfig{.strong_wolfe = true}.init();
  lbfgs.step(1, point, loss);
  check_close(point.x.inner().dynamic(), {1, 1, 1}, 1e-3);
  Point far{Tensor<1>::full({3}, 3, training()).require_grad()};
  auto other = optim::LbfgsConfig{.strong_wolfe = true}.init();
  other.step(60, far, loss);  // the first step ends at x = -10 or so
  check_close(far.x.inner().dynamic(), {1, 1, 1}, 1e-3);
}

TEST_CASE("whatever L-BFGS throws, model and state are what they were") {
  Parts parts = make_parts(training(), DType::f32);
  const auto loss = [](const Parts& at) { return bumps(whole(at)); };
  auto lbfgs = optim::LbfgsConfig{.strong_wolfe = true}.init();
  lbfgs.step(1, parts, loss);
  const auto before = values_of(whole(parts).inner().dynamic());
  const auto state = lbfgs.to_record().to_bytes();
  const std::uint64_t leaf = reinterpret_cast<std::uintptr_t>(parts.first.dynamic().node().get());
  int calls = 0;
  const auto failing = [&](const Parts& at) {
    if (++calls == 3) throw std::runtime_error("no more");
    return (whole(at) - 1.0).square().square().sum();
  };
  CHECK_THROWS_AS(lbfgs.step(1, parts, failing), std::runtime_error);
  CHECK(calls == 3);
  CHECK(values_of(whole(parts).inner().dynamic()) == before);
  CHECK(reinterpret_cast<std::uintptr_t>(parts.first.dynamic().node().get()) == leaf);
  CHECK(lbfgs.to_record().to_bytes() == state);
  lbfgs.step(1, parts, loss);

  // A fault of the device is told to whoever reads the loss.
  const auto outside = Tensor<1, Int>::full({2}, 99, training().inner());
  const auto faulty = [&](const Parts& at) { return whole(at).index_select(0, outside).sum(); };
  const auto now = values_of(whole(parts).inner().dynamic());
  CHECK_THROWS_AS(lbfgs.step(1, parts, faulty), ShapeError);
  CHECK(values_of(whole(parts).inner().dynamic()) == now);

  CHECK_THROWS_AS(lbfgs.step(0, parts, loss), Error);
  CHECK_THROWS_AS(lbfgs.step(NAN, parts, loss), Error);
  struct Other {
    Tensor<1> x;
  };
  const auto sum = [](const Other& at) { return at.x.square().sum().to_device(training()); };
  Other shorter{Tensor<1>::ones({3}, training()).require_grad()};
  CHECK_THROWS_WITH_AS(lbfgs.step(1, shorter, sum),
                       doctest::Contains("there are 3 numbers in the parameters"), ShapeError);
  Other fixed{Tensor<1>::ones({3}, training())};
  CHECK_THROWS_WITH_AS(lbfgs.step(1, fixed, sum), doctest::Contains("no parameter requires a gradient"),
                       Error);
  Other half{Tensor<1>::ones({3}, training()).cast(DType::bf16).require_grad()};
  CHECK_THROWS_WITH_AS(lbfgs.step(1, half, sum), doctest::Contains("parameter x is bf16"), DTypeError);
  CHECK_THROWS_AS(optim::LbfgsConfig{.max_iterations = 0}.init(), Error);
  CHECK_THROWS_AS(optim::LbfgsConfig{.history = 0}.init(), Error);
  CHECK_THROWS_AS(optim::LbfgsConfig{.tolerance_change = NAN}.init(), Error);
}
