// Recurrent layers against values and gradients of PyTorch, their state, names and errors.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn/module.h>
#include <sinter/nn/recurrent.h>
#include <sinter/record.h>

#include "tests/pytorch/recurrent_cases.h"

using namespace sinter;

namespace {

/// Output and state, one behind the other; the inputs are x, hidden, cell, and weights in the order of names.
void check(const std::string& name, nn::RecurrentKind kind, bool deep) {
  reference::check(
      reference::recurrent_cases, name + (deep ? "_2" : "_1"),
      [&](const std::vector<AnyTensor>& x) {
        nn::Recurrent layer(kind, 2, deep, {.probability = 0, .training = true});
        for (std::size_t i = 3; i < x.size(); i += 4)
          layer.weights.push_back(
              {Tensor<2>(x[i]), Tensor<2>(x[i + 1]), Tensor<1>(x[i + 2]), Tensor<1>(x[i + 3])});
        nn::RecurrentState state{Tensor<3>(x[1])};
        if (kind == nn::RecurrentKind::lstm) state.cell = Tensor<3>(x[2]);
        const auto [output, last] = layer.forward(Tensor<3>(x[0]), state);
        const AnyTensor parts[] = {output.dynamic().reshape({-1}), last.hidden.dynamic().reshape({-1}),
                                   last.cell ? last.cell->dynamic().reshape({-1}) : x[2].reshape({-1})};
        return AnyTensor::cat(parts, 0);
      },
      5e-5);
}

}  // namespace

TEST_CASE("recurrent layers") {
  check("rnn", nn::RecurrentKind::tanh, false);
  check("rnn_relu", nn::RecurrentKind::relu, false);
  check("gru", nn::RecurrentKind::gru, false);
  // Two layers in both directions.
  check("lstm", nn::RecurrentKind::lstm, true);
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
}
