// The steps of a recurrent layer in one direction, and their gradients.
#include "src/nn/recurrent/steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <sinter/autocast.h>
#include <sinter/autodiff.h>

#include "src/nn/init.h"

namespace sinter::nn::detail {
namespace {

using A = AnyTensor;

/// Of each step, by its place in the sequence.
struct Passed {
  std::vector<A> hidden, cells;
  std::vector<A> sums;  // an LSTM's a + c; a GRU's c
};

/// What the gradients of a step are multiplied with, (length batch, gates, d_hidden), of all steps at once.
/// An LSTM's ds stands there once for each gate: then one kernel has the gradients of gates and of the cell,
/// which is quicker than to wait for another.
struct Factors {
  A sums;         // dh, or ds for all but the last gate of an LSTM, to the gradient of the sums
  A cell;         // an LSTM's: dh to the part of ds that comes by the hidden state
  A cell_before;  // an LSTM's: ds to that of the step before
  A before;       // (length batch, d_hidden): dh to what of dh goes to the step before past the product
  A inputs_last;  // the same, a GRU's: dh to the gradient of the last gate's a
};

class Walk {
 public:
  explicit Walk(const RecurrentSteps& steps) : steps_(steps), d_(steps.d_hidden), where_(steps.where) {}

  Passed forward(const A& inputs, RecurrentCell state, A weight, const A& bias) const {
    // Once here, not in every step.
    if (const auto dtype = autocast_dtype(); dtype && weight.dtype() == DType::f32)
      weight = weight.cast(*dtype, where_);
    // An LSTM's hidden states have the digits that they are multiplied with; its cells have all of theirs.
    const bool narrows = steps_.kind == RecurrentKind::lstm && is_half(weight.dtype());
    if (narrows) state.hidden = state.hidden.cast(weight.dtype(), where_);
    weight = weight.transpose(0, 1, where_);
    A biases = bias;
    if (bias.defined()) {
      if (autocast_dtype() && is_half(weight.dtype())) biases = bias.cast(weight.dtype(), where_);
      biases = biases.expand({steps_.batch, bias.shape()[0]}, where_);
    }
    Passed passed;
    for (std::vector<A>* list : {&passed.hidden, &passed.cells, &passed.sums}) list->resize(count());
    for (std::int64_t i = 0; i < steps_.length; ++i) {
      const std::int64_t at = place(i);
      A product = state.hidden.matmul(weight, where_), sum;
      if (biases.defined()) product = A::add(product, biases, where_);
      RecurrentCell now = next(rows(inputs, at), product, state, sum);
      if (narrows) now.hidden = now.hidden.cast(weight.dtype(), where_);
      if (steps_.lengths.defined()) {
        const A within = A::greater(steps_.lengths, static_cast<double>(steps_.first + at), where_);
        now.hidden = A::where(within, now.hidden, state.hidden, where_);
        if (now.cell.defined()) now.cell = A::where(within, now.cell, state.cell, where_);
      }
      const auto k = static_cast<std::size_t>(at);
      passed.hidden[k] = now.hidden;
      passed.cells[k] = now.cell;
      passed.sums[k] = std::move(sum);
      state = std::move(now);
    }
    return passed;
  }

  /// The place in the sequence of the i-th step.
  std::int64_t place(std::int64_t i) const { return steps_.backward ? steps_.length - 1 - i : i; }
  std::size_t count() const { return static_cast<std::size_t>(steps_.length); }
  A rows(const A& all, std::int64_t at) const {
    return all.narrow(0, at * steps_.batch, steps_.batch, where_);
  }
  A joined(const std::vector<A>& pieces) const { return A::cat(pieces, 0, where_); }

  /// What was there before each step.
  A before(const A& all, const A& begin) const {
    const std::int64_t rest = (steps_.length - 1) * steps_.batch;
    if (rest == 0) return begin;
    const A first = begin.cast(all.dtype(), where_);
    const A others = all.narrow(0, steps_.backward ? steps_.batch : 0, rest, where_);
    return steps_.backward ? A::cat(std::vector{others, first}, 0, where_)
                           : A::cat(std::vector{first, others}, 0, where_);
  }

  /// x (n, d_hidden) once for each gate, (n, gates, d_hidden).
  A for_gates(const A& x) const {
    const std::int64_t n = x.shape()[0], gates = gates_of(steps_.kind);
    return x.reshape({n, 1, d_}, where_).expand({n, gates, d_}, where_);
  }

  /// `hidden`, `sums`, `cells`: of all steps.
  Factors factors(const A& inputs, const RecurrentCell& begin, const A& hidden, const A& sums,
                  const A& cells) const {
    Factors found;
    if (steps_.kind == RecurrentKind::lstm)
      found = factors_of_lstm(sums, before(cells, begin.cell), cells);
    else if (steps_.kind == RecurrentKind::gru)
      found = factors_of_gru(inputs.cast(hidden.dtype(), where_), sums.cast(hidden.dtype(), where_),
                             before(hidden, begin.hidden));
    else if (steps_.kind == RecurrentKind::tanh)
      found.sums = of_tanh(hidden).unsqueeze(1, where_);
    else
      found.sums = A::greater(hidden, 0, where_).cast(hidden.dtype(), where_).unsqueeze(1, where_);
    if (!steps_.lengths.defined()) return found;
    const A within = steps_.within(), within_gates = within.unsqueeze(1, where_);
    for (A* factor : {&found.sums, &found.cell})
      if (factor->defined()) *factor = A::where(within_gates, *factor, 0.0, where_);
    if (found.inputs_last.defined()) found.inputs_last = A::where(within, found.inputs_last, 0.0, where_);
    if (found.cell_before.defined())
      found.cell_before = A::where(within_gates, found.cell_before, 1.0, where_);
    found.before = found.before.defined() ? A::where(within, found.before, 1.0, where_)
                                          : A::sub(1.0, within.cast(hidden.dtype(), where_), where_);
    return found;
  }

 private:
  A gate(const A& x, std::int64_t i, std::int64_t count = 1) const {
    return x.narrow(1, i * d_, count * d_, where_);
  }
  A add(const A& a, const A& b) const { return A::add(a, b, where_); }
  A mul(const A& a, const A& b) const { return A::mul(a, b, where_); }
  A of_tanh(const A& y) const { return A::sub(1.0, mul(y, y), where_); }
  A of_sigmoid(const A& y) const { return mul(y, A::sub(1.0, y, where_)); }

  /// One step: `input` is a, `product` c. `sum`: what `Passed` has of it.
  RecurrentCell next(const A& input, const A& product, const RecurrentCell& state, A& sum) const {
    if (steps_.kind == RecurrentKind::gru) {
      sum = product;
      const A open = add(gate(input, 0, 2), gate(product, 0, 2)).sigmoid(where_);
      const A fresh = add(gate(input, 2), mul(gate(open, 0), gate(product, 2))).tanh(where_);
      // (1 - z) n + z h
      return {add(fresh, mul(gate(open, 1), A::sub(state.hidden, fresh, where_))), {}};
    }
    A total = add(input, product);
    if (steps_.kind == RecurrentKind::tanh) return {total.tanh(where_), {}};
    if (steps_.kind == RecurrentKind::relu) return {total.relu(where_), {}};
    sum = total;
    // Under Autocast the cell has 32 bits and the products have 16: one cast here instead of one for each
    // gate.
    if (is_half(total.dtype()) && !is_half(state.cell.dtype()))
      total = total.cast(state.cell.dtype(), where_);
    // Not one sigmoid of all gates: several kernels would need it, and it would be stored.
    const auto open = [&](std::int64_t i) { return gate(total, i).sigmoid(where_); };
    const A cell = add(mul(open(1), state.cell), mul(open(0), gate(total, 2).tanh(where_)));
    return {mul(open(3), cell.tanh(where_)), cell};
  }

  Factors factors_of_lstm(const A& sums, const A& cells_before, const A& cells) const {
    // Slices first, so that what all steps are joined in has no more bits than theirs.
    const auto sum = [&](std::int64_t i) { return gate(sums, i).cast(cells.dtype(), where_); };
    const A in = sum(0).sigmoid(where_), forget = sum(1).sigmoid(where_), fresh = sum(2).tanh(where_),
            out = sum(3).sigmoid(where_);
    const A shown = cells.tanh(where_);
    const A by_gate[] = {mul(fresh, of_sigmoid(in)), mul(cells_before, of_sigmoid(forget)),
                         mul(in, of_tanh(fresh)), mul(shown, of_sigmoid(out))};
    return {.sums = A::stack(by_gate, 1, where_),
            .cell = for_gates(mul(out, of_tanh(shown))),
            .cell_before = for_gates(forget),
            .before = {},
            .inputs_last = {}};
  }

  Factors factors_of_gru(const A& inputs, const A& products, const A& hidden_before) const {
    const A open = add(gate(inputs, 0, 2), gate(products, 0, 2)).sigmoid(where_), slope = of_sigmoid(open);
    const A reset = gate(open, 0), keep = gate(open, 1), last = gate(products, 2);
    const A fresh = add(gate(inputs, 2), mul(reset, last)).tanh(where_);
    const A of_fresh = mul(A::sub(1.0, keep, where_), of_tanh(fresh));
    const A by_gate[] = {mul(of_fresh, mul(last, gate(slope, 0))),
                         mul(A::sub(hidden_before, fresh, where_), gate(slope, 1)), mul(of_fresh, reset)};
    return {.sums = A::stack(by_gate, 1, where_),
            .cell = {},
            .cell_before = {},
            .before = keep,
            .inputs_last = of_fresh};
  }

  const RecurrentSteps& steps_;
  const std::int64_t d_;
  const Location& where_;
};

/// The gradients of what `unrolled` takes.
struct Gradients {
  A inputs;
  RecurrentCell begin;
  A weight, bias;
};

/// From the gradients of hidden states and of the last cell.
Gradients gradients_of(const RecurrentSteps& steps, const Factors& by, const A& of_hidden, A of_cell,
                       const A& weight, const A& hidden_before) {
  const Walk walk(steps);
  const Location& where = steps.where;
  const std::int64_t gates = gates_of(steps.kind), batch = steps.batch, d = steps.d_hidden;
  const bool is_lstm = steps.kind == RecurrentKind::lstm, is_gru = steps.kind == RecurrentKind::gru;
  A is_last_gate;
  if (is_lstm) {
    of_cell = walk.for_gates(of_cell);
    const A places = A::arange(0, gates, 1, of_hidden.device(), where).reshape({1, gates, 1}, where);
    is_last_gate = A::equal(places, gates - 1, where).expand({batch, gates, d}, where);
  }
  std::vector<A> all_sums(walk.count()), all_hidden(is_gru ? walk.count() : 0);
  A later;  // the gradient of the hidden state from the steps behind it
  for (std::int64_t i = steps.length - 1; i >= 0; --i) {
    const std::int64_t at = walk.place(i);
    const auto step = [&](const A& all, const A& x) { return A::mul(x, walk.rows(all, at), where); };
    A hidden = walk.rows(of_hidden, at);
    if (later.defined()) hidden = A::add(hidden, later, where);
    A wide = walk.for_gates(hidden);
    if (is_lstm) {
      of_cell = A::add(of_cell, step(by.cell, wide), where);
      wide = A::where(is_last_gate, wide, of_cell, where);
      of_cell = step(by.cell_before, of_cell);
    }
    const A sums = step(by.sums, wide).cast(weight.dtype(), where).reshape({batch, gates * d}, where);
    later = sums.matmul(weight, where).cast(hidden.dtype(), where);
    if (by.before.defined()) later = A::add(later, step(by.before, hidden), where);
    if (is_gru) all_hidden[static_cast<std::size_t>(at)] = hidden;
    all_sums[static_cast<std::size_t>(at)] = sums;
  }
  if (is_lstm) of_cell = of_cell.narrow(1, 0, 1, where).reshape({batch, d}, where);
  Gradients found{walk.joined(all_sums), {later, of_cell}, {}, {}};
  found.weight = found.inputs.transpose(0, 1, where).matmul(hidden_before.cast(weight.dtype(), where), where);
  if (!is_gru) return found;
  found.bias = found.inputs.sum(0, drop, where);
  // Of a and of c the same, except that the reset gate stands before the last gate's c.
  const A last = A::mul(walk.joined(all_hidden), by.inputs_last, where).cast(weight.dtype(), where);
  const A parts[] = {found.inputs.narrow(1, 0, 2 * steps.d_hidden, where), last};
  found.inputs = A::cat(parts, 1, where);
  return found;
}

}  // namespace

std::int64_t gates_of(RecurrentKind kind) {
  return kind == RecurrentKind::lstm ? 4 : kind == RecurrentKind::gru ? 3 : 1;
}

AnyTensor RecurrentSteps::within() const {
  const A places = A::arange(first, first + length, 1, lengths.dtype(), lengths.device(), where);
  const A found = A::less(places.reshape({length, 1}, where), lengths.reshape({1, batch}, where), where);
  return found.reshape({length * batch, 1}, where);
}

RecurrentCell unrolled(const RecurrentSteps& steps, const AnyTensor& inputs, const RecurrentCell& begin,
                       const AnyTensor& weight, const AnyTensor& bias) {
  const bool has_cell = begin.cell.defined(), has_bias = bias.defined();
  std::vector<A> given{inputs, weight, begin.hidden};
  if (has_cell) given.push_back(begin.cell);
  if (has_bias) given.push_back(bias);
  const std::size_t many = given.size();
  const std::optional<DType> autocast = autocast_dtype();
  const DType begin_dtype = begin.hidden.dtype();
  const auto cell_of = [=](const std::vector<A>& list) {
    return RecurrentCell{list[2], has_cell ? list[3] : A()};
  };
  const auto bias_of = [=](const std::vector<A>& list) { return has_bias ? list[many - 1] : A(); };

  const CustomFunction function(
      "recurrent",
      [=](Saved& saved, const std::vector<A>& x) {
        const Walk walk(steps);
        Passed passed = walk.forward(x[0], cell_of(x), x[1], bias_of(x));
        std::vector<A> results{walk.joined(passed.hidden).cast(begin_dtype, steps.where)};
        if (has_cell) results.push_back(passed.cells[static_cast<std::size_t>(walk.place(steps.length - 1))]);
        saved.keep(x, results[0], passed.sums, passed.cells);
        return results;
      },
      [=](const Saved& saved, const std::vector<A>& of_results) {
        const std::vector<A>& kept = saved.kept();
        const auto first = kept.begin() + static_cast<std::ptrdiff_t>(many);
        const auto count = static_cast<std::ptrdiff_t>(steps.length);
        const std::vector<A> x(kept.begin(), first);
        const Walk walk(steps);
        A hidden = *first;
        Passed passed{{}, {first + 1 + count, kept.end()}, {first + 1, first + 1 + count}};
        // For second derivatives what was computed on the way needs a history.
        if (std::any_of(x.begin(), x.end(), [](const A& each) { return each.requires_grad(); })) {
          const Autocast again(autocast);
          passed = walk.forward(x[0], cell_of(x), x[1], bias_of(x));
          hidden = walk.joined(passed.hidden).cast(begin_dtype, steps.where);
        }
        const bool has_sums = passed.sums[0].defined();
        const RecurrentCell start = cell_of(x);
        const Factors factors = walk.factors(x[0], start, hidden, has_sums ? walk.joined(passed.sums) : A(),
                                             has_cell ? walk.joined(passed.cells) : A());
        const bool narrows = autocast && x[1].dtype() == DType::f32;
        const Gradients found = gradients_of(steps, factors, of_results[0], has_cell ? of_results[1] : A(),
                                             narrows ? x[1].cast(*autocast, steps.where) : x[1],
                                             walk.before(hidden, start.hidden));
        const auto like = [&](const A& gradient, std::size_t i) {
          return gradient.cast(x[i].dtype(), steps.where);
        };
        std::vector<A> list{like(found.inputs, 0), like(found.weight, 1), like(found.begin.hidden, 2)};
        if (has_cell) list.push_back(like(found.begin.cell, 3));
        if (has_bias) list.push_back(like(found.bias, many - 1));
        return list;
      },
      steps.where);
  const std::vector<A> results = function(given);
  return {results[0], has_cell ? results[1] : A()};
}

}  // namespace sinter::nn::detail
