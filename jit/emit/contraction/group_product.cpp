// Writes the instruction by which groups of subgroups multiply.
#include "jit/emit/contraction/group_product.h"

#include <string>

namespace sinter::emit {
namespace {

constexpr int kStepBytes = 32;  // of k, that an instruction takes

}  // namespace

std::string group_product(const ir::Kernel& kernel, bool a_across, bool b_across) {
  const ir::Tiling& tiling = kernel.tiling;
  const int sums = tiling.columns / 2;
  const bool has_halves = is_half(tiling.multiplied);
  const auto name = [&](const ir::TiledFactor& factor) -> std::string {
    switch (kernel.exprs[factor.value].dtype) {
      case DType::f32: return ".tf32";
      case DType::f8_e4m3: return ".e4m3";
      case DType::f8_e5m2: return ".e5m2";
      case DType::i8: return ".s8";
      default: return "." + std::string(name_of(tiling.multiplied));
    }
  };
  const std::string dtypes = name(tiling.a) + name(tiling.b);
  const std::string depth = std::to_string(kStepBytes / static_cast<int>(size_of(tiling.multiplied)));
  // Only factors of 16 bits may lie across the sum, so only they say whether they do.
  const std::string lie =
      has_halves ? std::string(", ") + (a_across ? "1" : "0") + ", " + (b_across ? "1" : "0") : "";
  // Integers are neither negated nor scaled, and wrap.
  const bool has_integers = tiling.multiplied == DType::i8;
  const std::string result = has_integers ? "s32" : "f32", scales = has_integers ? "" : ", 1, 1";
  std::string registers, outputs;
  for (int i = 0; i < sums; ++i) {
    registers += (i ? ", %" : "%") + std::to_string(i);
    outputs += (i ? ", SN_SUM_REGISTER(d[" : "SN_SUM_REGISTER(d[") + std::to_string(i) + "])";
  }
  const auto operand = [&](int after) { return "%" + std::to_string(sums + after); };
  return "SN_FN void tc_multiply(SN_SUM (&d)[" + std::to_string(sums) + "], u64 a, u64 b, int more) {\n" +
         "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, " + operand(2) + ", 0;\\n\\t\"\n" +
         "      \"wgmma.mma_async.sync.aligned.m64n" + std::to_string(tiling.columns) + "k" + depth + "." +
         result + dtypes + " {" + registers + "}, " + operand(0) + ", " + operand(1) + ", p" + scales + lie +
         ";\\n\\t}\"\n      : " + outputs + " : \"l\"(a), \"l\"(b), \"r\"(more));\n}\n";
}

}  // namespace sinter::emit
