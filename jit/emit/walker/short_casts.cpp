// Casts in a row for which a language has a shorter way.
#include <string>

#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprKind;

std::string Expressions::byte_as_float(const Expr& e) const {
  if (!dialect.makes_floats_of_bytes || e.op != Op::Cast || e.dtype != DType::f32) return "";
  const Expr& wide = kernel.exprs[e.args[0]];
  if (wide.kind != ExprKind::Elementwise || wide.op != Op::Cast || wide.dtype != DType::i32) return "";
  const DType byte = kernel.exprs[wide.args[0]].dtype;
  if (byte != DType::i8 && byte != DType::u8) return "";
  return elementwise_text(info(Op::Cast), e.dtype, {byte}, {value(wide.args[0])});
}

std::string Expressions::rounded_to_bf16(const Expr& e) const {
  if (!dialect.rounds_to_bf16 || e.op != Op::Cast || e.dtype != DType::f32) return "";
  // Of a row that lanes hold, the bf16 may be there and what it was made of not.
  if (kernel.row_elements > 0 || loaded.contains(e.args[0])) return "";
  const Expr& half = kernel.exprs[e.args[0]];
  if (half.kind != ExprKind::Elementwise || half.op != Op::Cast || half.dtype != DType::bf16) return "";
  if (kernel.exprs[half.args[0]].dtype != DType::f32) return "";
  return "sn_round_bf16(" + value(half.args[0]) + ")";
}

}  // namespace sinter::emit
