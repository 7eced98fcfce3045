// Numbers that are the same in each run and on each machine.
#pragma once

#include <cstdint>
#include <vector>

namespace sinter::testing {

/// `n` numbers between -size and size, which follow from `state`.
inline std::vector<float> drawn_numbers(std::int64_t n, std::uint64_t state, float size = 1) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = (static_cast<float>(state >> 40) / (1 << 23) - 1) * size;
  }
  return values;
}

}  // namespace sinter::testing
