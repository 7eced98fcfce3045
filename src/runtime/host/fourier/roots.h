// Roots of unity, the factors of Fourier transforms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::runtime::host::fourier {

struct Root {
  double re, im;
};

/// exp(-2 pi i k / n) for k >= 0 and n up to 2^59. Multiples of a quarter turn are exact.
Root root_of_unity(std::int64_t k, std::int64_t n);

/// Appends both parts.
template <class T>
void append(std::vector<T>& table, const Root& root) {
  table.push_back(static_cast<T>(root.re));
  table.push_back(static_cast<T>(root.im));
}

}  // namespace sinter::runtime::host::fourier
