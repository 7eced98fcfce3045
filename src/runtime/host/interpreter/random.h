// The host's random numbers: Philox4x32-10, many counters at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::host {

/// The key of a Random expression.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// out[i] = random number of element first + i: uniform in [0, 1), or standard normal. An element's bits
/// depend only on its index and the key.
void random_block(float* out, std::uint64_t first, std::size_t n, RandomKey key, bool normal);

/// out[i] = random number of element elements[i]; several times slower than consecutive elements.
void random_elements(float* out, const std::uint64_t* elements, std::size_t n, RandomKey key, bool normal);

}  // namespace sinter::runtime::host
