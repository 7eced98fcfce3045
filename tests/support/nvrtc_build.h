// What tests that compile texts with NVRTC have in common.
#pragma once

#include <iostream>
#include <string>

#include <doctest/doctest.h>

#include "jit/compile/nvrtc.h"

namespace sinter::testing {

/// Compiles a text and returns what ptxas says of its registers.
inline std::string build(const std::string& source, bool contract = false, int major = 9, int minor = 0) {
  compile::CudaOptions options;
  options.architecture = compile::cuda_architecture(major, minor);
  options.contract = contract;
  options.more = {"--ptxas-options=-v"};
  std::string log;
  const auto code = compile::run_nvrtc(source, options, &log);
  CHECK_FALSE(code.empty());
  return log;
}

inline bool spills(const std::string& log) { return compile::spilled_bytes(log) > 0; }

/// Exit code 77, which is a skipped test, where NVRTC is not installed.
inline int run_nvrtc_tests(int argc, char** argv) {
  if (!compile::has_nvrtc()) {
    std::cout << "skipped: " << compile::nvrtc_unavailable_reason() << "\n";
    return 77;
  }
  return doctest::Context(argc, argv).run();
}

}  // namespace sinter::testing
