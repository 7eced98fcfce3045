// Which operation an indexed read belongs to: named where an index is out of range.
#pragma once

#include <cstdint>
#include <string_view>

namespace sinter::trace {

/// A Gather's second integer is a place in this list; 0 where it has none. Names that end in _nd have several
/// coordinates for what the Gather reads by one number.
inline constexpr const char* kIndexedOps[] = {
    "gather",       "index_add",      "scatter_add",  "scatter",    "scatter_fill",   "index_copy",
    "index_fill",   "scatter_reduce", "index_reduce", "scatter_nd", "scatter_nd_add", "scatter_nd_reduce",
    "index_select", "take",           "gather_nd",    "index"};

constexpr std::int64_t number_of_indexed_op(std::string_view name) {
  std::int64_t number = 0;
  for (const char* known : kIndexedOps) {
    if (known == name) return number;
    ++number;
  }
  return 0;
}

}  // namespace sinter::trace
