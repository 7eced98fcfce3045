// Checks for programs that outlast any test framework: what fails ends the process at once, also after main.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace ends {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  ::_exit(1);
}

/// A process that hangs is ended by the alarm, and so has failed.
inline void hang_after(unsigned seconds) { ::alarm(seconds); }

}  // namespace ends
