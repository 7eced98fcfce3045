// Compares times.
#include "jit/tune/race.h"

#include <algorithm>
#include <limits>

namespace sinter::tune {
namespace {

// After so many rounds, what is slower than the fastest by this factor is out.
struct Margin {
  std::size_t rounds;
  double factor;
};
constexpr Margin kMargins[] = {{1, 2.0}, {3, 1.15}, {5, 1.08}, {9, 1.04}};

// So many rounds suffice where the fastest is so much faster than each other one.
constexpr std::size_t kClearRounds = 7;

}  // namespace

double Race::time(std::size_t variant) const {
  std::vector<double> times = times_[variant];
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void Race::end_round() {
  ++rounds_;
  double fastest = std::numeric_limits<double>::infinity(), factor = fastest;
  for (std::size_t v = 0; v < in_.size(); ++v)
    if (in_[v]) fastest = std::min(fastest, time(v));
  for (const Margin& margin : kMargins)
    if (rounds_ >= margin.rounds) factor = margin.factor;
  for (std::size_t v = 1; v < in_.size(); ++v)
    if (in_[v] && time(v) > factor * fastest) in_[v] = false;
}

bool Race::is_clear() const {
  if (std::count(in_.begin(), in_.end(), true) <= 1 || rounds_ >= kMostRounds) return true;
  if (rounds_ < kClearRounds) return false;
  const std::size_t best = winner();
  for (std::size_t v = 0; v < in_.size(); ++v)
    if (in_[v] && v != best && time(best) > Race::kGain * time(v)) return false;
  return true;
}

std::size_t Race::winner() const {
  std::size_t best = 0;
  for (std::size_t v = 1; v < in_.size(); ++v) {
    if (!in_[v] || time(v) > kGain * time(0) || (best > 0 && time(v) >= time(best))) continue;
    const std::size_t rounds = std::min(times_[v].size(), times_[0].size());
    std::size_t faster = 0;
    for (std::size_t r = 0; r < rounds; ++r) faster += times_[v][r] < times_[0][r] ? 1 : 0;
    if (static_cast<double>(faster) >= kMostlyFaster * static_cast<double>(rounds)) best = v;
  }
  return best;
}

}  // namespace sinter::tune
