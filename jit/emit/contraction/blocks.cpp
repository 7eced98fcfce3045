// Writes what becomes of sums that are not finite.
#include "jit/emit/contraction/blocks.h"

#include "jit/emit/dialects/dialect.h"
#include "jit/ir/made_of.h"

namespace sinter::emit {

void write_sums_of_blocks(Expressions& e, const TiledLoops& loops, const std::string& sums, int width) {
  const ir::Kernel& kernel = e.kernel;
  const ir::Tiling::Blocks& blocks = kernel.tiling.blocks;
  if (!blocks.any()) return;
  const ir::ExprId product = kernel.exprs[kernel.tiling.sum].args[0];
  const std::string depth = std::to_string(blocks.depth),
                    of_group = std::to_string(blocks.depth / blocks.count),
                    columns = std::to_string(blocks.columns),
                    own_columns = std::to_string(blocks.columns / blocks.count);
  // This is rare, so its text stands once, in a loop over the sums.
  e.open("");
  e.out.line("int left = 0;");
  e.open_unrolled("w", width);
  e.out.line("if (!(" + sums + "[w] >= -3.402823466e38f && " + sums +
             "[w] <= 3.402823466e38f)) left |= 1 << int(w);");
  e.close();
  e.open("for (int of = 0; left != 0; ++of, left >>= 1)");
  e.open(e.dialect.when("(left & 1) != 0"));
  split_loops(e, "to_n + of", loops.columns);
  e.out.line("const int own_group = (to_n + of) % " + columns + " / " + own_columns + ";");
  e.out.line("float again = 0.f;");
  e.open("for (int first = own_group * " + of_group + "; first < size_k; first += " + depth + ")");
  e.open("for (int k = first; k < first + " + of_group + "; ++k)");
  split_loops(e, "k", loops.depth);
  for (const ir::ExprId part : ir::made_of(kernel, product)) e.define(part);
  e.out.line("again += " + e.value(product) + ";");
  e.close();
  e.close();
  e.open_unrolled("w", width);
  e.out.line("if (int(w) == of) " + sums + "[w] = again;");
  e.close();
  e.close();
  e.close();
  e.close();
}

}  // namespace sinter::emit
