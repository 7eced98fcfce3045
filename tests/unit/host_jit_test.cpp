// Libraries that are not LLVM, and the cache. Compiled kernels are tested in tests/device/host_test.cpp,
// compiled functions in maths_bounds_test.cpp.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sinter/error.h>

#include "jit/compile/kernel_cache.h"
#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/machine_code/jit.h"
#include "src/runtime/host/machine_code/llvm_api.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/one_run.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

constexpr int kRanAlone = 17;  // not what doctest ends with

const char* fake_library() { return std::getenv("SINTER_TEST_FAKE_LLVM"); }

testing::KernelCase negation() {
  testing::KernelBuilder k({5});
  const std::uint16_t x = k.input(DType::f32, {1, 2, 3, 4, 5}), y = k.output(DType::f32, 5);
  k.store(y, k.all(), k.op(Op::Neg, k.load(x, k.all())));
  return k.finish("negation");
}

/// True iff a backend with this compiler, which compiles nothing, gives the right numbers all the same.
bool negates(host::Jit& jit) {
  const testing::KernelCase c = negation();
  const auto backend = runtime::make_host_backend(&jit, false);
  // Several at a time, as the kernels of a plan are compiled.
  const std::vector<const ir::Kernel*> kernels(4, &c.kernel);
  const auto executable = backend->compile(kernels).at(3);
  const runtime::BufferRef in = backend->allocate(20), out = backend->allocate(20);
  backend->upload({in.get(), 0}, c.bindings.buffers[0]);
  const runtime::BufferView views[] = {{in.get(), 0}, {out.get(), 0}};
  testing::run_alone(*backend, *executable, {views, c.bindings.ints, c.bindings.scalars});
  float result[5];
  backend->download({out.get(), 0}, std::as_writable_bytes(std::span(result)));
  for (int i = 0; i < 5; ++i)
    if (result[i] != -static_cast<float>(i + 1)) return false;
  return backend->statistics().kernels_compiled == 0;
}

/// What a child process gives that runs the work and ends as programs do.
template <class Work>
int status_of(Work work) {
  std::cout.flush();  // the child would write it once more
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);  // one that hangs has failed too
    std::exit(work());
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("what is no libLLVM is told in one sentence") {
  const std::string text_file = (std::filesystem::temp_directory_path() / "sinter_no_library.so").string();
  {
    std::FILE* file = std::fopen(text_file.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fputs("no library", file);
    std::fclose(file);
  }
  for (const std::string& path : {std::string("/nowhere/libLLVM.so"), text_file, std::string("libm.so.6")}) {
    std::string reason;
    CHECK(host::open_jit(path, "", "", reason) == nullptr);
    INFO(reason);
    CHECK(reason.find(path) != std::string::npos);
    CHECK(reason.find('\n') == std::string::npos);
  }
  std::filesystem::remove(text_file);
  CHECK(host::open_llvm("libm.so.6").problem.find("older than LLVM 14") != std::string::npos);
}

TEST_CASE("kernels that a broken libLLVM refuses are interpreted") {
  if (fake_library() == nullptr) return;
  std::string reason;
  const auto jit = host::open_jit(fake_library(), "", "", reason);
  REQUIRE_MESSAGE(jit != nullptr, reason);
  CHECK_THROWS_AS(jit->compile(negation().kernel), CompileError);
  CHECK(negates(*jit));
}

TEST_CASE("an error that LLVM finds while it makes code is a refusal") {
  if (fake_library() == nullptr) return;
  CHECK(status_of([] {
          ::setenv("SINTER_FAKE_LLVM", "diagnose", 1);
          std::string reason;
          const auto jit = host::open_jit(fake_library(), "", "", reason);
          if (jit == nullptr) return 2;
          try {
            jit->compile(negation().kernel);
          } catch (const CompileError& e) {
            return std::string(e.what()).find("this library cannot select that") == std::string::npos ? 3 : 0;
          }
          return 4;
        }) == 0);
}

TEST_CASE("a fatal error of LLVM's leaves the interpreter") {
  // Its process goes on, computes, and ends as others do.
  auto survives = [](const std::string& library, const std::string& cpu, const std::string& features,
                     const std::string& message) {
    return status_of([&] {
      ::setenv("SINTER_FAKE_LLVM", "fatal", 1);
      std::string reason;
      const auto jit = host::open_jit(library, cpu, features, reason);
      if (jit == nullptr) return 2;
      if (!negates(*jit) || !negates(*jit)) return 3;
      try {
        jit->compile(negation().kernel);
      } catch (const CompileError& e) {
        return std::string(e.what()).find(message) == std::string::npos ? 4 : 0;
      }
      return 5;
    });
  };
  if (fake_library() != nullptr) CHECK(survives(fake_library(), "", "", "this library cannot go on") == 0);
#if defined(__x86_64__)
  std::string reason;
  if (host::open_jit(base::environment().llvm, "", "", reason) == nullptr) return;
  // A true one: no 64-bit code for a processor of 32 bits.
  CHECK(survives(base::environment().llvm, "i386", "-64bit,+sse4.1", "64-bit code requested") == 0);
#endif
}

// Run by the next one: a process opens its compiler once, and another test may have done so in this one.
TEST_CASE("in a process of its own: SINTER_LLVM does not work" * doctest::skip()) {
  const std::string library = base::environment().llvm;
  std::string text;
  try {
    runtime::make_host_backend();
  } catch (const DeviceError& e) {
    text = e.what();
  }
  base::mutable_environment().host = "interpreter";  // which asks for none
  runtime::make_host_backend();
  const auto says = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  if (says("SINTER_LLVM") && says(library)) std::exit(kRanAlone);
}

TEST_CASE("a SINTER_LLVM that does not work is an error") {
  for (const char* library : {"/nowhere/libLLVM.so", "libm.so.6", fake_library()}) {
    if (library == nullptr) continue;
    CAPTURE(library);
    CHECK(status_of([&] {
            ::setenv("SINTER_LLVM", library, 1);
            ::setenv("SINTER_HOST", "auto", 1);
            ::execl("/proc/self/exe", "unit_tests", "--no-skip",
                    "--test-case=in a process of its own: SINTER_LLVM does not work", nullptr);
            return 1;
          }) == kRanAlone);
  }
}

TEST_CASE("a kernel comes from the disk the second time") {
  std::string reason;
  const auto first = host::open_jit(base::environment().llvm, "", "", reason);
  if (first == nullptr || !base::environment().cache || base::environment().cache_dir.empty()) {
    MESSAGE("not checked: " << (first == nullptr ? reason : "kernels are kept in memory only"));
    return;
  }
  testing::KernelBuilder k({7, 3});
  const std::uint16_t x = k.input(DType::f64, std::vector<double>(21, 0.5)), y = k.output(DType::f64, 21);
  k.store(y, k.all(), k.op(Op::Tanh, k.load(x, k.all())));
  const testing::KernelCase c = k.finish("tanh");
  const auto held = first->compile(c.kernel);
  // As another process would: nothing is loaded, nothing in memory.
  compile::KernelCache::global().forget();
  const auto second = host::open_jit(base::environment().llvm, "", "", reason);
  const host::JitKernel kernel = second->compile(c.kernel);
  CHECK(kernel.origin == compile::Origin::Disk);
  CHECK(kernel.code != nullptr);
  const host::JitKernel again = second->compile(c.kernel);
  CHECK(again.origin == compile::Origin::Memory);
  CHECK(again.code == kernel.code);
}
