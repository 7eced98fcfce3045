// NVRTC accepts every generated and hand-written text. Exit code 77: NVRTC is not installed.
#define DOCTEST_CONFIG_IMPLEMENT
#include "jit/compile/nvrtc.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/error.h>
#include <sinter/nn/attention.h>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "src/base/exit_gate.h"
#include "src/runtime/cuda/pass_text.h"
#include "src/runtime/cuda/products/products.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/nvrtc_build.h"
#include "tests/support/planned_norms.h"

namespace {

using namespace sinter;
using testing::build;
using testing::spills;

const emit::Target kTarget(emit::dialect("cuda"));

}  // namespace

TEST_CASE("architectures") {
  CHECK(compile::cuda_architecture(9, 0) == "sm_90a");
  CHECK(compile::cuda_architecture(8, 6) == "sm_86");
  CHECK(compile::cuda_architecture(99, 0).starts_with("compute_"));
}

TEST_CASE("every function of the prelude compiles") {
  const emit::Dialect& dialect = *kTarget.dialect;
  std::string calls;
  for (const OpInfo& op : kOps) {
    const std::size_t at = op.text.find("sn_");
    if (op.op_class != OpClass::Elementwise || at == std::string_view::npos) continue;
    for (const char* dtype : {"f32", "f64", "i32", "i64", "bool"}) {
      const std::string name = std::string(op.text.substr(at, op.text.find('(', at) - at)) + "_" + dtype;
      if (!dialect.function(name).empty()) calls += name + "( ";
    }
  }
  for (const char* from : {"f32", "f64", "i32", "i64", "bool"})
    for (const char* to : {"f32", "f64", "i32", "i64", "bool"})
      if (std::string(from) != to) calls += "sn_cast_" + std::string(from) + "_" + to + "( ";
  for (DType stored : {DType::bf16, DType::f16, DType::f8_e4m3, DType::f8_e5m2, DType::i8, DType::i16,
                       DType::u8, DType::u16, DType::u32, DType::u64}) {
    const std::string of(name_of(stored)), computed(name_of(arithmetic_of(stored)));
    calls += "sn_cast_" + of + "_" + computed + "( sn_cast_" + computed + "_" + of + "( ";
  }
  for (const char* dtype : {"f32", "f64", "i32", "i64", "u8", "bool", "bf16", "f16", "i8", "i16", "u16",
                            "u32", "u64", "f8_e4m3", "f8_e5m2"})
    calls += "sn_load4_" + std::string(dtype) + "( sn_store4_" + dtype + "( ";
  calls += "sn_uniform( sn_normal( sn_barrier( ";
  std::map<std::string, std::string> of_target;
  dialect.add_functions(kTarget, of_target);
  const std::string text = dialect.preamble({}, kTarget) + emit::functions_for(calls, dialect, of_target) +
                           "extern \"C\" __global__ void sinter_kernel() {}\n";
  build(text);
  build(text, false, 8, 0);  // where 8-bit floats are converted by bits
}

TEST_CASE("kernels of each kind compile without spilling registers") {
  // ptxas puts a number or two aside by its own rules, in a kernel that has 40 registers.
  constexpr int kFew = 8;
  std::string last;
  for (const testing::KernelCase& c : testing::handmade_kernels()) {
    // Kernels that differ only in sizes have one text.
    const std::string text = emit::emit(c.kernel, kTarget).text;
    // Four tables of as many dtypes, looked up in one kernel, spill: known, and rare in programs.
    if (text == last || c.name.starts_with("cast ") || c.name.starts_with("four gathers")) continue;
    last = text;
    INFO(c.name);
    CHECK(compile::spilled_bytes(build(text)) <= kFew);
  }
}

TEST_CASE(
    "rows in registers compile without spilling them, for fewer blocks a multiprocessor where they must") {
  compile::CudaOptions options;
  options.architecture = compile::cuda_architecture(9, 0);
  std::string last;
  int compiled = 0;
  for (testing::KernelCase c : testing::handmade_kernels()) {
    if (c.kernel.phases < 2 || c.kernel.schedule != ir::Schedule::LanesInner || c.kernel.split) continue;
    struct Form {
      std::uint16_t elements, lanes;
      std::uint8_t cluster;
      bool full, ragged;
    };
    for (const Form& form :
         {Form{16, 256, 1, true, false}, Form{32, 256, 1, false, true}, Form{8, 16, 1, false, true},
          Form{32, 256, 4, false, false}, Form{32, 4, 1, false, false}, Form{40, 32, 1, false, true}}) {
      c.kernel.row_elements = form.elements;
      c.kernel.row_lanes = form.lanes;
      c.kernel.row_cluster = form.cluster;
      c.kernel.row_full = form.full;
      c.kernel.row_ragged = form.ragged;
      const std::string text = emit::emit(c.kernel, kTarget).text;
      if (text == last) continue;
      last = text;
      INFO(c.name << " with " << form.elements << " elements in each of " << form.lanes << " lanes of "
                  << int{form.cluster} << (form.ragged ? " groups, ragged" : " groups"));
      std::string log;
      CHECK_FALSE(compile::run_nvrtc_for_blocks(text, options, &log).empty());
      CHECK_FALSE(spills(log));
      ++compiled;
    }
  }
  CHECK(compiled > 0);
}

TEST_CASE("rows and sums of their columns take the registers that the number of parts is for") {
  int compiled = 0;
  for (const bool centred : {false, true})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const Shape& shape : {Shape{1016800, 33}, Shape{349525, 96}, Shape{130561, 257}, Shape{43690, 768},
                                 Shape{32768, 1024}, Shape{8192, 4096}, Shape{4096, 8192}}) {
        const testing::Planned planned = testing::norm_gradients(shape, dtype, centred);
        for (const plan::PlanKernel& kernel : planned.plan.kernels) {
          if (!ir::has_parts(kernel)) continue;
          INFO(to_string(shape) << " " << name_of(dtype) << (centred ? " centred" : ""));
          CHECK_FALSE(spills(build(emit::emit(kernel, kTarget).text)));
          ++compiled;
        }
      }
  CHECK(compiled == 28);
}

TEST_CASE("kernels of attention spill nothing to speak of") {
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  using Case = std::pair<DType, std::int64_t>;
  for (const auto& [dtype, depth] : {Case{DType::bf16, 32},
                                     {DType::bf16, 64},
                                     {DType::bf16, 80},
                                     {DType::bf16, 128},
                                     {DType::bf16, 256},
                                     {DType::f32, 32},
                                     {DType::f32, 64},
                                     {DType::f32, 80},
                                     {DType::f32, 128}}) {
    const testing::Planned p = testing::planned([&, dtype = dtype, depth = depth](const Device& device) {
      const Device training = device.autodiff();
      std::vector<AnyTensor> x;
      for (int k = 0; k < 3; ++k)
        x.push_back(testing::input({2, 4, 512, depth}, training, dtype).require_grad());
      const AnyTensor seed = testing::input({2, 4, 512, depth}, training, dtype);  // before the trace begins
      const AnyTensor y = nn::detail::attention(x[0], x[1], x[2], {.causal = true}, Location::current());
      std::vector<AnyTensor> results =
          gradient(y, std::span<const AnyTensor>(x), {.seed = seed, .differentiable = false});
      results.push_back(y);
      for (AnyTensor& result : results) result = result.inner();
      return results;
    });
    std::size_t count = 0;
    for (const ir::Kernel& kernel : p.plan.kernels) {
      if (!kernel.attention.any()) continue;
      ++count;
      const std::string log = build(emit::emit(kernel, testing::hopper()).text);
      INFO(log);
      INFO(name_of(dtype) << " " << depth);
      CHECK(compile::spilled_bytes(log) <= 64);
      CHECK(log.find("C75") == std::string::npos);
    }
    CHECK(count >= 3);
  }
}

TEST_CASE("kernels whose factors are computed by lanes spill nothing to speak of") {
  const auto high = [](const Device& device, const Shape& a, const Shape& b) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return std::vector{testing::input(a, device, DType::f32).matmul(testing::input(b, device, DType::f32))};
  };
  const auto across = [](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const AnyTensor x = testing::input({4096, 1024}, device, DType::f32);
    return std::vector{x.transpose(0, 1).matmul(testing::input({4096, 2048}, device, DType::f32))};
  };
  const auto convolution = [](const Device& device, std::int64_t channels, DType dtype, int which) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const Device tracked = device.autodiff();
    const AnyTensor x = testing::input({16, channels, 32, 32}, tracked, dtype).require_grad(),
                    w = testing::input({64, channels, 3, 3}, tracked, dtype).require_grad();
    const AnyTensor y = x.conv2d(w, {.stride = {1, 1}, .padding = {1, 1}});
    if (which == 0) return std::vector{y};
    const Gradients gradients = AnyTensor::mul(y, 2.0).sum({0, 1, 2, 3}).backward();
    return std::vector{*gradients.get(which == 1 ? x : w)};
  };
  std::vector<testing::Planned> all;
  const auto add = [&](const auto& program) { all.push_back(testing::planned(program)); };
  add([&](const Device& device) { return high(device, {4096, 4096}, {4096, 4096}); });
  add([&](const Device& device) { return high(device, {500, 77}, {77, 333}); });
  all.push_back(testing::product({501, 77}, {77, 333}));
  add(across);
  for (const DType dtype : {DType::f32, DType::bf16})
    for (int which = 0; which < 3; ++which)
      add([&](const Device& device) { return convolution(device, 64, dtype, which); });
  add([&](const Device& device) { return convolution(device, 3, DType::f32, 0); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("kernel " << i << ", " << tune::describe(all[i].kernel->tiling));
    REQUIRE(all[i].tiled == 1);
    const std::string log = build(emit::emit(*all[i].kernel, testing::hopper()).text);
    INFO(log);
    CHECK(compile::spilled_bytes(log) <= 64);
    CHECK(log.find("C75") == std::string::npos);
  }
}

TEST_CASE("a source is compiled for one block less as long as registers are spilled") {
  // So many values are live at once that 64 registers spill, and one block's registers suffice.
  const std::string source = R"(
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(const float* a, float* b) {
  float x[160];
#pragma unroll
  for (int i = 0; i < 160; ++i) x[i] = a[i * 256 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 160; ++i) b[i * 256 + threadIdx.x] = x[i] * x[159 - i];
})";
  compile::CudaOptions options;
  options.architecture = compile::cuda_architecture(9, 0);
  std::string log;
  options.more = {"--ptxas-options=-v"};
  compile::run_nvrtc(source, options, &log);
  CHECK(spills(log));
  compile::run_nvrtc_for_blocks(source, options, &log);
  CHECK_FALSE(spills(log));
}

TEST_CASE("random kernels compile") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const testing::KernelCase c = testing::random_kernel(seed);
    INFO(c.name);
    CHECK_NOTHROW(build(emit::emit(c.kernel, kTarget).text));
  }
}

TEST_CASE("passes compile") {
  library::Custom custom(
      {.name = "two_words",
       .inputs = {"x"},
       .outputs = {"y", "z"},
       .sizes = {"n"},
       .source = "y(thread) = twice(x(thread)) + float(n);\nz(thread) = x(n - 1 - thread);",
       .functions = "SN_FN float twice(float a) { return exp(a) * 2.0f; }\n"});
  library::CustomOp op;
  op.custom = &custom;
  op.operands = {{Shape{3}, DType::f32}};
  op.results = {{Shape{3}, DType::f32}, {Shape{3}, DType::f32}};
  op.sizes = {3};
  op.threads = 3;
  std::vector<std::string> sources = runtime::cuda::all_pass_sources();
  sources.push_back(runtime::cuda::pass_source(runtime::passes_of(op)));
  for (const std::string& source : sources) {
    INFO(source);
    // Sorts by digits and in tiles, and Fourier transforms, have their registers limited, so that several
    // workgroups are at work: a few
    // words have no room.
    const bool contracts = source.find("sinter_fft_") != std::string::npos;
    const bool limited = contracts || source.find("sinter_scatter_") != std::string::npos ||
                         source.find("sinter_sort_tiles") != std::string::npos;
    CHECK(compile::spilled_bytes(build(source, contracts)) <= (limited ? 128 : 0));
  }
}

TEST_CASE("products compile") {
  for (const std::string& source : runtime::cuda::all_product_sources()) {
    const bool large = source.find("#define TM 8\n") != std::string::npos;
    // The large tile fills the registers: a few values of the prologue may spill.
    const std::string log = build(source, true);
    if (!large) CHECK_FALSE(spills(log));
  }
  for (const std::string& source : runtime::cuda::all_async_product_sources())
    CHECK_FALSE(spills(build(source, true)));
}

TEST_CASE("refused source is kept, and the error says where and why") {
  try {
    build("extern \"C\" __global__ void sinter_kernel() { no such thing }\n");
    FAIL("the source was accepted");
  } catch (const CompileError& error) {
    const std::string text = error.what();
    CHECK(text.find(".cu") != std::string::npos);
    CHECK(text.find("kernel.cu(1)") != std::string::npos);
  }
}

// A kernel may be resident before the one in front of it has written what it reads. The wait in sn_follow
// makes that visible to loads by the coherent path only.
TEST_CASE("kernels load by the coherent path") {
  compile::CudaOptions options;
  options.architecture = "compute_90a";  // PTX
  std::string last;
  for (const testing::KernelCase& c : testing::handmade_kernels()) {
    const std::string source = emit::emit(c.kernel, kTarget).text;
    if (source == last || c.name.starts_with("cast ")) continue;
    last = source;
    INFO(c.name);
    const std::vector<std::byte> code = compile::run_nvrtc(source, options);
    const std::string_view ptx(reinterpret_cast<const char*>(code.data()), code.size());
    REQUIRE(ptx.find("griddepcontrol.wait") != std::string_view::npos);
    // The compiler's own table of 2/pi is written by nobody.
    if (ptx.find("__cudart_i2opi") == std::string_view::npos)
      CHECK(ptx.find("ld.global.nc") == std::string_view::npos);
    CHECK(ptx.find("ld.global") > ptx.find("griddepcontrol.wait"));
  }
}

namespace {

/// A process that ends while threads compile, and after some have.
int end_while_compiling(int milliseconds) {
  base::ExitGate::note_thread();  // as the first use of a device does
  std::string source = "extern \"C\" __global__ void sinter_kernel(float* a) {\n  float x = a[0];\n";
  for (int i = 0; i < 20; ++i) source += "  x = x * a[" + std::to_string(i) + "] + sinf(x);\n";
  source += "  a[1] = x;\n}\n";
  for (int t = 0; t < 3; ++t)
    std::thread([source] {
      try {
        compile::CudaOptions options;
        options.architecture = compile::cuda_architecture(9, 0);
        while (true) compile::run_nvrtc(source, options);
      } catch (const DeviceError&) {  // the process ends
      }
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return 0;
}

}  // namespace

TEST_CASE("a process may end while its threads compile") {
  for (const int milliseconds : {0, 20, 100, 400}) {
    const std::string command =
        std::filesystem::read_symlink("/proc/self/exe").string() + " ends " + std::to_string(milliseconds);
    INFO(command);
    CHECK(std::system(command.c_str()) == 0);
  }
}

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "ends") return end_while_compiling(std::atoi(argv[2]));
  return testing::run_nvrtc_tests(argc, argv);
}
