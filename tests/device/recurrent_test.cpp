// Recurrent layers against values and gradients of PyTorch, their state, names and errors.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autocast.h>
#include <sinter/autodiff.h>
#include <sinter/nn/module.h>
#include <sinter/nn/recurrent.h>
#include <sinter/record.h>

#include "tests/pytorch/recurrent_cases.h"
#include "tests/support/test_device.h"

using namespace sinter;

namespace {

/// Output and state, one behind the other; the inputs are x, hidden, cell, and weights in the order of names.
/// `lengths`: of the two sequences, which are else as long as x.
void check(const std::string& name, nn::RecurrentKind kind, bool deep, std::vector<int> lengths = {}) {
  reference::check(
      reference::recurrent_cases, name,
      [&](const std::vector<AnyTensor>& x) {
        nn::Recurrent layer(kind, 2, deep, {.probability = 0, .training = true});
        for (std::size_t i = 3; i < x.size(); i += 4)
          layer.weights.push_back(
              {Tensor<2>(x[i]), Tensor<2>(x[i + 1]), Tensor<1>(x[i + 2]), Tensor<1>(x[i + 3])});
        nn::RecurrentState state{Tensor<3>(x[1])};
        if (kind == nn::RecurrentKind::lstm) state.cell = Tensor<3>(x[2]);
        const auto ends = [&] { return Tensor<1, Int>::from_data(lengths, {2}, x[0].device().inner()); };
        const auto [output, last] = lengths.empty() ? layer.forward(Tensor<3>(x[0]), state)
                                                    : layer.forward(Tensor<3>(x[0]), ends(), state);
        const AnyTensor parts[] = {output.dynamic().reshape({-1}), last.hidden.dynamic().reshape({-1}),
                                   last.cell ? last.cell->dynamic().reshape({-1}) : x[2].reshape({-1})};
        return AnyTensor::cat(parts, 0);
      },
      5e-5);
}

}  // namespace

TEST_CASE("recurrent layers") {
  check("rnn_1", nn::RecurrentKind::tanh, false);
  check("rnn_relu_1", nn::RecurrentKind::relu, false);
  check("gru_1", nn::RecurrentKind::gru, false);
  // Two layers in both directions.
  check("lstm_2", nn::RecurrentKind::lstm, true);
}

TEST_CASE("sequences of different lengths give what packed ones do") {
  check("gru_packed", nn::RecurrentKind::gru, false, {1, 3});
  check("lstm_packed", nn::RecurrentKind::lstm, true, {1, 3});
}

TEST_CASE("layers that go through a long sequence piece by piece give what each layer alone does") {
  if (testing::compiles_slowly(testing::test_device())) return;  // of 45 steps many are kernels of their own
  const Device device = Device::best().autodiff();
  device.seed(5);
  // States of 256 bytes are stored where all of them are joined.
  constexpr std::int64_t kLength = 45, kBatch = 4, kInputs = 3, kHidden = 16;
  const auto x = Tensor<3>::randn({kBatch, kLength, kInputs}, device.inner());
  for (const nn::RecurrentKind kind : {nn::RecurrentKind::lstm, nn::RecurrentKind::gru})
    for (const std::vector<int>& lengths :
         {std::vector<int>{}, std::vector<int>{45, 20, 1, 45}, std::vector<int>{3, 33, 12, 7}}) {
      CAPTURE(lengths);
      nn::Recurrent both =
          kind == nn::RecurrentKind::lstm
              ? nn::LstmConfig{.d_in = kInputs, .d_hidden = kHidden, .layers = 2}.init(device)
              : nn::GruConfig{.d_in = kInputs, .d_hidden = kHidden, .layers = 2}.init(device);
      const auto run = [&](const nn::Recurrent& layer, const Tensor<3>& input) {
        return lengths.empty()
                   ? layer.forward(input)
                   : layer.forward(input, Tensor<1, Int>::from_data(lengths, {kBatch}, device.inner()));
      };
      const auto loss_of = [](const Tensor<3>& output, const Tensor<3>& state) {
        return (output * output).sum() + state.sum();
      };
      const nn::RecurrentOutput found = run(both, x);
      const auto gradients = loss_of(found.output, found.state.hidden).backward();
      Tensor<3> expected = x;
      std::vector<Tensor<3>> states;
      for (const nn::RecurrentWeights& weights : both.weights) {
        nn::Recurrent layer(kind, kHidden, false, {.probability = 0, .training = true});
        layer.weights.push_back(weights);
        const nn::RecurrentOutput one = run(layer, expected);
        expected = one.output;
        states.push_back(one.state.hidden);
      }
      const auto state = Tensor<3>::cat(states, 0);
      const auto expected_gradients = loss_of(expected, state).backward();
      check_close(found.output.dynamic(), values_of(expected.dynamic()));
      check_close(found.state.hidden.dynamic(), values_of(state.dynamic()));
      for (const nn::RecurrentWeights& weights : both.weights)
        for (const Tensor<2>* weight : {&weights.weight_ih, &weights.weight_hh})
          check_close(gradients.get(*weight)->dynamic(),
                      values_of(expected_gradients.get(*weight)->dynamic()));
    }
}

TEST_CASE("what stands behind the end of a sequence counts for nothing") {
  const Device device = Device::best().autodiff();
  device.seed(4);
  const nn::Lstm lstm =
      nn::LstmConfig{.d_in = 3, .d_hidden = 4, .layers = 2, .bidirectional = true}.init(device);
  const auto x = Tensor<3>::randn({3, 5, 3}, device.inner());
  const std::vector<int> lengths{5, 0, 2};
  const auto ends = Tensor<1, Int>::from_data(lengths, {3}, device.inner());
  auto spoiled = x.to_vector<float>();
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t at = static_cast<std::size_t>(lengths[n]) * 3; at < 15; ++at)
      spoiled[n * 15 + at] = std::nanf("");
  const auto found = lstm.forward(Tensor<3>::from_data(spoiled, {3, 5, 3}, device.inner()), ends);
  for (std::size_t n = 0; n < 3; ++n) {
    CAPTURE(n);
    const auto row = static_cast<std::int64_t>(n), length = std::int64_t{lengths[n]};
    const auto output = found.output.narrow(0, row, 1);
    check_close(output.narrow(1, length, 5 - length).dynamic(),
                std::vector<float>(static_cast<std::size_t>(5 - length) * 8, 0));
    if (length == 0) {
      check_close(found.state.hidden.narrow(1, row, 1).dynamic(), std::vector<float>(16, 0));
      continue;
    }
    const auto alone = lstm.forward(x.narrow(0, row, 1).narrow(1, 0, length));
    check_close(output.narrow(1, 0, length).dynamic(), values_of(alone.output.dynamic()));
    check_close(found.state.hidden.narrow(1, row, 1).dynamic(), values_of(alone.state.hidden.dynamic()));
    check_close(found.state.cell->narrow(1, row, 1).dynamic(), values_of(alone.state.cell->dynamic()));
  }
  const auto gradients = (found.output.sum() + found.state.cell->sum()).backward();
  for (const auto& weights : lstm.weights)
    for (const float slope : values_of(gradients.get(weights.weight_ih)->dynamic()))
      CHECK(std::isfinite(slope));
  CHECK_THROWS_WITH_AS(lstm.forward(x, ends.narrow(0, 0, 2)),
                       doctest::Contains("there are 2 lengths for 3 sequences"), ShapeError);
  // Lengths are data, no structure.
  std::uint64_t plans = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) plans = device.statistics().plans_built;
    const auto others = Tensor<1, Int>::from_data(std::vector<int>{i % 5, 4, 5 - i % 2}, {3}, device.inner());
    CHECK(std::isfinite(lstm.forward(x, others).output.sum().item()));
  }
  CHECK(device.statistics().plans_built == plans);
}

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One number through one step with all weights w and no bias, as PyTorch's documentation has the formulas;
/// `cell` is the LSTM's.
double stepped(nn::RecurrentKind kind, double w, double x, double hidden, double& cell) {
  const double sum = w * x + w * hidden;
  if (kind == nn::RecurrentKind::tanh) return std::tanh(sum);
  if (kind == nn::RecurrentKind::relu) return std::max(0.0, sum);
  if (kind == nn::RecurrentKind::gru) {
    const double fresh = std::tanh(w * x + sigmoid(sum) * w * hidden);
    return (1 - sigmoid(sum)) * fresh + sigmoid(sum) * hidden;
  }
  cell = sigmoid(sum) * cell + sigmoid(sum) * std::tanh(sum);
  return sigmoid(sum) * std::tanh(cell);
}

}  // namespace

TEST_CASE("a state that is given is where the sequence begins; none is one of zeros") {
  const Device device = Device::best().autodiff();
  const double w = 0.75;
  for (const nn::RecurrentKind kind :
       {nn::RecurrentKind::tanh, nn::RecurrentKind::relu, nn::RecurrentKind::gru, nn::RecurrentKind::lstm}) {
    CAPTURE(static_cast<int>(kind));
    const bool has_cell = kind == nn::RecurrentKind::lstm;
    const std::int64_t gates = has_cell ? 4 : kind == nn::RecurrentKind::gru ? 3 : 1;
    // Two layers in both directions, so that each of four runs has a state of its own.
    nn::Recurrent layer(kind, 1, true, {.probability = 0, .training = true});
    for (int run = 0; run < 4; ++run)
      layer.weights.push_back({Tensor<2>::full({gates, run < 2 ? 1 : 2}, w, device),
                               Tensor<2>::full({gates, 1}, w, device), std::nullopt, std::nullopt});
    const auto x = Tensor<3>::full({1, 1, 1}, 0.5, device.inner());
    const auto states = [&](const std::vector<float>& values) {
      return Tensor<3>::from_data(values, {4, 1, 1}, device).require_grad();
    };
    nn::RecurrentState state{states({0.5f, 1, 1.5f, 2})};
    if (has_cell) state.cell = states({2, 1.5f, 1, 0.5f});
    const auto found = layer.forward(x, state);

    std::vector<double> hidden{0.5, 1, 1.5, 2}, cell{2, 1.5, 1, 0.5};
    for (std::size_t run = 0; run < 4; ++run)
      hidden[run] = stepped(kind, w, run < 2 ? 0.5 : hidden[0] + hidden[1], hidden[run], cell[run]);
    const auto floats = [](const std::vector<double>& all) {
      return std::vector<float>(all.begin(), all.end());
    };
    check_close(found.state.hidden.dynamic(), floats(hidden));
    if (has_cell) check_close(found.state.cell->dynamic(), floats(cell));
    check_close(found.output.dynamic(), floats({hidden[2], hidden[3]}));

    const auto gradients = (found.output.sum() + found.state.hidden.sum()).backward();
    for (const float slope : values_of(gradients.get(state.hidden)->dynamic())) CHECK(slope > 1e-3f);
    if (has_cell)
      for (const float slope : values_of(gradients.get(*state.cell)->dynamic())) CHECK(slope > 1e-3f);

    nn::RecurrentState zeros{states({0, 0, 0, 0})};
    if (has_cell) zeros.cell = zeros.hidden;
    const auto none = layer.forward(x), nothing = layer.forward(x, zeros);
    CHECK(values_of(none.output.inner().dynamic()) == values_of(nothing.output.inner().dynamic()));
    CHECK(values_of(none.output.inner().dynamic()) != values_of(found.output.inner().dynamic()));
  }
}

TEST_CASE("gradients of recurrent layers can be differentiated") {
  const Device device = Device::best().autodiff();
  const std::vector<int> lengths{2, 4};
  for (const nn::RecurrentKind kind :
       {nn::RecurrentKind::tanh, nn::RecurrentKind::relu, nn::RecurrentKind::gru, nn::RecurrentKind::lstm})
    for (const bool has_lengths : {false, true}) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(has_lengths);
      device.seed(7);
      const auto make = [&] {
        if (kind == nn::RecurrentKind::lstm)
          return nn::LstmConfig{.d_in = 2, .d_hidden = 3, .bidirectional = true}.init(device);
        if (kind == nn::RecurrentKind::gru)
          return nn::GruConfig{.d_in = 2, .d_hidden = 3, .bidirectional = true}.init(device);
        return nn::RnnConfig{
            .d_in = 2, .d_hidden = 3, .bidirectional = true, .relu = kind == nn::RecurrentKind::relu}
            .init(device);
      };
      nn::Recurrent layer = make();
      const auto ends = Tensor<1, Int>::from_data(lengths, {2}, device.inner());
      const auto x = Tensor<3>::randn({2, 4, 2}, device), v = Tensor<3>::randn({2, 4, 2}, device);
      const auto f = [&](const Tensor<3>& x) {
        const auto [output, state] = has_lengths ? layer.forward(x, ends) : layer.forward(x);
        const auto loss = output.square().sum() + state.hidden.sum();
        return state.cell ? loss + state.cell->square().sum() : loss;
      };
      const auto slope = [&](const Tensor<3>& at) {
        const auto leaf = at.detach().require_grad();
        return Tensor<3>(gradient(f(leaf), leaf));
      };
      // Along v, by differences.
      const double h = 1e-2;
      const auto difference = (slope(x + v * h) - slope(x - v * h)) / (2 * h);
      check_close(hvp(f, x, v).dynamic(), values_of(difference.detach().dynamic()), 2e-3);
      // And by a weight that every step has.
      const Tensor<2> weight = layer.weights[1].weight_hh;
      const auto steepness = [&] { return slope(x).square().sum(); };
      const Tensor<2> by_weight = gradient(steepness(), weight);
      const auto u = Tensor<2>::randn(weight.shape(), device.inner());
      const auto moved = [&](double by) {
        layer.weights[1].weight_hh = (weight.detach() + u * by).require_grad();
        return static_cast<double>(steepness().item());
      };
      const double expected = (moved(h) - moved(-h)) / (2 * h);
      CHECK((by_weight.detach() * u).sum().item() == doctest::Approx(expected).epsilon(0.01));
    }
}

TEST_CASE("under Autocast gradients of recurrent layers are those of 32 bits, about") {
  const Device device = Device::best().autodiff();
  device.seed(5);
  const auto x = Tensor<3>::randn({8, 12, 16}, device.inner());
  const auto check_layer = [&](const nn::Recurrent& layer) {
    const auto slopes = [&](std::optional<DType> dtype) {
      const Autocast scope(dtype);
      const auto [output, state] = layer.forward(x);
      const auto gradients = (output.square().sum() + state.hidden.sum()).backward();
      const nn::RecurrentWeights& weights = layer.weights[0];
      return std::pair(gradients.get(weights.weight_ih)->reshape({-1}),
                       gradients.get(weights.weight_hh)->reshape({-1}));
    };
    const auto [ih, hh] = slopes(std::nullopt);
    const auto [half_ih, half_hh] = slopes(DType::bf16);
    CHECK(half_hh.dtype() == DType::f32);
    const auto distance = [](const Tensor<1>& a, const Tensor<1>& b) {
      return ((a - b).square().sum() / b.square().sum()).item();
    };
    CHECK(distance(half_ih, ih) < 1e-3);
    CHECK(distance(half_hh, hh) < 1e-3);
  };
  check_layer(nn::RnnConfig{.d_in = 16, .d_hidden = 16}.init(device));
  check_layer(nn::GruConfig{.d_in = 16, .d_hidden = 16}.init(device));
  check_layer(nn::LstmConfig{.d_in = 16, .d_hidden = 16, .bidirectional = true}.init(device));
}

TEST_CASE("a step of a recurrent layer records few operations") {
  const Device device = Device::best().autodiff();
  const auto recorded = [&](const nn::Recurrent& layer, std::int64_t length) {
    const auto x = Tensor<3>::zeros({2, length, 3}, device.inner());
    device.reset_statistics();
    const auto gradients = layer.forward(x).output.sum().backward();
    return static_cast<std::int64_t>(device.statistics().ops_recorded);  // nobody reads results: nothing runs
  };
  const auto of_a_step = [&](const nn::Recurrent& layer) {
    return (recorded(layer, 32) - recorded(layer, 16)) / 16;
  };
  CHECK(of_a_step(nn::RnnConfig{.d_in = 3, .d_hidden = 4}.init(device)) <= 13);
  CHECK(of_a_step(nn::GruConfig{.d_in = 3, .d_hidden = 4}.init(device)) <= 33);
  CHECK(of_a_step(nn::LstmConfig{.d_in = 3, .d_hidden = 4}.init(device)) <= 35);
  const Autocast half(DType::bf16);
  CHECK(of_a_step(nn::LstmConfig{.d_in = 3, .d_hidden = 4}.init(device)) <= 39);
}

TEST_CASE("a sequence in two pieces, names of weights, errors") {
  const Device device = Device::best().autodiff();
  device.seed(4);
  const nn::Lstm lstm = nn::LstmConfig{.d_in = 3, .d_hidden = 4, .layers = 2, .dropout = 0.5}.init(device);
  const nn::Lstm still = nn::valid(lstm);
  CHECK_FALSE(still.dropout.training);
  const auto x = Tensor<3>::randn({2, 6, 3}, device.inner());
  const auto whole = still.forward(x);
  const auto first = still.forward(x.narrow(1, 0, 2));
  const auto second = still.forward(x.narrow(1, 2, 4), first.state);
  check_close(second.output.dynamic(), values_of(whole.output.narrow(1, 2, 4).dynamic()));
  check_close(second.state.cell->dynamic(), values_of(whole.state.cell->dynamic()));
  CHECK(whole.output.shape() == Shape{2, 6, 4});
  CHECK(whole.state.hidden.shape() == Shape{2, 2, 4});

  const nn::Gru gru =
      nn::GruConfig{.d_in = 3, .d_hidden = 4, .bidirectional = true, .bias = false}.init(device);
  const record::Record record = record::to_record(gru);
  CHECK(record.entries().size() == 4);
  CHECK(record.find("weight_ih_l0")->shape == Shape{12, 3});
  CHECK(record.find("weight_hh_l0_reverse")->shape == Shape{12, 4});
  CHECK(nn::equal(record::from_record(gru, record), gru));
  CHECK(gru.forward(x).output.shape() == Shape{2, 6, 8});

  CHECK_THROWS_AS(gru.forward(x, whole.state), Error);
  CHECK_THROWS_AS(still.forward(x, nn::RecurrentState{whole.state.hidden}), Error);
  CHECK_THROWS_AS(still.forward(x.narrow(0, 0, 1), whole.state), ShapeError);
  CHECK_THROWS_AS(still.forward(x.narrow(1, 0, 0)), ShapeError);
  CHECK_THROWS_AS(still.forward(x.narrow(2, 0, 2)), ShapeError);
  CHECK_THROWS_AS((nn::RnnConfig{.d_in = 0, .d_hidden = 1}.init(device)), ShapeError);

  nn::Gru odd = gru;
  odd.weights.pop_back();
  CHECK_THROWS_WITH_AS(odd.forward(x),
                       doctest::Contains("[recurrent] the layer has 1 weights, expected two for each layer"),
                       Error);
  odd.weights.clear();
  CHECK_THROWS_WITH_AS(odd.forward(x), doctest::Contains("the layer has 0 weights"), Error);
  nn::Lstm none = lstm;
  none.weights.clear();
  CHECK_THROWS_WITH_AS(none.forward(x), doctest::Contains("0 weights, expected one for each layer"), Error);
}
