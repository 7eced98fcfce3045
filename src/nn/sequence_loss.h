// Shared by losses of sequences: sums of probabilities in logarithms, lengths, reductions.
#pragma once

#include <string>
#include <utility>

#include <sinter/nn/sequence_loss.h>

namespace sinter::nn::detail {

/// In place of the logarithm of 0: finite, so that differences of it are no NaN.
inline constexpr double kNever = -1e30;

/// Operations on logarithms of probabilities, (n, states), that note the caller's place.
struct Logarithms {
  using A = AnyTensor;
  const Location& where;

  A times(const A& a, const A& b) const { return A::add(a, b, where); }
  /// log(exp(a) + exp(b)).
  A plus(const A& a, const A& b) const;
  A plus(const A& a, const A& b, const A& c) const;
  /// b where the condition holds, else never.
  A only(const A& condition, const A& b) const { return A::where(condition, b, kNever, where); }
  /// Element i becomes that of i - 1 (of i + 1), and the first (the last) never.
  A from_before(const A& x) const;
  A from_behind(const A& x) const;
  /// exp(a - total), at most 1; total is (n), and both may be never.
  A share(const A& a, const A& total) const;
  /// A step's part of (n, steps, states).
  A at(const A& x, std::int64_t step) const;
  /// Hands what is recorded to the device: each step of a loop is a trace of its own, alike for all steps, so
  /// that one plan serves sequences of any length. In one trace the planner would make kernels of several
  /// steps, other ones for each length.
  static void flush(const A& x) { x.device().flush(); }
  A never(std::int64_t n, std::int64_t states, const A& like) const;
};

/// Lengths as i64 (n, 1), and whether all are in [least, most]: bool (n).
struct Lengths {
  AnyTensor values, fit;
};
Lengths lengths_of(const AnyTensor& lengths, std::int64_t least, std::int64_t most, const Location& where);

/// 0 .. count - 1 along axis `axis` of `rank`, i64.
AnyTensor positions(std::int64_t count, std::size_t axis, std::size_t rank, const Device& device,
                    const Location& where);

/// Throws Error unless the blank is a class.
void require_blank(const char* loss, std::int64_t blank, std::int64_t classes, const Location& where);
[[noreturn]] void throw_shapes(const char* loss, const char* expected, const AnyTensor& x,
                               const AnyTensor& targets, const AnyTensor& input_lengths,
                               const AnyTensor& target_lengths, const Location& where);

/// (n) losses of (n) logarithms: infinite, or 0, where `log_probability` is never, NaN where lengths do not
/// fit.
AnyTensor losses_of(const AnyTensor& log_probability, const AnyTensor& fit, bool zero_infinity,
                    const Location& where);
AnyTensor reduced(const char* name, const AnyTensor& losses, Reduction reduction, const Location& where);

}  // namespace sinter::nn::detail
