// What the planning of products shares: limits of split sums, and pieces of texts.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime::cuda {

// A split sums at least this much of k: below, the second pass costs more than the first saves.
inline constexpr std::int64_t kLeastDepth = 128;
// A cluster adds up its parts itself, so that its blocks may sum less.
inline constexpr std::int64_t kLeastDepthOfCluster = 48;
inline constexpr std::int64_t kMostSplits = 256;
// Kernels count the k of a split in 32 bits.
inline constexpr std::int64_t kMostDepth = std::int64_t{1} << 30;

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

inline std::string define(const char* name, const std::string& value) {
  return std::string("#define ") + name + " " + value + "\n";
}
inline std::string define(const char* name, int value) { return define(name, std::to_string(value)); }

}  // namespace sinter::runtime::cuda
