// Prints what of the environment is taken: a test runs it with the rights of another user.
#include <cstdio>

#include <unistd.h>

#include "src/base/env.h"

int main() {
  const sinter::base::Environment& e = sinter::base::environment();
  std::printf("secure=%d cache=%s llvm=%s explain=%s dump=%s\n", getuid() != geteuid(), e.cache_dir.c_str(),
              e.llvm.c_str(), e.explain.c_str(), e.dump_kernels.c_str());
}
