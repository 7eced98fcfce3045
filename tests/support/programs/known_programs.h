// Well-known programs, written like a user would, for tests of the planner.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <vector>

#include <sinter/device.h>

namespace sinter::testing {

struct KnownProgram {
  std::string name;
  std::size_t most_launches;  // promised by the README
  /// Sets up inputs and parameters; returns a function that records one step. The step's return value counts
  /// as held.
  std::function<std::function<std::any()>(const Device&)> make;
};

const std::vector<KnownProgram>& known_programs();

}  // namespace sinter::testing
