// NVRTC accepts every generated and hand-written text. Exit code 77: NVRTC is not installed.
#define DOCTEST_CONFIG_IMPLEMENT
#include "jit/compile/nvrtc.h"

#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "src/runtime/cuda/products.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/planned_products.h"

namespace {

using namespace sinter;

const emit::Target kTarget(emit::dialect("cuda"));

std::string build(const std::string& source, bool contract = false) {
  compile::CudaOptions options;
  options.architecture = compile::cuda_architecture(9, 0);
  options.contract = contract;
  options.more = {"--ptxas-options=-v"};
  std::string log;
  const auto code = compile::run_nvrtc(source, options, &log);
  CHECK_FALSE(code.empty());
  return log;
}

bool spills(const std::string& log) { return compile::spilled_bytes(log) > 0; }

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
  for (const char* from : {"f32", "f64", "i32", "i64", "u8", "bool"})
    for (const char* to : {"f32", "f64", "i32", "i64", "u8", "bool"})
      if (std::string(from) != to) calls += "sn_cast_" + std::string(from) + "_" + to + "( ";
  for (const char* dtype : {"f32", "f64", "i32", "i64", "u8", "bool"})
    calls += "sn_load4_" + std::string(dtype) + "( sn_store4_" + dtype + "( ";
  calls += "sn_uniform( sn_normal( sn_barrier( ";
  std::map<std::string, std::string> of_target;
  dialect.add_functions(kTarget, of_target);
  build(dialect.preamble({}, kTarget) + emit::functions_for(calls, dialect, of_target) +
        "extern \"C\" __global__ void sinter_kernel() {}\n");
}

TEST_CASE("kernels of each kind compile without spilling registers") {
  std::string last;
  for (const testing::KernelCase& c : testing::handmade_kernels()) {
    // Kernels that differ only in sizes have one text.
    const std::string text = emit::emit(c.kernel, kTarget).text;
    // Four tables of as many dtypes, looked up in one kernel, spill: known, and rare in programs.
    if (text == last || c.name.starts_with("cast ") || c.name.starts_with("four gathers")) continue;
    last = text;
    INFO(c.name);
    CHECK_FALSE(spills(build(text)));
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
    for (const Form& form : {Form{16, 256, 1, true, false}, Form{32, 256, 1, false, true},
                             Form{8, 16, 1, false, true}, Form{32, 256, 4, false, false}}) {
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

TEST_CASE("kernels with tiles spill a few registers at most") {
  const testing::Planned products[] = {
      testing::product({4096, 4096}, {4096, 4096}),
      testing::product({768, 8192}, {8192, 768}),
      testing::product({64, 256}, {256, 64}, false, false, DType::f16),
      testing::planned([](const Device& device) {
        const AnyTensor x = testing::input({2, 3, 200, 128}, device),
                        w = testing::input({2, 3, 256, 128}, device), bias = testing::input({256}, device),
                        rest = testing::input({2, 3, 200, 256}, device);
        const AnyTensor y = AnyTensor::add(x.matmul(w.transpose(2, 3)), bias);
        return std::vector{gelu(y), AnyTensor::add(y, rest), y.cast(DType::f32)};
      }),
  };
  for (const testing::Planned& planned : products) {
    REQUIRE(planned.tiled == 1);
    // Each form of tiles, whatever the sizes would be best computed by.
    struct Form {
      std::uint16_t rows, columns;
      std::uint8_t slots, workgroups;
      bool turns;
    };
    for (const Form& form : {Form{128, 128, 6, 1, true}, Form{128, 256, 4, 1, false},
                             Form{192, 128, 4, 1, false}, Form{64, 128, 3, 2, false}}) {
      ir::Kernel kernel = *planned.kernel;
      kernel.tiling.rows = form.rows;
      kernel.tiling.columns = form.columns;
      kernel.tiling.slots = form.slots;
      kernel.tiling.workgroups = form.workgroups;
      kernel.tiling.turns = form.turns;
      INFO(form.rows << " x " << form.columns << (form.turns ? " in turns" : ""));
      const std::string log = build(emit::emit(kernel, testing::hopper()).text);
      INFO(log);
      // The sums fill most registers; a few of the words that are needed between tiles may have no room.
      CHECK(compile::spilled_bytes(log) <= 64);
      CHECK(log.find("C75") == std::string::npos);  // ptxas says what keeps it from overlapping products
    }
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

TEST_CASE("products compile") {
  for (const std::string& source : runtime::cuda::all_product_sources()) {
    const bool large = source.find("#define TM 8\n") != std::string::npos;
    // The large tile fills the registers: a few values of the prologue may spill.
    const std::string log = build(source, true);
    if (!large) CHECK_FALSE(spills(log));
  }
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

int main(int argc, char** argv) {
  if (!compile::has_nvrtc()) {
    std::cout << "skipped: " << compile::nvrtc_unavailable_reason() << "\n";
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
