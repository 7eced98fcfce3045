// Sequence transduction. The states of a path are the labels that were emitted; frames plus labels is its
// diagonal. All states of a diagonal follow from those of the one before, by staying (a blank, the next
// frame) or advancing (a label): a diagonal is one kernel. The gradient is computed from the probabilities of
// all beginnings and all ends of paths; where it is itself to be differentiated, from the same plain
// operations.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>

#include "src/nn/sequence_loss.h"

namespace sinter::nn::detail {
namespace {

using A = AnyTensor;

/// Sizes, and what is known of the paths, without history.
struct Paths {
  A last;  // (n, 1): the diagonal from which the last blank leads out
  A end;   // bool (n, states): the state at the end
  std::int64_t diagonals, n, states;
};

/// The probabilities of all beginnings of paths, one diagonal later; of a sequence that has ended, the same.
A next_beginnings(const A& now, const A& stay, const A& advance, const Paths& paths, std::int64_t diagonal,
                  const Logarithms& log) {
  const A advanced = log.from_before(log.times(now, log.at(advance, diagonal)));
  const A next = log.plus(log.times(now, log.at(stay, diagonal)), advanced);
  return A::where(A::greater_equal(paths.last, diagonal, log.where), next, now, log.where);
}

/// Those at each diagonal, from the first to one behind the last.
std::vector<A> beginnings(const A& stay, const A& advance, const Paths& paths, const Logarithms& log) {
  const A first = A::equal(positions(paths.states, 1, 2, stay.device(), log.where), 0, log.where);
  std::vector<A> all{A::where(first, 0.0, log.never(paths.n, paths.states, stay), log.where)};
  Logarithms::flush(stay);
  for (std::int64_t d = 0; d < paths.diagonals; ++d) {
    all.push_back(next_beginnings(all.back(), stay, advance, paths, d, log));
    Logarithms::flush(stay);
  }
  return all;
}

A total_of(const A& behind, const Paths& paths, const Logarithms& log) {
  return A::where(paths.end, behind, 0.0, log.where).sum(1, log.where).reshape({paths.n}, log.where);
}

/// Parts of all paths at one diagonal, and the probabilities of all ends of paths.
struct Ways {
  A stayed, advanced, rest;
};
Ways ways_at(const A& begun, const A& rest, const A& stay, const A& advance, const A& total,
             const Paths& paths, std::int64_t diagonal, const Logarithms& log) {
  const A is_part = A::greater_equal(paths.last, diagonal, log.where);
  const A by_stay = log.times(rest, log.at(stay, diagonal));
  const A by_advance = log.times(log.from_behind(rest), log.at(advance, diagonal));
  const auto share = [&](const A& way) {
    return A::where(is_part, log.share(log.times(begun, way), total), 0.0, log.where);
  };
  return {share(by_stay), share(by_advance),
          A::where(is_part, log.plus(by_stay, by_advance), rest, log.where)};
}

/// The parts of all paths that stay, and that advance, at each place: (n, diagonals, states).
std::tuple<A, A> occupancies(const A& stay, const A& advance, const std::vector<A>& all, const Paths& paths,
                             const Logarithms& log) {
  const A total = total_of(all.back(), paths, log);
  A rest = A::where(paths.end, 0.0, log.never(paths.n, paths.states, stay), log.where);
  std::vector<A> stayed, advanced;
  Logarithms::flush(stay);
  for (std::int64_t d = paths.diagonals - 1; d >= 0; --d) {
    Ways ways = ways_at(all[static_cast<std::size_t>(d)], rest, stay, advance, total, paths, d, log);
    stayed.push_back(std::move(ways.stayed));
    advanced.push_back(std::move(ways.advanced));
    rest = std::move(ways.rest);
    Logarithms::flush(stay);
  }
  std::reverse(stayed.begin(), stayed.end());
  std::reverse(advanced.begin(), advanced.end());
  return {A::stack(stayed, 1, log.where), A::stack(advanced, 1, log.where)};
}

/// The logarithms of the probabilities of all paths together, (n).
A log_probability(const A& stay, const A& advance, const Paths& paths, const Location& where) {
  const CustomFunction function(
      "rnnt",
      [paths, where](Saved& saved, const Tensor<3>& of_stay, const Tensor<3>& of_advance) {
        const Logarithms log{where};
        const std::vector<A> all = beginnings(of_stay.dynamic(), of_advance.dynamic(), paths, log);
        saved.keep(of_stay, of_advance, all);
        return Tensor<1>(total_of(all.back(), paths, log));
      },
      [paths, where](const Saved& saved, const Tensor<1>& gradient) {
        const Logarithms log{where};
        const A &of_stay = saved[0], &of_advance = saved[1];
        std::vector<A> all(saved.kept().begin() + 2, saved.kept().end());
        if (of_stay.requires_grad() || of_advance.requires_grad())
          all = beginnings(of_stay, of_advance, paths, log);
        const auto [stayed, advanced] = occupancies(of_stay, of_advance, all, paths, log);
        const A factor = gradient.dynamic().reshape({paths.n, 1, 1}, where);
        return std::tuple(Tensor<3>(A::mul(stayed, factor, where)),
                          Tensor<3>(A::mul(advanced, factor, where)));
      },
      where);
  return function(Tensor<3>(stay), Tensor<3>(advance)).dynamic();
}

/// The same, with the gradient to [-limit, limit].
A with_clamped_gradient(const A& x, double limit, const Location& where) {
  const CustomFunction identity(
      "clamped_gradient", [](Saved&, const Tensor<4>& same) { return same; },
      [limit](const Saved&, const Tensor<4>& gradient) { return gradient.clamp(-limit, limit); }, where);
  return identity(Tensor<4>(x)).dynamic();
}

/// (n, time, states) as diagonals: element [b, d, u] is x[b, d - u, u], or never where there is none. Rows of
/// time + states elements, read as rows of one less, move by one each.
A diagonals(const A& x, const Location& where) {
  const std::int64_t n = x.shape()[0], time = x.shape()[1], states = x.shape()[2], wide = time + states;
  const A rows = x.transpose(1, 2, where).pad({0, 0, 0}, {0, 0, states}, kNever, where);
  return rows.reshape({n, states * wide}, where)
      .narrow(1, 0, states * (wide - 1), where)
      .reshape({n, states, wide - 1}, where)
      .transpose(1, 2, where);
}

}  // namespace

AnyTensor rnnt(const AnyTensor& logits, const AnyTensor& given, const AnyTensor& input_lengths,
               const AnyTensor& target_lengths, const RnntOptions& options, Reduction reduction,
               Location where) {
  const Shape shape = logits.shape();
  const std::int64_t n = shape[0], time = shape[1], states = shape[2], labels = states - 1;
  if (time < 1 || states < 1 || given.shape() != Shape{n, labels} || input_lengths.shape() != Shape{n} ||
      target_lengths.shape() != Shape{n})
    throw_shapes("rnnt", "(n, time, labels + 1, classes) with time 1 or more, (n, labels), (n) and (n)",
                 logits, given, input_lengths, target_lengths, where);
  const std::int64_t blank = options.blank == -1 ? shape[3] - 1 : options.blank;
  require_blank("rnnt", blank, shape[3], where);
  const Device device = logits.device();
  const Lengths frames = lengths_of(input_lengths, 1, time, where);
  const Lengths counts = lengths_of(target_lengths, 0, labels, where);

  A x = logits.cast(arithmetic_of(logits.dtype()), where);
  if (options.clamp > 0) x = with_clamped_gradient(x, options.clamp, where);
  if (options.fused_log_softmax) x = log_softmax(x, 3, where);
  const A state = positions(states, 1, 2, device, where);
  const A is_label = A::less(state, counts.values, where);
  const A targets = given.inner().cast(DType::i64, where).pad({0, 0}, {0, 1}, blank, where);
  const A index = A::where(is_label, targets, blank, where).reshape({n, 1, states, 1}, where);
  const A emitted = x.gather(3, index.expand({n, time, states, 1}, where), where).squeeze(3, where);
  const A is_frame =
      A::less(positions(time, 1, 3, device, where), frames.values.reshape({n, 1, 1}, where), where);
  const A may_advance = A::logical_and(is_frame, is_label.reshape({n, 1, states}, where), where);
  const A advance = A::where(may_advance, A::maximum(emitted, kNever, where), kNever, where);
  const A stay = A::maximum(x.narrow(3, blank, 1, where).squeeze(3, where), kNever, where);

  const Paths paths{A::sub(A::add(frames.values, counts.values, where), 1, where),
                    A::equal(state, counts.values, where), time + labels, n, states};
  const A total = log_probability(diagonals(stay, where), diagonals(advance, where), paths, where);
  const A fit = A::logical_and(frames.fit, counts.fit, where);
  return reduced("rnnt", losses_of(total, fit, false, where), reduction, where);
}

}  // namespace sinter::nn::detail
