// Connectionist temporal classification. The states of a sequence are its labels and the blanks in front of
// each and behind the last: label i and the blank in front of it are element i of two vectors, so that a step
// is one kernel. The gradient is computed from the probabilities of all beginnings and all ends of paths,
// which takes as long a loop again; where it is itself to be differentiated, from the same plain operations.
#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

#include <sinter/autodiff.h>

#include "src/nn/sequence_loss.h"

namespace sinter::nn::detail {
namespace {

using A = AnyTensor;

/// Logarithms of the probabilities of both kinds of states, (n, labels + 1) each.
struct States {
  A blanks, labels;
};

/// Which sequences and states there are, without history.
struct Paths {
  A frames, counts;  // (n, 1): their lengths
  A changes;         // (n, labels + 1): a label that differs from the one before it, or is the first
  std::int64_t time, n, states;
};

/// The probabilities of all beginnings of paths one frame later; of a sequence that has ended, the same.
States next_beginnings(const States& now, const A& of_labels, const A& of_blank, const Paths& paths,
                       std::int64_t frame, const Logarithms& log) {
  const A before = log.from_before(now.labels);
  const A blanks = log.times(log.plus(now.blanks, before), log.at(of_blank, frame));
  const A labels =
      log.times(log.plus(now.labels, now.blanks, log.only(paths.changes, before)), log.at(of_labels, frame));
  const A is_frame = A::greater(paths.frames, frame, log.where);
  return {A::where(is_frame, blanks, now.blanks, log.where),
          A::where(is_frame, labels, now.labels, log.where)};
}

/// Those before the first frame and after each.
std::vector<States> beginnings(const A& of_labels, const A& of_blank, const Paths& paths,
                               const Logarithms& log) {
  const A never = log.never(paths.n, paths.states, of_labels);
  const A first = A::equal(positions(paths.states, 1, 2, of_labels.device(), log.where), 0, log.where);
  std::vector<States> all{{A::where(first, 0.0, never, log.where), never}};
  Logarithms::flush(of_labels);
  for (std::int64_t t = 0; t < paths.time; ++t) {
    all.push_back(next_beginnings(all.back(), of_labels, of_blank, paths, t, log));
    Logarithms::flush(of_labels);
  }
  return all;
}

/// Where paths may end: at the blank behind the last label, or at that label.
States ends(const Paths& paths, const A& like, const Logarithms& log) {
  const A state = positions(paths.states, 1, 2, like.device(), log.where);
  const A never = log.never(paths.n, paths.states, like);
  return {A::where(A::equal(state, paths.counts, log.where), 0.0, never, log.where),
          A::where(A::equal(state, A::sub(paths.counts, 1, log.where), log.where), 0.0, never, log.where)};
}

A total_of(const States& last, const Paths& paths, const Logarithms& log) {
  const States end = ends(paths, last.blanks, log);
  const A both = log.plus(log.times(last.blanks, end.blanks), log.times(last.labels, end.labels));
  const A most = both.max(1, log.where).detach();
  const A sum = A::sub(both, most, log.where).exp(log.where).sum(1, log.where);
  return A::add(sum.log(log.where), most, log.where).reshape({paths.n}, log.where);
}

/// The probabilities of all ends of paths one frame earlier; of a sequence that is not that long, the same.
States earlier_ends(const States& rest, const A& of_labels, const A& of_blank, const A& changes_behind,
                    const Paths& paths, std::int64_t frame, const Logarithms& log) {
  const A labels = log.times(rest.labels, log.at(of_labels, frame));
  const A blanks = log.times(rest.blanks, log.at(of_blank, frame));
  const A change = log.only(changes_behind, log.from_behind(labels));
  const A is_frame = A::greater(paths.frames, frame, log.where);
  return {A::where(is_frame, log.plus(blanks, labels), rest.blanks, log.where),
          A::where(is_frame, log.plus(labels, log.from_behind(blanks), change), rest.labels, log.where)};
}

/// The part of all paths that is in each state at each frame, (n, time, states) for labels, and (n, time, 1)
/// for all blanks.
std::tuple<A, A> occupancies(const A& of_labels, const A& of_blank, const std::vector<States>& all,
                             const Paths& paths, const Logarithms& log) {
  const A total = total_of(all.back(), paths, log);
  const A state = positions(paths.states, 1, 2, of_labels.device(), log.where);
  const A has_next = A::greater(A::sub(paths.counts, 1, log.where), state, log.where);
  const A behind = paths.changes.pad({0, 0}, {0, 1}, false, log.where).narrow(1, 1, paths.states, log.where);
  const A changes_behind = A::logical_and(behind, has_next, log.where);
  States rest = ends(paths, of_labels, log);
  std::vector<A> labels, blanks;
  Logarithms::flush(of_labels);
  for (std::int64_t t = paths.time - 1; t >= 0; --t) {
    const States& begun = all[static_cast<std::size_t>(t + 1)];
    const auto share = [&](const A& begin, const A& end) {
      const A is_frame = A::greater(paths.frames, t, log.where);
      return A::where(is_frame, log.share(log.times(begin, end), total), 0.0, log.where);
    };
    labels.push_back(share(begun.labels, rest.labels));
    blanks.push_back(share(begun.blanks, rest.blanks).sum(1, log.where));
    rest = earlier_ends(rest, of_labels, of_blank, changes_behind, paths, t, log);
    Logarithms::flush(of_labels);
  }
  std::reverse(labels.begin(), labels.end());
  std::reverse(blanks.begin(), blanks.end());
  return {A::stack(labels, 1, log.where), A::stack(blanks, 1, log.where)};
}

/// The logarithms of the probabilities of all paths together, (n), from those of what is emitted: labels (n,
/// time, states) and the blank (n, time, 1).
A log_probability(const A& of_labels, const A& of_blank, const Paths& paths, const Location& where) {
  const CustomFunction function(
      "ctc",
      [paths, where](Saved& saved, const Tensor<3>& labels, const Tensor<3>& blank) {
        const Logarithms log{where};
        const std::vector<States> all = beginnings(labels.dynamic(), blank.dynamic(), paths, log);
        saved.keep(labels, blank);
        for (const States& each : all) saved.keep(each.blanks, each.labels);
        return Tensor<1>(total_of(all.back(), paths, log));
      },
      [paths, where](const Saved& saved, const Tensor<1>& gradient) {
        const Logarithms log{where};
        const A &labels = saved[0], &blank = saved[1];
        std::vector<States> all;
        if (labels.requires_grad() || blank.requires_grad()) {
          all = beginnings(labels, blank, paths, log);
        } else {
          for (std::int64_t t = 0; t <= paths.time; ++t) {
            const auto at = static_cast<std::size_t>(2 + 2 * t);
            all.push_back({saved[at], saved[at + 1]});
          }
        }
        if (paths.time == 0) return std::tuple(Tensor<3>(labels), Tensor<3>(blank));
        const auto [of_labels, of_blank] = occupancies(labels, blank, all, paths, log);
        const A factor = gradient.dynamic().reshape({paths.n, 1, 1}, where);
        return std::tuple(Tensor<3>(A::mul(of_labels, factor, where)),
                          Tensor<3>(A::mul(of_blank, factor, where)));
      },
      where);
  return function(Tensor<3>(of_labels), Tensor<3>(of_blank)).dynamic();
}

/// Targets one behind the other as (n, labels).
A in_rows(const A& targets, const A& lengths, const Location& where) {
  const std::vector<std::int64_t> counts =
      Tensor<1, Int>(lengths.inner().cast(DType::i64, where)).to_vector<std::int64_t>(where);
  std::int64_t sum = 0, most = 0;
  std::vector<std::int64_t> starts;
  for (const std::int64_t count : counts) {
    if (count < 0) throw ShapeError("[ctc] a target has length " + std::to_string(count), where);
    starts.push_back(sum);
    sum += count;
    most = std::max(most, count);
  }
  if (sum != targets.numel())
    throw ShapeError("[ctc] the lengths of targets add up to " + std::to_string(sum) + ", but there are " +
                         std::to_string(targets.numel()),
                     where);
  const auto n = static_cast<std::int64_t>(counts.size());
  const Device device = targets.device().inner();
  if (most == 0) return A::full({n, 0}, 0, DType::i64, device, where);
  const A first = Tensor<2, Int>::from_data(starts, {n, 1}, device, where).dynamic();
  const A places = A::add(first, positions(most, 1, 2, device, where), where);
  const A flat = A::minimum(places, sum - 1, where).reshape({n * most}, where);
  return targets.inner().index_select(0, flat, where).reshape({n, most}, where);
}

}  // namespace

AnyTensor ctc(const AnyTensor& log_probabilities, const AnyTensor& given, const AnyTensor& input_lengths,
              const AnyTensor& target_lengths, const CtcOptions& options, Reduction reduction,
              Location where) {
  const Shape shape = log_probabilities.shape();
  const std::int64_t time = shape[0], n = shape[1];
  if (input_lengths.shape() != Shape{n} || target_lengths.shape() != Shape{n} ||
      (given.rank() == 2 && given.shape()[0] != n))
    throw_shapes("ctc", "(time, n, classes), (n, labels) or (all labels), (n) and (n)", log_probabilities,
                 given, input_lengths, target_lengths, where);
  require_blank("ctc", options.blank, shape[2], where);
  const A rows = given.rank() == 1 ? in_rows(given, target_lengths, where) : given.inner();
  const std::int64_t labels = rows.shape()[1], states = labels + 1;
  const Device device = log_probabilities.device();
  const Lengths frames = lengths_of(input_lengths, 0, time, where);
  const Lengths counts = lengths_of(target_lengths, 0, labels, where);

  // Behind the labels of a sequence are blanks, from which nothing comes back.
  const A targets = rows.cast(DType::i64, where).pad({0, 0}, {0, 1}, options.blank, where);
  const A is_label = A::less(positions(states, 1, 2, device, where), counts.values, where);
  const A known = A::where(is_label, targets, options.blank, where);
  const A before = known.pad({0, 1}, {0, 0}, options.blank, where).narrow(1, 0, states, where);
  const Paths paths{frames.values, counts.values, A::not_equal(known, before, where), time, n, states};

  const A x = log_probabilities.cast(arithmetic_of(log_probabilities.dtype()), where).transpose(0, 1, where);
  const A index = known.reshape({n, 1, states}, where).expand({n, time, states}, where);
  const A of_labels = A::maximum(x.gather(2, index, where), kNever, where);
  const A of_blank = A::maximum(x.narrow(2, options.blank, 1, where), kNever, where);
  const A total = log_probability(of_labels, of_blank, paths, where);
  A losses = losses_of(total, A::logical_and(frames.fit, counts.fit, where), options.zero_infinity, where);
  if (reduction == Reduction::mean) {
    const A divisors = A::maximum(counts.values.reshape({n}, where), 1, where);
    losses = A::div(losses, divisors.cast(losses.dtype(), where), where);
  }
  return reduced("ctc", losses, reduction, where);
}

}  // namespace sinter::nn::detail
