// Recurrent layers: the products with the inputs are one for a piece of the sequence, mostly all of it, then
// step follows step.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <sinter/nn/recurrent.h>

#include "src/nn/init.h"
#include "src/nn/recurrent/steps.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;
using detail::RecurrentCell;

/// One layer in one direction, and the state at its end. `x`, as the result: (length, batch, ..).
A run_layer(const detail::RecurrentSteps& steps, const A& x, RecurrentCell& state,
            const RecurrentWeights& weights) {
  const Location& where = steps.where;
  const std::int64_t d_in = x.shape()[2], rows = steps.length * steps.batch;
  const Shape& shape = weights.weight_ih.shape();
  if (shape[1] != d_in || shape[0] != detail::gates_of(steps.kind) * steps.d_hidden)
    throw ShapeError("[recurrent] the input " + to_string(Shape{steps.batch, steps.length, d_in}) +
                         " does not fit a weight of " + to_string(shape),
                     where);
  A inputs = x.reshape({rows, d_in}, where).matmul(weights.weight_ih.dynamic().transpose(0, 1, where), where);
  // Both biases at once, where a step does nothing to what it adds d to.
  A bias, bias_of_steps;
  if (weights.bias_ih) bias = weights.bias_ih->dynamic();
  if (weights.bias_hh && steps.kind == RecurrentKind::gru)
    bias_of_steps = weights.bias_hh->dynamic();
  else if (weights.bias_hh)
    bias = bias.defined() ? A::add(bias, weights.bias_hh->dynamic(), where) : weights.bias_hh->dynamic();
  if (bias.defined()) inputs = detail::biased(inputs, bias, where);
  const auto [hidden, cell] =
      detail::unrolled(steps, inputs, state, weights.weight_hh.dynamic(), bias_of_steps);
  const std::int64_t last = steps.backward ? 0 : rows - steps.batch;
  state = {hidden.narrow(0, last, steps.batch, where), cell};
  const A output = steps.lengths.defined() ? A::where(steps.within(), hidden, 0.0, where) : hidden;
  return output.reshape({steps.length, steps.batch, steps.d_hidden}, where);
}

/// Several layers go through a sequence piece by piece, so that a layer's steps do not wait for all steps of
/// the layer before: a device that runs launches at the same time has those of several layers.
std::int64_t steps_of_piece(std::int64_t length, std::int64_t directions, std::int64_t runs) {
  constexpr std::int64_t kPieces = 4, kLeastSteps = 16;
  if (directions == 2 || runs == 1) return length;  // backward the last step comes first
  return std::max(kLeastSteps, (length + kPieces - 1) / kPieces);
}

template <class Config>
Recurrent make(RecurrentKind kind, const Config& config, const Device& device, const Location& where) {
  detail::require_positive("recurrent", "d_in", config.d_in, where);
  detail::require_positive("recurrent", "d_hidden", config.d_hidden, where);
  detail::require_positive("recurrent", "the number of layers", config.layers, where);
  const std::int64_t d = config.d_hidden, directions = config.bidirectional ? 2 : 1;
  const std::int64_t rows = detail::gates_of(kind) * d;
  const double bound = 1 / std::sqrt(static_cast<double>(d));
  Recurrent layer(kind, d, config.bidirectional, DropoutConfig{config.dropout}.init(device, where));
  for (std::int64_t i = 0; i < config.layers * directions; ++i) {
    const std::int64_t d_in = i < directions ? config.d_in : d * directions;
    RecurrentWeights weights;
    weights.weight_ih = Tensor<2>(detail::uniform_parameter({rows, d_in}, bound, device, where));
    weights.weight_hh = Tensor<2>(detail::uniform_parameter({rows, d}, bound, device, where));
    if (config.bias) {
      weights.bias_ih = Tensor<1>(detail::uniform_parameter({rows}, bound, device, where));
      weights.bias_hh = Tensor<1>(detail::uniform_parameter({rows}, bound, device, where));
    }
    layer.weights.push_back(std::move(weights));
  }
  return layer;
}

}  // namespace

RecurrentOutput Recurrent::forward(const Tensor<3>& x, const std::optional<RecurrentState>& state,
                                   Location where) const {
  return run(x.dynamic(), {}, state, where);
}

RecurrentOutput Recurrent::forward(const Tensor<3>& x, const Tensor<1, Int>& lengths,
                                   const std::optional<RecurrentState>& state, Location where) const {
  const std::int64_t batch = x.shape()[0], length = x.shape()[1];
  if (lengths.shape()[0] != batch)
    throw ShapeError("[recurrent] there are " + std::to_string(lengths.shape()[0]) + " lengths for " +
                         std::to_string(batch) + " sequences",
                     where);
  const A ends = lengths.dynamic().inner().reshape({batch, 1, 1}, where);
  // Whatever stands there, NaN included, must not reach the gradients of weights.
  const A places = A::arange(0, length, 1, ends.dtype(), ends.device(), where).reshape({1, length, 1}, where);
  const A within = A::less(places, ends, where);
  return run(A::where(within, x.dynamic(), 0.0, where), ends.reshape({batch, 1}, where), state, where);
}

RecurrentOutput Recurrent::run(const AnyTensor& x, const AnyTensor& lengths,
                               const std::optional<RecurrentState>& state, const Location& where) const {
  const bool has_cell = kind == RecurrentKind::lstm;
  const std::int64_t batch = x.shape()[0], length = x.shape()[1];
  const auto runs = static_cast<std::int64_t>(weights.size());
  const std::int64_t directions = bidirectional ? 2 : 1;
  if (runs == 0 || runs % directions != 0)
    throw Error("[recurrent] the layer has " + std::to_string(runs) + " weights, expected " +
                    (bidirectional ? "two for each layer" : "one for each layer"),
                where);
  if (length == 0)
    throw ShapeError("[recurrent] the sequence of the input " + to_string(x.shape()) + " is empty", where);
  if (state && state->cell.has_value() != has_cell)
    throw Error(
        has_cell ? "[recurrent] the state of an LSTM has no cell" : "[recurrent] the state has a cell",
        where);
  const Shape expected{runs, batch, d_hidden};
  for (const Tensor<3>* part :
       {state ? &state->hidden : nullptr, state && state->cell ? &*state->cell : nullptr})
    if (part && part->shape() != expected)
      throw ShapeError("[recurrent] a state of " + to_string(part->shape()) + " does not fit, expected " +
                           to_string(expected),
                       where);
  const A zeros = state ? A() : A::full({batch, d_hidden}, 0.0, x.dtype(), x.device().inner(), where);
  const auto begin = [&](const Tensor<3>& from, std::int64_t i) {
    return from.dynamic().narrow(0, i, 1, where).squeeze(0, where);
  };
  std::vector<RecurrentCell> at;
  for (std::int64_t k = 0; k < runs; ++k)
    at.push_back(state ? RecurrentCell{begin(state->hidden, k), has_cell ? begin(*state->cell, k) : A()}
                       : RecurrentCell{zeros, has_cell ? zeros : A()});
  const A by_steps = x.transpose(0, 1, where);
  std::vector<A> pieces;
  const std::int64_t most = steps_of_piece(length, directions, runs);
  for (std::int64_t from = 0; from < length; from += most) {
    const std::int64_t count = std::min(most, length - from);
    A y = by_steps.narrow(0, from, count, where);
    for (std::int64_t i = 0; i < runs; i += directions) {
      if (i > 0) y = detail::dropout(y, dropout.probability, 3, dropout.training, where);
      std::vector<A> outputs;
      for (std::int64_t k = i; k < i + directions; ++k) {
        const auto run = static_cast<std::size_t>(k);
        const detail::RecurrentSteps steps{kind, batch, from, count, d_hidden, k != i, lengths, where};
        outputs.push_back(run_layer(steps, y, at[run], weights[run]));
      }
      y = outputs.size() == 1 ? outputs[0] : A::cat(outputs, 2, where);
    }
    pieces.push_back(y);
  }
  const A y = pieces.size() == 1 ? pieces[0] : A::cat(pieces, 0, where);
  std::vector<A> hidden, cells;
  for (const RecurrentCell& end : at) {
    hidden.push_back(end.hidden);
    if (has_cell) cells.push_back(end.cell);
  }
  RecurrentOutput result{Tensor<3>(y.transpose(0, 1, where)), {Tensor<3>(A::stack(hidden, 0, where))}};
  if (has_cell) result.state.cell = Tensor<3>(A::stack(cells, 0, where));
  return result;
}

Rnn RnnConfig::init(const Device& device, Location where) const {
  return make(relu ? RecurrentKind::relu : RecurrentKind::tanh, *this, device, where);
}
Lstm LstmConfig::init(const Device& device, Location where) const {
  return make(RecurrentKind::lstm, *this, device, where);
}
Gru GruConfig::init(const Device& device, Location where) const {
  return make(RecurrentKind::gru, *this, device, where);
}

}  // namespace sinter::nn
