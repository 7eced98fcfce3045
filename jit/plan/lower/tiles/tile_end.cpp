// Counts what lanes do with the elements of a finished tile.
#include "jit/plan/lower/tiles/tile_end.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "jit/ir/made_of.h"

namespace sinter::plan {
namespace {

/// Of a GPU, for one element, about.
double instructions_of(Op op) {
  switch (op) {
    case Op::Cast:
    case Op::Maximum:
    case Op::Minimum: return 1;
    case Op::Exp: return 8;
    case Op::Erf: return 17;
    case Op::Ndtr: return 13;
    default: break;
  }
  constexpr double kFunction = 12;
  return info(op).text.find("sn_") == std::string_view::npos ? 1 : kFunction;
}

}  // namespace

TileEnd end_of_tiles(const ir::Kernel& kernel, const ir::Tiling& tiling) {
  std::vector<bool> needed(kernel.exprs.size(), false);
  const std::vector<std::uint32_t> loops = ir::dependence(kernel);
  TileEnd end;
  for (const ir::Store& store : kernel.stores) {
    end.stored += static_cast<double>(size_of(kernel.exprs[store.value].dtype));
    for (const ir::ExprId id : ir::made_of(kernel, store.value)) needed[id] = true;
  }
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (!needed[id] || expr.level != ir::Level::Outer || (loops[id] & tiling.row_loops) == 0) continue;
    if (ir::reads_memory(expr)) end.loaded += static_cast<double>(size_of(expr.dtype));
    end.instructions += expr.kind == ir::ExprKind::Elementwise ? instructions_of(expr.op) : 1;
  }
  return end;
}

}  // namespace sinter::plan
