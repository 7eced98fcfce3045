// Writes instructions of tensor cores.
#include <utility>

#include "jit/emit/attention/text.h"
#include "jit/emit/contraction/subgroups.h"

namespace sinter::emit {
namespace {

std::string text_of(int number) { return std::to_string(number); }

/// Of an instruction that multiplies a step's elements: "k16.f32.bf16.bf16".
std::string shape_of(DType dtype) {
  const std::string type = dtype == DType::f32 ? "tf32" : std::string(name_of(dtype));
  return "k" + text_of(elements_of_step(dtype)) + ".f32." + type + "." + type;
}

/// Of the array d: how the instruction names them, and as operands of a statement.
std::pair<std::string, std::string> accumulators(int count) {
  std::string registers, outputs;
  for (int i = 0; i < count; ++i) {
    registers += (i ? ", %" : "%") + text_of(i);
    outputs += (i ? ", \"+f\"(d[" : "\"+f\"(d[") + text_of(i) + "])";
  }
  return {registers, outputs};
}

}  // namespace

std::string dot_instruction(DType dtype, int columns) {
  const int count = columns / 2;
  const auto [registers, outputs] = accumulators(count);
  const std::string type(name_of(dtype));
  // The instruction for tf32 has no words for transposed factors.
  const std::string transposed = dtype == DType::f32 ? "" : ", 0, 0";
  return "SN_FN void tc_dot_" + type + "(float (&d)[" + text_of(count) + "], u64 a, u64 b, int more) {\n" +
         "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %" + text_of(count + 2) +
         ", 0;\\n\\t\"\n      \"wgmma.mma_async.sync.aligned.m64n" + text_of(columns) + shape_of(dtype) +
         " {" + registers + "}, %" + text_of(count) + ", %" + text_of(count + 1) + ", p, 1, 1" + transposed +
         ";\\n\\t}\"\n      : " + outputs + " : \"l\"(a), \"l\"(b), \"r\"(more));\n}\n";
}

std::string combine_instruction(DType dtype, int length) {
  const int count = length / 2;
  const auto [registers, outputs] = accumulators(count);
  const std::string type(name_of(dtype));
  std::string weights, inputs;
  for (int i = 0; i < 4; ++i) {
    // Of a row's two weights of f32 the instruction takes the first, with that of the other row, before the
    // second; weights of 16 bits are two in one.
    const int number = dtype == DType::f32 ? i / 2 + i % 2 * 2 : i;
    weights += (i ? ", %" : "%") + text_of(count + number);
    inputs += "\"r\"(w[" + text_of(i) + "]), ";
  }
  return "SN_FN void tc_combine_" + type + "_" + text_of(length) + "(float (&d)[" + text_of(count) +
         "], const unsigned* w, u64 b) {\n  asm volatile(\"wgmma.mma_async.sync.aligned.m64n" +
         text_of(length) + shape_of(dtype) + " {" + registers + "}, {" + weights + "}, %" +
         text_of(count + 4) + ", 1, 1, 1" + (dtype == DType::f32 ? "" : ", 1") + ";\"\n      : " + outputs +
         " : " + inputs + "\"l\"(b));\n}\n";
}

std::string subgroup_instructions(DType dtype) {
  const std::string type(name_of(dtype)), multiply = "tc_multiply_" + type;
  return multiplication(dtype, multiply) + "struct Factors_" + type + " {\n" +
         "  static constexpr bool kHalves = " + (is_half(dtype) ? "true" : "false") + ";\n" +
         "  __device__ __forceinline__ static void multiply(float* d, const unsigned* a, const unsigned* b) "
         "{\n" +
         "    " + multiply + "(d, a, b);\n  }\n};\n#define tc_dot_" + type + " tc_dot<Factors_" + type +
         ">\n";
}

std::string subgroup_combine_instruction(DType dtype, int length) {
  const std::string type(name_of(dtype));
  return "#define tc_combine_" + type + "_" + text_of(length) + " tc_combine<Factors_" + type + ">\n";
}

}  // namespace sinter::emit
