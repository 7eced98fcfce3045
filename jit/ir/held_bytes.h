// About how much memory kernel IR holds: for caches that are bounded by bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

// Of a block on the heap, beside what was asked for.
inline constexpr std::size_t kHeapBlock = 16;

/// The elements alone, without what they point to.
template <class T>
std::size_t held_bytes(const std::vector<T>& list) {
  return list.capacity() > 0 ? list.capacity() * sizeof(T) + kHeapBlock : 0;
}

inline std::size_t held_bytes(const std::string& text) {
  return text.capacity() >= sizeof(std::string) / 2 ? text.capacity() + kHeapBlock : 0;
}

/// What the kernel points to, without the struct itself.
std::size_t held_bytes(const Kernel& kernel);

}  // namespace sinter::ir
