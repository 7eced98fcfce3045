// The main program of tests that run on the device SINTER_DEVICE names. A machine without that device skips
// them (exit code 77), unless SINTER_TEST_REQUIRE, a list such as "host,vulkan", says that it must be there.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sinter/device.h>
#include <sinter/error.h>

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
      sinter::Device::parse(device);
    } catch (const sinter::DeviceError& error) {
      std::cout << error.what() << "\n";
      return is_required(device) ? 1 : kSkipped;
    }
  }
  return doctest::Context(argc, argv).run();
}
