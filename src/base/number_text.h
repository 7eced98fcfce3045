// Numbers in error messages.
#pragma once

#include <sstream>
#include <string>

namespace sinter {

/// With as many of six digits as it has: -1e-09, where std::to_string gives -0.000000.
inline std::string text_of(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace sinter
