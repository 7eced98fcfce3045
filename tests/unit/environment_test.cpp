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

std::string output_of_command(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

std::string output_of(const fs::path& probe) {
  return output_of_command(
      "SINTER_CACHE_DIR=/planted/cache SINTER_LLVM=/planted/llvm.so SINTER_EXPLAIN=/planted/report "
      "SINTER_DUMP_KERNELS=/planted/dump HOME=/planted/home " +
      probe.string());
}

/// What a program takes of the settings for choosing variants of kernels, or the error it gets.
std::string tuning(const std::string& settings) {
  const char* probe = std::getenv("SINTER_TEST_ENVIRONMENT_PROBE");
  REQUIRE(probe != nullptr);
  return output_of_command(
      "env -u SINTER_AUTOTUNE -u SINTER_AUTOTUNE_BUDGET_MS -u SINTER_TUNE_TENSOR_CORES -u "
      "SINTER_TUNE_COMPUTED_FACTORS " +
      settings + " " + probe + " tuning");
}

}  // namespace

TEST_CASE("variants of kernels are chosen by what is known, unless the environment says otherwise") {
  CHECK(tuning("") == "autotune=cached budget=-1 COMPUTED_FACTORS= TENSOR_CORES=\n");
  for (const char* mode : {"off", "cached", "quick", "full"})
    CHECK(tuning(std::string("SINTER_AUTOTUNE=") + mode) ==
          std::string("autotune=") + mode + " budget=-1 COMPUTED_FACTORS= TENSOR_CORES=\n");
  CHECK(tuning("SINTER_AUTOTUNE_BUDGET_MS=250 SINTER_TUNE_TENSOR_CORES=rows=128,slots=3") ==
        "autotune=cached budget=250 COMPUTED_FACTORS= TENSOR_CORES=rows=128,slots=3\n");
}

TEST_CASE("settings for choosing variants that mean nothing are errors that say what is allowed") {
  CHECK(tuning("SINTER_AUTOTUNE=fast") ==
        "[environment] SINTER_AUTOTUNE is \"fast\"; it takes off, cached, quick or full\n");
  CHECK(tuning("SINTER_AUTOTUNE_BUDGET_MS=soon") ==
        "[environment] SINTER_AUTOTUNE_BUDGET_MS is \"soon\"; it takes a whole number\n");
  CHECK(tuning("SINTER_TUNE_SOFTMAX=rows=4") ==
        "[environment] SINTER_TUNE_SOFTMAX is set, and there is no such family of kernels; there is "
        "COMPUTED_FACTORS, TENSOR_CORES\n");
  CHECK(tuning("SINTER_TUNE_SOFTMAX=") == "autotune=cached budget=-1 COMPUTED_FACTORS= TENSOR_CORES=\n");
}

TEST_CASE("so are orders and precisions that there are not") {
  CHECK(tuning("SINTER_SUM_ORDER=random") ==
        "[environment] SINTER_SUM_ORDER is \"random\"; it takes fixed or any\n");
  CHECK(tuning("SINTER_MATMUL_PRECISION=some") ==
        "[environment] SINTER_MATMUL_PRECISION is \"some\"; it takes highest, tf32x3, high or medium\n");
  CHECK(tuning("SINTER_SUM_ORDER=any") == "autotune=cached budget=-1 COMPUTED_FACTORS= TENSOR_CORES=\n");
}

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
