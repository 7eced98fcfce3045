// Writes tests into the draft.
#include "jit/plan/lower/frame_tests.h"

namespace sinter::plan {

ir::ExprId FrameTests::in_bounds(NodeId id, const Grid& grid, MapId map) {
  if (draft_.contracts || node(id).op == Op::SliceAssign)
    return in_bounds(id, grid.coordinates(index_map(map)), grid.bounds());
  ir::ExprId all = ir::kNone;
  for (Grid::Test& test : grid.tests(index_map(map)))
    all = both(id, all, in_bounds(id, std::move(test.coordinate), std::move(test.bounds)));
  return all;
}

ir::ExprId FrameTests::in_bounds(NodeId id, IndexMap coordinates, DraftBounds bounds) {
  ir::Expr test;
  test.kind = ir::ExprKind::InBounds;
  test.dtype = DType::boolean;
  test.map = number_of(intern(std::move(coordinates)));
  std::vector<std::int64_t> key;
  for (const DraftBounds::Dim& dim : bounds.bounds) {
    key.insert(key.end(), {dim.extent, dim.lower, dim.step, dim.size});
    for (const Moving& m : dim.moving)  // a start's number tells its range
      key.insert(key.end(), {-1 - static_cast<std::int64_t>(m.by.start), m.factor});
  }
  auto [it, added] = test_of_.try_emplace({test.map, std::move(key)}, ir::kNone);
  if (!added) return it->second;
  if (draft_.bounds.size() >= limits_.max_tests) throw Cut{"too many pieces and frames"};
  draft_.bounds.push_back(std::move(bounds));
  test.buffer = static_cast<std::uint16_t>(draft_.bounds.size() - 1);  // finish() resolves it
  return it->second = add(test, id);
}

ir::ExprId FrameTests::of_own_group(NodeId contraction, ir::ExprId product, MapId products) {
  const Node& n = node(contraction);
  const std::int64_t count = n.ints[3], depth = n.ints[4], columns = n.ints[5];
  if (count == 1) return product;
  const Shape points = domain_of(graph_, n).shape;
  const std::int64_t all_depth = points[points.rank() - 1], all_columns = points[points.rank() - 2];
  // (group of the element, group of the column) is a square, on whose diagonal both are the same: each number
  // there is one more than a line behind the one before.
  const Shape split{points.numel() / (all_depth * all_columns),
                    all_columns / columns,
                    count,
                    columns / count,
                    all_depth / depth,
                    count,
                    depth / count};
  ViewLayout layout{Dims::filled(split.rank(), 0), 0};
  layout.strides[2] = 1;
  layout.strides[5] = count;
  DraftBounds blocks;
  blocks.bounds.push_back({count * count, 0, count + 1, count});
  ir::Expr zero;
  zero.kind = ir::ExprKind::Scalar;
  zero.dtype = draft_.exprs[product].dtype;
  zero.scalar = scalar(n.scalars[0], zero.dtype);
  ir::Expr where;
  where.op = Op::Where;
  where.dtype = zero.dtype;
  where.args[0] = in_bounds(contraction, index_map(products).through(split, layout), std::move(blocks));
  where.args[1] = product;
  where.args[2] = add(zero, contraction);
  return add(where, contraction);
}

ir::ExprId FrameTests::both(NodeId id, ir::ExprId a, ir::ExprId b) {
  if (a == ir::kNone || a == b) return b;
  auto [it, added] = both_of_.try_emplace({a, b}, ir::kNone);
  if (!added) return it->second;
  ir::Expr expr;
  expr.op = Op::And;
  expr.dtype = DType::boolean;
  expr.args[0] = a;
  expr.args[1] = b;
  return it->second = add(expr, id);
}

}  // namespace sinter::plan
