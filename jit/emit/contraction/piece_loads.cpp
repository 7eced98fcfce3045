// Writes the loads of pieces.
#include "jit/emit/contraction/piece_loads.h"

#include <algorithm>

#include "jit/emit/dialects/dialect.h"
#include "jit/ir/made_of.h"

namespace sinter::emit {

using ir::ExprId;

PieceLoads::PieceLoads(Expressions& e, ExprId value, int neighbours)
    : e_(e),
      neighbours_(neighbours),
      along_(e.kernel.extents.size() - 1),
      depends_(ir::dependence(e.kernel)) {
  for (const ExprId id : ir::made_of(e.kernel, value)) {
    const ir::Expr& expr = e.kernel.exprs[id];
    if (expr.kind == ir::ExprKind::Load && expr.predicate == ir::kNone) loads_.push_back(id);
    const auto is_cast = [&](ExprId cast, DType to) {
      const ir::Expr& of = e.kernel.exprs[cast];
      return of.kind == ir::ExprKind::Elementwise && of.op == Op::Cast && of.dtype == to;
    };
    if (!is_cast(id, DType::f32) || !is_cast(expr.args[0], DType::i32)) continue;
    const ExprId load = e.kernel.exprs[expr.args[0]].args[0];
    const DType byte = e.kernel.exprs[load].dtype;
    if ((byte == DType::i8 || byte == DType::u8) && is_vector(load) &&
        std::find(loads_.begin(), loads_.end(), load) != loads_.end())
      floats_.push_back({id, load});
  }
}

/// Of a vector.
int PieceLoads::words_of(ExprId id) const {
  return static_cast<int>(size_of(e_.kernel.exprs[id].dtype)) * neighbours_ / 4;
}

void PieceLoads::declare(int count) const {
  for (const ExprId id : loads_) {
    const std::string name = "l" + std::to_string(id) + "[" + std::to_string(count) + "]";
    if (is_vector(id))
      e_.out.line("unsigned " + name + "[" + std::to_string(words_of(id)) + "];");
    else
      e_.out.line(std::string(c_type(e_.kernel.exprs[id].dtype)) + " " + name + ";");
  }
}

std::string PieceLoads::place(const std::string& raw, ExprId id, const std::string& piece) const {
  return raw + ".l" + std::to_string(id) + "[" + piece + "]";
}

void PieceLoads::load(const std::string& raw, const std::string& piece) const {
  for (const ExprId id : loads_) {
    const ir::Expr& expr = e_.kernel.exprs[id];
    const std::string to = place(raw, id, piece), at = e_.position(expr.map);
    if (is_vector(id))
      e_.out.line("tc_fetch(" + to + ", b" + std::to_string(expr.buffer) + " + (" + at + "));");
    else
      e_.out.line(to + " = " + e_.dialect.read(e_.kernel, expr.buffer, at) + ";");
  }
}

void PieceLoads::find(const std::string& raw, const std::string& piece, const std::string& j) const {
  for (const ExprId id : loads_) {
    const DType dtype = e_.kernel.exprs[id].dtype;
    const std::string at = place(raw, id, piece);
    std::string& text = e_.loaded[id];
    text = at;
    if (!is_vector(id)) continue;
    switch (size_of(dtype)) {
      case 1: text = "__byte_perm(" + at + "[" + j + " / 4], 0u, 0x4440u | " + j + " % 4)"; break;
      case 2: text = "(" + at + "[" + j + " / 2] >> " + j + " % 2 * 16 & 65535u)"; break;
      default: text = at + "[" + j + "]"; break;
    }
    if (dtype == DType::f32) text = "__uint_as_float(" + text + ")";
    if (dtype == DType::boolean) text += " != 0";
  }
  for (const auto& [value, load] : floats_) {
    const DType byte = e_.kernel.exprs[load].dtype;
    e_.loaded[value] = "tc_float_of_" + std::string(name_of(byte)) + "(" + place(raw, load, piece) + "[" + j +
                       " / 4], " + j + " % 4)";
  }
}

void PieceLoads::forget() const {
  for (const ExprId id : loads_) e_.loaded.erase(id);
  for (const FloatOfByte& made : floats_) e_.loaded.erase(made.value);
}

}  // namespace sinter::emit
