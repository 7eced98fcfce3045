// Finds buffers and places.
#include "jit/plan/lower/memory_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "jit/plan/lower/finish.h"

namespace sinter::plan {
namespace {

/// The least and the greatest number that coordinates below `extents`, times strides, give. No integers:
/// positions in views may be larger than 2^62, those in memory are exact.
template <class Extents, class Strides>
std::pair<double, double> ends_of(const Extents& extents, const Strides& strides, std::int64_t offset) {
  std::pair<double, double> ends(offset, offset);
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const double far = static_cast<double>(extents[d] - 1) * static_cast<double>(strides[d]);
    (far < 0 ? ends.first : ends.second) += far;
  }
  return ends;
}

}  // namespace

std::uint16_t MemoryReader::buffer(NodeId id, bool read) {
  // They are few: kernels have limits.
  std::vector<BufferUse>& buffers = draft_.buffers;
  auto use = std::find_if(buffers.begin(), buffers.end(), [&](const BufferUse& b) { return b.node == id; });
  if (use == buffers.end()) {
    if (static_cast<int>(buffers.size()) >= limits_.max_buffers) throw Cut{"too many buffers"};
    use = buffers.insert(use, {id, false, false});
    draft_.buffer_dtypes.push_back(node(id).dtype);
  }
  (read ? use->read : use->written) = true;
  return static_cast<std::uint16_t>(use - buffers.begin());
}

MemoryReader::Place MemoryReader::below_views(NodeId id, MapId map) {
  const auto is_passed = [&](NodeId at) { return node(at).is(OpClass::View) && owners_[at] == kInline; };
  if (!is_passed(id)) return {id, map};
  if (const auto it = below_.find(Place{id, map}); it != below_.end()) return it->second;
  NodeId at = id;
  IndexMap below = index_map(map);
  for (; is_passed(at); at = node(at).operands[0]) {
    const Node& view = node(at);
    if (view.op != Op::Reshape) below = std::move(below).through(view.shape, view_layout(graph_, view));
  }
  return below_[Place{id, map}] = {at, intern(std::move(below))};
}

MemoryReader::MapId MemoryReader::in_memory(NodeId id, MapId map) {
  const Node& n = node(id);
  const trace::Layout& layout = graph_.trace->layout_of(n.value);
  if (is_contiguous(n.shape, layout)) return map;
  const auto [it, added] = below_.try_emplace(Place{id, map});
  if (added) it->second = {id, intern(index_map(map).through(n.shape, layout))};
  return it->second.map;
}

bool MemoryReader::is_loaded(NodeId id) const {
  return node(id).kind == NodeKind::External || (owners_[id] != kInline && owners_[id] != Owner::kernel(id_));
}

ir::ExprId MemoryReader::load(NodeId id, MapId place, ir::ExprId predicate) {
  ir::Expr expr;
  expr.kind = ir::ExprKind::Load;
  expr.dtype = node(id).dtype;
  expr.buffer = buffer(id, true);
  expr.map = number_of(place);
  expr.predicate = predicate;
  return add(expr, id);
}

bool MemoryReader::is_decided_by(ir::ExprId predicate, MapId place) const {
  if (predicate == ir::kNone) return false;
  const ir::Expr& test = draft_.exprs[predicate];
  if (test.kind == ir::ExprKind::Elementwise && (test.op == Op::And || test.op == Op::Not))
    return is_decided_by(test.args[0], place) || is_decided_by(test.args[1], place);
  if (test.kind != ir::ExprKind::InBounds) return true;
  return (draft_.maps[test.map].dependence() & index_map(place).dependence()) != 0;
}

bool MemoryReader::stays_within(NodeId id, MapId place) const {
  const IndexMap& map = index_map(place);
  const MapStep& step = map.loops();
  if (!map.is_affine() || !step.moving.empty()) return false;
  const auto [first_read, last_read] = ends_of(step.extents, step.strides, step.offset);
  const Node& n = node(id);
  const trace::Layout layout =
      n.kind == NodeKind::External ? graph_.trace->layout_of(n.value) : trace::contiguous_layout(n.shape);
  const auto [first, last] = ends_of(n.shape, layout.strides, layout.offset);
  return n.shape.numel() > 0 && first <= first_read && last_read <= last;
}

void MemoryReader::require_factors(const Node& product) const {
  for (std::size_t k = 0; k < product.operands.size(); ++k) {
    if (!product.reads_many_times(k)) continue;
    const NodeId shown = shown_by(graph_, product.operands[k]);
    if (node(shown).kind == NodeKind::Op && !node(shown).is(OpClass::Source) && !is_loaded(shown))
      throw Cut{"an image, of which windows show each element many times"};
  }
}

ir::ExprId MemoryReader::row(NodeId factor, MapId map, const Shape& points, std::size_t at, std::size_t own,
                             std::size_t along) {
  const std::optional<StridedView> view = owners_[factor] == kInline
                                              ? strided_view(graph_, factor)
                                              : StridedView{factor, contiguous_layout(node(factor).shape)};
  if (!view) throw Cut{"a factor seen through a reshape that strides cannot express"};
  if (!is_loaded(view->base)) throw Cut{"a factor that this kernel computes"};
  ViewLayout layout = view->layout;
  const std::int64_t step = layout.strides[own], stride = layout.strides[along];
  layout.strides[points.rank() - 2] = layout.strides[points.rank() - 1] = 0;
  layout.strides[at] = step;
  const MapId where = intern(index_map(map).through(points, layout));
  const std::int64_t extent = node(factor).shape[along];
  const auto [it, added] =
      row_of_.try_emplace(std::make_tuple(view->base, number_of(where), stride, extent), ir::kNone);
  if (!added) return it->second;
  ir::Expr expr;
  expr.kind = ir::ExprKind::Row;
  expr.dtype = node(view->base).dtype;
  expr.buffer = buffer(view->base, true);
  expr.map = number_of(where);
  it->second = add(expr, view->base);
  draft_.indexed[it->second] = {stride, extent, view->base};
  return it->second;
}

}  // namespace sinter::plan
