// Writes what kernels of attention have in common.
#include "jit/emit/attention/attention.h"

#include <stdexcept>
#include <vector>

#include "jit/emit/attention/attention_text.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"

namespace sinter::emit {

AttentionText::AttentionText(const ir::Kernel& kernel, const Target& target, std::string_view source)
    : ScoresText(kernel, target), rest_(source) {
  e_.dialect.add_functions(e_.target, e_.functions);
  // Weights are rounded to 16 bits, or to tf32; this is within 2e-7 of the number.
  e_.functions["sn_exp_f32"] =
      "SN_FN float sn_exp_f32(float a) {\n  const float power = a * 1.4426950408889634f;\n  float b;\n"
      "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(b) : \"f\"(power));\n  return b;\n}\n";
}

std::string AttentionText::next_part() { return std::string(emit::next_part(rest_)); }

void AttentionText::write_head() {
  const auto size = [&](const char* what, std::size_t loop) {
    e_.out.line("const int " + std::string(what) + " = int(" + e_.integer(k_.extents[loop]) + ");");
  };
  size("size_m", row_);
  size("size_n", column_);
  std::string items = "tiles";
  for (std::size_t loop = 0; loop < row_; ++loop) items += " * int(" + e_.integer(k_.extents[loop]) + ")";
  e_.out.line("const int tiles = (size_m + SN_ROWS - 1) / SN_ROWS, items = " + items + ";");
}

void AttentionText::write_item() {
  // The longest first, so that the last to be done is short.
  e_.out.line("const int tile = item % tiles, row_of_tile = " +
              std::string(masks_.grows_with_rows() ? "(tiles - 1 - tile)" : "tile") + " * SN_ROWS;");
  std::vector<std::size_t> batch;
  for (std::size_t loop = 0; loop < row_; ++loop) batch.push_back(loop);
  split_loops(e_, "(item / tiles)", batch);
}

Source AttentionText::whole(const std::string& functions, const std::string& body) const {
  Source result;
  result.entry = e_.dialect.entry;
  result.text = e_.dialect.preamble(k_, e_.target) + functions_for(body, e_.dialect, e_.functions) +
                functions + e_.dialect.open(k_, e_.target, e_.use) + body + "}\n";
  return result;
}

Source emit_attention(const ir::Kernel& kernel, const Target& target) {
  switch (kernel.attention.by) {
    case ir::Attention::By::Groups: return emit_group_attention(kernel, target);
    case ir::Attention::By::Subgroups: return emit_subgroup_attention(kernel, target);
    case ir::Attention::By::Lanes: return emit_lane_attention(kernel, target);
    case ir::Attention::By::Matrices:
      return kernel.attention.layout.is_known() ? emit_laid_attention(kernel, target)
                                                : emit_exchanged_attention(kernel, target);
    case ir::Attention::By::Stripes: break;
  }
  throw std::logic_error("attention by stripes, which is for the host");
}

}  // namespace sinter::emit
