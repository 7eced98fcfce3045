// Libraries that are not LLVM, and the cache. Compiled kernels are tested in tests/device/host_test.cpp,
// compiled functions in maths_bounds_test.cpp.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/machine_code/jit.h"
#include "src/runtime/host/machine_code/llvm_api.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

const char* fake_library() { return std::getenv("SINTER_TEST_FAKE_LLVM"); }

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
  const auto backend = runtime::make_host_backend(jit.get(), false);
  testing::KernelBuilder k({5});
  const std::uint16_t x = k.input(DType::f32, {1, 2, 3, 4, 5}), y = k.output(DType::f32, 5);
  k.store(y, k.all(), k.op(Op::Neg, k.load(x, k.all())));
  const testing::KernelCase c = k.finish("negation");
  CHECK_THROWS_AS(jit->compile(c.kernel), CompileError);
  const ir::Kernel* kernel = &c.kernel;
  const auto executable = backend->compile({&kernel, 1}).at(0);
  CHECK(backend->statistics().kernels_compiled == 0);
  const runtime::BufferRef in = backend->allocate(20), out = backend->allocate(20);
  backend->upload({in.get(), 0}, c.bindings.buffers[0]);
  const runtime::BufferView views[] = {{in.get(), 0}, {out.get(), 0}};
  backend->launch(*executable, {views, c.bindings.ints, c.bindings.scalars});
  float result[5];
  backend->download({out.get(), 0}, std::as_writable_bytes(std::span(result)));
  for (int i = 0; i < 5; ++i) CHECK(result[i] == -static_cast<float>(i + 1));
}

TEST_CASE("a kernel comes from the disk the second time") {
  std::string reason;
  const auto first = host::open_jit(base::environment().llvm, "", "", reason);
  if (first == nullptr || !base::environment().cache || base::environment().cache_dir.empty()) return;
  testing::KernelBuilder k({7, 3});
  const std::uint16_t x = k.input(DType::f64, std::vector<double>(21, 0.5)), y = k.output(DType::f64, 21);
  k.store(y, k.all(), k.op(Op::Tanh, k.load(x, k.all())));
  const testing::KernelCase c = k.finish("tanh");
  first->compile(c.kernel);
  const auto second = host::open_jit(base::environment().llvm, "", "", reason);
  const host::JitKernel kernel = second->compile(c.kernel);
  CHECK(kernel.code != nullptr);
  // From memory or disk: in either case no compiler ran, and another process finds the file.
  CHECK(second->compile(c.kernel).code == kernel.code);
}
