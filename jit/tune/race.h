// Times of a kernel's variants, measured in turn, and when they suffice to choose one. Pure: a test can make
// up the times.
#pragma once

#include <cstddef>
#include <vector>

namespace sinter::tune {

/// Variant 0 is the cost model's choice. It stays to the end, since the others are compared with it round by
/// round: what disturbs a round disturbs all of its times.
class Race {
 public:
  static constexpr std::size_t kLeastRounds = 3, kMostRounds = 15;
  /// Another variant is taken where it is faster by so much ...
  static constexpr double kGain = 0.98;
  /// ... in so many of the rounds.
  static constexpr double kMostlyFaster = 0.75;

  explicit Race(std::size_t variants) : times_(variants), in_(variants, true) {}

  bool is_in(std::size_t variant) const { return in_[variant]; }
  /// Takes a variant out that failed.
  void drop(std::size_t variant) { in_[variant] = false; }

  /// A time of each variant that is in, one round after the other.
  void add(std::size_t variant, double nanoseconds) { times_[variant].push_back(nanoseconds); }
  /// After each round: takes out what cannot win any more.
  void end_round();
  std::size_t rounds() const { return rounds_; }

  /// True iff more rounds would change nothing: one variant is left, or there were enough.
  bool is_clear() const;
  /// True iff a choice may be made by the times so far.
  bool suffices() const { return rounds_ >= kLeastRounds; }
  /// Variant 0 unless another one is faster beyond doubt.
  std::size_t winner() const;

  /// The median; 0 without a time.
  double time(std::size_t variant) const;

 private:
  std::vector<std::vector<double>> times_;
  std::vector<bool> in_;
  std::size_t rounds_ = 0;
};

}  // namespace sinter::tune
