// Integer settings of tests from environment variables.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sinter::testing {

/// The environment variable `name` as a number, where it is set.
inline std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

}  // namespace sinter::testing
