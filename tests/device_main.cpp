// The main program of tests that run on the device SINTER_DEVICE names. A machine without that device skips
// them (exit code 77), unless SINTER_TEST_REQUIRE, a list such as "host,vulkan", says that it must be there;
// "matrices" in it: a Vulkan device has to multiply by cooperative matrices.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sinter/device.h>
#include <sinter/error.h>

#include "jit/ir/traits.h"
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
      if (is_required("matrices") && std::string(device).starts_with("vulkan") &&
          found.core().traits().tensor_cores.matrices.empty()) {
        std::cout << device << " has no cooperative matrices of 16-bit floats\n";
        return 1;
      }
    } catch (const sinter::DeviceError& error) {
      std::cout << error.what() << "\n";
      return is_required(device) ? 1 : kSkipped;
    }
  }
  return doctest::Context(argc, argv).run();
}
