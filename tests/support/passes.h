// What tests ask of the passes of a library op.
#pragma once

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/passes/passes.h"

namespace sinter::testing {

using runtime::Pass;
using runtime::PassBuffer;

inline const PassBuffer& written(const Pass& pass) {
  for (const PassBuffer& buffer : pass.buffers)
    if (buffer.written) return buffer;
  FAIL("a pass that writes nothing");
  return pass.buffers.front();
}

inline const PassBuffer* named(const Pass& pass, const char* name) {
  for (const PassBuffer& buffer : pass.buffers)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

inline std::int64_t int_of(const Pass& pass, const char* name) {
  for (const auto& [own, value] : pass.ints)
    if (own == name) return value;
  FAIL("no such int");
  return 0;
}

inline std::int64_t int_of_or(const Pass& pass, const char* name, std::int64_t otherwise) {
  for (const auto& [own, value] : pass.ints)
    if (own == name) return value;
  return otherwise;
}

/// The buffer of that name of the first pass from `begin` on that has one.
inline const PassBuffer* named_first(const std::vector<Pass>& passes, std::size_t begin, const char* name) {
  for (std::size_t p = begin; p < passes.size(); ++p)
    if (const PassBuffer* buffer = named(passes[p], name)) return buffer;
  FAIL("no such buffer");
  return nullptr;
}

inline bool overlap(const PassBuffer& a, const PassBuffer& b) {
  const auto begin = [](const PassBuffer& x) {
    return x.first * static_cast<std::int64_t>(size_of(x.dtype));
  };
  const auto end = [&](const PassBuffer& x) {
    return begin(x) + x.numel * static_cast<std::int64_t>(size_of(x.dtype));
  };
  return a.of == b.of && a.number == b.number && begin(a) < end(b) && begin(b) < end(a);
}

}  // namespace sinter::testing
