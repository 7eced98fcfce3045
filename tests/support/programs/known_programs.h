// Pieces of work that everybody knows, written as a user would: for tests of what the planner makes of them.
#pragma once

#include <any>
#include <functional>
#include <string>
#include <vector>

#include <sinter/device.h>

namespace sinter::testing {

struct KnownProgram {
  std::string name;
  std::size_t most_launches;  // a promise of the README
  /// Sets up inputs and parameters; returns what one step records. What a step returns is seen by somebody.
  std::function<std::function<std::any()>(const Device&)> make;
};

const std::vector<KnownProgram>& known_programs();

}  // namespace sinter::testing
