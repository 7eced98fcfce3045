// A line search for the strong Wolfe conditions.
#include "src/optim/wolfe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sinter::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;
constexpr std::int64_t kMostSteps = 25;

struct End {
  double x, f, slope;
};

/// Where the cubic through two points with their slopes is least, within [low, high]; the middle where it has
/// no minimum.
double cubic_minimum(const End& a, const End& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.x - b.x);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double least = a.x <= b.x ? b.x - (b.x - a.x) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                                  : a.x - (a.x - b.x) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::isfinite(least) ? std::min(std::max(least, low), high) : (low + high) / 2;
}

}  // namespace

LinePoint LineSearch::look(double length) {
  ++evaluations;
  LinePoint point = at_(length);
  if (std::isnan(point.loss)) point.loss = std::numeric_limits<double>::infinity();
  return point;
}

bool LineSearch::flat(const LinePoint& start, const LinePoint& point) const {
  return std::abs(point.slope) <= -kCurvature * start.slope;
}

bool LineSearch::too_high(const LinePoint& start, const Place& place) const {
  return place.point.loss > start.loss + kDecrease * place.length * start.slope;
}

LineSearch::Bracket LineSearch::enclose(const LinePoint& start, double first) {
  Place before{0, start}, now{first, look(first)};
  for (std::int64_t step = 0; step < kMostSteps; ++step) {
    if (too_high(start, now) || (step > 1 && now.point.loss >= before.point.loss)) return {{before, now}};
    if (flat(start, now.point)) return {{now, now}, 1};
    if (now.point.slope >= 0) return {{before, now}};
    const double next = cubic_minimum({before.length, before.point.loss, before.point.slope},
                                      {now.length, now.point.loss, now.point.slope},
                                      now.length + 0.01 * (now.length - before.length), now.length * 10);
    before = std::exchange(now, Place{next, look(next)});
  }
  return {{Place{0, start}, now}};
}

void LineSearch::narrow(const LinePoint& start, Bracket& bracket) {
  auto& [a, b] = bracket.ends;
  bool little_progress = false;
  while (evaluations <= kMostSteps) {
    if (std::abs(b.length - a.length) * reach_ < tolerance_) return;
    const double low = std::min(a.length, b.length), high = std::max(a.length, b.length);
    double next = cubic_minimum({a.length, a.point.loss, a.point.slope},
                                {b.length, b.point.loss, b.point.slope}, low, high);
    // Near an end, for the second time: a tenth of the bracket away from it.
    const double margin = 0.1 * (high - low);
    if (std::min(high - next, next - low) < margin) {
      if (little_progress || next >= high || next <= low) {
        next = std::abs(next - high) < std::abs(next - low) ? high - margin : low + margin;
        little_progress = false;
      } else {
        little_progress = true;
      }
    } else {
      little_progress = false;
    }
    const Place place{next, look(next)};
    const bool a_is_lower = a.point.loss <= b.point.loss;
    Place &lower = a_is_lower ? a : b, &higher = a_is_lower ? b : a;
    if (too_high(start, place) || place.point.loss >= lower.point.loss) {
      higher = place;
      continue;
    }
    const bool done = flat(start, place.point);
    if (!done && place.point.slope * (higher.length - lower.length) >= 0) higher = lower;
    lower = place;
    if (done) return;
  }
}

LinePoint LineSearch::run(const LinePoint& start, double first) {
  Bracket bracket = enclose(start, first);
  if (bracket.count == 2) narrow(start, bracket);
  auto& [a, b] = bracket.ends;
  Place& lower = bracket.count == 1 || a.point.loss <= b.point.loss ? a : b;
  length = lower.length;
  return std::move(lower.point);
}

}  // namespace sinter::optim
