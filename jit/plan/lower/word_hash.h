// Hashes of a few numbers, for tables that lowering asks several times for each node.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::plan {

/// Takes in one word after the other, in two instructions each. Both ends of the result are well mixed, since
/// absl's tables take the lowest seven bits apart from the rest.
class WordHash {
 public:
  template <class Word>
  WordHash& add(Word word) {
    hash_ = (hash_ ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u + (hash_ >> 32);
    return *this;
  }
  std::size_t result() const { return static_cast<std::size_t>(hash_ ^ hash_ >> 29); }

 private:
  std::uint64_t hash_ = 0;
};

}  // namespace sinter::plan
