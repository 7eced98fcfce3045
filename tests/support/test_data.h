// Pseudorandom test data, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::testing {

/// SplitMix64 (Steele, Lea, Flood 2014). The standard library's distributions differ between implementations;
/// these do not.
class TestData {
 public:
  explicit TestData(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// In [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return real(0, 1) < probability; }

  std::vector<double> reals(std::size_t count, double low = -3, double high = 3) {
    std::vector<double> values(count);
    for (double& v : values) v = real(low, high);
    return values;
  }
  std::vector<std::int64_t> integers(std::size_t count, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> values(count);
    for (std::int64_t& v : values) v = integer(low, high);
    return values;
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace sinter::testing
