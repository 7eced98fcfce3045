// Environment variables: what a program takes of them, and what one with more rights than its caller does
// not.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

std::string output_of(const fs::path& probe) {
  const std::string command =
      "SINTER_CACHE_DIR=/planted/cache SINTER_LLVM=/planted/llvm.so SINTER_EXPLAIN=/planted/report "
      "SINTER_DUMP_KERNELS=/planted/dump HOME=/planted/home " +
      probe.string();
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("a setuid program takes no folder and no library from its caller") {
  const char* probe = std::getenv("SINTER_TEST_ENVIRONMENT_PROBE");
  if (probe == nullptr || geteuid() != 0) return;
  CHECK(output_of(probe) ==
        "secure=0 cache=/planted/cache llvm=/planted/llvm.so explain=/planted/report dump=/planted/dump\n");
  TemporaryFolder folder;
  const fs::path copy = folder.path() / "probe";
  fs::copy_file(probe, copy);
  REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(chown(copy.c_str(), 65534, 65534) == 0);
  REQUIRE(chmod(copy.c_str(), 04755) == 0);
  const std::string text = output_of(copy);
  if (text.find("secure=0") == 0) {
    MESSAGE("not checked: programs in " << folder.path() << " do not get their owner's rights");
    return;
  }
  CHECK(text == "secure=1 cache= llvm= explain= dump=\n");
}
