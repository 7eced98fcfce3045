// The main program of tests that run on the device SINTER_DEVICE names. A machine without that device skips
// them (exit code 77), unless SINTER_TEST_REQUIRE, a list such as "host,vulkan", says that it must be there.
// With SINTER_COOPERATIVE_MATRICES=1 a Vulkan device without such matrices is none either ("matrices" in that
// list: it has to have them).
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sinter/device.h>
#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/device_core.h"

namespace {

bool is_required(const std::string& device) {
  const char* list = std::getenv("SINTER_TEST_REQUIRE");
  std::stringstream names(list ? list : "");
  for (std::string name; std::getline(names, name, ',');)
    if (name == device) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  if (const char* device = std::getenv("SINTER_DEVICE")) {
    try {
      const sinter::Device found = sinter::Device::parse(device);
      // What is to be tested with cooperative matrices is nothing new without them.
      constexpr const char* kMatrices = "matrices";
      if (sinter::base::environment().cooperative_matrices && std::string(device).starts_with("vulkan") &&
          found.core().traits().tensor_cores.matrices.empty()) {
        std::cout << device << " has no cooperative matrices of 16-bit floats\n";
        return is_required(kMatrices) ? 1 : kSkipped;
      }
    } catch (const sinter::DeviceError& error) {
      std::cout << error.what() << "\n";
      return is_required(device) ? 1 : kSkipped;
    }
  }
  return doctest::Context(argc, argv).run();
}
