// What happens when memory runs out or a launch fails: nothing that was held before is lost, and what asks
// for less works afterwards. On each device, which fails where the test says so.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "tests/support/failing_backend.h"

namespace sinter::testing {
namespace {

struct Net {
  Tensor<2> hidden, output;
};

Net make_net(const Device& device) {
  device.seed(11);
  Net net{Tensor<2>::randn({6, 9}, device).require_grad(), Tensor<2>::randn({9, 3}, device).require_grad()};
  device.sync();
  return net;
}

Tensor<0> loss_of(const Net& net, const Tensor<2>& batch) {
  const Tensor<2> scores = batch.matmul(net.hidden).tanh().matmul(net.output);
  return (scores * scores).mean();
}

Tensor<2> batch_of(std::int64_t rows, const Device& device) {
  std::vector<float> data(static_cast<std::size_t>(rows) * 6);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(static_cast<int>(i % 13) - 6) / 8;
  return Tensor<2>(AnyTensor::from_bytes(std::as_bytes(std::span(data)), {rows, 6}, DType::f32, device));
}

std::vector<std::vector<float>> values_of(const Net& net) {
  return {net.hidden.to_vector<float>(), net.output.to_vector<float>()};
}

std::vector<record::Bytes> state_of(const optim::Adam& adam) {
  std::vector<record::Bytes> state;
  const record::Record record = adam.to_record();
  for (const auto& [name, entry] : record.entries()) state.push_back(entry.bytes);
  return state;
}

/// Steps with batches of some rows; what there is after each.
struct Expected {
  std::vector<std::vector<std::vector<float>>> values;
  std::vector<std::vector<record::Bytes>> states;
};

Expected undisturbed(const Device& device, const std::vector<std::int64_t>& rows) {
  Net net = make_net(device);
  auto adam = optim::AdamConfig{}.init();
  Expected expected{{values_of(net)}, {state_of(adam)}};
  for (std::int64_t n : rows) {
    adam.step(0.1, net, loss_of(net, batch_of(n, device)).backward());
    expected.values.push_back(values_of(net));
    expected.states.push_back(state_of(adam));
  }
  return expected;
}

}  // namespace

TEST_CASE("a step that fails at any allocation loses nothing, and works when it is taken again") {
  FailingDevice failing;
  const Device device = failing.device.autodiff();
  const Expected expected = undisturbed(device, {5, 5, 5});
  int failures = 0;
  for (int k = 0;; ++k) {
    REQUIRE(k < 200);
    Net net = make_net(device);
    auto adam = optim::AdamConfig{}.init();
    failing.backend->fail_at = k;
    for (std::size_t step = 0; step < 3;) {
      std::optional<Gradients> gradients;
      try {
        gradients = loss_of(net, batch_of(5, device)).backward();
        adam.step(0.1, net, std::move(*gradients));
        ++step;
      } catch (const DeviceError& error) {
        ++failures;
        CHECK(std::string(error.what()).find("no memory left") != std::string::npos);
        CHECK(values_of(net) == expected.values[step]);
        CHECK(state_of(adam) == expected.states[step]);
        CHECK(net.hidden.dynamic().requires_grad());
        if (!gradients) continue;  // it was the batch that could not be had
        CHECK(gradients->size() == 2);
        CHECK_NOTHROW(adam.step(0.1, net, std::move(*gradients)));
        ++step;
      }
    }
    const bool done = failing.backend->fail_at >= 0;
    failing.backend->fail_at = -1;
    CHECK(values_of(net) == expected.values[3]);
    CHECK(state_of(adam) == expected.states[3]);
    if (done) break;
  }
  MESSAGE(failures << " places where memory was asked for");
  CHECK(failures >= 4);
}

TEST_CASE("a batch that does not fit is no end: a smaller one works") {
  FailingDevice failing;
  const Device device = failing.device.autodiff();
  const Expected expected = undisturbed(device, {5, 7});
  Net net = make_net(device);
  auto adam = optim::AdamConfig{}.init();
  adam.step(0.1, net, loss_of(net, batch_of(5, device)).backward());
  device.sync();
  const std::size_t before = device.statistics().bytes_in_use;
  failing.backend->most_bytes = 4000 * 9 * sizeof(float) / 2;
  std::optional<Tensor<0>> kept;  // somebody may hold on to what failed
  for (bool keeps : {false, true}) {
    try {
      Tensor<0> loss = loss_of(net, batch_of(2000, device));
      if (keeps) kept = loss;
      adam.step(0.1, net, loss.backward());
      CHECK_MESSAGE(false, "2000 rows fit");
    } catch (const DeviceError&) {
    }
    CHECK(values_of(net) == expected.values[1]);
    CHECK(state_of(adam) == expected.states[1]);
  }
  adam.step(0.1, net, loss_of(net, batch_of(7, device)).backward());
  CHECK(values_of(net) == expected.values[2]);
  CHECK(state_of(adam) == expected.states[2]);
  CHECK_THROWS_AS(kept->item(), DeviceError);
  kept.reset();
  device.sync();
  CHECK_MESSAGE(device.statistics().bytes_in_use <= before, "what failed is still in memory");
}

TEST_CASE("what does not come of the part that fails is computed") {
  FailingDevice failing;
  const Device& device = failing.device;
  const auto x = Tensor<1>::from_data({1, 2, 3}, device);
  const Tensor<1> small = x * 2.0 + 1.0;
  failing.backend->most_bytes = 1 << 16;
  Tensor<2> large = Tensor<2>::full({300, 300}, 1.0, device) * x.sum();
  Tensor<1> also_small = small * small;
  CHECK_THROWS_AS(device.flush(), DeviceError);
  CHECK_THROWS_AS(large.to_vector<float>(), DeviceError);
  CHECK(small.to_vector<float>() == std::vector<float>{3, 5, 7});
  const Tensor<1> later = also_small - x;
  CHECK(later.to_vector<float>() == std::vector<float>{8, 23, 46});
  CHECK(also_small.to_vector<float>() == std::vector<float>{9, 25, 49});
  CHECK_THROWS_AS(large.to_vector<float>(), DeviceError);
  failing.backend->most_bytes = ~std::size_t{0};
  CHECK(large.to_vector<float>() == std::vector<float>(300 * 300, 6));
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3});
}

TEST_CASE("what failed and is dropped goes, though something else that failed stays") {
  FailingDevice failing;
  const Device& device = failing.device;
  constexpr std::int64_t kCount = 50000;
  auto large = Tensor<1>::from_data(std::vector<float>(kCount, 1), {kCount}, device);
  const auto small = Tensor<1>::from_data({1, 2, 3}, device);
  failing.backend->most_bytes = 1 << 16;
  const Tensor<2> kept = Tensor<2>::full({300, 300}, 1.0, device) * small.sum();
  auto dropped = large * 2.0;
  CHECK_THROWS_AS(device.flush(), DeviceError);
  const std::size_t before = device.statistics().bytes_in_use;
  dropped = large = small;
  CHECK_THROWS_AS(device.flush(), DeviceError);
  CHECK(device.statistics().bytes_in_use + kCount * sizeof(float) <= before);
  failing.backend->most_bytes = ~std::size_t{0};
  CHECK(kept.to_vector<float>() == std::vector<float>(300 * 300, 6));
}

TEST_CASE("random numbers of a part are those of the whole") {
  FailingDevice failing;
  const Device& device = failing.device;
  device.seed(5);
  const std::vector<float> expected = (Tensor<1>::rand({40}, device) + 1.0).to_vector<float>();
  device.seed(5);
  const Tensor<1> random = Tensor<1>::rand({40}, device);
  const Tensor<1> one_more = random + 1.0;
  failing.backend->most_bytes = 1 << 16;
  const Tensor<2> large = Tensor<2>::full({300, 300}, 1.0, device) * random.sum();
  CHECK_THROWS_AS(large.sync(), DeviceError);
  CHECK(one_more.to_vector<float>() == expected);
  CHECK((random + 1.0).to_vector<float>() == expected);
}

TEST_CASE("memory that is written in place is written once") {
  FailingDevice failing;
  const Device& device = failing.device;
  auto x = Tensor<1>::from_data({1, 2, 3}, device);
  failing.backend->most_bytes = 1 << 16;
  const Tensor<2> large = Tensor<2>::full({300, 300}, 1.0, device) * x.sum();
  x = x * 10.0;
  CHECK_THROWS_AS(device.flush(), DeviceError);
  CHECK(x.to_vector<float>() == std::vector<float>{10, 20, 30});  // `large` still needs what x was
  failing.backend->most_bytes = ~std::size_t{0};
  CHECK(large.to_vector<float>() == std::vector<float>(300 * 300, 6));
}

TEST_CASE("a run that fails half-way is told to who reads its values, and to nobody else") {
  FailingDevice failing;
  const Device& device = failing.device;
  for (int k = 0; k < 2; ++k) {
    const auto x = Tensor<1>::from_data({1, 2, 3}, device);
    auto written_over = Tensor<1>::from_data({1, 2, 3}, device);
    const Tensor<1> a = x.sum().unsqueeze(0) + x;
    written_over = (written_over - a.sum()) / a;
    failing.backend->fail_launch_at = k;
    bool failed = false;
    try {
      device.flush();
    } catch (const DeviceError& error) {
      failed = true;
    }
    failing.backend->fail_launch_at = -1;
    CHECK((failed || k > 0));
    if (failed) {
      CHECK_THROWS_WITH_AS(a.to_vector<float>(), doctest::Contains("a launch failed"), DeviceError);
      CHECK_THROWS_AS(a + x, DeviceError);
      CHECK_THROWS_AS(written_over.to_vector<float>(), DeviceError);
    }
    CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3});
    CHECK((x * 2.0).to_vector<float>() == std::vector<float>{2, 4, 6});
  }
}

TEST_CASE("a trace that is full and does not fit grows on, and tells who reads") {
  FailingDevice failing;
  const Device& device = failing.device;
  const auto x = Tensor<1>::from_data({1, 2, 3}, device);
  failing.backend->most_bytes = 1 << 16;
  const Tensor<2> large = Tensor<2>::full({300, 300}, 1.0, device) * x.sum();
  Tensor<1> y = x;
  const int usual = static_cast<int>(base::environment().trace_limit);
  for (int i = 0; i < usual + 50; ++i) y = i % 2 ? y - 1.0 : y + 1.0;
  CHECK(y.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK_THROWS_AS(large.sync(), DeviceError);
}

TEST_CASE("a step whose arguments are wrong changes nothing") {
  const Device device = test_device().autodiff();
  Net net = make_net(device);
  const auto before = values_of(net);
  auto adam = optim::AdamConfig{}.init();
  auto sgd = optim::SgdConfig{.momentum = 0.9}.init();
  Gradients gradients = loss_of(net, batch_of(3, device)).backward();
  CHECK_THROWS_WITH_AS(adam.step(-1, net, std::move(gradients)), doctest::Contains("the learning rate is -1"),
                       Error);
  CHECK_THROWS_AS(sgd.step(-1, net, std::move(gradients)), Error);
  CHECK(gradients.size() == 2);
  CHECK(values_of(net) == before);
  CHECK(state_of(adam).empty());
  adam.step(0.1, net, std::move(gradients));
  CHECK(gradients.size() == 0);
  CHECK(values_of(net) != before);

  // The same paths with other shapes: the second parameter is found to be wrong when the first is recorded.
  const auto state = state_of(adam);
  Net other{net.hidden, Tensor<2>::randn({9, 4}, device).require_grad()};
  Gradients others = loss_of(other, batch_of(3, device)).backward();
  const auto others_before = values_of(other);
  CHECK_THROWS_AS(adam.step(0.1, other, std::move(others)), ShapeError);
  CHECK(others.size() == 2);
  CHECK(values_of(other) == others_before);
  CHECK(state_of(adam) == state);
  // A momentum that was never begun is not there either.
  CHECK_NOTHROW(sgd.step(0.1, other, std::move(others)));
}

}  // namespace sinter::testing
