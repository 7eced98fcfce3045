// Held values that are not stored, on the null device: which, why, and what a loop makes of them.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"

using namespace sinter;

namespace {

const Device device = Device::null();

Tensor<2> blank(std::int64_t rows = 1024, std::int64_t columns = 1024) {
  return Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * columns)), {rows, columns},
                              device);
}

constexpr std::int64_t kBytes = 1024 * 1024 * 4;

/// The report of `program` alone: nothing is asked for by its end.
template <class F>
Report report_of(F program) {
  device.sync();
  return explain([&] { program(); });
}

std::int64_t written(const Report& report) {
  std::int64_t bytes = 0;
  for (const ReportTrace& trace : report.traces)
    for (const ReportLaunch& launch : trace.launches) bytes += launch.bytes_written;
  return bytes;
}

/// Why the value of `op` was stored, or not ("not: ..."), in the report's trace `number`.
std::string why(const Report& report, const std::string& op, std::size_t number = 0) {
  for (const ReportHeld& held : report.traces.at(number).held)
    if (held.op == op) return (held.stored ? "" : "not: ") + held.reason;
  return "not held";
}

struct OneLayer {
  nn::Linear layer;
  Tensor<2> forward(const Tensor<2>& x) const { return layer.forward(x); }
};

const std::string kCheap = "not: cheap to compute from what lives anyway";
const std::string kFromSmall = "not: cheap to compute from small values that are stored for it";

}  // namespace

TEST_CASE("a name is no reason to store") {
  const Tensor<2> x = blank();
  Tensor<2> c;
  const Report report = report_of([&] {
    c = x - x.mean(1);
    (c * c).sum(1).sync();
  });
  // The sums that were asked for, and those that c is computed from.
  CHECK(written(report) == 2 * 1024 * 4);
  CHECK(report.launches() == 1);
  CHECK(why(report, "sub") == kFromSmall);
  CHECK(why(report, "sum") == "asked for");
  // In a function of its own it takes as many bytes, but for those sums.
  const Report local = report_of([&] {
    const auto squares = [&] {
      const Tensor<2> centred = x - x.mean(1);
      return (centred * centred).sum(1);
    };
    const Tensor<2> result = squares();
    result.sync();
  });
  CHECK(local.traces[0].bytes_moved + 1024 * 4 == report.traces[0].bytes_moved);
}

TEST_CASE("a flush asks for what nothing else came of") {
  const Tensor<2> x = blank();
  Tensor<2> a, b, c;
  const Report report = report_of([&] {
    a = x * 2.0;
    b = a.exp();
    c = x + 1.0;
    { const Tensor<2> dropped = c.tanh(); }
    device.flush();
  });
  CHECK(written(report) == 2 * kBytes);
  CHECK(why(report, "mul") == kCheap);
  CHECK(why(report, "exp") == "asked for");
  CHECK(why(report, "add") == "asked for");
}

TEST_CASE("what has to be stored has a reason") {
  const Tensor<2> x = blank(), other = blank(), w = blank();
  Tensor<2> rows, dying, both, input = blank();
  const Report report = report_of([&] {
    rows = x.sum(1).expand({1024, 1024}) * 1.0;
    dying = -input;
    input = Tensor<2>();
    both = x.maximum(other);
    x.max().sync();
  });
  CHECK(why(report, "neg") == "its inputs die here");
  CHECK(why(report, "maximum") == "its inputs take more memory");
  CHECK(why(report, "mul") == kFromSmall);

  Tensor<2> product, part, small, costly, half;
  const Report more = report_of([&] {
    product = x.matmul(w);
    part = x.narrow(0, 0, 512) * 2.0;
    small = x.sum(1);
    costly = x.exp().log().sin().tanh().exp().log().sin().tanh().exp().log().sin().tanh().exp().log().sin();
    half = x.cast(DType::bf16) + 1.0;
    x.max().sync();
  });
  CHECK(why(more, "matmul") == "a library operation");
  CHECK(why(more, "sum") == "small");
  CHECK(why(more, "sin") == "dearer to compute again");
  CHECK(why(more, "add") == "16-bit floats");
  CHECK(why(more, "mul") == "its inputs take more memory");  // all of x for a half of it
}

TEST_CASE("what a library operation reads is in memory") {
  const Tensor<2> x = blank(), w = blank();
  Tensor<2> a;
  const Report report = report_of([&] {
    a = x * 2.0;
    a.matmul(w).sync();
  });
  CHECK(why(report, "mul") == "in memory for another operation");
}

TEST_CASE("views of what is stored cost nothing") {
  const Tensor<2> x = blank();
  Tensor<2> transposed, stored, of_stored;
  const Report report = report_of([&] {
    transposed = x.transpose(0, 1);
    stored = x + 1.0;
    of_stored = stored.transpose(0, 1);
    stored.sync();
  });
  CHECK(written(report) == kBytes);
  for (const ReportHeld& held : report.traces[0].held) CHECK(held.stored);
}

TEST_CASE("without fusion everything is stored") {
  const Tensor<2> x = blank();
  base::mutable_environment().fusion = false;
  Tensor<2> a;
  const Report report = report_of([&] {
    a = x * 2.0;
    (a + 1.0).sync();
  });
  base::mutable_environment().fusion = true;
  CHECK(written(report) == 2 * kBytes);
  CHECK(why(report, "mul") == "fusion is off");
}

TEST_CASE("a value that is used again is stored, and then it is there") {
  const Tensor<2> x = blank();
  Tensor<2> a;
  const Report report = report_of([&] {
    a = x * 2.0;
    a.sum(1).sync();
    for (int round = 0; round < 20; ++round) a.sum(0).sync();
  });
  REQUIRE(report.traces.size() == 3);
  CHECK(why(report, "mul", 0) == kCheap);
  CHECK(why(report, "mul", 1) == "used again");
  CHECK(why(report, "mul", 2) == "not held");
  CHECK(report.traces[2].times == 19);
  CHECK(report.traces[2].ops == 1);
}

TEST_CASE("asking for a recipe ends no trace") {
  const Tensor<2> x = blank();
  const Tensor<2> a = x * 2.0, b = a + 1.0;
  device.sync();
  device.reset_statistics();
  const Tensor<2> c = x * 2.0, d = c + 1.0;
  d.sync();
  const Tensor<2> pending = x * 5.0;
  c.sync();
  CHECK(device.statistics().traces == 2);
  c.sync();
  CHECK(device.statistics().traces == 2);
  pending.sync();
  CHECK(device.statistics().traces == 3);
}

TEST_CASE("a loop finds its plans") {
  const auto built_in = [](int rounds, auto round) {
    device.sync();
    device.reset_statistics();
    for (int i = 0; i < rounds; ++i) round(i);
    return device.statistics().plans_built;
  };
  const Tensor<2> x = blank();
  std::vector<Tensor<2>> list;
  std::vector<Tensor<0>> losses;

  // Held values of each round, over the same input.
  CHECK(built_in(100, [&](int i) {
          list.push_back(x * i);
          losses.push_back((list.back() + 1.0).sum().reshape({}));
          losses.back().sync();
        }) <= 2);
  list.clear();
  // Each of the one before.
  list.push_back(x);
  CHECK(built_in(100, [&](int) {
          list.push_back(list.back() * 0.5);
          list.back().sum().sync();
        }) <= 4);
  list.clear();
  Tensor<2> state = blank();
  CHECK(built_in(100, [&](int) {
          state = state * 0.5;
          state.sum().sync();
        }) <= 4);
  // Never read: recipes do not grow.
  state = blank();
  CHECK(built_in(100, [&](int) {
          list.push_back(state);
          state = state + 1.0;
          x.sum().sync();
        }) <= 8);
}

TEST_CASE("hidden states in a list are computed once") {
  const Tensor<2> w = blank();
  Tensor<2> hidden = blank();
  std::vector<Tensor<2>> states;
  const Report report = report_of([&] {
    for (int t = 0; t < 10; ++t) {
      hidden = (hidden.matmul(w) + 1.0).tanh();
      states.push_back(hidden);
    }
    Tensor<2> all = states[0];
    for (std::size_t t = 1; t < states.size(); ++t) all = all + states[t];
    all.sum().sync();
  });
  std::uint64_t products = 0;
  for (const ReportTrace& trace : report.traces)
    for (const ReportLaunch& launch : trace.launches)
      products += trace.times * (launch.kind == ReportLaunch::Kind::Library);
  CHECK(products == 10);
  // Later reads find them in memory.
  device.reset_statistics();
  for (const Tensor<2>& state : states) state.sync();
  CHECK(device.statistics().launches == 0);
}

TEST_CASE("a step updates in place whatever recipes read its parameters") {
  const Device training = device.autodiff();
  auto w = Tensor<2>::zeros({1024, 1024}, training);
  w.sync();
  const Tensor<2> halved = w.inner() * 0.5;
  (halved + 1.0).sum().sync();
  device.reset_statistics();
  w = w + 1.0;
  w.sync();
  CHECK(device.statistics().bytes_in_place == static_cast<std::uint64_t>(kBytes));
  const std::uint64_t launches = device.statistics().launches;
  halved.sync();  // it was computed before w was written over
  CHECK(device.statistics().launches == launches);
}

TEST_CASE("gradients that are held beside parameters do not keep a step from writing in place") {
  const Device training = device.autodiff();
  OneLayer model{nn::LinearConfig{.d_in = 1024, .d_out = 1024}.init(training)};
  auto adam = optim::AdamConfig{}.init();
  const auto x = Tensor<2>::zeros({64, 1024}, training);
  std::vector<Tensor<0>> losses;
  std::vector<Tensor<2>> gradients;
  for (int step = 0; step < 6; ++step) {
    if (step == 3) device.reset_statistics();
    const auto loss = model.forward(x).square().mean();
    losses.push_back(loss.inner().reshape({}));
    Gradients all = loss.backward();
    gradients.push_back(*all.get(model.layer.weight));
    adam.step(1e-3, model, std::move(all));
  }
  CHECK(device.statistics().plans_built == 0);
  // Weights and both moments.
  CHECK(device.statistics().bytes_in_place >= static_cast<std::uint64_t>(3 * 3 * kBytes));
}
