#include "src/runtime/host/fourier/roots.h"

#include <cmath>
#include <numbers>

namespace sinter::runtime::host::fourier {

Root root_of_unity(std::int64_t k, std::int64_t n) {
  k %= n;
  // The nearest quarter turn, and what is left of it: at most an eighth of a turn.
  const std::int64_t quarter = (8 * k + n) / (2 * n), rest = 4 * k - quarter * n;
  const double angle = static_cast<double>(rest) * (std::numbers::pi / 2) / static_cast<double>(n);
  const double c = std::cos(angle), s = std::sin(angle);
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

}  // namespace sinter::runtime::host::fourier
