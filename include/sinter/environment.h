// What the environment sets for Sinter.
#pragma once

#include <string>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter {

/// One environment variable that Sinter reads; docs/environment.md says more.
struct EnvironmentVariable {
  std::string name, value, description;
};

/// Every variable with the value in effect, which is the default where the environment does not set it. The
/// environment is read once.
SINTER_API std::vector<EnvironmentVariable> environment_variables();

}  // namespace sinter
