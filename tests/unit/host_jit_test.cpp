// What compiled code computes over the whole range of floats, and libraries that are no LLVM. Compiled
// kernels as such: tests/device/host_test.cpp.
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
#include "src/runtime/host/elementwise.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/jit.h"
#include "src/runtime/host/llvm_api.h"
#include "tests/support/random_kernel.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

/// Distance in units of the last place of `want`; results below the normal numbers count in units of the
/// least.
double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded)) {
    if (got == rounded) return 0;
    return std::isinf(want) ? INFINITY : std::abs(got) > 3.4e38f ? 1 : INFINITY;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::abs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

/// y = op(x) over n floats, launched as a backend does.
class Function {
 public:
  Function(host::Jit& jit, Op op, std::int64_t n) : backend_(runtime::make_host_backend(&jit, true)), n_(n) {
    testing::KernelBuilder k({n});
    const std::uint16_t x =
        k.input_bytes(DType::f32, std::vector<std::byte>(static_cast<std::size_t>(n) * 4));
    const std::uint16_t y = k.output(DType::f32, n);
    k.store(y, k.all(), k.op(op, k.load(x, k.all())));
    case_ = k.finish("function");
    const ir::Kernel* kernel = &case_.kernel;
    executable_ = backend_->compile({&kernel, 1}).at(0);
    x_ = backend_->allocate(static_cast<std::size_t>(n) * 4);
    y_ = backend_->allocate(static_cast<std::size_t>(n) * 4);
  }

  void run(const std::vector<float>& x, std::vector<float>& y) {
    backend_->upload({x_.get(), 0}, std::as_bytes(std::span(x)));
    const runtime::BufferView views[] = {{x_.get(), 0}, {y_.get(), 0}};
    backend_->launch(*executable_, {views, case_.bindings.ints, case_.bindings.scalars});
    backend_->download({y_.get(), 0}, std::as_writable_bytes(std::span(y)));
  }

 private:
  std::unique_ptr<runtime::Backend> backend_;
  std::int64_t n_;
  testing::KernelCase case_;
  runtime::ExecutableRef executable_;
  runtime::BufferRef x_, y_;
};

/// Every `step`-th float, in blocks; all of them with SINTER_TEST_ALL_FLOATS=1, which takes some minutes a
/// function.
template <class F>
void check(host::Jit& jit, Op op, double bound, F&& reference) {
  const char* all = std::getenv("SINTER_TEST_ALL_FLOATS");
  const std::uint64_t step = all != nullptr && std::string(all) == "1" ? 1 : 1499;
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  Function function(jit, op, kBlock);
  std::vector<float> x(kBlock), y(kBlock);
  double worst = 0;
  float at = 0;
  for (std::uint64_t begin = 0; begin < (std::uint64_t{1} << 32); begin += kBlock * step) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const std::uint32_t bits = static_cast<std::uint32_t>(begin + i * step);
      std::memcpy(&x[i], &bits, 4);
    }
    function.run(x, y);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double error = ulps(y[i], reference(static_cast<double>(x[i])));
      if (!(error <= worst)) worst = error, at = x[i];
    }
  }
  MESSAGE(std::string(name_of(op)) << ": at most " << worst << " ulp, at " << at);
  CHECK(worst <= bound);
}

void check_functions(host::Jit& jit) {
  check(jit, Op::Exp, 4, [](double x) { return std::exp(x); });
  check(jit, Op::Expm1, 4, [](double x) { return std::expm1(x); });
  check(jit, Op::Log, 4, [](double x) { return std::log(x); });
  check(jit, Op::Log1p, 4, [](double x) { return std::log1p(x); });
  check(jit, Op::Sin, 4, [](double x) { return std::sin(x); });
  check(jit, Op::Cos, 4, [](double x) { return std::cos(x); });
  check(jit, Op::Tanh, 4, [](double x) { return std::tanh(x); });
  check(jit, Op::Sigmoid, 4, [](double x) { return 1 / (1 + std::exp(-x)); });
  check(jit, Op::Erf, 4, [](double x) { return std::erf(x); });
  check(jit, Op::Sqrt, 0.5, [](double x) { return std::sqrt(x); });
  check(jit, Op::Rsqrt, 2, [](double x) { return 1 / std::sqrt(x); });
  check(jit, Op::Round, 0, [](double x) { return std::nearbyint(x); });
}

const char* fake_library() { return std::getenv("SINTER_TEST_FAKE_LLVM"); }

}  // namespace

TEST_CASE("compiled functions of one operand are within 4 ulp") {
  host::Jit* jit = host::jit();
  if (jit == nullptr) return;
  check_functions(*jit);
}

#if defined(__x86_64__)
TEST_CASE("compiled functions are within 4 ulp without fused multiplication and addition") {
  std::string reason;
  const auto jit = host::open_jit(base::environment().llvm, "x86-64", "+sse3,+ssse3,+sse4.1", reason);
  if (jit == nullptr) return;
  check_functions(*jit);
}
#endif

TEST_CASE("compiled functions give the bits of the block functions") {
  host::Jit* jit = host::jit();
  if (jit == nullptr) return;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma")) return;  // the two round differently there
#endif
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::vector<float> x(kBlock), compiled(kBlock), block(kBlock);
  for (const Op op : {Op::Exp, Op::Expm1, Op::Log, Op::Log1p, Op::Sin, Op::Cos, Op::Tanh, Op::Sigmoid,
                      Op::Erf, Op::Rsqrt}) {
    Function function(*jit, op, kBlock);
    const auto& forms = host::block_functions().elementwise[static_cast<std::size_t>(op)][0];
    std::size_t different = 0;
    float at = 0;
    for (std::uint64_t begin = 0; begin < (std::uint64_t{1} << 32); begin += kBlock * 9973) {
      for (std::size_t i = 0; i < kBlock; ++i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(begin + i * 9973);
        std::memcpy(&x[i], &bits, 4);
      }
      function.run(x, compiled);
      forms[0](block.data(), x.data(), nullptr, nullptr, kBlock);
      for (std::size_t i = 0; i < kBlock; ++i) {
        if (std::isnan(compiled[i]) && std::isnan(block[i])) continue;
        if (std::memcmp(&compiled[i], &block[i], 4) == 0) continue;
        if (different++ == 0) at = x[i];
      }
    }
    CHECK_MESSAGE(different == 0, std::string(name_of(op))
                                      << " differs for " << different << " numbers, such as " << at);
  }
}

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
  // In memory or on disk: in either case no compiler ran; another process finds the file.
  CHECK(second->compile(c.kernel).code == kernel.code);
}
