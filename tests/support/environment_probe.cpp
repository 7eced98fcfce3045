// Prints what of the environment is taken: a test runs it with the rights of another user.
#include <cstdio>
#include <cstring>
#include <exception>

#include <unistd.h>

#include "src/base/env.h"

// Of a program with its owner's rights the address sanitizer finds neither leaks nor its own options.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace {

/// What chooses the variants of kernels, or the error.
int print_tuning() {
  try {
    const sinter::base::Environment& e = sinter::base::environment();
    std::printf("autotune=%s budget=%lld", e.autotune.c_str(), static_cast<long long>(e.autotune_budget_ms));
    for (const auto& [family, pin] : e.tune_pins) std::printf(" %s=%s", family.c_str(), pin.c_str());
    std::printf("\n");
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "tuning") == 0) return print_tuning();
  const sinter::base::Environment& e = sinter::base::environment();
  std::printf("secure=%d cache=%s llvm=%s explain=%s dump=%s\n", getuid() != geteuid(), e.cache_dir.c_str(),
              e.llvm.c_str(), e.explain.c_str(), e.dump_kernels.c_str());
}
