// Attention, with a gradient of its own: made of plain operations, it keeps numbers of rows in place of the
// probabilities, which the backward pass computes again (T. Dao et al., "FlashAttention", 2022, algorithm 4).
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sinter/autodiff.h>
#include <sinter/nn/attention.h>

#include "src/tensor/autocast.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;
using sinter::detail::Tensors;

/// Key j is seen by query i iff j <= i + offset, (queries, keys). The offset is an argument of the kernel.
A causal_mask(std::int64_t queries, std::int64_t keys, std::int64_t offset, const Device& device,
              const Location& where) {
  const A j = A::arange(0, keys, 1, device, where).reshape({1, keys}, where);
  if (queries == 1) return A::less_equal(j, offset, where);  // a token: fewer operations to record
  const A i = A::arange(0, queries, 1, device, where).reshape({queries, 1}, where);
  return A::less_equal(j, A::add(i, offset, where), where);
}

/// What both passes are about. Scores, and all that is computed of them, are f32 where factors have 16 bits.
struct Formula {
  double scale = 1, softcap = 0;
  bool causal = false;
  std::int64_t offset = 0;
  A mask;    // not defined: none
  A bias;    // a constant; not defined: none
  A random;  // of dropout; not defined: none
  double dropped = 0;
  Location where;

  bool has_mask() const { return causal || mask.defined(); }
  /// Which keys a query sees. It is computed anew in each pass, where it is a condition on places: a mask
  /// that lives from one to the other might be kept in memory.
  A seen(const A& scores) const {
    if (!causal) return mask;
    const Shape& shape = scores.shape();
    const A places =
        causal_mask(shape[shape.rank() - 2], shape[shape.rank() - 1], offset, scores.device().inner(), where);
    return mask.defined() ? A::logical_and(places, mask, where) : places;
  }

  /// Of the numbers that the softmax takes.
  struct Scores {
    A values, tanh;
  };
  Scores scores(const A& q, const A& k, const A& trained_bias) const {
    Scores s;
    s.values = A::mul(wide(q.matmul(k.transpose(-2, -1, where), where)), scale, where);
    if (softcap != 0) {
      s.tanh = A::mul(s.values, 1 / softcap, where).tanh(where);
      s.values = A::mul(s.tanh, softcap, where);
    }
    if (bias.defined()) s.values = A::add(s.values, bias, where);
    if (trained_bias.defined()) s.values = A::add(s.values, trained_bias, where);
    if (has_mask())
      s.values = A::where(seen(s.values), s.values, -std::numeric_limits<double>::infinity(), where);
    return s;
  }

  /// Of each row: the greatest score, and one divided by the sum of exponentials. That of a row in which
  /// nothing is seen is such that all of its probabilities are 0.
  struct Rows {
    A greatest, recip;
    A exponentials;  // of all scores; not defined where these numbers were kept
  };
  Rows rows(const A& scores) const {
    constexpr double kLowest = -3.0e38;  // of numbers, so that infinities have no difference
    A greatest = scores.detach().max(-1, where);
    if (has_mask()) greatest = A::maximum(greatest, kLowest, where);
    const A exponentials = A::sub(scores, greatest, where).exp(where);
    A sum = exponentials.sum(-1, where);
    // What is the greatest counts 1. As a maximum it would share its gradient with that number where one key
    // is seen; kernels of attention know the maximum.
    if (has_mask())
      sum = sum.requires_grad() ? A::where(A::equal(sum, 0.0, where), 1.0, sum, where)
                                : A::maximum(sum, 1.0, where);
    return {greatest, sum.recip(where), exponentials};
  }

  A probabilities(const A& scores, const Rows& of) const {
    const A exponentials =
        of.exponentials.defined() ? of.exponentials : A::sub(scores, of.greatest, where).exp(where);
    return A::mul(exponentials, of.recip, where);
  }

  A with_dropout(const A& x) const {
    if (!random.defined()) return x;
    return A::where(A::less(random, dropped, where), 0.0, A::mul(x, 1 / (1 - dropped), where), where);
  }

  A wide(const A& x) const { return is_stored_float(x.dtype()) ? x.cast(DType::f32, where) : x; }
  A narrow(const A& x, DType dtype) const { return x.dtype() == dtype ? x : x.cast(dtype, where); }

  A weighed(const A& probabilities, const A& v) const {
    return narrow(with_dropout(probabilities), v.dtype()).matmul(v, where);
  }
};

enum Kept : std::size_t { kQ, kK, kV, kResult, kGreatest, kRecip, kBias };

Tensors forward(const Formula& f, Saved& saved, const A& q, const A& k, const A& v, const A& bias) {
  const A scores = f.scores(q, k, bias).values;
  const Formula::Rows rows = f.rows(scores);
  const A result = f.weighed(f.probabilities(scores, rows), v);
  saved.kept() = {q, k, v, result, rows.greatest, rows.recip, bias};
  return {result};
}

/// With P the probabilities and dP the gradient of these, that of the scores is P (dP - D), D the sum of P dP
/// along a row: that of the result's elements times their gradients.
Tensors backward(const Formula& f, const Saved& saved, const A& gradient) {
  const A &q = saved[kQ], &k = saved[kK], &v = saved[kV];
  const Formula::Scores scores = f.scores(q, k, saved[kBias]);
  // Numbers of rows have no history: where gradients are to have one, they are computed again.
  const bool again = q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                     (saved[kBias].defined() && saved[kBias].requires_grad());
  const Formula::Rows rows =
      again ? f.rows(scores.values) : Formula::Rows{saved[kGreatest], saved[kRecip], {}};
  const A probabilities = f.probabilities(scores.values, rows);
  const A result = again ? f.weighed(probabilities, v) : saved[kResult];

  const A of_v =
      f.narrow(f.with_dropout(probabilities), v.dtype()).transpose(-2, -1, f.where).matmul(gradient, f.where);
  const A of_probabilities = f.with_dropout(f.wide(gradient.matmul(v.transpose(-2, -1, f.where), f.where)));
  const A sums = A::mul(f.wide(gradient), f.wide(result), f.where).sum(-1, f.where);
  const A of_scores = A::mul(probabilities, A::sub(of_probabilities, sums, f.where), f.where);
  A of_products = of_scores;
  if (scores.tanh.defined())
    of_products =
        A::mul(of_products, A::sub(1.0, A::mul(scores.tanh, scores.tanh, f.where), f.where), f.where);
  of_products = f.narrow(A::mul(of_products, f.scale, f.where), q.dtype());
  Tensors gradients{of_products.matmul(k, f.where), of_products.transpose(-2, -1, f.where).matmul(q, f.where),
                    of_v};
  if (saved[kBias].defined()) gradients.push_back(f.narrow(of_scores, saved[kBias].dtype()));
  return gradients;
}

/// Leading dims that all have.
Shape common_batch(const A& q, const A& k, const A& v, const Location& where) {
  Shape batch;
  for (const A* x : {&q, &k, &v}) {
    const Shape& shape = x->shape();
    const std::size_t rank = shape.rank() - 2;
    while (batch.rank() < rank) batch.insert(0, 1);
    for (std::size_t d = 0; d < rank; ++d) {
      std::int64_t& size = batch[batch.rank() - rank + d];
      if (size != shape[d] && size != 1 && shape[d] != 1)
        throw ShapeError("[attention] the leading dimensions of queries " + to_string(q.shape()) + ", keys " +
                             to_string(k.shape()) + " and values " + to_string(v.shape()) +
                             " do not broadcast",
                         where);
      if (size == 1) size = shape[d];
    }
  }
  return batch;
}

A expanded(const A& x, Shape batch, const Location& where) {
  const Shape& shape = x.shape();
  batch.push_back(shape[shape.rank() - 2]);
  batch.push_back(shape[shape.rank() - 1]);
  return shape == batch ? x : x.expand(batch, where);
}

}  // namespace

AnyTensor detail::attention(const AnyTensor& q, const AnyTensor& k, const AnyTensor& v,
                            const AttentionArguments& arguments, Location where) {
  const auto last = [](const A& x, std::size_t from_end) {
    return x.rank() < 2 ? 0 : x.shape()[x.rank() - from_end];
  };
  const std::int64_t d = last(q, 1), queries = last(q, 2), keys = last(k, 2);
  if (d == 0 || keys == 0 || last(k, 1) != d || last(v, 2) != keys)
    throw ShapeError(
        "[attention] queries " + to_string(q.shape()) + ", keys " + to_string(k.shape()) + " and values " +
            to_string(v.shape()) +
            " are not (.., queries, d), (.., keys, d) and (.., keys, d_v) with d and keys 1 or more",
        where);
  Formula f;
  f.where = where;
  f.scale = arguments.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
  f.softcap = arguments.softcap;
  f.causal = arguments.causal;
  f.offset = arguments.offset;
  if (arguments.mask) f.mask = *arguments.mask;

  const Shape batch = common_batch(q, k, v, where);
  const auto factor = [&](const A& x) {
    const A cast = tensor::autocast_factor(x, where);
    // Scores of 8 bits would be no scores; bf16 has all numbers of 8 bits.
    return expanded(is_f8(cast.dtype()) ? cast.cast(DType::bf16, where) : cast, batch, where);
  };
  const bool is_of_8_bits = !tensor::autocasts() && is_f8(v.dtype());
  std::vector<A> inputs{factor(q), factor(k), factor(v)};
  Shape points = batch;
  points.push_back(queries);
  points.push_back(keys);
  if (arguments.dropout && arguments.dropout->training && arguments.dropout->probability > 0) {
    // Throws for a probability that is none.
    const A one = A::full(Shape(), 1.0, DType::f32, q.device().inner(), where);
    static_cast<void>(detail::dropout(one, arguments.dropout->probability, 0, true, where));
    f.dropped = arguments.dropout->probability;
    f.random = A::uniform(points, 0.0, 1.0, q.device().inner(), where);
  }
  if (arguments.bias && arguments.bias->requires_grad())
    inputs.push_back(arguments.bias->expand(points, where));
  else if (arguments.bias)
    f.bias = arguments.bias->inner();

  const Autocast off(std::nullopt);  // the casts that it stands for are made
  sinter::detail::FunctionParts parts{"attention", where, {}, {}};
  const A bias = inputs.size() > 3 ? inputs[3] : A();
  parts.forward = [&](Saved& saved) { return forward(f, saved, inputs[0], inputs[1], inputs[2], bias); };
  parts.backward = [f](const Saved& saved, const Tensors& gradients) {
    return backward(f, saved, gradients[0]);
  };
  const A result = sinter::detail::call(std::move(parts), inputs)[0];
  return is_of_8_bits ? result.cast(v.dtype(), where) : result;
}

}  // namespace sinter::nn
