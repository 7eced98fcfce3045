// Expressions, maps and scalars of a draft.
#include "jit/plan/lower/draft_writer.h"

namespace sinter::plan {
namespace {

// What a kernel of a few operations has: its lists and tables do not grow.
constexpr std::size_t kUsualMaps = 12, kUsualExprs = 48;

}  // namespace

DraftWriter::DraftWriter(const Graph& graph, const LowerLimits& limits)
    : graph_(graph),
      limits_(limits),
      ids_(kUsualMaps, Hash{&maps_}, Identical{&maps_}),
      drafted_(kUsualMaps, Hash{&maps_}, Equal{&maps_}) {
  maps_.reserve(kUsualMaps);
  draft_.maps.reserve(kUsualMaps);
  draft_.exprs.reserve(kUsualExprs);
  draft_.computed.reserve(kUsualExprs);
}

DraftWriter::MapId DraftWriter::intern(IndexMap map) {
  const auto next = static_cast<MapId>(maps_.size());
  const std::size_t hash = map.hash();
  maps_.push_back({std::move(map), hash});
  const auto [known, added] = ids_.insert(next);
  if (!added) maps_.pop_back();
  return *known;
}

std::uint16_t DraftWriter::add_to_draft(MapId id) {
  const auto [equal, added] = drafted_.insert(id);
  if (added) {
    maps_[id].number = static_cast<std::int32_t>(draft_.maps.size());
    draft_.maps.push_back(maps_[id].map);
  } else {
    maps_[id].number = maps_[*equal].number;
  }
  return static_cast<std::uint16_t>(maps_[id].number);
}

std::uint16_t DraftWriter::scalar(ScalarRef number, DType dtype) {
  auto [it, added] =
      scalar_of_.try_emplace({number, dtype}, static_cast<std::uint16_t>(draft_.scalars.size()));
  if (added) draft_.scalars.push_back({number, dtype});
  return it->second;
}

std::uint16_t DraftWriter::scalar_pair(ScalarRef first, ScalarRef second, DType dtype) {
  auto [it, added] =
      scalar_pair_of_.try_emplace({first, second, dtype}, static_cast<std::uint16_t>(draft_.scalars.size()));
  if (added) {
    draft_.scalars.push_back({first, dtype});
    draft_.scalars.push_back({second, dtype});
  }
  return it->second;
}

ir::ExprId DraftWriter::add(ir::Expr expr, NodeId from) {
  if (draft_.exprs.size() >= limits_.max_exprs) throw Cut{"too many expressions"};
  // What is loaded was computed by another kernel.
  const bool is_loaded = expr.kind == ir::ExprKind::Load || expr.kind == ir::ExprKind::Row;
  if (node(from).kind == NodeKind::Op && !is_loaded) draft_.computed.push_back(from);
  draft_.exprs.push_back(std::move(expr));
  return static_cast<ir::ExprId>(draft_.exprs.size() - 1);
}

ir::ExprId DraftWriter::number(ir::ExprId value, NodeId from) {
  return cast(value, arithmetic_of(draft_.exprs[value].dtype), from);
}

ir::ExprId DraftWriter::cast(ir::ExprId value, DType dtype, NodeId from) {
  if (draft_.exprs[value].dtype == dtype) return value;
  if (auto it = cast_of_.find({value, dtype}); it != cast_of_.end()) return it->second;
  ir::Expr expr;
  expr.op = Op::Cast;
  expr.dtype = dtype;
  expr.args[0] = value;
  return cast_of_[{value, dtype}] = add(std::move(expr), from);
}

ir::ExprId DraftWriter::cast_as_asked(ir::ExprId value, DType dtype, NodeId from) {
  if (draft_.exprs[value].dtype == dtype && arithmetic_of(dtype) != dtype) return value;
  return cast(cast(number(value, from), arithmetic_of(dtype), from), dtype, from);
}

void DraftWriter::match(ir::ExprId& a, ir::ExprId& b, NodeId from) {
  const DType x = draft_.exprs[a].dtype, y = draft_.exprs[b].dtype;
  if (x == y) return;
  if (is_stored_int(x) || is_stored_int(y)) {  // the other is a number
    ir::ExprId& number = is_stored_int(x) ? b : a;
    number = cast(number, is_stored_int(x) ? x : y, from);
    return;
  }
  ir::ExprId& other = is_stored_float(x) ? b : a;
  if (draft_.exprs[other].kind == ir::ExprKind::Scalar) {
    ir::Expr bits = draft_.exprs[other];
    bits.dtype = is_stored_float(x) ? x : y;
    bits.scalar = scalar(draft_.scalars[bits.scalar].number, bits.dtype);
    other = add(std::move(bits), from);
    return;
  }
  a = number(a, from);
  b = number(b, from);
}

}  // namespace sinter::plan
